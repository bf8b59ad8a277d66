import { describe, expect, it } from 'vitest';
import { ofDouble, toNumber, type Interval } from '../../../src/audit/exact/interval.js';
import { hockeyStick, mapped, product, type Law } from '../../../src/audit/exact/law.js';
import { gaussianNoise, laplaceNoise } from '../../../src/audit/exact/noise.js';
import { amountToNumber } from '../../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../../src/privacy/accounting/composition.js';
import { deltaOfZcdp } from '../../../src/privacy/accounting/conversion.js';
import type { MechanismEvent } from '../../../src/privacy/accounting/events.js';
import { lossOfReleases } from '../../../src/privacy/accounting/loss-distribution/index.js';
import type { Steps } from '../../../src/random/samplers/discrete-laplace.js';

const place = { cohort: 'rows', dimension: 1, sensitivity: 1, grid: 1 } as const;
const gaussian = (name: string): MechanismEvent => ({ ...place, kind: 'gaussian', name, sigma: 2 });
const laplace = (name: string): MechanismEvent => ({ ...place, kind: 'laplace', name, scale: 2 });

const noise = {
  gaussian: gaussianNoise({ numerator: 4n, denominator: 1n }),
  laplace: laplaceNoise({ numerator: 2n, denominator: 1n }),
};
const shifted = (law: Law<Steps>): Law<Steps> => mapped(law, (value) => Number(value) + 1, String);

/** The exact delta of all events together, where each moves by its whole sensitivity. */
function exactDelta(kinds: readonly (keyof typeof noise)[], epsilon: number): Interval {
  const [left, right] = [false, true].map((isShifted) => kinds
    .map((kind): Law => (isShifted ? shifted(noise[kind]) : noise[kind]))
    .reduce((all, law) => product(all, law)));
  return hockeyStick(left!, right!, ofDouble(epsilon));
}

describe('composed charges', () => {
  // How far the stated delta may be above the exact one: the conversion of rho, and the composed
  // loss distributions, which add a whole grid step of 1 here.
  it.each([
    [['gaussian'], [gaussian('one')]],
    [['gaussian', 'gaussian'], [gaussian('one'), gaussian('two')]],
    [['gaussian', 'laplace'], [gaussian('one'), laplace('two')]],
  ] as const)('of %j are never below the exact delta', { tags: ['long'] }, (kinds, events) => {
    const { rho } = costOfEvents(events, { disjoint: [] });
    const loss = lossOfReleases([{ events }])!;
    for (const epsilon of [0.25, 0.75, 1.5]) {
      const exact = toNumber(exactDelta(kinds, epsilon));
      const converted = deltaOfZcdp(amountToNumber(rho), epsilon);
      expect(exact).toBeLessThanOrEqual(converted);
      expect(exact).toBeLessThanOrEqual(loss.delta(epsilon));
      if (epsilon < 1) expect(converted).toBeLessThan(8 * exact);
    }
  });
});
