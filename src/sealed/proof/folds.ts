import { elementOf, innerProduct, weightsAt, type Field } from './field.js';

/** Entries of a vector that one polynomial goes through, fold after fold. */
const fans = [4, 4, 8, 16];
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

/** Parts of a vector, one for each node: zeros fill the last one up. */
function atNodes(
  field: Field, vector: readonly bigint[], nodes: number, weights: readonly bigint[],
): readonly bigint[] {
  const columns = Math.ceil(vector.length / nodes);
  return Array.from({ length: columns }, (_, column) => elementOf(
    field, weights.reduce((sum, weight, node) =>
      sum + weight * (vector[node * columns + column] ?? 0n), 0n),
  ));
}

/** A vector at a coin: the value there of the polynomial through its parts, column by column. */
export function folded(
  field: Field, vector: readonly bigint[], nodes: number, coin: bigint,
): readonly bigint[] {
  return atNodes(field, vector, nodes, weightsAt(field, nodes, coin));
}

/** G(0) .. G(2 nodes - 2) of G = sum of products of the columns' polynomials. */
export function pointsOf(
  field: Field, left: readonly bigint[], right: readonly bigint[], nodes: number,
): readonly bigint[] {
  return Array.from({ length: 2 * nodes - 1 }, (_, point) => {
    const weights = weightsAt(field, nodes, BigInt(point));
    return innerProduct(
      field, atNodes(field, left, nodes, weights), atNodes(field, right, nodes, weights),
    );
  });
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
  return innerProduct(field, weightsAt(field, shares.length + 1, coin), [first, ...shares]);
}
