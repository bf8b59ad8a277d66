import { ownKernels } from '../../numerics/kernels/index.js';

/** A step of a fit by least squares, and the covariance of its parameters, row-major. */
export interface LeastSquares {
  readonly step: Float64Array;
  readonly covariance: Float64Array;
}

/** Smaller eigenvalues, of a matrix with unit diagonal, do not tell parameters apart. */
const eigenvalueLeast = 1e-10;

/**
 * The normal equations of a fit with a few parameters by weighted least squares. O(p^2) for each
 * equation and O(p^3) for each solution.
 */
export class NormalEquations {
  readonly #matrix: Float64Array;
  readonly #right: Float64Array;

  /** @param parameters - how many, p. */
  constructor(private readonly parameters: number) {
    this.#matrix = new Float64Array(parameters ** 2);
    this.#right = new Float64Array(parameters);
  }

  /**
   * Adds the equation slopes . step = residual.
   * @param weight - 1 over its variance.
   */
  add(slopes: ArrayLike<number>, residual: number, weight: number): void {
    const p = this.parameters;
    for (let i = 0; i < p; i++) {
      this.#right[i]! += weight * slopes[i]! * residual;
      for (let j = 0; j < p; j++) this.#matrix[i * p + j]! += weight * slopes[i]! * slopes[j]!;
    }
  }

  /**
   * The solution; null where the equations do not tell the parameters apart.
   * @param damping - adds this part of itself to the diagonal.
   */
  solve(damping = 0): LeastSquares | null {
    const p = this.parameters;
    const unit = this.#right.map((_, i) => Math.sqrt(this.#matrix[i * p + i]!));
    if (!unit.every((entry) => entry > 0 && Number.isFinite(entry))) return null;
    const scaled = this.#matrix.map((entry, at) => {
      const [i, j] = [Math.floor(at / p), at % p];
      return i === j ? 1 + damping : entry / (unit[i]! * unit[j]!);
    });
    const { values, vectors } = ownKernels().eigenSymmetric(scaled, p);
    if (!(values[0]! > eigenvalueLeast)) return null;
    const covariance = scaled.map((_, at) => {
      const [i, j] = [Math.floor(at / p), at % p];
      return values.reduce((sum, value, k) =>
        sum + (vectors[k * p + i]! * vectors[k * p + j]!) / value, 0) / (unit[i]! * unit[j]!);
    });
    const step = this.#right.map((_, i) => entryOfProduct(covariance, i, this.#right));
    return { covariance, step };
  }
}

/** Entry i of the product of a row-major matrix and a vector. */
function entryOfProduct(matrix: Float64Array, i: number, vector: Float64Array): number {
  return vector.reduce((sum, entry, j) => sum + matrix[i * vector.length + j]! * entry, 0);
}

/** slopes . covariance . slopes: the variance of a number with these slopes. */
export function varianceAlong(covariance: Float64Array, slopes: Float64Array): number {
  return slopes.reduce((sum, slope, i) =>
    sum + slope * entryOfProduct(covariance, i, slopes), 0);
}
