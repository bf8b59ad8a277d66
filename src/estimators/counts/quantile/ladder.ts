import { nextAbove } from './doubles.js';

/**
 * The ladder: the doubles with 40 bits of mantissa and an exponent from -64 to 63, of both signs,
 * and zero. Its steps are whole numbers in the order of the values: as many in each octave, 2^40,
 * and the same below zero. So a place on it says how large a value is to 12 digits, whatever its
 * unit, and nobody has to know the range of a column.
 *
 * Exact: the step of a value is cut from the bits of the double, without a logarithm.
 */
const stepBits = 40;
const lowestExponent = -64;
const octaves = 128;
/** Steps on one side of zero. */
const sideSteps = octaves * 2 ** stepBits;
/** The highest step. The lowest is minus it. */
export const ladderTop = sideSteps;
/** Steps of one octave. */
export const octaveSteps = 2 ** stepBits;

const bits = new DataView(new ArrayBuffer(8));
/** The upper half of the bits of 2^-64: the biased exponent in front of 20 bits of mantissa. */
const lowestBits = (1023 + lowestExponent) * 2 ** 20;

/**
 * The step that a finite value is on: the nearest one towards zero, and the outermost one for
 * values beyond it.
 * Claim: it never falls as the value grows.
 */
export function ladderStep(value: number): number {
  const size = Math.abs(value);
  if (size < 2 ** lowestExponent) return 0;
  if (size >= 2 ** (lowestExponent + octaves)) return value < 0 ? -ladderTop : ladderTop;
  bits.setFloat64(0, size);
  const step = (bits.getUint32(0) - lowestBits) * 2 ** 20 + (bits.getUint32(4) >>> 12) + 1;
  return value < 0 ? -step : step;
}

/** The value of a step: the one of the values on it that is nearest to zero. */
export function ladderValue(step: number): number {
  if (step === 0) return 0;
  const place = Math.abs(step) - 1;
  const upper = Math.floor(place / 2 ** 20);
  bits.setUint32(0, upper + lowestBits);
  bits.setUint32(4, (place - upper * 2 ** 20) * 2 ** 12);
  const size = bits.getFloat64(0);
  return step < 0 ? -size : size;
}

/** The lowest value on a step, and the lowest above it. */
export function ladderEdges(step: number): readonly [from: number, below: number] {
  const value = ladderValue(step);
  if (Math.abs(step) === ladderTop) return [value, nextAbove(value)];
  if (step > 0) return [value, ladderValue(step + 1)];
  return [nextAbove(ladderValue(step - 1)), step === 0 ? ladderValue(1) : nextAbove(value)];
}

/**
 * The value on a step that is shortest to write: of 0.1 and the values beside it, 0.1. All of them
 * are the same to 12 digits.
 */
export function shortestOnStep(step: number): number {
  const value = ladderValue(step);
  for (let digits = 1; digits < 17; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (ladderStep(rounded) === step) return rounded;
  }
  return value;
}
