import { describe, expect, it } from 'vitest';
import { tailsOf } from '../../../../src/estimators/covariance/covariance/distances.js';
import { distanceBins } from '../../../../src/estimators/pooled/radius.js';

/** Of 100,000 rows in 10 columns. The bins of distance that are not told hold no rows. */
function tailsFor(...told: readonly number[]) {
  const counts = new Float64Array(distanceBins);
  counts.set(told);
  return tailsOf({
    counts, sigma: 27, present: told.reduce((sum, count) => sum + count, 0), dimension: 10,
    radius: 4.962, noise: 0.0145,
  })!;
}

describe('the tails of rows after the map', () => {
  it('are not called long where a larger radius only suits many normal rows', () => {
    // Released counts of normal rows, of condition 31 and of condition 1.
    for (const counts of [[98_984, 965, 19, 56, -32], [99_455, 557, 81, -30, 40]]) {
      expect(tailsFor(...counts)).toMatchObject({ isLong: false });
      expect(tailsFor(...counts).widen).toBeGreaterThan(1);
    }
  });

  it('are called long where rows are farther out than normal ones of any likely variance', () => {
    expect(tailsFor(95_600, 2_600, 1_000, 420, 200, 90).isLong).toBe(true);
    // A few rows far out, alone.
    expect(tailsFor(99_300, 500, 0, 0, 0, 0, 0, 200).isLong).toBe(true);
  });
});
