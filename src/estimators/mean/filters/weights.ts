import { log2, pow } from '../../../base/elementary.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { normalUpperTail } from '../../../numerics/normal.js';

/**
 * Works out from released numbers alone, so at no cost: how much too wide the rows are,
 * the directions to measure them along, and the threshold above which rows are removed.
 */

/** The released second moments of a filter round, of the rows that were left. In spreads. */
export interface RoundMoments {
  readonly count: number;
  /** Inside the ball. */
  readonly mean: Float64Array;
  /** Second moments about the mean, minus the identity. */
  readonly excess: Float64Array;
  /** Largest eigenvalue of `excess`. */
  readonly largestExcess: number;
}

/** The second moments about the mean. */
export function covarianceOf({ mean: { length }, excess }: RoundMoments): Float64Array {
  return excess.map((entry, at) => entry + (at % (length + 1) === 0 ? 1 : 0));
}

/**
 * The moments of a round from its released sums. The mean is taken back into the ball: its noise
 * may have put it outside, and the bounds of scores hold inside only.
 * @param countMin - a public bound from below on what the sums are divided by.
 */
export function roundMoments(
  count: number, sums: Float64Array, products: Float64Array, radius: number, countMin: number,
): RoundMoments {
  const dimension = sums.length;
  const divisor = Math.max(count, countMin);
  const mean = sums.map((sum) => sum / divisor);
  const length = Math.hypot(...mean);
  if (length > radius) for (let j = 0; j < dimension; j++) mean[j]! *= radius / length;
  const excess = products.map((sum, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    return sum / divisor - mean[i]! * mean[j]! - (i === j ? 1 : 0);
  });
  const { values } = ownKernels().eigenSymmetric(excess, dimension);
  return { count, mean, excess, largestExcess: values.at(-1)! };
}

/**
 * How much the widest direction outweighs one that is as wide as it should be. It is high, so that
 * rows which are ordinarily far out in many harmless directions do not hide those that are far out
 * in one.
 */
const sharpness = 6;

/**
 * Matrix multiplicative weights over the rounds of one phase: a density matrix that leans towards
 * all directions in which the rows were too wide, each by how much and how often.
 */
export function directionsOf(phase: readonly RoundMoments[]): Float64Array {
  const first = phase[0]!;
  const rate = sharpness / Math.max(first.largestExcess, 0.1);
  const sum = new Float64Array(first.excess.length);
  for (const { excess } of phase) {
    for (let i = 0; i < sum.length; i++) sum[i]! += rate * excess[i]!;
  }
  return ownKernels().exponentialSymmetric(sum, first.mean.length, 'unitTrace');
}

/** All weight on the direction in which the rows are widest. */
export function topDirectionOf({ excess, mean }: RoundMoments): Float64Array {
  const dimension = mean.length;
  const { vectors } = ownKernels().eigenSymmetric(excess, dimension);
  // Ascending: the last row.
  const top = vectors.subarray((dimension - 1) * dimension);
  return excess.map((_, at) => top[Math.floor(at / dimension)]! * top[at % dimension]!);
}

/** <excess, weights>: how much too wide the rows are along the directions. */
export function excessAlong({ excess }: RoundMoments, weights: Float64Array): number {
  return excess.reduce((sum, entry, i) => sum + entry * weights[i]!, 0);
}

/** Bins of scores to a factor of two: coarse ones remove honest rows, or too few hostile ones. */
const binsPerDoubling = 4;
/** Honest rows seldom score more: no row below it is removed. */
const usualLeastScore = 4;

/**
 * Edges of the bins of scores, from the least score up to what a score in a ball can be.
 * @param leastScore - no row that scores less is removed.
 */
export function scoreEdges(radius: number, leastScore = usualLeastScore): readonly number[] {
  const doublings = Math.max(1, log2((4 * radius * radius) / leastScore));
  const bins = Math.ceil(binsPerDoubling * doublings);
  return Array.from({ length: bins }, (_, j) => leastScore * pow(2, j / binsPerDoubling));
}

/** Share of the excess that the rows above the threshold must account for. */
const excessShare = 0.97;

/**
 * The largest edge above which the rows account for most of the excess along the directions:
 * without them the rows are about as wide as honest ones. An honest row scores 1 on average, which
 * its excess leaves out. When a share p of the rows stands at a distance D, the mean is p D towards
 * them. They then score ((1 - p) D)^2 of an excess of p (1 - p) D^2, so they account for all but a
 * share p of it; the rest is of honest rows seen from a moved mean.
 * @param noise - standard deviation of a bin's count.
 * @returns the lowest edge when no edge accounts for enough; null when hardly any row is above it,
 *   so that noise removes no row.
 */
export function thresholdOf(
  edges: readonly number[], counts: Float64Array, along: number, count: number, noise: number,
): number | null {
  let [excess, rows] = [0, 0];
  for (let l = edges.length - 1; l >= 0; l--) {
    const middle = edges[l]! * pow(2, 0.5 / binsPerDoubling);
    excess += (middle - 1) * counts[l]!;
    rows += counts[l]!;
    if (excess >= excessShare * along * (count - rows)) return edges[l]!;
  }
  return rows > 3 * noise * Math.sqrt(edges.length) ? edges[0]! : null;
}

/** A bin with so many times the rows that light tails put there has others. */
const crowdedFrom = 2;

/**
 * Moves a threshold inwards while the next bin holds more rows than light tails explain: the excess
 * falls below what it must account for before a cluster ends, and what stays of the cluster moves
 * the mean. A score is a sum of squares with weights of trace 1, each of which is that of a
 * direction one spread wide at most. From `usualLeastScore` on it is beyond a value no more often
 * than the square of one normal number is (Szekely and Bakirov 2003), so bins of honest rows are
 * not crowded. A function of released counts.
 * @param threshold - one of the edges. @param count - of the rows left.
 * @param noise - standard deviation of a bin's count.
 */
export function behindCluster(
  edges: readonly number[], counts: Float64Array, threshold: number, count: number, noise: number,
): number {
  const usual = (l: number): number => 2 * count
    * (normalUpperTail(Math.sqrt(edges[l]!)) - normalUpperTail(Math.sqrt(edges[l + 1]!)));
  let least = edges.indexOf(threshold);
  while (least > 0 && counts[least - 1]! > crowdedFrom * usual(least - 1) + noise) least -= 1;
  return edges[least]!;
}

/** Where rows do not stand apart, at most so many times the hostile rows are removed. */
export const removedMost = 2;

/** The noisy number of rows with this score or more; `threshold` is one of the edges. */
export function rowsFrom(
  edges: readonly number[], counts: Float64Array, threshold: number,
): number {
  return counts.reduce((sum, count, l) =>
    (edges[l]! >= threshold ? sum + Math.max(0, count) : sum), 0);
}
