import { signing } from '#signing';
import { retryableWireCodes, type WireCode } from '../../src/base/error-codes.js';
import { toHex } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { decodeClientFrame, encodeServerFrame, type ClientFrame, type ServerFrame } from '../../src/wire/index.js';
import type { HubEvent } from '../studies/contract.js';
import type { Member } from './audience.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { Contributions } from './contributions.js';
import { noticeOf } from './event-frames.js';
import { Rate } from '../network/rates.js';
import { refusalText } from './refusal-texts.js';
import { Strikes, type StrikeKind } from './strikes.js';
import { Subscriptions } from './subscriptions.js';
import type { Subject, Voice } from './voice.js';
import { Wakefulness } from './wakefulness.js';

const noBytes = new Uint8Array(0);

/**
 * One socket, with any number of contributors and subscriptions up to the limits. Frames are handled
 * as they come, and nothing they hold makes a handler throw. Memory per socket: its channels, each
 * with at most its credit of batches in flight; a small object per subscription; a bounded write buffer.
 */
export class Session implements Voice, Member {
  readonly #contributions: Contributions;
  readonly #subscriptions: Subscriptions;
  readonly #serverNonce = signing.randomBytes(32);
  readonly #studies = new Set<string>();
  readonly #strikes: Strikes;
  readonly #wakefulness: Wakefulness;
  readonly #controlFrames: Rate;
  /** The newest news of each study that came while the other side did not read. */
  readonly #untold = new Map<string, () => Uint8Array>();
  #paused = false;
  #looking = false;
  #resting = false;
  #closed = false;
  #isCut = false;

  constructor(private readonly context: ListenerContext, private readonly socket: SessionSocket) {
    this.#strikes = new Strikes(context.limits);
    const { clock, limits } = context;
    this.#wakefulness = new Wakefulness(clock, limits);
    this.#controlFrames = new Rate(clock, limits.controlFramesPerSecond, limits.controlFramesBurst);
    this.#contributions = new Contributions(context, socket, this, this.#serverNonce);
    this.#subscriptions = new Subscriptions(context, socket, this);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Welcomes. */
  start(): void {
    const { hub, limits } = this.context;
    this.send({
      kind: 'welcome',
      serverKey: hub.serverKey,
      serverNonce: this.#serverNonce,
      limits,
      studies: hub.studies().map((view) => ({
        facts: view.facts, signature: view.factsSignature, state: view.state, epoch: view.epoch,
      })),
      rotations: hub.rotations,
    });
  }

  /** One WebSocket message. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    // Who was told to go sends on until it has read that, and all of it is unpacked before it gets here.
    if (this.#closed) return this.rest();
    this.#wakefulness.heard();
    if (!isBinary) return this.#close(1003, 'text', 'keelson.v1 has binary messages only');
    try {
      this.#handle(decodeClientFrame(bytes));
    } catch (error) {
      this.#failed(error);
    }
    this.#brake();
  }

  /** A ping or a pong came. A socket that was told to go is cut as well when it sends too many. */
  heard(): void {
    this.#wakefulness.heard();
    if (!this.#controlFrames.take()) this.#cut('control-frames');
  }

  /** Called now and then: cuts sockets that stay silent, never begin, or never read; ends those whose Welcome is outdated. */
  check(): void {
    if (this.#closed) return;
    const verdict = this.#wakefulness.check({
      useful: this.#contributions.size + this.#subscriptions.size > 0,
      waitingBytes: this.socket.bufferedBytes,
      paused: this.#paused || this.#resting,
      owes: this.#contributions.owes,
    });
    if (verdict === 'ping') this.socket.ping();
    else if (verdict === 'idle') this.#close(1008, 'idle', 'send Hello or Subscribe soon after Welcome');
    else if (verdict === 'replaced') this.#close(1001, verdict, 'a study has a newer version: connect again');
    else if (verdict !== 'fine') this.#cut(verdict);
  }

  /** An event of a study that this socket follows. */
  hear(event: HubEvent, frame: () => Uint8Array): void {
    if (event.kind === 'study-replaced') this.#wakefulness.outdated();
    if (event.kind !== 'release' && !this.#closed) this.#tell(event.studyId, frame);
    this.#subscriptions.hear(event, frame);
  }

  /** Says goodbye: the server stops. */
  stop(): void {
    if (this.#closed) return;
    this.refuse('shutting-down');
    this.#close(1001, 'stopping', 'the server is stopping');
  }

  /** The connection is gone, or given up. */
  ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const studyId of this.#studies) this.context.audience.leave(studyId, this);
    this.#contributions.close();
    this.#subscriptions.close();
  }

  send(frame: ServerFrame): void {
    if (!this.#closed) this.socket.send(encodeServerFrame(frame));
  }

  refuse(code: WireCode, subject: Subject = {}): void {
    const { hub, limits, metrics } = this.context;
    const study = subject.studyId === undefined ? '' : (hub.study(toHex(subject.studyId))?.name ?? '');
    metrics.refused.add(1, { study, code });
    this.send({
      kind: 'refusal',
      code,
      retryable: retryableWireCodes.has(code),
      text: refusalText(code, subject.facts ?? { limits }),
      channel: subject.channel ?? 0,
      studyId: subject.studyId ?? noBytes,
      publicKey: subject.publicKey ?? noBytes,
    });
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
    const { audience, clock, hub } = this.context;
    if (this.#closed || !audience.join(studyId, this)) return;
    this.#studies.add(studyId);
    const view = hub.study(studyId);
    if (view !== undefined) this.send(noticeOf(view, clock.nowMs()));
  }

  #handle(frame: ClientFrame): void {
    switch (frame.kind) {
      case 'batch':
        return this.#contributions.batch(frame);
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

  /** Reads no further while the journal is behind, or while the other side does not read its answers. */
  #brake(): void {
    if (this.#paused || this.#closed || !this.#mustWait()) return;
    this.#paused = true;
    this.socket.pause();
    this.#lookAgain();
  }

  /** A notice says how the study stands now, so of several that have to wait only the newest is owed. */
  #tell(studyId: string, frame: () => Uint8Array): void {
    if (this.#stuffed()) {
      this.#untold.set(studyId, frame);
      return this.#lookAgain();
    }
    this.#untold.delete(studyId);
    this.socket.send(frame());
  }

  /** Until reading goes on and no news is owed. */
  #lookAgain(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.context.clock.after(this.context.limits.pauseMs, () => {
      this.#looking = false;
      if (this.#closed) return;
      if (!this.#stuffed()) this.#tellMissed();
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
      // One that is gone by now cannot say how it stands, only what its last event was.
      if (view === undefined) this.socket.send(frame());
      else this.send(noticeOf(view, clock.nowMs()));
    }
    this.#untold.clear();
  }

  #mustWait(): boolean {
    return this.context.hub.overloaded() || this.#stuffed();
  }

  #stuffed(): boolean {
    return this.socket.bufferedBytes > this.context.limits.subscriberBufferBytes;
  }

  #close(code: number, why: string, reason: string): void {
    if (this.#closed) return;
    this.context.metrics.socketsClosed.add(1, { reason: why });
    this.context.logger.debug({ address: this.socket.address, reason: why }, 'closing a socket');
    this.ended();
    // A paused socket would never see the other side's goodbye.
    if (this.#paused && !this.#resting) this.socket.resume();
    this.socket.close(code, reason);
  }

  #cut(why: string): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.context.metrics.socketsClosed.add(1, { reason: why });
    this.context.logger.debug({ address: this.socket.address, reason: why }, 'cutting a socket');
    this.ended();
    this.socket.terminate();
  }
}
