import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { toHex } from '../../src/base/bytes.js';
import { decodePeerFrame } from '../../src/wire/peer-frames.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { SingleUseNonces } from '../base/single-use-nonces.js';
import { refuseUpgrade } from '../network/upgrade.js';
import type { Mesh, TakeSocket } from './mesh.js';
import { challengeHeader, helloHeader, PeerUpgrades } from './peer-socket.js';

/** The time within which a challenge must be answered. */
const challengeMs = 10_000;

/** Strangers can fail as often as they like, so one warning covers all failures of this time. */
const quietMs = 60_000;

/**
 * The endpoint at which other servers dial this one, for all its sealed studies.
 *
 * Nothing is kept for a socket before its other end has proved a key, so strangers use no room of
 * the other servers: an upgrade without an answer to a challenge is refused with one and closed. A
 * challenge is a nonce that only this process can have issued, and it is accepted once, so a
 * recorded proof cannot be sent again.
 */
export class Peers {
  readonly #upgrades = new PeerUpgrades();
  readonly #meshes = new Map<string, Mesh>();
  /** Sockets of other servers. The HTTP server does not know them any more. */
  readonly #raws = new Set<Duplex>();
  readonly #challenges: SingleUseNonces;
  /** Proofs that failed since the last warning. */
  #failed = 0;
  #quietUntilMs = 0;

  constructor(private readonly clock: Clock, private readonly logger: Logger) {
    this.#challenges = new SingleUseNonces(clock, challengeMs);
  }

  add(studyId: string, mesh: Mesh): void {
    this.#meshes.set(studyId, mesh);
  }

  /** @returns false when the upgrade is for somebody else. */
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): boolean {
    if (!this.#upgrades.concerns(request)) return false;
    raw.on('error', () => raw.destroy());
    const begin = this.#proved(request.headers[helloHeader]);
    if (begin === null) {
      refuseUpgrade(raw, {
        status: 401,
        text: `answer the challenge of the header ${challengeHeader} as the protocol says`,
      }, { [challengeHeader]: toHex(this.#challenges.issue()) });
      return true;
    }
    this.#raws.add(raw);
    raw.on('close', () => this.#raws.delete(raw));
    this.#upgrades.take(request, raw, head, begin);
    return true;
  }

  close(): void {
    for (const raw of this.#raws) raw.destroy();
  }

  /** @returns null unless the header is another server's answer to a challenge. */
  #proved(header: string | readonly string[] | undefined): TakeSocket | null {
    if (typeof header !== 'string') return null;
    try {
      const frame = decodePeerFrame(new Uint8Array(Buffer.from(header, 'base64')));
      // The challenge comes first: a signature that is checked costs a request before it.
      if (frame.kind === 'hello' && this.#challenges.take(frame.challenge)) {
        const begin = this.#meshes.get(toHex(frame.studyId))?.accept(frame) ?? null;
        if (begin !== null) return begin;
      }
      this.#warn({});
    } catch (error) {
      this.#warn({ err: error });
    }
    return null;
  }

  #warn(fields: object): void {
    this.#failed++;
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.#quietUntilMs) return;
    this.logger.warn(
      { ...fields, failed: this.#failed }, 'a socket did not prove to be another server');
    this.#failed = 0;
    this.#quietUntilMs = nowMs + quietMs;
  }
}
