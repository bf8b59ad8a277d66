import { signing } from '#signing';
import { openMessage, type ContributorCipher, type Signer } from '../../src/signing/index.js';
import {
  decodeAck, decodeUnsignedReady, encodeClientFrame, type Ack, type EncryptedAck, type Opened,
  type Ready,
} from '../../src/wire/index.js';
import type { VerifiedWelcome } from './handshake.js';

/** X25519 of a secret and this point is the secret's share (RFC 7748). */
const basePoint = Uint8Array.of(9, ...new Uint8Array(31));

/**
 * One Open and the encrypted channel that it opens: docs/reference/protocol.md, section 12. Frames
 * are numbered in each direction, and the number is not sent. So the caller hands over the frames
 * of the channel one after the other, in the order of the socket.
 */
export class Opening {
  /** The frame that asks for the channel. */
  readonly frame: Uint8Array;
  private readonly cipher: Promise<ContributorCipher>;
  /** Its number on this socket, once the server has answered. */
  channel = 0;
  private sent = 0;
  private received = 0;

  /** @param makeCipher `signing.contributorCipher` of this platform. */
  constructor(
    { signer, enrolment }: {
      readonly signer: Signer; readonly enrolment?: Uint8Array | undefined;
    },
    { server, serverNonce, share: theirs }: VerifiedWelcome,
    studyId: Uint8Array,
    makeCipher: NonNullable<typeof signing.contributorCipher>,
  ) {
    const secret = signing.randomBytes(32);
    const clientShare = signing.x25519(secret, basePoint);
    const { publicKey } = signer;
    const { share } = theirs!;
    const message = openMessage(
      publicKey, { serverKey: server.publicKey, studyId }, { serverNonce, share, clientShare },
      signing,
    );
    this.frame = encodeClientFrame({
      kind: 'open', studyId, publicKey, clientShare, signature: signer.sign(message), enrolment,
    });
    const agreed = signing.x25519(secret, share);
    secret.fill(0);
    this.cipher = makeCipher(agreed, message);
  }

  /** The Ready that the server sealed for this Open; null if it is the answer to another one. */
  async opened({ channel, encrypted }: Opened): Promise<Ready | null> {
    const bytes = await (await this.cipher).open(0, 'opened', encrypted);
    if (bytes === null) return null;
    this.channel = channel;
    this.received = 1;
    const ready = decodeUnsignedReady(bytes);
    return ready.channel === channel ? ready : null;
  }

  /** The frame of a batch. */
  async batch(body: Uint8Array): Promise<Uint8Array> {
    const { channel } = this;
    const number = this.sent++;
    const encrypted = await (await this.cipher).seal(number, signing.sha512(body), body);
    return encodeClientFrame({ kind: 'encrypted-batch', channel, encrypted });
  }

  /** Null if the server did not seal it as the next ack of this channel. */
  async ack({ encrypted }: EncryptedAck): Promise<Ack | null> {
    const bytes = await (await this.cipher).open(this.received++, 'ack', encrypted);
    return bytes === null ? null : decodeAck(bytes);
  }
}
