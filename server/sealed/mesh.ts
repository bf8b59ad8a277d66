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
import { dialPeer, type PeerSocket, type SocketHandlers } from './peer-socket.js';

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

type Hello = Extract<PeerFrame, { readonly kind: 'hello' }>;

const retryMs = { least: 100, most: 5_000 } as const;
const handshakeMs = 10_000;

/**
 * The links of one server to the two others of a sealed study. A server dials those that come
 * before it in the study's list. Both ends prove their keys over fresh nonces, for this study and
 * for this pair of servers, so nobody can pass another's proof on.
 */
export class Mesh {
  readonly #links = new Map<ServerIndex, PeerLink>();
  readonly #keys: readonly Uint8Array[];
  readonly #studyId: Uint8Array;
  #wake: (() => void) | null = null;
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

  /** The names of the servers that are connected. */
  get connectedNames(): readonly string[] {
    return [...this.#links.keys()].map((server) => this.options.sealed.servers[server].name);
  }

  /**
   * Waits until both other servers are connected.
   * @param waitMs - null: for ever. @returns null when the time is over, or the mesh is closed.
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
   * Another server dialled this one and sent its Hello.
   * @returns what happens on the socket from now on; null when the Hello is not valid.
   */
  accept(socket: PeerSocket, hello: Hello, challenge: Uint8Array): SocketHandlers | null {
    const from = servers.find((server) => server === hello.from);
    if (from === undefined || from <= this.server || this.#isClosed) return null;
    const said = { from, to: this.server, challenge, nonce: hello.nonce } as const;
    if (!this.#isSaid(from, { about: 'hello', ...said }, hello.signature)) return null;
    socket.send(encodePeerFrame({
      kind: 'ready', signature: this.#say({ about: 'ready', ...said }),
    }));
    return this.#hold(socket, from).handlers;
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
    this.#links.get(server)?.close();
    this.#links.set(server, link);
    void link.closed.then(() => {
      if (this.#links.get(server) === link) this.#links.delete(server);
    });
    this.#wake?.();
    return link;
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
    const { clock, sealed } = this.options;
    const nonce = signing.randomBytes(32);
    const state: { link?: PeerLink; said?: SaidAt } = {};
    return new Promise<PeerLink>((resolve, reject) => {
      let socket: PeerSocket | null = null;
      let challengeFirst: Uint8Array | null = null;
      let isOver = false;
      const cancel = clock.after(handshakeMs, () => fail(new Error('no answer in time')));
      const fail = (error: Error): void => {
        isOver = true;
        cancel();
        socket?.close();
        reject(error);
      };
      const onFrame = (bytes: Uint8Array): void => {
        const frame = decodePeerFrame(bytes);
        if (frame.kind === 'challenge' && state.said === undefined) {
          const said = { from: this.server, to: server, challenge: frame.nonce, nonce };
          state.said = said;
          socket!.send(encodePeerFrame({
            kind: 'hello', studyId: this.#studyId, from: this.server, nonce,
            signature: this.#say({ about: 'hello', ...said }),
          }));
        } else if (frame.kind === 'ready' && state.said !== undefined
          && this.#isSaid(server, { about: 'ready', ...state.said }, frame.signature)) {
          cancel();
          state.link = this.#hold(socket!, server);
          resolve(state.link);
        } else {
          throw new WireError('bad-signature', `server ${server} did not prove its key`);
        }
      };
      const take = (bytes: Uint8Array): void => {
        try {
          onFrame(bytes);
        } catch (error) {
          fail(error as Error);
        }
      };
      dialPeer(sealed.servers[server].url, {
        onMessage: (bytes) => {
          if (state.link !== undefined) return state.link.handlers.onMessage(bytes);
          if (isOver) return;
          // The challenge may come before the promise of the socket resolves.
          if (socket === null) challengeFirst = bytes.slice();
          else take(bytes);
        },
        onClose: (why) => {
          if (state.link !== undefined) state.link.handlers.onClose(why);
          else fail(new Error(why));
        },
      }).then((opened) => {
        socket = opened;
        // A new attempt may be under way: two links would replace each other.
        if (isOver) opened.close();
        else if (challengeFirst !== null) take(challengeFirst);
      }, fail);
    });
  }
}

interface SaidAt {
  readonly from: ServerIndex;
  readonly to: ServerIndex;
  readonly challenge: Uint8Array;
  readonly nonce: Uint8Array;
}
