import { WireError } from '../../src/base/errors.js';
import {
  sharesBytes, signedMessage, type AsyncSigner, type ContributorCipher,
} from '../../src/signing/index.js';
import {
  decodeAck, decodeUnsignedReady, encodeClientFrame, type Ack, type EncryptedAck, type Opened,
  type Ready,
} from '../../src/wire/index.js';
import { signing } from '../base/signing.js';
import type { VerifiedWelcome } from './handshake.js';

/** The frame that asks for a channel, and the cipher of the channel. */
interface Asked {
  readonly frame: Uint8Array;
  readonly cipher: Promise<ContributorCipher>;
}

/**
 * One Open and the encrypted channel that it opens: docs/reference/protocol.md, section 12. Frames
 * are numbered in each direction, and the number is not sent. So the caller hands over the frames
 * of the channel one after the other, in the order of the socket.
 */
export class Opening {
  private readonly asked: Promise<Asked>;
  /** Its number on this socket, once the server has answered. */
  channel = 0;
  private sent = 0;
  private received = 0;

  constructor(
    who: { readonly signer: AsyncSigner; readonly enrolment?: Uint8Array | undefined },
    welcome: VerifiedWelcome, studyId: Uint8Array,
  ) {
    this.asked = ask(who, welcome, studyId);
  }

  /**
   * The frame that asks for the channel. Rejects with WireError('malformed') for a share of small
   * order.
   */
  get frame(): Promise<Uint8Array> {
    return this.asked.then(({ frame }) => frame);
  }

  /** The Ready that the server sealed for this Open; null if it is the answer to another one. */
  async opened({ channel, encrypted }: Opened): Promise<Ready | null> {
    const bytes = await (await this.cipher()).open(0, 'opened', encrypted);
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
    const encrypted = await (await this.cipher()).seal(number, await signing.sha512(body), body);
    return encodeClientFrame({ kind: 'encrypted-batch', channel, encrypted });
  }

  /** Null if the server did not seal it as the next ack of this channel. */
  async ack({ encrypted }: EncryptedAck): Promise<Ack | null> {
    const bytes = await (await this.cipher()).open(this.received++, 'ack', encrypted);
    return bytes === null ? null : decodeAck(bytes);
  }

  private cipher(): Promise<ContributorCipher> {
    return this.asked.then(({ cipher }) => cipher);
  }
}

async function ask(
  { signer, enrolment }: {
    readonly signer: AsyncSigner; readonly enrolment?: Uint8Array | undefined;
  },
  { server, serverNonce, share: theirs }: VerifiedWelcome,
  studyId: Uint8Array,
): Promise<Asked> {
  const { publicKey } = signer;
  const { share } = theirs!;
  const agreement = await signing.keyAgreement();
  const { share: clientShare } = agreement;
  const digest = await signing.sha512(sharesBytes({ serverNonce, share, clientShare }));
  const context = { serverKey: server.publicKey, studyId };
  const message = signedMessage('open', context, publicKey, digest);
  const [signature, agreed] = await Promise.all([signer.sign(message), agreement.agree(share)]);
  // A share of small order agrees with every secret on 0, so anybody could make the keys.
  if (agreed === null) {
    throw new WireError('malformed', 'the key share of the server is a point of small order: no '
      + 'honest server has one, so ask the operator before you trust it');
  }
  return {
    frame: encodeClientFrame({
      kind: 'open', studyId, publicKey, clientShare, signature, enrolment,
    }),
    cipher: signing.contributorCipher(agreed, message),
  };
}
