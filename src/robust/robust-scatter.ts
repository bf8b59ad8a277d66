import { ln } from '../base/elementary.js';
import { chiSquareMedian } from '../numerics/chi-square.js';
import { cholesky } from '../numerics/cholesky.js';
import { finiteRows, rowOf, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { geometricMedian } from './geometric-median.js';

/**
 * The number of rounds is fixed: how soon rows converge depends on them, and the time of a private
 * release must not.
 */
const iterations = 100;

/**
 * A covariance that allows a share of the rows to be anything. Its shape is Tyler's (1987): the
 * fixed point T = mean of d x x^T / (x^T T^-1 x), which uses directions only. Its centre is the
 * point at which directions cancel in units of T (Hettmansperger and Randles 2002). Its scale makes
 * the median of x^T T^-1 x that of Gaussian rows.
 *
 * Rows at the centre have no direction, so the shape ignores them. Rows with a non-finite entry are
 * left out of everything. Equivariant under affine maps, except for the start and the end of the
 * iteration.
 * Every input has an answer: zeros if the rows make the shape singular. O(100 n d^2) time.
 * Deterministic for one order of the points.
 */
export function robustScatter(given: PointSet): Float64Array {
  const points = finiteRows(given);
  const { count, dimension } = points;
  const nothing = new Float64Array(dimension ** 2);
  if (count <= dimension) return nothing;
  const start = geometricMedian(points);
  const rows =
    Array.from({ length: count }, (_, i) => rowOf(points, i).map((entry, j) => entry - start[j]!));
  let shape = startOf(rows, dimension);
  let isSingular = false;
  for (let round = 0; round < iterations; round++) {
    const next = step(rows, shape, dimension);
    isSingular ||= next === null;
    recentre(rows, shape, dimension);
    shape = next ?? shape;
  }
  if (isSingular) return nothing;
  const root = cholesky(shape, dimension);
  if (root === null) return nothing;
  const factor = median(Float64Array.from(rows, (row) => squareAfter(root, row, dimension)))
    / chiSquareMedian(dimension);
  const scaled = shape.map((entry) => entry * factor);
  return scaled.every((entry) => Number.isFinite(entry)) && factor > 0 ? scaled : nothing;
}

/** Moves rows by the mean of their directions in units of the shape. At the end that mean is 0. */
function recentre(rows: readonly Float64Array[], shape: Float64Array, dimension: number): void {
  const root = cholesky(shape, dimension);
  if (root === null) return;
  const moved = new Float64Array(dimension);
  let total = 0;
  for (const row of rows) {
    const weight = 1 / Math.sqrt(squareAfter(root, row, dimension));
    if (!Number.isFinite(weight)) continue;
    total += weight;
    for (let j = 0; j < dimension; j++) moved[j]! += weight * row[j]!;
  }
  if (!(total > 0)) return;
  for (const row of rows) for (let j = 0; j < dimension; j++) row[j]! -= moved[j]! / total;
}

/** Median squares of the columns, so that the first step is in units of the data. */
function startOf(rows: readonly Float64Array[], dimension: number): Float64Array {
  const start = new Float64Array(dimension ** 2);
  for (let j = 0; j < dimension; j++) {
    const size = median(Float64Array.from(rows, (row) => Math.abs(row[j]!)));
    start[j * (dimension + 1)] = size > 0 ? size * size : 1;
  }
  return start;
}

/**
 * One step of the fixed point, scaled to the trace of the one before; null if a matrix is singular.
 */
function step(
  rows: readonly Float64Array[], shape: Float64Array, dimension: number,
): Float64Array | null {
  const root = cholesky(shape, dimension);
  if (root === null) return null;
  const sum = new Float64Array(dimension ** 2);
  for (const row of rows) {
    const square = squareAfter(root, row, dimension);
    if (!(square > 0 && Number.isFinite(square))) continue;
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) sum[i * dimension + j]! += (row[i]! * row[j]!) / square;
    }
  }
  const next = cholesky(sum, dimension);
  if (next === null) return null;
  // Keeps the determinant, which no map of the data changes.
  let logarithm = 0;
  for (let i = 0; i < dimension;
      i++) logarithm += ln(root[i * (dimension + 1)]! / next[i * (dimension + 1)]!);
  const factor = Math.exp((2 * logarithm) / dimension);
  return sum.map((entry) => entry * factor);
}

/** |L^-1 row|^2. */
function squareAfter(root: Float64Array, row: Float64Array, dimension: number): number {
  const solved = new Float64Array(dimension);
  let square = 0;
  for (let i = 0; i < dimension; i++) {
    let entry = row[i]!;
    for (let k = 0; k < i; k++) entry -= root[i * dimension + k]! * solved[k]!;
    solved[i] = entry / root[i * (dimension + 1)]!;
    square += solved[i]! ** 2;
  }
  return square;
}
