/** Newton steps. The loss is convex and smooth, so a few are enough. */
const steps = 8;
/** Keeps weights finite if the sides are separable or columns repeat each other. */
const ridge = 1e-3;

/**
 * Weights w such that sigmoid(w . x) separates left rows (1) from right rows (0). Both sides have
 * the same total weight. Logistic regression by Newton's method with a small ridge. Deterministic.
 * @param left, right - row-major, `size` columns.
 */
export function fitLogistic(left: Float64Array, right: Float64Array, size: number): Float64Array {
  const weights = new Float64Array(size);
  for (let step = 0; step < steps; step++) {
    const hessian = new Float64Array(size * size);
    const gradient = weights.map((weight) => -ridge * weight);
    addSide(left, 1, weights, gradient, hessian);
    addSide(right, 0, weights, gradient, hessian);
    for (let i = 0; i < size; i++) hessian[i * size + i]! += ridge;
    const move = solvePositive(hessian, gradient, size);
    const longest = move.reduce((most, entry) => Math.max(most, Math.abs(entry)), 0);
    if (!Number.isFinite(longest)) break;
    const damping = Math.min(1, 5 / longest);
    for (let i = 0; i < size; i++) weights[i]! += damping * move[i]!;
    if (longest < 1e-6) break;
  }
  return weights;
}

function addSide(
  rows: Float64Array,
  label: number,
  weights: Float64Array,
  gradient: Float64Array,
  hessian: Float64Array,
): void {
  const size = weights.length;
  const count = rows.length / size;
  for (let row = 0; row < count; row++) {
    const first = row * size;
    let sum = 0;
    for (let i = 0; i < size; i++) sum += weights[i]! * rows[first + i]!;
    const probability = 1 / (1 + Math.exp(-sum));
    const slope = (label - probability) / count;
    const curve = (probability * (1 - probability)) / count;
    for (let i = 0; i < size; i++) {
      const entry = rows[first + i]!;
      gradient[i]! += slope * entry;
      const scaled = curve * entry;
      for (let j = 0; j <= i; j++) hessian[i * size + j]! += scaled * rows[first + j]!;
    }
  }
}

/**
 * Solves A x = b for positive definite A. Overwrites A's lower triangle with its Cholesky factor.
 */
function solvePositive(matrix: Float64Array, right: Float64Array, size: number): Float64Array {
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j]!;
      for (let k = 0; k < j; k++) sum -= matrix[i * size + k]! * matrix[j * size + k]!;
      matrix[i * size + j] = i === j
        ? Math.sqrt(Math.max(sum, 1e-12)) : sum / matrix[j * size + j]!;
    }
  }
  const solved = right.slice();
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) solved[i]! -= matrix[i * size + k]! * solved[k]!;
    solved[i]! /= matrix[i * size + i]!;
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) solved[i]! -= matrix[k * size + i]! * solved[k]!;
    solved[i]! /= matrix[i * size + i]!;
  }
  return solved;
}
