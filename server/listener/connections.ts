import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { subprotocol } from '../../src/wire/index.js';
import type { ListenerContext } from './context.js';
import { Session } from './session.js';
import { connectSession, sessionSocket } from './socket.js';
import { judgeUpgrade, type BrowserRules, type UpgradeRefusal } from './upgrade.js';

/** The WebSocket connections of a listener. */
export class Connections {
  readonly #server: WebSocketServer;
  readonly #sessions = new Map<WebSocket, Session>();
  /** Every TCP connection that asked for an upgrade, taken or refused: the HTTP server forgets these. */
  readonly #raws = new Set<Duplex>();
  readonly #perAddress = new Map<string, number>();
  #cancelCheck: () => void = () => undefined;

  constructor(private readonly context: ListenerContext, private readonly rules: BrowserRules) {
    const { closeTimeoutMs, frameBytes } = context.limits;
    const settings = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: frameBytes,
      // A frame arrives in network reads, each a buffer of its own. These bound the buffers of a sender
      // that dribbles, and leave room for the largest frame in pieces of 512 bytes.
      maxFragments: 64,
      maxBufferedChunks: Math.max(64, Math.ceil(frameBytes / 512)),
      skipUTF8Validation: true,
      // Not yet in the package's types.
      closeTimeout: closeTimeoutMs,
      handleProtocols: () => subprotocol,
    };
    this.#server = new WebSocketServer(settings);
    this.#scheduleCheck();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** For the HTTP server's 'upgrade' event. */
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    // Until ws takes over, nobody else listens: a reset here must not stop the process.
    raw.on('error', () => raw.destroy());
    raw.on('close', () => this.#raws.delete(raw));
    this.#raws.add(raw);
    const address = this.context.clientAddress(request);
    const refusal = this.#roomFor(address) ?? judgeUpgrade(request, this.rules);
    if (refusal !== undefined) return refuseUpgrade(raw, refusal);
    this.#server.handleUpgrade(request, raw, head, (ws) => this.#begin(ws, raw, address));
  }

  /** Every session says goodbye. */
  stop(): void {
    this.#cancelCheck();
    for (const session of [...this.#sessions.values()]) session.stop();
  }

  /** Whatever is left is cut. */
  terminate(): void {
    this.#cancelCheck();
    for (const ws of [...this.#sessions.keys()]) ws.terminate();
    for (const raw of [...this.#raws]) raw.destroy();
  }

  #roomFor(address: string): UpgradeRefusal | undefined {
    const { limits, stopping } = this.context;
    if (stopping) return { status: 503, text: 'the server is stopping: connect again later' };
    if (this.#sessions.size >= limits.sockets) {
      return { status: 503, text: `the server holds its ${limits.sockets} connections: connect again later` };
    }
    if ((this.#perAddress.get(address) ?? 0) >= limits.socketsPerAddress) {
      const text = `an address may hold ${limits.socketsPerAddress} connections: put more contributors on each`;
      return { status: 429, text };
    }
    return undefined;
  }

  #begin(ws: WebSocket, raw: Duplex, address: string): void {
    const { context } = this;
    const session = new Session(context, sessionSocket(ws, raw, address));
    connectSession(ws, session, (error) => {
      context.metrics.socketsClosed.add(1, { reason: closeReason(error) });
      context.logger.debug({ address, reason: closeReason(error) }, 'a socket failed');
    });
    this.#sessions.set(ws, session);
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    context.metrics.totals.sockets += 1;
    ws.on('close', () => this.#end(ws, address));
    session.start();
  }

  #end(ws: WebSocket, address: string): void {
    if (!this.#sessions.delete(ws)) return;
    this.context.metrics.totals.sockets -= 1;
    this.context.settled.fire();
    const left = (this.#perAddress.get(address) ?? 1) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }

  /** One timer for all sockets: often enough that no limit is overrun by half. */
  #scheduleCheck(): void {
    const { handshakeTimeoutMs, heartbeatMs, subscriberStallMs } = this.context.limits;
    const everyMs = Math.ceil(Math.min(handshakeTimeoutMs, heartbeatMs, subscriberStallMs) / 2);
    this.#cancelCheck = this.context.clock.after(everyMs, () => {
      for (const session of [...this.#sessions.values()]) session.check();
      this.#scheduleCheck();
    });
  }
}

/** A stable word for what ws found wrong: its own codes, e.g. WS_ERR_UNSUPPORTED_MESSAGE_LENGTH. */
function closeReason(error: Error): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'socket-error';
}

/** Answers and hangs up: an HTTP socket is half open otherwise, for as long as the other side likes. */
function refuseUpgrade(raw: Duplex, refusal: UpgradeRefusal): void {
  raw.once('finish', () => raw.destroy());
  const body = `${JSON.stringify({ error: { code: 'upgrade-refused', text: refusal.text } })}\n`;
  raw.end([
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n'));
}
