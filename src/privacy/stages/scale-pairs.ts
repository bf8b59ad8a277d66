import { highWord } from '../../base/byte-order.js';
import { sharedIndexes } from '../../numerics/kernels/shards.js';
import type { RowBlock } from './rows.js';

/**
 * Rows, in any order, and the tags by which they are put in slots and paired: drawn already, or
 * still to draw.
 */
export interface RowsToPair extends RowBlock {
  readonly tags: BigUint64Array;
  /**
   * Where there are no tags yet: fills in those of the next rows, until all rows have had theirs.
   */
  readonly drawTags?: (into: BigUint64Array) => void;
}

/** Tags that are drawn at a time. */
const pieceRows = 1 << 14;
const nobody = 0xffff_ffff;

/** A row's tag by its words, and where it stands. */
interface Place {
  row: number;
  high: number;
  low: number;
}

/** What slots hold: two places each, the smaller tag first; a place that is empty holds nobody. */
class Slots {
  readonly #rows: Uint32Array;
  readonly #tags: Uint32Array;
  readonly #one: Place = { row: 0, high: 0, low: 0 };
  found = 0;

  constructor(private readonly block: RowsToPair, private readonly slots: number) {
    this.#rows = new Uint32Array(2 * slots).fill(nobody);
    this.#tags = new Uint32Array(4 * slots);
  }

  add(row: number, high: number, low: number): void {
    const rows = this.#rows;
    const place = 2 * slotOfWords(high, low, this.slots);
    const one = this.#one;
    one.row = row;
    one.high = high;
    one.low = low;
    if (rows[place] === nobody) return this.#put(place, one);
    const isFull = rows[place + 1] !== nobody;
    if (isFull && !this.#isBefore(one, place + 1)) return;
    if (!isFull) this.found += 1;
    if (!this.#isBefore(one, place)) return this.#put(place + 1, one);
    rows[place + 1] = rows[place]!;
    this.#tags.copyWithin(2 * place + 2, 2 * place, 2 * place + 2);
    this.#put(place, one);
  }

  /** The rows of full slots, side by side. */
  pairs(): Uint32Array {
    const pairs = sharedIndexes(2 * this.found);
    for (let place = 0, at = 0; place < this.#rows.length; place += 2) {
      if (this.#rows[place + 1] === nobody) continue;
      pairs[at++] = this.#rows[place]!;
      pairs[at++] = this.#rows[place + 1]!;
    }
    return pairs;
  }

  #put(place: number, { row, high, low }: Place): void {
    this.#rows[place] = row;
    this.#tags[2 * place] = high;
    this.#tags[2 * place + 1] = low;
  }

  /** By tag; equal tags, which keyed hashes do not have, by value. */
  #isBefore({ row, high, low }: Place, place: number): boolean {
    const highs = high - this.#tags[2 * place]!;
    if (highs !== 0) return highs < 0;
    const lows = low - this.#tags[2 * place + 1]!;
    if (lows !== 0) return lows < 0;
    const { dimension, values } = this.block;
    const other = this.#rows[place]!;
    for (let j = 0; j < dimension; j++) {
      const gap = values[row * dimension + j]! - values[other * dimension + j]!;
      if (gap !== 0) return gap < 0;
    }
    return false;
  }
}

/**
 * The pairs of all slots, two rows of the block side by side: of every slot the row with the
 * smallest tag, and the next one. A function of the set of rows but for their order. O(count +
 * slots), 24 bytes for each slot; tags that are drawn are not kept.
 */
export function pairsOf(block: RowsToPair, slots: number): Uint32Array {
  const { count, tags, drawTags } = block;
  const held = new Slots(block, slots);
  const piece = drawTags === undefined ? tags : new BigUint64Array(Math.min(count, pieceRows));
  const words = new Uint32Array(piece.buffer, piece.byteOffset, 2 * piece.length);
  for (let first = 0; first < count; first += piece.length) {
    const rows = Math.min(piece.length, count - first);
    drawTags?.(piece.subarray(0, rows));
    for (let i = 0;
        i < rows; i++) held.add(first + i, words[2 * i + highWord]!, words[2 * i + 1 - highWord]!);
  }
  return held.pairs();
}

/**
 * The slot of a row, of `slots`. The high 53 bits of its tag decide, so slots follow the order of
 * tags.
 */
export function slotOf(tag: bigint, slots: number): number {
  return slotOfWords(Number(tag >> 32n), Number(tag & 0xffff_ffffn), slots);
}

/** As `slotOf`, of the tag's high and low word: no object per row. */
function slotOfWords(high: number, low: number, slots: number): number {
  return Math.floor(((high * 2 ** 21 + (low >>> 11)) / 2 ** 53) * slots);
}
