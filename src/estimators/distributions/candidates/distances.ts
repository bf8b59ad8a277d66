import { ln } from '../../../base/elementary.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { LineDistribution } from './line.js';
import { thresholdsOf, tableOf } from './tables.js';

/**
 * Scores of a short list of hypotheses, on public cells of the line: the number of rows that would
 * have to change before a hypothesis fits exactly, negated. This is the inverse-sensitivity score.
 *
 * Let n_k of N rows be in cell k, which has probability p_k under hypothesis H. The score of H is
 * -(sum_k |n_k - N p_k|) / 2. This is -N times the total variation between rows and H on the cells.
 *
 * Claim: no score changes by more than 1 when one row is replaced by anything, or by nothing, or
 * added.
 * Why: cells and p_k depend on the public list only. A replaced row changes two of the n_k by 1 and
 * leaves N as it is. A row added to cell c changes one difference by 1 - p_c, and each other one by
 * its p_k. Together that is at most 2 (1 - p_c), and half of it is at most 1. The p_k are multiples
 * of 2^-22 between 0 and 1, so all numbers are exact for fewer than 2^30 rows.
 *
 * Promise: let some hypothesis be within alpha of the distribution of the rows. Then, except with
 * probability beta, the chosen one is within alpha + sqrt(K / n) + 2 t + g of it on the K cells.
 * The rows are within sqrt(K / n) / 2 + t of their distribution, with t = sqrt(log(2 / beta) /
 * (2 n)): the mean by the Cauchy-Schwarz inequality, the rest by McDiarmid's. That counts twice.
 * The exponential mechanism loses at most g = 2 log(2 M / beta) / (epsilon n). Contests promise
 * (3 + zeta) alpha instead. Their sets are made for each two hypotheses, so they see finer
 * differences.
 */
export interface Cells {
  /** Ascending. Cell k ends at edge k; the last cell has no end. */
  readonly edges: Float64Array;
  /** The p_k of each hypothesis. */
  readonly shares: readonly Float64Array[];
}

const shareSteps = 2 ** 22;
const cellsMaximum = 1024;
/** Cells for each hypothesis, at least. */
export const cellsPerHypothesis = 4;
const thresholdsPerHypothesis = 64;

/** The part of the promise that does not depend on the cells: 2 t + g. */
function unavoidable(rows: number, hypotheses: number, epsilon: number, failure: number): number {
  return Math.sqrt((2 * ln(2 / failure)) / rows)
    + (2 * ln((2 * hypotheses) / failure)) / (epsilon * rows);
}

/** The most cells with which the answer stays within alpha + slack; 0 if there are none. */
export function cellsFor(
  { rows, hypotheses, epsilon, failure, slack }: {
    readonly rows: number; readonly hypotheses: number; readonly epsilon: number;
    readonly failure: number; readonly slack: number;
  },
): number {
  const left = slack - unavoidable(rows, hypotheses, epsilon, failure);
  return left > 0 ? Math.min(cellsMaximum, Math.floor(rows * left * left)) : 0;
}

/** At most `cells` cells. Every hypothesis gives equally many of the points between them. */
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
