import { fromHex, toHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { signHello, type Signer } from '../../../../src/signing/index.js';
import {
  decodeServerFrame, encodeClientFrame, encryptedSubprotocol, type Welcome,
} from '../../../../src/wire/index.js';
import type { InMemorySession } from '../../../../server/listener/in-memory.js';
import type { SessionSocket } from '../../../../server/listener/context.js';
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
}

/**
 * One hostile socket: hands over bytes, reads every answer as a client does, keeps what later
 * frames need.
 */
export class Peer {
  readonly channels: OpenChannel[] = [];
  welcome: Welcome | undefined;
  closed = false;
  /** What the server sees of a client that does not read. */
  readonly unread = { bytes: 0 };
  readonly #hellos = new Map<string, Signer>();
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
        this.tally.count('ready');
        const { channel, studyId, publicKey, nextSequence, holes } = frame;
        const signer = this.#hellos.get(`${toHex(studyId)} ${toHex(publicKey)}`);
        must(signer !== undefined, 'Ready answers a Hello');
        must(this.world.nameOf(studyId) !== 'enrolled'
          || enrolmentOf(publicKey).isGood, 'a channel there has a token');
        this.channels
          .push({ channel, signer: signer!, studyId, sequence: holes[0] ?? nextSequence });
        return;
      }
      case 'refusal':
        must(frame.code !== 'internal'
          && frame.code !== 'unspecified', `no client causes ${frame.code}`);
        // Bad bytes under a good signature are named with their channel.
        if (frame.code === 'malformed' && frame.channel > 0) this.tally.passedSignature += 1;
        return this.tally.count(`refusal ${frame.code}`);
      case 'ack':
        for (const { code } of frame.rejections) {
          must(code !== 'internal' && code !== 'unspecified', `no client causes ${code}`);
          this.tally.count(`rejected ${code}`);
        }
        return this.tally.count('ack');
      default:
        return this.tally.count(frame.kind);
    }
  }
}
