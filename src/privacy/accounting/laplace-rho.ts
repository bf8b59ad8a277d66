import { expOfMinus } from '../../random/samplers/choice.js';
import type { Ratio } from './amount.js';

/**
 * The zCDP of discrete Laplace noise: the exact value, too large by about 2^-190 at most.
 *
 * Let l = grid / scale and e = epsilon. Claim: noise of mass proportional to exp(-l |z|) on the
 * whole numbers, moved by s steps with s l <= e, is rho-zCDP for
 *
 *   rho = e - (1 - exp(-e)) l / sinh(l),
 *
 * and no smaller rho will do where s l = e. On the grid 1 with a shift of 1 this is e tanh(e / 2);
 * on fine grids it is e - 1 + exp(-e) (Harrison and Manurangsi 2026). Several numbers that move by
 * s steps together are covered by one that moves by s (loss-distribution/pieces: a divergence is a
 * sum of hockey-stick divergences with positive weights).
 *
 * Proof. Let q = exp(-l), u = 2a - 1 for the order a > 1, and D_a the divergence. Adding up the
 * masses q^(a |z| + (1 - a) |z - s|) to the left of 0, between 0 and s, and to the right of s gives
 * exp((a - 1) D_a) = q^(s/2) G(u) / (1 + q), where
 *   G(u) = 2 cosh(u l s / 2) + (1 - q) (the sum of cosh(u l (z - s / 2)) over 0 < z < s).
 * With w = exp(u l), G is w^(-s/2) p(w), where (w - 1) p(w) = w^s (w - q) - (1 - q w). A zero of p
 * has |w|^s |w - q| = |1 - q w|. But |w - q| is below |1 - q w| within the unit circle, and above
 * it outside. So |w| = 1: u is imaginary at every zero, and u^2 is real and not positive. G is an
 * even entire function of order 1, so by Hadamard it is G(0) times the product of 1 + u^2 / t over
 * numbers t > 0. Therefore F(v) = log G(sqrt v) is concave, and
 *   (a - 1) D_a = F(u^2) - F(1) <= F'(1) (u^2 - 1) = 4 F'(1) a (a - 1),
 * since D_a is defined at a = 1 with both sides 0. So D_a / a <= 4 F'(1), which is its limit
 * towards a = 1: the mean loss l E(|z - s| - |z|) = l (s - 2 q (1 - q^s) / (1 - q^2)), the formula
 * above. It grows with s, so s l <= e is enough.
 *
 * Rounding: exp(-e) is replaced by something above it, and l / sinh(l) = 2 l q / (1 - q^2) by
 * something below. `bits` grows with 1 / l, so that 1 - q^2 keeps 192 of them.
 * Cost: two exponentials of some hundred bits.
 * @param epsilon - the shift in scales.
 * @param steps - grid / scale.
 */
export function rhoOfLaplace(epsilon: Ratio, steps: Ratio): Ratio {
  const bits = 192 + Math.max(0, lengthOf(steps.denominator) - lengthOf(steps.numerator));
  const one = 1n << BigInt(bits);
  const { low: least } = expOfMinus(steps, bits);
  const square = expOfMinus({ ...steps, numerator: 2n * steps.numerator }, bits);
  const factor =
    (2n * steps.numerator * least * one) / (steps.denominator * (one - square.low));
  const moved = one - expOfMinus(epsilon, bits).high;
  const saved = (moved * factor) / one;
  const whole = (epsilon.numerator * one) / epsilon.denominator + 1n;
  return { numerator: whole - (saved > 0n ? saved : 0n), denominator: one };
}

function lengthOf(value: bigint): number {
  return value.toString(2).length;
}
