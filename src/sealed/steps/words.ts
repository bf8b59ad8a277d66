import { modPrime, signedModPrime } from '../../base/prime.js';

/**
 * Numbers modulo p = 2^61 - 1 (base/prime), as pairs of 32-bit words in one Uint32Array: low word,
 * then high word, which is below 2^29. Each is below p. So an array is also the little-endian bytes
 * that are sent.
 */
const span = 2 ** 32;
/** 2^61 is 1 modulo p: bits of a high word from this one on are ones of the number. */
const topBit = 29;
const topMask = 2 ** topBit - 1;

/** Writes low + 2^32 high modulo p. @param low - below 2^33. @param high - below 2^32 - 1. */
function put(target: Uint32Array, at: number, low: number, high: number): void {
  const whole = high + (low >= span ? 1 : 0);
  const sum = (low >>> 0) + (whole >>> topBit);
  const top = (whole & topMask) + (sum >= span ? 1 : 0);
  // The rest is below 2^61 + 8: at least p where it is 2^61 or more, or all ones.
  const isAll = top === topMask && sum === span - 1;
  if (top > topMask || isAll) {
    target[at] = sum + 1;
    target[at + 1] = 0;
  } else {
    target[at] = sum;
    target[at + 1] = top;
  }
}

/** The numbers of an array, on the same memory, as whole ones. */
export function elementsOf({ buffer, byteOffset, length }: Uint32Array): BigUint64Array {
  return new BigUint64Array(buffer as ArrayBuffer, byteOffset, length / 2);
}

/** target += source, number by number. */
export function addInto(target: Uint32Array, source: Uint32Array): void {
  for (let at = 0; at < target.length; at += 2) {
    put(target, at, target[at]! + source[at]!, target[at + 1]! + source[at + 1]!);
  }
}

/** target -= source, number by number. */
export function subtractFrom(target: Uint32Array, source: Uint32Array): void {
  for (let at = 0; at < target.length; at += 2) {
    // p less the source has its words less those of the source: nothing is borrowed.
    const high = target[at + 1]! + topMask - source[at + 1]!;
    put(target, at, target[at]! + (~source[at]! >>> 0), high);
  }
}

const limb = 2 ** 21;
const lastLimb = 2 ** 19;
/** Products that a sum has room for, before it is written. */
export const productsMost = 512;

/**
 * A sum of products modulo p. Numbers are cut into limbs of 21, 21 and 19 bits, and products of
 * limbs are added up as doubles by their places.
 * Products of limbs are below 2^42. 512 products have less than 2^53 at each place after the two
 * highest places are folded in (2^63 is 4 and 2^84 is 2^23): at most 512 (1 + 2) 2^42 < 2^53.
 */
export class ProductSum {
  readonly #places = new Float64Array(5);

  /** Adds a product of two numbers, given by their words. At most `productsMost` of them. */
  add(xLow: number, xHigh: number, yLow: number, yHigh: number): void {
    const x0 = xLow & (limb - 1);
    const x1 = (xLow >>> 21) | ((xHigh & 0x3ff) << 11);
    const x2 = xHigh >>> 10;
    const y0 = yLow & (limb - 1);
    const y1 = (yLow >>> 21) | ((yHigh & 0x3ff) << 11);
    const y2 = yHigh >>> 10;
    const places = this.#places;
    places[0]! += x0 * y0;
    places[1]! += x0 * y1 + x1 * y0;
    places[2]! += x0 * y2 + x1 * y1 + x2 * y0;
    places[3]! += x1 * y2 + x2 * y1;
    places[4]! += x2 * y2;
  }

  /** target[at] += the sum, which begins again at 0. */
  addInto(target: Uint32Array, at: number): void {
    const places = this.#places;
    let first = places[0]! + 4 * places[3]!;
    let second = places[1]! + 4 * places[4]!;
    let third = places[2]!;
    places.fill(0);
    // Twice: what is carried out of the last limb is below 2^34, and is carried into the first.
    for (let turn = 0; turn < 2; turn++) {
      const carried = Math.floor(first / limb);
      first -= carried * limb;
      second += carried;
      const more = Math.floor(second / limb);
      second -= more * limb;
      third += more;
      const over = Math.floor(third / lastLimb);
      third -= over * lastLimb;
      first += over;
    }
    // `first` may have a bit too many, and adds it.
    const low = first + ((second & 0x7ff) * limb);
    put(target, at, target[at]! + (low >>> 0),
      target[at + 1]! + (second >>> 11) + third * 0x400 + (low >= span ? 1 : 0));
  }
}

/** numbers * 2^times: a turn of their 61 bits, since 2^61 is 1. @param times - 1 to 28. */
export function doubled(numbers: Uint32Array, times: number): Uint32Array {
  const result = new Uint32Array(numbers.length);
  for (let at = 0; at < numbers.length; at += 2) {
    const [low, high] = [numbers[at]!, numbers[at + 1]!];
    result[at] = (low << times) | (high >>> (topBit - times));
    result[at + 1] = ((high << times) & topMask) | (low >>> (32 - times));
  }
  return result;
}

/** target += source * factor, number by number, for a factor that doubles hold exactly. */
export function addScaledInto(target: Uint32Array, source: Uint32Array, factor: number): void {
  const [low, high] = wordsOf(factor);
  const sum = new ProductSum();
  for (let at = 0; at < target.length; at += 2) {
    sum.add(source[at]!, source[at + 1]!, low, high);
    sum.addInto(target, at);
  }
}

/** The two words of a whole number modulo p. */
export function wordsOf(value: number | bigint): readonly [number, number] {
  const whole = modPrime(BigInt(value));
  return [Number(whole & 0xffff_ffffn), Number(whole >> 32n)];
}

/** `count` copies of a whole number. */
export function constantNumbers(count: number, value: number | bigint): Uint32Array {
  const [low, high] = wordsOf(value);
  const numbers = new Uint32Array(2 * count);
  for (let at = 0; at < numbers.length; at += 2) {
    numbers[at] = low;
    numbers[at + 1] = high;
  }
  return numbers;
}

/** A number as a signed integer, of less than 2^60 in size. */
export function signedAt(numbers: Uint32Array, index: number): bigint {
  return signedModPrime(
    BigInt(numbers[2 * index]!) | (BigInt(numbers[2 * index + 1]!) << 32n),
  );
}

/** True where the words at a place are those of a number below p. */
export function isNumber(low: number, high: number): boolean {
  return high < topMask || (high === topMask && low !== span - 1);
}

/**
 * `count` numbers from words of a key stream, of which there are `spareNumbers` more: the lowest 61
 * bits of each pair of words. The one value that is no number, p, is drawn again from the spare
 * ones.
 * Claim. From uniform words the numbers are uniform and independent. @returns null where the spare
 * ones do not suffice: less than once in 2^120 steps.
 */
export function numbersOfStream(words: Uint32Array, count: number): Uint32Array | null {
  let spare = 2 * count;
  for (let at = 0; at < 2 * count; at += 2) {
    words[at + 1]! &= topMask;
    while (!isNumber(words[at]!, words[at + 1]!)) {
      if (spare === words.length) return null;
      words[at] = words[spare]!;
      words[at + 1] = words[spare + 1]! & topMask;
      spare += 2;
    }
  }
  return words.subarray(0, 2 * count);
}

/** Numbers that a stream gives beyond those that are asked for: a block of AES. */
export const spareNumbers = 2;
