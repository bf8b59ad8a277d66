import { Sensitive } from '../../base/brands.js';
import type { WorkRandom } from '../../random/source.js';
import type { FinishedSummaries, Plan } from '../contract/estimator.js';
import {
  packRows, tagsFrom, type ByteSource, type PackedRows, type RowStream,
} from './packed-rows.js';

/**
 * Rows at hand, one per contributor, whose memory the run takes over; a row with a non-finite entry
 * has no data.
 */
export interface OwnedRows {
  readonly count: number;
  /** Row-major. In shared memory, threads work on it without a copy. */
  readonly values: Float64Array;
  /**
   * Every entry is finite, as whoever read them saw; default: they are looked through for rows
   * without data.
   */
  readonly isWhole?: boolean;
}

/** Rows that belong to the run, all with data, and their tags. */
export interface RowsToAdopt {
  readonly count: number;
  readonly values: Float64Array;
  /** Fills in the tags of the next rows, until all rows have had theirs. */
  readonly draw: (into: BigUint64Array) => void;
}

/**
 * True if a plan pools all rows in a summary that can take over their memory. Others have groups,
 * pairs or a summary that does not keep its rows: these are fed row by row.
 */
export function isAdopting(plan: Plan): boolean {
  const [arm] = plan.arms;
  return plan.arms.length === 1 && arm!.mode === 'pooled' && arm!.unit === 'row'
    && plan.summary(arm!.name).adopt !== undefined;
}

/**
 * The finished summary of a plan for which `isAdopting` holds, without a copy of the rows.
 *
 * A single pool has nothing to choose by an assignment hash but the order of its rows, so each row
 * gets a fresh tag and no more.
 */
export function adoptRows(
  plan: Plan, dimension: number, { values, count, draw }: RowsToAdopt, work: WorkRandom,
): FinishedSummaries {
  const { name } = plan.arms[0]!;
  const summary = plan.summary(name);
  const state = summary.adopt!(values.subarray(0, count * dimension), count, draw);
  return new Map([[name, Sensitive.of([summary.finish(state, work.fork(`${name}/0`))])]]);
}

/** Takes rows in one array. Rows without data are left out; the others get eight random bytes. */
export function fromOwned(
  rows: OwnedRows, dimension: number, tags: ByteSource,
): RowsToAdopt {
  return {
    values: rows.values,
    count: rows.isWhole === true ? rows.count : dropNulls(rows, dimension).left,
    draw: (into) => tags.fill(new Uint8Array(into.buffer, into.byteOffset, into.byteLength)),
  };
}

/** Rows from a list or a stream: each has the tag of the assignment hash that is drawn for it. */
export async function fromStream(
  rows: RowStream, dimension: number, hashes: ByteSource,
): Promise<RowsToAdopt> {
  const packed = await packRows(rows, dimension);
  const { left, isNull } = dropNulls(packed, dimension);
  const draw = tagsFrom(hashes, left === packed.count ? null : isNull);
  return { values: packed.values, count: left, draw };
}

/** Moves the rows together that have data. */
function dropNulls(
  { count, values }: PackedRows, dimension: number,
): { readonly left: number; readonly isNull: Uint8Array } {
  const isNull = new Uint8Array(count);
  let left = 0;
  for (let row = 0; row < count; row++) {
    const from = row * dimension;
    let sum = 0;
    // Zero times a number is zero, and times one that is not finite is NaN.
    for (let j = 0; j < dimension; j++) sum += 0 * values[from + j]!;
    isNull[row] = Number(sum !== 0);
    if (sum !== 0) continue;
    if (left < row) values.copyWithin(left * dimension, from, from + dimension);
    left += 1;
  }
  return { left, isNull };
}
