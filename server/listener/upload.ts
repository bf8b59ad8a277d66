import type { WireCode } from '../../src/base/error-codes.js';
import { WireError } from '../../src/base/errors.js';
import {
  encodeServerFrame, FrameSplitter, viewClientFrame, type ClientFrame, type ServerFrame,
} from '../../src/wire/index.js';
import { HttpError } from '../operator/http-error.js';
import { Contributions } from './contributions.js';
import { isOverloaded, type ListenerContext, type SessionSocket } from './context.js';
import { noticeOf } from './event-frames.js';
import { tooLarge } from './request-body.js';
import { countedRefusal } from './server-frames.js';
import type { Subject, SessionOutput } from './session-output.js';
import { Strikes, type StrikeKind } from './strikes.js';

/** The parts of a request that an upload needs. */
export interface UploadBody {
  /** For rate limits: see `addressKey`. */
  readonly address: string;
  readonly parts: AsyncIterable<Uint8Array>;
}

/**
 * One request with a contributor's frames: a Hello, then batches or a Withdraw. It is a session
 * without a socket: the same checks, limits and answers, for as long as the request takes. Frames
 * are handled as they arrive, so it holds one unfinished frame and the batches that are being
 * stored.
 */
export class Upload implements SessionOutput {
  readonly #splitter: FrameSplitter;
  readonly #contributions: Contributions;
  readonly #strikes: Strikes;
  readonly #answers: Uint8Array[] = [];
  readonly #studies = new Set<string>();
  #greeting: 'none' | 'asked' | 'ready' | 'refused' = 'none';
  #restMs = 0;
  #struckOut = false;
  #closed = false;
  /** Checks again whether the awaited state has come. */
  #look: () => void = () => undefined;

