import { ln } from '../../src/base/elementary.js';
import type { WorkRandom } from '../../src/random/source.js';

/**
 * Two independent standard normal numbers by Box and Muller. For made-up data only: no value
 * exceeds 8.6.
 */
function gaussianPair(random: WorkRandom): readonly [number, number] {
  // 1 - u is in (0, 1], so its logarithm is finite.
  const radius = Math.sqrt(-2 * ln(1 - random.uniform()));
  const angle = 2 * Math.PI * random.uniform();
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

/** `count` standard normal numbers. */
export function gaussianVector(count: number, random: WorkRandom): Float64Array {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i += 2) {
    const [first, second] = gaussianPair(random);
    values[i] = first;
    if (i + 1 < count) values[i + 1] = second;
  }
  return values;
}
