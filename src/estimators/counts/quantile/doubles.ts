const bits = new DataView(new ArrayBuffer(8));

/** The next double above a finite one. */
export function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

/** The next double below a finite one. */
export function nextBelow(value: number): number {
  return -nextAbove(-value);
}
