import type { WireCode } from '../../src/base/error-codes.js';
import { toHex } from '../../src/base/bytes.js';
import { verifyWithdrawal } from '../../src/signing/index.js';
import type { Hello, SignedBatch, Withdraw } from '../../src/wire/messages.js';
import type { SubmitResult, VerifiedBatch } from '../studies/contract.js';
import { claimedSequence, readBatch } from './batches.js';
import { Channel } from './channel.js';
import { isEnrolmentOver, mayCountIn } from './enrolment.js';
import { isOverloaded, type ListenerContext, type SessionSocket } from './context.js';
import { noticeOf } from './event-frames.js';
import { judgeHello, readyFrom, type Admitted, type NotAdmitted } from './hello.js';
import { rejection } from './refusal-texts.js';
import type { SessionOutput } from './session-output.js';
import { countedVerdict } from './verdicts.js';

/** The contributors of one socket: their channels, the batches in flight, the acks. */
export class Contributions {
  readonly #channels = new Map<number, Channel>();
  /** Channels with an ack to send. */
  readonly #answered = new Set<Channel>();
  #lastChannel = 0;
  #pendingHellos = 0;

  constructor(
    private readonly context: ListenerContext,
    private readonly socket: SessionSocket,
    private readonly output: SessionOutput,
    private readonly serverNonce: Uint8Array,
  ) {}

  get size(): number {
    return this.#channels.size;
  }

  /** Whether a contributor waits for an answer. */
  get owes(): boolean {
    return this.#pendingHellos > 0 || this.inFlight;
  }

  /** Whether a batch or a Withdraw waits for its answer. */
  get inFlight(): boolean {
    for (const { inFlight, withdrawing } of this.#channels.values()) {
      if (inFlight > 0 || withdrawing) return true;
    }
    return false;
  }

  close(): void {
    this.#count(-this.#channels.size);
    this.#channels.clear();
  }

  /**
   * Answers a Hello with Ready or a Refusal.
   * @param isEager opens the channel at once, where no stored state can refuse it. Batches then do
   *   not wait for the read that Ready needs. For senders whose answers wait for Ready anyway.
   */
  hello(hello: Hello, isEager = false): void {
    const { context, output } = this;
    const subject = { studyId: hello.studyId, publicKey: hello.publicKey };
    if (context.stopping) return output.refuse('shutting-down', subject);
    // The refusal names no study, so the client drops the socket, and its next one may reach
    // another server.
    if (!context.takesBatches) {
      const { limits } = context;
      return output.refuse('shutting-down', { facts: { limits, takesBatches: false } });
    }
    const judged = this.#judge(hello);
    if ('code' in judged) {
      output.refuse(judged.code, subject);
      output.rest();
      if (judged.forged) output.strike('badSignature');
      return;
    }
    this.#pendingHellos += 1;
    const { setup } = judged;
    const isOpen =
      isEager && !isEnrolmentOver(setup.enrolled, judged.view, context.clock.nowMs());
    const id = isOpen ? this.#add(setup) : null;
    this.#open(hello, judged, id)
      .catch((error: unknown) => {
        context.logger.error({ err: error }, 'a channel could not be opened');
        output.refuse('internal', subject);
      })
      .finally(() => {
        this.#pendingHellos -= 1;
      });
  }

  /**
   * The checks that need no store. A refused Hello is no strike: a fleet that reconnects sends
   * thousands at once.
   */
  #judge(hello: Hello): Admitted | NotAdmitted {
    const { context } = this;
    if (!context.helloRates.take(this.socket.address)) {
      return { code: 'rate-limited', forged: false };
    }
    if (this.#full()) return { code: 'too-many-channels', forged: false };
    return judgeHello(context, hello, this.serverNonce);
  }

