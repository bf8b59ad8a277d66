import {
  countGrid, gaussianEvent, symmetricGaussianEvent,
} from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { noiseNorm, roundsMax, shiftFor } from '../../covariance/moments/preconditioner.js';
import { meanDesign, whitenedScale, type MeanDesign, type StageShare } from './mean-design.js';
import type { StageError } from './distance.js';

/** What the design of group estimates is made from. */
export interface GroupFacts {
  readonly dimension: number;
  readonly delta: number;
  readonly varianceLow: number;
  readonly varianceHigh: number;
  readonly corruption: number;
  readonly rowsPerGroup: number;
}

/** The public constants of a covariance from group estimates. */
export interface GroupCovarianceDesign {
  readonly kind: 'groups';
  readonly from: StageShare;
  readonly groups: number;
  /** Frobenius norm at which a group's matrix is cut after the map. */
  readonly radius: number;
  readonly count: GaussianEvent;
  readonly rounds: readonly SymmetricGaussianEvent[];
  readonly final: SymmetricGaussianEvent;
  /** Noisy groups below which the rounds do not reach across the range. */
  readonly groupsNeeded: number;
  readonly error: StageError;
}

const countShare = 0.01;
const roundShares = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/** The rounds must also do when a fifth of the groups is missing. */
const turnout = 0.8;
/**
 * Deviations of a robust estimate over those of the best one, in simulated groups of 12 rows a
 * column and more.
 */
const meanLoss = 1.2;
const covarianceLoss = 1.5;

/**
 * What hostile rows in every group do to the groups' estimates: measured against far rows, in 1 to
 * 10 columns.
 */
export function groupBias(
  corruption: number, dimension: number,
): { readonly mean: number; readonly covariance: number } {
  const root = Math.sqrt(dimension);
  return {
    mean: 1.2 * corruption * root,
    covariance: (corruption * (dimension + 2 + 1.5 * root)) / Math.max(
      0.1, 1 - corruption * dimension,
    ),
  };
}

/**
 * The noise on a sum of symmetric positive semidefinite matrices, one a group, of Frobenius norm at
 * most `radius`.
 *
 * Claim: rho zCDP for one matrix replaced by another such matrix or by zero. Why: the inner product
 * of two positive semidefinite matrices is not negative, so their difference has norm at most sqrt
 * 2 radius, and a single one has less. What rounding to the grid adds is in the event; the last
 * digits of norm and product are in the 2^-40.
 */
function matricesEvent(
  { cohort, rho }: StageShare, name: string, dimension: number, radius: number, groups: number,
): SymmetricGaussianEvent {
  return symmetricGaussianEvent({
    name, cohort, dimension, rho, sensitivity: Math.SQRT2 * radius * (1 + 2 ** -40),
    magnitude: 2 * groups * radius,
  });
}

/**
 * The split of rho between rounds and the last release that leaves the least noise; null when no
 * rounds suffice.
 */
export function groupCovarianceDesign(
  facts: GroupFacts, from: StageShare,
): GroupCovarianceDesign | null {
  let best: GroupCovarianceDesign | null = null;
  for (const share of roundShares) {
    const next = covarianceWith(facts, from, share);
    if (next !== null && (best === null || next.error.noise < best.error.noise)) best = next;
  }
  return best;
}

function covarianceWith(
  facts: GroupFacts, from: StageShare, share: number,
): GroupCovarianceDesign | null {
  const { dimension, varianceLow, varianceHigh, corruption, rowsPerGroup } = facts;
  const groups = Math.floor(from.size / rowsPerGroup);
  const bias = groupBias(corruption, dimension).covariance;
  // Holds nearly every group's matrix, about the unit matrix in `rowsPerGroup` rows, with what
  // hostile rows add.
  const radius = 1.15 * Math.sqrt(dimension * (1 + (3 * (dimension + 1)) / rowsPerGroup)) + bias;
  const range = varianceHigh / varianceLow;
  const perRound = (rounds: number): number => shareOf(from.rho / rounds, share);
  const isEnough = (rounds: number): boolean =>
    (noiseNorm(dimension) * radius) / Math.sqrt(perRound(rounds)) <= turnout * groups * shiftFor(
      rounds, range,
    );
  let rounds = range === 1 ? 1 : 2;
  while (rounds <= roundsMax && !isEnough(rounds)) rounds += 1;
  if (rounds > roundsMax || groups < 1) return null;
  const eachRound = matricesEvent(
    { ...from, rho: perRound(rounds) }, 'precondition', dimension, radius, groups,
  );
  const lastRho = shareOf(from.rho, 1 - share - countShare);
  const final = matricesEvent({ ...from, rho: lastRho }, 'covariance', dimension, radius, groups);
  const countRho = shareOf(from.rho, countShare);
  const size = noiseNorm(dimension) * eachRound.sigma;
  return {
    kind: 'groups', from, groups, radius, final,
    count: gaussianEvent({
      name: 'groups', cohort: from.cohort, dimension: 1, sensitivity: 1, rho: countRho,
      grid: countGrid(1 / Math.sqrt(2 * countRho)),
    }),
    rounds: Array.from(
      { length: rounds }, (_, i) => ({ ...eachRound, name: `precondition/${i + 1}` }),
    ),
    groupsNeeded: Math.ceil(size / shiftFor(rounds, range)),
    error: {
      sampling: covarianceLoss * Math.sqrt((dimension * (dimension + 1)) / from.size),
      noise:
        (final.sigma * Math.sqrt((dimension * (dimension + 1)) / 2) * (1 + size / groups)) / groups,
      bias,
    },
  };
}

/**
 * The mean of group means, after the map: their centre, and their mean in a ball about it. Null
 * when it would be lost.
 */
export function groupMeanDesign(
  facts: GroupFacts, from: StageShare, centreShare: number,
): MeanDesign | null {
  const { dimension, corruption, rowsPerGroup } = facts;
  const groups = Math.floor(from.size / rowsPerGroup);
  return groups < 1 ? null : meanDesign(facts, from, centreShare, {
    points: groups,
    scale: (meanLoss * whitenedScale) / Math.sqrt(rowsPerGroup),
    sampling: meanLoss * Math.sqrt(dimension / from.size),
    bias: groupBias(corruption, dimension).mean,
  });
}
