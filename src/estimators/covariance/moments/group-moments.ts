import type { Released, Sensitive } from '../../../base/brands.js';
import { symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { leadingBlock, padded, product, transposed } from './matrices.js';
import {
  flooredAt, mapOfRounds, type BoundedMoments, type Preconditioner,
} from './preconditioner.js';

/** A group's covariance is factor factor^T, row-major. */
export interface GroupFactor {
  readonly factor: Float64Array;
}

/** The public constants of second moments of groups. */
export interface GroupMomentsDesign {
  /** Frobenius norm at which a group's matrix is cut after the map. */
  readonly radius: number;
  readonly count: GaussianEvent;
  /** The rounds of the map; none where a map is given. */
  readonly rounds: readonly SymmetricGaussianEvent[];
  readonly final: SymmetricGaussianEvent;
  /** With fewer noisy groups the release refuses. */
  readonly groupsNeeded: number;
}

interface MatricesOptions {
  readonly name: string;
  readonly cohort: string;
  readonly rho: number;
  readonly dimension: number;
  readonly radius: number;
  readonly groups: number;
}

/**
 * Variance after the map, below which nothing was resolved: what is lower is answered as this much.
 */
const leastMoment = 2 ** -10;

/**
 * The noise on a sum of symmetric positive semidefinite matrices, one a group, of Frobenius norm at
 * most `radius`.
 *
 * Claim: rho zCDP for one matrix replaced by another such matrix or by zero. Why: the inner product
 * of two positive semidefinite matrices is not negative, so their difference has norm at most sqrt
 * 2 radius, and a single one has less. What rounding to the grid adds is in the event; the last
 * digits of norm and product are in the 2^-40. Sums of doubles err by up to groups^2 radius / 2^53.
 * The grid is at least twice that.
 */
export function matricesEvent(
  { name, cohort, rho, dimension, radius, groups }: MatricesOptions,
): SymmetricGaussianEvent {
  return symmetricGaussianEvent({
    name, cohort, dimension, rho, sensitivity: Math.SQRT2 * radius * (1 + 2 ** -40),
    magnitude: radius * Math.max(2 * groups, groups ** 2 / 4),
  });
}

/**
 * The effect of hostile rows in every group on robust estimates of the groups, from the directions
 * of rows: measured against far rows, in 1 to 10 columns.
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

/** B B^T, B = matrix factor, and its Frobenius norm: functions of one group and the map. */
function afterMap(
  { factor }: GroupFactor, matrix: Float64Array, dimension: number,
): { readonly whole: Float64Array; readonly norm: number } {
  const root = product(matrix, factor, dimension);
  const whole = product(root, transposed(root, dimension), dimension);
  return { whole, norm: Math.hypot(...whole) };
}

/**
 * The sum over groups of B B^T, B = matrix factor, each scaled down to Frobenius norm at most
 * `radius`. A product B B^T is positive semidefinite but for the last digits of its own size,
 * however far apart the variances are.
 */
export function sumOfMatrices(
  estimates: readonly GroupFactor[], matrix: Float64Array, dimension: number, radius: number,
): Float64Array {
  const sum = new Float64Array(dimension ** 2);
  for (const estimate of estimates) {
    const { whole, norm } = afterMap(estimate, matrix, dimension);
    // A norm that is no number belongs to this group alone, which then says nothing.
    if (!Number.isFinite(norm)) continue;
    const scale = norm > radius ? radius / norm : 1;
    for (let at = 0; at < sum.length; at++) sum[at]! += whole[at]! * scale;
  }
  return sum;
}

/**
 * How many groups `sumOfMatrices` scales down or leaves out. One group more, less or changed moves
 * it by at most 1, for every map.
 */
export function groupsCut(
  estimates: readonly GroupFactor[], matrix: Float64Array, dimension: number, radius: number,
): number {
  return estimates.filter((each) => !(afterMap(each, matrix, dimension).norm <= radius)).length;
}

/** Where the rounds begin. */
interface MapStart {
  /** Public upper bound on the variance in any direction, after `start`. */
  readonly varianceHigh: number;
  /** A map that was released before; default: none. */
  readonly start?: Preconditioner;
}

/**
 * Second moments of groups: the rounds of covariance/preconditioner and the last moments after
 * them, both of group matrices in place of rows.
 *
 * Claim: it costs what the events of `design` cost. Neighbours: one group's estimate is replaced,
 * gone or new. The number of groups then changes by at most 1. Each sum changes as `matricesEvent`
 * says. This holds for every map, so it holds for a released one.
 */
export async function privateGroupMoments(
  mechanisms: Mechanisms, estimates: Sensitive<readonly GroupFactor[]>, dimension: number,
  design: GroupMomentsDesign & MapStart,
): Promise<Released<BoundedMoments>> {
  const { count, rounds, final, radius, varianceHigh, start, groupsNeeded } = design;
  const counted = mechanisms.gaussian(count.name, estimates.map((list) =>
    Float64Array.of(list.length)));
  const present = counted.value[0]!;
  if (present < groupsNeeded) return counted.map(() => ({ kind: 'too-few-pairs' }));
  const draw = (matrix: Float64Array, event: string): Promise<Released<Float64Array>> => {
    const sums = estimates.map((list) =>
      padded(sumOfMatrices(list, matrix, dimension, radius), dimension, final.dimension));
    return Promise.resolve(mechanisms.symmetricGaussian(event, sums));
  };
  const map = await mapOfRounds({
    events: rounds, rank: dimension, varianceHigh, pairs: present, draw,
    ...(start !== undefined && { start }),
  });
  const last = await draw(map.matrix, final.name);
  return last.map((total) => {
    const mean = leadingBlock(total, final.dimension, dimension).map((entry) => entry / present);
    return {
      kind: 'moments', ...map, moments: flooredAt(mean, dimension, leastMoment).floored,
      pairs: present,
    };
  });
}
