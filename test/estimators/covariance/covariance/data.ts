import { createKernels } from '../../../../src/numerics/kernels/index.js';
import type { DataSource } from '../../../support/data.js';

const kernels = createKernels();

/** A Gaussian of known covariance: rows are axes * (deviations . normals), the axes orthogonal. */
export interface Cloud {
  readonly dimension: number;
  readonly axes: Float64Array;
  readonly deviations: Float64Array;
}

/** Axes in no particular direction. */
export function cloudOf(data: DataSource, variances: readonly number[]): Cloud {
  const dimension = variances.length;
  const random = new Float64Array(dimension ** 2).map(() => data.normal());
  return {
    dimension,
    axes: kernels.eigenSymmetric(random, dimension).vectors,
    deviations: Float64Array.from(variances, Math.sqrt),
  };
}

/** One row about `centre`. */
export function rowOf(
  { dimension, axes, deviations }: Cloud, data: DataSource, centre = 0,
): Float64Array {
  const along = deviations.map((deviation) => deviation * data.normal());
  const row = new Float64Array(dimension).fill(centre);
  for (let k = 0; k < dimension; k++) {
    for (let j = 0; j < dimension; j++) row[j]! += along[k]! * axes[k * dimension + j]!;
  }
  return row;
}

/**
 * S^-1/2 estimate S^-1/2 - I along the axes: its largest eigenvalue in size, and its Frobenius
 * norm.
 */
export function relativeError(
  { dimension, axes, deviations }: Cloud, estimate: readonly number[],
): { readonly spectral: number; readonly frobenius: number } {
  const error = new Float64Array(dimension ** 2);
  for (let k = 0; k < dimension; k++) {
    for (let l = 0; l < dimension; l++) {
      let sum = 0;
      for (let i = 0; i < dimension; i++) {
        for (let j = 0; j < dimension; j++) {
          sum += axes[k * dimension + i]! * estimate[i * dimension + j]! * axes[l * dimension + j]!;
        }
      }
      error[k * dimension + l] = sum / deviations[k]! / deviations[l]! - (k === l ? 1 : 0);
    }
  }
  const { values } = kernels.eigenSymmetric(error, dimension);
  return {
    spectral: Math.max(-values[0]!, values.at(-1)!),
    frobenius: Math.hypot(...values),
  };
}
