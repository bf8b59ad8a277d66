import type { RowBlock } from '../../../privacy/stages/rows.js';

/**
 * Scores of hypotheses by contests between each two of them.
 *
 * For hypotheses i and j there is a public set W, with the probabilities p1 = H_i(W) > p2 = H_j(W).
 * With N rows, c of them in W, i is c - theta N rows above losing, theta = p2 + (1 + zeta/2) alpha;
 * j takes the complement of W. A score is the least over all others, at least 0 and at most a
 * public cap; pairs with p1 - p2 <= (2 + zeta) alpha are a draw and do not count.
 *
 * Claim: no score changes by more than 1 when one row is replaced by anything, or by nothing, or
 * added.
 * Why: W, theta and who draws depend on public numbers only. A row replaced changes c by at most 1
 * and not N. A row added changes c - theta N by 1 - theta or by -theta, and theta lies in [0, 1],
 * because it is below p1 where it is used. The least of such numbers, and cuts at 0 and at a public
 * cap, change by no more. theta is rounded up to a multiple of 2^-20 and N is below 2^32, so every
 * number is exact in a double: rounding adds nothing.
 *
 * Source: Bun, Kamath, Steinke, Wu (2019), section 3, with the number of rows in place of a public
 * n, so that absence of honest contributors does not count against the hypothesis that they follow.
 */
export interface ContestRules {
  /** Total variation within which some hypothesis should be. */
  readonly alpha: number;
  readonly zeta: number;
  /** Public. */
  readonly cap: number;
}

const thetaSteps = 2 ** 20;

/** Keeps the least margin of each hypothesis. */
export class Contests {
  readonly scores: Float64Array;

  constructor(hypotheses: number, readonly rows: number, private readonly rules: ContestRules) {
    this.scores = new Float64Array(hypotheses).fill(rules.cap);
  }

  /**
   * The contest of i and j on a set W. @param first - H_i(W). @param second - H_j(W), at most
   * `first`. @param inside - rows in W.
   */
  hold(i: number, j: number, first: number, second: number, inside: number): void {
    const { alpha, zeta } = this.rules;
    if (!(first - second > (2 + zeta) * alpha)) return;
    this.lower(i, second, inside);
    this.lower(j, 1 - first, this.rows - inside);
  }

  private lower(hypothesis: number, otherMass: number, inside: number): void {
    const { alpha, zeta } = this.rules;
    const theta = Math.min(
      1, Math.ceil((otherMass + (1 + zeta / 2) * alpha) * thetaSteps) / thetaSteps,
    );
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
   * wins[i m + k]: how often i is denser than k among points drawn from i; losses: among points
   * drawn from k.
   */
  readonly wins: Float64Array;
  readonly losses: Float64Array;
}

/**
 * Scores for rows of several columns. W is where the first is denser; its probabilities are shares
 * of public points drawn from each. O(rows hypotheses^2).
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
