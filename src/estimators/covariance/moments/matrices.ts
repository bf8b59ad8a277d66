import { ownKernels } from '../../../numerics/kernels/index.js';

// Dense square matrices, row-major.

/** The unit matrix times a number. */
export function multipleOfUnit(dimension: number, factor: number): Float64Array {
  const matrix = new Float64Array(dimension ** 2);
  for (let i = 0; i < dimension; i++) matrix[i * dimension + i] = factor;
  return matrix;
}

/** The product of two matrices. */
export function product(left: Float64Array, right: Float64Array, dimension: number): Float64Array {
  return ownKernels().product(left, right, dimension, dimension, dimension);
}

/** Rows as columns. */
export function transposed(matrix: Float64Array, dimension: number): Float64Array {
  return matrix.map((_, at) => matrix[(at % dimension) * dimension + Math.floor(at / dimension)]!);
}

/** left * middle * left^T, exactly symmetric. */
export function congruence(
  left: Float64Array, middle: Float64Array, dimension: number,
): Float64Array {
  const whole = product(product(left, middle, dimension), transposed(left, dimension), dimension);
  return whole.map((entry, at) =>
    (entry + whole[(at % dimension) * dimension + Math.floor(at / dimension)]!) / 2);
}

/** The symmetric matrix with the same eigenvectors and other eigenvalues. */
export function withEigenvalues(
  matrix: Float64Array, dimension: number, change: (value: number) => number,
): Float64Array {
  const { values, vectors } = ownKernels().eigenSymmetric(matrix, dimension);
  const changed = new Float64Array(dimension ** 2);
  ownKernels().gram(vectors, dimension, dimension, { weights: values.map(change) }, changed);
  return changed;
}

/**
 * The inverse of a product of well-conditioned factors, from the product of their inverses and one
 * step of Newton's method, which takes off what rounding left between the two.
 */
export function refinedInverse(
  matrix: Float64Array, inverse: Float64Array, dimension: number,
): Float64Array {
  const residual = product(matrix, inverse, dimension).map((entry) => -entry);
  for (let i = 0; i < dimension; i++) residual[i * dimension + i]! += 2;
  return product(inverse, residual, dimension);
}

/** The first rows and columns of a square matrix; the matrix itself when it has no more. */
export function leadingBlock(matrix: Float64Array, dimension: number, size: number): Float64Array {
  if (size === dimension) return matrix;
  return Float64Array.from({ length: size ** 2 }, (_, at) =>
    matrix[Math.floor(at / size) * dimension + (at % size)]!);
}

/** A square matrix as the leading block of a larger one, zero elsewhere. */
export function padded(matrix: Float64Array, size: number, dimension: number): Float64Array {
  const whole = new Float64Array(dimension ** 2);
  for (let i = 0;
      i < size; i++) whole.set(matrix.subarray(i * size, (i + 1) * size), i * dimension);
  return whole;
}
