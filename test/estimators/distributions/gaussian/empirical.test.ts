import { describe, expect, it } from 'vitest';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { cloudOf, rowOf } from '../../covariance/covariance/data.js';
import { cohortFor, normalOf, totalVariation, type Normal } from './distance.js';

const bounds = { 'variance-low': 1e-6, 'variance-high': 1e6 };

async function measured(
  dimension: number, parameters: Readonly<Record<string, unknown>>, seed: string,
) {
  const cohort = cohortFor(dimension, 2, parameters);
  const plan = planOf('gaussian', parameters, factsOf(dimension, cohort, 2));
  const data = dataSource(seed);
  const cloud = cloudOf(
    data, Array.from({ length: dimension }, (_, k) => 10 ** (5 - (10 * k) / (dimension - 1))),
  );
  const rows = Array.from({ length: cohort }, () => rowOf(cloud, data, -777));
  const outcome = await releaseOf(plan, dimension, rows, seed);
  if (outcome.kind !== 'value') throw new Error(outcome.text);
  const covariance = new Float64Array(dimension
    ** 2).map((_, at) => cloud.deviations.reduce((sum, deviation, k) =>
    sum + deviation ** 2 * cloud.axes[k * dimension
      + Math.floor(at / dimension)]! * cloud.axes[k * dimension + (at % dimension)]!, 0));
  const truth: Normal = { mean: new Float64Array(dimension).fill(-777), covariance };
  return {
    plan, outcome, truth,
    distance: totalVariation(truth, normalOf(outcome.estimate, dimension), data),
    expected: plan.expectedError(0).total,
  };
}

describe('gaussian', () => {
  it('is within .25 of the truth in total variation at the cohort that the plan proposes, and '
    + 'about as far as it says', { tags: ['long'] }, async () => {
    for (const [dimension, arms] of [[2, 'one'], [5, 'one'], [2, 'split']] as const) {
      const { distance, expected } =
        await measured(dimension, { ...bounds, arms }, `whole ${dimension} ${arms}`);
      expect(distance).toBeLessThan(0.25);
      expect(distance / expected).toBeLessThan(1.3);
      expect(distance / expected).toBeGreaterThan(0.15);
    }
  });

  it('covers mean and covariance with its intervals', { tags: ['slow'] }, async () => {
    let covered = 0;
    let entries = 0;
    for (let round = 0; round < 12; round++) {
      const { outcome, truth } =
        await measured(2, { 'variance-low': 1e-5, 'variance-high': 1e5 }, `interval ${round}`);
      const wanted = [...truth.mean, ...truth.covariance];
      entries += wanted.length;
      covered += wanted.filter((entry, at) =>
        outcome.interval95!.low[at]! <= entry && entry <= outcome.interval95!.high[at]!).length;
    }
    // 72 entries, 66 or so of their own; clipping and the map's shift are not in the intervals.
    expect(covered / entries).toBeGreaterThan(0.8);
  });

  it('charges the larger stage where contributors serve one, and the sum where they serve '
    + 'both', () => {
    const facts = factsOf(2, 40_000, 2);
    const [shared, split] = ['one', 'split'].map((arms) =>
      planOf('gaussian', { ...bounds, arms }, facts));
    expect(split!.arms.map(({ name }) => name)).toEqual(['covariance', 'mean']);
    expect(shared!.arms.map(({ name }) => name)).toEqual(['rows']);
    expect(split!.events.every(({ cohort }) => cohort === 'covariance' || cohort === 'mean'))
      .toBe(true);
    expect(() => planOf('gaussian', { 'variance-low': 2, 'variance-high': 1 }, facts))
      .toThrow(/must not be above/);
    expect(() => planOf('gaussian', bounds, factsOf(101, 1e6))).toThrow(/at most 100 columns/);
  });

  it('refuses when too few come, naming what was planned for', async () => {
    const plan = planOf('gaussian', { ...bounds, arms: 'split' }, factsOf(2, 40_000, 2));
    const data = dataSource('few');
    for (const count of [40, 4_000]) {
      const outcome =
        await releaseOf(plan, 2, Array.from({ length: count }, () => data.normals(2)), 'few');
      expect(outcome).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
      expect(outcome.kind === 'refused' && outcome.text).toContain('40000');
    }
  });
});
