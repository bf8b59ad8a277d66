import { signing } from '#signing';
import { fromHex } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { isSealedStatement, signSealedStatement } from '../../src/sealed/shares/statements.js';
import type { Signer } from '../../src/signing/index.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import type { PeerFrame } from '../../src/wire/peer-messages.js';
import type { SealedFacts } from '../../src/wire/study-document.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { PeerLink, type PeerLinks } from './peer-link.js';
import {
  challengeFrom, dialPeer, type PeerSocket, type SocketHandlers,
} from './peer-socket.js';

export interface MeshOptions {
  /** Hex. */
  readonly studyId: string;
  readonly sealed: SealedFacts;
  /** This server's number. */
  readonly server: ServerIndex;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Accepts a socket that has just opened, and returns its handlers. */
export type TakeSocket = (socket: PeerSocket) => SocketHandlers;

type Hello = Extract<PeerFrame, { readonly kind: 'hello' }>;

const retryMs = { least: 100, most: 5_000 } as const;
const handshakeMs = 10_000;
const quietMs = 60_000;

/**
 * The links of one server to the two others of a sealed study. A server dials those that come
 * before it in the study's list. Both ends prove their keys over fresh nonces, for this study and
 * for this pair of servers, so nobody can forward another's proof.
 */
export class Mesh {
  readonly #links = new Map<ServerIndex, PeerLink>();
  readonly #keys: readonly Uint8Array[];
  readonly #studyId: Uint8Array;
  #wake: (() => void) | null = null;
  /** Until when no more is logged of a server that connects again and again. */
  readonly #quietUntilMs = new Map<ServerIndex, number>();
  #isClosed = false;
  #isInterrupted = false;

  constructor(private readonly options: MeshOptions) {
    this.#keys = options.sealed.servers.map(({ key }) => fromHex(key));
    this.#studyId = fromHex(options.studyId);
    for (const other of servers) if (other < options.server) void this.#keepDialling(other);
  }

  get server(): ServerIndex {
    return this.options.server;
  }

