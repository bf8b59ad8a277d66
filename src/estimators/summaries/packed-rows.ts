import { highWord } from '../../base/byte-order.js';
import { copyNumbers, sharedDoubles } from '../../numerics/kernels/shared.js';
import { checkRow } from '../contract/given.js';
import { assignmentHashBytes, tagWordOf } from './assignment.js';

/** Anything that fills a view with bytes: secure for real runs, seeded in tests. */
export interface ByteSource {
  fill(bytes: Uint8Array): void;
}

/** Rows that come one by one, at once or as they are read. */
export type RowStream = Iterable<ArrayLike<number>> | AsyncIterable<ArrayLike<number>>;

/** Rows side by side. */
export interface PackedRows {
  readonly count: number;
  /** Row-major, in shared memory. */
  readonly values: Float64Array;
}

/** Room for so many rows at first, where nobody says how many there are. */
const firstRows = 1024;
/** Rows of a block, and assignment hashes that are drawn at a time. */
const rowsAtOnce = 1024;

/**
 * Calls `take` with blocks of the rows side by side, each block good until it returns. It waits
 * only for rows that are not at hand: a promise for each of a million rows in memory would cost
 * more than to add them up.
 * @throws InvalidParameterError for a row without `dimension` numbers.
 */
export async function eachBlock(
  rows: RowStream, dimension: number, take: (values: Float64Array, count: number) => void,
): Promise<void> {
  const block = new Float64Array(rowsAtOnce * dimension);
  let count = 0;
  const add = (row: ArrayLike<number>): void => {
    checkRow(row, dimension);
    for (let j = 0, at = count * dimension; j < dimension; j++, at++) block[at] = row[j]!;
    count += 1;
    if (count < rowsAtOnce) return;
    take(block, count);
    count = 0;
  };
  if (Symbol.iterator in rows) for (const row of rows) add(row);
  else for await (const row of rows) add(row);
  if (count > 0) take(block, count);
}

/**
 * Copies rows into memory of the run's own, which threads share.
 * @throws InvalidParameterError for a row without `dimension` numbers.
 */
export async function packRows(rows: RowStream, dimension: number): Promise<PackedRows> {
  let values = sharedDoubles((Array.isArray(rows) ? rows.length : firstRows) * dimension);
  let at = 0;
  await eachBlock(rows, dimension, (block, count) => {
    const added = count * dimension;
    if (at + added > values.length) {
      const larger = sharedDoubles(2 * Math.max(values.length, added));
      copyNumbers(values.subarray(0, at), larger.subarray(0, at));
      values = larger;
    }
    copyNumbers(block.subarray(0, added), values.subarray(at, at + added));
    at += added;
  });
  return { count: at / dimension, values };
}

/**
 * Draws the tags of rows from a hash for each, as if the rows were added one by one. A row without
 * data uses up its hash.
 * @param isNull - 1 for rows without data, which get no tag; null: all rows have data.
 */
export function tagsFrom(
  hashes: ByteSource, isNull: Uint8Array | null,
): (into: BigUint64Array) => void {
  const block = new Uint8Array(rowsAtOnce * assignmentHashBytes);
  let next = rowsAtOnce;
  let row = 0;
  const hash = (): number => {
    if (next === rowsAtOnce) {
      hashes.fill(block);
      next = 0;
    }
    return next++ * assignmentHashBytes;
  };
  return (into) => {
    const words = new Uint32Array(into.buffer, into.byteOffset, 2 * into.length);
    for (let i = 0; i < into.length; i++) {
      let from = hash();
      while (isNull?.[row++] === 1) from = hash();
      words[2 * i + highWord] = tagWordOf(block, 0, from);
      words[2 * i + 1 - highWord] = tagWordOf(block, 1, from);
    }
  };
}
