import { ln, pow } from '../../../base/elementary.js';
import { complexPower } from './fft.js';
import { varianceOf, type Piece, type Repeated } from './pieces.js';

/** Beyond so many terms of the sum the composition on a grid is cheaper. */
const termsMax = 2 ** 12;
/** Terms left out or counted twice are below e^-36 or e^-24 of the largest one. */
const [leftOut, countedTwice] = [36, 24];

/**
 * An upper bound on delta at `epsilon` >= 0 of pieces that differ. Null if no piece is Gaussian, or
 * Gaussian noise is too small a part of the loss.
 *
 * Claim: never below the delta of the composed pair, and above it by less than 1 part in 10^6 where
 * delta is 1e-12 or more.
 *
 * Proof. Let X be the finite loss of the composed pair, M(z) = E[e^(z X)], and d(x) the delta at x
 * without what reveals everything, E[(1 - e^(x - X))+]. For z = t + iy with t > 0,
 *
 *   F(z) = M(z) e^(-z epsilon) / (z (z + 1))
 *
 * is the integral of e^(z v) d(epsilon + v) over all v, since that of e^(-z s) (1 - e^-s) over s >
 * 0 is 1 / (z (z + 1)). By Poisson's formula, the sum of F(t + i k h) h / (2 pi) over all whole k
 * is that of e^(t m V) d(epsilon + m V) over all whole m, V = 2 pi / h: d is continuous and at most
 * 1, falls faster than any e^-v, and F falls like the Gaussian factor of M. The term of m = 0 is
 * d(epsilon), and no other is negative.
 * So the sum is an upper bound for every t and h.
 * - |F(t + iy)| <= F(t) e^(-square y^2 / 2), because only the Gaussian factor is not compared with
 *   its value at t. So the terms with |k| > n add up to at most F(t) e^(-square Y^2 / 2) / (pi
 *   square Y), Y = n h.
 * - Rounding: a term is e to a sum of parts, times powers. `Term.size` adds up the parts and the
 *   exponents of the powers, and 2^-48 of it, times the sum of |F|, is more than their errors.
 * F(t) is least near the t that is taken, so that sum is not much larger than the result.
 */
export function deltaByInversion(pieces: readonly Repeated[], epsilon: number): number | null {
  const gaussian = pieces.find(({ piece }) => piece.kind === 'gaussian')?.piece;
  if (gaussian?.kind !== 'gaussian') return null;
  const { square, delta } = gaussian;
  const at = (t: number): number => termOf(pieces, epsilon, t, 0).logarithm;
  const t = lowest(at);
  const variance = pieces.reduce((sum, { piece, times }) => sum + times * varianceOf(piece), 0);
  // Terms with m < 0 are at most e^(-t |m| V), which is compared with the result; with m > 0 they
  // fall like the tilted loss.
  const deviation = Math.sqrt(variance + 2 / (t * t));
  const period = Math.max(8 * deviation, (countedTwice - Math.min(0, at(t))) / t);
  const step = (2 * Math.PI) / period;
  const terms = Math.ceil(Math.sqrt((2 * leftOut) / square) / step);
  if (!(terms <= termsMax)) return null;
  let [sum, absolute, largest] = [0, 0, 0];
  for (let k = 0; k <= terms; k++) {
    const { logarithm, cosine, size } = termOf(pieces, epsilon, t, k * step);
    const term = (k === 0 ? 1 : 2) * Math.exp(logarithm);
    sum += term * cosine;
    absolute += term;
    largest = Math.max(largest, size);
  }
  const edge = terms * step;
  const tail = Math.exp(at(t) - (square * edge * edge) / 2) / (Math.PI * square * edge);
  const finite = ((sum + absolute * largest * 2 ** -48) * step) / (2 * Math.PI) + tail;
  return Math.min(1, (delta + (1 - delta) * finite) * (1 + 2 ** -36));
}

