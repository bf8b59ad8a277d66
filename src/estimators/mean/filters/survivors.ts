import type { Sensitive } from '../../../base/brands.js';
import type { Compute } from '../../contract/estimator.js';
import {
  removeRows, removeTopRows, scoresOf, type ClippedRows,
} from '../../pooled/clipped-rows.js';

/** Which rows are removed. All of it is public or released. */
export interface Removal {
  /** Where scores are measured from, in steps of the rows' grid. */
  readonly mean: Float64Array;
  /** Symmetric d x d: a row scores (z - mean)^T weights (z - mean), in steps squared. */
  readonly weights: Float64Array;
  /** Rows with this score or more are removed, in steps squared. */
  readonly least: number;
  /**
   * At most this share of the rows left is removed, in [0, 1), highest scores first. Null: as many
   * as score enough.
   */
  readonly shareMax: number | null;
}

/** How a filter keeps the rows that are left. */
export type SurvivorsForm = (compute: Compute, rows: Sensitive<ClippedRows>) => Survivors;

/** The rows that a sequence of removals leaves of a data set. */
export interface Survivors {
  rows(): Promise<Sensitive<ClippedRows>>;
  remove(removal: Removal): Promise<void>;
}

/**
 * One marked set of rows, changed by every removal. O(n d^2) a removal.
 *
 * Claim. If two sets of rows differ in one row at most (one in one of them only,
 * and one in the other only), then so do their survivors of the same removals.
 * Why. Without `shareMax` a row is removed by its own score. With it, let C be what the two hold in
 * common, a and b the rows of one only, and order rows by (score, place): a removal takes the top r
 * of a set, r the smaller of k = ceil(share size) and the number t that score enough. What is left
 * is the bottom of each set in an order that the rows of C share.
 * - Equal sizes: k agrees and t differs by 1 at most. With equal r, both keep the bottom m - 1 rows
 *   of C and one row more each. With r different k limits neither set, so rows are removed by their
 *   own scores.
 * - One set is C, the other C and b: k and t of the larger exceed those of the smaller by 0 or 1
 *   each, hence so does r. The smaller keeps the bottom m of C. The larger keeps the bottom m + 1
 *   (equal r) or m (r one more) of C and b, of which all but one row, at most, are among the bottom
 *   m of C, and leaves out at most one row of these. Only a removal with `shareMax` depends on
 *   places. Filters that make such removals ask for rows sorted by tag, so that rows in common
 *   stand in the same order whoever else is there. The others may take rows in order of arrival
 *   (prime/plan).
 */
export function markedSurvivors(compute: Compute, rows: Sensitive<ClippedRows>): Survivors {
  return {
    rows: () => Promise.resolve(rows),
    remove: async (removal) => {
      await rows.mapAsync((left) => apply(compute, left, removal));
    },
  };
}

async function apply(compute: Compute, rows: ClippedRows, removal: Removal): Promise<void> {
  const { least, shareMax } = removal;
  if (shareMax === null) await removeRows(compute, rows, removal, least);
  else removeTopRows(rows, await scoresOf(compute, rows, removal), least, shareMax);
}
