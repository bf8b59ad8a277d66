import { Released, type Sensitive } from '../../base/brands.js';
import { ownKernels, type StepBall } from '../../numerics/kernels/index.js';
import {
  clippedSumsOfRows, type ClippedSums, type KernelRunner,
} from '../../numerics/kernels/shards.js';
import { countGrid, gaussianEvent } from '../accounting/calibration.js';
import { clipBall, type ClipBall } from './clip.js';
import type { GaussianEvent } from '../accounting/events.js';
import type { Mechanisms } from '../mechanisms/contract.js';
import type { RowBlock } from './rows.js';
import { shareOf } from '../accounting/target.js';

/**
 * The noisy mean of rows clipped to a ball around a public or released centre.
 *
 * Claim: rho zCDP, no delta, for one row replaced by anything, including nothing.
 * Why: with z = ball((x - centre) / unit), ||z|| <= R exactly (clip.ts), for every centre and unit
 * that are public or released, and null rows left out, the sum of
 * z changes by z - z' (replaced), z or z' (gone or new): at most 2 R. The number of rows changes by
 * at most 1. Both are exact sums on their grids, released by the discrete Gaussian with .95 and .05
 * of rho, or as `sumShare` divides it. The mean is a function of the two. The number of rows
 * present is secret, so nothing is
 * divided by it, nor refused because of it.
 * Source: the Gaussian mechanism (mechanisms/gaussian) on a sum and a count.
 */
const usualSumShare = 0.95;

/** Where the noise of a mean is charged. */
export interface ClippedMeanEventsOptions {
  readonly cohort: string;
  readonly dimension: number;
  /** Radius of the clip ball, in the rows' units. */
  readonly radius: number;
  readonly rho: number;
  /** Prefix of the events' names; default "mean". */
  readonly name?: string;
  /** Part of rho for the sum; the count has the rest. Default .95. */
  readonly sumShare?: number;
}

/**
 * The ball that the mean clips to, and its events `<name>/sum` and `<name>/count`; their cost is
 * within rho.
 */
export interface ClippedMeanEvents {
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
}

/**
 * Calibrates the two releases. Standard deviation of the mean's noise per coordinate: sum.sigma /
 * rows.
 */
export function clippedMeanEvents(options: ClippedMeanEventsOptions): ClippedMeanEvents {
  const { cohort, dimension, name = 'mean', sumShare = usualSumShare } = options;
  const ball = clipBall(options.radius, { sums: true });
  const countRho = shareOf(options.rho, 1 - sumShare);
  return {
    ball,
    sum: gaussianEvent({
      name: `${name}/sum`,
      cohort,
      dimension,
      sensitivity: 2 * ball.radius,
      rho: shareOf(options.rho, sumShare),
      grid: ball.grid,
    }),
    count: gaussianEvent({
      name: `${name}/count`,
      cohort,
      dimension: 1,
      sensitivity: 1,
      rho: countRho,
      grid: countGrid(1 / Math.sqrt(2 * countRho)),
    }),
  };
}

/**
 * `present`: the noisy number of rows. Where it is below a quarter of the nominal cohort, the sum
 * is divided by this quarter: such a mean is only of use to those who know the number of rows
 * better.
 */
export interface ClippedMean {
  readonly kind: 'mean' | 'participation-below-plan';
  readonly mean: Float64Array;
  readonly present: number;
}

/** How the mean is taken. */
export interface ClippedMeanOptions {
  /** Public or released. */
  readonly centre: Float64Array;
  /**
   * Public or released: the ball's radius and the noise of the sum are in this unit, in the rows'
   * units; one for all columns, or one for each. Default 1.
   */
  readonly unit?: ArrayLike<number> | number;
  readonly ball: ClipBall;
  /** Nominal number of contributors: public. */
  readonly cohort: number;
  /** Prefix of the events' names; default "mean". */
  readonly name?: string;
}

/** Draws the mean with the events of `clippedMeanEvents`. O(count * dimension). */
export function privateClippedMean(
  mechanisms: Mechanisms, rows: Sensitive<RowBlock>, options: ClippedMeanOptions,
): Released<ClippedMean> {
  const { centre, ball, unit } = options;
  return meanOf(mechanisms, rows.map((block) => clippedSum(block, centre, ball, unit)), options);
}

/** Like `privateClippedMean`, with the pass over the rows shared among threads; the same mean. */
export async function privateClippedMeanOn(
  runner: KernelRunner, mechanisms: Mechanisms, rows: Sensitive<RowBlock>,
  options: ClippedMeanOptions,
): Promise<Released<ClippedMean>> {
  const { centre, ball, unit } = options;
  const sums = await rows.mapAsync(async (block) =>
    inGrid(await clippedSumsOfRows(runner, block, stepBall(centre, ball, unit)), ball));
  return meanOf(mechanisms, sums, options);
}

function meanOf(
  mechanisms: Mechanisms, sums: Sensitive<ClippedSum>,
  { centre, cohort, unit = 1, name = 'mean' }: ClippedMeanOptions,
): Released<ClippedMean> {
  const sum = mechanisms.gaussian(`${name}/sum`, sums.map(({ sum: total }) => total));
  const count = mechanisms.gaussian(
    `${name}/count`, sums.map(({ count: present }) => Float64Array.of(present)),
  );
  return Released.all<readonly [Float64Array, Float64Array]>([sum, count])
    .map(([total, [present = 0]]) => {
      const divisor = Math.max(present, cohort / 4);
      const mean = total.map((entry, j) =>
        centre[j]! + ((typeof unit === 'number' ? unit : unit[j]!) * entry) / divisor);
      return { kind: present < cohort / 4 ? 'participation-below-plan' : 'mean', mean, present };
    });
}

/** The exact sum of clipped rows, in units, and how many rows were not null. */
interface ClippedSum {
  readonly sum: Float64Array;
  readonly count: number;
}

/**
 * The exact sum of clipped rows, in `unit`s of the rows, and how many rows were not null. Steps are
 * summed as whole numbers: at most 2^22 each, so that 2^30 rows still fit a double. The kernel has
 * the bits of `clipToBall` for each row, and null rows add zeros.
 */
export function clippedSum(
  { count, dimension, values }: RowBlock,
  centre: Float64Array,
  ball: ClipBall,
  unit?: ArrayLike<number> | number,
): ClippedSum {
  const sums = new Float64Array(dimension);
  const present =
    ownKernels().addClipped(values, dimension, count, stepBall(centre, ball, unit), sums);
  return inGrid({ count: present, sums }, ball);
}

function stepBall(
  centre: Float64Array, { grid, steps }: ClipBall, unit: ArrayLike<number> | number = 1,
): StepBall {
  const units = typeof unit === 'number' ? centre.map(() => unit) : Float64Array.from(unit);
  return { grid, steps, centre, unit: units };
}

const inGrid = ({ count, sums }: ClippedSums, { grid }: ClipBall): ClippedSum =>
  ({ sum: sums.map((entry) => entry * grid), count });
