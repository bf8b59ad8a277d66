import { KeelsonError } from '../base/errors.js';
import type { NoiseSource } from './source.js';

/** The Web Crypto interface fills at most this many bytes a call. */
const chunkBytes = 65_536;

class SecureNoise implements NoiseSource {
  readonly kind = 'noise';
  readonly secure = true;
  readonly #chunk = new Uint8Array(chunkBytes);
  #used = chunkBytes;

  fill(bytes: Uint8Array): void {
    let done = 0;
    while (done < bytes.length) {
      if (this.#used === chunkBytes) this.#refill();
      const take = Math.min(bytes.length - done, chunkBytes - this.#used);
      bytes.set(this.#chunk.subarray(this.#used, this.#used + take), done);
      // Bytes that became noise must not stay in memory.
      this.#chunk.fill(0, this.#used, this.#used + take);
      this.#used += take;
      done += take;
    }
  }

  #refill(): void {
    try {
      globalThis.crypto.getRandomValues(this.#chunk);
    } catch (cause) {
      throw new KeelsonError(
        'internal', 'the system gave no random bytes; no noise can be drawn', { cause },
      );
    }
    this.#used = 0;
  }
}

/**
 * Noise from the operating system (Web Crypto), in Node and browsers. Reads 64 KiB at a time and
 * wipes the bytes that it returned. Each thread needs a source of its own.
 * @throws KeelsonError('internal') from `fill` when the system gives no random bytes.
 */
export function secureNoise(): NoiseSource {
  return new SecureNoise();
}
