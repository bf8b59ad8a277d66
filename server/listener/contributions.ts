import type { WireCode } from '../../src/base/error-codes.js';
import { toHex } from '../../src/base/bytes.js';
import { verifyWithdrawal } from '../../src/signing/index.js';
import { encodeUnsignedReady } from '../../src/wire/index.js';
import type {
  EncryptedBatch, Hello, Open, Ready, SignedBatch, Withdraw,
} from '../../src/wire/messages.js';
import type { SubmitResult, VerifiedBatch } from '../studies/contract.js';
import type { CheckedBatch } from '../checks/contract.js';
import { claimedSequence, readBatch } from './batches.js';
import { Channel } from './channel.js';
import { Encryption } from './encryption.js';
import { isEnrolmentOver, mayCountIn } from './enrolment.js';
import { isOverloaded, type ListenerContext, type SessionSocket } from './context.js';
import { noticeOf } from './event-frames.js';
import {
  judgeHello, readyFrom, type Admitted, type Greeted, type NotAdmitted,
} from './hello.js';
import { rejection } from './refusal-texts.js';
import type { SessionOutput } from './session-output.js';
import type { StrikeKind } from './strikes.js';
import { countedVerdict } from './verdicts.js';

const noSignature = new Uint8Array(0);

/** The contributors of one socket: their channels, the batches in flight, the acks. */
export class Contributions {
  readonly #channels = new Map<number, Channel>();
  /** Channels with an ack to send. */
  readonly #answered = new Set<Channel>();
  /** Client shares of this socket: a second channel with one would have the keys of the first. */
  readonly #clientShares = new Set<string>();
  /** Hellos and Opens so far. The n-th one's channel is n, so that its sender knows the number. */
  #greetings = 0;
  #pendingHellos = 0;
  /** Pending ones whose channel is not open yet. */
  #unopened = 0;

  constructor(
    private readonly context: ListenerContext,
    private readonly socket: SessionSocket,
    private readonly output: SessionOutput,
    private readonly greeted: Greeted,
    /** The form of its signed batches, for metrics. */
    private readonly signedForm: 'signed' | 'http',
  ) {}

  get size(): number {
    return this.#channels.size;
  }

  /** True if a contributor waits for an answer. */
  get owes(): boolean {
    return this.#pendingHellos > 0 || this.inFlight;
  }

  /** True if a batch or a Withdraw waits for its answer. */
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
   * Answers a Hello with Ready, an Open with Opened, or refuses it.
   * @param isEager opens the channel at once, where no stored state can refuse it. Batches then do
   *   not wait for the read that Ready needs. For senders whose answers wait for Ready anyway, as
   *   they do on an encrypted channel.
   */
  hello(hello: Hello | Open, isEager = hello.kind === 'open'): void {
    const { context, output } = this;
    const subject = { studyId: hello.studyId, publicKey: hello.publicKey };
    const id = ++this.#greetings;
    if (context.stopping) return output.refuse('shutting-down', subject);
    // The refusal names no study, so the client drops the socket, and its next one may reach
    // another server.
    if (!context.takesBatches) {
      const { limits } = context;
      return output.refuse('shutting-down', { facts: { limits, takesBatches: false } });
    }
    const judged = this.#judge(hello);
    if ('code' in judged) {
      const facts = { limits: context.limits, fault: judged.fault };
      output.refuse(judged.code, { ...subject, facts });
      output.rest();
      if (judged.strike !== undefined) output.strike(judged.strike);
      return;
    }
    this.#pendingHellos += 1;
    const { setup, keys } = judged;
    const encryption = keys === null ? null : new Encryption(keys, context.limits);
    const channel = new Channel({ ...setup, id }, encryption);
    if (hello.kind === 'open') this.#clientShares.add(toHex(hello.clientShare));
    const isOpen =
      isEager && !isEnrolmentOver(setup.enrolled, judged.view, context.clock.nowMs());
    if (isOpen) this.#add(channel);
    else this.#unopened += 1;
    this.#open(hello, judged, channel)
      .catch((error: unknown) => {
        context.logger.error({ err: error }, 'a channel could not be opened');
        this.#remove(channel);
        output.refuse('internal', subject);
      })
      .finally(() => {
        this.#pendingHellos -= 1;
        if (!isOpen) this.#unopened -= 1;
      });
  }

