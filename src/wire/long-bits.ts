import type { keelson } from './generated/contributor-reader.js';
import { malformed } from './reader.js';

/** A 64-bit field in the form of the generated code. */
export interface LongBits {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

const uint64Max = 2n ** 64n - 1n;

/** Exact over the whole unsigned range. */
export function toBigint(value: number | LongBits): bigint {
  if (typeof value === 'number') return BigInt(value);
  const low = BigInt(value.low >>> 0);
  return value.high === 0 ? low : (BigInt(value.high >>> 0) << 32n) | low;
}

/**
 * The generated types name the class of the `long` package. Its encoder reads only these three
 * members.
 */
type GeneratedLong = Exclude<keelson.v1.BatchBody['sequence'], number>;

/** @throws WireError('malformed') outside 0..2^64-1. */
export function toLong(value: bigint, name: string): GeneratedLong {
  if (value < 0n || value > uint64Max) throw malformed(`${name} is outside 0..2^64-1`);
  const bits: LongBits = {
    low: Number(value & 0xffff_ffffn) | 0,
    high: Number(value >> 32n) | 0,
    unsigned: true,
  };
  return bits as GeneratedLong;
}
