import { ln } from '../../base/elementary.js';
import type { AffineMaskEvent, WishartMaskEvent } from './events.js';

/**
 * The cost of masks of positive definite matrices, as a Renyi divergence at one order a > 1. The
 * matrices S, S' of neighbours satisfy e^-l S <= S' <= e^l S, so the eigenvalues u of S^-1 S' lie
 * between e^-l and e^l. The divergence is finite only if a + (1 - a) u is positive, so there is no
 * zCDP bound for all orders.
 *
 * wishart-mask publishes (1/m) sum of g g^T over m draws g from N(0, S). Multiplied by S^-1/2, the
 * draws of neighbours are N(0, I) and N(0, diag u). So the divergence is m times a sum over
 * directions: the divergence between N(0, u) and N(0, 1), in either order.
 *
 * affine-mask publishes X X^T with X = S^1/2 (I + h G) and independent normal entries in G. The law
 * of X X^T is the same for every root of S. So for S' we may take the root that makes S^-1/2 S'^1/2
 * symmetric, with eigenvalues s = sqrt u. In its axes, row i of X has d entries with standard
 * deviation h for one neighbour and h s for the other. One of these entries has mean 1 for one
 * neighbour and s for the other.
 *
 * Every term grows with the distance of u, or s, from 1 on either side, because the derivatives
 * have the sign of u - 1. So the ends of the interval are the worst case.
 *
 * Sources: Ashtiani and Liaw 2022, lemma 5.1, for the second mask. Its constants are 16 to 38 times
 * larger, so Renyi divergences of Gaussians (van Erven and Harremoes 2014) replace them.
 */
const upwards = 1 + 2 ** -40;

/** Renyi divergence of order a of N(0, u) from N(0, 1); Infinity if it is not finite. */
export function varianceDivergence(order: number, ratio: number): number {
  const bracket = order + (1 - order) * ratio;
  if (!(bracket > 0)) return Infinity;
  return Math.max(0, -ln(ratio) / 2 - ln(bracket) / (2 * (order - 1)));
}

/**
 * Divergence of one draw of a wishart-mask over all directions, not rounded. `samples` of these add
 * up.
 */
export function drawDivergence(dimension: number, order: number, logDistance: number): number {
  const ends = [Math.exp(logDistance), Math.exp(-logDistance)];
  return dimension * Math.max(...ends.map((ratio) => varianceDivergence(order, ratio)));
}

/** Divergence of an affine-mask, not rounded. */
export function affineDivergence(
  dimension: number, order: number, logDistance: number, spread: number,
): number {
  let worst = 0;
  for (const root of [Math.exp(logDistance / 2), Math.exp(-logDistance / 2)]) {
    const square = root * root;
    for (const [ratio, bracket] of [
      [1 / square, order * square + 1 - order], [square, order + (1 - order) * square],
    ] as const) {
      const mean = bracket > 0 ? (order * (1 - root) ** 2) / (2 * spread ** 2 * bracket) : Infinity;
      worst = Math.max(worst, dimension * varianceDivergence(order, ratio) + mean);
    }
  }
  return dimension * worst;
}

/**
 * The cost of a mask at its order, rounded up by more than the rounding errors of its logarithms.
 * The logarithms cancel to second order, so their errors are relative to the terms and not to the
 * difference.
 */
export function maskDivergence(event: WishartMaskEvent | AffineMaskEvent): number {
  const { dimension, order, logDistance } = event;
  const draws = event.kind === 'wishart-mask' ? event.samples : dimension;
  const value = event.kind === 'wishart-mask'
    ? event.samples * drawDivergence(dimension, order, logDistance)
    : affineDivergence(dimension, order, logDistance, event.spread);
  const terms = draws * dimension * (logDistance + 2 ** -20) * 2 ** -44 * (1 + 1 / (order - 1));
  return value * upwards + terms;
}
