import { log2 } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import type {
  GaussianEvent, LaplaceEvent, SymmetricGaussianEvent,
} from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { Compute } from '../../contract/estimator.js';
import {
  countScores, momentsOf, scoresOf, type ClippedRows, type Moments,
} from '../../pooled/clipped-rows.js';
import type { Survivors } from '../filters/survivors.js';
import { insideBox, type Box } from './box.js';

/**
 * The questions of an analyst about the rows that its removals leave: the printed queries, each
 * with a charge of its own.
 *
 * Claims. Neighbours: sets of surviving rows that differ in one row each at most (survivors). Rows
 * lie in a cube of diagonal D around 0, and centres are taken back into it. Let an average be a sum
 * over the rows left, divided by k = max(their number, h) with h whole and public. This is the
 * plain average of k items, of which those that no row fills are 0. If any two rows' items, and a
 * row's item and 0, are at most u apart, then an average changes by at most u / h: with as many
 * items on both sides one item changes, by at most u, out of k >= h; and with an item more, the
 * average moves by |item - average of the others| / (k + 1), which is at most u / (h + 1).
 * - size: 1, Laplace.
 * - mean: items z, u = D. Gaussian: the printed Laplace noise covers one coordinate, and all d may
 *   change.
 * - square: items (z - m)(z - m)^T, u = D^2 in Frobenius norm. Write a, b for two rows seen from m;
 *   m, 0 and the rows are in a cube, so that |a_i - b_i| <= B in each of d coordinates and |a_i|,
 *   |b_i| <= B, with D^2 = d B^2. If a_i and b_i have the same sign the smaller square is at most
 *   a_i b_i, otherwise a_i^2 + b_i^2 = (a_i - b_i)^2 + 2 a_i b_i; either way a_i^2 + b_i^2 <= B^2 +
 *   a_i b_i. Summed: p + q <= D^2 + c with p = |a|^2, q = |b|^2, c = a.b. The squared distance is
 *   p^2 + q^2 - 2 c^2. When c <= 0 it is at most (p + q)^2 <= D^4, as -D^2 <= c. When c > 0, p and
 *   q are at most D^2 and their sum at most D^2 + c, so by convexity p^2 + q^2 <= D^4 + c^2.
 *   Against 0: |a|^2 <= D^2. Let w be 1, or 0 where nothing is known of honest rows but a bound on
 *   their variance.
 * - norm: the largest absolute eigenvalue of (square - w), which moves by no more than square does:
 *   D^2 / h, Laplace.
 * - along: <square - w, U> for U positive semidefinite of trace 1, by the same token. The trace of
 *   a computed U may be off by rounding, which the planned sensitivity has room for.
 * - total: items score - w with scores in [0, D^2], u = D^2 as D >= 1. Laplace.
 * - scores: one row moves from one bin of counts to another: sqrt 2 in L2.
 * Averages are computed in doubles from exact sums, to far less than half a step of their events'
 * grids.
 *
 * Source: Liu, Kong, Kakade and Oh (2021), the queries of Algorithms 6, 10 and 15 and of Algorithms
 * 11 and 16, with the centre taken back into the cube, and averages that need no lower bound on the
 * number of rows left.
 */
export interface Queries {
  size(event: LaplaceEvent): Promise<Released<number>>;
  /** In steps, inside the box. */
  mean(event: GaussianEvent): Promise<Released<Float64Array>>;
  norm(event: LaplaceEvent, centre: Float64Array): Promise<Released<number>>;
  /** Average of (z - centre)(z - centre)^T in spreads, d x d. */
  square(event: SymmetricGaussianEvent, centre: Float64Array): Promise<Released<Float64Array>>;
  along(
    event: LaplaceEvent, centre: Float64Array, weights: Float64Array,
  ): Promise<Released<number>>;
  total(
    event: LaplaceEvent, centre: Float64Array, weights: Float64Array,
  ): Promise<Released<number>>;
  /** Rows by score, in spreads squared. */
  scores(
    event: GaussianEvent, centre: Float64Array, weights: Float64Array, edges: readonly number[],
  ): Promise<Released<Float64Array>>;
}

export interface QueriesOptions {
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
  readonly survivors: Survivors;
  readonly box: Box;
  /** h: what averages divide by at least. */
  readonly leastCount: number;
  /** w. */
  readonly ownWidth: 0 | 1;
}

