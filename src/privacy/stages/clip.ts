import { assert } from '../../base/assert.js';
import { InvalidParameterError } from '../../base/errors.js';
import { powerOfTwoBelow } from '../accounting/grid.js';

/** A ball whose points are held as integer multiples of a grid step. */
export interface ClipBall {
  /** A power of two. */
  readonly grid: number;
  /** The radius in steps, rounded down. */
  readonly steps: number;
  /** grid * steps: the bound that sensitivities use. At most the radius asked for. */
  readonly radius: number;
}

/** Fine enough for sums: rounding moves a row by at most radius * sqrt(d) / 2^22. */
const sumSteps = 2 ** 22;
/**
 * Past this many rows a sum of first moments in steps would leave the integers that doubles hold.
 */
const exactSum = 2 ** 53;

/**
 * The ball and grid for exact sums.
 * - `sums`: sums of rows are exact for up to 2^30 rows.
 * - `products`: sums of entries of z z^T and of squared norms are exact too, for up to `rowsMax`
 *   rows: rowsMax (radius / grid)^2 < 2^53.
 * @throws InvalidParameterError when the radius is not positive, or `rowsMax` leaves fewer than 16
 *   steps.
 */
export function clipBall(
  radius: number,
  exact: { readonly sums: true } | { readonly products: true; readonly rowsMax: number },
): ClipBall {
  if (!(radius > 2 ** -250 && radius < 2 ** 250)) {
    throw new InvalidParameterError(
      'a clip radius must be a positive number of moderate size', { radius },
    );
  }
  const stepsMax = 'sums' in exact
    ? sumSteps : Math.sqrt(exactSum / exact.rowsMax) * (1 - 2 ** -40);
  if (!(stepsMax >= 16)) {
    throw new InvalidParameterError(
      'too many rows for exact sums of products; the limit is 2^45', { ...exact },
    );
  }
  // The smallest power of two that is at least radius / stepsMax.
  let grid = powerOfTwoBelow(radius / stepsMax);
  if (grid * stepsMax < radius) grid *= 2;
  const steps = Math.floor(radius / grid);
  return { grid, steps, radius: steps * grid };
}

/**
 * Writes ball(point - centre) into `steps`, as integer multiples of the grid step, rounded toward
 * zero.
 *
 * Claim: the result's norm is at most ball.radius for every finite input, exactly: the sum of
 * squared steps is at most ball.steps^2 < 2^53, checked in integers. Rounding toward zero cannot
 * lengthen a vector; should the scaling have rounded upwards, the vector is shortened until the
 * check holds. A function of this one row and public numbers.
 * @param point, offset - the row is point[offset .. offset + centre.length).
 * @returns false, and zeros, when an entry is not finite: the null row.
 */
export function clipToBall(
  point: Float64Array,
  offset: number,
  centre: ArrayLike<number>,
  ball: ClipBall,
  steps: Float64Array,
  unit: ArrayLike<number> | number = 1,
): boolean {
  const dimension = centre.length;
  assert(steps.length === dimension, 'the clipped row has the dimension of the centre');
  let largest = 0;
  for (let j = 0; j < dimension; j++) {
    const width = typeof unit === 'number' ? unit : unit[j]!;
    const entry = (point[offset + j]! - centre[j]!) / width / ball.grid;
    // Overflow of a finite entry is clipped like any far point; NaN and infinite rows are null.
    if (!Number.isFinite(point[offset + j]!) || Number.isNaN(entry)) {
      steps.fill(0);
      return false;
    }
    steps[j] = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, entry));
    largest = Math.max(largest, Math.abs(steps[j]!));
  }
  shorten(steps, largest, ball.steps);
  return true;
}

function shorten(steps: Float64Array, largest: number, bound: number): void {
  // Squares of very far points would overflow: measured in units of the largest entry then.
  const unit = largest > 1e140 ? largest : 1;
  let square = 0;
  for (const entry of steps) {
    const part = entry / unit;
    square += part * part;
  }
  const norm = unit * Math.sqrt(square);
  let factor = norm > bound ? (unit === 1 ? bound / norm : bound / Math.sqrt(square) / unit) : 1;
  for (;;) {
    let length = 0;
    for (const entry of steps) {
      // A product, as in the kernels: a power need not round alike everywhere.
      const whole = Math.trunc(entry * factor);
      length += whole * whole;
    }
    if (length <= bound * bound) break;
    factor *= 1 - 2 ** -40;
  }
  for (let j = 0; j < steps.length; j++) steps[j] = Math.trunc(steps[j]! * factor) + 0;
}
