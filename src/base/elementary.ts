/**
 * Logarithms and powers with the same bits in every engine.
 *
 * The standard lets an engine choose the last bits of Math.log, Math.log2 and Math.pow, and newer
 * versions of V8 have changed them. A release must have the same bytes wherever it is made from the
 * same noise, so these use the arithmetic that the standard does fix: + - * / and a double's bits.
 * The method is that of fdlibm, by Sun Microsystems (NOTICE has its terms). The error is below one
 * unit in the last place, and the bits are those of Math.log, Math.log2 and ** in Node 20 and 22.
 * Math.exp, Math.expm1, Math.log1p and the trigonometric functions agree in Node 20, 22 and 24.
 *
 * `x ** 2`, `x ** 0.5` and powers of two with a whole exponent are exact, or correctly rounded,
 * everywhere: use them as they are.
 */

const number = new Float64Array(1);
const words = new Int32Array(number.buffer);
const highAt = new Uint8Array(Int32Array.of(1).buffer)[0] === 1 ? 1 : 0;
const lowAt = 1 - highAt;

/** 2^(i - leastPower). Products with them are exact, and faster than setting bits in memory. */
const leastPower = 1074;
const powersOfTwo = Float64Array.from(
  { length: 1024 + leastPower }, (_, i) => 2 ** (i - leastPower),
);
/** The signed value of the last bit, by the sign and exponent of a number: its upper 12 bits. */
const lastBits = Float64Array.from({ length: 4096 }, (_, i) =>
  (i < 2048 ? 1 : -1) * 2 ** (Math.min(2046, Math.max(1, i % 2048)) - 1075));

/** The upper 32 bits: sign, exponent and the first 20 bits of the fraction. */
function highWord(value: number): number {
  number[0] = value;
  return words[highAt]!;
}

/** The value without its last 32 bits: products of two such are exact. */
function upperHalf(value: number): number {
  number[0] = value;
  return value - (words[lowAt]! >>> 0) * lastBits[words[highAt]! >>> 20]!;
}

const two54 = 2 ** 54;
const ln2High = 0.6931471803691238;
const ln2Low = 1.9082149292705877e-10;
const oneWord = 0x3ff00000;
const infinityWord = 0x7ff00000;
const fractionMask = 0x000fffff;
const leastNormalWord = 0x00100000;

/** s (log(1 + f) - f + f^2 / 2) / (f^2 / 2) without the parts that are exact, s = f / (2 + f). */
function logTail(s: number): number {
  const z = s * s;
  const w = z * z;
  const even = w * (0.3999999999940942
    + w * (0.22222198432149784 + w * 0.15313837699209373));
  const odd = z * (0.6666666666666735 + w * (0.2857142874366239
    + w * (0.1818357216161805 + w * 0.14798198605116586)));
  return odd + even;
}

/**
 * The natural logarithm, with the same bits everywhere. -Infinity at 0, NaN below.
 *
 * x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) is a polynomial in
 * s = f / (2 + f), and k log(2) is added in two parts.
 */
export function ln(x: number): number {
  let below = 0;
  let high = highWord(x);
  if (high < leastNormalWord) {
    if (x === 0) return -Infinity;
    if (high < 0) return Number.NaN;
    below = 54;
    x *= two54;
    high = highWord(x);
  }
  if (high >= infinityWord) return x;
  const exponent = ((high + 0x95f64) >> 20) - 1023;
  high &= fractionMask;
  const f = x * powersOfTwo[leastPower - exponent]! - 1;
  const k = exponent - below;
  if ((fractionMask & (2 + high)) < 3) {
    if (f === 0) return k * ln2High + k * ln2Low;
    const square = f * f * (0.5 - 0.3333333333333333 * f);
    return k === 0 ? f - square : k * ln2High - (square - k * ln2Low - f);
  }
  const s = f / (2 + f);
  const tail = logTail(s);
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    const half = 0.5 * f * f;
    return k === 0 ? f - (half - s * (half + tail))
      : k * ln2High - (half - (s * (half + tail) + k * ln2Low) - f);
  }
  return k === 0 ? f - s * (f - tail) : k * ln2High - (s * (f - tail) - k * ln2Low - f);
}

const perLn2High = 1.4426950407214463;
const perLn2Low = 1.6751713164886512e-10;

/** The logarithm to base 2, with the same bits everywhere; exact at powers of two. */
export function log2(x: number): number {
  let below = 0;
  let high = highWord(x);
  if (high < leastNormalWord) {
    if (x === 0) return -Infinity;
    if (high < 0) return Number.NaN;
    below = 54;
    x *= two54;
    high = highWord(x);
  }
  if (high >= infinityWord) return x;
  if (x === 1) return 0;
  const exponent = ((high + 0x95f64) >> 20) - 1023;
  const f = x * powersOfTwo[leastPower - exponent]! - 1;
  const k = exponent - below;
  const half = 0.5 * f * f;
  const s = f / (2 + f);
  const rest = s * (half + logTail(s));
  const upper = upperHalf(f - half);
  const lower = f - upper - half + rest;
  const product = upper * perLn2High;
  const sum = k + product;
  return (lower + upper) * perLn2Low + lower * perLn2High + (k - sum + product) + sum;
}

/** log2 of a base, in two parts: the first has no more than 21 bits. An array, as numbers in
 * variables of a module are objects. */
const logParts = new Float64Array(2);

const perLn2 = 1.4426950408889634;

/** For bases so near 1 that an exponent above 2^31 makes an ordinary number of them. */
function logNearOne(base: number): void {
  const t = base - 1;
  const w = t * t * (0.5 - t * (0.3333333333333333 - t * 0.25));
  const u = 1.4426950216293335 * t;
  const v = t * 1.9259629911266175e-8 - w * perLn2;
  logParts[0] = upperHalf(u + v);
  logParts[1] = v - (logParts[0] - u);
}

