import type { Reach } from '../../contract/estimator.js';

/** Steps of one unit. A value is rounded to a whole number of them before it is added. */
export const stepsPerUnit = 2 ** 20;

/** The bounds to which a contributor's value in a column is clipped, and the unit of its sum. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
  /** The most that one contributor moves the total: data units. */
  readonly unit: number;
  /** The smallest number of steps that a contributor adds, at most 0. */
  readonly lowest: number;
}

/**
 * The bounds low..high, with low < high.
 *
 * A contributor adds a number from low to high, and one who is absent adds 0. So one contributor
 * moves the total by at most max(high, 0) - min(low, 0), which is the unit.
 */
export function boundsOf(low: number, high: number): Bounds {
  const unit = Math.max(high, 0) - Math.min(low, 0);
  return { low, high, unit, lowest: 0 - Math.round((-Math.min(low, 0) / unit) * stepsPerUnit) };
}

/**
 * A finite value, clipped, in whole steps.
 *
 * Claim: any two results, and any result and 0, are at most stepsPerUnit apart.
 * Why: a result is at least `lowest`, which is at most 0. It is at most `lowest` + stepsPerUnit,
 * which is at least 0. The last line enforces both, whatever the rounding before it did.
 */
export function stepsOf(value: number, { low, high, unit, lowest }: Bounds): number {
  const clipped = Math.min(high, Math.max(low, value));
  const steps = Math.round((clipped / unit) * stepsPerUnit);
  return Math.min(lowest + stepsPerUnit, Math.max(lowest, steps)) + 0;
}

/** How far a contributor moves a total down and up, at most. */
export function reachOf({ low, high }: Bounds): Reach {
  return { down: Math.max(0, -low), up: Math.max(0, high) };
}

/** The largest amount that a contributor adds or takes away, in units: 1/2 to 1. See `stepsOf`. */
export function farthestOf({ lowest }: Bounds): number {
  return Math.max(-lowest, lowest + stepsPerUnit) / stepsPerUnit;
}
