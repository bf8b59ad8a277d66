import { log2 } from '../../base/elementary.js';
import { highWord } from '../../base/byte-order.js';
import { tagWordOf } from './assignment.js';
import type { SummaryTable } from '../contract/estimator.js';
import type { TaggedRows } from './tag-order.js';

/**
 * Rows per chunk, as a power of two: what a group that has just begun takes, and at most what a
 * full one wastes.
 */
const chunkBits = 4;
const chunkRows = 1 << chunkBits;
/**
 * Doubles per slab, at most: a mebibyte, so that memory is asked for some hundred times an epoch
 * and not per group.
 */
const slabDoubles = 1 << 17;

/** Room for the rows of as many chunks as fit. */
interface Slab {
  readonly values: Float64Array;
  readonly tags: BigUint64Array;
  /** The tags once more, by halves: a row is appended without a big integer. */
  readonly words: Int32Array;
}

/**
 * The rows of many groups that fill at the same time. Thousands of growing arrays would be copied
 * and collected over and over, and hold up to twice what they need; chunks of common slabs are
 * written once and stay. A group is the list of its chunks, the newest first; lists are numbers in
 * arrays, so that a row touches no object but its slab.
 */
export class ChunkedRows implements SummaryTable<TaggedRows> {
  readonly #slabs: Slab[] = [];
  readonly #slabBits: number;
  /** By group: how many rows, and which chunk is the newest. */
  readonly #counts: Uint32Array;
  readonly #newest: Uint32Array;
  /** By chunk: the one before in the same group. */
  #before = new Uint32Array(64);
  #chunks = 0;

  constructor(groups: number, private readonly dimension: number) {
    this.#counts = new Uint32Array(groups);
    this.#newest = new Uint32Array(groups);
    this.#slabBits = Math.max(0, Math.floor(log2(slabDoubles / (chunkRows * dimension))));
  }

  add(group: number, row: Float64Array, assignmentHash: Uint8Array): void {
    this.#append(group, row, 0, tagWordOf(assignmentHash, 0), tagWordOf(assignmentHash, 1));
  }

  state(group: number): TaggedRows {
    const { dimension } = this;
    const count = this.#counts[group]!;
    const values = new Float64Array(count * dimension);
    const tags = new BigUint64Array(count);
    let chunk = this.#newest[group]!;
    for (let first = (count - 1) & -chunkRows; first >= 0; first -= chunkRows) {
      const { values: from, tags: fromTags } = this.#slabs[chunk >> this.#slabBits]!;
      const start = this.#startOf(chunk);
      const rows = Math.min(chunkRows, count - first);
      values.set(from.subarray(start * dimension, (start + rows) * dimension), first * dimension);
      tags.set(fromTags.subarray(start, start + rows), first);
      chunk = this.#before[chunk]!;
    }
    return { count, values, tags };
  }

  merge(group: number, { count, values, tags }: TaggedRows): void {
    const words = new Int32Array(tags.buffer, tags.byteOffset, 2 * count);
    for (let i = 0; i < count; i++) {
      this.#append(
        group, values, i * this.dimension, words[2 * i + highWord]!, words[2 * i + 1 - highWord]!,
      );
    }
  }

  put(group: number, state: TaggedRows): void {
    this.merge(group, state);
  }

  /** Appends a copy of the row at `offset` of `from`. */
  #append(group: number, from: Float64Array, offset: number, high: number, low: number): void {
    const { dimension } = this;
    const count = this.#counts[group]!;
    this.#counts[group] = count + 1;
    if ((count & (chunkRows - 1)) === 0) this.#extend(group);
    const chunk = this.#newest[group]!;
    const { values, words } = this.#slabs[chunk >> this.#slabBits]!;
    const place = this.#startOf(chunk) + (count & (chunkRows - 1));
    words[2 * place + highWord] = high;
    words[2 * place + 1 - highWord] = low;
    const to = place * dimension;
    for (let j = 0; j < dimension; j++) values[to + j] = from[offset + j]!;
  }

  /** Where a chunk begins in its slab, in rows. */
  #startOf(chunk: number): number {
    return (chunk & ((1 << this.#slabBits) - 1)) << chunkBits;
  }

  /** Gives a group its next chunk. */
  #extend(group: number): void {
    const chunk = this.#chunks;
    this.#chunks += 1;
    const rows = chunkRows << this.#slabBits;
    if (chunk >> this.#slabBits === this.#slabs.length) {
      const tags = new BigUint64Array(rows);
      this.#slabs.push({
        values: new Float64Array(rows * this.dimension), tags, words: new Int32Array(tags.buffer),
      });
    }
    if (chunk === this.#before.length) {
      const longer = new Uint32Array(2 * chunk);
      longer.set(this.#before);
      this.#before = longer;
    }
    this.#before[chunk] = this.#newest[group]!;
    this.#newest[group] = chunk;
  }
}
