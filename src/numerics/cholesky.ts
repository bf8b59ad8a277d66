/**
 * The lower triangle L of matrix = L L^T, row-major with zeros above. Returns null if some pivot is
 * not above `pivotLeast` times its diagonal entry. O(d^3 / 6).
 * @param pivotLeast - default 0. Scaling rows and columns in the same way changes the outcome by
 *   rounding only.
 */
export function cholesky(
  matrix: Float64Array, dimension: number, pivotLeast = 0,
): Float64Array | null {
  const lower = new Float64Array(dimension * dimension);
  return choleskyInto(matrix, dimension, lower, pivotLeast) ? lower : null;
}

/** As `cholesky`, but in the given memory. Overwrites its lower triangle. */
export function choleskyInto(
  matrix: Float64Array, dimension: number, lower: Float64Array, pivotLeast = 0,
): boolean {
  for (let i = 0; i < dimension; i++) {
    const row = i * dimension;
    for (let j = 0; j <= i; j++) {
      const other = j * dimension;
      let sum = matrix[row + j]!;
      for (let k = 0; k < j; k++) sum -= lower[row + k]! * lower[other + k]!;
      if (i !== j) lower[row + j] = sum / lower[other + j]!;
      else if (sum > 0 && sum > pivotLeast * matrix[row + i]! && Number.isFinite(sum)) {
        lower[row + i] = Math.sqrt(sum);
      } else return false;
    }
  }
  return true;
}
