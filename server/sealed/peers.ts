import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Mesh } from './mesh.js';
import { PeerUpgrades, type PeerSocket, type SocketHandlers } from './peer-socket.js';

/** Sockets whose other end has not proved a key, at most. */
const unprovenMax = 32;
const handshakeMs = 10_000;

/** Where other servers dial this one, for all its sealed studies. */
export class Peers {
  readonly #upgrades = new PeerUpgrades();
  readonly #meshes = new Map<string, Mesh>();
  /** Sockets of others, from the first byte on. The HTTP server does not know them any more. */
  readonly #raws = new Set<Duplex>();
  #unproven = 0;

  constructor(private readonly clock: Clock, private readonly logger: Logger) {}

  add(studyId: string, mesh: Mesh): void {
    this.#meshes.set(studyId, mesh);
  }

  /** @returns false when the upgrade is for somebody else. */
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): boolean {
    if (!this.#upgrades.concerns(request)) return false;
    this.#raws.add(raw);
    raw.on('close', () => this.#raws.delete(raw));
    if (this.#unproven >= unprovenMax) raw.destroy();
    else this.#upgrades.take(request, raw, head, (socket) => this.#begin(socket));
    return true;
  }

  close(): void {
    for (const raw of this.#raws) raw.destroy();
  }

  /** Sends a challenge. The first message must answer it, and then belongs to a mesh. */
  #begin(socket: PeerSocket): SocketHandlers {
    const challenge = signing.randomBytes(32);
    let handlers: SocketHandlers | null = null;
    let isOver = false;
    this.#unproven += 1;
    const settle = (): void => {
      if (isOver) return;
      isOver = true;
      this.#unproven -= 1;
      cancel();
    };
    const cancel = this.clock.after(handshakeMs, () => { settle(); socket.close(); });
    socket.send(encodePeerFrame({ kind: 'challenge', nonce: challenge }));
    return {
      onMessage: (bytes) => {
        if (handlers !== null) return handlers.onMessage(bytes);
        if (isOver) return;
        settle();
        handlers = this.#accepted(socket, bytes, challenge);
        if (handlers === null) socket.close();
      },
      onClose: (why) => {
        settle();
        handlers?.onClose(why);
      },
    };
  }

  #accepted(
    socket: PeerSocket, bytes: Uint8Array, challenge: Uint8Array,
  ): SocketHandlers | null {
    try {
      const frame = decodePeerFrame(bytes);
      if (frame.kind !== 'hello') return null;
      const mesh = this.#meshes.get(toHex(frame.studyId));
      const handlers = mesh?.accept(socket, frame, challenge) ?? null;
      if (handlers === null) this.logger.warn({}, 'a socket did not prove to be another server');
      return handlers;
    } catch (error) {
      this.logger.warn({ err: error }, 'a socket did not prove to be another server');
      return null;
    }
  }
}
