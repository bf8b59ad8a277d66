import { fromHex } from '../../src/base/bytes.js';
import type { NoiseSource } from '../../src/random/source.js';

/**
 * Plays back given bytes and throws when they are used up: for vectors that fix every bit a sampler
 * reads.
 */
export function tapeNoise(bytes: Uint8Array | string): NoiseSource {
  const tape = typeof bytes === 'string' ? fromHex(bytes) : bytes;
  let used = 0;
  return {
    kind: 'noise',
    secure: false,
    fill: (target) => {
      if (used + target.length > tape.length) throw new RangeError('the tape has no more bytes');
      target.set(tape.subarray(used, used + target.length));
      used += target.length;
    },
  };
}
