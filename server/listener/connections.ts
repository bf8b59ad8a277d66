import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { subprotocols } from '../../src/wire/index.js';
import type { ListenerContext } from './context.js';
import { Sessions } from './sessions.js';
import { connectSession, sessionSocket } from './socket.js';
import type { UnfinishedMessages } from './unfinished.js';
import {
  judgeUpgrade, refuseUpgrade, type BrowserRules, type UpgradeRefusal,
} from '../network/upgrade.js';

/** The WebSocket connections of a listener. */
export class Connections {
  readonly #server: WebSocketServer;
  readonly #sessions: Sessions;
  /**
   * Every TCP connection that asked for an upgrade, accepted or refused. The HTTP server no longer
   * tracks these.
   */
  readonly #raws = new Set<Duplex>();

  constructor(
    private readonly context: ListenerContext,
    private readonly rules: BrowserRules,
    private readonly unfinished: UnfinishedMessages,
  ) {
    const { closeTimeoutMs, frameBytes } = context.limits;
    const settings = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: frameBytes,
      // A frame arrives in network reads, each in its own buffer. These limits bound the buffers of
      // a sender of tiny pieces, and allow the largest frame in pieces of 512 bytes.
      maxFragments: 64,
      maxBufferedChunks: Math.max(64, Math.ceil(frameBytes / 512)),
      skipUTF8Validation: true,
      // The package's types do not have this option yet.
      closeTimeout: closeTimeoutMs,
      handleProtocols: bestSubprotocol,
    };
    this.#server = new WebSocketServer(settings);
    this.#sessions = new Sessions(context);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** For the HTTP server's 'upgrade' event. */
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    // Before ws takes over there is no other error listener, and a reset must not stop the process.
    raw.on('error', () => raw.destroy());
    raw.on('close', () => this.#raws.delete(raw));
    this.#raws.add(raw);
    const address = this.context.clientAddress(request);
    const refusal = this.#sessions.roomFor(address) ?? this.#isHasty(request, address)
      ?? judgeUpgrade(request, this.rules);
    if (refusal !== undefined) return refuseUpgrade(raw, refusal);
    this.#server.handleUpgrade(request, raw, head, (ws) => this.#begin(ws, raw, address));
  }

  /** For clients behind a trusted proxy. Direct connections were counted before a byte was read. */
  #isHasty(request: IncomingMessage, address: string): UpgradeRefusal | undefined {
    const { connectionRates, isTrustedProxy, limits } = this.context;
    if (!isTrustedProxy(request.socket.remoteAddress) || connectionRates.take(address)) {
      return undefined;
    }
    const text =
      `an address may open ${limits.connectionsPerSecond} connections per second: slow down`;
    return { status: 429, text };
  }

  /** Closes every session with a close frame. */
  stop(): void {
    this.#sessions.stop();
  }

  /** Cuts the remaining connections. */
  terminate(): void {
    this.#sessions.terminate();
    for (const raw of [...this.#raws]) raw.destroy();
  }

  #begin(ws: WebSocket, raw: Duplex, address: string): void {
    const { context } = this;
    this.unfinished.watch(ws, raw);
    const session = this.#sessions.begin(sessionSocket(ws, raw, address), ws.protocol);
    connectSession(ws, session, (error) => {
      context.metrics.socketsClosed.add(1, { reason: closeReason(error) });
      context.logger.debug({ address, reason: closeReason(error) }, 'a socket failed');
    });
    ws.on('close', () => this.#sessions.end(session));
    session.start();
  }
}

/** The best subprotocol that a client offers. It offers one at least, which was checked before. */
function bestSubprotocol(offered: ReadonlySet<string>): string {
  return subprotocols.find((name) => offered.has(name))!;
}

/**
 * A stable word for the error that ws found: its own codes, e.g. WS_ERR_UNSUPPORTED_MESSAGE_LENGTH.
 */
function closeReason(error: Error): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'socket-error';
}
