import { ln } from '../../../base/elementary.js';
import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { nearSmallestCohort } from '../../contract/planning.js';
import {
  groupBias, matricesEvent, type GroupMomentsDesign,
} from '../moments/group-moments.js';
import { noiseNorm } from '../moments/preconditioner.js';
import { groupMapEvents, type GroupMapDesign } from './group-map.js';
import { efficiencyOf, groupsCohort, type LocalCovariance } from './masked-design.js';

/** The public numbers that a covariance from groups is planned from. */
export interface GroupsFacts {
  readonly dimension: number;
  readonly cohort: number;
  readonly rho: number;
  readonly delta: number;
  readonly local: LocalCovariance;
  /** Corruption that groups must withstand: 0 for `local: empirical`. */
  readonly corruption: number;
  /** Fixed by the user; chosen when absent. */
  readonly groups?: number;
}

/** The public constants of a covariance from groups. Errors are relative, in Frobenius norm. */
export interface GroupsDesign {
  readonly facts: GroupsFacts;
  readonly groups: number;
  readonly groupSize: number;
  readonly map: GroupMapDesign;
  readonly moments: GroupMomentsDesign;
  /** Counts the groups that are cut at the ball. */
  readonly cut: GaussianEvent;
  /** The map finds a bin with so many groups nearly always. */
  readonly groupsInABin: number;
  readonly events: readonly MechanismEvent[];
  readonly sampling: number;
  readonly noise: number;
}

/** Parts of rho for the map. */
const mapShares = [0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6];
/** Parts of rho for the number of groups, and for the number of those that are cut. */
const countShares = { all: 0.05, cut: 0.03 };
/** Sizes of groups that are tried, in units of the smallest one. */
const sizes = [1, 1.4, 2, 3, 5];
/** Widths of bins, in deviations of what is put in them. */
const deviationsPerBin = 3;
/**
 * The least share of the groups in the fullest bin. It is least where half of them are in the bin
 * beside it: .45 or more in simulations.
 */
const inFullestBin = 0.44;
/** So many deviations above what keeps a bin. */
const keepingDeviations = 3;
/** Largest noise in any direction, relative to the variance there: of a plan, and of an answer. */
const noiseMost = { planned: 0.5, answered: 0.75 };
/** Robust groups of rows bear a corruption of this over the number of columns. */
const hostileMost = 0.8;

/**
 * The rows of the smallest group. Robust ones must also bear the corruption of an unlucky group,
 * three deviations above the stated one. Null where no size does.
 */
function smallestGroup({ dimension, local, corruption }: GroupsFacts): number | null {
  if (local === 'empirical') return Math.max(12, 2 * dimension + 10);
  const room = hostileMost / dimension - corruption;
  if (room <= 0) return null;
  return Math.max(30, 6 * dimension + 8, Math.ceil((9 * corruption) / room ** 2));
}

/** The design of least error; null when none is feasible. */
export function groupsDesign(facts: GroupsFacts): GroupsDesign | null {
  const smallest = smallestGroup(facts);
  if (smallest === null) return null;
  const tried = facts.groups === undefined
    ? sizes.map((size) => size * smallest) : [facts.cohort / facts.groups];
  let best: GroupsDesign | null = null;
  const errorOf = ({ sampling, noise }: GroupsDesign): number => Math.hypot(sampling, noise);
  for (const size of tried) {
    if (size < smallest) continue;
    for (const share of mapShares) {
      const next = designWith(facts, size, share);
      if (next !== null && (best === null || errorOf(next) < errorOf(best))) best = next;
    }
  }
  return best;
}

/**
 * Variances after the map are between these, at most and at least. Fitted to simulated groups of 1
 * to 20 columns with pivots and coefficients on the edges of bins: 2 of 380 maps were outside, both
 * of 20 columns and by a twentieth.
 */
function variancesAfter(
  dimension: number, width: number,
): { readonly low: number; readonly high: number } {
  const root = Math.sqrt(dimension);
  return {
    low: Math.exp(-width * (0.25 + 0.2 * root)), high: Math.exp(width * (0.35 + 0.3 * root)),
  };
}

/**
 * The Frobenius norm of a group's matrix after the map: 2.2 deviations above that of a group that
 * the map fits, and more as the map errs. In simulations at most 2 in 100 groups have a larger one.
 */
export function normAfter(dimension: number, freedom: number, width: number): number {
  const fitted = Math.sqrt(dimension * (1 + (dimension + 1) / freedom)) + 4.4 / Math.sqrt(freedom);
  return fitted * (1 + width * (0.1 + 0.26 * ln(dimension)));
}

/**
 * Degrees of freedom of a group's covariance. Sizes of hashed groups are Poisson. The mean takes
 * one degree of freedom of each.
 */
