import { assert } from '../../base/assert.js';
import { ratioOfDouble } from '../../privacy/accounting/amount.js';
import { squareRoot } from '../../random/samplers/discrete-gaussian.js';

/**
 * Numbers that are known to lie between two others, as integer multiples of 2^-448.
 *
 * Claim: if the arguments contain the true values, so does the result of every function here.
 * Why: each operation is monotone in each end, is computed exactly in BigInt, and its low end is
 * rounded down and its high end up. `expOf` and `logOf` say how their series are bounded.
 */
export interface Interval {
  /** In units of 2^-448. */
  readonly low: bigint;
  readonly high: bigint;
}

/** An exact rational; the denominator is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const bits = 448n;
const one = 1n << bits;

export const zero: Interval = { low: 0n, high: 0n };
export const unit: Interval = { low: one, high: one };

function divideDown(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return quotient * denominator > numerator ? quotient - 1n : quotient;
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return -divideDown(-numerator, denominator);
}

/** The rational numerator / denominator. @param denominator - above 0. */
export function fraction(numerator: bigint, denominator = 1n): Interval {
  assert(denominator > 0n, 'a denominator is positive');
  const scaled = numerator << bits;
  return { low: divideDown(scaled, denominator), high: divideUp(scaled, denominator) };
}

/** A finite double, exactly unless it is finer than 2^-448. */
export function ofDouble(value: number): Interval {
  const { numerator, denominator } = ratioOfDouble(Math.abs(value));
  return fraction(value < 0 ? -numerator : numerator, denominator);
}

export function add(left: Interval, right: Interval): Interval {
  return { low: left.low + right.low, high: left.high + right.high };
}

export function subtract(left: Interval, right: Interval): Interval {
  return { low: left.low - right.high, high: left.high - right.low };
}

export function multiply(left: Interval, right: Interval): Interval {
  if (left.low >= 0n && right.low >= 0n) {
    return { low: (left.low * right.low) >> bits, high: -(-(left.high * right.high) >> bits) };
  }
  const products = [
    left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high,
  ];
  const low = products.reduce((least, product) => (product < least ? product : least));
  const high = products.reduce((most, product) => (product > most ? product : most));
  return { low: low >> bits, high: -(-high >> bits) };
}

/** @param right - does not contain 0. */
export function divide(left: Interval, right: Interval): Interval {
  assert(right.low > 0n || right.high < 0n, 'a divisor is not 0');
  if (right.high < 0n) return divide(negative(left), negative(right));
  const [low, high] = [left.low << bits, left.high << bits];
  return {
    low: divideDown(low, low < 0n ? right.low : right.high),
    high: divideUp(high, high < 0n ? right.high : right.low),
  };
}

export function negative({ low, high }: Interval): Interval {
  return { low: -high, high: -low };
}

/** The square root of a number that is not negative. */
export function rootOf({ low, high }: Interval): Interval {
  return { low: squareRoot(low << bits), high: squareRoot(high << bits) + 1n };
}

/** max(x, 0). */
export function positivePart({ low, high }: Interval): Interval {
  return { low: low > 0n ? low : 0n, high: high > 0n ? high : 0n };
}

/** True if every value of `left` is at most every value of `right`. */
export function surelyAtMost(left: Interval, right: Interval): boolean {
  return left.high <= right.low;
}

/** True if every value of `left` is above every value of `right`. */
export function surelyAbove(left: Interval, right: Interval): boolean {
  return left.low > right.high;
}

/** True if the two have a value in common. */
export function overlap(left: Interval, right: Interval): boolean {
  return left.low <= right.high && right.low <= left.high;
}

/** high - low, as a double that is not below it. */
export function widthOf({ low, high }: Interval): number {
  return numberAbove(high - low);
}

function numberAbove(value: bigint): number {
  const kept = value >> (bits - 120n);
  return (Number(kept) + 1) * 2 ** -120 * (1 + 2 ** -50);
}

/** The middle as a double: for tables, never for a decision. */
export function toNumber({ low, high }: Interval): number {
  const middle = (low + high) / 2n;
  const size = middle < 0n ? -middle : middle;
  const drop = BigInt(Math.max(0, size.toString(2).length - 64));
  return Number(middle >> drop) * 2 ** Number(drop - bits);
}

const logOfTwo = scaledLogOfTwo();

/** ln 2 = 2 atanh(1/3). */
function scaledLogOfTwo(): Interval {
  const half = atanhSeries(fraction(1n, 3n));
  return add(half, half);
}

/**
 * atanh z = z + z^3/3 + z^5/5 + ... for 0 <= z <= 1/3. What is left out after the term of z^n is
 * below z^(n+2) / (1 - z^2), so below two times the last power.
 */
function atanhSeries(z: Interval): Interval {
  assert(z.low >= 0n && z.high <= one / 3n + 1n, 'the series is used near 0');
  const square = multiply(z, z);
  let power = z;
  let sum = z;
  for (let n = 3n; power.high > 1n; n += 2n) {
    power = multiply(power, square);
    sum = { low: sum.low + divideDown(power.low, n), high: sum.high + divideUp(power.high, n) };
  }
  return { low: sum.low, high: sum.high + 2n * power.high };
}

/** The exponential function. Its argument is below 2^20 in size. */
export function expOf({ low, high }: Interval): Interval {
  return { low: expAt(low).low, high: low === high ? expAt(low).high : expAt(high).high };
}

/**
 * exp(x) = 2^k exp(r), where k is near x / ln 2 and 0 <= r < 1: any k with such an r is right. The
 * series of exp(r) is cut after the term t_n = r^n / n!. What is left out is below 2 t_(n+1), since
 * r < 1.
 */
function expAt(x: bigint): Interval {
  // So k ln 2 <= x, for either sign of x, and r is not negative.
  const k = divideDown(x, x < 0n ? logOfTwo.low : logOfTwo.high);
  const multiple = { low: k * logOfTwo.low, high: k * logOfTwo.high };
  const rest = subtract({ low: x, high: x }, k < 0n ? swapped(multiple) : multiple);
  const r = { low: rest.low < 0n ? 0n : rest.low, high: rest.high };
  assert(r.high < one, 'the rest of an exponent is below 1');
  let term = unit;
  let sum = unit;
  for (let n = 1n; term.high > 1n; n += 1n) {
    const product = multiply(term, r);
    term = { low: divideDown(product.low, n), high: divideUp(product.high, n) };
    sum = add(sum, term);
  }
  sum = { low: sum.low, high: sum.high + 2n * term.high };
  return k >= 0n
    ? { low: sum.low << k, high: sum.high << k }
    : { low: sum.low >> -k, high: -(-sum.high >> -k) };
}

function swapped({ low, high }: Interval): Interval {
  return { low: high, high: low };
}

/** The natural logarithm. @param x - above 0. */
export function logOf(x: Interval): Interval {
  assert(x.low > 0n, 'a logarithm is of a positive number');
  return { low: logAt(x.low).low, high: x.low === x.high ? logAt(x.low).high : logAt(x.high).high };
}

/** log x = k ln 2 + 2 atanh((m - 1) / (m + 1)), where x = 2^k m and 1 <= m < 2. */
function logAt(x: bigint): Interval {
  const k = BigInt(x.toString(2).length - 1) - bits;
  const m = k >= 0n ? { low: x >> k, high: -(-x >> k) } : { low: x << -k, high: x << -k };
  const half = atanhSeries(divide(subtract(m, unit), add(m, unit)));
  const multiple = { low: k * logOfTwo.low, high: k * logOfTwo.high };
  return add(k < 0n ? swapped(multiple) : multiple, add(half, half));
}