export function queriesOn(
  { mechanisms, compute, survivors, box, leastCount, ownWidth }: QueriesOptions,
): Queries {
  const { grid } = box;
  const unit = grid ** 2;
  const moments = async (): Promise<Sensitive<Moments>> =>
    (await survivors.rows()).mapAsync((rows) => momentsOf(compute, rows));
  const scored = async (
    centre: Float64Array, weights: Float64Array,
  ): Promise<Sensitive<{ readonly rows: ClippedRows; readonly scores: Float64Array }>> =>
    (await survivors.rows()).mapAsync(async (rows) => {
      const scores = await scoresOf(compute, rows, { mean: centre, weights });
      return { rows, scores: scores.map((score) => score * unit) };
    });
  const one = (value: Released<Float64Array>): Released<number> => value.map(([only = 0]) => only);
  const squares = async (centre: Float64Array): Promise<Sensitive<Float64Array>> =>
    (await moments()).map((all) => squareAbout(all, centre, unit, leastCount));
  return {
    size: async ({ name }) =>
      one(mechanisms.laplace(name, (await moments()).map((all) => Float64Array.of(all.count)))),
    mean: async ({ name }) => mechanisms.gaussian(name, (await moments()).map(({ sums, count }) =>
      sums.map((sum) => (sum / Math.max(count, leastCount)) * grid))).map((mean) =>
      insideBox(mean.map((entry) => entry / grid), box)),
    norm: async ({ name }, centre) =>
      one(mechanisms.laplace(name, (await squares(centre)).map((square) =>
        Float64Array.of(largestOf(excessOf(square, centre.length, ownWidth), centre.length))))),
    square: async ({ name }, centre) => mechanisms.symmetricGaussian(name, await squares(centre)),
    along: async ({ name }, centre, weights) =>
      one(mechanisms.laplace(name, (await squares(centre)).map((square) =>
        Float64Array.of(innerProduct(excessOf(square, centre.length, ownWidth), weights))))),
    total: async ({ name }, centre, weights) =>
      one(mechanisms.laplace(name, (await scored(centre, weights))
        .map(({ rows, scores }) =>
          Float64Array.of(averageExcess(rows, scores, { box, leastCount, ownWidth }))))),
    scores: async ({ name }, centre, weights, edges) =>
      mechanisms.gaussian(name, (await scored(centre, weights))
        .map(({ rows, scores }) => countScores(rows, scores, edges))),
  };
}

/**
 * sum (z - m)(z - m)^T = P - m s^T - s m^T + count m m^T, over the rows left, as an average in
 * spreads.
 */
function squareAbout(
  { count, sums, products }: Moments, centre: Float64Array, unit: number, least: number,
): Float64Array {
  const dimension = sums.length;
  const divisor = Math.max(count, least);
  return products.map((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    const [m, w] = [centre[i]!, centre[j]!];
    return ((entry - (m * sums[j]! + sums[i]! * w) + count * (m * w)) / divisor) * unit;
  });
}

/** Minus `ownWidth` times the identity. */
export function excessOf(matrix: Float64Array, dimension: number, ownWidth: 0 | 1): Float64Array {
  return matrix.map((entry, at) =>
    entry - (Math.floor(at / dimension) === at % dimension ? ownWidth : 0));
}

function largestOf(matrix: Float64Array, dimension: number): number {
  const { values } = ownKernels().eigenSymmetric(matrix, dimension);
  return Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!));
}

function innerProduct(left: Float64Array, right: Float64Array): number {
  return left.reduce((sum, entry, i) => sum + entry * right[i]!, 0);
}

/**
 * Scores are rounded down to a grid on which their sum is exact: at most 8 h rows of at most D^2,
 * in less than 2^53 steps. Sums of many doubles would otherwise be off by more than an event's
 * grid.
 */
function averageExcess(
  { count, alive }: ClippedRows, scores: Float64Array,
  {
    box: { diagonal }, leastCount: least, ownWidth,
  }: Pick<QueriesOptions, 'box' | 'leastCount' | 'ownWidth'>,
): number {
  const step = 2 ** (Math.ceil(2 * log2(diagonal)) + Math.ceil(log2(8 * least)) - 51);
  let [steps, left] = [0, 0];
  for (let i = 0; i < count; i++) {
    if (alive[i] === 0) continue;
    steps += Math.max(0, Math.floor(scores[i]! / step));
    left += 1;
  }
  return (steps * step - ownWidth * left) / Math.max(left, least);
}
