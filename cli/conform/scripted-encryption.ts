import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import type { KeyShare } from '../../src/base/key-share.js';
import {
  channelKeys, openFrame, sealFrame, type ChannelKeys,
} from '../../src/signing/channel-keys-node.js';
import {
  openMessage, signShare, statedDigestBytes, type Signer, type Verifier,
} from '../../src/signing/index.js';
import type { Open } from '../../src/wire/index.js';

/** X25519 of a secret and this point is the secret's share (RFC 7748). */
const basePoint = Uint8Array.of(9, ...new Uint8Array(31));
const dayMs = 24 * 3_600_000;

/** The share of a scripted server, and the ways in which it is none that a client may take. */
export type ShareKind = 'good' | 'another key' | 'another time' | 'small order' | 'long over';

/** The parts of Welcome that an Open signs besides the share. */
interface Greeting {
  readonly serverKey: Uint8Array;
  readonly serverNonce: Uint8Array;
}

/** The share of one socket. */
export class ScriptedShare {
  readonly stated: KeyShare;
  private readonly secret = signing.randomBytes(32);

  constructor(signer: Signer, kind: ShareKind) {
    const share = kind === 'small order'
      ? Uint8Array.of(1, ...new Uint8Array(31)) : signing.x25519(this.secret, basePoint);
    const untilMs = BigInt(kind === 'long over' ? Date.UTC(2020, 0, 1) : Date.UTC(2100, 0, 1));
    const unsigned = { share, issuedMs: untilMs - 600_000n, untilMs };
    const by = kind === 'another key' ? signing.createSigner(signing.generateSeed()) : signer;
    const signature = signShare(by, unsigned, signing);
    this.stated = {
      ...unsigned, signature, untilMs: kind === 'another time' ? untilMs + BigInt(dayMs) : untilMs,
    };
  }

  /**
   * The channel that an Open asks for.
   * @throws Error saying what is wrong with the Open.
   */
  agree(
    { studyId, publicKey, clientShare, signature }: Open, verifier: Verifier,
    { serverKey, serverNonce }: Greeting,
  ): ScriptedCipher {
    const shares = { serverNonce, share: this.stated.share, clientShare };
    const message = openMessage(publicKey, { serverKey, studyId }, shares, signing);
    if (!verifier.verify(message, signature)) throw new Error('an Open with a wrong signature');
    const agreed = signing.x25519(this.secret, clientShare);
    if (agreed.every((byte) => byte === 0)) throw new Error('a client share of small order');
    return new ScriptedCipher(channelKeys(agreed, message));
  }
}

/** A batch without its seal. */
interface Plain {
  readonly body: Uint8Array;
  readonly digest: Uint8Array;
}

/** The server's end of an encrypted channel. */
export class ScriptedCipher {
  /** Frames that came. */
  came = 0;
  private sent = 0;

  constructor(readonly keys: ChannelKeys) {}

  /** @throws Error saying what is wrong with the frame. */
  open(encrypted: Uint8Array): Plain {
    const number = this.came++;
    const plain = openFrame(this.keys.up, number, 'batch', encrypted);
    if (plain === null) throw new Error(`an encrypted batch does not open as number ${number}`);
    const bytes = Uint8Array.from(plain);
    const body = bytes.subarray(statedDigestBytes);
    const digest = signing.sha512(body);
    if (toHex(digest) !== toHex(bytes.subarray(0, statedDigestBytes))) {
      throw new Error('an encrypted batch states another digest than that of its body');
    }
    return { body, digest };
  }

  seal(kind: 'opened' | 'ack', bytes: Uint8Array): Uint8Array {
    return sealFrame(this.keys.down, this.sent++, kind, bytes);
  }
}
