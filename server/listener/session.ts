import { signing } from '#signing';
import type { WireCode } from '../../src/base/error-codes.js';
import { WireError } from '../../src/base/errors.js';
import {
  viewClientFrame, encodeServerFrame, type ClientFrame, type ServerFrame,
} from '../../src/wire/index.js';
import type { HubEvent } from '../studies/contract.js';
import type { Subscriber } from './subscriber-registry.js';
import type { Greeted } from './hello.js';
import { isOverloaded, type ListenerContext, type SessionSocket } from './context.js';
import { Contributions } from './contributions.js';
import { noticeOf } from './event-frames.js';
import type { CloseReason } from '../metrics/server-metrics.js';
import { Rate } from '../network/rates.js';
import { Strikes, type StrikeKind } from './strikes.js';
import { countedRefusal, welcomeOf } from './server-frames.js';
import { Subscriptions } from './subscriptions.js';
import type { Subject, SessionOutput } from './session-output.js';
import { Liveness } from './liveness.js';

/**
 * One socket, with any number of contributors and subscriptions up to the limits. Frames are
 * handled in order of arrival, and no content of a frame makes a handler throw. Memory per socket:
 * its channels, each with at most its credit of batches in flight; a small object per subscription;
 * a bounded write buffer.
 */
export class Session implements SessionOutput, Subscriber {
  readonly #contributions: Contributions;
  readonly #subscriptions: Subscriptions;
  readonly #greeted: Greeted;
  readonly #studies = new Set<string>();
  readonly #strikes: Strikes;
  readonly #liveness: Liveness;
  readonly #controlFrames: Rate;
  /** For each study, the newest event that came while the other side did not read. */
  readonly #untold = new Map<string, () => Uint8Array>();
  #paused = false;
  #looking = false;
  #resting = false;
  #closed = false;
  #isCut = false;