  batch(frame: SignedBatch): void {
    const { context, output } = this;
    const channel = this.#channelOf(frame);
    if (channel === undefined) return;
    const { setup } = channel;
    const subject = { channel: setup.id, studyId: setup.signatures.studyId, facts: setup.facts };
    // The study ended and was removed. No verdict on one batch could free the credit of the
    // channel's others.
    const view = context.hub.study(setup.studyId);
    if (view === undefined) return output.refuse('unknown-study', subject);
    if (isEnrolmentOver(setup.enrolled, view, context.clock.nowMs())) {
      return output.refuse('enrolment-expired', subject);
    }
    if (channel.inFlight >= context.limits.creditBatches) {
      output.refuse('credit-exceeded', subject);
      return output.strike('stray');
    }
    if (context.stopping) return this.#later(channel, frame, 'shutting-down');
    if (isOverloaded(context)) return this.#later(channel, frame, 'overloaded');
    const startedMs = context.clock.monotonicMs();
    const trace = context.tracing.begin('keelson.batch', { 'keelson.study': setup.studyName });
    trace.step('check');
    const { signature } = frame;
    const bytes = frame.body.length;
    const done = this.#countIn(channel, bytes);
    channel.checkBegins();
    context.checks.check(setup, frame, (checked) => {
      const batch = checked === null
        ? undefined : readBatch(setup, signature, checked, context.limits.rowsPerBatch);
      if (checked !== null && batch !== undefined) {
        trace.step('store');
        this.#submit(channel, batch, (code) => {
          context.metrics.ackSeconds.observe((context.clock.monotonicMs() - startedMs) / 1000);
          trace.end({ 'keelson.code': code });
          checked.release();
          done();
        });
      } else {
        checked?.release();
        channel.inFlight -= 1;
        done();
        const code = checked === null ? 'bad-signature' : 'malformed';
        trace.end({ 'keelson.code': code });
        output.refuse(code, subject);
        output.strike(checked === null ? 'badSignature' : 'malformed');
      }
      channel.checkEnded();
    });
  }

  /**
   * Counts a batch as received and not settled.
   * @returns a function that removes it from the totals; the credit is freed by the answer.
   */
  #countIn(channel: Channel, bytes: number): () => void {
    const { metrics: { totals }, settled } = this.context;
    channel.inFlight += 1;
    totals.queuedBatches += 1;
    totals.queuedBytes += bytes;
    return () => {
      totals.queuedBatches -= 1;
      totals.queuedBytes -= bytes;
      settled.fire();
    };
  }

  withdraw(frame: Withdraw): void {
    const { context, output } = this;
    const channel = this.#channelOf(frame);
    if (channel === undefined) return;
    const { setup } = channel;
    const { studyId } = setup.signatures;
    const subject = { channel: setup.id, studyId, facts: setup.facts };
    if (context.stopping) return output.refuse('shutting-down', subject);
    if (channel.withdrawing) {
      output.refuse('credit-exceeded', subject);
      return output.strike('stray');
    }
    const contexts = [setup.signatures, ...setup.earlier];
    if (!contexts.some((signed) =>
      verifyWithdrawal(setup.verifier, signed, frame.epoch, frame.signature))) {
      output.refuse('bad-signature', subject);
      return output.strike('badSignature');
    }
    channel.withdrawing = true;
    // The listener closes when the queue is empty. So this request counts, and gets its answer
    // before the close.
    context.metrics.totals.queuedBatches += 1;
    const request = {
      studyId: setup.studyId, contributor: toHex(setup.verifier.publicKey), epoch: frame.epoch,
      signature: frame.signature,
    };
    // Batches that came before it reach the hub before it.
    channel.afterChecks(() => {
      context.hub.withdraw(request).finally(() => {
        channel.withdrawing = false;
      }).then((result) => {
        if (result.kind === 'refused') return output.refuse(result.code, subject);
        channel.withdrew(frame.epoch);
        this.#scheduleAck(channel);
      }).catch((error: unknown) => {
        context.logger.error({ err: error }, 'a withdrawal could not be stored');
        output.refuse('internal', subject);
      }).finally(() => {
        context.metrics.totals.queuedBatches -= 1;
        context.settled.fire();
      });
    });
  }

  /**
   * The channel that a frame names. If there is none, the frame is refused and counts as a strike.
   */
  #channelOf({ channel }: SignedBatch | Withdraw): Channel | undefined {
    const found = this.#channels.get(channel);
    if (found === undefined) {
      this.output.refuse('unknown-channel', { channel });
      this.output.strike('stray');
    }
    return found;
  }

  /** @param opened the channel, if it is open. */
  async #open(
    hello: Hello, { view, setup }: Admitted, opened: number | null,
  ): Promise<void> {
    const { context, output } = this;
    const state = await context.hub.contributorState(view.studyId, hello.publicKey);
    // A contributor whose token has ended may still take back its rows of the open epoch. The
    // server's clock decides, without tolerance. The channel accepts no batch.
    const isEnrolled = opened !== null
      || !isEnrolmentOver(setup.enrolled, view, context.clock.nowMs());
    if (!isEnrolled && !state.inOpenEpoch) {
      return output.refuse(
        'enrolment-expired', { studyId: hello.studyId, publicKey: hello.publicKey },
      );
    }
    const id = opened ?? ++this.#lastChannel;
    const ready = await readyFrom(context, hello, this.serverNonce, id, state);
    if (output.closed) return;
    if (opened === null) this.#add(setup, id);
    output.send(ready);
    output.follow(view.studyId);
    // The study may have stopped since Welcome. No later event would report it.
    const now = context.hub.study(view.studyId);
    if (now !== undefined && now.state !== 'open') {
      output.send(noticeOf(now, context.clock.nowMs()));
    }
  }

  /** Opens a channel. @returns its number. */
  #add(setup: Admitted['setup'], id = ++this.#lastChannel): number {
    this.#channels.set(id, new Channel({ ...setup, id }));
    this.#count(1);
    return id;
  }

  #full(): boolean {
    const { channelsOf, limits, metrics } = this.context;
    return this.#channels.size + this.#pendingHellos >= limits.channelsPerSocket
      || metrics.totals.channels >= limits.channels
      || channelsOf.of(this.socket.address) >= limits.channelsPerAddress;
  }

  #count(change: number): void {
    this.context.metrics.totals.channels += change;
    this.context.channelsOf.add(this.socket.address, change);
  }

  /**
   * @param done called with the verdict or the code of the refusal when the batch is settled. The
   *   answer leaves at the end of the turn.
   */
  #submit(channel: Channel, batch: VerifiedBatch, done: (code: string) => void): void {
    const { hub, logger } = this.context;
    const { sequence, fault } = batch;
    const told = { sequence, ...(fault !== undefined && { fault }) };
    const { setup } = channel;
    const view = hub.study(setup.studyId);
    if (view !== undefined && !mayCountIn(setup.enrolled, view, batch.epoch)) {
      return done(this.#reject(channel, sequence, 'epoch-not-open'));
    }
    // Until then only the fields that the answer needs are kept, not the rows.
    const settled = (result: SubmitResult | undefined): void => {
      done(this.#settle(channel, told, result));
    };
    hub.submit(batch).then(settled, (error: unknown) => {
      logger.error({ err: error }, 'a batch could not be stored');
      settled(undefined);
    });
  }

  /**
   * @param result undefined when the hub failed: the sequence was not consumed.
   * @returns the verdict, or the code of the refusal.
   */
  #settle(
    channel: Channel, batch: Pick<VerifiedBatch, 'sequence' | 'fault'>,
    result: SubmitResult | undefined,
  ): string {
    this.#scheduleAck(channel);
    const rejected = countedVerdict(this.context, channel.setup, batch, result);
    if (rejected !== null) {
      channel.reject(rejected, result);
      return rejected.code;
    }
    channel.accept(batch.sequence, result!);
    return result!.verdict;
  }

  /** Refuses one sequence for now, without the cost of verifying its signature. */
  #later(channel: Channel, frame: SignedBatch, code: WireCode): void {
    const { facts, signatures, id } = channel.setup;
    const sequence = claimedSequence(channel.setup, frame);
    if (sequence === undefined) {
      return this.output.refuse(code, { channel: id, studyId: signatures.studyId, facts });
    }
    channel.inFlight += 1;
    this.#reject(channel, sequence, code);
  }

  /** Refuses a batch that the hub does not get. @returns the code. */
  #reject(channel: Channel, sequence: bigint, code: WireCode): WireCode {
    const { facts, studyName: study } = channel.setup;
    this.context.metrics.refused.add(1, { study, code });
    channel.reject(rejection(sequence, code, facts));
    this.#scheduleAck(channel);
    return code;
  }

  /**
   * Sends one ack for all verdicts of a channel that arrive together. A group commit resolves its
   * batches in one turn of the event loop, and the microtask runs after them.
   */
  #scheduleAck(channel: Channel): void {
    if (this.#answered.size === 0) queueMicrotask(() => this.#flushAcks());
    this.#answered.add(channel);
  }

  #flushAcks(): void {
    const answered = [...this.#answered];
    this.#answered.clear();
    this.socket.together(() => {
      const { hub, limits } = this.context;
      for (const channel of answered) {
        const epoch = hub.study(channel.setup.studyId)?.epoch ?? 0n;
        this.socket.send(channel.takeAck(limits.creditBatches, epoch));
      }
    });
  }
}
