import { ln, pow } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Compute } from '../../contract/estimator.js';
import {
  leadingBlock, multipleOfUnit, padded, product, refinedInverse, withEigenvalues,
} from './matrices.js';
import { privateSecondMoments, secondMomentsEvent } from './second-moments.js';

/**
 * A private linear map after which rows vary about equally in every direction, for rows with mean
 * zero whose variance in every direction lies between two public bounds, however far apart.
 *
 * Claim: rho zCDP, no delta, for one row replaced by anything, including nothing, or added:
 * `rounds` releases of second-moments, of rho / rounds each, every one about the map that the
 * releases before it made.
 *
 * How. Let S be the covariance of A x, at most 1 in every direction, and M what a round releases of
 * it: S + E, E noise whose eigenvalues are rarely beyond +-b. With U = M + b, no eigenvalue below b
 * / 2, the next map is U^-1/2 A. As U is hardly ever below S, rows still vary by at most about 1. A
 * direction of variance l gets about l / (l + b): much above b it becomes 1, much below it is
 * multiplied by at least 1 / 1.25 b a round (in simulated noise, over dimensions 1 to 40, spectra
 * and b up to .25). After enough rounds for the whole public range every direction is between 1 - 2
 * b and 1.
 *
 * Source: the recursive preconditioning of Kamath, Li, Singhal and Ullman (2019) and of Biswas,
 * Dong, Kamath and Ullman (2020); here all matrices are released with noise that is isotropic in
 * Frobenius norm, the shift is the noise's own size (the rows' sampling error is a factor on S, not
 * an amount), and one more shift would slow every round down.
 */
export interface PreconditionerDesign {
  readonly dimension: number;
  readonly rounds: number;
  readonly ball: ClipBall;
  /** One for each round. */
  readonly events: readonly SymmetricGaussianEvent[];
  /** b, if all planned pairs are there. */
  readonly shift: number;
  /** With fewer pairs the rounds do not suffice for the range. */
  readonly pairsNeeded: number;
}

interface PreconditionerRequest {
  readonly cohort: string;
  readonly dimension: number;
  /** Upper over lower bound on the variance in any direction, at least 1. */
  readonly range: number;
  readonly rho: number;
  /** Rows with which the plan must hold: public. */
  readonly pairs: number;
  /** At most as many rows can come. */
  readonly pairsMax: number;
  /** Prefix of the events' names; default "precondition". */
  readonly name?: string;
}

/** No plan has more rounds. */
export const roundsMax = 200;
/** A larger share of noise would leave directions far below 1. */
const shiftMax = 0.25;
/** Per round a variance below the noise grows at least by one over this much of the shift. */
const growth = 1.25;

/**
 * Bounds the eigenvalues of noise of deviation 1: their expectation is below sqrt(2 d), and they
 * vary by less than 1.
 */
export function noiseNorm(dimension: number): number {
  return Math.sqrt(2 * dimension) + 0.5;
}

/**
 * Radius of the rounds' ball. It pulls in a few of a hundred Gaussian rows of covariance 1: their
 * variance seems a few hundredths less than it is, which the next round sees too, while noise falls
 * with the square of the radius.
 */
function roundRadius(dimension: number): number {
  return Math.sqrt(dimension) + 1.5;
}

/** b at which `rounds` rounds just reach across the range. */
export function shiftFor(rounds: number, range: number): number {
  return range === 1
    ? shiftMax : Math.min(shiftMax, Math.exp(-ln(range) / (rounds - 1)) / growth);
}

/**
 * The fewest rounds that suffice, and their events; null when no number of rounds does. Public
 * numbers only.
 */
export function preconditionerDesign(request: PreconditionerRequest): PreconditionerDesign | null {
  const { cohort, dimension, range, rho, pairs, pairsMax, name = 'precondition' } = request;
  const ball = clipBall(roundRadius(dimension), { products: true, rowsMax: pairsMax });
  const perRound = (rounds: number): number => shareOf(rho / rounds, 1);
  // The event will be calibrated to this, but for the last digits.
  const deviation = (rounds: number): number => ball.radius ** 2 / Math.sqrt(perRound(rounds));
  const isEnough = (rounds: number): boolean =>
    noiseNorm(dimension) * deviation(rounds) <= pairs * shiftFor(rounds, range);
  let rounds = range === 1 ? 1 : 2;
  while (rounds <= roundsMax && !isEnough(rounds)) rounds += 1;
  if (rounds > roundsMax) return null;
  const each = secondMomentsEvent({ name, cohort, dimension, ball, rho: perRound(rounds) });
  const events = Array.from({ length: rounds }, (_, i) => ({ ...each, name: `${name}/${i + 1}` }));
  const size = noiseNorm(dimension) * each.sigma;
  return {
    dimension, rounds, ball, events, shift: size / pairs,
    pairsNeeded: Math.ceil(size / shiftFor(rounds, range)),
  };
}