  /** @param isEncrypted whether the socket has encrypted channels: it speaks `keelson.v2`. */
  constructor(
    private readonly context: ListenerContext, private readonly socket: SessionSocket,
    isEncrypted: boolean,
  ) {
    const share = isEncrypted ? context.shares.newest : null;
    this.#greeted = { serverNonce: signing.randomBytes(32), share };
    this.#strikes = new Strikes(context.limits);
    const { clock, limits } = context;
    this.#liveness = new Liveness(clock, limits);
    this.#controlFrames = new Rate(clock, limits.controlFramesPerSecond, limits.controlFramesBurst);
    this.#contributions = new Contributions(context, socket, this, this.#greeted, 'signed');
    this.#subscriptions = new Subscriptions(context, socket, this);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends Welcome. */
  start(): void {
    const { serverNonce, share } = this.#greeted;
    const welcome = welcomeOf(this.context, serverNonce);
    this.send(share === null ? welcome : { ...welcome, share: share.stated });
  }

  /** One WebSocket message. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    // A client that was sent a close frame sends on until it has read it. Each of its frames is
    // unpacked before this point.
    if (this.#closed) return this.rest();
    this.#liveness.heard();
    if (!isBinary) return this.#close(1003, 'text', 'the protocol has binary messages only');
    try {
      this.#handle(viewClientFrame(bytes));
    } catch (error) {
      this.#failed(error);
    }
    this.#applyBackpressure();
  }

  /** A ping or a pong came. Too many of them cut the socket, even after its close frame. */
  heard(): void {
    this.#liveness.heard();
    if (!this.#controlFrames.take()) this.#cut('control-frames');
  }

  /**
   * Called regularly. Cuts sockets that are silent, have no channel or subscription in time, or do
   * not read. Closes those whose Welcome is outdated.
   */
  check(): void {
    if (this.#closed) return;
    const verdict = this.#liveness.check({
      useful: this.#contributions.size + this.#subscriptions.size > 0,
      waitingBytes: this.socket.bufferedBytes,
      paused: this.#paused || this.#resting,
      owes: this.#contributions.owes,
    });
    if (verdict === 'ping') this.socket.ping();
    else if (verdict === 'idle') {
      this.#close(1008, 'idle', 'send Hello or Subscribe soon after Welcome');
    } else if (verdict === 'replaced') {
      this.#close(1001, verdict, 'a study has a newer version: connect again');
    } else if (verdict !== 'fine') this.#cut(verdict);
  }

  /** An event of a study that this socket follows. */
  hear(event: HubEvent, frame: () => Uint8Array): void {
    if (event.kind === 'study-replaced') this.#liveness.outdated();
    if (event.kind !== 'release' && !this.#closed) this.#tell(event.studyId, frame);
    this.#subscriptions.hear(event, frame);
  }

  /** Closes the socket because the server stops. */
  stop(): void {
    if (this.#closed) return;
    this.refuse('shutting-down');
    this.#close(1001, 'stopping', 'the server is stopping');
  }

  /** The connection has ended, or is being closed. */
  ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const studyId of this.#studies) this.context.subscribers.leave(studyId, this);
    this.#contributions.close();
    this.#subscriptions.close();
  }

  send(frame: ServerFrame): void {
    if (!this.#closed) this.socket.send(encodeServerFrame(frame));
  }

  refuse(code: WireCode, subject: Subject = {}): void {
    this.send(countedRefusal(this.context, code, subject));
  }

  rest(): void {
    if (this.#resting) return;
    this.#resting = true;
    this.socket.pause();
    const { clock, rests } = this.context;
    clock.after(rests.take(this.socket.address), () => {
      this.#resting = false;
      if (!this.#paused || this.#closed) this.socket.resume();
    });
  }

  strike(kind: StrikeKind): void {
    const verdict = this.#strikes.count(kind);
    if (verdict !== undefined) this.#close(verdict.code, kind, verdict.reason);
  }

  follow(studyId: string): void {
    const { subscribers, clock, hub } = this.context;
    if (this.#closed || !subscribers.join(studyId, this)) return;
    this.#studies.add(studyId);
    const view = hub.study(studyId);
    if (view !== undefined) this.send(noticeOf(view, clock.nowMs()));
  }

  #handle(frame: ClientFrame): void {
    switch (frame.kind) {
      case 'batch':
        return this.#contributions.batch(frame);
      case 'encrypted-batch':
        return this.#contributions.encryptedBatch(frame);
      case 'open':
        if (this.#greeted.share === null) {
          throw new WireError('malformed', 'this socket has no encrypted channels');
        }
        return this.#contributions.hello(frame);
      case 'hello':
        return this.#contributions.hello(frame);
      case 'withdraw':
        return this.#contributions.withdraw(frame);
      case 'subscribe':
        return this.#subscriptions.subscribe(frame);
      case 'unsubscribe':
        return this.#subscriptions.unsubscribe(frame);
    }
  }

  #failed(error: unknown): void {
    if (error instanceof WireError && error.code === 'malformed') {
      this.refuse('malformed');
      return this.strike('malformed');
    }
    this.context.logger.error({ err: error }, 'a frame could not be handled');
    this.refuse('internal');
    this.#close(1011, 'internal', 'the server failed to handle a frame');
  }

  /**
   * Pauses reading while the journal is behind, or while the other side does not read its answers.
   */
  #applyBackpressure(): void {
    if (this.#paused || this.#closed || !this.#mustWait()) return;
    this.#paused = true;
    this.socket.pause();
    this.#lookAgain();
  }

  /**
   * Sends a notice, or keeps it while the other side does not read. A notice has the present state,
   * so only the newest is kept.
   */
  #tell(studyId: string, frame: () => Uint8Array): void {
    if (this.#backpressured()) {
      this.#untold.set(studyId, frame);
      return this.#lookAgain();
    }
    this.#untold.delete(studyId);
    this.socket.send(frame());
  }

  /** Polls until reading resumes and all notices are sent. */
  #lookAgain(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.context.clock.after(this.context.limits.pauseMs, () => {
      this.#looking = false;
      if (this.#closed) return;
      if (!this.#backpressured()) this.#tellMissed();
      if (this.#paused && !this.#mustWait()) {
        this.#paused = false;
        if (!this.#resting) this.socket.resume();
      }
      if (this.#paused || this.#untold.size > 0) this.#lookAgain();
    });
  }

  #tellMissed(): void {
    const { clock, hub } = this.context;
    for (const [studyId, frame] of this.#untold) {
      const view = hub.study(studyId);
      // A study that was removed has no state any more. Its last event is sent instead.
      if (view === undefined) this.socket.send(frame());
      else this.send(noticeOf(view, clock.nowMs()));
    }
    this.#untold.clear();
  }

  #mustWait(): boolean {
    return isOverloaded(this.context) || this.#backpressured();
  }

  #backpressured(): boolean {
    return this.socket.bufferedBytes > this.context.limits.subscriberBufferBytes;
  }

  #close(code: number, why: CloseReason, reason: string): void {
    if (this.#closed) return;
    this.context.metrics.socketsClosed.add(1, { reason: why });
    this.context.logger.debug({ address: this.socket.address, reason: why }, 'closing a socket');
    this.ended();
    // A paused socket would never read the other side's close frame.
    if (this.#paused && !this.#resting) this.socket.resume();
    this.socket.close(code, reason);
  }

  #cut(why: CloseReason): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.context.metrics.socketsClosed.add(1, { reason: why });
    this.context.logger.debug({ address: this.socket.address, reason: why }, 'cutting a socket');
    this.ended();
    this.socket.terminate();
  }
}
