import type { Sensitive } from '../../../base/brands.js';
import type { Compute } from '../../contract/estimator.js';
import { removeRows, removeTopRows, scoresOf, type ClippedRows } from '../../pooled/clipped-rows.js';

/** One removal. All of it is public or released; it says which rows go. */
export interface Cut {
  /** Where scores are measured from, in steps of the rows' grid. */
  readonly mean: Float64Array;
  /** Symmetric d x d: a row scores (z - mean)^T weights (z - mean), in steps squared. */
  readonly weights: Float64Array;
  /** Rows with this score or more go, in steps squared. */
  readonly least: number;
  /** At most this share of the rows left goes, in [0, 1), highest scores first. Null: as many as score enough. */
  readonly shareMax: number | null;
}

/** One of the two forms below; both give the same answers. */
export type SurvivorsForm = (compute: Compute, rows: Sensitive<ClippedRows>) => Survivors;

/** The rows that a sequence of cuts leaves of a data set. */
export interface Survivors {
  rows(): Promise<Sensitive<ClippedRows>>;
  cut(cut: Cut): Promise<void>;
}

/**
 * The centralised form of a filter: one marked set of rows, changed by every cut. O(n d^2) a cut.
 *
 * Claim, for either form: if two sets of rows differ in one row at most (one in one of them only, and one in the other
 * only), then so do their survivors of the same cuts.
 * Why. Without `shareMax` a row goes by its own score. With it, let C be what the two hold in common, a and b the rows
 * of one only, and order rows by (score, place): cutting takes the top r of a set, r the smaller of k = ceil(share size)
 * and the number t that score enough. What is left is the bottom of each set in an order that the rows of C share.
 * - Equal sizes: k agrees and t differs by 1 at most. With equal r, both keep the bottom m - 1 rows of C and one row
 *   more each. With r different neither set is cut short by k, so rows go by their own scores.
 * - One set is C, the other C and b: k and t of the larger exceed those of the smaller by 0 or 1 each, hence so does r.
 *   The smaller keeps the bottom m of C. The larger keeps the bottom m + 1 (equal r) or m (r one more) of C and b, of
 *   which all but one row, at most, are among the bottom m of C, and leaves out at most one row of these.
 * Only a cut with `shareMax` looks at places. Filters that make such cuts ask for rows sorted by
 * tag, so that rows in common stand in the same order whoever else is there. The others may take
 * rows in order of arrival (filters/plan).
 */
export function markedSurvivors(compute: Compute, rows: Sensitive<ClippedRows>): Survivors {
  return {
    rows: () => Promise.resolve(rows),
    cut: async (cut) => {
      await rows.mapAsync((left) => applyCut(compute, left, cut));
    },
  };
}

/**
 * The interactive form: the data stay as they are, and every query is answered from the list of all cuts so far, which
 * is all that the side which asks keeps. Same rows, hence same answers, as the centralised form; O(cuts n d^2) a query.
 */
export function replayedSurvivors(compute: Compute, whole: Sensitive<ClippedRows>): Survivors {
  const cuts: Cut[] = [];
  return {
    rows: () => whole.mapAsync(async (rows) => {
      const left = { ...rows, alive: rows.alive.slice(), known: { ...rows.known } };
      for (const cut of cuts) await applyCut(compute, left, cut);
      return left;
    }),
    cut: async (cut) => {
      cuts.push(cut);
    },
  };
}

async function applyCut(compute: Compute, rows: ClippedRows, cut: Cut): Promise<void> {
  const { least, shareMax } = cut;
  if (shareMax === null) await removeRows(compute, rows, cut, least);
  else removeTopRows(rows, await scoresOf(compute, rows, cut), least, shareMax);
}
