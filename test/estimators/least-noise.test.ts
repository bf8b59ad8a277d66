// @module-tag long
import { describe, expect, it } from 'vitest';
import type { Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { countNoise } from '../../src/estimators/counts/tables/count-noise.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { exactSmallestCohort, plan, planWithin } from '../../src/plan.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { analyticGaussianSigma } from '../../src/privacy/accounting/analytic-gaussian.js';
import { isReleaseWithin, lossOfReleases }
  from '../../src/privacy/accounting/loss-distribution/index.js';
import { resolvePureTarget, targetAlone } from '../../src/privacy/accounting/target.js';
import { releaseOf } from '../support/offline.js';
import { sampleParameters } from '../support/sample-parameters.js';

const privacy = { epsilon: 1, delta: 1e-6 };

function planned(
  name: string, parameters: Readonly<Record<string, unknown>> = {},
  { columns = 1, cohort = 1000, keys }: {
    readonly columns?: number; readonly cohort?: number; readonly keys?: StudyFacts['keys'];
  } = {},
): Plan {
  const estimator = findEstimator(name);
  const facts: StudyFacts = {
    dimension: columns, cohort, participation: 'secret', target: targetAlone(privacy),
    ...(keys !== undefined && { keys }),
  };
  const found =
    planWithin(estimator, parseParameters(estimator.parameters, parameters, facts), facts);
  if (found.kind === 'infeasible') throw new Error(found.reason);
  return found;
}

/** Root mean square error of the first number of 4,000 releases over 20 rows. */
async function rmsOf(
  release: Plan, rows: readonly (readonly number[])[], truth: number,
): Promise<number> {
  let squares = 0;
  for (let round = 0; round < 4000; round++) {
    const outcome = await releaseOf(release, rows[0]!.length, rows, `least noise ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    squares += (outcome.estimate[0]! - truth) ** 2;
  }
  return Math.sqrt(squares / 4000);
}

const bits = Array.from({ length: 20 }, (_, i) => [Number(i % 3 === 0)]);

describe('the noise of one release at epsilon 1 and delta 1e-6', () => {
  it('is 1.40 people or less in a count', async () => {
    expect(await rmsOf(planned('count'), bits, 20)).toBeLessThan(1.4);
  });

  it('is 1.50 units or less in a sum of reals', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => [i / 19]);
    const release = planned('sum', { cap: 1 });
    expect(release.noise[0]!).toBeLessThan(1.489);
    expect(await rmsOf(release, rows, 10)).toBeLessThan(1.5);
  });

  it('is Gaussian, by its exact curve, where one contributor moves many numbers', () => {
    const { events: [event], noise, cost } = planned(
      'count', {}, { columns: 2, keys: { list: 'public', groupsMax: 20, count: 100 } },
    );
    expect(event!.kind).toBe('gaussian');
    expect(cost.epsilon).toBeNull();
    const least = analyticGaussianSigma(1, 1e-6, Math.sqrt(40));
    expect(noise[0]!).toBeGreaterThanOrEqual(least);
    expect(noise[0]!).toBeLessThan(1.0001 * least);
  });

  it('keeps to epsilon and delta by the composed losses, where it is not pure', () => {
    for (const [name, parameters, columns, cohort] of [
      ['mean', {}, 1, 5000], ['covariance', {}, 2, 200_000], ['robust-mean', {}, 2, 20_000],
    ] as const) {
      const { events, cost } = planned(name, parameters, { columns, cohort });
      expect(cost.epsilon, name).toBeNull();
      expect(lossOfReleases([{ events }])!.epsilon(privacy.delta), name)
        .toBeLessThanOrEqual(privacy.epsilon);
      expect(lossOfReleases([{ events }])!.epsilon(privacy.delta), name).toBeGreaterThan(0.9);
    }
  });

  it('is no larger at delta 1e-6 than at delta 0, and needs no more people', {
    tags: ['slow'],
  }, () => {
    for (const estimator of estimators) {
      const columns = ['mixture-1d', 'heavy-tailed'].includes(estimator.name) ? 1 : 2;
      const parameters = sampleParameters(estimator.name);
      const leastAt = (delta: number): number => exactSmallestCohort((cohort) => plan({
        estimator, columns, cohort, epsilon: 1, delta, parameters, participation: 'secret',
      } as never).kind === 'plan') ?? Infinity;
      expect(leastAt(1e-6), estimator.name).toBeLessThanOrEqual(leastAt(0));
    }
  });
});

describe('isReleaseWithin', () => {
  const gaussian = (sigma: number) => [{
    kind: 'gaussian', name: 'one', cohort: 'all', dimension: 1, sensitivity: 1, sigma,
    grid: 2 ** -20,
  }] as const;

  it('agrees with the exact curve of Gaussian noise', () => {
    const least = analyticGaussianSigma(1, 1e-6);
    expect(isReleaseWithin({ events: gaussian(least * (1 + 1e-5)) }, privacy)).toBe(true);
    expect(isReleaseWithin({ events: gaussian(least * (1 - 1e-5)) }, privacy)).toBe(false);
  });

  it('is never more generous than the composition of losses', () => {
    for (const sigma of [4.2, 4.22, 4.224, 4.23, 4.3, 5]) {
      const loss = lossOfReleases([{ events: gaussian(sigma) }])!;
      // The composition rounds outwards, by less than 4 parts in 10,000 of sigma.
      if (isReleaseWithin({ events: gaussian(sigma) }, privacy)) {
        const wider = lossOfReleases([{ events: gaussian(sigma * 1.0005) }])!;
        expect(wider.delta(1), String(sigma)).toBeLessThanOrEqual(1e-6);
      } else expect(loss.delta(1), String(sigma)).toBeGreaterThan(1e-6);
    }
  });

  it('says no where an event has no piece', () => {
    const [event] = gaussian(100);
    expect(isReleaseWithin({ events: [{ ...event, grid: 256 }] }, privacy)).toBe(false);
    expect(isReleaseWithin({ events: [] }, privacy)).toBe(false);
  });
});

describe('intervals of Laplace noise', () => {
  /** P(z = m steps), for m from 0 on, of discrete Laplace noise with q = exp(-grid / scale). */
  const law = (q: number) => (m: number): number => ((1 - q) / (1 + q)) * q ** Math.abs(m);
  const noiseOf = (epsilon: number) => countNoise({
    name: 'count', counts: 1, l1: 1, l2: 1, target: resolvePureTarget({ epsilon, delta: 0 }),
  });

  it('hold at least 95 % by the discrete law, and no step more than that takes', () => {
    for (let epsilon = 0.05; epsilon < 8; epsilon *= 1.01) {
      const noise = noiseOf(epsilon);
      if (noise.event.kind !== 'laplace') throw new Error('not Laplace noise');
      const { scale, grid } = noise.event;
      const at = law(Math.exp(-grid / scale));
      const half = noise.interval95([0]).high[0]!;
      const within = (steps: number): number => {
        let sum = at(0);
        for (let m = 1; m <= steps; m++) sum += 2 * at(m);
        return sum;
      };
      expect(within(half / grid), String(epsilon)).toBeGreaterThanOrEqual(0.95 - 1e-12);
      if (half > 0) expect(within(half / grid - 1), String(epsilon)).toBeLessThan(0.95 + 1e-9);
    }
  });

  it('has the deviation that it states', () => {
    for (const epsilon of [0.1, 1, 4]) {
      const noise = noiseOf(epsilon);
      const at = law(Math.exp(-epsilon));
      let variance = 0;
      for (let m = 1; m < 1000; m++) variance += 2 * m * m * at(m);
      expect(noise.standardDeviation / Math.sqrt(variance)).toBeCloseTo(1, 9);
    }
  });

  it('of a count and of the people who lost keys hold together', () => {
    // X has epsilon .95 and Y .05 of the whole; the ends are added up (questions/keys-cut).
    for (let epsilon = 0.2; epsilon < 8; epsilon *= 1.3) {
      const [own, lost] = [noiseOf(0.95 * epsilon), noiseOf(0.05 * epsilon)];
      const y = law(Math.exp(-0.05 * epsilon));
      const ends = own.interval95([0]).high[0]! + lost.interval95([0]).high[0]!;
      const q = Math.exp(-0.95 * epsilon);
      let above = 0;
      for (let m = -4000; m <= 4000; m++) {
        // P(X > ends - m).
        const from = ends - m + 1;
        const tail = from > 0 ? q ** from / (1 + q) : 1 - q ** (1 - from) / (1 + q);
        above += y(m) * tail;
      }
      expect(above, String(epsilon)).toBeLessThan(0.025);
    }
  });

  it('states Laplace noise in the answer', async () => {
    const outcome = await releaseOf(planned('count'), 1, bits, 'laplace');
    expect(outcome).toMatchObject({ kind: 'value', uncertainty: { kind: 'laplace', scale: [1] } });
  });

  it('charges a count its epsilon exactly', () => {
    const { cost } = planned('count');
    expect(amountToNumber(cost.epsilon!)).toBe(1);
  });
});
