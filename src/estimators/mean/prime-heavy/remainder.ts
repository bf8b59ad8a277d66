import { clipToBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ClippedRows } from '../../pooled/clipped-rows.js';

/** Rows inside the near ball, with what they are made from. */
export interface WholeRows extends ClippedRows {
  /** Row-major, in data units. */
  readonly values: Float64Array;
}

/** The centre, spread and balls by which a row is placed. All are public or released. */
export interface RestPlace {
  readonly centre: Float64Array;
  readonly spread: Float64Array;
  readonly near: ClipBall;
  readonly rest: ClipBall;
}

/**
 * The sum over the rows that are left of what they are beyond their near part, clipped to the
 * rest's ball.
 *
 * Claim: one row replaced changes it by at most 2 rest.radius, one row more or less by rest.radius,
 * in L2, exactly.
 * Why: each row adds ball(z - near(z)), whole steps of a grid that are no longer than the ball's
 * radius (privacy/clip); z is the row about the centre, near(z) its near part, a function of the
 * row itself. Whether it is left is so too, given released numbers. For fewer than 2^30 rows the
 * sum is exact.
 * Since near(z) points where z points, near and rest add up to the row clipped at both radii
 * together. O(rows d).
 */
export function sumOfRest(
  { count, dimension, values, steps, alive }: WholeRows, { centre, spread, near, rest }: RestPlace,
): Float64Array {
  const total = new Float64Array(dimension);
  const origin = new Float64Array(dimension);
  const beyond = new Float64Array(dimension);
  const clipped = new Float64Array(dimension);
  for (let i = 0; i < count; i++) {
    if (alive[i] === 0) continue;
    let isBeyond = false;
    for (let j = 0; j < dimension; j++) {
      const at = i * dimension + j;
      // Rounding to the near grid leaves less than a step in every column: no reason to look
      // farther.
      beyond[j] = (values[at]! - centre[j]!) / spread[j]! - steps[at]! * near.grid;
      isBeyond ||= !(Math.abs(beyond[j]!) < 2 * near.grid);
    }
    if (!isBeyond || !clipToBall(beyond, 0, origin, rest, clipped)) continue;
    for (let j = 0; j < dimension; j++) total[j]! += clipped[j]!;
  }
  return total.map((entry) => entry * rest.grid);
}
