import { utf8 } from '../base/bytes.js';
import { ChachaStream, foldKey } from './chacha20.js';
import type { NoiseSource } from './source.js';

/**
 * Noise that anyone who knows the seed can subtract. For tests, and for commands that mark their
 * result as insecure. server/ must not import this file; a tidy test checks that.
 */
export function seededNoise(seed: string | Uint8Array): NoiseSource {
  const key = foldKey(utf8('keelson insecure noise'), typeof seed === 'string' ? utf8(seed) : seed);
  const stream = new ChachaStream(key);
  return { kind: 'noise', secure: false, fill: (bytes) => stream.fill(bytes) };
}
