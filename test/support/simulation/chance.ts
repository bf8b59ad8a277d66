import { utf8 } from '../../../src/base/bytes.js';
import { seededRandom } from '../../../src/random/work.js';
import type { WorkRandom } from '../../../src/random/source.js';

/**
 * Every choice of a simulation: streams of one seed, each for one purpose so that they do not shift
 * each other.
 */
export class Chance {
  private constructor(readonly work: WorkRandom) {}

  static of(seed: number): Chance {
    return new Chance(seededRandom(utf8(`keelson simulation ${seed}`)));
  }

  fork(label: string): Chance {
    return new Chance(this.work.fork(label));
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.work.uniform();
  }

  /** True with probability `share`. */
  happens(share: number): boolean {
    return this.work.uniform() < share;
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + this.work.uniform() * (high - low);
  }

  /** A whole number in 0..count-1. */
  below(count: number): number {
    return Math.floor(this.work.uniform() * count);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.work.fill(bytes);
    return bytes;
  }
}
