import { concatBytes, fromHex } from '../../src/base/bytes.js';
import {
  channelKeys, openFrame, sealFrame, type ChannelKeys,
} from '../../src/signing/channel-keys-node.js';
import { openMessage, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import {
  decodeAck, decodeUnsignedReady, encodeBatchBody, encodeRows, encryptedSubprotocol, type Ack,
  type BatchBody, type EncryptedBatch, type Open, type Ready, type Welcome,
} from '../../src/wire/index.js';
import { newSigner, WireClient } from './wire-client.js';

const basePoint = Uint8Array.of(9, ...new Uint8Array(31));

/** A socket with encrypted channels. */
export const openEncrypted = (port: number): Promise<WireClient> =>
  WireClient.open(port, {}, undefined, encryptedSubprotocol);

/** An Open that was not sent yet, and what it would open. */
export interface Opening {
  readonly open: Open;
  readonly keys: ChannelKeys;
}

/** @param secret of the client share. */
export async function opening(
  client: WireClient, studyId: string, signer: Signer, secret = signing.randomBytes(32),
): Promise<Opening> {
  const welcome: Welcome = client.frames.find((frame) => frame.kind === 'welcome')
    ?? await client.next('welcome');
  return openingOf(welcome, studyId, signer, secret);
}

/**
 * @param welcome of a socket with encrypted channels.
 * @param clientShare another than that of the secret opens nothing.
 */
export function openingOf(
  welcome: Welcome, studyId: string, signer: Signer, secret = signing.randomBytes(32),
  clientShare = signing.x25519(secret, basePoint),
): Opening {
  const { share } = welcome.share!;
  const context = { serverKey: welcome.serverKey, studyId: fromHex(studyId) };
  const shares = { serverNonce: welcome.serverNonce, share, clientShare };
  const message = openMessage(signer.publicKey, context, shares, signing);
  return {
    open: {
      kind: 'open', studyId: context.studyId, publicKey: signer.publicKey, clientShare,
      signature: signer.sign(message),
    },
    keys: channelKeys(signing.x25519(secret, share), message),
  };
}

/** One contributor on an encrypted channel. It counts its frames, and a test may lie about them. */
export class EncryptedContributor {
  sent = 0;
  received = 0;
  ready!: Ready;

  constructor(
    readonly client: WireClient, readonly studyId: string, readonly keys: ChannelKeys,
    readonly channel: number,
  ) {}

  static async open(
    client: WireClient, studyId: string, signer = newSigner(),
  ): Promise<EncryptedContributor> {
    const { open, keys } = await opening(client, studyId, signer);
    client.send(open);
    const opened = await client.next('opened', 'refusal');
    if (opened.kind === 'refusal') throw new Error(`refused: ${opened.code}`);
    const own = new EncryptedContributor(client, studyId, keys, opened.channel);
    const ready = openFrame(keys.down, own.received++, 'opened', opened.encrypted)!;
    own.ready = decodeUnsignedReady(ready);
    return own;
  }

  /** The frame of the next number, of one row unless told otherwise. */
  batch(
    sequence: bigint, change: Partial<BatchBody> = {}, digest?: Uint8Array,
  ): EncryptedBatch {
    const body = encodeBatchBody({
      studyId: fromHex(this.studyId), sequence, epoch: 7n, last: false, rows: 1, columns: 2,
      dataType: 'float64', data: encodeRows(Float64Array.of(1, 2), 'float64'), ...change,
    });
    return this.sealed(concatBytes(digest ?? signing.sha512(body), body));
  }

  sealed(plain: Uint8Array): EncryptedBatch {
    return {
      kind: 'encrypted-batch', channel: this.channel,
      encrypted: sealFrame(this.keys.up, this.sent++, 'batch', plain),
    };
  }

  async ack(): Promise<Ack> {
    const frame = await this.client.next('encrypted-ack');
    const plain = openFrame(this.keys.down, this.received++, 'ack', frame.encrypted);
    if (plain === null) throw new Error('an ack does not open');
    return decodeAck(plain);
  }

  async send(sequence: bigint, change: Partial<BatchBody> = {}): Promise<Ack> {
    this.client.send(this.batch(sequence, change));
    return this.ack();
  }
}
