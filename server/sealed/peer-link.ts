import { KeelsonError } from '../../src/base/errors.js';
import type { ServerIndex } from '../../src/sealed/shares/body.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import { peerFrameBytes, type PeerFrame } from '../../src/wire/peer-messages.js';
import type { Clock } from '../base/clock.js';
import type { PeerSocket, SocketHandlers } from './peer-socket.js';

/** The end of a session between servers. `details.reason` is for the log and the other servers. */
export class PeerLostError extends KeelsonError {
  /** @param server the server that hinders the others, where one does. */
  constructor(
    readonly reason: 'closed' | 'silent' | 'unexpected' | 'stopped' | 'flooded' | 'replaced',
    message: string, readonly server: ServerIndex | null = null,
  ) {
    super('transport-failed', message, { retryable: true, details: { reason } });
  }
}

type Frame<K extends PeerFrame['kind']> = Extract<PeerFrame, { readonly kind: K }>;

/** Bytes of frames that wait to be read. An honest server sends the boxes of one epoch at most. */
const waitingBytesMax = 2 ** 31;
/** The same before anything is read. An honest server waits for an answer to its first frame. */
const unreadBytesMax = peerFrameBytes;
/** The overhead of a waiting frame, in bytes. Without it, many small ones would take more. */
const frameBytes = 512;
const pingMs = 20_000;

/**
 * The socket to one other server, whose key was proved. Frames are read in the order in which they
 * came. A frame that does not come in time, or is another than the one that is due, is a
 * `PeerLostError`: the session ends, and both ends begin again with a new socket.
 */
export class PeerLink {
  readonly #frames: { readonly frame: PeerFrame; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #lost: PeerLostError | null = null;
  #wake: (() => void) | null = null;
  #cancelPing: (() => void) | undefined;
  #isAlive = true;
  #isRead = false;
  readonly closed: Promise<void>;
  #tellClosed!: () => void;

  constructor(
    private readonly socket: PeerSocket, readonly server: ServerIndex,
    private readonly clock: Clock,
  ) {
    this.closed = new Promise((resolve) => { this.#tellClosed = resolve; });
    this.#ping();
  }

  /** The reason why the link ended; null while it is open. */
  get lost(): PeerLostError | null {
    return this.#lost;
  }

  get isOpen(): boolean {
    return this.#lost === null;
  }

  /** For the socket's events after the handshake. */
  readonly handlers: SocketHandlers = {
    onMessage: (bytes) => this.#take(bytes),
    onClose: (why) => this.#lose(this.#because('closed', why)),
  };

  send(frame: PeerFrame): void {
    if (this.#lost !== null) throw this.#lost;
    this.socket.send(encodePeerFrame(frame));
  }

  /**
   * The next frame.
   * @param timeoutMs - null: waits as long as the link is open.
   * @throws PeerLostError
   */
  async next(timeoutMs: number | null): Promise<PeerFrame> {
    this.#isRead = true;
    if (this.#frames.length === 0 && this.#lost === null) await this.#arrival(timeoutMs);
    const first = this.#frames.shift();
    if (first === undefined) throw this.#lost!;
    this.#waitingBytes -= first.bytes;
    const { frame } = first;
    if (frame.kind !== 'stop') return frame;
    throw this.#because('stopped', `it stopped: ${frame.code}`);
  }

  /** The next frame, which must be of this kind. @throws PeerLostError */
  async receive<K extends PeerFrame['kind']>(kind: K, timeoutMs: number): Promise<Frame<K>> {
    const frame = await this.next(timeoutMs);
    if (frame.kind === kind) return frame as Frame<K>;
    throw this.#because('unexpected', `it sent ${frame.kind} where ${kind} belongs`);
  }

  /**
   * @param code - sent to the other end, if present.
   * @param lost - why, for those who wait for a frame; default: this server closed it.
   */
  close(code?: string, lost = this.#because('closed', 'the link was closed here')): void {
    if (this.#lost === null && code !== undefined) this.send({ kind: 'stop', code });
    this.socket.close();
    this.#lose(lost);
  }

  /** Another link to the same server replaces this one. */
  replace(): void {
    this.close(undefined, this.#because('replaced', 'it connected anew while it was connected'));
  }

  #because(reason: PeerLostError['reason'], why: string): PeerLostError {
    return new PeerLostError(reason, `server ${this.server}: ${why}`, this.server);
  }

  #take(bytes: Uint8Array): void {
    if (this.#lost !== null) return;
    this.#isAlive = true;
    try {
      const taken = { frame: decodePeerFrame(bytes), bytes: bytes.length + frameBytes };
      this.#frames.push(taken);
      this.#waitingBytes += taken.bytes;
    } catch (error) {
      return this.#cut(this.#because('unexpected', (error as Error).message));
    }
    if (this.#waitingBytes > (this.#isRead ? waitingBytesMax : unreadBytesMax)) {
      this.#frames.length = 0;
      this.#waitingBytes = 0;
      this.#cut(this.#because('flooded', 'it sent too much at once'));
    }
    this.#wake?.();
  }

  #arrival(timeoutMs: number | null): Promise<void> {
    return new Promise((resolve) => {
      const cancel = timeoutMs === null ? undefined : this.clock.after(timeoutMs, () => {
        this.#cut(this.#because('silent', `it sent nothing for ${timeoutMs} ms`));
      });
      this.#wake = () => {
        this.#wake = null;
        cancel?.();
        resolve();
      };
    });
  }

  #ping(): void {
    this.#cancelPing = this.clock.after(pingMs, () => {
      if (!this.#isAlive) {
        return this.#cut(this.#because('silent', 'it does not answer'));
      }
      this.#isAlive = false;
      this.socket.ping(() => { this.#isAlive = true; });
      this.#ping();
    });
  }

  #cut(lost: PeerLostError): void {
    this.socket.close();
    this.#lose(lost);
  }

  #lose(lost: PeerLostError): void {
    if (this.#lost !== null) return;
    this.#lost = lost;
    this.#cancelPing?.();
    this.#wake?.();
    this.#tellClosed();
  }
}

/** The links of a server to the two others, by their number. */
export type PeerLinks = ReadonlyMap<ServerIndex, PeerLink>;
