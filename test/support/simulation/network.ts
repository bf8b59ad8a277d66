import type { SessionSocket } from '../../../server/listener/context.js';
import type { InMemoryListener, InMemorySession } from '../../../server/listener/in-memory.js';
import type {
  OpenTransport, Transport, TransportHandlers,
} from '../../../client/websocket/contract.js';
import { decodeClientFrame, decodeServerFrame } from '../../../src/wire/index.js';
import type { Chance } from './chance.js';
import type { FaultCounts, FaultRates } from './faults.js';
import type { Scheduler } from './scheduler.js';

/** Bytes that a frame on its way may lag behind before the sender's buffer counts them. */
const latencyMs = [0.5, 8] as const;

/** Time between two tries to reach a frozen server. */
const frozenPollMs = 50;

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  readonly counts: FaultCounts;
  /** Where connections arrive now; null while no server runs. */
  readonly listener: () => InMemoryListener | null;
  /** True if the server behind a listener is frozen: its messages wait. Default: never. */
  readonly isFrozen?: (listener: InMemoryListener) => boolean;
}

/**
 * Connections between hosts, as streams: in order, whole or broken; and what a middlebox may do to
 * signed frames.
 */
export class Network {
  readonly connections = new Set<Connection>();
  /** Hosts that nothing reaches now. */
  readonly cutOff = new Set<string>();
  #opened = 0;

  constructor(readonly options: NetworkOptions) {}

  /** The transport of one host. @param alive false once the host's process has died. */
  transportOf(host: string, alive: () => boolean): OpenTransport {
    return (_url, subprotocols, handlers) => {
      // Every second connection reaches a server without encrypted channels.
      const subprotocol = subprotocols[this.#opened++ % subprotocols.length]!;
      return this.#begin(host, guarded(handlers, alive), (listener, socket) =>
        listener.connect(socket, subprotocol));
    };
  }

  /** The same for batches without a channel: requests that share a connection. */
  onceTransportOf(host: string, studyId: string, alive: () => boolean): OpenTransport {
    return (_url, _subprotocols, handlers) =>
      this.#begin(host, guarded(handlers, alive), (listener, socket) =>
        listener.connectOnce(socket, studyId));
  }

  #begin(host: string, handlers: TransportHandlers, connect: Connect): Transport {
    const connection = new Connection(this, host, handlers, connect);
    this.connections.add(connection);
    connection.open();
    return connection.transport;
  }

  /** A process ended: its host closes its connections. */
  hangUp(matches: (connection: Connection) => boolean, side: 'client' | 'server'): void {
    for (const connection of [...this.connections]) if (matches(connection)) connection.cut(side);
  }
}

/** The server's side of a connection; null: it is refused. */
type Connect = (listener: InMemoryListener, socket: SessionSocket) => InMemorySession | null;

function guarded(handlers: TransportHandlers, alive: () => boolean): TransportHandlers {
  return {
    onOpen: () => { if (alive()) handlers.onOpen(); },
    onMessage: (bytes) => { if (alive()) handlers.onMessage(bytes); },
    onActivity: () => { if (alive()) handlers.onActivity(); },
    onClose: (reason) => { if (alive()) handlers.onClose(reason); },
  };
}

type Side = 'client' | 'server';

interface Parcel {
  readonly kind: 'frame' | 'ping' | 'pong' | 'end';
  readonly bytes: Uint8Array;
}

/** One direction: a queue that arrives in order. */
class Lane {
  readonly waiting: Parcel[] = [];
  bytes = 0;
  lastMs = 0;
  /** The receiver does not read. */
  held = false;

  drainHandlers: (() => void)[] = [];
}

/** One stream between a client's host and the server. */
export class Connection {
  readonly transport: Transport;
  /** Nothing gets through and nobody is told. */
  silent = false;
  /** Where it arrived. */
  listener: InMemoryListener | null = null;
  readonly #lanes = { client: new Lane(), server: new Lane() };
  #session: InMemorySession | null = null;
  #open = { client: true, server: false };

