import { findingsMax } from '../../../base/findings.js';
import type { Outcome } from '../../../base/outcome.js';
import type { NamedPart } from '../../../base/parts.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { intervalAbout } from '../../contract/outcomes.js';
import type { FrameDesign } from './design.js';
import type { Frame } from './frame.js';
import type { UnitsDesign } from './units.js';

/** The parts of every answer: the mean, then the covariance. */
export function partsOf(dimension: number): readonly NamedPart[] {
  return [{ name: 'mean', shape: [dimension] }, {
    name: 'covariance', shape: [dimension, dimension],
  }];
}

/**
 * A released covariance, as maps from where it is the unit matrix into data space. Both are
 * dimension x rank.
 */
export interface Shape {
  readonly frame: Frame;
  readonly inverse: Float64Array;
  /** Undoes the map that the last noise was drawn after. */
  readonly unmap: Float64Array;
  /** Standard deviation of that noise on the diagonal. */
  readonly noise: number;
  /** Noisy number of rows or pairs behind it; of groups, their degrees of freedom. */
  readonly rows: number;
  /** How far the covariance may be off beside chance, in every direction, as a share of it. */
  readonly slack: number;
}

/** A released mean where the covariance is the unit matrix; entries past the rank say nothing. */
export interface WhitenedMean {
  readonly mean: Float64Array;
  /** Standard deviation of the noise per coordinate. */
  readonly noise: Float64Array;
  /** Noisy number of rows. */
  readonly rows: number;
}

/**
 * Mean and covariance in data units, from released numbers only. The standard deviations are those
 * of the noise, given the released map. The intervals, for each entry by itself, add the sampling
 * of Gaussian rows.
 */
export function gaussianOutcome(shape: Shape, { mean, noise, rows }: WhitenedMean): Outcome {
  const { frame: { dimension, rank, origin }, inverse, unmap } = shape;
  const columns = Array.from({ length: dimension }, (_, i) => i);
  const covariance = squareOf(inverse, dimension, rank);
  const noiseShape = squareOf(unmap, dimension, rank);
  const termsOf = (i: number, of: Float64Array): number[] =>
    Array.from({ length: rank }, (_, k) => inverse[i * rank + k]! * of[k]!);
  const centre = columns.map((i) => termsOf(i, mean).reduce((sum, term) => sum + term, origin[i]!));
  const diagonal = (matrix: Float64Array, i: number): number => matrix[i * dimension + i]!;
  const fourth = (matrix: Float64Array, at: number): number =>
    diagonal(matrix, Math.floor(at / dimension)) * diagonal(matrix, at % dimension)
      + matrix[at]! ** 2;
  const standardDeviation = [
    ...columns.map((i) => Math.hypot(...termsOf(i, noise))),
    ...Array.from(covariance, (_, at) => shape.noise * Math.sqrt(fourth(noiseShape, at) / 2)),
  ];
  const sampling = [
    ...columns.map((i) => Math.sqrt(diagonal(covariance, i) / rows)),
    ...Array.from(covariance, (_, at) => Math.sqrt(fourth(covariance, at) / shape.rows)),
  ];
  const estimate = [...centre, ...covariance];
  const half = standardDeviation.map((entry, at) =>
    deviations95 * Math.hypot(entry, sampling[at]!)
      + (at < dimension ? 0 : shape.slack * Math.sqrt(diagonal(
        covariance, Math.floor((at - dimension) / dimension),
      ) * diagonal(covariance, (at - dimension) % dimension))));
  if (![...estimate, ...half].every((entry) => Number.isFinite(entry))) {
    const text = 'the mean or the covariance is beyond the range of doubles: change units';
    return { kind: 'refused', reason: 'numerical-failure', text };
  }
  return {
    kind: 'value',
    estimate,
    shape: [estimate.length],
    parts: partsOf(dimension),
    uncertainty: { kind: 'gaussian', standardDeviation },
    interval95: intervalAbout(estimate, (at) => half[at]!),
  };
}

