/** Flags as bytes: a bit for each, the first one lowest in the first byte, unused bits 0. */

/** @param isSet - of the flag at each place from 0. */
export function bitsOf(count: number, isSet: (place: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(count / 8));
  for (let i = 0; i < count; i++) bits[i >> 3]! |= Number(isSet(i)) << (i & 7);
  return bits;
}

/** The flag at one place, 0 or 1. */
export function bitAt(bits: Uint8Array, place: number): number {
  return (bits[place >> 3]! >> (place & 7)) & 1;
}

/** True if bits after `count` flags are set. @param bits - of the length that `count` needs. */
export function hasUnusedBits(bits: Uint8Array, count: number): boolean {
  return (count & 7) !== 0 && bits.at(-1)! >> (count & 7) !== 0;
}
