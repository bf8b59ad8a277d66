import { describe, expect, it } from 'vitest';
import { topEigenpair } from '../../src/numerics/eigen.js';
import { addToMoments, emptyMoments } from '../../src/numerics/moments.js';
import { finiteRows, meanAround, pointSet } from '../../src/numerics/points.js';
import { median, quantile, selectInPlace } from '../../src/numerics/selection.js';
import { dot, norm } from '../../src/numerics/vector.js';
import { dataSource } from '../support/data.js';

describe('norm', () => {
  it('has an answer for entries whose squares overflow', () => {
    expect(norm(Float64Array.of(3e200, 4e200))).toBeCloseTo(5e200, -190);
    expect(norm(Float64Array.of(3e-200, 4e-200)) / 5e-200).toBeCloseTo(1, 12);
    expect(norm(new Float64Array(0))).toBe(0);
    expect(norm(Float64Array.of(1, NaN))).toBeNaN();
    expect(norm(Float64Array.of(NaN, 1))).toBeNaN();
    expect(norm(Float64Array.of(1, -Infinity))).toBe(Infinity);
  });
});

describe('selection', () => {
  it('finds every rank, as sorting does', () => {
    const data = dataSource('selection');
    for (const length of [1, 2, 24, 25, 60, 999]) {
      const entries = Float64Array.from({ length }, () => Math.round(data.normal() * 10) + 0.5);
      const sorted = entries.slice().sort();
      for (const rank of [0, length >> 1, length - 1]) {
        expect(selectInPlace(entries.slice(), rank)).toBe(sorted[rank]);
      }
    }
  });

  it('stays fast on orders that defeat a naive pivot, and on equal entries', () => {
    const organ = Float64Array.from({ length: 20_001 }, (_, i) => (i < 10_000 ? i : 20_000 - i));
    expect(median(organ)).toBe(5_000);
    expect(median(new Float64Array(20_000).fill(7))).toBe(7);
  });

  it('takes the midpoint of an even number, and interpolates quantiles', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
    expect(median([1e308, 1.5e308])).toBeCloseTo(1.25e308, -300);
    expect(quantile([0, 10], 0.25)).toBe(2.5);
    expect(quantile([3], 1)).toBe(3);
  });
});

describe('moments', () => {
  it('are accurate far from the origin', () => {
    const data = dataSource('moments');
    const [near, far] = [emptyMoments(3), emptyMoments(3)];
    for (let i = 0; i < 500; i++) {
      const row = data.normals(3);
      addToMoments(near, row);
      addToMoments(far, row.map((entry) => entry + 1e9));
    }
    expect(far.count).toBe(500);
    for (let j = 0; j < 3; j++) {
      expect(far.mean[j]! - 1e9 - near.mean[j]!).toBeCloseTo(0, 5);
      expect(far.squares[j]! / 499).toBeCloseTo(near.squares[j]! / 499, 5);
      expect(far.squares[j]! / 499).toBeGreaterThan(0.7);
      expect(far.squares[j]! / 499).toBeLessThan(1.4);
    }
  });
});

describe('topEigenpair', () => {
  it.each([1, 2, 3, 8])('satisfies its equation and dominates in dimension %i', (dimension) => {
    const data = dataSource(`eigen ${dimension}`);
    for (let round = 0; round < 20; round++) {
      const factor = Array.from({ length: dimension }, () => data.normals(dimension));
      const matrix = new Float64Array(dimension * dimension);
      for (let i = 0; i < dimension; i++) {
        for (let j = 0; j < dimension; j++) matrix[i * dimension + j] = dot(factor[i]!, factor[j]!);
      }
      const { value, vector } = topEigenpair(matrix, dimension);
      expect(norm(vector)).toBeCloseTo(1, 12);
      const image =
        vector.map((_, i) => dot(matrix.subarray(i * dimension, (i + 1) * dimension), vector));
      image.forEach((entry, i) => expect(entry).toBeCloseTo(value * vector[i]!, 8));
      for (let probe = 0; probe < 10; probe++) {
        const direction = data.normals(dimension);
        const size = norm(direction);
        const unit = direction.map((entry) => entry / size);
        const energy = dot(
          unit.map((_, i) => dot(matrix.subarray(i * dimension, (i + 1) * dimension), unit)), unit,
        );
        expect(energy).toBeLessThanOrEqual(value * (1 + 1e-9));
      }
    }
  });

  it('has an answer for zero, diagonal and non-finite matrices', () => {
    expect([...topEigenpair(new Float64Array(4), 2).vector]).toEqual([1, 0]);
    expect([...topEigenpair(Float64Array.of(1, 0, 0, 5), 2).vector]).toEqual([0, 1]);
    expect([...topEigenpair(Float64Array.of(5, 0, 0, 1), 2).vector]).toEqual([1, 0]);
    expect(topEigenpair(new Float64Array(9).fill(NaN), 3).value).toBe(0);
    expect(topEigenpair(new Float64Array(0), 0).vector).toHaveLength(0);
    expect(topEigenpair(new Float64Array(9), 3).value).toBe(0);
    const huge = topEigenpair(Float64Array.of(1e300, 1e299, 0, 1e299, 2e300, 0, 0, 0, 1), 3);
    expect(huge.value / 2e300).toBeCloseTo(1, 1);
    expect(huge.vector[1]).toBeGreaterThan(0.9);
  });
});

describe('points', () => {
  it('averages around an origin without losing digits, and drops rows that are not numbers', () => {
    const points = pointSet([[1e15 + 1], [1e15 + 3], [NaN]], 1);
    const finite = finiteRows(points);
    expect(finite.count).toBe(2);
    expect(meanAround(finite, Float64Array.of(1e15))[0]).toBe(1e15 + 2);
    expect([...meanAround(finite, Float64Array.of(9), new Uint8Array(2))]).toEqual([9]);
  });
});
