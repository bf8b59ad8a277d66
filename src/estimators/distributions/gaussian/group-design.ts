import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import {
  groupBias, matricesEvent, type GroupMomentsDesign,
} from '../../covariance/moments/group-moments.js';
import { noiseNorm, roundsMax, shiftFor } from '../../covariance/moments/preconditioner.js';
import { freedomOf, normAfter } from '../../covariance/subsample-covariance/groups-design.js';
import { meanDesign, whitenedSpread, type MeanDesign, type StageShare } from './mean-design.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { StageError } from './distance.js';
import { beyondMost, beyondStep } from './normality.js';

/** The public numbers that the design of group estimates is made from. */
export interface GroupFacts {
  readonly dimension: number;
  readonly delta: number;
  readonly varianceLow: number;
  readonly varianceHigh: number;
  readonly corruption: number;
  readonly rowsPerGroup: number;
}

/** The public constants of a covariance from group estimates. */
export interface GroupCovarianceDesign extends GroupMomentsDesign {
  readonly kind: 'groups';
  readonly from: StageShare;
  readonly groups: number;
  /** Adds up which rows of the groups are far out (groups.ts). */
  readonly beyond: GaussianEvent;
  readonly error: StageError;
}

const countShare = 0.01;
const beyondShare = 0.05;
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
  // Holds nearly every group's matrix, about the unit matrix, with what hostile rows add. A smaller
  // ball would cut more of the wide groups, and make every variance seem too small.
  const radius = normAfter(dimension, freedomOf('robust', dimension, rowsPerGroup), 0) + bias;
  const range = varianceHigh / varianceLow;
  const perRound = (rounds: number): number => shareOf(from.rho / rounds, share);
  const isEnough = (rounds: number): boolean =>
    (noiseNorm(dimension) * radius) / Math.sqrt(perRound(rounds)) <= turnout * groups * shiftFor(
      rounds, range,
    );
  let rounds = range === 1 ? 1 : 2;
  while (rounds <= roundsMax && !isEnough(rounds)) rounds += 1;
  if (rounds > roundsMax || groups < 1) return null;
  const common = { cohort: from.cohort, dimension, radius, groups };
  const eachRound = matricesEvent({ ...common, name: 'precondition', rho: perRound(rounds) });
  const lastRho = shareOf(from.rho, 1 - share - countShare - beyondShare);
  const final = matricesEvent({ ...common, name: 'covariance', rho: lastRho });
  const countRho = shareOf(from.rho, countShare);
  const size = noiseNorm(dimension) * eachRound.sigma;
  return {
    kind: 'groups', from, groups, radius, final,
    count: gaussianEvent({
      name: 'groups', cohort: from.cohort, dimension: 1, sensitivity: 1, rho: countRho,
      grid: countGrid(1 / Math.sqrt(2 * countRho)),
    }),
    beyond: gaussianEvent({
      name: 'beyond', cohort: from.cohort, dimension,
      sensitivity: beyondMost * Math.sqrt(dimension) * (1 + 2 ** -40),
      rho: shareOf(from.rho, beyondShare), grid: beyondStep,
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
  facts: GroupFacts, from: StageShare, centrePart: number,
): MeanDesign | null {
  const { dimension, corruption, rowsPerGroup } = facts;
  const groups = Math.floor(from.size / rowsPerGroup);
  return groups < 1 ? null : meanDesign(facts, from, centrePart, {
    points: groups,
    spread: (meanLoss * whitenedSpread) / Math.sqrt(rowsPerGroup),
    sampling: meanLoss * Math.sqrt(dimension / from.size),
    bias: groupBias(corruption, dimension).mean,
  });
}