  /**
   * The checks that need no store. A refused Hello is no strike: a fleet that reconnects sends
   * thousands at once.
   */
  #judge(hello: Hello | Open): Admitted | NotAdmitted {
    const { context } = this;
    if (!context.helloRates.take(this.socket.address)) return { code: 'rate-limited' };
    if (this.#full()) return { code: 'too-many-channels' };
    if (hello.kind === 'open' && this.#clientShares.has(toHex(hello.clientShare))) {
      return { code: 'malformed', strike: 'malformed' };
    }
    return judgeHello(context, hello, this.greeted);
  }

  /** A batch of an open channel of signed batches. */
  batch(frame: SignedBatch): void {
    const { context } = this;
    const channel = this.#channelOf(frame);
    if (channel === undefined) return;
    if (channel.encryption !== null) return this.#refuse(channel, 'malformed', 'malformed');
    context.metrics.batches.add(1, { form: this.signedForm });
    if (!this.#mayTake(channel, () => claimedSequence(channel.setup, frame))) return;
    const settle = this.#take(channel, frame.signature, frame.body.length);
    context.checks.check(channel.setup, frame, settle);
  }

  /**
   * A batch of an encrypted channel. It is opened before anything else, so that its number counts,
   * and so that a verdict is on a sequence that its contributor stated. The listener's thread opens
   * it: 4 us, 41 us at 64 KiB, less than a message to another thread and back.
   */
  encryptedBatch(frame: EncryptedBatch): void {
    const { context } = this;
    const channel = this.#channelOf(frame);
    if (channel === undefined) return;
    const { encryption, setup } = channel;
    if (encryption === null) return this.#refuse(channel, 'malformed', 'malformed');
    if (encryption.isSpent) return this.#refuse(channel, 'unknown-channel');
    context.metrics.batches.add(1, { form: 'encrypted' });
    const plain = encryption.open(frame.encrypted);
    if (plain === null) return this.#refuse(channel, 'bad-signature', 'badSignature');
    const checked = context.checks.opened(plain);
    if (checked === null) return this.#refuse(channel, 'malformed', 'malformed');
    if (this.#mayTake(channel, () => claimedSequence(setup, checked))) {
      this.#take(channel, noSignature, frame.encrypted.length)(checked);
    } else checked.release();
  }

  /**
   * True if a batch may be taken now. If not, it was refused.
   * @param sequence of the batch, undefined if it has none.
   */
  #mayTake(channel: Channel, sequence: () => bigint | undefined): boolean {
    const { context } = this;
    const { setup } = channel;
    // The study ended and was removed. No verdict on one batch could free the credit of the
    // channel's others.
    const view = context.hub.study(setup.studyId);
    if (view === undefined) this.#refuse(channel, 'unknown-study');
    else if (isEnrolmentOver(setup.enrolled, view, context.clock.nowMs())) {
      this.#refuse(channel, 'enrolment-expired');
    } else if (channel.inFlight >= context.limits.creditBatches) {
      this.#refuse(channel, 'credit-exceeded', 'stray');
    } else if (context.stopping) this.#later(channel, sequence(), 'shutting-down');
    else if (isOverloaded(context)) this.#later(channel, sequence(), 'overloaded');
    else return true;
    return false;
  }

