import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { LineDistribution } from './line.js';
import { thresholdsOf, tableOf } from './tables.js';

/**
 * Scores of a short list of hypotheses by how many rows would have to be others for a hypothesis to
 * fit exactly: the inverse-sensitivity score, on public cells of the line.
 *
 * With N rows, n_k of them in cell k, of which hypothesis H has the probability p_k, the score of H
 * is -(sum_k |n_k - N p_k|) / 2, which is N times their total variation on the cells, negated.
 * Claim: no score changes by more than 1 when one row is replaced by anything, or by nothing, or
 * added.
 * Why: cells and p_k depend on the public list only. A row replaced moves two of the n_k by 1 and N
 * not. A row added to cell c adds 1 - p_c to one difference and takes p_k off the others: at most 2
 * (1 - p_c) together, and half of that is at most 1. The p_k are differences of multiples of 2^-22
 * from 0 to 1, so for fewer than 2^30 rows all numbers are exact.
 *
 * Promise: when some hypothesis is within alpha of what the rows follow, the chosen one is within
 * alpha + sqrt(K / n) + 2 t + g on the K cells, but for a chance beta: the rows are within sqrt(K /
 * n) / 2 + t of what they follow, t = sqrt(log(2 / beta) / (2 n)) (the mean by Cauchy and Schwarz,
 * the rest by McDiarmid), which counts twice, and the choice gives away at most g = 2 log(2 M /
 * beta) / (epsilon n). Contests promise (3 + zeta) alpha instead, on sets that are fitted to each
 * two hypotheses and so see finer.
 */
export interface Cells {
  /** Ascending; cell k ends at edge k, the last one never. */
  readonly edges: Float64Array;
  /** Of each hypothesis. */
  readonly shares: readonly Float64Array[];
}

const shareSteps = 2 ** 22;
const cellsMaximum = 1024;
/** Cells that a hypothesis should have for its own. */
export const cellsPerHypothesis = 4;
const thresholdsPerHypothesis = 64;

/** What rows and choice may take of the promise without any cells: 2 t + g. */
function unavoidable(rows: number, hypotheses: number, epsilon: number, failure: number): number {
  return Math.sqrt((2 * Math.log(2 / failure)) / rows)
    + (2 * Math.log((2 * hypotheses) / failure)) / (epsilon * rows);
}

/** As many cells as keep the answer within alpha + slack; 0 for none. */
export function cellsFor(
  { rows, hypotheses, epsilon, failure, slack }: {
    readonly rows: number; readonly hypotheses: number; readonly epsilon: number;
    readonly failure: number; readonly slack: number;
  },
): number {
  const left = slack - unavoidable(rows, hypotheses, epsilon, failure);
  return left > 0 ? Math.min(cellsMaximum, Math.floor(rows * left * left)) : 0;
}

/** At most `cells` cells, between points that all hypotheses have an equal say in. */
export function cellsOf(lines: readonly LineDistribution[], cells: number): Cells {
  const pooled = Float64Array.from(lines.flatMap((line) =>
    [...thresholdsOf(tableOf(line), thresholdsPerHypothesis)])).sort();
  const most = Math.min(cells - 1, pooled.length);
  const picked = Array.from({ length: most }, (_, k) =>
    pooled[Math.floor(((k + 0.5) * pooled.length) / most)]!);
  const edges = Float64Array.from(new Set(picked));
  const shares = lines.map(({ cdf }) => {
    let last = 0;
    return Float64Array.from({ length: edges.length + 1 }, (_, k) => {
      const whole = k === edges.length ? shareSteps : Math.round(cdf(edges[k]!) * shareSteps);
      const next = Math.max(last, Math.min(shareSteps, whole));
      const share = (next - last) / shareSteps;
      last = next;
      return share;
    });
  });
  return { edges, shares };
}

/** The scores, at most 0. O(rows log cells + hypotheses cells). */
export function distanceScores(
  { edges, shares }: Cells, { count, values }: RowBlock,
): Float64Array {
  const counts = new Float64Array(edges.length + 1);
  for (let row = 0; row < count; row++) {
    let [low, high] = [0, edges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (edges[middle]! < values[row]!) low = middle + 1;
      else high = middle;
    }
    counts[low]! += 1;
  }
  return Float64Array.from(shares, (share) => {
    let sum = 0;
    for (let k = 0; k < counts.length; k++) sum += Math.abs(counts[k]! - count * share[k]!);
    return sum === 0 ? 0 : -sum / 2;
  });
}
