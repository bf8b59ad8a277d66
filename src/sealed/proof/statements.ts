import type { AndFactors } from '../../numerics/kernels/and-groups.js';

/**
 * Statements about messages, as sums of products: u_1 w_1 + .. + u_n w_n = l + r.
 *
 * Server P sent a message. The server before it (left) and P hold component P and its stream; P and
 * the server after it (right) hold component P + 1 and its stream. Each message of a run is a sum
 * of products of a value that left holds and one that right holds, plus a value of either. So left
 * and P know u and l, and right and P know w and r: a statement is made of what a verifier holds
 * itself, whatever P thinks.
 *
 * `and`: z = x_P y_P + x_P y' + x' y_P + F_P + F' in bits. With v = z + F_P + x_P y_P, that is
 * v + x_P y' + x' y_P + F' = 0. A bit b is 1 - 2 b in the field, and 1 - 2 b c for a product: then
 * (1 - 2 v) (1 - 2 F') (1 - 2 x_P y') (1 - 2 y_P x') is 1 when it holds, and -1 when it does not.
 * As a sum of four products, its claim is 1. The left side's bits are x_P, y_P and v; those of the
 * right one are x', y' and F'.
 */
export const andFactors: AndFactors = {
  left: (x, y, v) => [1, -2 * x, -2 * y, 4 * x * y].map((factor) => BigInt(factor * (1 - 2 * v))),
  right: (x, y, mask) => [1, y, x, x * y].map((factor) => BigInt(factor * (1 - 2 * mask))),
};
