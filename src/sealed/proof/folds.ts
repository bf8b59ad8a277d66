import { elementOf, onceForNodes, weightsAt, type Elements, type Field } from './field.js';

/** Entries of a vector that one polynomial goes through, fold after fold. */
const fans = [4, 4, 16];
const fanMost = 32;

/**
 * The fan-ins of a proof over vectors of so many entries. The last fold has all that is left, and
 * one point more: a random one of each side, outside the sum.
 */
export function fanInsOf(length: number): readonly number[] {
  const found: number[] = [];
  let left = Math.max(1, length);
  while (left > fanMost) {
    const fan = fans[found.length] ?? fanMost;
    found.push(fan);
    left = Math.ceil(left / fan);
  }
  return [...found, left + 1];
}

/** The degrees that a false claim can have roots of, added up over all folds. */
export function degreesOf(fanIns: readonly number[]): number {
  return fanIns.reduce((sum, fan) => sum + 2 * fan - 2, 0);
}

/** A vector at a coin: the value there of the polynomial through its parts, column by column. */
export function folded(field: Field, vector: Elements, nodes: number, coin: bigint): Elements {
  return field.foldedVector(vector, weightsAt(field, nodes, coin));
}

/** Weights of points nodes .. 2 nodes - 2, row by row: the same in every proof of a field. */
const weightsBeyond = onceForNodes((field, nodes): Elements => {
  const weights = new BigUint64Array(nodes * (nodes - 1));
  for (let i = 0; i < nodes - 1; i++) {
    weights.set(weightsAt(field, nodes, BigInt(nodes + i)), nodes * i);
  }
  return weights;
});

/** G(1) .. G(2 nodes - 2) of G = sum of products of the columns' polynomials. */
export function pointsOfFold(
  field: Field, left: Elements, right: Elements, nodes: number,
): readonly bigint[] {
  return field.pointsOf(left, right, nodes, weightsBeyond(field, nodes));
}

/**
 * A verifier's share of G at a coin.
 * @param claim - its share of what is claimed: that of the sum of G(0) .. G(summed - 1).
 * @param shares - its shares of G(1), G(2), ...
 */
export function claimAt(
  field: Field, claim: bigint, shares: readonly bigint[], summed: number, coin: bigint,
): bigint {
  const first = shares.slice(0, summed - 1).reduce((rest, share) => rest - share, claim);
  return valueAt(field, [first, ...shares], coin);
}

/** The value at a point of the polynomial with these values at 0, 1, .. */
export function valueAt(field: Field, values: readonly bigint[], point: bigint): bigint {
  const weights = weightsAt(field, values.length, point);
  return elementOf(field, values.reduce((sum, value, i) => sum + value * weights[i]!, 0n));
}
