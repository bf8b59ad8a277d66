import { log2 } from '../../base/elementary.js';
import { assert } from '../../base/assert.js';
import { ratioOfDouble } from './amount.js';
import type { Rational, Steps } from '../../random/samplers/discrete-laplace.js';

/**
 * Doubles counted in steps of a power-of-two grid. Dividing by a power of two is exact, so the only
 * rounding is the requested one. Counts are Numbers as long as they are safe integers, else
 * BigInts.
 */
function steps(value: number, grid: number, round: (quotient: number) => number): Steps {
  const quotient = value / grid;
  // Overflow: only for values near the largest double on a fine grid. 1 / grid is an integer there.
  if (!Number.isFinite(quotient)) return BigInt(value) * BigInt(1 / grid);
  const rounded = round(quotient);
  return Number.isSafeInteger(rounded) ? rounded : BigInt(rounded);
}

/** The nearest multiple of `grid`, ties upward, in steps. */
export function nearestSteps(value: number, grid: number): Steps {
  return steps(value, grid, Math.round);
}

/** The largest multiple of `grid` that is at most `value`, in steps. */
export function stepsBelow(value: number, grid: number): Steps {
  return steps(value, grid, Math.floor);
}

/** The smallest multiple of `grid` that is at least `value`, in steps. */
export function stepsAbove(value: number, grid: number): Steps {
  return steps(value, grid, Math.ceil);
}

/** The exact sum. */
export function addSteps(left: Steps, right: Steps): Steps {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return BigInt(left) + BigInt(right);
}

/**
 * The double nearest to `count` steps. This rounding follows the noise, so it is post-processing.
 */
export function valueOfSteps(count: Steps, grid: number): number {
  const near = Number(count);
  // On a fine grid, a count beyond the largest double may still be a value within it.
  if (!Number.isFinite(near) && grid < 1) return Number(BigInt(count) / BigInt(1 / grid));
  return near * grid + 0;
}

/** value / grid as an exact rational, for a positive value. */
export function ratioInSteps(value: number, grid: number): Rational {
  const over = ratioOfDouble(value);
  const under = ratioOfDouble(grid);
  return {
    numerator: over.numerator * under.denominator, denominator: over.denominator * under.numerator,
  };
}

/** (value / grid)^2 / divisor as an exact rational. */
export function squareInSteps(value: number, grid: number, divisor = 1n): Rational {
  const { numerator, denominator } = ratioInSteps(value, grid);
  return { numerator: numerator * numerator, denominator: denominator * denominator * divisor };
}

/**
 * The largest power of two that is at most `value`. `value` is positive, finite and within the
 * range of grids.
 */
export function powerOfTwoBelow(value: number): number {
  assert(value > 0 && value < Infinity, 'a grid is of a positive, finite width');
  let power = 2 ** Math.floor(log2(value));
  // log2 may round to the next integer on either side.
  while (power > value) power /= 2;
  while (power * 2 <= value) power *= 2;
  return power;
}
