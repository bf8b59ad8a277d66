/**
 * Statements about messages, as sums of products: u_1 w_1 + .. + u_n w_n = l + r.
 *
 * Server P sent a message. The server before it (left) and P hold component P and its stream; P and
 * the server after it (right) hold component P + 1 and its stream. Each message of a run is a sum
 * of products of a value that left holds and one that right holds, plus a value of either. So left
 * and P know u and l, and right and P know w and r: a statement is made of what a verifier holds
 * itself, whatever P thinks.
 *
 * Claim. The statement of a message holds if and only if P sent what the step says, modulo p.
 * Why. Each function below has its line. test/sealed/proof goes through all bits.
 */
export interface LeftSide {
  readonly u: readonly bigint[];
  readonly l: bigint;
}

/** The part of a statement that right and the prover know. */
export interface RightSide {
  readonly w: readonly bigint[];
  readonly r: bigint;
}

/**
 * `and`: z = x_P y_P + x_P y' + x' y_P + F_P + F' in bits. With v = z + F_P + x_P y_P, that is
 * v + x_P y' + x' y_P + F' = 0. A bit b is 1 - 2 b in the field, and 1 - 2 b c for a product: then
 * (1 - 2 v) (1 - 2 F') (1 - 2 x_P y') (1 - 2 y_P x') is 1 when it holds, and -1 when it does not.
 */
export function leftOfAnd(
  { x, y, mask, sent }: Record<'x' | 'y' | 'mask' | 'sent', number>,
): LeftSide {
  const s = 1 - 2 * (sent ^ mask ^ (x & y));
  return { u: [s, -2 * x * s, -2 * y * s, 4 * x * y * s].map(BigInt), l: 1n };
}

/** @param mask - F', of the stream of component P + 1. */
export function rightOfAnd({ x, y, mask }: Record<'x' | 'y' | 'mask', number>): RightSide {
  const s = 1 - 2 * mask;
  return { w: [s, y * s, x * s, x * y * s].map(BigInt), r: 0n };
}

/** `product` and `dot`: sum(x_P y' + y_P x') = (z - F_P - sum x_P y_P) + F'. */
export function leftOfDot(
  x: readonly bigint[], y: readonly bigint[], mask: bigint, sent: bigint,
): LeftSide {
  const own = x.reduce((sum, value, i) => sum + value * y[i]!, 0n);
  return { u: [...x, ...y], l: sent - mask - own };
}

/** @param x, y - component P + 1 of the factors. */
export function rightOfDot(
  x: readonly bigint[], y: readonly bigint[], mask: bigint,
): RightSide {
  return { w: [...y, ...x], r: mask };
}

/**
 * The three messages of `number`. Of server 0: b_0 b_1 = F_0 + m. Of server 2: b_2 t_0 = -F_2 + m.
 * Of server 1: t_1 b_2 = m - F_2'.
 */
export const numberStatements = {
  leftOf0: (bit0: bigint, mask: bigint): LeftSide => ({ u: [bit0], l: mask }),
  rightOf0: (bit1: bigint, sent: bigint): RightSide => ({ w: [bit1], r: sent }),
  leftOf2: (bit2: bigint, mask: bigint): LeftSide => ({ u: [bit2], l: -mask }),
  rightOf2: (t0: bigint, sent: bigint): RightSide => ({ w: [t0], r: sent }),
  leftOf1: (t1: bigint, sent: bigint): LeftSide => ({ u: [t1], l: sent }),
  rightOf1: (bit2: bigint, mask: bigint): RightSide => ({ w: [bit2], r: -mask }),
};
