/** Steps of half the width of a range. */
export const stepsPerHalf = 2 ** 20;

/** A public range of values: low below high. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Half the width of a range: data units. */
export function halfOf({ low, high }: Range): number {
  return (high - low) / 2;
}

/**
 * How far a finite value is from the middle of its range, in steps. A value beyond the range counts
 * as at its end, so it is at most 2^20 steps either way.
 */
export function halfSteps(value: number, { low, high }: Range): number {
  const clipped = Math.min(high, Math.max(low, value));
  const steps = Math.round((2 * (clipped - low) / (high - low) - 1) * stepsPerHalf);
  return Math.min(stepsPerHalf, Math.max(-stepsPerHalf, steps)) + 0;
}