/** About the t > 0 at which a convex function is least. */
function lowest(at: (t: number) => number): number {
  let [low, high] = [-20, 40];
  for (let round = 0; round < 24; round++) {
    const third = (high - low) / 3;
    if (at(pow(2, low + third)) < at(pow(2, high - third))) high -= third;
    else low += third;
  }
  return pow(2, (low + high) / 2);
}

/** F at one z: log |F|, the cosine of its angle, and the sizes of what it is computed from. */
interface Term {
  readonly logarithm: number;
  readonly cosine: number;
  readonly size: number;
}

function termOf(pieces: readonly Repeated[], epsilon: number, t: number, y: number): Term {
  const norm = (t * t + y * y) * ((t + 1) ** 2 + y * y);
  let [logarithm, angle, size] = [-t * epsilon - ln(norm) / 2, -y * epsilon, 16];
  // 1 / (z (z + 1)), of length 1.
  let [real, imaginary] = [(t * (t + 1) - y * y) / Math.sqrt(norm),
    (-y * (2 * t + 1)) / Math.sqrt(norm)];
  size += Math.abs(logarithm) + Math.abs(angle);
  for (const { piece, times } of pieces) {
    const factor = factorOf(piece, t, y);
    logarithm += times * factor.logarithm;
    angle += times * factor.angle;
    size += times * (8 + Math.abs(factor.logarithm) + Math.abs(factor.angle));
    const [a, b] = complexPower(factor.real, factor.imaginary, times);
    [real, imaginary] = [real * a - imaginary * b, real * b + imaginary * a];
  }
  const length = Math.sqrt(real * real + imaginary * imaginary);
  if (length === 0) return { logarithm: -Infinity, cosine: 0, size };
  return {
    logarithm: logarithm + ln(length),
    cosine: (real * Math.cos(angle) - imaginary * Math.sin(angle)) / length,
    size,
  };
}

/** M of one piece at z: (real + i imaginary) e^(logarithm + i angle). */
interface Factor {
  readonly logarithm: number;
  readonly angle: number;
  readonly real: number;
  readonly imaginary: number;
}

/**
 * With w = (z + 1/2) epsilon, the integrals over the densities of pieces.ts and loss.ts are
 * - gaussian: e^(z (square / 2 + shift) + z^2 square / 2),
 * - bounded: (sinh(w) / w) / (sinh(epsilon / 2) / (epsilon / 2)),
 * - laplace: e^(z shift - epsilon / 2) (cosh(w) + (epsilon / 2) sinh(w) / w).
 */
function factorOf(piece: Piece, t: number, y: number): Factor {
  if (piece.kind === 'gaussian') {
    const { square, shift } = piece;
    const middle = square / 2 + shift;
    return {
      logarithm: t * middle + ((t - y) * (t + y) * square) / 2,
      angle: y * middle + t * y * square, real: 1, imaginary: 0,
    };
  }
  const { epsilon } = piece;
  const [a, b] = [(t + 0.5) * epsilon, y * epsilon];
  // sinh(w) and cosh(w), divided by e^a.
  const [odd, even] = [-Math.expm1(-2 * a) / 2, (1 + Math.exp(-2 * a)) / 2];
  const [cosine, sine] = [Math.cos(b), Math.sin(b)];
  const norm = a * a + b * b;
  const real = (odd * cosine * a + even * sine * b) / norm;
  const imaginary = (even * sine * a - odd * cosine * b) / norm;
  if (piece.kind === 'bounded') {
    const scale = epsilon / -Math.expm1(-epsilon);
    return {
      logarithm: a - epsilon / 2, angle: 0, real: real * scale, imaginary: imaginary * scale,
    };
  }
  return {
    logarithm: a + t * piece.shift - epsilon / 2, angle: y * piece.shift,
    real: even * cosine + (epsilon / 2) * real, imaginary: odd * sine + (epsilon / 2) * imaginary,
  };
}
