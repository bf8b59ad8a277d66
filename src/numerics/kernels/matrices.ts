import { log2 } from '../../base/elementary.js';
import { assert } from '../../base/assert.js';
import { allFinite, maximumNorm } from '../vector.js';
import type { Arena } from './arena.js';
import type { SymmetricEigen } from './contract.js';
import { gram, padded } from './passes.js';

/** See `Kernels.product`. */
export function product(
  arena: Arena, a: Float64Array, b: Float64Array, n: number, k: number, m: number,
  into: Float64Array = new Float64Array(n * m),
): Float64Array {
  assert(a.length === n * k && b.length === k * m, 'the factors have the sizes that were given');
  assert(into.length === n * m, 'the product has the size that was given');
  if (n === 0 || k === 0 || m === 0) return into.fill(0);
  const width = padded(m);
  const [left, right, rows, columns, out] =
    arena.layout(n * k, k * m, padded(n) * k, k * width, padded(n) * width);
  out.fill(0);
  left.set(a);
  right.set(b);
  arena.exports.packRows(left.byteOffset, n, k, rows.byteOffset);
  arena.exports.packColumns(right.byteOffset, k, m, 0, columns.byteOffset);
  arena.exports.addProduct(rows.byteOffset, columns.byteOffset, n, m, k, out.byteOffset);
  for (let i = 0; i < n; i++) into.set(out.subarray(i * width, i * width + m), i * m);
  return into;
}

/** See `Kernels.eigenSymmetric`. */
export function eigenSymmetric(
  arena: Arena, matrix: Float64Array, dimension: number,
): SymmetricEigen {
  assert(matrix.length === dimension ** 2, 'the matrix has dimension squared entries');
  const largest = maximumNorm(matrix);
  if (!allFinite(matrix)) return undefinedEigen(dimension);
  if (largest > 0 && largest < 2 ** -900) {
    const lifted = eigenSymmetric(arena, matrix.map((entry) => entry * 2 ** 600), dimension);
    return { values: lifted.values.map((value) => value * 2 ** -600), vectors: lifted.vectors };
  }
  // A power of two, so scaling is exact. Squares of entries near 1 neither overflow nor vanish.
  const exponent = largest === 0 ? 0 : Math.min(1023, Math.floor(log2(largest)) + 1);
  const unit = 2 ** exponent;
  const [scaled, vectors, values, work] = arena.layout(
    dimension ** 2, dimension ** 2, dimension, 4 * dimension,
  );
  for (const part of [scaled, vectors, values, work]) part.fill(0);
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j <= i; j++) {
      scaled[i * dimension + j] =
        (matrix[i * dimension + j]! / unit + matrix[j * dimension + i]! / unit) / 2;
    }
  }
  const [a, out, rows, more] = [scaled, values, vectors, work].map((part) => part.byteOffset);
  const converged = arena.exports.eigen(a!, dimension, out!, rows!, more!);
  if (converged === 0) return undefinedEigen(dimension);
  const order = Array.from(values, (_, i) => i)
    .sort((left, right) => values[left]! - values[right]! || left - right);
  const sorted = new Float64Array(dimension ** 2);
  order.forEach((from, to) =>
    sorted.set(vectors.subarray(from * dimension, (from + 1) * dimension), to * dimension));
  return { values: Float64Array.from(order, (from) => unit * values[from]!), vectors: sorted };
}

function undefinedEigen(dimension: number): SymmetricEigen {
  const nothing = Number.NaN;
  return {
    values: new Float64Array(dimension).fill(nothing),
    vectors: new Float64Array(dimension ** 2).fill(nothing),
  };
}

/**
 * See `Kernels.exponentialSymmetric`: V^T diag(exp(values)) V, as a sum of products of scaled
 * eigenvectors.
 */
export function exponentialSymmetric(
  arena: Arena, matrix: Float64Array, dimension: number, scaling: 'none' | 'unitTrace',
): Float64Array {
  const { values, vectors } = eigenSymmetric(arena, matrix, dimension);
  const top = scaling === 'unitTrace' ? (values[dimension - 1] ?? 0) : 0;
  const sizes = values.map((value) => Math.exp(value - top));
  const total = scaling === 'unitTrace' ? sizes.reduce((sum, size) => sum + size, 0) : 1;
  const result = new Float64Array(dimension ** 2);
  gram(
    arena, vectors, dimension, dimension, { weights: sizes.map((size) => size / total) }, result,
  );
  return result;
}
