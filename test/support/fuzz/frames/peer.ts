import { fromHex, toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { signHello, type Signer } from '../../../../src/signing/index.js';
import {
  decodeAck, decodeServerFrame, decodeUnsignedReady, encodeClientFrame, encryptedSubprotocol,
  type Ack, type EncryptedAck, type Open, type Opened, type Ready, type Welcome,
} from '../../../../src/wire/index.js';
import { openFrame, type ChannelKeys } from '../../../../src/signing/channel-keys-node.js';
import type { InMemorySession } from '../../../../server/listener/in-memory.js';
import type { SessionSocket } from '../../../../server/listener/context.js';
import { openingOf, type Opening } from '../../encrypted-client.js';
import { must } from './oracle.js';
import { enrolmentOf, serverSigner } from './study.js';
import type { Tally } from './tally.js';
import type { World } from './world.js';

/** One contributor that the server greeted on a socket. */
export interface OpenChannel {
  readonly channel: number;
  readonly signer: Signer;
  readonly studyId: Uint8Array;
  /** The next sequence that an honest client would use. */
  sequence: bigint;
  /** Of an encrypted channel, with the frames of each direction so far. */
  readonly encryption?: { readonly keys: ChannelKeys; sent: number; received: number };
}

/**
 * One hostile socket: hands over bytes, reads every answer as a client does, keeps what later
 * frames need.
 */
export class Peer {
  readonly channels: OpenChannel[] = [];
  welcome: Welcome | undefined;
  closed = false;
  /** The Open that was made last, to be repeated. */
  lastOpen: Open | null = null;
  /** What the server sees of a client that does not read. */
  readonly unread = { bytes: 0 };
  readonly #hellos = new Map<string, Signer>();
  /** Opens without an answer. */
  #openings: (Opening & { readonly signer: Signer })[] = [];
  readonly #session: InMemorySession | null;
  #drain: () => void = () => undefined;

  constructor(private readonly world: World, private readonly tally: Tally, address: string) {
    const goodbye = (how: string): void => {
      this.closed = true;
      tally.count(how);
    };
    const { unread } = this;
    const socket: SessionSocket = {
      address,
      get bufferedBytes() { return unread.bytes; },
      send: (frame) => this.#heard(frame),
      together: (write) => write(),
      pause: () => tally.count('paused'),
      resume: () => undefined,
      ping: () => tally.count('ping'),
      close: (code, reason) => goodbye(`closed ${code} ${reason.replace(/^\d+ /, '')}`),
      terminate: () => goodbye('cut'),
      onDrain: (action) => { this.#drain = action; },
    };
    this.#session = world.listener.connect(socket, encryptedSubprotocol);
    if (this.#session === null) this.closed = true;
    else tally.sessions += 1;
  }

  receive(bytes: Uint8Array, isBinary = true): void {
    this.tally.frames += 1;
    this.tally.bytes += bytes.length;
    if (this.closed) this.tally.count('after the close');
    this.#session?.receive(bytes, isBinary);
  }

  /** Reads what was held back. */
  drain(): void {
    this.unread.bytes = 0;
    this.#drain();
  }

  /** The other side of the close, or a connection lost. */
  end(): void {
    this.#session?.ended();
    this.closed = true;
  }

  /** A Hello as it should be. */
  greet(signer: Signer, studyId: string): void {
    this.receive(this.hello(signer, studyId));
  }

  /** An Open as it should be, unless the share is given: null on a socket without Welcome. */
  open(signer: Signer, studyId: string, clientShare?: Uint8Array): Open | null {
    if (this.welcome === undefined) return null;
    const { publicKey } = signer;
    const enrolment = enrolmentOf(publicKey).token;
    const made = openingOf(this.welcome, studyId, signer, signing.randomBytes(32), clientShare);
    this.#openings.push({ ...made, signer });
    this.lastOpen = { ...made.open, enrolment };
    return this.lastOpen;
  }

  hello(signer: Signer, studyId: string): Uint8Array {
    const id = fromHex(studyId);
    const clientNonce = signing.randomBytes(32);
    const serverNonce = this.welcome?.serverNonce ?? new Uint8Array(32);
    this.#hellos.set(`${studyId} ${toHex(signer.publicKey)}`, signer);
    const context = { serverKey: serverSigner.publicKey, studyId: id };
    const signature = signHello(signer, context, { serverNonce, clientNonce });
    const { publicKey } = signer;
    const enrolment = enrolmentOf(publicKey).token;
    return encodeClientFrame({
      kind: 'hello', studyId: id, publicKey, clientNonce, signature, enrolment,
    });
  }

  #heard(bytes: Uint8Array): void {
    const frame = decodeServerFrame(bytes);
    switch (frame.kind) {
      case 'welcome':
        this.welcome = frame;
        return;
      case 'ready': {
        const signer = this.#hellos.get(`${toHex(frame.studyId)} ${toHex(frame.publicKey)}`);
        must(signer !== undefined, 'Ready answers a Hello');
        return this.#begin(frame, signer!);
      }
      case 'opened':
        return this.#opened(frame);
      case 'encrypted-ack':
        return this.#encryptedAck(frame);
      case 'refusal':
        must(frame.code !== 'internal'
          && frame.code !== 'unspecified', `no client causes ${frame.code}`);
        // Bad bytes under a good signature are named with their channel.
        if (frame.code === 'malformed' && frame.channel > 0) this.tally.passedSignature += 1;
        return this.tally.count(`refusal ${frame.code}`);
      case 'ack':
        return this.#acknowledged(frame);
      default:
        return this.tally.count(frame.kind);
    }
  }

  #begin(
    { kind, channel, studyId, publicKey, nextSequence, holes }: Omit<Ready, 'signature'>,
    signer: Signer, keys?: ChannelKeys,
  ): void {
    this.tally.count(keys === undefined ? kind : 'opened');
    must(this.world.nameOf(studyId) !== 'enrolled'
      || enrolmentOf(publicKey).isGood, 'a channel there has a token');
    this.channels.push({
      channel, signer, studyId, sequence: holes[0] ?? nextSequence,
      ...(keys !== undefined && { encryption: { keys, sent: 0, received: 1 } }),
    });
  }

  #opened({ channel, encrypted }: Opened): void {
    for (const opening of this.#openings) {
      const { keys, signer } = opening;
      const plain = openFrame(keys.down, 0, 'opened', encrypted);
      if (plain === null) continue;
      this.#openings = this.#openings.filter((other) => other !== opening);
      const ready = decodeUnsignedReady(plain);
      must(ready.channel === channel, 'Opened says the same number inside and outside');
      return this.#begin(ready, signer, keys);
    }
    must(false, 'Opened answers an Open, under its key');
  }

  #encryptedAck({ channel, encrypted }: EncryptedAck): void {
    const { encryption } = this.channels.find((each) => each.channel === channel)!;
    const plain = openFrame(encryption!.keys.down, encryption!.received++, 'ack', encrypted);
    must(plain !== null, 'acks open in their order');
    this.#acknowledged(decodeAck(plain!));
  }

  #acknowledged({ rejections }: Ack): void {
    for (const { code } of rejections) {
      must(code !== 'internal' && code !== 'unspecified', `no client causes ${code}`);
      this.tally.count(`rejected ${code}`);
    }
    this.tally.count('ack');
  }
}
