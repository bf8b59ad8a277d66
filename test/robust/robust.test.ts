import { describe, expect, it } from 'vitest';
import { pointSet, type PointSet } from '../../src/numerics/points.js';
import { distance, norm } from '../../src/numerics/vector.js';
import { robustLocal } from '../../src/estimators/mean/populous-mean/deviation.js';
import { geometricMedian } from '../../src/robust/geometric-median.js';
import { robustMeanWithoutPrivacy } from '../../src/robust/robust-mean.js';
import { hardSpectralPass } from '../../src/robust/spectral-pass.js';
import { twoThresholdMean, twoThresholdVariance } from '../../src/robust/two-threshold-mean.js';
import { trimmedMean } from '../../src/robust/trimmed-mean.js';
import { contaminated, dataSource, shuffled } from '../support/data.js';

type Rows = readonly ArrayLike<number>[];

const estimators: readonly {
  name: string; run: (rows: Rows, dimension: number) => Float64Array;
}[] = [
  { name: 'geometricMedian', run: (rows, dimension) => geometricMedian(pointSet(rows, dimension)) },
  { name: 'robustMeanWithoutPrivacy', run: (rows, dimension) =>
    robustMeanWithoutPrivacy(pointSet(rows, dimension)) },
  { name: 'robustMeanWithoutPrivacy with a spread', run: (rows, dimension) =>
    robustMeanWithoutPrivacy(pointSet(rows, dimension), { spread: 1, cut: 2.5 }) },
  { name: 'twoCutMean', run: (rows, dimension) => twoThresholdMean(pointSet(rows, dimension), 1) },
  { name: 'trimmedMean', run: (rows, dimension) => trimmedMean(pointSet(rows, dimension), 0.25) },
];

function sumOfDistances(rows: Rows, point: Float64Array): number {
  return rows.reduce((sum, row) => sum + distance(Float64Array.from(row), point), 0);
}

describe.each(estimators)('$name', ({ run }) => {
  it('answers on degenerate data', () => {
    expect([...run([], 2)]).toEqual([0, 0]);
    expect([...run([[3, 4]], 2)]).toEqual([3, 4]);
    expect([...run([[1, 1], [3, 5]], 2)]).toEqual([2, 3]);
    expect([...run(Array.from({ length: 9 }, () => [7, -7]), 2)]).toEqual([7, -7]);
    const line = run([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]], 2);
    expect(line[0]).toBeCloseTo(2, 9);
    expect(line[1]).toBeCloseTo(2, 9);
    const square = run([[1, 1], [1, -1], [-1, 1], [-1, -1]], 2);
    expect(norm(square)).toBeLessThan(1e-9);
  });

  it('ignores rows that are not numbers', () => {
    const answer = run([[NaN, 1], [1, 2], [1, 2], [Infinity, 0], [1, 2]], 2);
    expect([...answer]).toEqual([1, 2]);
  });

  it('does not depend on the order of rows', () => {
    const data = dataSource('order');
    for (const dimension of [1, 2, 7, 40]) {
      const rows = contaminated(data, 30, dimension, 0.2, 5);
      const first = run(rows, dimension);
      for (let round = 0; round < 5; round++) {
        expect(distance(run(shuffled(rows, data), dimension), first)).toBeLessThan(1e-9);
      }
    }
  });

  it('moves with the data, near and far from the origin', () => {
    const data = dataSource('shift');
    const rows = contaminated(data, 40, 3, 0.1, 6);
    const near = run(rows, 3);
    const far = run(rows.map((row) => row.map((entry) => entry + 2 ** 30)), 3)
      .map((entry) => entry - 2 ** 30);
    expect(distance(near, far)).toBeLessThan(1e-5);
  });

  it.each([
    { attack: 'a shift of every column', hostile: () => [4, 4, 4] },
    { attack: 'one far point', hostile: () => [1e9, -1e9, 1e9] },
    { attack: 'far points in random directions', hostile: (normals: Float64Array) =>
      [...normals].map((x) => x * 1e6) },
    {
      attack: 'inliers on one side', hostile: (normals: Float64Array) => [...normals].map(Math.abs),
    },
    { attack: 'values near the end of the doubles', hostile: () => [1e300, 1e300, -1e300] },
  ])('stays near the truth under $attack', ({ hostile }) => {
    const data = dataSource('attacks');
    const rows: ArrayLike<number>[] = [];
    for (let i = 0;
        i < 1_000; i++) rows.push(i % 5 === 0 ? hostile(data.normals(3)) : data.normals(3));
    expect(norm(run(rows, 3))).toBeLessThan(1.1);
    const mean = rows.reduce<number>((sum, row) => sum + row[0]! / 1_000, 0);
    expect(Math.abs(mean)).toBeGreaterThan(0.1);
  });
});

