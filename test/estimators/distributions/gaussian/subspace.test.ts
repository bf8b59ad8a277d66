import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../../../src/estimators/distributions/gaussian/frame.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { cohortFor, normalAlong, totalVariation } from './distance.js';

/**
 * Whole numbers that are Gaussian, but for rounding, in the subspace that orthogonal integer rows
 * span about a point.
 */
function gridRows(
  data: DataSource, count: number, basis: readonly (readonly number[])[], spread: readonly number[],
  point: readonly number[],
) {
  return Array.from({ length: count }, () => {
    const steps = spread.map((deviation) => Math.round(deviation * data.normal()));
    return point.map((entry, j) =>
      entry + basis.reduce((sum, row, k) => sum + row[j]! * steps[k]!, 0));
  });
}

const parameters = { 'variance-low': 1, 'variance-high': 1e6, subspace: 'affine' };

describe('gaussian in a subspace', () => {
  it.each([
    [2, [[3, 4]], [40], [7, -1]],
    [5, [[1, 1, 0, 0, 0], [1, -1, 2, 0, 0], [0, 0, 0, 3, 4]], [8, 20, 100], [5, 0, 0, 1000, 1]],
  ] as const)('is within .25 in %d columns, exactly in the subspace', async (
    dimension, basis, spread, point,
  ) => {
    const cohort = cohortFor(dimension, 2, parameters);
    const plan = planOf('gaussian', parameters, factsOf(dimension, cohort, 2));
    const data = dataSource(`plane ${dimension}`);
    const outcome =
      await releaseOf(plan, dimension, gridRows(data, cohort, basis, spread, point), 'plane');
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    const lengths = basis.map((row) => Math.hypot(...row));
    const units = basis.map((row, k) => row.map((entry) => entry / lengths[k]!));
    const truth = {
      mean: Float64Array.from(units, (row) =>
        row.reduce((sum, entry, j) => sum + entry * point[j]!, 0)),
      covariance: Float64Array.from(units.flatMap((_, k) =>
        units.map((__, l) => (k === l ? (spread[k]! * lengths[k]!) ** 2 : 0)))),
    };
    const distance = totalVariation(truth, normalAlong(outcome.estimate, dimension, units), data);
    expect(distance).toBeLessThan(0.25);
    expect(distance / plan.expectedError(0).total).toBeLessThan(1.2);
    // Nothing beside the subspace: the covariance has its trace there, and the mean the offset of
    // the rows.
    const trace = (matrix: ArrayLike<number>, size: number): number =>
      Array.from({ length: size }, (_, i) => matrix[i * size + i]!)
        .reduce((sum, entry) => sum + entry, 0);
    const inside = trace(normalAlong(outcome.estimate, dimension, units).covariance, units.length);
    expect(trace(outcome.estimate.slice(dimension), dimension) / inside).toBeCloseTo(1, 9);
    const off = point.map((entry, j) => outcome.estimate[j]! - entry);
    const within = units.map((row) => row.reduce((sum, entry, j) => sum + entry * off[j]!, 0));
    expect(Math.hypot(...off) ** 2 - Math.hypot(...within) ** 2).toBeLessThan(1e-6);
  });

  it('answers the point itself when everybody holds it, and refuses when groups '
    + 'disagree', async () => {
    const plan = planOf('gaussian', parameters, factsOf(2, 20_000, 2));
    const same = await releaseOf(plan, 2, Array.from({ length: 20_000 }, () => [3, -8]), 'point');
    expect(same).toMatchObject({
      kind: 'value', estimate: [3, -8, 0, 0, 0, 0],
      findings: [
        { reason: 'mostly-one-value', columns: [0], amounts: [3] },
        { reason: 'mostly-one-value', columns: [1], amounts: [-8] },
      ],
    });
    const data = dataSource('disagree');
    // Half of the groups have a row beside the line that the other half finds.
    const beside = 1 - 0.5 ** ((plan.facts['subspaceGroups'] as number) / 20_000);
    const rows =
      Array.from({ length: 20_000 }, () => [data.below(90), data.uniform() < beside ? 1 : 0]);
    const some = await releaseOf(plan, 2, rows, 'disagree');
    expect(some).toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
    expect(some.kind === 'refused' && some.text).toContain('20000');
  });

  it('gives one label to one affine subspace, and one contributor changes one '
    + 'label', { tags: ['long'] }, () => {
    const data = dataSource('labels');
    const tagOf = (): bigint => BigInt(data.below(2 ** 50)) << 14n;
    const basis = [[1, 2, 3], [0, 1, -1]];
    const members = gridRows(data, 600, basis, [50, 50], [1, 2, 4])
      .map((row) => ({ tag: tagOf(), row }));
    const listOf = (list: typeof members): string[] => {
      const sorted = [...list].sort((a, b) => (a.tag < b.tag ? -1 : 1));
      return labelsOf({
        count: list.length, dimension: 3,
        values: Float64Array.from(sorted.flatMap(({ row }) => row)),
        tags: BigUint64Array.from(sorted, ({ tag }) => tag),
      }, 60, 1);
    };
    const before = listOf(members);
    const counts = new Map<string, number>();
    for (const label of before) counts.set(label, (counts.get(label) ?? 0) + 1);
    expect(Math.max(...counts.values())).toBeGreaterThan(50);
    for (let round = 0; round < 100; round++) {
      const at = data.below(members.length);
      const replaced =
        members.map((entry, i) => (i === at ? { ...entry, row: [1e9, -7, 1e300] } : entry));
      const apart = members.map((entry, i) => (i === at ? { ...entry, row: [1, 2, 5] } : entry));
      const added = [...members, { tag: tagOf(), row: [0, 0, 1] }];
      for (const neighbour of [replaced, apart, members.filter((_, i) => i !== at), added]) {
        const after = listOf(neighbour);
        expect(after).toHaveLength(60);
        expect(after.filter((label, group) => label !== before[group]).length)
          .toBeLessThanOrEqual(1);
      }
    }
    const moved = members.map(
      (entry) => ({ ...entry, row: entry.row.map((value, j) => value + (j === 2 ? 1 : 0)) }),
    );
    expect(listOf(moved).filter((label) => before.includes(label) && !label.startsWith('!')))
      .toEqual([]);
  });
});
