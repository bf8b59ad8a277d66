import { describe, expect, it } from 'vitest';
import {
  chiSquareAt, chiSquareCdf, chiSquareDeviations, chiSquareMedian, normalMedianDeviation,
} from '../../src/numerics/chi-square.js';
import { normalCdf } from '../../src/numerics/normal.js';

describe('squared lengths of normal vectors', () => {
  it('have the medians that tables give', () => {
    for (const [freedom, median] of [
      [1, 0.45493642], [2, 1.386294], [3, 2.365974], [5, 4.351460], [20, 19.337429],
    ] as const) {
      expect(Math.abs(chiSquareMedian(freedom) / median - 1))
        .toBeLessThan(freedom < 3 ? 1e-6 : 0.007);
      expect(chiSquareCdf(chiSquareMedian(freedom), freedom)).toBeCloseTo(0.5, 8);
    }
    expect(normalCdf(normalMedianDeviation)).toBeCloseTo(0.75, 15);
    expect(normalMedianDeviation ** 2).toBeCloseTo(chiSquareMedian(1), 14);
  });

  it('have the quantiles that tables give, to six in a thousand', () => {
    // 95 and 99 percent.
    for (const [freedom, high, higher] of [
      [3, 7.814728, 11.344867], [10, 18.307038, 23.209251], [50, 67.504807, 76.153891],
    ] as const) {
      expect(Math.abs(chiSquareAt(1.6448536, freedom) / high - 1)).toBeLessThan(0.006);
      expect(Math.abs(chiSquareAt(2.3263479, freedom) / higher - 1)).toBeLessThan(0.006);
      expect(chiSquareCdf(high, freedom)).toBeCloseTo(0.95, 2);
    }
  });

  it('go to deviations and back', () => {
    for (const freedom of [1, 2, 3, 17]) {
      for (const deviations of [-1.5, 0, 0.3, 2.5]) {
        expect(chiSquareDeviations(chiSquareAt(deviations, freedom), freedom))
          .toBeCloseTo(deviations, 12);
      }
    }
  });
});
