import type { RowBlock } from '../../../privacy/stages/rows.js';

/**
 * Scores of hypotheses by contests of every two of them.
 *
 * A contest of hypotheses i and j is about a public set W. Write p1 = H_i(W) and p2 = H_j(W), with
 * p1 > p2. Where p1 - p2 <= (2 + zeta) alpha the contest is a draw and does not count. Of N rows, c
 * are in W. The margin of i is c - theta N rows, with theta = p2 + (1 + zeta/2) alpha. The margin
 * of j is the same for the complement of W. The score of a hypothesis is its smallest margin,
 * limited to the interval from 0 to a public cap.
 *
 * Claim: no score changes by more than 1 when one row is replaced by anything, or by nothing, or
 * added.
 * Why: W, theta and the draws depend on public numbers only. A replaced row changes c by at most 1
 * and leaves N as it is. An added row changes c - theta N by 1 - theta or by -theta. theta is
 * between 0 and 1: wherever it is used it is below p1 - (1 + zeta/2) alpha, before it is rounded up
 * by less than alpha. So a margin changes by at most 1.
 * A minimum of such numbers, limited to a public interval, changes by no more. Rounding adds
 * nothing: theta is rounded up to a multiple of 2^-20 and N is below 2^32, so every number is exact
 * in a double.
 *
 * Source: Bun, Kamath, Steinke, Wu (2019), section 3. They use a public n. Here N is the number of
 * rows that came, so that absent contributors do not count against a hypothesis.
 */
export interface ContestRules {
  /** Total variation within which some hypothesis should be. */
  readonly alpha: number;
  readonly zeta: number;
  /** Public. */
  readonly cap: number;
}

/** The fact `interval` of a plan whose answer is a fit. */
export const noIntervalOfFit = 'none: nothing is proved about how near a fit comes, and rows that '
  + 'follow no mixture of normals have a best fit, too';

const thetaSteps = 2 ** 20;

/** Keeps the least margin of each hypothesis. */
export class Contests {
  readonly scores: Float64Array;

  constructor(hypotheses: number, readonly rows: number, private readonly rules: ContestRules) {
    this.scores = new Float64Array(hypotheses).fill(rules.cap);
  }

  /**
   * The contest of i and j on a set W.
   * @param first - H_i(W).
   * @param second - H_j(W), at most `first`.
   * @param inside - rows in W.
   */
  hold(i: number, j: number, first: number, second: number, inside: number): void {
    const { alpha, zeta } = this.rules;
    if (!(first - second > (2 + zeta) * alpha)) return;
    this.lower(i, second, inside);
    this.lower(j, 1 - first, this.rows - inside);
  }

  private lower(hypothesis: number, otherMass: number, inside: number): void {
    const { alpha, zeta } = this.rules;
    const theta = Math.ceil((otherMass + (1 + zeta / 2) * alpha) * thetaSteps) / thetaSteps;
    const margin = Math.max(0, inside - theta * this.rows);
    if (margin < this.scores[hypothesis]!) this.scores[hypothesis] = margin;
  }
}

/** Hypotheses about rows of several columns. */
export interface SpaceContestants {
  readonly hypotheses: number;
  /** Writes the log densities of all hypotheses at one row. */
  readonly densities: (row: Float64Array, into: Float64Array) => void;
  /**
   * wins[i m + k] is the share of points drawn from i at which i is denser than k. losses[i m + k]
   * is that share for points drawn from k.
   */
  readonly wins: Float64Array;
  readonly losses: Float64Array;
}

/**
 * Scores for rows of several columns. W is the set on which the first hypothesis is denser. Its
 * probabilities are shares of public points drawn from each hypothesis. O(rows hypotheses^2).
 */
export function spaceScores(
  contestants: SpaceContestants, rows: RowBlock, rules: ContestRules,
): Float64Array {
  const { hypotheses: m, wins, losses } = contestants;
  const inside = countDenser(contestants, rows.values, rows.count, rows.dimension);
  const contests = new Contests(m, rows.count, rules);
  for (let i = 0; i < m; i++) {
    for (let k = i + 1; k < m; k++) {
      contests.hold(i, k, wins[i * m + k]!, losses[i * m + k]!, inside[i * m + k]!);
    }
  }
  return contests.scores;
}

/** For each i < k: in how many of the rows i is denser than k. */
export function countDenser(
  { hypotheses: m, densities }: Pick<SpaceContestants, 'hypotheses' | 'densities'>,
  values: Float64Array, count: number, dimension: number,
): Float64Array {
  const inside = new Float64Array(m * m);
  const logs = new Float64Array(m);
  for (let row = 0; row < count; row++) {
    densities(values.subarray(row * dimension, (row + 1) * dimension), logs);
    for (let i = 0; i < m; i++) {
      const own = logs[i]!;
      const base = i * m;
      for (let k = i + 1; k < m; k++) if (own > logs[k]!) inside[base + k]! += 1;
    }
  }
  return inside;
}
