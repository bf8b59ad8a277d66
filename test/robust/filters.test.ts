import { describe, expect, it } from 'vitest';
import { attacks, makeRows } from '../../bench/accuracy/data.js';
import { pointSet } from '../../src/numerics/points.js';
import { distance } from '../../src/numerics/vector.js';
import { filteredMean } from '../../src/robust/filtered-mean.js';
import type { Filtered, FilterOptions } from '../../src/robust/filtering.js';
import { multiplicativeFilter } from '../../src/robust/multiplicative-filter.js';
import type { PointSet } from '../../src/numerics/points.js';
import { dataSource, shuffled } from '../support/data.js';

const filters: readonly {
  name: string; run: (points: PointSet, options?: FilterOptions) => Filtered;
}[] = [
  { name: 'filteredMean', run: filteredMean },
  { name: 'multiplicativeFilter', run: multiplicativeFilter },
];

const corruption = 0.05;
const bound = corruption * Math.sqrt(Math.log(1 / corruption));

describe.each(filters)('$name', ({ name, run }) => {
  it.each(Object
    .keys(attacks))('is as near as the rows allow under %s, with a certificate', (attack) => {
    for (const [dimension, contributors] of [[3, 4_000], [10, 6_000]] as const) {
      const { values, truth, honestMean } =
        makeRows(attack, { dimension, contributors, corruption, seed: name });
      const answer = run({ count: contributors, dimension, values }, { corruption, spread: 1 });
      expect(distance(answer.mean, truth))
        .toBeLessThan(1.5 * bound + 2 * distance(honestMean, truth));
      expect(answer.isCertified).toBe(true);
      expect(answer.kept).toBeGreaterThan(1 - 3 * corruption);
      if (attack === 'far') expect(answer.kept).toBeLessThan(1 - 0.99 * corruption);
      if (attack !== 'none') continue;
      // Clean rows: nothing is given away.
      expect(distance(answer.mean, honestMean)).toBeLessThan(0.01);
      expect(answer.kept).toBeGreaterThan(0.995);
    }
  });

  it('reports the largest variance of what it keeps', () => {
    const points = pointSet([[1, 0], [-1, 0], [0, 2], [0, -2], [1, 0], [-1, 0]], 2);
    const answer = run(points, { spread: 1, corruption: 0.1 });
    expect([...answer.mean]).toEqual([0, 0]);
    expect(answer.variance).toBeCloseTo(8 / 6, 12);
    expect(answer.kept).toBe(1);
    expect(answer.isCertified).toBe(true);
    // About the mean, which is not where the middle is.
    expect(run(pointSet([[0], [0], [0], [1.2], [1.2]], 1), { spread: 1 }).variance)
      .toBeCloseTo(0.3456, 12);
  });

  it('works in units of spread', () => {
    const { values } =
      makeRows('ones', { dimension: 3, contributors: 1_000, corruption, seed: 'units' });
    const narrow = run({ count: 1_000, dimension: 3, values }, { corruption, spread: 1 });
    const wide = run(
      { count: 1_000, dimension: 3, values: values.map((entry) => 64 * entry) },
      { corruption, spread: 64 },
    );
    expect([...wide.mean]).toEqual([...narrow.mean.map((entry) => 64 * entry)]);
    expect(distance(narrow.mean, new Float64Array(3))).toBeGreaterThan(0.001);
  });

  it('measures the spread when none is given', () => {
    const { values, truth } =
      makeRows('ones', { dimension: 5, contributors: 4_000, corruption, seed: 'scale' });
    const wide = values.map((entry) => 1e5 * entry);
    const answer = run({ count: 4_000, dimension: 5, values: wide }, { corruption });
    expect(distance(answer.mean, truth) / 1e5).toBeLessThan(0.2);
    expect(answer.isCertified).toBe(true);
  });

  it('does not depend on the order of rows', () => {
    const data = dataSource('order');
    const { values } =
      makeRows('two-clusters', { dimension: 4, contributors: 500, corruption: 0.1, seed: 'order' });
    const rows = Array.from({ length: 500 }, (_, i) => values.subarray(4 * i, 4 * i + 4));
    const first = run(pointSet(rows, 4), { corruption: 0.1, spread: 1 });
    for (let round = 0; round < 3; round++) {
      const other = run(pointSet(shuffled(rows, data), 4), { corruption: 0.1, spread: 1 });
      expect(distance(other.mean, first.mean)).toBeLessThan(1e-9);
    }
  });

  it('answers on degenerate data, and leaves out rows that are not numbers', () => {
    expect([...run(pointSet([], 2)).mean]).toEqual([0, 0]);
    expect([...run(pointSet([[3, 4]], 2)).mean]).toEqual([3, 4]);
    expect([...run(pointSet(Array.from({ length: 9 }, () => [7, -7]), 2)).mean]).toEqual([7, -7]);
    expect([...run(pointSet([[NaN, 1], [1, 2], [1, 2], [Infinity, 0], [1, 2]], 2)).mean])
      .toEqual([1, 2]);
    const far = run(
      pointSet([[0, 0], [1e300, -1e300], [0, 1], [1, 0], [1, 1]], 2),
      { spread: 1, corruption: 0.2 },
    );
    expect(distance(far.mean, Float64Array.of(0.5, 0.5))).toBeLessThan(0.01);
  });

  it('never removes more than about half of the rows', () => {
    const data = dataSource('wide');
    // Wider than it was told, and heavy-tailed: every tail looks hostile.
    const rows = Array.from({ length: 300 }, () =>
      data.normals(3).map((entry) => entry / (0.05 + data.uniform())));
    const answer = run(pointSet(rows, 3), { spread: 1, corruption: 0.3 });
    expect(answer.kept).toBeGreaterThan(0.3);
    expect(distance(answer.mean, new Float64Array(3))).toBeLessThan(1);
    const even =
      run(pointSet(Array.from({ length: 1_000 }, (_, i) => [i / 100 - 5]), 1), { spread: 1 });
    expect(even.kept).toBeGreaterThan(0.4);
  });

  it('certifies nothing when nearly all rows are farther out than clean ones would be', () => {
    const data = dataSource('far too wide');
    const rows = Array.from({ length: 300 }, () => data.normals(2).map((entry) => 1_000 * entry));
    expect(run(pointSet(rows, 2), { spread: 1 }).isCertified).toBe(false);
  });

  it('refuses options out of range', () => {
    expect(() => run(pointSet([[1]], 1), { corruption: 0.5 })).toThrow(/\[0, 0.45\]/);
    expect(() => run(pointSet([[1]], 1), { corruption: NaN })).toThrow(/\[0, 0.45\]/);
    expect(() => run(pointSet([[1]], 1), { spread: 0 })).toThrow(/positive/);
  });
});
