import type { AffineMaskEvent, WishartMaskEvent } from './events.js';

/**
 * Masking mechanisms for positive definite matrices: what they tell apart, as a Renyi divergence at one order a > 1.
 * Neighbours' matrices S, S' satisfy e^-l S <= S' <= e^l S, so that the eigenvalues u of S^-1 S' lie between e^-l and e^l.
 * The divergence is finite only while a + (1 - a) u stays positive: there is no zCDP bound for all orders.
 *
 * wishart-mask publishes (1/m) sum of g g^T over m draws g from N(0, S). After S^-1/2, neighbours' draws are N(0, I) and
 * N(0, diag u), so the divergence is m times the sum over directions of that of N(0, u) from N(0, 1), either way.
 *
 * affine-mask publishes X X^T, X = S^1/2 (I + h G), G of independent normals. The law of X X^T is the same for every root
 * of S, so of S' the root can be taken for which S^-1/2 S'^1/2 is symmetric, with eigenvalues s = sqrt u. In its axes row
 * i of X has d entries of deviation h against h s, and means 1 against s in one of them.
 *
 * Every term grows with the distance of u, or s, from 1 on either side (the derivatives have the sign of u - 1), so
 * that the ends of the interval are the worst.
 *
 * Sources: Ashtiani and Liaw (2022), lemma 5.1, for the second; Renyi divergences of Gaussians (van Erven and
 * Harremoes 2014) in place of its constants, which are 16 to 38 times larger.
 */
const upwards = 1 + 2 ** -40;

/** Divergence of order a of N(0, u) from N(0, 1); Infinity where it is not finite. */
export function varianceDivergence(order: number, ratio: number): number {
  const bracket = order + (1 - order) * ratio;
  if (!(bracket > 0)) return Infinity;
  return Math.max(0, -Math.log(ratio) / 2 - Math.log(bracket) / (2 * (order - 1)));
}

/** Divergence of one draw of a wishart-mask in all directions, unrounded: `samples` of them add up. */
export function drawDivergence(dimension: number, order: number, logDistance: number): number {
  const ends = [Math.exp(logDistance), Math.exp(-logDistance)];
  return dimension * Math.max(...ends.map((ratio) => varianceDivergence(order, ratio)));
}

/** Divergence of an affine-mask, unrounded. */
export function affineDivergence(dimension: number, order: number, logDistance: number, spread: number): number {
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
 * What a mask costs at its order, rounded up by more than the rounding of its logarithms: these cancel to second order,
 * so their errors count against the terms, not against the difference.
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
