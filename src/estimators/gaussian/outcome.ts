import type { Outcome } from '../../base/outcome.js';
import type { NamedPart } from '../../base/parts.js';
import type { StudyFacts } from '../contract.js';
import { congruence, multipleOfUnit } from '../covariance/matrices.js';

/** The parts of every answer: the mean, then the covariance. */
export function partsOf(dimension: number): readonly NamedPart[] {
  return [{ name: 'mean', shape: [dimension] }, { name: 'covariance', shape: [dimension, dimension] }];
}

/** A released covariance, as the map that makes it the unit matrix. */
export interface Shape {
  readonly dimension: number;
  readonly map: Float64Array;
  readonly inverse: Float64Array;
  /** Undoes the map that the last noise was drawn after. */
  readonly unmap: Float64Array;
  /** Deviation of that noise on the diagonal. */
  readonly noise: number;
  /** Noisy number of pairs behind it. */
  readonly pairs: number;
}

/** A released mean where the covariance is the unit matrix. */
export interface WhitenedMean {
  readonly mean: Float64Array;
  /** Deviation of the noise per coordinate. */
  readonly noise: Float64Array;
  /** Noisy number of rows. */
  readonly rows: number;
}

/**
 * Mean and covariance in data units, from released numbers only. The deviations are those of the noise, given the
 * released map; the intervals, for each entry by itself, add the sampling of Gaussian rows.
 */
export function gaussianOutcome(shape: Shape, { mean, noise, rows }: WhitenedMean): Outcome {
  const { dimension, inverse, unmap, pairs } = shape;
  const columns = Array.from({ length: dimension }, (_, i) => i);
  const covariance = congruence(inverse, multipleOfUnit(dimension, 1), dimension);
  const spread = congruence(unmap, multipleOfUnit(dimension, 1), dimension);
  const rowOf = (i: number, of: (j: number) => number): number[] => columns.map((j) => inverse[i * dimension + j]! * of(j));
  const centre = columns.map((i) => rowOf(i, (j) => mean[j]!).reduce((sum, term) => sum + term, 0));
  const diagonal = (matrix: Float64Array, i: number): number => matrix[i * dimension + i]!;
  const product = (matrix: Float64Array, at: number): number =>
    diagonal(matrix, Math.floor(at / dimension)) * diagonal(matrix, at % dimension) + matrix[at]! ** 2;
  const deviation = [
    ...columns.map((i) => Math.hypot(...rowOf(i, (j) => noise[j]!))),
    ...Array.from(covariance, (_, at) => shape.noise * Math.sqrt(product(spread, at) / 2)),
  ];
  const sampling = [
    ...columns.map((i) => Math.sqrt(diagonal(covariance, i) / rows)),
    ...Array.from(covariance, (_, at) => Math.sqrt(product(covariance, at) / pairs)),
  ];
  const estimate = [...centre, ...covariance];
  const half = deviation.map((entry, at) => 1.96 * Math.hypot(entry, sampling[at]!));
  if (![...estimate, ...half].every((entry) => Number.isFinite(entry))) {
    const text = 'the mean or the covariance is beyond the range of doubles: change units';
    return { kind: 'refused', reason: 'numerical-failure', text };
  }
  return {
    kind: 'value',
    estimate,
    shape: [estimate.length],
    parts: partsOf(dimension),
    uncertainty: { kind: 'gaussian', standardDeviation: deviation },
    interval95: {
      low: estimate.map((entry, at) => entry - half[at]!),
      high: estimate.map((entry, at) => entry + half[at]!),
    },
  };
}

/** The refusal of a release whose mean was not found. The coordinates are no columns, so none is named. */
export function meanNotFound({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'centre-not-found',
    text: 'no stretch of four deviations held enough rows in some direction. Planned for '
      + `${cohort} contributors whose rows are Gaussian: check both, then lower cohort or wait for more contributors.`,
  };
}