export function freedomOf(local: LocalCovariance, dimension: number, size: number): number {
  return efficiencyOf(local, dimension) * (size - 1 - 0.5 * Math.sqrt(size));
}

function designWith(facts: GroupsFacts, size: number, mapShare: number): GroupsDesign | null {
  const { dimension, cohort: contributors, rho, delta, local, corruption } = facts;
  const groups = facts.groups ?? Math.floor(contributors / size);
  const freedom = freedomOf(local, dimension, size);
  if (groups < 1 || freedom < dimension + 2) return null;
  const cohort = groupsCohort;
  const events = groupMapEvents({ cohort, dimension, rho: shareOf(rho, mapShare), delta });
  const groupsInABin = keepingCount(events.pivots) + keepingDeviations * events.pivots.sigma;
  if (inFullestBin * groups < groupsInABin) return null;
  const coefficientWidth = deviationsPerBin / Math.sqrt(freedom - dimension - 1);
  const pivotWidth = deviationsPerBin * Math.sqrt(2 / (freedom - dimension));
  const { low, high } = variancesAfter(dimension, coefficientWidth);
  const radius = normAfter(dimension, freedom, coefficientWidth)
    + groupBias(corruption, dimension).covariance;
  const final = matricesEvent({
    name: 'covariance', cohort, dimension, radius, groups,
    rho: shareOf(rho, 1 - mapShare - countShares.all - countShares.cut),
  });
  const inAnyDirection = (noiseNorm(dimension) * final.sigma) / low;
  if (inAnyDirection > noiseMost.planned * groups) return null;
  const count = countOf('groups', shareOf(rho, countShares.all));
  const cut = countOf('cut', shareOf(rho, countShares.cut));
  const entries = (dimension * (dimension + 1)) / 2;
  const relative = final.sigma * Math.sqrt(entries / (low * high));
  return {
    facts, groups, groupSize: contributors / groups, groupsInABin, cut,
    map: { ...events, pivotWidth, coefficientWidth },
    moments: {
      radius, count, rounds: [], final,
      groupsNeeded: Math.ceil(inAnyDirection / noiseMost.answered),
    },
    events: [events.pivots, ...events.coefficients, cut, count, final],
    sampling: Math.sqrt((2 * entries) / rowsBehind(facts, groups, contributors / groups)),
    noise: Math.hypot(relative, count.sigma * Math.sqrt(dimension)) / groups,
  };
}

/** A noisy number of groups. */
function countOf(name: string, rho: number): GaussianEvent {
  return gaussianEvent({
    name, cohort: groupsCohort, dimension: 1, sensitivity: 1, rho,
    grid: countGrid(1 / Math.sqrt(2 * rho)),
  });
}

/** Rows that an average of so many group covariances is worth. */
export function rowsBehind(
  { dimension, local }: GroupsFacts, groups: number, groupSize: number,
): number {
  return groups * (groupSize - 1) * efficiencyOf(local, dimension);
}

/** A group with fewer rows is left out: it has less than half of what it was planned with. */
export function rowsLeast(groupSize: number): number {
  return Math.ceil(groupSize / 2);
}

/**
 * The rows of a group on average, at most the planned ones, from how many groups were counted.
 * Sizes of hashed groups are Poisson, so the share of groups with `rowsLeast` rows tells their
 * mean. It is post-processing of a released number.
 * @param counted - the noisy number of groups with so many rows.
 * @param sigma - of its noise: two deviations of noise and chance are not taken for missing rows.
 */
export function rowsPerGroup(
  groupSize: number, groups: number, { counted, sigma }: {
    readonly counted: number; readonly sigma: number;
  },
): number {
  const least = rowsLeast(groupSize);
  const usual = poissonAtLeast(least, groupSize);
  const chance = 2 * Math.hypot(sigma / groups, Math.sqrt((usual * (1 - usual)) / groups));
  const share = counted / groups + chance;
  if (share >= usual) return groupSize;
  let [low, high] = [0, groupSize];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (poissonAtLeast(least, middle) < share) low = middle;
    else high = middle;
  }
  return low;
}

/** The share of Poisson numbers of a mean that are at least `least`. */
function poissonAtLeast(least: number, mean: number): number {
  let [below, term] = [0, Math.exp(-mean)];
  for (let number = 0; number < least; number++) {
    below += term;
    term *= mean / (number + 1);
  }
  return Math.max(0, 1 - below);
}

/** The smallest cohort with a design, to 0.01; Infinity when 10^9 are too few. */
export function groupsCohortNeeded(facts: GroupsFacts): number {
  return nearSmallestCohort((cohort) => groupsDesign({ ...facts, cohort }) !== null);
}
