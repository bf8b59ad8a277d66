import type { IncomingMessage, ServerResponse } from 'node:http';
import { encodeLogLine } from '../../src/log/index.js';
import { decodeReleaseBody, decodeServerFrame } from '../../src/wire/index.js';
import { AddressCounts } from '../network/address-counts.js';
import { networkKey } from '../network/rates.js';
import { HttpError } from '../operator/http-error.js';
import type { HubEvent, StudyView } from '../studies/contract.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { noticeOf } from './event-frames.js';
import type { Subscriber } from './subscriber-registry.js';
import { Subscription } from './subscription.js';

/** The time that a reader should wait before it connects again, in milliseconds. */
const retryMs = 3_000;

/**
 * Releases as server-sent events, for readers without WebSockets. The data of an event is a line of
 * the release log, so what a reader collects can be verified as a log.
 *
 * A network is an IPv4 address, or 48 bits of an IPv6 address: who rents a server commonly has so
 * many. A network has a quarter of the places at most. When all are taken, the network with the
 * most streams loses one to a network that would still have fewer. So a few networks cannot keep
 * out all others, however often they come back.
 */
export class EventStreams {
  /** The streams in the order in which they began. */
  readonly #open = new Set<EventStream>();
  readonly #perNetwork = new AddressCounts();

  constructor(private readonly context: ListenerContext) {}

  /**
   * Answers a GET with a stream that ends when the reader goes or the server stops.
   * @param from index of the first release wanted.
   * @throws HttpError when there is no room for another stream.
   */
  begin(request: IncomingMessage, response: ServerResponse, view: StudyView, from: number): void {
    const { context } = this;
    const { limits, metrics: { totals } } = context;
    const address = context.clientAddress(request);
    if (context.stopping) {
      throw new HttpError(503, 'shutting-down', 'the server is stopping: connect again later');
    }
    if (!context.subscribeRates.take(address)) {
      throw new HttpError(429, 'rate-limited',
        `an address may begin ${limits.subscribePerSecond} streams per second: slow down`);
    }
    const network = networkKey(address);
    if (!this.#hasPlace(network)) {
      throw new HttpError(503, 'server-full', 'the server holds as many streams of events as it '
        + 'can, or as it can for one network: read /v1/releases now and then, or use a WebSocket');
    }
    const stream = new EventStream(context, response, view, from, address);
    this.#open.add(stream);
    this.#perNetwork.add(network, 1);
    totals.subscriptions += 1;
    response.once('close', () => {
      stream.ended();
      this.#leave(stream);
      totals.subscriptions -= 1;
    });
    stream.start();
  }

