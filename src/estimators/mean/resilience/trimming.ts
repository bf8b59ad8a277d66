import { createKernels } from '../../../numerics/kernels/index.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { placesAlong } from '../depth/directions.js';

/** Places along directions are whole numbers of these steps, in spreads: sums of them are exact. */
export const placeGrid = 2 ** -16;
/** Entries farther than this from the centre count as that far, in spreads. */
const entryReach = 64;

/**
 * Exactly `size` rows as offsets from the centre, cut to `entryReach`: the first ones, and the
 * centre itself for each that is missing. Order statistics need a size that is public.
 *
 * Claim: one contributor replaced, gone or new changes one of these rows at most, as a set with
 * repetitions. Why: rows stand in the order of their tags, so that one that comes takes the place
 * of a missing one or pushes out the last. Rows with an entry that is not finite count as at the
 * centre.
 */
export function offsetsAround(
  { count, dimension, values }: RowBlock, centre: Float64Array, size: number,
): Float64Array {
  const offsets = new Float64Array(size * dimension);
  for (let i = 0; i < Math.min(count, size); i++) {
    const row = values.subarray(i * dimension, (i + 1) * dimension);
    if (!row.every(Number.isFinite)) continue;
    for (let j = 0; j < dimension; j++) {
      offsets[i * dimension + j] =
        Math.min(entryReach, Math.max(-entryReach, row[j]! - centre[j]!));
    }
  }
  return offsets;
}

/** Bits of a digit of a place. Two digits hold any place, once `shift` has made it positive. */
const digitBits = 12;
const digits = 1 << digitBits;
const shift = 2 ** (2 * digitBits - 1);

/** For fewer places it takes longer to count all digits than to compare them. */
const fewPlaces = 200;

/** Memory for the places along one direction at a time. */
interface Sorting {
  readonly steps: Int32Array;
  readonly other: Int32Array;
  /** How many places have each value of their low and of their high digit. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
}

/**
 * Places along one direction in whole steps of `placeGrid`, ascending; each is a function of its
 * row alone. O(n): placed by the low digit, then by the high one, which keeps that order. At most
 * three columns within `entryReach` make places below sqrt(3) * 64 / placeGrid < 2^23.
 */
function sortedSteps(
  offsets: Float64Array, dimension: number, direction: Float64Array,
  { steps, other, low, high }: Sorting,
): Int32Array {
  const places = placesAlong(offsets, dimension, direction);
  if (places.length < fewPlaces) {
    places.forEach((place, i) => { steps[i] = Math.round(place / placeGrid); });
    return steps.sort();
  }
  low.fill(0);
  high.fill(0);
  places.forEach((place, i) => {
    const step = Math.round(place / placeGrid) + shift;
    steps[i] = step;
    low[step & (digits - 1)]! += 1;
    high[step >>> digitBits]! += 1;
  });
  toStarts(low);
  toStarts(high);
  for (const step of steps) other[low[step & (digits - 1)]!++] = step;
  for (const step of other) steps[high[step >>> digitBits]!++] = step - shift;
  return steps;
}

/** Where the entries of each digit begin, from how many there are of each. */
function toStarts(counts: Uint32Array): void {
  let start = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const held = counts[digit]!;
    counts[digit] = start;
    start += held;
  }
}

/**
 * How many rows must be replaced before what is between the trimmed ends is wider than `limit`
 * along one direction: the least a + b with y(n-k+1+a) - y(k-b) > limit, where places beyond the
 * first and the last are infinitely far; at most `trimmed`, and 0 when it is wider as it is. y(1),
 * ..., y(n) are the sorted places and k is `trimmed`.
 *
 * Claim: replacing one place changes it by at most 1. Let a, b be such that the gap is wider than
 * limit >= 0 here. Delete a place x and add another. The order statistic at n-k+1+a becomes smaller
 * only if x was at or above it, and then the new one at n-k+1+(a+1) is no smaller than the old one
 * at n-k+1+a; likewise the one at k-b becomes larger only if x was at or below it, and then the new
 * one at k-(b+1) is no larger than the old one at k-b. Since the upper is above the lower, x is not
 * both. So one of (a + 1, b) and (a, b + 1) has a gap at least as wide, and the least sum grows by
 * at most 1. The same the other way round.
 * The least over directions changes by at most 1 as well.
 */
