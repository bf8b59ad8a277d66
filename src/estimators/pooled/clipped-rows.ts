import { countScoreBins } from '../../numerics/kernels/score-bins.js';
import { scoreBinsMax } from '../../numerics/kernels/scoring.js';
import {
  clipAndAddRows, momentsOfRows, moveScoredRows, scoreBinsOfRows, scoresOfRows, sharedBytes,
  sharedDoubles, takeBinnedRows,
} from '../../numerics/kernels/shards.js';
import type { ClipBall } from '../../privacy/stages/clip.js';
import type { Compute, PooledRows } from '../contract/estimator.js';

/**
 * Rows of a cohort inside a ball about a centre, as integer multiples of its grid step, and which
 * of
 * them are left.
 */
export interface ClippedRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major, in steps; zeros for a row that is not there. */
  readonly steps: Float64Array;
  /** 0 for rows that were removed, or were never there. Changed by `removeRows`. */
  readonly alive: Uint8Array;
  readonly known: KnownMoments;
}

interface KnownMoments {
  /** Moments of the rows that were left when they were last asked for. */
  moments: Moments;
  /** 1 for rows that were removed since; null when none were. */
  gone: Uint8Array | null;
  /** Where scores were last counted; null before. It still holds rows that were removed since. */
  binned: BinnedScores | null;
}

/** A byte for each row instead of its score, which need then not be found again. */
interface BinnedScores {
  readonly along: Along;
  readonly edges: Float64Array;
  /** From 1; 0 for rows below every edge, or not alive then. */
  readonly bins: Uint8Array;
}

/**
 * The sums that one filter round takes of the rows that are left, in units of the ball's grid.
 * Integers, exactly.
 */
export interface Moments {
  readonly count: number;
  readonly sums: Float64Array;
  /** Sum of z z^T, d x d. */
  readonly products: Float64Array;
}

/**
 * Clips rows about a released centre. Of more than `rowsMax` rows those with the smallest tags are
 * taken, so that sums stay exact: one contributor more or less then changes at most one row for
 * another.
 * @param spread - units of the columns.
 * @param isScratch - the steps take the place of the pool's values, which nobody reads again.
 */
export async function clippedRows(
  compute: Compute, pool: PooledRows, centre: Float64Array, spread: Float64Array, ball: ClipBall,
  rowsMax: number,
  isScratch = false,
): Promise<ClippedRows> {
  const { dimension, values } = pool;
  const count = Math.min(pool.count, rowsMax);
  const steps = isScratch ? values : sharedDoubles(count * dimension);
  const alive = sharedBytes(count);
  const { grid, steps: radius } = ball;
  const moments = await clipAndAddRows(
    compute, { values, dimension, count }, { grid, steps: radius, centre, unit: spread }, steps,
    alive,
  );
  return { count, dimension, steps, alive, known: { moments, gone: null, binned: null } };
}

/** Rows that are whole steps already; steps of a row that is not alive are zeros. O(n d^2). */
export async function rowsOfSteps(
  compute: Compute, rows: Pick<ClippedRows, 'count' | 'dimension' | 'steps' | 'alive'>,
): Promise<ClippedRows> {
  const { count, dimension, steps, alive } = rows;
  const moments =
    await momentsOfRows(compute, { values: steps, dimension, count }, { mask: alive });
  return { ...rows, known: { moments, gone: null, binned: null } };
}

/**
 * Count, sums and products of the rows that are left: those of before without the rows that went
 * since, so O(d^2) for each of these. All are whole numbers below 2^53, so the difference is exact:
 * what a pass over all rows would give.
 */
export async function momentsOf(compute: Compute, rows: ClippedRows): Promise<Moments> {
  const { count, dimension, steps, known } = rows;
  if (known.gone === null) return known.moments;
  const { moments: before, gone: mask } = known;
  const gone = await momentsOfRows(compute, { values: steps, dimension, count }, { mask });
  known.gone = null;
  known.moments = without(before, gone);
  return known.moments;
}

