/**
 * Count, mean and sum of squared deviations per coordinate of a growing set of rows (Welford).
 * Accurate far from the origin, in one pass.
 */
export interface Moments {
  count: number;
  readonly mean: Float64Array;
  /** Per coordinate: sum over rows of (x - mean)^2. */
  readonly squares: Float64Array;
}

/** The moments of zero rows. */
export function emptyMoments(dimension: number): Moments {
  return { count: 0, mean: new Float64Array(dimension), squares: new Float64Array(dimension) };
}

/** Changes `moments`. */
export function addToMoments(moments: Moments, row: Float64Array): void {
  moments.count += 1;
  const { count, mean, squares } = moments;
  for (let j = 0; j < mean.length; j++) {
    const before = row[j]! - mean[j]!;
    mean[j]! += before / count;
    squares[j]! += before * (row[j]! - mean[j]!);
  }
}
