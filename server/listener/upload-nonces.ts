import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';

/** Bytes of the time and of the count at the start of a nonce. The rest authenticates them. */
const numberBytes = 6;
const headBytes = 2 * numberBytes;
const nonceBytes = 32;

/** Nonces that are remembered one by one, a bit each: 128 KiB. Older ones are refused. */
const windowUsual = 2 ** 20;

/**
 * Server nonces for uploads over HTTP. A socket has its nonce in memory; an upload has no socket.
 * So a nonce names the time and the number of its issue, and a keyed hash shows that this process
 * issued it. Claim: `take` returns true at most once for each nonce, only for nonces that `issue`
 * returned, and only for `livesMs` after that. Proof: the count of a nonce is unique in this
 * process, and the hash binds it, with a key that no other process has. A nonce within the window
 * has a bit of its own, which `take` sets and only the nonce one window later clears. Older nonces
 * are refused. Memory does not grow, whatever senders do. The hash has 160 bits, so that nobody
 * guesses the nonce of a later issue.
 */
export class UploadNonces {
  readonly #key = randomBytes(32);
  readonly #used: Uint32Array;
  #count = 0;

  /**
   * @param livesMs how long a nonce can be used, in milliseconds.
   * @param window nonces that are remembered, a multiple of 32.
   */
  constructor(
    private readonly clock: Clock,
    private readonly livesMs: number,
    private readonly window = windowUsual,
  ) {
    this.#used = new Uint32Array(window / 32);
  }

  /** 32 bytes. */
  issue(): Uint8Array {
    const count = this.#count++;
    this.#used[this.#slotOf(count)]! &= ~bitOf(count);
    const nonce = Buffer.alloc(nonceBytes);
    nonce.writeUIntBE(Math.floor(this.clock.monotonicMs()), 0, numberBytes);
    nonce.writeUIntBE(count, numberBytes, numberBytes);
    this.#hashOf(nonce).copy(nonce, headBytes);
    return new Uint8Array(nonce);
  }

  /** Uses a nonce up. @returns false when it cannot be used, or not again. */
  take(nonce: Uint8Array): boolean {
    if (nonce.length !== nonceBytes) return false;
    const bytes = Buffer.from(nonce.buffer, nonce.byteOffset, nonce.length);
    if (!timingSafeEqual(this.#hashOf(bytes), bytes.subarray(headBytes))) return false;
    const ageMs = this.clock.monotonicMs() - bytes.readUIntBE(0, numberBytes);
    const count = bytes.readUIntBE(numberBytes, numberBytes);
    if (ageMs > this.livesMs || this.#count - count > this.window) return false;
    if ((this.#used[this.#slotOf(count)]! & bitOf(count)) !== 0) return false;
    this.#used[this.#slotOf(count)]! |= bitOf(count);
    return true;
  }

  #slotOf(count: number): number {
    return (count % this.window) >>> 5;
  }

  #hashOf(nonce: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(nonce.subarray(0, headBytes)).digest()
      .subarray(0, nonceBytes - headBytes);
  }
}

function bitOf(count: number): number {
  return 1 << (count & 31);
}
