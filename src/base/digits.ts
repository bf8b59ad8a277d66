/** The power of ten of the first digit of a number: 2 for 640, -1 for 0.3. Zero has none: 0. */
export function leadingPower(value: number): number {
  return value === 0 ? 0 : Number(value.toExponential().split('e')[1]);
}

/** Digits of a number whose precision is unknown. */
const digitsAlone = 6;
/** The most decimals that `toFixed` accepts. */
const decimalsMax = 100;

/**
 * How many decimals of a number are significant: as many as show two digits of `half`. Without it,
 * as many as make six digits. Digits before the decimal point are never left out, so the two ends
 * of an interval never look the same.
 * @param half half of the 95 % interval; null or zero where there is none.
 * @returns 0 to 100.
 */
export function decimalsFor(value: number, half: number | null): number {
  const wanted = half !== null && half > 0 && Number.isFinite(half) ? 1 - leadingPower(half)
    : Number.isFinite(value) ? digitsAlone - 1 - leadingPower(value) : 0;
  return Math.min(decimalsMax, Math.max(0, wanted));
}

/** Half the length of an interval; of one with an open end, how far the value is from the other. */
export function halfOf(value: number, [low, high]: readonly [number, number]): number {
  if (low === -Infinity) return high - value;
  return high === Infinity ? value - low : (high - low) / 2;
}
