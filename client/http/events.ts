import { equalBytes, toHex } from '../../src/base/bytes.js';
import { decodeLogLine } from '../../src/log/index.js';
import {
  decodeClientFrame, decodeServerFrame, isWireState, signatureBytes, type Notice,
} from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { TransportHandlers } from '../websocket/contract.js';
import { RequestTransport } from './request-transport.js';
import { framesOf, plainRequest, postFrames, reasonOf, refusal } from './requests.js';
import { httpUrl, uploadUrl } from './upload-url.js';

/**
 * A transport of one subscription over HTTP: Welcome as for uploads, then the server's stream of
 * events. Each event becomes the frame that a socket would bring, so its owner verifies the same
 * signed bytes. A stream that ends closes the transport: its owner connects again and asks for
 * what is missing.
 */
export class EventTransport extends RequestTransport {
  /** The server key in Welcome. */
  private serverKey = new Uint8Array(0);

  /** @throws InvalidParameterError for a URL that can never work. */
  constructor(
    private readonly url: string, handlers: TransportHandlers,
    private readonly runtime: ClientRuntime,
  ) {
    super(handlers);
    const begin = uploadUrl(url);
    void this.run(async () => {
      const [welcome] = framesOf(await postFrames(begin, '', null, this.aborter.signal));
      const frame = welcome === undefined ? null : decodeServerFrame(welcome);
      if (frame?.kind !== 'welcome') throw new Error('the server did not answer with Welcome');
      this.serverKey = Uint8Array.from(frame.serverKey);
      if (this.isClosed) return;
      handlers.onOpen();
      handlers.onMessage(welcome!);
    });
  }

  /** Accepts one Subscribe. */
  send(bytes: Uint8Array): void {
    const frame = decodeClientFrame(bytes);
    if (frame.kind === 'subscribe') {
      void this.run(() => this.follow(frame.studyId, frame.fromRelease));
    }
  }

  private async run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.end(reasonOf(error));
    }
  }

  private async follow(studyId: Uint8Array, from: bigint): Promise<void> {
    const url = httpUrl(this.url, `v1/studies/${toHex(studyId)}/releases`);
    this.heard();
    const response = await fetch(`${url}?from=${from}`, {
      ...plainRequest, signal: this.aborter.signal, headers: { Accept: 'text/event-stream' },
    });
    const type = response.headers.get('Content-Type') ?? '';
    if (response.status !== 200 || !type.startsWith('text/event-stream')) {
      throw refusal(response.status, await response.text());
    }
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    const events = new EventReader((name, data) => this.take(name, data, studyId));
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.isClosed) break;
      this.heard();
      events.push(decoder.decode(value, { stream: true }));
    }
    throw new Error('the stream of events ended');
  }

  /** The server sends a comment every 20 s. A proxy may keep a dead connection open. */
  private heard(): void {
    this.handlers.onActivity();
    this.cancelLater();
    const { eventSilenceMs } = clientDefaults;
    this.cancelLater = this.runtime.after(eventSilenceMs, () =>
      this.end(`no events within ${eventSilenceMs} ms: a proxy may hold them back`));
  }

  private take(name: string, data: string, studyId: Uint8Array): void {
    if (this.isClosed) return;
    if (name === 'notice') return this.handlers.onMessage(noticeIn(data, studyId));
    if (name !== 'study' && name !== 'release' && name !== 'head') return;
    const line = decodeLogLine(data);
    if (line.type === 'release' || line.type === 'head') {
      const { type: kind, body, signature } = line;
      if (signature.length !== signatureBytes) throw new Error('a signature has 64 bytes');
      this.handlers.onMessage({ kind, body, signature });
    } else if (line.type === 'study' && !equalBytes(line.serverKey, this.serverKey)) {
      // It changed between the two requests. The next Welcome has the record of the change.
      throw new Error('the server has another key than in its Welcome');
    }
  }
}

function noticeIn(data: string, studyId: Uint8Array): Notice {
  const { state, epoch, closesInMs } =
    JSON.parse(data) as { state: unknown; epoch: string; closesInMs: number };
  if (!isWireState(state)) throw new Error('a study has no such state');
  return { kind: 'notice', studyId, state, epoch: BigInt(epoch), closesInMs: BigInt(closesInMs) };
}

/** Characters of one event: as for a frame of a socket. */
const eventCharactersMax = 64 * 1024 * 1024;

/** Splits a stream of events. Each of its events has its data in one line. */
class EventReader {
  /**
   * Parts of the unfinished line. They are joined once, since a release may come in thousands of
   * parts.
   */
  private parts: string[] = [];
  private characters = 0;
  private name = '';
  private data = '';

  constructor(private readonly onEvent: (name: string, data: string) => void) {}

  /** @throws Error for an event without end, and what `onEvent` throws. */
  push(text: string): void {
    const pieces = text.split('\n');
    for (const [i, piece] of pieces.entries()) {
      this.parts.push(piece);
      this.characters += piece.length;
      if (this.characters > eventCharactersMax) throw new Error('an event is too long');
      if (i === pieces.length - 1) return;
      this.line(this.parts.join(''));
      this.parts = [];
      this.characters = 0;
    }
  }

  private line(line: string): void {
    if (line.startsWith('event: ')) this.name = line.slice(7);
    else if (line.startsWith('data: ')) this.data = line.slice(6);
    else if (line === '') {
      const { name, data } = this;
      this.name = this.data = '';
      if (name !== '') this.onEvent(name, data);
    }
  }
}