const twoThirdsPerLn2 = 0.9617966939259756;
const twoThirdsHigh = 0.9617967009544373;
const twoThirdsLow = -7.028461650952758e-9;
const log2OfThreeHalvesHigh = 0.5849624872207642;
const log2OfThreeHalvesLow = 1.350039202129749e-8;

/** log2 by the distance from 1 or 3/2, whichever is near. */
function logOfBase(base: number): void {
  let below = 0;
  let high = highWord(base);
  if (high < leastNormalWord) {
    base *= two54;
    below = 54;
    high = highWord(base);
  }
  let n = (high >> 20) - 1023;
  const fraction = high & fractionMask;
  const isBelow = fraction >= 0xbb67a;
  const isUpper = fraction > 0x3988e && !isBelow;
  if (isBelow) n++;
  base *= powersOfTwo[leastPower - n]!;
  const near = isUpper ? 1.5 : 1;
  const u = base - near;
  const v = 1 / (base + near);
  const s = u * v;
  const sHigh = upperHalf(s);
  // near + base, cut off after 20 bits or 19.
  const sumHigh = isBelow ? 1.5 + (fraction >> 1) * 2 ** -20
    : near + 1 + (fraction >> 1) * 2 ** -19;
  const sumLow = base - (sumHigh - near);
  const sLow = v * (u - sHigh * sumHigh - sHigh * sumLow);
  const square = s * s;
  const r = square * square * (0.5999999999999946 + square * (0.4285714285785502
    + square * (0.33333332981837743 + square * (0.272728123808534
    + square * (0.23066074577556175 + square * 0.20697501780033842)))))
    + sLow * (sHigh + s);
  const exact = sHigh * sHigh;
  const tHigh = upperHalf(3 + exact + r);
  const tLow = r - (tHigh - 3 - exact);
  const product = sHigh * tHigh;
  const correction = sLow * tHigh + tLow * s;
  const pHigh = upperHalf(product + correction);
  const pLow = correction - (pHigh - product);
  const zHigh = twoThirdsHigh * pHigh;
  const zLow = twoThirdsLow * pHigh + pLow * twoThirdsPerLn2
    + (isUpper ? log2OfThreeHalvesLow : 0);
  const offset = isUpper ? log2OfThreeHalvesHigh : 0;
  const k = n - below;
  const first = upperHalf(zHigh + zLow + offset + k);
  logParts[0] = first;
  logParts[1] = zLow - (first - k - offset - zHigh);
}

const ln2 = 0.6931471805599453;

/** 2^(first + rest), where the sum is within the range of doubles. */
function powerOfTwo(first: number, rest: number): number {
  const size = Math.abs(first + rest);
  let n = 0;
  if (size >= 0.5 + 2 ** -21) {
    n = Math.floor(size + 0.5);
    if (first < 0) n = -n;
    first -= n;
  }
  const t = upperHalf(rest + first);
  const u = t * 0.6931471824645996;
  const v = (rest - (t - first)) * ln2 + t * -1.904654299957768e-9;
  const z = u + v;
  const w = v - (z - u);
  const square = z * z;
  const even = z - square * (0.16666666666666602 + square * (-0.0027777777777015593
    + square * (6.613756321437934e-5 + square * (-1.6533902205465252e-6
    + square * 4.1381367970572385e-8))));
  const mantissa = 1 - ((z * even) / (even - 2 - (w + z * w)) - z);
  // Beyond the normal numbers in two steps: the first is exact, so the result is rounded once.
  if (n > 1000) return mantissa * 2 ** 1000 * powersOfTwo[n - 1000 + leastPower]!;
  if (n < -1000) return mantissa * powersOfTwo[n + 1000 + leastPower]! * 2 ** -1000;
  return mantissa * powersOfTwo[n + leastPower]!;
}

/**
 * base ** exponent, with the same bits everywhere. Infinite, zero and NaN arguments as `**` has
 * them; a negative base needs a whole exponent, as there.
 *
 * 2^(exponent log2(base)), with the logarithm and the product each in two parts.
 */
export function pow(base: number, exponent: number): number {
  if (exponent === 2) return base * base;
  if (exponent === 1) return base;
  if (exponent === -1) return 1 / base;
  if (exponent === 0.5 && base > 0) return Math.sqrt(base);
  if (base < 0) {
    if (!Number.isInteger(exponent) || base === -Infinity) return base ** exponent;
    return exponent % 2 === 0 ? pow(-base, exponent) : -pow(-base, exponent);
  }
  // The calls that are left to the engine here have one right answer each.
  if (!(base > 0 && base < Infinity && base !== 1 && Number.isFinite(exponent)
    && exponent !== 0)) return base ** exponent;
  const exponentWord = highWord(exponent) & 0x7fffffff;
  if (exponentWord > 0x41e00000) {
    const baseWord = highWord(base);
    if (exponentWord > 0x43f00000 || baseWord < 0x3fefffff || baseWord > oneWord) {
      return base > 1 === exponent > 0 ? Infinity : 0;
    }
    logNearOne(base);
  } else {
    logOfBase(base);
  }
  const exponentHigh = upperHalf(exponent);
  const rest = (exponent - exponentHigh) * logParts[0]! + exponent * logParts[1]!;
  const first = exponentHigh * logParts[0]!;
  const whole = first + rest;
  if (whole > 1024 || (whole === 1024 && rest + 8.008566259537294e-17 > whole - first)) {
    return Infinity;
  }
  if (whole < -1075 || (whole === -1075 && rest <= whole - first)) return 0;
  return powerOfTwo(first, rest);
}
