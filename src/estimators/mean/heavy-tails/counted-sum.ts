import { Released, type Sensitive } from '../../../base/brands.js';
import { countGrid, gaussianEvent, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, clipToBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, LaplaceEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';

/**
 * The noisy sum of clipped rows together with the noisy number of rows, for the price of the sum
 * alone; and beside it the noisy number of rows beyond the radius, for a twentieth of the cost.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added. Cost: rho zCDP
 * (Gaussian) or pure epsilon (Laplace).
 * Why: with z = clip(x - centre) and S a bound on every z, the released vector is
 * (sum of z, w * count).
 * - A row replaced by another moves it by (z - z', 0): at most 2 S.
 * - A row that goes or comes moves it by (z, w). In L2 that is sqrt(|z|^2 + w^2) <= 2 S as long as
 *   w <= sqrt 3 S; in L1, |z| + w <= 2 S as long as w <= S.
 * So 2 S covers both cases, and the count costs nothing more. Rows that are dropped, not clipped
 * (`drop`), count as absent, so the same two cases cover them.
 * S is R for the ball, and R sqrt(d) (L2) or R d (L1) for the cube of half-width R. z is an integer
 * multiple of a grid step (privacy/stages/clip: never longer than R), and so is w. Both are exact
 * and rounding adds nothing.
 *
 * Source: the noisy clipped mean of Kamath, Singhal and Ullman (2020). The shared vector is new:
 * the ratio of noisy sum and noisy count costs no more than the sum over a public n. It replaces
 * their division by max(|rows|, 3 n / 4), whose sensitivity is a third larger and which is biased
 * when fewer rows come.
 */
export type Shape = 'ball' | 'cube';

/**
 * A twentieth of the cost pays for the number of rows beyond the radius.
 *
 * Claim. A row more, less or replaced changes this number by at most 1: its event costs what it
 * says by the Gaussian or the Laplace mechanism, and adds to that of the sum.
 */
const outsideShare = 0.05;

/** Rows beyond the radius are clipped to its edge, or dropped. */
export type Beyond = 'clip' | 'drop';

/** Where the noise of a counted sum is charged. */
export interface CountedSumOptions {
  readonly name: string;
  readonly cohort: string;
  readonly dimension: number;
  /** Radius of the ball, or half the width of the cube, in units of spread. */
  readonly radius: number;
  readonly shape: Shape;
  /** Gaussian noise of this zCDP cost, or Laplace noise of this pure epsilon (cube only). */
  readonly cost: { readonly rho: number } | { readonly epsilon: number };
}

/** The constants of one release. */
export interface CountedSum {
  readonly event: GaussianEvent | LaplaceEvent;
  /** The event of the number of rows beyond the radius. */
  readonly outside: GaussianEvent | LaplaceEvent;
  readonly dimension: number;
  readonly ball: ClipBall;
  readonly shape: Shape;
  /** w, in units of spread. */
  readonly weight: number;
  /** Standard deviation of the noise on each entry of the sum. */
  readonly standardDeviation: number;
  /** Standard deviation of the noise on the number of rows. */
  readonly countStandardDeviation: number;
}

/** Sums of counts stay whole in doubles for 2^30 rows with weights up to this many steps. */
const weightStepsMaximum = 2 ** 23;

/** Calibrates the release. */
export function countedSum(options: CountedSumOptions): CountedSum {
  const { name, cohort, dimension, shape, cost } = options;
  const outsideAt = { name: `${name}/outside`, cohort, dimension: 1, sensitivity: 1 };
  const ball = clipBall(options.radius, { sums: true });
  const width = shape === 'cube' ? dimension : 1;
  const place = { name, cohort, dimension: dimension + 1, grid: ball.grid };
  const made = (
    event: GaussianEvent | LaplaceEvent, outside: GaussianEvent | LaplaceEvent, weight: number,
    standardDeviation: number,
  ): CountedSum => {
    const countStandardDeviation = standardDeviation / weight;
    return {
      event, outside, dimension, ball, shape, weight, standardDeviation, countStandardDeviation,
    };
  };
  if ('epsilon' in cost) {
    const weight = Math.min(weightStepsMaximum, width * ball.steps) * ball.grid;
    const sensitivity = 2 * width * ball.radius;
    const event =
      laplaceEvent({ ...place, sensitivity, epsilon: shareOf(cost.epsilon, 1 - outsideShare) });
    const epsilon = shareOf(cost.epsilon, outsideShare);
    const outside = laplaceEvent({ ...outsideAt, epsilon, grid: countGrid(1 / epsilon) });
    return made(event, outside, weight, Math.SQRT2 * event.scale);
  }
  // One step below the bound leaves room for the rounding of the root.
  const weightSteps = Math.floor(Math.sqrt(3 * width) * ball.steps) - 1;
  const weight = Math.min(weightStepsMaximum, weightSteps) * ball.grid;
  const sensitivity = 2 * ball.radius * (width === 1 ? 1 : Math.sqrt(width) * (1 + 2 ** -50));
  const event = gaussianEvent({ ...place, sensitivity, rho: shareOf(cost.rho, 1 - outsideShare) });
  const rho = shareOf(cost.rho, outsideShare);
  const outside = gaussianEvent({ ...outsideAt, rho, grid: countGrid(1 / Math.sqrt(2 * rho)) });
  return made(event, outside, weight, event.sigma);
}

/** All released: the mean around the centre is `sum / present`. */
export interface NoisySum {
  readonly sum: Float64Array;
  readonly present: number;
  /** Number of rows beyond the radius. */
  readonly outside: number;
}

/** Standard deviation of the noise on the number of rows beyond the radius. */
export function outsideDeviation({ outside }: CountedSum): number {
  return outside.kind === 'laplace' ? Math.SQRT2 * outside.scale : outside.sigma;
}

/** Draws it. `rows` in units of spread; `centre` public or released. O(count * dimension). */
export function releaseCountedSum(
  mechanisms: Mechanisms, spec: CountedSum, rows: Sensitive<RowBlock>, centre: Float64Array,
  beyond: Beyond = 'clip',
): Released<NoisySum> {
  const { event, outside, dimension, weight } = spec;
  const value = rows.map((block) => exactSum(spec, block, centre, beyond));
  const far = rows.map((block) => Float64Array.of(countBeyond(spec, block, centre)));
  const draw = ({ kind, name }: CountedSum['event'], of: typeof value): Released<Float64Array> =>
    (kind === 'laplace' ? mechanisms.laplace(name, of) : mechanisms.gaussian(name, of));
  return Released.all<readonly Float64Array[]>([draw(event, value), draw(outside, far)])
    .map(([all, beyondRadius]) => ({
      sum: all!.slice(0, dimension), present: all![dimension]! / weight,
      outside: beyondRadius![0]!,
    }));
}

/** The vector (sum of z, weight * count) without noise: whole numbers of grid steps. */
function exactSum(
  { ball, shape, dimension, weight }: CountedSum, block: RowBlock, centre: Float64Array,
  beyond: Beyond,
): Float64Array {
  const total = new Float64Array(dimension + 1);
  const steps = new Float64Array(dimension);
  let present = 0;
  for (let row = 0; row < block.count; row++) {
    const offset = row * dimension;
    if (beyond === 'drop' && isBeyond(block.values, offset, centre, ball.radius)) continue;
    const isRow = shape === 'cube'
      ? clipToCube(block.values, offset, centre, ball, steps)
      : clipToBall(block.values, offset, centre, ball, steps);
    if (!isRow) continue;
    present += 1;
    for (let j = 0; j < dimension; j++) total[j]! += steps[j]!;
  }
  for (let j = 0; j < dimension; j++) total[j]! *= ball.grid;
  total[dimension] = present * weight;
  return total;
}

/** How many rows are beyond the radius: of the ball, or in some column. */
function countBeyond(
  { ball, shape, dimension }: CountedSum, block: RowBlock, centre: Float64Array,
): number {
  let number = 0;
  for (let row = 0; row < block.count; row++) {
    const offset = row * dimension;
    const isFar = shape === 'ball' ? isBeyond(block.values, offset, centre, ball.radius)
      : centre.some((place, j) => !(Math.abs(block.values[offset + j]! - place) <= ball.radius));
    number += Number(isFar);
  }
  return number;
}

/**
 * A function of this row alone, so rounding here decides accuracy only: what is kept is clipped in
 * any case.
 */
function isBeyond(
  values: Float64Array, offset: number, centre: Float64Array, radius: number,
): boolean {
  let square = 0;
  for (let j = 0; j < centre.length; j++) square += (values[offset + j]! - centre[j]!) ** 2;
  return !(square <= radius * radius);
}

/** Every coordinate by itself to the interval of half-width ball.radius, rounded toward zero. */
function clipToCube(
  values: Float64Array, offset: number, centre: Float64Array, ball: ClipBall, steps: Float64Array,
): boolean {
  for (let j = 0; j < centre.length; j++) {
    const entry = (values[offset + j]! - centre[j]!) / ball.grid;
    if (!Number.isFinite(values[offset + j]!) || Number.isNaN(entry)) return false;
    steps[j] = Math.trunc(Math.max(-ball.steps, Math.min(ball.steps, entry))) + 0;
  }
  return true;
}
