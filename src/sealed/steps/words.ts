/**
 * Numbers modulo 2^64, as pairs of 32-bit words in one Uint32Array: low word, then high word. So
 * an array is also the little-endian bytes that are sent.
 */
const span = 2 ** 32;

/** target += source, number by number. */
export function addInto(target: Uint32Array, source: Uint32Array): void {
  for (let at = 0; at < target.length; at += 2) {
    const low = target[at]! + source[at]!;
    target[at] = low;
    target[at + 1] = target[at + 1]! + source[at + 1]! + (low >= span ? 1 : 0);
  }
}

/** target -= source, number by number. */
export function subtractFrom(target: Uint32Array, source: Uint32Array): void {
  for (let at = 0; at < target.length; at += 2) {
    const low = target[at]! - source[at]!;
    target[at] = low;
    target[at + 1] = target[at + 1]! - source[at + 1]! - (low < 0 ? 1 : 0);
  }
}

/** The high word of a product of two words. */
export function highOfProduct(left: number, right: number): number {
  // Both partial products are below 2^48, so doubles hold them and their sum.
  const low = left * (right & 0xffff);
  return Math.floor((left * (right >>> 16) + Math.floor(low / 0x10000)) / 0x10000);
}

/** numbers * factor, for a whole factor within the integers that doubles hold. */
export function scaled(numbers: Uint32Array, factor: number): Uint32Array {
  const result = new Uint32Array(numbers.length);
  addScaledInto(result, numbers, factor);
  return result;
}

/** target += source * factor, number by number. The factor is as in `scaled`. */
export function addScaledInto(target: Uint32Array, source: Uint32Array, factor: number): void {
  const [low, high] = wordsOf(factor);
  for (let at = 0; at < target.length; at += 2) {
    const word = source[at]!;
    const sum = target[at]! + (Math.imul(word, low) >>> 0);
    target[at] = sum;
    target[at + 1] = target[at + 1]! + highOfProduct(word, low) + Math.imul(word, high)
      + Math.imul(source[at + 1]!, low) + (sum >= span ? 1 : 0);
  }
}

/** The two words of a whole number, negative ones as 2^64 minus their size. */
export function wordsOf(value: number | bigint): readonly [number, number] {
  if (typeof value === 'number') {
    const low = ((value % span) + span) % span;
    return [low, ((((value - low) / span) % span) + span) % span];
  }
  const wrapped = BigInt.asUintN(64, value);
  return [Number(wrapped & 0xffff_ffffn), Number(wrapped >> 32n)];
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

/** A number as a signed integer, from -2^63 to 2^63 - 1. */
export function signedAt(numbers: Uint32Array, index: number): bigint {
  return BigInt.asIntN(
    64, BigInt(numbers[2 * index]!) | (BigInt(numbers[2 * index + 1]!) << 32n),
  );
}
