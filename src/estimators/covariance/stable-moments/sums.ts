import type { Released, Sensitive } from '../../../base/brands.js';
import {
  clipAllRows, momentsOfRows, sharedBytes, sharedDoubles,
} from '../../../numerics/kernels/shards.js';
import type { Draws } from '../../pooled/centre.js';
import type { LeftRows } from '../../pooled/thresholds.js';
import type { OrderEvents } from './order-events.js';
import { powerFeatures } from './tensors.js';

/** Rows after the map, and which of them were pulled in: 1, else 0. */
export interface TailRows extends LeftRows {
  readonly pulled: Uint8Array;
}

/** Marks rows farther out than `radius`. */
export function markFar({ count, dimension, steps, pulled }: TailRows, radius: number): void {
  for (let i = 0; i < count; i++) {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += steps[i * dimension + j]! ** 2;
    if (square > radius * radius) pulled[i] = 1;
  }
}

/**
 * A copy of the rows, each times `factor`, those farther out than `radius` then pulled in to it. A
 * function of each row alone.
 */
export function pulledIn(rows: LeftRows, radius: number, factor: number): LeftRows {
  const { count, dimension } = rows;
  const steps = sharedDoubles(count * dimension);
  for (let i = 0; i < count; i++) {
    const offset = i * dimension;
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (rows.steps[offset + j]! * factor) ** 2;
    const shrink = square > radius * radius ? radius / Math.sqrt(square) : 1;
    for (let j = 0; j < dimension; j++) {
      steps[offset + j] = rows.steps[offset + j]! * factor * shrink;
    }
  }
  return { ...rows, steps };
}

/** Releases the sum of the rows' tensor powers. Claim and proof: order-events. */
export async function sumOf(
  { space, ball, sum }: OrderEvents, images: Sensitive<LeftRows>, { mechanisms, compute }: Draws,
): Promise<Released<Float64Array>> {
  const total = await images.mapAsync(async (rows) => {
    const features = powerFeatures(rows, space);
    const set = { values: features, dimension: space.indices.length, count: rows.count };
    const { grid, steps } = ball;
    const clip = { grid, steps, centre: new Float64Array(set.dimension) };
    // Clipped where they are: they are needed for nothing else.
    await clipAllRows(compute, set, clip, features, sharedBytes(rows.count));
    const { sums } = await momentsOfRows(compute, set);
    return sums.map((entry) => entry * grid);
  });
  return mechanisms.gaussian(sum.name, total);
}
