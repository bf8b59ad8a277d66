import { createKernels } from '../../../../src/numerics/kernels/index.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../../src/estimators/registry.js';
import type { DataSource } from '../../../support/data.js';
import { factsOf } from '../../../support/offline.js';

const kernels = createKernels();

/** A normal distribution of full rank: mean [d] and covariance [d, d]. */
export interface Normal {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
}

/** log density up to the constant that all normal distributions of a dimension share. */
function logDensityOf({ mean, covariance }: Normal): (point: Float64Array) => number {
  const dimension = mean.length;
  const { values, vectors } = kernels.eigenSymmetric(covariance, dimension);
  const logVolume = values.reduce((sum, value) => sum + Math.log(value), 0);
  return (point) => {
    let square = 0;
    for (let k = 0; k < dimension; k++) {
      let along = 0;
      for (let j = 0;
          j < dimension; j++) along += vectors[k * dimension + j]! * (point[j]! - mean[j]!);
      square += along ** 2 / values[k]!;
    }
    return -(square + logVolume) / 2;
  };
}

/**
 * Total variation distance, estimated from points of the first: E max(0, 1 - q / p). Deviation
 * below .5 / sqrt points.
 */
export function totalVariation(
  truth: Normal, answer: Normal, data: DataSource, points = 4_000,
): number {
  const dimension = truth.mean.length;
  const { values, vectors } = kernels.eigenSymmetric(truth.covariance, dimension);
  const [p, q] = [logDensityOf(truth), logDensityOf(answer)];
  let sum = 0;
  for (let i = 0; i < points; i++) {
    const point = truth.mean.slice();
    for (let k = 0; k < dimension; k++) {
      const along = Math.sqrt(values[k]!) * data.normal();
      for (let j = 0; j < dimension; j++) point[j]! += along * vectors[k * dimension + j]!;
    }
    sum += Math.max(0, 1 - Math.exp(q(point) - p(point)));
  }
  return sum / points;
}

/**
 * The parts of an estimate in the coordinates of `basis`, orthonormal rows of length `dimension`.
 */
export function normalAlong(
  estimate: readonly number[], dimension: number, basis: readonly (readonly number[])[],
): Normal {
  const entry = (i: number, j: number): number => estimate[dimension + i * dimension + j]!;
  const along = (row: readonly number[], of: (j: number) => number): number =>
    row.reduce((sum, factor, j) => sum + factor * of(j), 0);
  return {
    mean: Float64Array.from(basis, (row) => along(row, (j) => estimate[j]!)),
    covariance: Float64Array.from(basis.flatMap((left) =>
      basis.map((right) => along(left, (i) => along(right, (j) => entry(i, j)))))),
  };
}

/** The whole estimate. */
export function normalOf(estimate: readonly number[], dimension: number): Normal {
  return {
    mean: Float64Array.from(estimate.slice(0, dimension)),
    covariance: Float64Array.from(estimate.slice(dimension)),
  };
}

/** The cohort that the plan for a hopeless one proposes. */
export function cohortFor(
  dimension: number, epsilon: number, parameters: Readonly<Record<string, unknown>>,
): number {
  const estimator = findEstimator('gaussian');
  const facts = factsOf(dimension, 64, epsilon);
  const plan = estimator.plan(parseParameters(estimator.parameters, parameters, facts), facts);
  if (plan.kind !== 'infeasible') throw new Error('64 contributors should not do');
  if (!plan.remedy.includes(`a cohort of ${plan.cohortNeeded ?? 'none'}`)) {
    throw new Error('the remedy names another cohort');
  }
  return plan.cohortNeeded!;
}