  /**
   * Waits until both other servers are connected.
   * @param waitMs - null: without end. @returns null when the time is over, or the mesh is closed.
   */
  async connected(waitMs: number | null): Promise<PeerLinks | null> {
    let isOver = false;
    const cancel = waitMs === null ? undefined
      : this.options.clock.after(waitMs, () => { isOver = true; this.#wake?.(); });
    this.#isInterrupted = false;
    while (this.#links.size < 2 && !isOver && !this.#isInterrupted && !this.#isClosed) {
      await new Promise<void>((resolve) => { this.#wake = resolve; });
    }
    cancel?.();
    return this.#links.size === 2 ? new Map(this.#links) : null;
  }

  /** Ends a wait for the others early: there is something else to do. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close('shutting-down');
    this.#wake?.();
  }

  /**
   * Another server dials this one and sent its Hello.
   * @returns a function that accepts the socket once it is open; null when the Hello is not valid.
   */
  accept(hello: Hello): TakeSocket | null {
    const from = servers.find((server) => server === hello.from);
    if (from === undefined || from <= this.server || this.#isClosed) return null;
    const said = { from, to: this.server, challenge: hello.challenge, nonce: hello.nonce } as const;
    if (!this.#isSaid(from, { about: 'hello', ...said }, hello.signature)) return null;
    return (socket) => {
      socket.send(encodePeerFrame({
        kind: 'ready', signature: this.#say({ about: 'ready', ...said }),
      }));
      return this.#hold(socket, from).handlers;
    };
  }

  #say(statement: Parameters<typeof signSealedStatement>[3]): Uint8Array {
    return signSealedStatement(signing, this.options.signer, this.#studyId, statement);
  }

  #isSaid(
    server: ServerIndex, statement: Parameters<typeof isSealedStatement>[3], signature: Uint8Array,
  ): boolean {
    const verifier = signing.createVerifier(this.#keys[server]!);
    return isSealedStatement(signing, verifier, this.#studyId, statement, signature);
  }

  #hold(socket: PeerSocket, server: ServerIndex): PeerLink {
    const link = new PeerLink(socket, server, this.options.clock);
    if (this.#isClosed) {
      link.close('shutting-down');
      return link;
    }
    this.#replace(server);
    this.#links.set(server, link);
    void link.closed.then(() => {
      if (this.#links.get(server) === link) this.#links.delete(server);
    });
    this.#wake?.();
    return link;
  }

  /** A server that lost its connection comes back so, once. More often: two have its key. */
  #replace(server: ServerIndex): void {
    const old = this.#links.get(server);
    if (old === undefined) return;
    const { sealed, clock, logger } = this.options;
    const nowMs = clock.monotonicMs();
    if (nowMs >= (this.#quietUntilMs.get(server) ?? 0)) {
      this.#quietUntilMs.set(server, nowMs + quietMs);
      logger.warn({ server: sealed.servers[server].name }, 'another server connected anew while it '
        + 'was connected: if this goes on, look for a second process with its key');
    }
    old.replace();
  }

  async #keepDialling(server: ServerIndex): Promise<void> {
    const { clock, logger, sealed } = this.options;
    let delayMs: number = retryMs.least;
    while (!this.#isClosed) {
      try {
        const link = await this.#dial(server);
        delayMs = retryMs.least;
        await link.closed;
      } catch (error) {
        logger.debug(
          { server: sealed.servers[server].name, err: error }, 'another server is not reached',
        );
      }
      await new Promise<void>((resolve) => { clock.after(delayMs, resolve); });
      delayMs = Math.min(2 * delayMs, retryMs.most);
    }
  }

  /** Dials a server and proves this one's key to it. */
  async #dial(server: ServerIndex): Promise<PeerLink> {
    const { sealed } = this.options;
    const { url } = sealed.servers[server];
    const said = {
      from: this.server, to: server, challenge: await challengeFrom(url),
      nonce: signing.randomBytes(32),
    } as const;
    const hello = encodePeerFrame({
      kind: 'hello', studyId: this.#studyId, from: said.from, challenge: said.challenge,
      nonce: said.nonce, signature: this.#say({ about: 'hello', ...said }),
    });
    return new Promise<PeerLink>((resolve, reject) => {
      dialPeer(url, hello, (socket) => this.#awaitReady(socket, said, resolve, reject))
        .catch(reject);
    });
  }

  /** On an open socket: the server that was dialled proves its key first. */
  #awaitReady(
    socket: PeerSocket, said: Said, resolve: (link: PeerLink) => void,
    reject: (error: Error) => void,
  ): SocketHandlers {
    let link: PeerLink | null = null;
    let isOver = false;
    const fail = (error: Error): void => {
      isOver = true;
      cancel();
      socket.close();
      reject(error);
    };
    const cancel = this.options.clock.after(
      handshakeMs, () => fail(new Error('no answer in time')));
    return {
      onMessage: (bytes) => {
        if (link !== null) return link.handlers.onMessage(bytes);
        if (isOver) return;
        try {
          const frame = decodePeerFrame(bytes);
          if (frame.kind !== 'ready'
            || !this.#isSaid(said.to, { about: 'ready', ...said }, frame.signature)) {
            throw new WireError('bad-signature', `server ${said.to} did not prove its key`);
          }
          cancel();
          link = this.#hold(socket, said.to);
          resolve(link);
        } catch (error) {
          fail(error as Error);
        }
      },
      onClose: (why) => {
        if (link !== null) link.handlers.onClose(why);
        else if (!isOver) fail(new Error(why));
      },
    };
  }
}

/** The fields that both servers sign. */
interface Said {
  readonly from: ServerIndex;
  readonly to: ServerIndex;
  readonly challenge: Uint8Array;
  readonly nonce: Uint8Array;
}
