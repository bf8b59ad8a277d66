import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { allFinite, maximumNorm } from './vector.js';

/** An eigenvalue and its unit vector. */
export interface Eigenpair {
  readonly value: number;
  /**
   * Unit vector. Its largest entry (the first of equal ones) is positive, so that the sign is
   * fixed.
   */
  readonly vector: Float64Array;
}

/**
 * Largest eigenvalue of a symmetric matrix and its vector, row-major d x d. The matrix is
 * symmetrised first. Every input has an answer: a matrix with a non-finite entry, or of dimension
 * 0, gives value 0 and the first axis. O(d^3).
 */
export function topEigenpair(matrix: Float64Array, dimension: number): Eigenpair {
  const axis = new Float64Array(dimension);
  if (dimension > 0) axis[0] = 1;
  if (dimension === 0 || !allFinite(matrix)) return { value: 0, vector: axis };
  if (dimension === 1) return { value: matrix[0]!, vector: axis };
  if (dimension === 2) return topOfTwo(matrix);
  // The iteration squares entries. Entries of at most 1 cannot make it overflow or run forever.
  const unit = maximumNorm(matrix);
  if (unit === 0) return { value: 0, vector: axis };
  const rows = Array.from({ length: dimension }, (_, i) =>
    Array.from({ length: dimension }, (_, j) =>
      (matrix[i * dimension + j]! / unit + matrix[j * dimension + i]! / unit) / 2));
  const decomposition = new EigenvalueDecomposition(new Matrix(rows), { assumeSymmetric: true });
  const values = decomposition.realEigenvalues;
  let top = 0;
  for (let i = 1; i < dimension; i++) if (values[i]! > values[top]!) top = i;
  const vector =
    Float64Array.from({ length: dimension }, (_, i) => decomposition.eigenvectorMatrix.get(i, top));
  return allFinite(vector)
    ? { value: unit * values[top]!, vector: oriented(vector) } : { value: 0, vector: axis };
}

/** Closed form, because small groups of rows with two columns are common. */
function topOfTwo(matrix: Float64Array): Eigenpair {
  const first = matrix[0]!;
  const last = matrix[3]!;
  const side = matrix[1]! / 2 + matrix[2]! / 2;
  const half = first / 2 - last / 2;
  const spread = Math.hypot(half, side);
  const value = first / 2 + last / 2 + spread;
  // The vector has two proportional forms. This picks the one without cancellation.
  const vector = half >= 0 ? [half + spread, side] : [side, spread - half];
  const size = Math.hypot(vector[0]!, vector[1]!);
  if (size === 0) return { value, vector: Float64Array.of(1, 0) };
  return { value, vector: oriented(Float64Array.of(vector[0]! / size, vector[1]! / size)) };
}

function oriented(vector: Float64Array): Float64Array {
  let largest = 0;
  for (let i = 1; i < vector.length; i++) {
    // A clear margin: two entries that differ only by rounding must not be compared by their last
    // bit.
    if (Math.abs(vector[i]!) > Math.abs(vector[largest]!) * (1 + 1e-9)) largest = i;
  }
  return vector[largest]! < 0 ? vector.map((entry) => -entry) : vector;
}
