import { highWord } from '../../base/byte-order.js';

/** What a summary of rows holds: rows side by side, each with its tag. */
export interface TaggedRows {
  count: number;
  values: Float64Array;
  tags: BigUint64Array;
}

/** Up to so many rows, sorting keys is faster than counting them into 65,536 places. */
const sortedRowsMax = 1 << 14;

/**
 * The order of `count` rows by ascending tag; rows of equal tags in the order that `among` says.
 * High words first, then comparisons where these are equal, which is seldom: tags are uniform.
 * O(count) for many such tags, O(count log count) for few and for any; 16 bytes per row while it
 * runs.
 */
export function orderByTag(
  tags: BigUint64Array, count: number, among: (left: number, right: number) => number,
): Uint32Array {
  const words = new Uint32Array(tags.buffer, tags.byteOffset, 2 * count);
  const order = count <= sortedRowsMax
    ? sortedByHighWord(words, count)
    : countedByHighWord(words, count);
  const compare = (left: number, right: number): number => {
    const gap = words[2 * left + 1 - highWord]! - words[2 * right + 1 - highWord]!;
    return gap === 0 ? among(left, right) : gap;
  };
  for (let first = 0; first < count;) {
    const high = words[2 * order[first]! + highWord]!;
    let last = first + 1;
    while (last < count && words[2 * order[last]! + highWord]! === high) last += 1;
    if (last - first > 1) order.subarray(first, last).sort(compare);
    first = last;
  }
  return order;
}

/** Word and row in one double, exactly: 32 bits and 14. */
function sortedByHighWord(words: Uint32Array, count: number): Uint32Array {
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = words[2 * i + highWord]! * sortedRowsMax + i;
  keys.sort();
  const order = new Uint32Array(count);
  for (let i = 0;
      i < count; i++) order[i] = keys[i]! - Math.floor(keys[i]! / sortedRowsMax) * sortedRowsMax;
  return order;
}

/** Two counting passes. */
function countedByHighWord(words: Uint32Array, count: number): Uint32Array {
  let from = Uint32Array.from({ length: count }, (_, i) => i);
  let to = new Uint32Array(count);
  for (const shift of [0, 16]) {
    const starts = new Uint32Array(65_537);
    for (let i = 0;
        i < count; i++) starts[((words[2 * i + highWord]! >>> shift) & 0xffff) + 1]! += 1;
    for (let digit = 0; digit < 65_536; digit++) starts[digit + 1]! += starts[digit]!;
    for (let i = 0; i < count; i++) {
      const row = from[i]!;
      const digit = (words[2 * row + highWord]! >>> shift) & 0xffff;
      to[starts[digit]!++] = row;
    }
    [from, to] = [to, from];
  }
  return from;
}

/**
 * Puts rows, and their tags, in an order: row `order[i]` comes to place i. In place, one row of
 * memory.
 * @param order - a permutation; used up.
 */
export function permuteRows(
  values: Float64Array, dimension: number, tags: BigUint64Array, order: Uint32Array,
): void {
  const held = new Float64Array(dimension);
  const words = new Uint32Array(tags.buffer, tags.byteOffset, 2 * order.length);
  for (let start = 0; start < order.length; start++) {
    if (order[start] === start) continue;
    for (let j = 0; j < dimension; j++) held[j] = values[start * dimension + j]!;
    const [one, other] = [words[2 * start]!, words[2 * start + 1]!];
    let place = start;
    for (let next = order[place]!; next !== start; next = order[place]!) {
      const [to, from] = [place * dimension, next * dimension];
      for (let j = 0; j < dimension; j++) values[to + j] = values[from + j]!;
      words[2 * place] = words[2 * next]!;
      words[2 * place + 1] = words[2 * next + 1]!;
      order[place] = place;
      place = next;
    }
    values.set(held, place * dimension);
    words[2 * place] = one;
    words[2 * place + 1] = other;
    order[place] = place;
  }
}
