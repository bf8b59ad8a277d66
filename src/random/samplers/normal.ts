import type { RandomBits } from '../bits.js';

/**
 * A normal number in doubles (Box and Muller), for mechanisms whose law is not discrete. Not exact: its low digits tell
 * how it was made, so what depends on it must be rounded before it is published, far above them.
 */
export function normalDouble(bits: RandomBits): number {
  const radius = Math.sqrt(-2 * Math.log((bits.below(2 ** 53) + 1) / 2 ** 53));
  return radius * Math.cos(2 * Math.PI * (bits.below(2 ** 53) / 2 ** 53));
}
