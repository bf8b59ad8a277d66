import { highWord } from '../../base/byte-order.js';
import { sharedDoubles } from '../../numerics/kernels/shared.js';
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
/** Assignment hashes that are drawn at a time. */
const hashesAtOnce = 1024;

/**
 * Calls `take` with each row in turn. It waits only for rows that are not at hand: a promise for
 * each of a million rows in memory would cost more than to add them up.
 * @throws InvalidParameterError for a row without `dimension` numbers.
 */
export async function eachRow(
  rows: RowStream, dimension: number, take: (row: ArrayLike<number>) => void,
): Promise<void> {
  const checked = (row: ArrayLike<number>): void => {
    checkRow(row, dimension);
    take(row);
  };
  if (Symbol.iterator in rows) for (const row of rows) checked(row);
  else for await (const row of rows) checked(row);
}

/**
 * Copies rows into memory of the run's own, which threads share.
 * @throws InvalidParameterError for a row without `dimension` numbers.
 */
export async function packRows(rows: RowStream, dimension: number): Promise<PackedRows> {
  let values = sharedDoubles((Array.isArray(rows) ? rows.length : firstRows) * dimension);
  let at = 0;
  await eachRow(rows, dimension, (row) => {
    if (at + dimension > values.length) {
      const larger = sharedDoubles(2 * Math.max(values.length, dimension));
      larger.set(values);
      values = larger;
    }
    for (let j = 0; j < dimension; j++) values[at++] = row[j]!;
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
  const block = new Uint8Array(hashesAtOnce * assignmentHashBytes);
  let next = hashesAtOnce;
  let row = 0;
  const hash = (): number => {
    if (next === hashesAtOnce) {
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
