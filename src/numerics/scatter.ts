/**
 * Count, mean and scatter (the sum over rows of (x - mean)(x - mean)^T) of a growing set of rows: Welford's recurrence
 * for whole vectors, with the pairwise merge of Chan, Golub and LeVeque. Accurate far from the origin, one pass, and
 * positive semidefinite up to rounding. O(d^2) memory and time per row.
 */
export interface Scatter {
  count: number;
  readonly mean: Float64Array;
  /** Upper triangle, row by row: d (d + 1) / 2 entries. */
  readonly upper: Float64Array;
}

/** Entries of the upper triangle of a d x d matrix. */
export function triangleSize(dimension: number): number {
  return (dimension * (dimension + 1)) / 2;
}

/** The scatter of no rows. */
export function emptyScatter(dimension: number): Scatter {
  return { count: 0, mean: new Float64Array(dimension), upper: new Float64Array(triangleSize(dimension)) };
}

/** Scratch for one row's differences, by dimension: nothing outlives a call. */
const scratch = new Map<number, Float64Array>();

function scratchOf(dimension: number): Float64Array {
  let found = scratch.get(dimension);
  if (found === undefined) {
    found = new Float64Array(dimension);
    scratch.set(dimension, found);
  }
  return found;
}

/** Changes `scatter`. */
export function addToScatter(scatter: Scatter, row: Float64Array): void {
  scatter.count += 1;
  const { count, mean, upper } = scatter;
  const dimension = mean.length;
  const gap = scratchOf(dimension);
  for (let i = 0; i < dimension; i++) {
    const before = row[i]! - mean[i]!;
    gap[i] = before;
    mean[i]! += before / count;
  }
  addOuter(upper, gap, (count - 1) / count);
}

/** upper += factor * gap gap^T. */
function addOuter(upper: Float64Array, gap: Float64Array, factor: number): void {
  const dimension = gap.length;
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    const scaled = gap[i]! * factor;
    for (let j = i; j < dimension; j++) {
      upper[at]! += scaled * gap[j]!;
      at += 1;
    }
  }
}

/** The scatter of both sets together; neither argument changes. */
export function mergeScatter(left: Scatter, right: Scatter): Scatter {
  const count = left.count + right.count;
  if (count === 0) return emptyScatter(left.mean.length);
  const share = right.count / count;
  const gap = left.mean.map((entry, j) => right.mean[j]! - entry);
  const mean = left.mean.map((entry, j) => entry + gap[j]! * share);
  const upper = left.upper.map((entry, i) => entry + right.upper[i]!);
  addOuter(upper, gap, left.count * share);
  return { count, mean, upper };
}

/** Unbiased covariance, d x d row-major; zeros below two rows. */
export function covarianceOf({ count, mean, upper }: Scatter): Float64Array {
  const dimension = mean.length;
  const covariance = new Float64Array(dimension * dimension);
  if (count < 2) return covariance;
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      const entry = upper[at]! / (count - 1);
      covariance[i * dimension + j] = entry;
      covariance[j * dimension + i] = entry;
      at += 1;
    }
  }
  return covariance;
}
