import { describe, expect, it } from 'vitest';
import {
  boundsVariance, tailsOf, varianceAfter,
} from '../../../../src/estimators/covariance/covariance/distances.js';
import { distanceBins } from '../../../../src/estimators/pooled/radius.js';

/** Of 100,000 rows in 10 columns. The bins of distance that are not told hold no rows. */
function tailsFor(...told: readonly number[]) {
  const counts = new Float64Array(distanceBins);
  counts.set(told);
  return tailsOf({
    counts, sigma: 27, present: told.reduce((sum, count) => sum + count, 0), dimension: 10,
    radius: 4.962, noise: 0.0145, variance: 1,
  })!;
}

describe('the tails of rows after the map', () => {
  it('are not called long where a larger radius only suits many normal rows', () => {
    // Released counts of normal rows.
    for (const counts of [[99_455, 557, 81, -30, 40], [99_310, 660, 81, 9, 12]]) {
      expect(tailsFor(...counts)).toMatchObject({ isLong: false });
      expect(tailsFor(...counts).widen).toBeGreaterThan(1);
    }
  });

  it('have a bound where no more rows are beside the radius than normal ones', () => {
    // Released counts of 20,000 normal rows. Of them alone a tail without a variance could follow.
    const counts = new Float64Array(distanceBins);
    counts.set([19_880, 128, 5, -12, 20]);
    const tails = tailsOf({
      counts, sigma: 30.3, present: 20_000, dimension: 2, radius: 3.41, noise: 0.01, variance: 1,
    })!;
    expect(tails.widen).toBeGreaterThan(1);
    expect(tails.isLong).toBe(false);
    expect(boundsVariance(tails)).toBe(true);
  });

  it('are called long where rows are farther out than normal ones of any likely variance', () => {
    expect(tailsFor(95_600, 2_600, 1_000, 420, 200, 90).isLong).toBe(true);
    // A few rows far out, alone.
    expect(tailsFor(99_300, 500, 0, 0, 0, 0, 0, 200).isLong).toBe(true);
  });
});

it('expects normal rows to vary by 1 after a map, more by what clipping hides', () => {
  expect(varianceAfter(10, 100, 0)).toBeCloseTo(1, 12);
  expect(varianceAfter(10, 100, 0.25)).toBeCloseTo(0.8, 12);
  // Half of the squared length of two columns is an exponential number: E(r^2 - R^2)+ is 2 e^(-2).
  expect(varianceAfter(2, 2, 0)).toBeCloseTo(1 / (1 - Math.exp(-2)), 2);
});
