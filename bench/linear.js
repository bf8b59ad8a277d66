// Small dense matrices for the covariance benchmarks.
import { randomOf } from './accuracy/random.js';

/**
 * A map with singular values spread evenly, in logarithm, from 1 to sqrt(condition), times `size`.
 */
export function mapOf(dimension, condition, seed, size = 1) {
  const random = randomOf(`map ${seed}`);
  const rotation = () => {
    const rows = Array.from({ length: dimension }, () =>
      Float64Array.from({ length: dimension }, () => random.normal()));
    rows.forEach((row, i) => {
      for (let k = 0; k < i; k++) {
        const along = row.reduce((sum, entry, j) => sum + entry * rows[k][j], 0);
        for (let j = 0; j < dimension; j++) row[j] -= along * rows[k][j];
      }
      const length = Math.hypot(...row);
      for (let j = 0; j < dimension; j++) row[j] /= length;
    });
    return rows;
  };
  const [left, right] = [rotation(), rotation()];
  const sizes =
    left.map((_, k) => size * condition ** (dimension === 1 ? 0 : k / (dimension - 1) / 2));
  return left.map((row) => Float64Array.from({ length: dimension }, (_, j) =>
    row.reduce((sum, entry, k) => sum + entry * sizes[k] * right[k][j], 0)));
}

/** Rows side by side, each multiplied by the map. */
export function mappedRows(values, map) {
  const dimension = map.length;
  const mapped = new Float64Array(values.length);
  for (let at = 0; at < values.length; at += dimension) {
    for (let i = 0; i < dimension; i++) {
      let sum = 0;
      for (let j = 0; j < dimension; j++) sum += map[i][j] * values[at + j];
      mapped[at + i] = sum;
    }
  }
  return mapped;
}

const transpose = (matrix) => matrix.map((_, i) => matrix.map((row) => row[i]));

/** The inverse of a matrix, by Gauss and Jordan with pivots. */
export function inverseOf(matrix) {
  const dimension = matrix.length;
  const a = matrix.map((row, i) => [...row, ...matrix.map((_, j) => (i === j ? 1 : 0))]);
  return reduced(a).map((row, k) => row.slice(dimension).map((entry) => entry / row[k]));
}

/** Rows [M, B] with M made diagonal. */
function reduced(a) {
  const dimension = a.length;
  for (let k = 0; k < dimension; k++) {
    const pivot = a.reduce(
      (best, row, i) => (i >= k && Math.abs(row[k]) > Math.abs(a[best][k]) ? i : best), k,
    );
    [a[k], a[pivot]] = [a[pivot], a[k]];
    for (let i = 0; i < dimension; i++) {
      if (i === k) continue;
      const factor = a[i][k] / a[k][k];
      for (let j = k; j < 2 * dimension; j++) a[i][j] -= factor * a[k][j];
    }
  }
  return a;
}

/** M^-1 S M^-T - I for the map M, from solving M X = S twice. Row by row. */
export function relativeErrorMatrix(estimate, map) {
  const dimension = map.length;
  const solve = (matrix) => {
    const a = reduced(map.map((row, i) => [...row, ...matrix[i]]));
    return a.map((row, k) => row.slice(dimension).map((entry) => entry / row[k]));
  };
  const rows =
    Array.from({ length: dimension }, (_, i) => estimate.slice(i * dimension, (i + 1) * dimension));
  const whole = solve(transpose(solve(rows)));
  return whole.flatMap((row, i) => row.map((entry, j) => entry - (i === j ? 1 : 0)));
}
