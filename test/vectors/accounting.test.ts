import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { normalUpperQuantile } from '../../src/numerics/normal.js';
import { amountOf, capOf, zeroAmount } from '../../src/privacy/accounting/amount.js';
import { analyticGaussianSigma } from '../../src/privacy/accounting/analytic-gaussian.js';
import { chargeOf, freshBalance, releasesThatFit } from '../../src/privacy/accounting/budget.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { epsilonOfZcdp, rhoForZcdp, rhoOfPure } from '../../src/privacy/accounting/conversion.js';
import type { GaussianEvent, LaplaceEvent } from '../../src/privacy/accounting/events.js';
import { lossOfReleases } from '../../src/privacy/accounting/loss-distribution/index.js';

/** What accounting.py worked out at 30 digits, by other ways than the library's. */
interface Vectors {
  readonly gaussianSigma: readonly { epsilon: number; delta: number; sigma: string }[];
  readonly zcdpEpsilon: readonly { rho: number; delta: number; epsilon: string }[];
  readonly zcdpRho: readonly { epsilon: number; delta: number; rho: string }[];
  readonly capacity: readonly {
    each: number; epsilon: number; delta: number; basic: number; approximate: number; zcdp: number;
  }[];
  readonly composedGaussian: readonly {
    rho: number; times: number; epsilon: number; delta: string;
  }[];
  readonly composedResponse: readonly {
    each: number; times: number; epsilon: number; delta: string;
  }[];
  readonly upperQuantile: readonly { delta: number; z: string }[];
  readonly ledger: readonly { pairs: readonly (readonly [number, number])[]; units: string }[];
}

const vectors = JSON.parse(
  readFileSync(fileURLToPath(new URL('accounting.json', import.meta.url)), 'utf8'),
) as Vectors;

/** A reported cost is at or above the true one, and hardly above. */
function isJustAbove(found: number, truth: number, slack = 1e-9): void {
  expect(found).toBeGreaterThanOrEqual(truth * (1 - 2 ** -52));
  expect(found).toBeLessThanOrEqual(truth * (1 + slack));
}

const gaussian = (name: string, sensitivity: number, sigma: number): GaussianEvent =>
  ({ kind: 'gaussian', name, cohort: 'rows', dimension: 1, sensitivity, sigma, grid: 2 ** -60 });

describe('accounting, beside an independent computation', () => {
  it.each(vectors.gaussianSigma)(
    'the Gaussian for epsilon $epsilon, delta $delta has sigma $sigma', (vector) => {
      isJustAbove(analyticGaussianSigma(vector.epsilon, vector.delta), Number(vector.sigma), 1e-8);
    },
  );

  it.each(vectors.zcdpEpsilon)(
    'rho $rho at delta $delta is epsilon $epsilon', ({ rho, delta, epsilon }) => {
      isJustAbove(epsilonOfZcdp(rho, delta), Number(epsilon), 1e-8);
    },
  );

  it.each(vectors.zcdpRho)(
    'epsilon $epsilon at delta $delta allows rho $rho', ({ epsilon, delta, rho }) => {
      // What is allowed is at or below the truth.
      const found = rhoForZcdp(epsilon, delta);
      expect(found).toBeLessThanOrEqual(Number(rho) * (1 + 2 ** -52));
      expect(found).toBeGreaterThan(Number(rho) * (1 - 1e-8));
    },
  );

  it('knows the numbers that the literature is quoted with', () => {
    const printed: readonly (readonly [string, number])[] = [
      [vectors.gaussianSigma[0]!.sigma, 36.30469], [vectors.gaussianSigma[1]!.sigma, 3.730632],
      [vectors.gaussianSigma[2]!.sigma, 4.224679], [vectors.gaussianSigma[3]!.sigma, 1.543861],
      [vectors.zcdpEpsilon[0]!.epsilon, 0.429941], [vectors.zcdpEpsilon[1]!.epsilon, 1.471595],
      [vectors.zcdpEpsilon[2]!.epsilon, 5.221534], [vectors.zcdpRho[0]!.rho, 0.024356],
    ];
    for (const [found, known] of printed) expect(Number(found)).toBeCloseTo(known, 5);
    expect(vectors.capacity.map(({ basic, approximate }) => [basic, approximate]))
      .toEqual([[100, 349], [20, 13]]);
  });

  it.each(vectors.capacity)('a budget of epsilon 1 holds releases of epsilon '
    + '$each', ({ each, epsilon, delta, ...fit }) => {
    const none = { deltaCap: zeroAmount, pureCap: zeroAmount };
    const zcdp = freshBalance({ rhoCap: capOf(rhoForZcdp(epsilon, delta)), ...none });
    expect(releasesThatFit(zcdp, chargeOf(rhoOfPure(each), 0)).count).toBe(fit.zcdp);
    const pure = freshBalance({ rhoCap: capOf(epsilon), ...none });
    // A decimal fraction may be a double just above it, which then does not fit as often.
    const times = releasesThatFit(pure, chargeOf(each, 0)).count;
    expect(fit.basic - times === 0 || fit.basic - times === 1).toBe(true);
    // The rule in epsilon and delta that the ledger does without: zCDP holds more.
    expect(fit.zcdp).toBeGreaterThan(fit.approximate);
  });

  it.each(vectors.composedGaussian)('$times releases of rho $rho lose at most epsilon '
    + '$epsilon', (vector) => {
    const { rho, times, epsilon, delta } = vector;
    const loss = lossOfReleases([{ events: [gaussian('sum', 1, 1 / Math.sqrt(2 * rho))], times }])!;
    expect(loss.delta(epsilon)).toBeGreaterThanOrEqual(Number(delta) * (1 - 1e-9));
    expect(loss.delta(epsilon)).toBeLessThan(Number(delta) * 1.02);
  });

  it.each(vectors.composedResponse)(
    '$times pure answers of epsilon $each are no better than told', (vector) => {
      // Randomised response is the worst of all pure mechanisms: noise of the same epsilon may only
      // do better.
      const { each, times, epsilon, delta } = vector;
      const event: LaplaceEvent = {
        kind: 'laplace', name: 'sum', cohort: 'rows', dimension: 1, sensitivity: 1, scale: 1 / each,
        grid: 2 ** -30,
      };
      const loss = lossOfReleases([{ events: [event], times }])!;
      expect(loss.delta(epsilon)).toBeLessThan(Number(delta) * 1.05);
      expect(loss.delta(epsilon)).toBeGreaterThan(0);
    },
  );

  it('rounds what is charged up and what may be charged down, to units of 2^-64', () => {
    for (const [value, below] of [
      [3 * 2 ** -66, 0n], [2.5 * 2 ** -64, 2n], [0.1 * 2 ** -52, 409n],
    ] as const) {
      expect(capOf(value)).toBe(below);
      expect(amountOf(value)).toBe(below + 1n);
    }
    expect(capOf(0.1)).toBe(amountOf(0.1));
  });

  it.each(vectors.upperQuantile)('a normal is above $z with probability $delta', ({ delta, z }) => {
    expect(normalUpperQuantile(delta)).toBeCloseTo(Number(z), 9);
  });

  it.each(vectors.ledger)('the ledger takes $units units of 2^-64, exactly', ({ pairs, units }) => {
    const events = pairs.map(([sensitivity, sigma], i) => gaussian(`sum-${i}`, sensitivity, sigma));
    expect(costOfEvents(events, { disjoint: [] }).rho).toBe(BigInt(units));
  });
});