describe('geometricMedian', () => {
  it('has the smallest sum of distances', () => {
    const data = dataSource('optimal');
    for (let round = 0; round < 30; round++) {
      const dimension = 2 + (round % 3);
      const rows = Array.from({ length: 5 + round }, () => data.normals(dimension));
      // Duplicates count as often as they occur.
      if (round % 2 === 0) rows.push(rows[0]!, rows[0]!, rows[1]!);
      const found = geometricMedian(pointSet(rows, dimension));
      const best = sumOfDistances(rows, found);
      for (let probe = 0; probe < 40; probe++) {
        const step = 10 ** -(probe % 5);
        const other = found.map((entry) => entry + step * data.normal());
        expect(sumOfDistances(rows, other)).toBeGreaterThan(best * (1 - 1e-6));
      }
    }
  });

  it('stays at a data point that outweighs the rest, and leaves one that does not', () => {
    expect([...geometricMedian(pointSet([[0, 0], [0, 0], [0, 0], [9, 0], [0, 9]], 2))])
      .toEqual([0, 0]);
    // The start, the median of each column, is the row (0, 0), which is far from the optimum.
    const rows = [[0, 0], [-0.1, 10], [10, -0.1], [-0.1, 9], [9, -0.1]];
    const found = geometricMedian(pointSet(rows, 2));
    expect(sumOfDistances(rows, found))
      .toBeLessThan(sumOfDistances(rows, Float64Array.of(0, 0)) - 1);
  });

  it('breaks down only past one half', () => {
    const far = Array.from({ length: 49 }, () => [1e12, 0]);
    const near = Array.from({ length: 51 }, (_, i) => [Math.cos(i), Math.sin(i)]);
    expect(norm(geometricMedian(pointSet([...far, ...near], 2)))).toBeLessThan(60);
  });
});

describe('hardSpectralPass', () => {
  it('removes a coordinated shift and keeps clean rows', () => {
    const data = dataSource('pass');
    const rows = contaminated(data, 400, 5, 0.1, 4);
    const points = pointSet(rows, 5);
    const pass = hardSpectralPass(points, geometricMedian(points), { spread: 1 });
    expect(pass.removed).toBeGreaterThanOrEqual(40);
    expect(pass.removed).toBeLessThan(55);
    expect(norm(pass.mean)).toBeLessThan(0.2);
  });

  it('never removes more than its share', () => {
    const rows = Array.from({ length: 20 }, (_, i) => [10 ** i, 0]);
    const pass =
      hardSpectralPass(pointSet(rows, 2), Float64Array.of(1, 0), { removedShareMax: 0.2 });
    expect(pass.removed).toBeLessThanOrEqual(4);
  });

  it('finds the direction from rows when there are fewer rows than columns', () => {
    const data = dataSource('wide');
    const rows = Array.from({ length: 12 }, () => data.normals(60));
    // Wide enough for the radial cut to miss them: only the direction tells.
    const moved =
      rows.map((row, i) => (i < 3 ? row.map((entry, j) => (j === 7 ? 7 : entry * 0.3)) : row));
    const pass = hardSpectralPass(pointSet(moved, 60), new Float64Array(60), { spread: 1 });
    expect(pass.removed).toBeGreaterThanOrEqual(3);
    expect(Math.abs(pass.mean[7]!)).toBeLessThan(1);
  });
});

describe('twoCutMean', () => {
  const rows = 83;
  const dimension = 10;

  function bias(
    estimate: (points: PointSet) => Float64Array, away: number, hostile: number,
  ): number {
    const data = dataSource('lump');
    const groups = 150;
    let sum = 0;
    for (let group = 0; group < groups; group++) {
      const points = Array.from({ length: rows }, (_, i) =>
        data.normals(dimension)
          .map((entry) => (i < hostile ? 0.1 * entry + away / Math.sqrt(dimension) : entry)));
      sum += estimate(pointSet(points, dimension))
        .reduce((total, entry) => total + entry, 0) / Math.sqrt(dimension);
    }
    return sum / groups;
  }

  it('is moved less by a cluster than a ball at the median', { tags: ['long'] }, () => {
    for (const away of [3, 3.6]) {
      const ours = bias((points) => twoThresholdMean(points, 1), away, 4);
      const fixed = bias(
        (points) => robustMeanWithoutPrivacy(points, { spread: 1, cut: 2.5 }), away, 4,
      );
      expect(ours).toBeLessThan(0.75 * fixed);
    }
  });

  it('is moved by no more than the planner assumes', { tags: ['slow'] }, () => {
    for (const away of [1.5, 2.5, 4, 8]) {
      for (const hostile of [4, 8, 17, 25]) {
        const reach = robustLocal.reach(hostile / rows, dimension);
        expect(bias((points) => twoThresholdMean(points, 1), away, hostile)).toBeLessThan(reach);
      }
    }
  });

  it('varies as the planner assumes', { tags: ['slow'] }, () => {
    for (const [count, columns] of [[40, 2], [83, 10], [400, 10]] as const) {
      const data = dataSource(`variance ${count}`);
      const rounds = Math.ceil(6000 / columns);
      let squares = 0;
      for (let round = 0; round < rounds; round++) {
        const points =
          pointSet(Array.from({ length: count }, () => data.normals(columns)), columns);
        squares += twoThresholdMean(points, 1)
          .reduce((sum, entry) => sum + entry * entry, 0) / columns;
      }
      const measured = (squares / rounds) * count;
      expect(measured / twoThresholdVariance(count, columns)).toBeGreaterThan(0.88);
      expect(measured / twoThresholdVariance(count, columns)).toBeLessThan(1.12);
    }
  });
});

describe('trimmedMean', () => {
  it('refuses a share that would leave nothing', () => {
    expect(() => trimmedMean(pointSet([[1]], 1), 0.5)).toThrow(/below 0.5/);
    expect(() => trimmedMean(pointSet([[1]], 1), NaN)).toThrow(/below 0.5/);
  });

  it('is the mean of the middle', () => {
    expect(trimmedMean(pointSet([[1], [2], [3], [100], [-50]], 1), 0.2)[0]).toBe(2);
  });
});
