/** Ed25519's curve in plain bigints: slow, short, and only for deriving hostile test inputs. */
export const fieldPrime = 2n ** 255n - 19n;
export const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

export interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

const modulo = (value: bigint): bigint => ((value % fieldPrime) + fieldPrime) % fieldPrime;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let factor = modulo(base);
      exponent > 0n; exponent >>= 1n, factor = modulo(factor * factor)) {
    if (exponent & 1n) result = modulo(result * factor);
  }
  return result;
}

export const inverse = (value: bigint): bigint => power(value, fieldPrime - 2n);
const d = modulo(-121665n * inverse(121666n));
const rootOfMinusOne = power(2n, (fieldPrime - 1n) / 4n);

export const identity: Point = { x: 0n, y: 1n };

export function add(left: Point, right: Point): Point {
  const product = modulo(d * left.x * right.x * left.y * right.y);
  return {
    x: modulo((left.x * right.y + right.x * left.y) * inverse(1n + product)),
    y: modulo((left.y * right.y + left.x * right.x) * inverse(1n - product)),
  };
}

export function multiply(point: Point, scalar: bigint): Point {
  let result = identity;
  for (let factor = point; scalar > 0n; scalar >>= 1n, factor = add(factor, factor)) {
    if (scalar & 1n) result = add(result, factor);
  }
  return result;
}

/** The point with this y and an even x, or null when y is on no point. */
export function pointAt(y: bigint): Point | null {
  const square = modulo((y * y - 1n) * inverse(d * y * y + 1n));
  let x = power(square, (fieldPrime + 3n) / 8n);
  if (modulo(x * x) !== square) x = modulo(x * rootOfMinusOne);
  if (modulo(x * x) !== square) return null;
  return { x: x & 1n ? modulo(-x) : x, y };
}

/** Any number below 2^255 for y, reduced or not, and a sign bit for x. */
export function encodePoint(y: bigint, sign: bigint): Uint8Array {
  return encodeNumber(y | (sign << 255n));
}

export function encodeNumber(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

export function decodeNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** All points whose order divides 8: multiples by the group order of points with small y. */
export function smallOrderPoints(): readonly Point[] {
  const found = new Map<string, Point>();
  for (let y = 2n; found.size < 8; y++) {
    const point = pointAt(y);
    if (point === null) continue;
    const torsion = multiply(point, groupOrder);
    for (let i = 1n; i <= 8n; i++) {
      const small = multiply(torsion, i);
      found.set(`${small.x},${small.y}`, small);
    }
  }
  return [...found.values()];
}
