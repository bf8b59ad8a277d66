import { ln } from '../../base/elementary.js';
import type { RandomBits } from '../bits.js';

/**
 * A normal number in doubles (Box and Muller), for mechanisms whose law is not discrete. It is not
 * exact: its low digits reveal how it was made. Round what depends on it well above those digits
 * before it is published.
 */
export function normalDouble(bits: RandomBits): number {
  const radius = Math.sqrt(-2 * ln((bits.below(2 ** 53) + 1) / 2 ** 53));
  return radius * Math.cos(2 * Math.PI * (bits.below(2 ** 53) / 2 ** 53));
}