export function distanceToWide(sorted: Int32Array, trimmed: number, limit: number): number {
  const { length } = sorted;
  const upper = (a: number): number => (a >= trimmed ? Infinity : sorted[length - trimmed + a]!);
  const lower = (b: number): number => (b >= trimmed ? -Infinity : sorted[trimmed - 1 - b]!);
  let least = trimmed;
  let b = trimmed;
  for (let a = 0; a <= trimmed; a++) {
    // The wider the upper end, the fewer are needed below; at this b the gap is wider than the
    // limit already.
    while (b > 0 && upper(a) - lower(b - 1) > limit) b -= 1;
    least = Math.min(least, a + b);
  }
  return least;
}

/**
 * The sum of what is left after the `trimmed` smallest and largest places are dropped, in steps;
 * exact.
 *
 * Claim: replacing one place moves it by at most y(n-k+1) - y(k). With the other n - 1 places z
 * fixed, the sum is that of z(k+1) to z(n-k-1) plus the middle one of z(k), the place, and z(n-k),
 * so that it moves by at most z(n-k) - z(k); adding a place to the z gives y(k) <= z(k) and z(n-k)
 * <= y(n-k+1).
 */
export function trimmedSum(sorted: Int32Array, trimmed: number): number {
  let sum = 0;
  for (let i = trimmed; i < sorted.length - trimmed; i++) sum += sorted[i]!;
  return sum;
}

/** One data set as seen along the directions. */
export interface TrimmedViews {
  /** The least `distanceToWide`. */
  readonly distance: number;
  /** Trimmed means along the directions, in spreads, from the centre. */
  readonly means: Float64Array;
}

/** O(directions * n). @param limit - in steps of placeGrid. */
export function trimmedViews(
  offsets: Float64Array, dimension: number, directions: Float64Array,
  { trimmed, limit }: { readonly trimmed: number; readonly limit: number },
): TrimmedViews {
  const size = offsets.length / dimension;
  const means = new Float64Array(directions.length / dimension);
  const sorting = {
    steps: new Int32Array(size), other: new Int32Array(size), low: new Uint32Array(digits),
    high: new Uint32Array(digits),
  };
  let distance = trimmed;
  for (let k = 0; k < means.length; k++) {
    const direction = directions.subarray(k * dimension, (k + 1) * dimension);
    const sorted = sortedSteps(offsets, dimension, direction, sorting);
    distance = Math.min(distance, distanceToWide(sorted, trimmed, limit));
    means[k] = (trimmedSum(sorted, trimmed) / (size - 2 * trimmed)) * placeGrid;
  }
  return { distance, means };
}

/**
 * The linear map from trimmed means along directions to the point that fits them best in the sense
 * of least squares, (V^T V)^-1 V^T, row by row of the directions V: means that are the places of
 * one point give that point.
 */
export interface Fit {
  readonly directions: Float64Array;
  /** dimension * (number of directions), row-major. */
  readonly weights: Float64Array;
  /**
   * The point moves by at most this many times the largest change of a mean, in Euclidean distance.
   */
  readonly amplification: number;
}

/**
 * Claim for `amplification`: the image of changes c, each at most 1 in absolute value, is (V^T
 * V)^-1 V^T c, whose norm is at most the map's largest singular value, one over the root of the
 * smallest eigenvalue of V^T V, times |c|, which is at most the root of the number of directions.
 */
export function fitFor(directions: Float64Array, dimension: number): Fit {
  const count = directions.length / dimension;
  const gram = new Float64Array(dimension * dimension);
  for (let k = 0; k < count; k++) {
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) {
        gram[i * dimension + j]! += directions[k * dimension + i]! * directions[k * dimension + j]!;
      }
    }
  }
  const { values, vectors } = createKernels().eigenSymmetric(gram, dimension);
  const weights = new Float64Array(dimension * count);
  for (let e = 0; e < dimension; e++) {
    const axis = vectors.subarray(e * dimension, (e + 1) * dimension);
    placesAlong(directions, dimension, axis).forEach((place, k) => {
      for (let i = 0;
          i < dimension; i++) weights[i * count + k]! += (axis[i]! * place) / values[e]!;
    });
  }
  return { directions, weights, amplification: Math.sqrt(count / values[0]!) * (1 + 1e-9) };
}

/** The point that fits the trimmed means best. */
export function fitted({ weights }: Fit, means: Float64Array): Float64Array {
  const point = new Float64Array(weights.length / means.length);
  for (let i = 0; i < point.length; i++) {
    for (let k = 0; k < means.length; k++) point[i]! += weights[i * means.length + k]! * means[k]!;
  }
  return point;
}
