import { utf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import { kindOf } from '../base/given.js';
import { ChachaStream, foldKey } from './chacha20.js';
import type { WorkRandom } from './source.js';

const streamLabel = utf8('keelson work stream');
const forkLabel = utf8('keelson work fork');

class SeededRandom implements WorkRandom {
  readonly kind = 'work';
  readonly #root: Uint8Array;
  readonly #stream: ChachaStream;
  readonly #pair = new Uint8Array(8);
  readonly #view = new DataView(this.#pair.buffer);

  constructor(root: Uint8Array) {
    this.#root = root;
    this.#stream = new ChachaStream(foldKey(streamLabel, root));
  }

  fill(bytes: Uint8Array): void {
    this.#stream.fill(bytes);
  }

  uniform(): number {
    this.#stream.fill(this.#pair);
    const high = this.#view.getUint32(0, true) >>> 5;
    const low = this.#view.getUint32(4, true) >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  }

  fork(label: string): WorkRandom {
    return new SeededRandom(foldKey(forkLabel, this.#root, utf8(label)));
  }
}

/**
 * Replayable randomness for work that privacy does not depend on. The same seed (any length) gives
 * the same stream on every platform. A fork depends on the seed and its label only, not on earlier
 * draws. Two forks with one label are the same stream.
 */
export function seededRandom(seed: Uint8Array): WorkRandom {
  if (!(seed instanceof Uint8Array)) {
    throw new InvalidParameterError(`seed is ${kindOf(seed)}: give the bytes of a Uint8Array`);
  }
  return new SeededRandom(foldKey(seed));
}
