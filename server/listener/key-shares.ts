import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { signing } from '#signing';
import type { KeyShare } from '../../src/base/key-share.js';
import { shareBytes } from '../../src/signing/index.js';
import type { Clock } from '../base/clock.js';

/** A new share is made this often, in milliseconds. The newest is shown. */
const shareShownMs = 5 * 60_000;
/** Open is taken for a share for this long after it was made: it is the second newest at most. */
export const shareTakenMs = 2 * shareShownMs;

/** A secret of X25519 in PKCS #8 (RFC 8410), without its 32 bytes. */
const secretStart = Buffer.from('302e020100300506032b656e04220420', 'hex');

type Unsigned = Omit<KeyShare, 'signature'>;

/** A share of this server, while it may be used. */
export class OwnShare {
  /** The statement of it in Welcome. */
  readonly stated: KeyShare;
  #key: KeyObject | null;
  readonly #endsAtMs: number;

  /** @param secret 32 random bytes. They are overwritten before this returns. */
  constructor(
    secret: Uint8Array, private readonly clock: Clock, sign: (share: Unsigned) => Uint8Array,
  ) {
    this.#endsAtMs = clock.monotonicMs() + shareTakenMs;
    const der = Buffer.concat([secretStart, secret]);
    secret.fill(0);
    this.#key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    const { x } = createPublicKey(this.#key).export({ format: 'jwk' });
    const issuedMs = BigInt(Math.floor(clock.nowMs()));
    const unsigned = {
      share: Uint8Array.from(Buffer.from(x!, 'base64url')), issuedMs,
      untilMs: issuedMs + BigInt(shareTakenMs),
    };
    this.stated = { ...unsigned, signature: sign(unsigned) };
  }

  get isOver(): boolean {
    // A machine that slept, or a late timer, does not prolong it.
    if (this.clock.monotonicMs() >= this.#endsAtMs) this.end();
    return this.#key === null;
  }

  /**
   * Z, 32 bytes. `over`: nothing leads to the secret any more. `zero`: Z would be 0, which no
   * honest share gives.
   * @param other 32 bytes.
   */
  agree(other: Uint8Array): Uint8Array | 'over' | 'zero' {
    if (this.isOver || this.#key === null) return 'over';
    const publicKey = createPublicKey({
      key: { kty: 'OKP', crv: 'X25519', x: Buffer.from(other).toString('base64url') },
      format: 'jwk',
    });
    try {
      return diffieHellman({ privateKey: this.#key, publicKey });
    } catch {
      // OpenSSL gives an error in place of zeros, and has no other error for keys of this length.
      return 'zero';
    }
  }

  end(): void {
    this.#key = null;
  }
}

/**
 * The key shares of a server.
 *
 * Claim: 10 minutes after a share was made, neither the server's signing key nor a contributor's
 * opens recorded frames of its channels, but for what lives in the memory of an open channel
 * (forward secrecy). Why: a secret is drawn into one array. OpenSSL's key is made from it, and the
 * array and the encoding around it are overwritten at once. That key is reachable from its
 * `OwnShare` alone, which drops it at the second turn after it was made. OpenSSL overwrites its
 * copy when the object is collected, which Node does not promise at once.
 */
export class KeyShares {
  /** Newest first; at most two. */
  #shares: readonly OwnShare[] = [];
  #cancel: () => void = () => undefined;

  /** @param draw gives the secret of a share, 32 random bytes. */
  constructor(
    private readonly clock: Clock, private readonly sign: (share: Unsigned) => Uint8Array,
    private readonly draw: () => Uint8Array = () => signing.randomBytes(shareBytes),
  ) {
    this.#turn();
  }

  /** The share for a new socket. */
  get newest(): OwnShare {
    return this.#shares[0]!;
  }

  /** Ends all shares, and makes no more. */
  stop(): void {
    this.#cancel();
    for (const share of this.#shares) share.end();
  }

  #turn(): void {
    const [latest, ...older] = this.#shares;
    for (const share of older) share.end();
    const made = new OwnShare(this.draw(), this.clock, this.sign);
    this.#shares = latest === undefined ? [made] : [made, latest];
    this.#cancel = this.clock.after(shareShownMs, () => this.#turn());
  }
}