  /** Ends all streams. */
  stop(): void {
    for (const stream of [...this.#open]) stream.stop();
  }

  /** True if a network may have one more stream. Makes a place where another one has more. */
  #hasPlace(network: string): boolean {
    const places = this.context.limits.httpConnections / 2;
    const own = this.#perNetwork.of(network) + 1;
    if (own > Math.max(1, places / 4)) return false;
    if (this.#open.size < places) return true;
    const [largest, count] = this.#perNetwork.largest();
    if (count <= own) return false;
    const newest = [...this.#open].findLast((stream) => stream.network === largest)!;
    this.#leave(newest);
    newest.giveWay();
    return true;
  }

  /** Frees the place of a stream, once. */
  #leave(stream: EventStream): void {
    if (this.#open.delete(stream)) this.#perNetwork.add(stream.network, -1);
  }
}

class EventStream implements Subscriber {
  readonly #subscription: Subscription;
  readonly #socket: SessionSocket;
  readonly network: string;
  #waitedBytes = 0;
  #cancelBeat: () => void = () => undefined;

  constructor(
    private readonly context: ListenerContext,
    private readonly response: ServerResponse,
    private readonly view: StudyView,
    from: number,
    address: string,
  ) {
    this.network = networkKey(address);
    this.#socket = socketOf(response, address, (frame) => this.#write(frame));
    this.#subscription = new Subscription(context, this.#socket, view.studyId, from);
  }

  /** Sends the study, the changes of the server's key, its releases, and a head. */
  start(): void {
    const { context: { clock, hub, logger, subscribers }, response, view } = this;
    response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
    // nginx keeps answers back until they end, except with this.
    response.setHeader('X-Accel-Buffering', 'no');
    const study = encodeLogLine({
      type: 'study', facts: view.facts, serverKey: hub.serverKey, signature: view.factsSignature,
    });
    const rotations = hub.rotations.map((record) => encodeLogLine({ type: 'rotation', record }));
    response.write(`retry: ${retryMs}\n\n${event('study', study)}`
      + rotations.map((line) => event('rotation', line)).join(''));
    subscribers.join(view.studyId, this);
    this.#writeNotice(noticeOf(hub.study(view.studyId) ?? view, clock.nowMs()));
    this.#beat();
    this.#subscription.catchUp().catch((error: unknown) => {
      logger.error({ study: view.name, err: error }, 'releases could not be read for a stream');
      response.destroy();
    });
    response.on('drain', () => {
      this.context.logReads.note(this.#socket);
      this.#subscription.onDrain();
    });
  }

  hear(happened: HubEvent, frame: () => Uint8Array): void {
    if (happened.kind === 'release') {
      // A reader that is behind connects again and goes on from the last event that it got.
      if (this.#socket.bufferedBytes > this.context.limits.subscriberBufferBytes) {
        return void this.response.destroy();
      }
      return this.#subscription.onRelease(happened.release, frame);
    }
    this.#write(frame());
    if (happened.kind === 'study-stopped') this.#subscription.onStopped();
  }

  stop(): void {
    this.response.end();
  }

  /** Ends at once: a reader that reads nothing would otherwise hold its socket. */
  giveWay(): void {
    if (this.#socket.bufferedBytes > 0) this.response.destroy();
    else this.response.end();
  }

  ended(): void {
    this.#cancelBeat();
    this.#subscription.close();
    this.context.subscribers.leave(this.view.studyId, this);
    this.context.logReads.forget(this.#socket);
  }

  /** A comment now and then, so that no proxy considers the stream dead. */
  #beat(): void {
    const { clock, limits } = this.context;
    this.#cancelBeat = clock.after(limits.heartbeatMs, () => {
      const { bufferedBytes } = this.#socket;
      if (bufferedBytes > 0 && bufferedBytes >= this.#waitedBytes && this.#waitedBytes > 0) {
        return void this.response.destroy();
      }
      this.#waitedBytes = bufferedBytes;
      this.response.write(':\n\n');
      this.#beat();
    });
  }

  #write(bytes: Uint8Array): void {
    const frame = decodeServerFrame(bytes);
    if (frame.kind === 'release') {
      const { body, signature } = frame;
      const line = encodeLogLine({ type: 'release', body, signature });
      this.response.write(event('release', line, String(decodeReleaseBody(body).index)));
    } else if (frame.kind === 'head') {
      const { body, signature } = frame;
      this.response.write(event('head', encodeLogLine({ type: 'head', body, signature })));
    } else if (frame.kind === 'notice') {
      this.#writeNotice(frame);
    }
  }

  #writeNotice({ state, epoch, closesInMs }: ReturnType<typeof noticeOf>): void {
    const told = { state, epoch: String(epoch), closesInMs: Number(closesInMs) };
    this.response.write(event('notice', JSON.stringify(told)));
  }
}

/** One event. Its data has no line break. */
function event(type: string, data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`;
}

function socketOf(
  response: ServerResponse, address: string, send: (frame: Uint8Array) => void,
): SessionSocket {
  const nothing = (): void => undefined;
  return {
    address,
    get bufferedBytes() { return response.writableLength; },
    send,
    together: (write) => write(),
    pause: nothing,
    resume: nothing,
    ping: nothing,
    close: nothing,
    terminate: () => void response.destroy(),
    onDrain: nothing,
  };
}
