import { log2 } from '../../base/elementary.js';
import { assert } from '../../base/assert.js';
import { allFinite, maximumNorm } from '../vector.js';
import type { Arena } from './arena.js';
import type { SymmetricEigen } from './contract.js';
import { fewProducts, gram, padded } from './passes.js';

/** Rows of a block of a product, a multiple of 8: three such blocks stay in the second cache. */
const rowsOfProduct = (k: number, width: number): number =>
  Math.max(8, Math.floor(16_384 / Math.max(k, width)) & ~7);

/** See `Kernels.product`. */
export function product(
  arena: Arena, a: Float64Array, b: Float64Array, n: number, k: number, m: number,
  into: Float64Array = new Float64Array(n * m),
): Float64Array {
  assert(a.length === n * k && b.length === k * m, 'the factors have the sizes that were given');
  assert(into.length === n * m, 'the product has the size that was given');
  if (n * k * m <= fewProducts) return smallProduct(a, b, n, k, m, into);
  const width = padded(m), size = Math.min((n + 7) & ~7, rowsOfProduct(k, width));
  const [left, right, rows, columns, out] =
    arena.layout(size * k, k * m, size * k, k * width, size * width);
  right.set(b);
  arena.exports.packWide(right.byteOffset, k, m, 0, columns.byteOffset, 0, k, 0);
  for (let first = 0; first < n; first += size) {
    const count = Math.min(size, n - first);
    out.fill(0);
    left.set(a.subarray(first * k, (first + count) * k));
    arena.exports.packRows(left.byteOffset, count, k, rows.byteOffset);
    arena.exports.addProduct(rows.byteOffset, columns.byteOffset, count, m, k, out.byteOffset);
    if (width === m) into.set(out.subarray(0, count * m), first * m);
    else {
      for (let i = 0, at = first * m; i < count; i++) {
        for (let j = 0; j < m; j++, at++) into[at] = out[i * width + j]!;
      }
    }
  }
  return into;
}

/**
 * The product without the arena. It adds in the same order, so the bits are the same. A row of `a`
 * is read before the row of the product is written, which may be in its place.
 */
function smallProduct(
  a: Float64Array, b: Float64Array, n: number, k: number, m: number, into: Float64Array,
): Float64Array {
  const row = new Float64Array(m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let l = 0; l < k; l++) sum += a[i * k + l]! * b[l * m + j]!;
      row[j] = sum;
    }
    into.set(row, i * m);
  }
  return into;
}

/** See `Kernels.eigenSymmetric`. */
export function eigenSymmetric(
  arena: Arena, matrix: Float64Array, dimension: number,
): SymmetricEigen {
  assert(matrix.length === dimension ** 2, 'the matrix has dimension squared entries');
  const largest = maximumNorm(matrix);
  if (!allFinite(matrix)) return undefinedEigen(dimension);
  if (dimension === 1) return { values: Float64Array.from(matrix), vectors: Float64Array.of(1) };
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
