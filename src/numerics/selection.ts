import { log2 } from '../base/elementary.js';
import { assert } from '../base/assert.js';

/**
 * The entry that would be at `rank` after sorting. Reorders `entries`. Quickselect with the median
 * of three as pivot. If the pivots are bad for too long (an adversary may have chosen the data), it
 * sorts the rest, so that the cost stays O(n log n). No entry may be NaN.
 */
export function selectInPlace(entries: Float64Array, rank: number): number {
  assert(
    Number.isInteger(rank) && rank >= 0 && rank < entries.length, 'the rank lies in the array',
  );
  let low = 0;
  let high = entries.length - 1;
  let rounds = 2 * Math.ceil(log2(entries.length + 1)) + 4;
  while (high - low > 24) {
    if (rounds-- === 0) break;
    const pivot = medianOfThree(entries[low]!, entries[(low + high) >> 1]!, entries[high]!);
    let left = low;
    let right = high;
    while (left <= right) {
      while (entries[left]! < pivot) left += 1;
      while (entries[right]! > pivot) right -= 1;
      if (left <= right) {
        const held = entries[left]!;
        entries[left] = entries[right]!;
        entries[right] = held;
        left += 1;
        right -= 1;
      }
    }
    if (rank <= right) high = right;
    else if (rank >= left) low = left;
    else return entries[rank]!;
  }
  entries.subarray(low, high + 1).sort();
  return entries[rank]!;
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/**
 * The median: for an even number of entries, the midpoint of the two central ones. NaN for an empty
 * array.
 */
export function median(entries: ArrayLike<number>): number {
  const copy = new Float64Array(entries);
  const { length } = copy;
  if (length === 0) return NaN;
  const upper = selectInPlace(copy, length >> 1);
  if (length % 2 === 1) return upper;
  let lower = -Infinity;
  for (let i = 0; i < length >> 1; i++) lower = Math.max(lower, copy[i]!);
  return lower / 2 + upper / 2;
}

/**
 * The value at share `probability` (0..1) of the sorted entries, interpolated between neighbours.
 * NaN for an empty array.
 */
export function quantile(entries: ArrayLike<number>, probability: number): number {
  assert(probability >= 0 && probability <= 1, 'a quantile is asked at a share of 0 to 1');
  const sorted = new Float64Array(entries).sort();
  if (sorted.length === 0) return NaN;
  const place = probability * (sorted.length - 1);
  const below = Math.floor(place);
  const share = place - below;
  const low = sorted[below]!;
  return share === 0 ? low : low + share * (sorted[below + 1]! - low);
}
