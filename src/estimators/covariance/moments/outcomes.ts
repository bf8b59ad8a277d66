import type { Outcome } from '../../../base/outcome.js';
import type { NamedPart } from '../../../base/parts.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { Plan } from '../../contract/estimator.js';
import { congruence } from './matrices.js';

/** A release of more columns, with its intervals, would not fit a subscriber's buffer. */
export const columnsMax = 200;

/** The form of a covariance, in a plan and in an answer. */
function partOf(dimension: number): NamedPart {
  return { name: 'covariance', shape: [dimension, dimension] };
}

/** The shape and parts of a covariance's output, for its plan. */
export function covarianceOutput(dimension: number): Pick<Plan, 'outputShape' | 'parts'> {
  const part = partOf(dimension);
  return { outputShape: part.shape, parts: [part] };
}

/** The unit of a covariance's expected error: the plan's fact `errorsAreIn`. */
export const errorsOfCovariance =
  'the Frobenius norm of S^-1/2 (estimate) S^-1/2 - I, S the true covariance';

/** The numbers that a covariance is made of, all of them public or released. */
export interface CovarianceAnswer {
  readonly dimension: number;
  /** Second moments after the map, made positive definite. */
  readonly moments: Float64Array;
  /** Undoes the map. */
  readonly inverse: Float64Array;
  /** Deviation of the noise on the diagonal of `moments`. */
  readonly noise: number;
  /**
   * Bound on the noise in any direction, relative to the moments; infinite where there is no such
   * bound.
   */
  readonly relative: number;
  /** Rows behind the moments, for the sampling error. */
  readonly pairs: number;
  /** The rows far out, after the map. Default: none, as for normal rows. */
  readonly tails?: {
    /** Bound on what clipping took off the trace of `moments`; infinite: there is no interval. */
    readonly lost: number;
    /** Mean of the fourth power of the length over the rows far out. */
    readonly fourth: number;
  };
}

/**
 * The covariance in data units. The intervals are for each entry: noise, which is isotropic after
 * the map, and sampling of rows that vary as Gaussian ones do.
 */
export function covarianceOutcome(answer: CovarianceAnswer): Outcome {
  const { dimension, moments, inverse, noise, relative, pairs } = answer;
  const { lost, fourth } = answer.tails ?? { lost: 0, fourth: 0 };
  const covariance = congruence(inverse, moments, dimension);
  const spread = congruence(inverse, unitMatrix(dimension), dimension);
  const half = new Float64Array(dimension ** 2);
  const clippedBelow = new Float64Array(half.length);
  const clippedAbove = new Float64Array(half.length);
  covariance.forEach((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    const variance = (matrix: Float64Array, off: number): number =>
      matrix[i * dimension + i]! * matrix[j * dimension + j]! + off ** 2;
    const width = Math.sqrt(spread[i * dimension + i]! * spread[j * dimension + j]!);
    const ofNoise = (noise ** 2 / 2) * variance(spread, spread[at]!);
    const ofSampling = (variance(covariance, entry) + fourth * width ** 2) / pairs;
    half[at] = deviations95 * Math.sqrt(ofNoise + ofSampling);
    // u^T L v for a positive semidefinite L of trace `lost` is between these.
    clippedBelow[at] = (lost * (spread[at]! - width)) / 2;
    clippedAbove[at] = (lost * (spread[at]! + width)) / 2;
  });
  if (![...covariance, ...half].every((entry) => Number.isFinite(entry))
      || !Number.isFinite(relative)) {
    return {
      kind: 'refused', reason: 'numerical-failure',
      text: 'the covariance is beyond the range of doubles: change units',
    };
  }
  const part = partOf(dimension);
  const isKnown = Number.isFinite(lost);
  return {
    kind: 'value',
    estimate: Array.from(covariance),
    shape: part.shape,
    parts: [part],
    uncertainty: { kind: 'relative', operator: relative },
    interval95: {
      low: Array.from(covariance, (entry, at) =>
        (isKnown ? entry - half[at]! + clippedBelow[at]! : -Infinity)),
      high: Array.from(covariance, (entry, at) =>
        (isKnown ? entry + half[at]! + clippedAbove[at]! : Infinity)),
    },
  };
}

/** max |eigenvalue of moments^-1/2 noise moments^-1/2|, bounded by the norms of both. */
export function relativeBound(moments: Float64Array, dimension: number, noiseNorm: number): number {
  return noiseNorm / ownKernels().eigenSymmetric(moments, dimension).values[0]!;
}

function unitMatrix(dimension: number): Float64Array {
  return Float64Array.from({ length: dimension ** 2 }, (_, at) =>
    (at % (dimension + 1) === 0 ? 1 : 0));
}

/** The refusal when too few pairs came for the planned rounds. */
export function tooFewPairs(cohort: number, pairsNeeded: number): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of pairs is below the ${pairsNeeded} that the planned noise leaves `
      + `room for; ${cohort} contributors were planned for: plan for a smaller cohort, closer `
      + 'variance bounds or a larger epsilon, or wait longer',
  };
}