/** A map and its inverse, both made from releases. */
export interface Preconditioner {
  /** Row-major, A of A x. */
  readonly matrix: Float64Array;
  readonly inverse: Float64Array;
}

/**
 * The map, its inverse, the second moments after it (positive definite) and the noisy number of
 * pairs, or of groups; or too few of them.
 */
export type BoundedMoments =
  | { readonly kind: 'too-few-pairs' }
  | ({ readonly kind: 'moments'; readonly moments: Float64Array; readonly pairs: number }
  & Preconditioner);

/** How the map is found. */
export interface PreconditionerOptions {
  /** Public upper bound on the variance in any direction, after `start`. */
  readonly varianceHigh: number;
  /** A map that was released before; default: none. */
  readonly start?: Preconditioner;
  /** Released number of pairs, positive. */
  readonly pairs: number;
  /**
   * Public or released: rows are zero past this many columns, and the map is of those columns.
   * Default: all.
   */
  readonly rank?: number;
}

/** Draws the map with the events of the design. O(rounds (rows d^2 + d^3)). */
export async function privatePreconditioner(
  mechanisms: Mechanisms, compute: Compute, rows: Sensitive<RowBlock>, design: PreconditionerDesign,
  { varianceHigh, pairs, start, rank = design.dimension }: PreconditionerOptions,
): Promise<Preconditioner> {
  const { dimension, ball, events } = design;
  return mapOfRounds({
    rank, events, varianceHigh, pairs, ...(start !== undefined && { start }),
    draw: (matrix, event) =>
      privateSecondMoments(mechanisms, compute, rows, padded(matrix, rank, dimension), ball, event),
  });
}

/** The rounds of a map: their events, and how the moments are drawn. */
export interface Rounds extends PreconditionerOptions {
  readonly events: readonly SymmetricGaussianEvent[];
  readonly rank: number;
  /** A noisy sum of second moments after a map, by the named event. */
  readonly draw: (
    matrix: Float64Array, event: string, inverse: Float64Array,
  ) => Promise<Released<Float64Array>>;
  /** The amount added to eigenvalues, as a share of the noise's size. Default: 1. */
  readonly lift?: number;
}

/**
 * The map by released second moments, whatever they are of: post-processing of what `draw`
 * releases.
 */
export async function mapOfRounds(
  { events, rank, varianceHigh, pairs, start, draw, lift = 1 }: Rounds,
): Promise<Preconditioner> {
  const unit = 1 / Math.sqrt(varianceHigh);
  let matrix = start?.matrix.map((entry) => entry * unit) ?? multipleOfUnit(rank, unit);
  let inverse = start?.inverse.map((entry) => entry / unit) ?? multipleOfUnit(rank, 1 / unit);
  for (const event of events) {
    const drawn = await draw(matrix, event.name, inverse);
    const sums = leadingBlock(drawn.value, event.dimension, rank);
    const shift = (lift * noiseNorm(event.dimension) * event.sigma) / pairs;
    const moments = sums.map((entry) => entry / pairs);
    const lifted = (value: number): number => Math.max(value + shift, shift / 2);
    const { values, vectors } = ownKernels().eigenSymmetric(moments, rank);
    const scaled = (power: number): Float64Array => {
      const result = new Float64Array(rank ** 2);
      const weights = values.map((value) => pow(lifted(value), power));
      ownKernels().gram(vectors, rank, rank, { weights }, result);
      return result;
    };
    matrix = product(scaled(-0.5), matrix, rank);
    inverse = product(inverse, scaled(0.5), rank);
  }
  return { matrix, inverse: refinedInverse(matrix, inverse, rank) };
}

/** Symmetric part with eigenvalues of at least `least`, and the smallest eigenvalue that it had. */
export function flooredAt(
  matrix: Float64Array, dimension: number, least: number,
): { readonly floored: Float64Array; readonly smallest: number } {
  const smallest = ownKernels().eigenSymmetric(matrix, dimension).values[0]!;
  const floored = smallest >= least
    ? matrix : withEigenvalues(matrix, dimension, (value) => Math.max(value, least));
  return { floored, smallest };
}