/** matrix matrix^T, exactly symmetric: rows of the transpose are what `gram` adds up. */
function squareOf(matrix: Float64Array, dimension: number, rank: number): Float64Array {
  const columns = Float64Array.from({ length: rank * dimension }, (_, at) =>
    matrix[(at % dimension) * rank + Math.floor(at / dimension)]!);
  const square = new Float64Array(dimension ** 2);
  ownKernels().gram(columns, dimension, rank, {}, square);
  return square;
}

/**
 * The answer when most groups hold one point only: that point, exactly, and no variance. The other
 * rows may be anywhere, so it has no interval, and a finding for each column says so.
 */
export function pointOutcome(point: Float64Array): Outcome {
  const dimension = point.length;
  const estimate = [...point, ...new Float64Array(dimension ** 2)];
  return {
    kind: 'value', estimate, shape: [estimate.length], parts: partsOf(dimension),
    uncertainty: { kind: 'none' },
    findings: Array.from(point.subarray(0, findingsMax), (value, j) =>
      ({ reason: 'mostly-one-value', columns: [j], amounts: [value] })),
  };
}

/**
 * The refusal of a release whose mean was not found. The coordinates are no columns, so none is
 * named.
 */
export function meanNotFound({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'centre-not-found',
    text: 'no stretch of four deviations held enough rows in some direction. Planned for '
      + `${cohort} contributors whose rows are Gaussian: check both, then lower cohort or wait for `
      + 'more contributors.',
  };
}

/** The refusal when too few groups came for the planned rounds. */
export function tooFewGroups({ cohort }: StudyFacts, groupsNeeded: number): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of groups with enough rows is below the ${groupsNeeded} that the `
      + 'planned noise leaves room '
      + `for; ${cohort} contributors were planned for: plan for a smaller cohort, closer variance `
      + 'bounds or a larger '
      + 'epsilon, or wait longer',
  };
}

/** The refusal when rows follow another law, whose variance robust groups do not tell. */
export function notNormal(): Outcome {
  return {
    kind: 'refused',
    reason: 'subsamples-disagree',
    text: 'far more or far fewer rows are far out than of normal rows, so their variances are not '
      + 'those of the normal laws that fit the groups: use local=empirical, or covariance, or '
      + 'leave out columns that are skewed or have a few values',
  };
}

/**
 * The refusal when no spread was found. Coordinates of a subspace are no columns: none is named.
 */
export function unitsNotFound({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'spread-not-found',
    text: 'too few pairs of rows were a similar distance apart to tell how wide the rows are in '
      + `some column or direction. Planned for ${cohort} contributors: give variance-low and `
      + 'variance-high, leave out columns in which nearly all have one value, or wait for more.',
  };
}

/** The refusal when rows vary more or less than the bounds say. */
export function variancesBeyond(
  { kind, bounds: { varianceLow, varianceHigh } }: UnitsDesign,
): Outcome {
  return {
    kind: 'refused',
    reason: 'rows-too-wide',
    text: `in some direction the rows do not vary within ${varianceLow} to ${varianceHigh} `
      + `${kind === 'bounds' ? 'on the variance' : 'squared spreads'}, or no number of rounds tells how much: `
      + 'give variance-low and variance-high in the unit of the data squared, or leave out columns '
      + 'that follow from others',
  };
}

/** The refusal when no subspace leads. */
export function subspaceNotFound({ cohort }: StudyFacts, { groups, unit }: FrameDesign): Outcome {
  return {
    kind: 'refused',
    reason: 'subsamples-disagree',
    text: `no subspace led among the ${groups} groups by as much as the noisy test asks for. `
      + `Planned for ${cohort} `
      + `contributors whose rows lie in one subspace exactly once rounded to multiples of ${unit}: `
      + 'check both, then '
      + 'change unit, leave subspace out, or wait for more contributors.',
  };
}
