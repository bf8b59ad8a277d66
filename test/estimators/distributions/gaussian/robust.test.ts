import { describe, expect, it } from 'vitest';
import { sumOfMatrices } from '../../../../src/estimators/covariance/moments/group-moments.js';
import { estimatesOf } from '../../../../src/estimators/distributions/gaussian/groups.js';
import { normalOfRows } from '../../../../src/robust/normal-of-rows.js';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { cohortFor, normalOf, totalVariation } from './distance.js';

const parameters = {
  'variance-low': 0.01, 'variance-high': 100, local: 'robust', corruption: 0.02,
};
const unit = (dimension: number): Float64Array =>
  Float64Array.from({ length: dimension ** 2 }, (_, at) => (at % (dimension + 1) === 0 ? 1 : 0));

describe('gaussian from robust groups', () => {
  it('stays within .35 with 2 % hostile contributors, whatever they send, and about as far as '
    + 'planned', { tags: ['slow'] }, async () => {
    const cohort = cohortFor(2, 4, parameters);
    const plan = planOf('gaussian', parameters, factsOf(2, cohort, 4));
    expect(plan.guarantee.corruptionMax).toBe(0.02);
    expect(plan.expectedError(0.02).total).toBeGreaterThan(plan.expectedError(0).total);
    expect(plan.expectedError(0.03).total).toBe(Infinity);
    for (const [label, hostile] of [
      ['far', [1e9, 0]], ['near', [4, 4]], ['middle', [0, 0]], ['clean', null],
    ] as const) {
      const data = dataSource(`robust ${label}`);
      const rows = Array.from({ length: cohort }, (_, i) =>
        (hostile !== null && i < 0.02 * cohort ? hostile : data.normals(2)));
      const outcome = await releaseOf(plan, 2, rows, `robust ${label}`);
      if (outcome.kind !== 'value') throw new Error(outcome.text);
      const truth = { mean: new Float64Array(2), covariance: unit(2) };
      const distance = totalVariation(truth, normalOf(outcome.estimate, 2), data);
      expect(distance).toBeLessThan(0.35);
      expect(distance / plan.expectedError(0.02).total).toBeLessThan(1.3);
    }
  });

  it('follows linear maps, however far apart they put variances', () => {
    const data = dataSource('maps');
    const values = data.normals(5 * 120);
    const plain = normalOfRows({ count: 120, dimension: 5, values })!;
    const spreads = [1e6, 1e-6, 1, 1e3, 1e-3];
    const scaled = normalOfRows({
      count: 120, dimension: 5, values: values.map((entry, at) => entry * spreads[at % 5]! + 1),
    })!;
    const entry = (factor: Float64Array, i: number, j: number): number =>
      [0, 1, 2, 3, 4].reduce((sum, k) => sum + factor[5 * i + k]! * factor[5 * j + k]!, 0);
    for (let i = 0; i < 5; i++) {
      expect((scaled.mean[i]! - 1) / spreads[i]!).toBeCloseTo(plain.mean[i]!, 3);
      for (let j = 0; j < 5; j++) {
        expect(entry(scaled.factor, i, j) / spreads[i]! / spreads[j]!)
          .toBeCloseTo(entry(plain.factor, i, j), 2);
      }
    }
    expect(normalOfRows({ count: 9, dimension: 2, values: data.normals(18) })).not.toBeNull();
    expect(normalOfRows({ count: 8, dimension: 2, values: data.normals(16) })).toBeNull();
    expect(normalOfRows({
      count: 50, dimension: 2,
      values: data.normals(100).map((_, at, all) => all[at - (at % 2)]! * 2),
    }))
      .toBeNull();
  });

  it('is unbiased on honest rows, to a twentieth', { tags: ['slow'] }, () => {
    const data = dataSource('unbiased');
    for (const dimension of [1, 2, 5]) {
      let trace = 0;
      for (let round = 0; round < 150; round++) {
        const found = normalOfRows({
          count: 40 * dimension, dimension, values: data.normals(40 * dimension ** 2),
        })!;
        trace += found.factor.reduce((sum, value) => sum + value ** 2, 0) / dimension / 150;
      }
      expect(Math.abs(trace - 1)).toBeLessThan(0.06);
    }
  });

  it('lets one contributor change one estimate, and the sum by no more than its event '
    + 'says', { tags: ['slow'] }, () => {
    const data = dataSource('one group');
    const [groups, dimension, radius] = [20, 2, 2];
    const tags = Array.from({ length: 400 }, () => BigInt(data.below(2 ** 50)) << 14n)
      .sort((a, b) => (a < b ? -1 : 1));
    const values = data.normals(800);
    const at = (rows: Float64Array) =>
      estimatesOf(
        { count: 400, dimension, values: rows, tags: BigUint64Array.from(tags) }, groups, 10,
      );
    const before = at(values);
    const texts = before.map(({ mean, factor }) => `${mean.join()} ${factor.join()}`);
    let largest = 0;
    for (let round = 0; round < 60; round++) {
      const changed = values.slice();
      changed.set([[1e300, -1e300], [0, 0], [1e3, 1]][round % 3]!, 2 * data.below(400));
      const after = at(changed);
      expect(after.filter(({ mean, factor }) =>
        !texts.includes(`${mean.join()} ${factor.join()}`)).length).toBeLessThanOrEqual(1);
      const map = data.normals(4).map((entry) => entry * 10 ** (round % 7));
      // The worst neighbours: one group's matrix replaced by another along another direction.
      const other = [
        ...before.slice(1),
        {
          mean: new Float64Array(2), factor: data.normals(4).map((entry) => entry * 1e6),
          beyond: new Float64Array(2),
        },
      ];
      const difference = (list: typeof before): number => {
        const [left, right] = [before, list].map((each) =>
          sumOfMatrices(each, map, dimension, radius));
        return Math.hypot(...left!.map((entry, i) => entry - right![i]!));
      };
      largest = Math.max(largest, difference(other), difference(after));
      expect(difference(other)).toBeLessThanOrEqual(Math.SQRT2 * radius * (1 + 2 ** -40));
    }
    expect(largest).toBeGreaterThan(0.5 * radius);
  });
});
