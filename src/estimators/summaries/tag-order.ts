import { highWord } from '../../base/byte-order.js';

/** The content of a summary of rows: rows side by side, each with its tag. */
export interface TaggedRows {
  count: number;
  values: Float64Array;
  tags: BigUint64Array;
}

/** Rows of a bucket are about as many as a processor's second cache holds. */
const bucketBytes = 1 << 17;
/** Keeps the number of places where buckets are filled small. */
const bucketBitsMax = 16;
/** A key is the high word of a tag and a place in the bucket, exact in a double: 32 and 21 bits. */
const keyRowsMax = 1 << 21;

/** Rows side by side, and their tags as words. */
class Rows {
  readonly words: Uint32Array;

  constructor(
    readonly values: Float64Array, readonly dimension: number, tags: BigUint64Array,
    readonly count: number,
  ) {
    this.words = new Uint32Array(tags.buffer, tags.byteOffset, 2 * count);
  }

  high(row: number): number {
    return this.words[2 * row + highWord]!;
  }

  /** Copies rows of `from`, which lie side by side. */
  copy(to: number, from: Rows, first: number, count: number): void {
    const { dimension, values, words } = this;
    const { values: fromValues, words: fromWords } = from;
    const gap = (first - to) * dimension;
    const end = (to + count) * dimension;
    for (let at = to * dimension; at < end; at++) values[at] = fromValues[at + gap]!;
    for (let at = 2 * to, own = 2 * first; at < 2 * (to + count); at++, own++) {
      words[at] = fromWords[own]!;
    }
  }

  swap(one: number, other: number): void {
    const { dimension, values, words } = this;
    for (let j = 0, a = one * dimension, b = other * dimension; j < dimension; j++, a++, b++) {
      const held = values[a]!;
      values[a] = values[b]!;
      values[b] = held;
    }
    for (let j = 0, a = 2 * one, b = 2 * other; j < 2; j++, a++, b++) {
      const held = words[a]!;
      words[a] = words[b]!;
      words[b] = held;
    }
  }

  /** Compares by tag, then by values, with -0 below 0. Zero: the rows are the same. */
  compare(left: number, right: number): number {
    const { dimension, values, words } = this;
    for (const half of [highWord, 1 - highWord]) {
      const gap = words[2 * left + half]! - words[2 * right + half]!;
      if (gap !== 0) return gap;
    }
    for (let j = 0; j < dimension; j++) {
      const [a, b] = [values[left * dimension + j]!, values[right * dimension + j]!];
      if (a !== b) return a - b;
      if (!Object.is(a, b)) return Object.is(a, -0) ? -1 : 1;
    }
    return 0;
  }
}

/** Ranges of the high words of tags, in ascending order. */
interface Buckets {
  /** A high word shifted right by this many bits is the number of its bucket. */
  readonly shift: number;
  /** The first place of each bucket, and the number of rows. */
  readonly starts: Uint32Array;
}

/** Null: all rows are one bucket. */
function bucketsOf(rows: Rows): Buckets | null {
  const { count, dimension } = rows;
  let bits = 0;
  while (bits < bucketBitsMax && count * 8 * (dimension + 1) > bucketBytes * 2 ** bits) bits += 1;
  if (bits === 0) return null;
  const shift = 32 - bits;
  const starts = new Uint32Array(2 ** bits + 1);
  for (let row = 0; row < count; row++) starts[(rows.high(row) >>> shift) + 1]! += 1;
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
  return { shift, starts };
}

/**
 * The rows, all finite, in order of (tag, values), in memory of their own.
 *
 * Claim. The result is a function of the set of (tag, row), whatever the order in which they come:
 * so arrival, merging and decoding change no bit of a release, and one row replaced makes a
 * neighbour.
 * Proof. Buckets are disjoint ranges of the tag's high bits, in ascending order, so each row of one
 * comes before all rows of the next. Within one, keys are ascending in the high word; rows of equal
 * high words are compared by the whole tag and then by their values (`Rows.compare`), and rows that
 * still are equal have the same bits. So the concatenation is the ascending order of (tag, values),
 * a total order up to equal bits.
 *
 * Each row is copied to its bucket, one after the other, and within it, where it is near; a sort of
 * all tags would read each row from anywhere. O(count) where tags are spread evenly, as hashes are,
 * and O(count log count) for any.
 * @param make - room for so many numbers.
 */
export function sortedCopy(
  { count, values, tags }: TaggedRows, dimension: number, make: (length: number) => Float64Array,
): { readonly values: Float64Array; readonly tags: BigUint64Array } {
  const given = new Rows(values, dimension, tags, count);
  const sorted = { values: make(count * dimension), tags: new BigUint64Array(count) };
  const to = new Rows(sorted.values, dimension, sorted.tags, count);
  const buckets = bucketsOf(given);
  if (buckets === null) putInOrder(given, to, 0);
  else {
    const places = buckets.starts.slice();
    for (let row = 0; row < count; row++) {
      const bucket = given.high(row) >>> buckets.shift;
      to.copy(places[bucket]!++, given, row, 1);
    }
    sortBuckets(to, buckets);
  }
  return sorted;
}

/** Like `sortedCopy`, but in place, with the memory of the largest bucket. */
export function sortInPlace(values: Float64Array, dimension: number, tags: BigUint64Array): void {
  const rows = new Rows(values, dimension, tags, tags.length);
  const buckets = bucketsOf(rows) ?? { shift: 0, starts: Uint32Array.of(0, rows.count) };
  if (buckets.starts.length > 2) {
    const places = buckets.starts.slice();
    for (let bucket = 0; bucket + 1 < places.length; bucket++) {
      const end = buckets.starts[bucket + 1]!;
      while (places[bucket]! < end) {
        const row = places[bucket]!;
        const own = rows.high(row) >>> buckets.shift;
        const place = places[own]!++;
        // The one that was there comes next.
        if (own !== bucket) rows.swap(row, place);
      }
    }
  }
  sortBuckets(rows, buckets);
}

function sortBuckets(rows: Rows, { starts }: Buckets): void {
  const { dimension } = rows;
  let most = 0;
  for (let i = 1; i < starts.length; i++) most = Math.max(most, starts[i]! - starts[i - 1]!);
  const values = new Float64Array(most * dimension);
  const tags = new BigUint64Array(most);
  for (let i = 1; i < starts.length; i++) {
    const first = starts[i - 1]!;
    const bucket = new Rows(values, dimension, tags, starts[i]! - first);
    bucket.copy(0, rows, first, bucket.count);
    putInOrder(bucket, rows, first);
  }
}

/** Copies all of `rows` to `to`, from `first` on, in order. */
function putInOrder(rows: Rows, to: Rows, first: number): void {
  const order = orderOf(rows);
  for (let i = 0; i < order.length; i++) to.copy(first + i, rows, order[i]!, 1);
}

function orderOf(rows: Rows): Uint32Array {
  const { count } = rows;
  const compare = (left: number, right: number): number => rows.compare(left, right);
  const order = new Uint32Array(count);
  if (count > keyRowsMax) return order.map((_, i) => i).sort(compare);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = rows.high(i) * keyRowsMax + i;
  keys.sort();
  for (let i = 0; i < count; i++) order[i] = keys[i]! % keyRowsMax;
  for (let from = 0; from < count;) {
    const high = rows.high(order[from]!);
    let to = from + 1;
    while (to < count && rows.high(order[to]!) === high) to += 1;
    if (to - from > 1) order.subarray(from, to).sort(compare);
    from = to;
  }
  return order;
}
