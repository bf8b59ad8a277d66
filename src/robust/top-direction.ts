import { topEigenpair } from '../numerics/eigen.js';

/**
 * Top eigenvector of the scatter of the kept rows. Solves the smaller of the d x d and the n x n
 * problem.
 */
export function topDirection(
  relative: Float64Array, keep: Uint8Array, dimension: number,
): Float64Array {
  const rows: number[] = [];
  for (let i = 0; i < keep.length; i++) if (keep[i] === 1) rows.push(i);
  if (rows.length < dimension) return topDirectionByRows(relative, rows, dimension);
  const scatter = new Float64Array(dimension * dimension);
  for (const row of rows) {
    const base = row * dimension;
    for (let i = 0; i < dimension; i++) {
      const entry = relative[base + i]!;
      for (let j = i;
          j < dimension; j++) scatter[i * dimension + j]! += entry * relative[base + j]!;
    }
  }
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j < i; j++) scatter[i * dimension + j] = scatter[j * dimension + i]!;
  }
  return topEigenpair(scatter, dimension).vector;
}

/**
 * If u is the top eigenvector of Z Z^T, then Z^T u has the top direction of Z^T Z. Cheaper for few
 * rows with many columns.
 */
function topDirectionByRows(
  relative: Float64Array, rows: readonly number[], dimension: number,
): Float64Array {
  const size = rows.length;
  const gram = new Float64Array(size * size);
  for (let a = 0; a < size; a++) {
    for (let b = a; b < size; b++) {
      let sum = 0;
      for (let j = 0; j < dimension; j++) {
        sum += relative[rows[a]! * dimension + j]! * relative[rows[b]! * dimension + j]!;
      }
      gram[a * size + b] = sum;
      gram[b * size + a] = sum;
    }
  }
  const { vector } = topEigenpair(gram, size);
  const direction = new Float64Array(dimension);
  rows.forEach((row, a) => {
    for (let j = 0;
        j < dimension; j++) direction[j]! += vector[a]! * relative[row * dimension + j]!;
  });
  const length = Math.sqrt(direction.reduce((sum, entry) => sum + entry * entry, 0));
  return length > 0 && Number.isFinite(length)
    ? direction.map((entry) => entry / length) : direction.fill(0);
}

/** The position of each row of `relative` along a direction. */
export function placesAlong(relative: Float64Array, direction: Float64Array): Float64Array {
  const dimension = direction.length;
  const places = new Float64Array(relative.length / dimension);
  for (let i = 0; i < places.length; i++) {
    for (let j = 0; j < dimension; j++) places[i]! += relative[i * dimension + j]! * direction[j]!;
  }
  return places;
}
