import type { Released, Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import {
  clipAllRows, momentsOfRows, sharedBytes, sharedDoubles,
} from '../../../numerics/kernels/shards.js';
import { symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { Compute } from '../../contract/estimator.js';
import { transposed } from './matrices.js';

/** Rows that are transformed at a time. */
const chunkRows = 4096;

interface SumOptions {
  readonly name: string;
  readonly cohort: string;
  readonly dimension: number;
  readonly ball: ClipBall;
  readonly rho: number;
}

/**
 * The noise on a sum of z z^T over rows z inside a ball.
 *
 * Claim: rho zCDP for one row replaced by anything, including nothing, or added.
 * Why: of two rows inside the ball, z z^T and y y^T are positive semidefinite of Frobenius norm at
 * most R^2, so their inner product is not negative and their difference has norm at most sqrt 2
 * R^2; a single one has less. Rows are whole steps of the ball's grid and there are at most as many
 * as the ball was made for, so the sum is a whole number of grid^2 in every entry, exactly, and
 * rounding adds nothing.
 */
export function secondMomentsEvent({ ball, ...options }: SumOptions): SymmetricGaussianEvent {
  const sensitivity = Math.SQRT2 * ball.radius ** 2 * (1 + 2 ** -40);
  return symmetricGaussianEvent({ ...options, sensitivity, grid: ball.grid ** 2 });
}

/**
 * Draws the noisy sum of z z^T, z = ball(matrix x), with an event of `secondMomentsEvent`. Each z
 * is a function of its own row, of the matrix and of the ball: a product's entries are sums over
 * the columns of one row, in their order.
 * @param matrix - public or released.
 */
export async function privateSecondMoments(
  mechanisms: Mechanisms, compute: Compute, rows: Sensitive<RowBlock>, matrix: Float64Array,
  ball: ClipBall, event: string,
): Promise<Released<Float64Array>> {
  const sums = await rows.mapAsync(async ({ count, dimension, values }) => {
    const images = sharedDoubles(count * dimension);
    const columns = transposed(matrix, dimension);
    for (let first = 0; first < count; first += chunkRows) {
      const size = Math.min(chunkRows, count - first);
      const chunk = values.subarray(first * dimension, (first + size) * dimension);
      images.set(
        ownKernels().product(chunk, columns, size, dimension, dimension), first * dimension,
      );
    }
    const set = { values: images, dimension, count };
    const { grid, steps } = ball;
    await clipAllRows(
      compute, set, { grid, steps, centre: new Float64Array(dimension) }, images,
      sharedBytes(count),
    );
    const { products } = await momentsOfRows(compute, set);
    return products.map((entry) => entry * grid ** 2);
  });
  return mechanisms.symmetricGaussian(event, sums);
}