  /**
   * Takes a batch that is to be checked.
   * @param signature stored beside the body; empty if its seal was its check.
   * @returns the function that settles it, to be called once with the outcome of the check.
   */
  #take(
    channel: Channel, signature: Uint8Array, bytes: number,
  ): (checked: CheckedBatch | null) => void {
    const { context } = this;
    const { setup } = channel;
    const startedMs = context.clock.monotonicMs();
    const trace = context.tracing.begin('keelson.batch', { 'keelson.study': setup.studyName });
    trace.step('check');
    const done = this.#countIn(channel, bytes);
    channel.checkBegins();
    return (checked) => {
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
        this.#refuse(channel, code, checked === null ? 'badSignature' : 'malformed');
      }
      channel.checkEnded();
    };
  }

  /** Refuses a frame of a channel, which keeps its credit. */
  #refuse({ setup }: Channel, code: WireCode, strike?: StrikeKind): void {
    const { id: channel, signatures: { studyId }, facts } = setup;
    this.output.refuse(code, { channel, studyId, facts });
    if (strike !== undefined) this.output.strike(strike);
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
    const { context } = this;
    const channel = this.#channelOf(frame);
    if (channel === undefined) return;
    const { setup } = channel;
    if (context.stopping) return this.#refuse(channel, 'shutting-down');
    if (channel.withdrawing) return this.#refuse(channel, 'credit-exceeded', 'stray');
    if (channel.encryption?.isSpent === true) return this.#refuse(channel, 'unknown-channel');
    const contexts = [setup.signatures, ...setup.earlier];
    if (!contexts.some((signed) =>
      verifyWithdrawal(setup.verifier, signed, frame.epoch, frame.signature))) {
      return this.#refuse(channel, 'bad-signature', 'badSignature');
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
        if (result.kind === 'refused') return this.#refuse(channel, result.code);
        channel.withdrew(frame.epoch);
        this.#scheduleAck(channel);
      }).catch((error: unknown) => {
        context.logger.error({ err: error }, 'a withdrawal could not be stored');
        this.#refuse(channel, 'internal');
      }).finally(() => {
        context.metrics.totals.queuedBatches -= 1;
        context.settled.fire();
      });
    });
  }

  /**
   * The channel that a frame names. If there is none, the frame is refused and counts as a strike.
   */
  #channelOf({ channel }: SignedBatch | EncryptedBatch | Withdraw): Channel | undefined {
    const found = this.#channels.get(channel);
    if (found === undefined) {
      this.output.refuse('unknown-channel', { channel });
      this.output.strike('stray');
    }
    return found;
  }

  /** Announces a channel that is open or may be opened. */
  async #open(
    hello: Hello | Open, { view, setup }: Admitted, channel: Channel,
  ): Promise<void> {
    const { context, output } = this;
    const state = await context.hub.contributorState(view.studyId, hello.publicKey);
    // A contributor whose token has ended may still take back its rows of the open epoch. The
    // server's clock decides, without tolerance. The channel accepts no batch.
    const isEnrolled = this.#channels.has(channel.setup.id)
      || !isEnrolmentOver(setup.enrolled, view, context.clock.nowMs());
    if (!isEnrolled && !state.inOpenEpoch) {
      // Nothing was sealed, so the share is of no use to anybody.
      if (hello.kind === 'open') this.#clientShares.delete(toHex(hello.clientShare));
      return output.refuse(
        'enrolment-expired', { studyId: hello.studyId, publicKey: hello.publicKey },
      );
    }
    const ready = await readyFrom(context, hello, channel.setup.id, state);
    if (output.closed) return;
    if (!this.#channels.has(channel.setup.id)) this.#add(channel);
    this.#announce(hello, ready, channel);
    output.follow(view.studyId);
    // The study may have stopped since Welcome. No later event would report it.
    const now = context.hub.study(view.studyId);
    if (now !== undefined && now.state !== 'open') {
      output.send(noticeOf(now, context.clock.nowMs()));
    }
  }

  /** Sends Ready or Opened. Acks of the channel may follow. */
  #announce(hello: Hello | Open, ready: Omit<Ready, 'signature'>, channel: Channel): void {
    const { context: { hub }, greeted: { serverNonce }, output } = this;
    const { setup: { id, studyId, signatures }, encryption } = channel;
    const { publicKey } = hello;
    if (hello.kind === 'hello') {
      const signature = hub.signReady(studyId, publicKey, serverNonce, hello.clientNonce);
      return output.send({ ...ready, signature });
    }
    const encrypted = encryption!.seal('opened', encodeUnsignedReady(ready));
    output.send({
      kind: 'opened', channel: id, studyId: signatures.studyId, publicKey, encrypted,
    });
    channel.isAnnounced = true;
    if (channel.hasAnswers) this.#scheduleAck(channel);
  }

  #add(channel: Channel): void {
    this.#channels.set(channel.setup.id, channel);
    this.#count(1);
  }

  #remove({ setup }: Channel): void {
    if (this.#channels.delete(setup.id)) this.#count(-1);
  }

  #full(): boolean {
    const { channelsOf, limits, metrics } = this.context;
    return this.#channels.size + this.#unopened >= limits.channelsPerSocket
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

  /** Refuses one sequence for now, without the cost of verifying a signature. */
  #later(channel: Channel, sequence: bigint | undefined, code: WireCode): void {
    if (sequence === undefined) return this.#refuse(channel, code);
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
        if (!channel.isAnnounced) continue;
        const epoch = hub.study(channel.setup.studyId)?.epoch ?? 0n;
        this.socket.send(channel.takeAck(limits.creditBatches, epoch));
      }
    });
  }
}
