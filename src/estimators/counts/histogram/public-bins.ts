import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import type { BinOf } from '../tables/counts.js';
import { keyPlacesOf, mostMoved, placeOf, rootAbove } from '../tables/key-places.js';
import { planNoisyCounts } from '../tables/noisy-counts.js';

/** A histogram of public bins. */
export interface PublicBinsOptions {
  readonly column: number;
  /** Ascending, at least one. */
  readonly edges: readonly number[];
}

/**
 * A histogram over public bins: (-inf, e1), [e1, e2), ..., [ek, inf).
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta; or pure epsilon, where the budget asks for it.
 * Why: the bins are fixed before any data and every row is in exactly one. A row that moves takes 1
 * from one count and adds 1 to another: L2 distance sqrt 2 and L1 distance 2, whatever the number
 * of bins. A row that goes or comes changes one count by 1. Counts are whole numbers, so they are
 * on the event's grid. They are released once as a vector by the discrete Gaussian or Laplace of
 * that sensitivity (Math.SQRT2 is the double above sqrt 2). Empty bins get noise like all others.
 *
 * Split by m public keys: these bins for each key. A contributor has a row for each of at most K.
 * Claim. The same neighbours and cost. One contributor moves all counts by 2 min(K, m) in L1, and
 * by its root in L2, at most.
 * Why: under a key that the contributor has before and after, its row moves from one bin to
 * another: 2, in L1 and in L2 squared. Under a key that it has on one side only it is 1. So
 * `mostMoved` with both = 2, one = 1 is the most that j allows of min(2K, m + j): 2 min(K, m).
 */
export function planPublicBins(
  { column, edges }: PublicBinsOptions, facts: StudyFacts,
): Plan | Infeasible {
  const bins = edges.length + 1;
  if (facts.keys !== undefined) return planBinsByKey({ column, edges }, facts);
  return planNoisyCounts({
    name: 'bins', counts: bins, l1: 2, l2: Math.SQRT2, binOf: binBetween(column, edges),
    theorem: 'a vector of counts of L2 sensitivity sqrt 2, L1 sensitivity 2, with discrete noise; '
      + 'proof in src/estimators/counts/histogram/public-bins',
    facts: { errorsAreIn: 'shares of the cohort, over all bins', bins },
    // A hostile contributor leaves one bin for another.
    bias: Math.SQRT2,
  }, facts);
}

function planBinsByKey(
  { column, edges }: PublicBinsOptions, facts: StudyFacts,
): Plan | Infeasible {
  const bins = edges.length + 1;
  const places = keyPlacesOf(facts);
  const { count: keys, groupsMax, columnsFrom } = places;
  const l1 = mostMoved(places, { both: 2, one: 1 });
  const binAt = binBetween(columnsFrom + column, edges);
  return planNoisyCounts({
    name: 'bins', counts: keys * bins, l1, l2: rootAbove(l1), shape: [keys, bins],
    binOf: (row) => {
      const place = placeOf(row, places);
      return place === null ? null : place * bins + binAt(row)!;
    },
    theorem: 'counts by group and bin of L2 sensitivity sqrt(2 min(K, m)) with discrete noise; '
      + 'proof in src/estimators/counts/histogram/public-bins',
    facts: { errorsAreIn: 'shares of the cohort, over all groups and bins', bins, keys, groupsMax },
    bias: Math.sqrt(l1),
  }, facts);
}

/** The number of edges at or below the value, by bisection. */
export function binBetween(column: number, edges: readonly number[]): BinOf {
  return (row) => {
    const value = row[column]!;
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const between = (low + high) >>> 1;
      if (edges[between]! <= value) low = between + 1;
      else high = between;
    }
    return low;
  };
}