  constructor(
    private readonly context: ListenerContext,
    private readonly body: UploadBody,
    serverNonce: Uint8Array,
  ) {
    const { limits } = context;
    this.#splitter = new FrameSplitter(limits.frameBytes);
    this.#strikes = new Strikes(limits);
    this.#contributions = new Contributions(
      context, this.#socket(), this, { serverNonce, share: null }, 'http');
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Bytes of memory of the unfinished frame. */
  get heldBytes(): number {
    return this.#splitter.heldBytes;
  }

  /** The sender broke the rules so often that its connection should be closed. */
  get struckOut(): boolean {
    return this.#struckOut;
  }

  /**
   * Reads the body and answers it. Resolves when every batch in it has its verdict: accepted
   * batches are then durable.
   * @returns the frames of the answer.
   * @throws HttpError for a body that cannot be read. Batches before the fault may have been
   *   accepted: sent again, they get the same answers.
   */
  async answer(): Promise<readonly Uint8Array[]> {
    try {
      await this.#read();
      await this.#until(() => this.#greeting !== 'asked' && !this.#contributions.inFlight);
    } finally {
      this.#closed = true;
      this.#contributions.close();
    }
    const { clock, hub } = this.context;
    for (const studyId of this.#studies) {
      const view = hub.study(studyId);
      if (view !== undefined) this.#answers.push(encodeServerFrame(noticeOf(view, clock.nowMs())));
    }
    if (this.#restMs > 0) {
      await new Promise<void>((resolve) => { clock.after(this.#restMs, resolve); });
    }
    return this.#answers;
  }

  send(frame: ServerFrame): void {
    if (frame.kind !== 'ready') return this.#push(encodeServerFrame(frame));
    this.#greeting = 'ready';
    // Ready proves the answer, so it comes before answers to batches that were faster.
    this.#answers.unshift(encodeServerFrame(frame));
    this.#look();
  }

  refuse(code: WireCode, subject: Subject = {}): void {
    const frame = encodeServerFrame(countedRefusal(this.context, code, subject));
    if (subject.channel !== undefined) return this.#push(frame);
    this.#greeting = 'refused';
    // Before Ready nothing else may be sent. Accepted batches are reported when they come again.
    this.#answers.length = 0;
    this.#push(frame);
  }

  rest(): void {
    this.#restMs = this.context.rests.take(this.body.address);
  }

  strike(kind: StrikeKind): void {
    if (this.#strikes.count(kind) !== undefined) this.#struckOut = true;
  }

  follow(studyId: string): void {
    this.#studies.add(studyId);
  }

  /** Reads until the end, a refused Hello, or too many faults. */
  async #read(): Promise<void> {
    const { uploadBytes } = this.context.limits;
    let bytes = 0;
    for await (const part of this.body.parts) {
      bytes += part.length;
      if (bytes > uploadBytes) throw tooLarge(uploadBytes);
      for (const frame of this.#framesIn(part)) {
        const wait = this.#handle(frame);
        // Without a pause the batches of a part go to the checking thread in one message.
        if (wait !== undefined) await wait;
        if (this.#greeting === 'refused' || this.#struckOut) return;
      }
    }
    if (this.#splitter.isUnfinished) throw malformed('the last frame is cut short');
    if (this.#greeting === 'none') throw malformed('a request has a Hello');
  }

  #framesIn(part: Uint8Array): readonly Uint8Array[] {
    try {
      return this.#splitter.push(part);
    } catch (error) {
      throw asHttpError(error);
    }
  }

  /** Handles a frame. @returns the promise that the next one has to wait for. */
  #handle(bytes: Uint8Array): Promise<void> | undefined {
    const frame = frameIn(bytes);
    const isHello = frame.kind === 'hello';
    if (isHello !== (this.#greeting === 'none')) {
      throw malformed('a request has one Hello, and it is the first frame');
    }
    switch (frame.kind) {
      case 'hello':
        this.#greeting = 'asked';
        this.#contributions.hello(frame, true);
        // Batches need not wait for Ready, but for the channel.
        return this.#until(() =>
          this.#greeting !== 'asked' || this.#contributions.size > 0);
      case 'batch':
        this.#contributions.batch(frame);
        return isOverloaded(this.context) ? this.#room() : undefined;
      case 'withdraw':
        this.#contributions.withdraw(frame);
        return undefined;
      case 'open':
      case 'encrypted-batch':
        throw malformed('a request has no encrypted channels');
      case 'subscribe':
      case 'unsubscribe':
        throw malformed('releases come over WebSocket, or from /v1/studies/ID/releases');
    }
  }

  /** Waits while the journal is behind, so that TCP slows the sender down. */
  async #room(): Promise<void> {
    const { clock, limits } = this.context;
    while (isOverloaded(this.context)) {
      await new Promise<void>((resolve) => { clock.after(limits.pauseMs, resolve); });
    }
  }

  #until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#look = () => { if (done()) resolve(); };
    });
  }

  #push(frame: Uint8Array): void {
    if (this.#closed) return;
    // A refused Hello is the only frame.
    if (this.#greeting !== 'refused' || this.#answers.length === 0) this.#answers.push(frame);
    this.#look();
  }

  /** The answer waits for the whole request, so nothing here is ever behind. */
  #socket(): SessionSocket {
    const nothing = (): void => undefined;
    return {
      address: this.body.address,
      bufferedBytes: 0,
      send: (frame) => this.#push(frame),
      together: (write) => write(),
      pause: nothing,
      resume: nothing,
      ping: nothing,
      close: nothing,
      terminate: nothing,
      onDrain: nothing,
    };
  }
}

/** @throws HttpError for bytes that are no frame of a client. */
function frameIn(bytes: Uint8Array): ClientFrame {
  try {
    return viewClientFrame(bytes);
  } catch (error) {
    throw asHttpError(error);
  }
}

function asHttpError(error: unknown): unknown {
  return error instanceof WireError ? new HttpError(400, error.code, error.message) : error;
}

function malformed(why: string): HttpError {
  return new HttpError(
    400, 'malformed', `malformed request: ${why}; see docs/reference/protocol.md, section 9`,
  );
}
