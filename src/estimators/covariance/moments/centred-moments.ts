import { Released, type Sensitive } from '../../../base/brands.js';
import { clipAndAddRows, sharedBytes } from '../../../numerics/kernels/shards.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import { thirdMoments } from '../../mean/robust-mean/mapped.js';
import type { Draws } from '../../pooled/centre.js';
import { squareEvent, sumEvent } from '../../pooled/query-events.js';
import { imagesAbout, type StandardisedRows } from './standardised.js';

/** Part of rho for the sum of the rows where the products matter. These take the rest. */
export const sumShare = 0.05;

/**
 * The noise of two sums over rows z inside a ball of radius R: that of z, and that of z z^T.
 *
 * Claim. rho zCDP for one row replaced by anything, including nothing, or added.
 * Why. The sum of z changes by at most 2 R, that of z z^T by at most sqrt 2 R^2 in Frobenius norm
 * (pooled/query-events). Rows are rounded to the ball's grid and clipped after the map, and there
 * are at most as many as the ball was made for. So both sums are exact.
 */
export interface CentredMomentsEvents {
  readonly sum: GaussianEvent;
  readonly products: SymmetricGaussianEvent;
}

/** The events `<name>/sum` and `<name>/products`. Their cost is within rho. */
export function centredMomentsEvents(
  name: string, dimension: number, ball: ClipBall, rho: number, share = sumShare,
): CentredMomentsEvents {
  return {
    sum: sumEvent(`${name}/sum`, dimension, ball, shareOf(rho, share)),
    products: squareEvent(`${name}/products`, dimension, ball, shareOf(rho, 1 - share)),
  };
}

/** Where rows are looked at from: z = matrix (x - mean). Public or released. */
export interface View {
  /** Row-major, d x d. */
  readonly matrix: Float64Array;
  /** In the units of the rows. */
  readonly mean: Float64Array;
}

/** Noisy moments of the rows as a view sees them. */
export interface CentredMoments {
  readonly sum: Float64Array;
  /** Sum of z z^T, d x d. */
  readonly products: Float64Array;
}

/**
 * Draws both sums of z = ball(matrix (x - mean)). Each z is a function of its own row and of
 * released numbers: an entry of the product is a sum over the columns of one row, in their order.
 * O(n d^2).
 */
export async function privateCentredMoments(
  { mechanisms, compute }: Draws, rows: Sensitive<StandardisedRows>, view: View, ball: ClipBall,
  { sum, products }: CentredMomentsEvents,
): Promise<Released<CentredMoments>> {
  const sums = await rows.mapAsync(async (all) => {
    const { count, dimension } = all;
    const images = imagesFrom(all, view);
    const { grid, steps } = ball;
    return clipAndAddRows(
      compute, { values: images, dimension, count },
      { grid, steps, centre: new Float64Array(dimension) }, images, sharedBytes(count),
    );
  });
  const { grid } = ball;
  return Released.all<readonly [Float64Array, Float64Array]>([
    mechanisms.gaussian(sum.name, sums.map((one) => one.sums.map((entry) => entry * grid))),
    mechanisms.symmetricGaussian(products.name, sums.map((one) =>
      one.products.map((entry) => entry * grid ** 2))),
  ]).map(([first, second]) => ({ sum: first, products: second }));
}

/**
 * Draws the sum of z norm(z)^2 / R^2, with z as in `privateCentredMoments`. It costs what the event
 * says: neighbours differ by at most 2 R (`thirdMoments`), so `sumEvent` of the ball covers it.
 * O(n d^2).
 */
export async function privateThirdMoments(
  { mechanisms }: Draws, rows: Sensitive<StandardisedRows>, view: View, ball: ClipBall,
  event: GaussianEvent,
): Promise<Released<Float64Array>> {
  const sums = await rows.mapAsync((all) => {
    const { count, dimension, present } = all;
    const images = { count, dimension, entries: imagesFrom(all, view), present, alive: present };
    return Promise.resolve(thirdMoments(images, ball).map((entry) => entry * ball.grid));
  });
  return mechanisms.gaussian(event.name, sums);
}

/** matrix (x - mean) for each row; NaN for rows that are not there, which a ball leaves out. */
export function imagesFrom(rows: StandardisedRows, { matrix, mean }: View): Float64Array {
  const { count, dimension, present } = rows;
  const images = imagesAbout(rows, matrix, mean);
  for (let i = 0; i < count; i++) {
    if (present[i] === 0) images.fill(NaN, i * dimension, (i + 1) * dimension);
  }
  return images;
}
