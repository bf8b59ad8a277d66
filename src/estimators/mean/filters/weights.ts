import { ownKernels } from '../../../numerics/kernels/index.js';

/**
 * What is worked out from released numbers alone: the spread that a look saw, the directions to look along, and the
 * threshold above which rows go. Post-processing, so free.
 */

/** A released look at the rows that are left, in scales. */
export interface Look {
  readonly count: number;
  /** Inside the ball. */
  readonly mean: Float64Array;
  /** Second moments about the mean, minus the identity. */
  readonly excess: Float64Array;
  /** Largest eigenvalue of `excess`. */
  readonly spread: number;
}

/**
 * Makes a look of released sums. The mean is taken back into the ball: its noise may have carried it out, and the
 * bounds of the scores hold inside only.
 * @param countMin - a public bound from below on what the sums are divided by.
 */
export function lookOf(
  count: number, sums: Float64Array, products: Float64Array, radius: number, countMin: number,
): Look {
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
  return { count, mean, excess, spread: values.at(-1)! };
}

/**
 * How much a direction that is as wide as the widest outweighs one that is not: high, so that rows which are only
 * ordinarily far out in many harmless directions do not hide those that are far out in one.
 */
const sharpness = 6;

/**
 * Matrix multiplicative weights over the looks of one round: a density matrix that leans towards all directions in
 * which the rows were too wide, each by how much and how often.
 */
export function directionsOf(looks: readonly Look[]): Float64Array {
  const first = looks[0]!;
  const rate = sharpness / Math.max(first.spread, 0.1);
  const sum = new Float64Array(first.excess.length);
  for (const { excess } of looks) for (let i = 0; i < sum.length; i++) sum[i]! += rate * excess[i]!;
  return ownKernels().exponentialSymmetric(sum, first.mean.length, 'unitTrace');
}

/** All weight on the direction in which the rows are widest. */
export function topDirectionOf({ excess, mean }: Look): Float64Array {
  const dimension = mean.length;
  const { vectors } = ownKernels().eigenSymmetric(excess, dimension);
  // Ascending: the last row.
  const top = vectors.subarray((dimension - 1) * dimension);
  return excess.map((_, at) => top[Math.floor(at / dimension)]! * top[at % dimension]!);
}

/** <excess, weights>: how much too wide the rows are along the directions. */
export function excessAlong({ excess }: Look, weights: Float64Array): number {
  return excess.reduce((sum, entry, i) => sum + entry * weights[i]!, 0);
}

/** Bins of scores to a factor of two: coarse ones overrate what rows account for, or remove honest rows. */
const binsPerDoubling = 4;
/** Honest rows seldom score more: nobody below it goes. */
const leastScore = 4;

/** Edges of the bins of scores, from what nobody goes below up to what a score can be. */
export function scoreEdges(radius: number): readonly number[] {
  const doublings = Math.max(1, Math.log2((4 * radius * radius) / leastScore));
  const bins = Math.ceil(binsPerDoubling * doublings);
  return Array.from({ length: bins }, (_, j) => leastScore * 2 ** (j / binsPerDoubling));
}

/** Share of the excess that the rows above the threshold must account for. */
const excessShare = 0.97;

/**
 * The largest edge above which the rows account for most of the excess along the directions: without them the rows are
 * about as wide as honest ones. An honest row scores 1 on average, which its excess leaves out. When a share p of the
 * rows stands at a distance D, the mean is p D towards them, so they score ((1 - p) D)^2 of an excess of
 * p (1 - p) D^2: they account for all but a share p of it; the rest is honest rows seen from a moved mean. The lowest
 * edge when
 * no edge does; null when hardly any row is above it, so that nobody goes because of noise.
 * @param noise - standard deviation of a bin's count.
 */
export function thresholdOf(
  edges: readonly number[], counts: Float64Array, along: number, count: number, noise: number,
): number | null {
  let [excess, rows] = [0, 0];
  for (let l = edges.length - 1; l >= 0; l--) {
    const middle = edges[l]! * 2 ** (0.5 / binsPerDoubling);
    excess += (middle - 1) * counts[l]!;
    rows += counts[l]!;
    if (excess >= excessShare * along * (count - rows)) return edges[l]!;
  }
  return rows > 3 * noise * Math.sqrt(edges.length) ? edges[0]! : null;
}
