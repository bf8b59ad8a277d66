import { Sensitive } from '../../base/brands.js';
import type { WorkRandom } from '../../random/source.js';
import type { FinishedSummaries, Plan } from '../contract/estimator.js';

/** Anything that fills a view with bytes: secure for real runs, seeded in tests. */
export interface ByteSource {
  fill(bytes: Uint8Array): void;
}

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

/**
 * The finished summary of a plan that pools all rows, without a copy of them. Null when the plan
 * has groups, pairs or a summary that does not keep its rows: these are fed row by row.
 *
 * A single pool has nothing to choose by an assignment hash but the order of its rows, so each row
 * gets a fresh tag and no more.
 */
export function adoptRows(
  plan: Plan, dimension: number, rows: OwnedRows, assignmentHashes: ByteSource, work: WorkRandom,
): FinishedSummaries | null {
  const [cohort] = plan.cohorts;
  if (plan.cohorts.length !== 1 || cohort!.mode !== 'pooled' || cohort!.unit !== 'row') return null;
  const { name } = cohort!;
  const summary = plan.summary(name);
  if (summary.adopt === undefined) return null;
  const draw = (into: BigUint64Array): void =>
    assignmentHashes.fill(new Uint8Array(into.buffer, into.byteOffset, into.byteLength));
  const count = rows.isWhole === true ? rows.count : withoutNulls(rows, dimension);
  const state = summary.adopt(rows.values.subarray(0, count * dimension), count, draw);
  return new Map([[name, Sensitive.of([summary.finish(state, work.fork(`${name}/0`))])]]);
}

/** Moves the rows together that have data; returns how many. */
function withoutNulls({ count, values }: OwnedRows, dimension: number): number {
  let kept = 0;
  for (let row = 0; row < count; row++) {
    const from = row * dimension;
    let sum = 0;
    // Zero times a number is zero, and times one that is not finite is NaN.
    for (let j = 0; j < dimension; j++) sum += 0 * values[from + j]!;
    if (sum !== 0) continue;
    if (kept < row) values.copyWithin(kept * dimension, from, from + dimension);
    kept += 1;
  }
  return kept;
}
