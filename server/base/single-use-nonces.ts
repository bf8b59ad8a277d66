import {
  createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual,
} from 'node:crypto';
import type { Clock } from './clock.js';

/** Bytes of the time and of the count in the encrypted block. The rest of it is zero. */
const numberBytes = 6;
const blockBytes = 16;
const nonceBytes = 32;

/**
 * Nonces for requests that have no socket in which the server could remember one: uploads over
 * HTTP, and upgrades of other servers. A nonce names the time and the number of its issue,
 * encrypted, and a keyed hash shows that this process issued it.
 *
 * Claim 1: `take` returns true at most once for each nonce, only for nonces that `issue` returned,
 * and only for `livesMs` after that. It depends on no other nonce. Proof: a nonce names its period
 * of `livesMs` and its number in that period, which no other nonce of this process has. The hash
 * binds both, with keys that no other process has. A nonce has a bit of its own, which only `take`
 * sets. Bits are dropped with their period, two periods later, when all its nonces are too old.
 *
 * Claim 2: Nonces do not tell how many were issued, nor the time. Proof: the block under AES-256 is
 * a pseudorandom permutation of inputs that are all different, so what is issued looks like a list
 * of different random blocks. The hash is a function of it.
 *
 * Memory is a bit for each nonce of the last two periods. The hash has 128 bits, so nobody guesses
 * the nonce of a later issue.
 */
export class SingleUseNonces {
  readonly #cipherKey = randomBytes(32);
  readonly #hashKey = randomBytes(32);
  #current = new Period(0);
  #last = new Period(-1);

  /** @param livesMs how long a nonce can be used, in milliseconds. */
  constructor(private readonly clock: Clock, private readonly livesMs: number) {}

  /** 32 bytes. */
  issue(): Uint8Array {
    const nowMs = Math.floor(this.clock.monotonicMs());
    this.#turn(nowMs);
    const block = Buffer.alloc(blockBytes);
    block.writeUIntBE(nowMs, 0, numberBytes);
    block.writeUIntBE(this.#current.issued++, numberBytes, numberBytes);
    const cipher = createCipheriv('aes-256-ecb', this.#cipherKey, null).setAutoPadding(false);
    const sealed = cipher.update(block);
    return new Uint8Array(Buffer.concat([sealed, this.#hashOf(sealed)]));
  }

  /** Uses a nonce up. @returns false when it cannot be used, or not again. */
  take(nonce: Uint8Array): boolean {
    if (nonce.length !== nonceBytes) return false;
    const sealed = nonce.subarray(0, blockBytes);
    if (!timingSafeEqual(this.#hashOf(sealed), nonce.subarray(blockBytes))) return false;
    const cipher = createDecipheriv('aes-256-ecb', this.#cipherKey, null).setAutoPadding(false);
    const block = cipher.update(sealed);
    const issuedMs = block.readUIntBE(0, numberBytes);
    const nowMs = this.clock.monotonicMs();
    if (nowMs - issuedMs > this.livesMs) return false;
    this.#turn(nowMs);
    const number = this.#numberOf(issuedMs);
    const period = number === this.#current.number ? this.#current : this.#last;
    return period.use(block.readUIntBE(numberBytes, numberBytes));
  }

  /** A nonce that is young enough is of the current period or of the one before. */
  #turn(nowMs: number): void {
    const number = this.#numberOf(nowMs);
    if (number === this.#current.number) return;
    this.#last = number === this.#current.number + 1 ? this.#current : new Period(number - 1);
    this.#current = new Period(number);
  }

  #numberOf(ms: number): number {
    return Math.floor(ms / this.livesMs);
  }

  #hashOf(sealed: Uint8Array): Buffer {
    return createHmac('sha256', this.#hashKey).update(sealed).digest()
      .subarray(0, nonceBytes - blockBytes);
  }
}

/** The nonces of one period, a bit each. */
class Period {
  issued = 0;
  #used = new Uint32Array(32);

  /** @param number of the period, counted from the start of the clock. */
  constructor(readonly number: number) {}

  /** @returns false when this nonce was used before. */
  use(count: number): boolean {
    const [slot, bit] = [Math.floor(count / 32), 1 << (count % 32)];
    if (slot >= this.#used.length) {
      const longer = new Uint32Array(Math.max(2 * this.#used.length, slot + 1));
      longer.set(this.#used);
      this.#used = longer;
    }
    if ((this.#used[slot]! & bit) !== 0) return false;
    this.#used[slot]! |= bit;
    return true;
  }
}