  constructor(
    readonly network: Network, readonly host: string, private readonly handlers: TransportHandlers,
    private readonly connect: Connect,
  ) {
    this.transport = {
      send: (bytes) => {
        if (this.#open.client) this.#post('server', { kind: 'frame', bytes: bytes.slice() });
      },
      bufferedAmount: 0,
      ping: () => {
        if (this.#open.client) this.#post('server', { kind: 'ping', bytes: nothing });
        return true;
      },
      close: () => this.cut('client'),
      terminate: () => this.cut('client'),
    };
    const lane = this.#lanes.server;
    Object.defineProperty(
      this.transport, 'bufferedAmount', { get: () => (lane.held ? lane.bytes : 0) },
    );
  }

  get established(): boolean {
    return this.#open.server;
  }

  /** The server's side is the one that this listener holds. */
  open(): void {
    const { scheduler, listener } = this.network.options;
    this.#later('connect', () => {
      if (!this.#open.client || this.silent) return;
      if (this.#cutOff()) return this.open();
      this.listener = listener();
      if (this.#isFrozen()) return this.open();
      const session =
        this.listener === null ? null : this.connect(this.listener, this.#socket());
      if (session === null) {
        return void scheduler.after(1, `${this.host} refused`, () => this.#closed('refused'));
      }
      this.#session = session;
      this.#open.server = true;
      this.#post('client', { kind: 'pong', bytes: nothing });
    });
  }

  /** One side lets go; the other learns of it unless the line is silent. */
  cut(side: Side): void {
    if (!this.#open[side]) return;
    this.#open[side] = false;
    const other = side === 'client' ? 'server' : 'client';
    this.#lanes[side].waiting.length = 0;
    if (this.#open[other]) this.#post(other, { kind: 'end', bytes: nothing });
    if (side === 'server') this.#sessionEnded();
    else {
      const { scheduler } = this.network.options;
      scheduler.after(0, `${this.host} close`, () => this.handlers.onClose('cut by this side'));
    }
    this.#forget();
  }

  /** The stream breaks in the middle: what is on its way is lost. */
  break(): void {
    for (const lane of [this.#lanes.client, this.#lanes.server]) lane.waiting.length = 0;
    this.#sessionEnded();
    this.#open.server = false;
    this.#closed('connection reset');
  }

  hold(side: Side): void {
    this.#lanes[side].held = true;
  }

  release(side: Side): void {
    const lane = this.#lanes[side];
    if (!lane.held) return;
    lane.held = false;
    for (let left = lane.waiting.length;
        left > 0; left--) this.#later(`to ${side}`, () => this.#arrive(side));
  }

  #socket(): SessionSocket {
    const lane = this.#lanes.client;
    return {
      address: this.host,
      get bufferedBytes() { return lane.held ? lane.bytes : 0; },
      send: (frame) => {
        if (this.#open.server || this.#session === null) {
          this.#post('client', { kind: 'frame', bytes: frame.slice() });
        }
      },
      together: (write) => write(),
      pause: () => this.hold('server'),
      resume: () => this.release('server'),
      ping: () => this.#post('client', { kind: 'ping', bytes: nothing }),
      // A goodbye goes out after what was sent, and the session hears of its own end.
      close: () => this.cut('server'),
      terminate: () => this.cut('server'),
      onDrain: (action) => { lane.drainHandlers.push(action); },
    };
  }

  /** @param to who is to receive it. */
  #post(to: Side, parcel: Parcel): void {
    const lane = this.#lanes[to];
    if (this.silent) return;
    lane.waiting.push(parcel);
    lane.bytes += parcel.bytes.length;
    if (parcel.kind === 'frame') this.#meddle(to, lane, parcel);
    if (!lane.held) this.#later(`to ${to}`, () => this.#arrive(to));
  }

  /**
   * Only signed frames are repeated or swapped: a stream cannot do that, a box that forwards
   * messages can.
   */
  #meddle(to: Side, lane: Lane, parcel: Parcel): void {
    const { chance, rates, counts } = this.network.options;
    const batch = to === 'server' && kindOf(parcel.bytes) === 'batch';
    if (batch && chance.happens(rates().duplicated)) {
      counts.duplicated += 1;
      lane.waiting.push(parcel);
      lane.bytes += parcel.bytes.length;
      if (!lane.held) this.#later(`to ${to}`, () => this.#arrive(to));
    }
    const before = lane.waiting.at(-2);
    if (batch && before?.kind === 'frame' && before !== parcel && kindOf(before.bytes) === 'batch'
      && chance.happens(rates().reordered * 8)) {
      counts.reordered += 1;
      lane.waiting.splice(-2, 2, parcel, before);
    }
  }

  #arrive(to: Side): void {
    const lane = this.#lanes[to];
    if (lane.held) return;
    // A stream sends again what a partition swallowed, until one side gives up.
    if (this.#cutOff() && !this.silent) return this.#later(`to ${to}`, () => this.#arrive(to));
    if (to === 'server' && this.#isFrozen()) {
      this.network.options.scheduler.after(frozenPollMs, `${this.host} waits`, () =>
        this.#arrive(to));
      return;
    }
    const parcel = lane.waiting.shift();
    if (parcel === undefined || this.silent) return;
    lane.bytes = Math.max(0, lane.bytes - parcel.bytes.length);
    if (lane.waiting.length === 0) for (const action of lane.drainHandlers) action();
    if (parcel.kind === 'frame' && this.#spoils(to, parcel)) return;
    this.#take(to, parcel);
  }

  #spoils(to: Side, parcel: Parcel): boolean {
    const { chance, rates, counts } = this.network.options;
    if (chance.happens(rates().broken)) {
      counts['connection-broken'] += 1;
      this.break();
      return true;
    }
    if (!chance.happens(rates().corrupted)) return false;
    counts.corrupted += 1;
    const bytes = parcel.bytes.slice();
    const at = chance.below(bytes.length);
    bytes[at] = bytes[at]! ^ (1 + chance.below(255));
    // What still reads as a message is caught below, by checksums or TLS; only the break is seen
    // then.
    if (!readable(to, bytes)) this.#take(to, { kind: 'frame', bytes });
    this.break();
    return true;
  }

  #take(to: Side, { kind, bytes }: Parcel): void {
    if (!this.#open[to]) return;
    if (kind === 'end') {
      if (to === 'client') return this.#closed('closed by the server');
      this.#open.server = false;
      this.#sessionEnded();
      return this.#forget();
    }
    if (to === 'server') {
      if (kind === 'frame') this.#session?.receive(bytes, true);
      else this.#session?.heard();
      if (kind === 'ping') this.#post('client', { kind: 'pong', bytes: nothing });
      return;
    }
    if (kind === 'frame') this.handlers.onMessage(bytes);
    else this.handlers.onActivity();
    if (kind === 'ping') this.#post('server', { kind: 'pong', bytes: nothing });
  }

  #sessionEnded(): void {
    const session = this.#session;
    this.#session = null;
    // Not inside the session's own call.
    if (session !== null) {
      this.network.options.scheduler.after(0, 'session ended', () => session.ended());
    }
  }

  #closed(reason: string): void {
    if (!this.#open.client) return;
    this.#open.client = false;
    this.handlers.onClose(reason);
    this.#forget();
  }

  #forget(): void {
    if (!this.#open.client && !this.#open.server) this.network.connections.delete(this);
  }

  #isFrozen(): boolean {
    return this.listener !== null && this.network.options.isFrozen?.(this.listener) === true;
  }

  #cutOff(): boolean {
    return this.network.cutOff.has(this.host);
  }

  #later(label: string, action: () => void): void {
    const { scheduler, chance, rates, counts } = this.network.options;
    let delayMs = chance.between(...latencyMs) + (this.#cutOff() ? 40 : 0);
    if (chance.happens(rates().delayed)) {
      counts.delayed += 1;
      delayMs += chance.between(20, 600);
    }
    const lane = label === 'to client' ? this.#lanes.client : this.#lanes.server;
    lane.lastMs = Math.max(lane.lastMs, scheduler.nowMs + delayMs);
    scheduler.after(lane.lastMs - scheduler.nowMs, `${this.host} ${label}`, action);
  }
}

const nothing = new Uint8Array(0);

function kindOf(bytes: Uint8Array): string {
  try {
    return decodeClientFrame(bytes).kind;
  } catch {
    return 'unreadable';
  }
}

function readable(to: Side, bytes: Uint8Array): boolean {
  try {
    if (to === 'client') decodeServerFrame(bytes);
    else decodeClientFrame(bytes);
    return true;
  } catch {
    return false;
  }
}