function without(before: Moments, gone: Moments): Moments {
  return {
    count: before.count - gone.count,
    sums: before.sums.map((sum, j) => sum - gone.sums[j]!),
    products: before.products.map((sum, at) => sum - gone.products[at]!),
  };
}

/**
 * How far out a row is: (z - mean)^T weights (z - mean), with `mean` in steps. A function of each
 * row alone.
 */
export interface Along {
  readonly mean: Float64Array;
  readonly weights: Float64Array;
}

/**
 * The score of each row, 8 bytes each; where they need not be at hand together, `scoreCounts` and
 * `removeRows` do.
 */
export async function scoresOf(
  compute: Compute, { count, dimension, steps }: ClippedRows, { mean, weights }: Along,
): Promise<Float64Array> {
  const scores = sharedDoubles(count);
  await scoresOfRows(compute, { values: steps, dimension, count }, mean, weights, scores);
  return scores;
}

/**
 * `countScores` of the rows' scores, in steps squared as the edges are. Which bin a row is in is
 * kept, for `removeRows`.
 */
export async function scoreCounts(
  compute: Compute, rows: ClippedRows, along: Along, edges: Float64Array,
): Promise<Float64Array> {
  const { count, dimension, steps, alive, known } = rows;
  if (edges.length > scoreBinsMax) {
    return countScores(rows, await scoresOf(compute, rows, along), edges);
  }
  const bins = known.binned?.bins ?? sharedBytes(count);
  known.binned = { along, edges, bins };
  const form = { centre: along.mean, matrix: along.weights };
  return scoreBinsOfRows(compute, { values: steps, dimension, count }, form, alive, edges, bins);
}

/**
 * Removes the rows whose score is at least `least`, and below `below`: where these are edges of the
 * scores that were last counted, by the rows' bins, and else by their scores, which is the same.
 */
export async function removeRows(
  compute: Compute, rows: ClippedRows, { mean, weights }: Along, least: number, below = Infinity,
): Promise<void> {
  const { count, dimension, steps, alive, known } = rows;
  const { binned } = known;
  if (binned !== null && binned.along.mean === mean && binned.along.weights === weights) {
    const [from, to] = [binned.edges.indexOf(least), below === Infinity
      ? binned.edges.length : binned.edges.indexOf(below)];
    if (from >= 0 && to >= 0) {
      const set = { values: steps, dimension, count };
      known.moments = without(
        known.moments, await takeBinnedRows(compute, set, alive, binned.bins, from + 1, to + 1),
      );
      return;
    }
  }
  known.gone ??= sharedBytes(count);
  const form = { centre: mean, matrix: weights };
  await moveScoredRows(
    compute, { values: steps, dimension, count }, form, alive, known.gone, { least, below },
  );
}

/**
 * As `removeRows`, but at most ceil(share * rows left), the highest scores first; of equal scores
 * later rows first.
 */
export function removeTopRows(
  rows: ClippedRows, scores: Float64Array, least: number, share: number,
): void {
  const { alive } = rows;
  let left = 0;
  const high: number[] = [];
  for (let i = 0; i < rows.count; i++) {
    if (alive[i] === 0) continue;
    left += 1;
    if (scores[i]! >= least) high.push(i);
  }
  const most = Math.ceil(share * left);
  if (high.length > most) high.sort((a, b) => scores[b]! - scores[a]! || b - a);
  // Also where no row goes: the next moments then take a pass whether or not a row reaches the
  // threshold.
  const gone = rows.known.gone ??= sharedBytes(rows.count);
  for (const i of high.slice(0, most)) {
    alive[i] = 0;
    gone[i] = 1;
  }
}

/**
 * How many of the rows that are left have a score in each bin [edges[j], edges[j + 1]), the last
 * one open-ended.
 */
export function countScores(
  { count, alive }: ClippedRows, scores: Float64Array, edges: ArrayLike<number>,
): Float64Array {
  return countScoreBins(scores, alive.subarray(0, count), edges);
}
