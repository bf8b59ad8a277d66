import type { LongBits } from './protobuf.js';
import { malformed } from './reader.js';

const uint64Max = 2n ** 64n - 1n;

/** Exact over the whole unsigned range. */
export function toBigint(value: number | LongBits): bigint {
  if (typeof value === 'number') return BigInt(value);
  const low = BigInt(value.low >>> 0);
  return value.high === 0 ? low : (BigInt(value.high >>> 0) << 32n) | low;
}

/** @throws WireError('malformed') outside 0..2^64-1. */
export function toLong(value: bigint, name: string): LongBits {
  if (value < 0n || value > uint64Max) throw malformed(`${name} is outside 0..2^64-1`);
  return {
    low: Number(value & 0xffff_ffffn) | 0,
    high: Number(value >> 32n) | 0,
    unsigned: true,
  };
}
