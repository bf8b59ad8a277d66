/**
 * Small dense helpers on Float64Array. They do not check lengths: callers pass vectors of one
 * dimension.
 */

/** Sum of products, in order. */
export function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i]! * right[i]!;
  return sum;
}

/** The largest absolute entry; 0 for an empty vector, NaN if an entry is NaN. */
export function maximumNorm(vector: Float64Array): number {
  let largest = 0;
  for (const entry of vector) {
    const size = Math.abs(entry);
    if (!(size <= largest)) largest = size;
    if (Number.isNaN(largest)) return NaN;
  }
  return largest;
}

/** Euclidean norm. It neither overflows nor underflows if the answer is a double. */
export function norm(vector: Float64Array): number {
  const largest = maximumNorm(vector);
  if (largest === 0 || !Number.isFinite(largest)) return largest;
  // Within the range of doubles, plain squares are exact enough and faster.
  const unit = largest > 1e-140 && largest < 1e140 ? 1 : largest;
  let sum = 0;
  for (const entry of vector) sum += (entry / unit) ** 2;
  return unit * Math.sqrt(sum);
}

/** left - right, entry by entry. */
function subtract(left: Float64Array, right: Float64Array): Float64Array {
  return left.map((entry, i) => entry - right[i]!);
}

/** Euclidean distance. */
export function distance(left: Float64Array, right: Float64Array): number {
  return norm(subtract(left, right));
}

/** True for an empty vector. */
export function allFinite(vector: Float64Array): boolean {
  for (let i = 0; i < vector.length; i++) if (!Number.isFinite(vector[i]!)) return false;
  return true;
}

/** The square matrix, row-major, with these entries on its diagonal. */
export function diagonal(entries: Float64Array): Float64Array {
  const matrix = new Float64Array(entries.length ** 2);
  entries.forEach((entry, j) => { matrix[j * entries.length + j] = entry; });
  return matrix;
}
