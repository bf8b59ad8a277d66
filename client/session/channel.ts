import { equalBytes } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { KeelsonError, WireError } from '../../src/base/errors.js';
import { signWithdrawal, type AsyncSigner } from '../../src/signing/index.js';
import {
  encodeClientFrame, type Ack, type Notice, type Ready, type Refusal, type Rejection,
  type WireStudyState,
} from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import { Backoff } from './backoff.js';
import type { ChannelLink, ChannelOptions, GetEnrolment } from './channel-contract.js';
import type { Batch, Contribution, SigningContext } from './contribution.js';
import type { HelloAgain } from '../websocket/contract.js';
import type { Encrypted } from './encrypted.js';
import type { Greeting } from './greeting.js';
import { chooseStudy, type VerifiedStudy } from './handshake.js';
import { asKeelsonError, Outgoing, refuse, stopOf } from './outgoing.js';
import { Withdrawal } from './withdrawal.js';

/** A batch that needs new sequences more often than this shows that somebody else uses the key. */
export const renumberingsMax = 3;

/**
 * One contributor in one study, over any number of successive sockets. It asks for a channel on
 * each socket, has rows signed once an epoch is open, respects the credit, and sends again what was
 * not settled. It knows no socket and no file. `Outgoing` has the state of each contribution.
 */
export abstract class Channel {
  /** The key whose rows it sends. */
  signer!: AsyncSigner;
  protected readonly outgoing: Outgoing;
  private readonly withdrawal = new Withdrawal();
  private readonly retry: Backoff;
  protected state: 'detached' | 'greeting' | 'live' | 'ended' = 'detached';
  /** The reason why it ended. */
  private endedBy: KeelsonError | null = null;
  protected link: ChannelLink | null = null;
  protected known: VerifiedStudy | null = null;
  private channelNumber = 0;
  protected greeting: Greeting | null = null;
  /** @internal The encrypted channel on this socket; null if its batches are signed. */
  encrypted: Encrypted | null = null;
  /**
   * A Notice that came after Ready, while Ready was still verified or the outbox was storing the
   * server key that it proved.
   */
  protected newsWhileProving: Notice | null = null;
  protected openEpoch = 0n;
  /** In a sealed study: the epoch that contributors seal for, and the servers' keys for it. */
  private boxKeys: { readonly epoch: bigint; readonly keys: readonly Uint8Array[] } | null = null;
  private credit = 1;
  protected helloPutOff = false;
  private insistedStudy: Uint8Array | null = null;
  private stopped: WireError | null = null;
  private cancelRetry: (() => void) | null = null;
  /** @internal The token in each Hello. */
  enrolment: Uint8Array | undefined;

  constructor(protected readonly options: ChannelOptions) {
    if (options.signer !== undefined) this.signer = options.signer;
    if (typeof options.enrolment === 'object') this.enrolment = options.enrolment;
    this.outgoing = new Outgoing(options.outbox, {
      signingContext: () => this.signingContext(),
      pump: () => this.pump(),
      end: (error) => this.end(error),
      onSettled: () => this.endWhenDone(),
    });
    this.retry =
      new Backoff(options.runtime, clientDefaults.retryInitialMs, clientDefaults.retryMaxMs);
  }

  /** The verified study; null before the first Welcome. */
  get study(): VerifiedStudy | null {
    return this.known;
  }

  /** 32 bytes: the key of the server at the other end; null without a socket. */
  get serverKey(): Uint8Array | null {
    return this.link?.welcome.server.publicKey ?? null;
  }

  /** The server's number for this channel on the present socket; 0 when there is none. */
  get number(): number {
    return this.state === 'live' ? this.channelNumber : 0;
  }

  get epoch(): bigint {
    return this.openEpoch;
  }

  get isEnded(): boolean {
    return this.state === 'ended';
  }

  /** True while an answer of the server is expected. */
  get isAwaiting(): boolean {
    return (this.state === 'greeting' && !this.helloPutOff) || this.outgoing.book.flight.size > 0;
  }

  /** True when nothing is queued or unsettled. */
  get isIdle(): boolean {
    return this.outgoing.isIdle;
  }

  /** From now on, accepts only the study that an earlier run used. */
  insistOn(study: Uint8Array): void {
    this.insistedStudy = study;
  }

  /** @param sequence the least that no earlier run can have used. Ready names it, too. */
  startAt(sequence: bigint): void {
    this.outgoing.book.nextSequence = sequence;
  }

  /**
   * Accepts a contribution, to be signed and sent in its turn. @returns true when it has to wait.
   */
  submit(contribution: Contribution): boolean {
    if (this.stopped !== null) {
      refuse(contribution, this.stopped);
      return false;
    }
    if (this.state === 'ended') {
      contribution.fail(this.endedBy!);
      return false;
    }
    const { queue } = this.outgoing;
    queue.push(contribution);
    this.pump();
    return queue.at(-1) === contribution;
  }

  /** Accepts batches that an earlier run signed. */
  restore(batches: readonly Batch[]): void {
    for (const batch of batches) this.outgoing.book.add(batch, 'waiting');
  }

  /** Starts on a new socket, with Hello. */
  attach(link: ChannelLink): void {
    if (this.state === 'ended') return;
    this.link = link;
    this.greeting = null;
    this.encrypted?.close();
    this.encrypted = null;
    try {
      this.known = chooseStudy(
        link.welcome, this.options.study, this.known?.studyId ?? this.insistedStudy);
      if (this.known.document.sealed !== undefined && this.options.sealing === undefined) {
        throw new KeelsonError(
          'unsupported', `the study ${this.known.document.study} is sealed: give createContributor `
            + 'the option sealing, from the entry client/sealing',
        );
      }
    } catch (error) {
      this.end(error as KeelsonError);
      return;
    }
    if (this.enrolment === undefined && typeof this.options.enrolment === 'function') this.enrol();
    else this.greet();
  }

  /**
   * Gets a token, then greets. Meanwhile the channel is detached.
   * @param expired the refusal of the token before; it ends a channel that gets the same one again.
   */
  private enrol(expired?: WireError): void {
    const { link, options } = this;
    this.state = 'detached';
    (options.enrolment as GetEnrolment)(this.known!.document).then((token) => {
      if (expired !== undefined && equalBytes(token, this.enrolment!)) throw expired;
      this.enrolment = token;
      if (this.link === link && link !== null) this.greet();
    }).catch((error: unknown) => {
      if ((error as KeelsonError).code !== 'transport-failed') this.end(asKeelsonError(error));
      else if (this.link === link) {
        this.cancelRetry?.();
        this.cancelRetry = options.runtime.after(this.retry.nextMs(), () => this.enrol(expired));
      }
    });
  }

  /** Called when the socket is lost. */
  detach(): void {
    if (this.state === 'ended') return;
    this.state = 'detached';
    this.link = null;
    this.encrypted?.close();
    this.cancelRetry?.();
    this.cancelRetry = null;
  }

  /** Asks for a channel on this socket. */
  protected abstract greet(): void;

  /** Goes on when something is signed or verified, unless the socket is another one by then. */
  protected soon<T>(value: Promise<T>, then: (value: T) => void): void {
    const { link } = this;
    value.then((found) => {
      if (this.link === link && link !== null) then(found);
    }).catch((error: unknown) => this.end(asKeelsonError(error)));
  }

  /** @internal A Hello for another nonce of the same server, on a transport without a socket. */
  regreet?(serverNonce: Uint8Array): HelloAgain | null;

  /** @internal The router found that this Ready belongs to this channel. */
  onReady?(ready: Ready): void;

  /** The server has proved its identity. Stores that, and goes on. */
  protected begin(ready: Ready): void {
    const proven = this.options.owner.onProven?.();
    const mustSign = this.encrypted === null && this.outgoing.book.unsigned.length > 0;
    if (proven === undefined && !mustSign) return this.goLive(ready);
    const prepared = Promise.all([proven, mustSign ? this.outgoing.signRest() : undefined]);
    this.soon(prepared, () => {
      if (this.state === 'greeting') this.goLive(ready);
    });
  }

  /**
   * Asks the server to take back the rows of an epoch, once the rows given earlier are settled. It
   * asks again on each socket until the server answers.
   * @param epoch default: the one that is open then.
   * @returns the epoch.
   */
  withdraw(epoch = 0n): Promise<bigint> {
    if (this.state === 'ended') return Promise.reject(this.endedBy!);
    const answer = this.withdrawal.ask(epoch);
    this.pump();
    return answer;
  }

  private sendWithdrawal(): void {
    const epoch = this.isIdle ? this.withdrawal.due(this.link, this.openEpoch) : null;
    if (epoch === null) return;
    const context = { serverKey: this.serverKey!, studyId: this.known!.studyId };
    const { link, channelNumber: channel, signer } = this;
    this.soon(Promise.resolve(signWithdrawal(signer, context, epoch)), (signature) =>
      link!.send(encodeClientFrame({ kind: 'withdraw', channel, epoch, signature })));
  }

  private goLive(ready: Ready): void {
    this.state = 'live';
    this.channelNumber = ready.channel;
    this.credit = Math.max(1, ready.credit);
    const lost = this.outgoing.book.resume(ready, this.link!.welcome.limits.sequenceWindow);
    this.options.owner.onReady?.(ready);
    this.noteBoxKeys(ready);
    this.setEpoch(ready.epoch, null);
    for (const batch of lost) this.outgoing.renumber(batch);
    this.onState(this.known!.state);
    const news = this.newsWhileProving;
    if (news !== null) this.onNotice(news);
    this.pump();
  }

  /** @internal */
  onAck(ack: Ack): void {
    if (this.state !== 'live' || ack.channel !== this.channelNumber) return;
    this.link!.progress();
    // One batch may always be sent, whatever credit the server states: only an ack brings more
    // credit.
    this.credit = Math.max(1, ack.credit);
    if (ack.withdrawn !== undefined) this.withdrawal.answer(ack.withdrawn);
    if (ack.ownSpend !== undefined) this.options.owner.onSpend?.(ack.ownSpend);
    for (const sequence of ack.accepted) this.onAccepted(sequence, ack.epoch);
    for (const rejection of ack.rejections) this.onRejection(rejection);
    this.setEpoch(ack.epoch, null);
    this.pump();
  }

  private onAccepted(sequence: bigint, openEpoch: bigint): void {
    const batch = this.outgoing.book.offered(sequence);
    if (batch === undefined) return;
    this.retry.reset();
    this.outgoing.settle(batch, null, openEpoch);
  }

  protected onRejection(rejection: Rejection): void {
    const { sequence } = rejection;
    // A batch that was deferred and sent again may be answered twice.
    const batch = this.outgoing.book.offered(sequence);
    if (batch === undefined || (rejection.retryable && batch.place !== 'flight')) return;
    if (rejection.retryable) {
      this.outgoing.book.move(batch, 'deferred');
      this.putOff(rejection.code);
    } else if (rejection.code === 'mutated' && batch.renumbered < renumberingsMax) {
      // Other bytes hold this sequence, so this batch never counted. It may use a new sequence.
      this.outgoing.renumber(batch);
    } else {
      const details = { sequence, epoch: batch.epoch };
      this.outgoing.settle(
        batch, new WireError(rejection.code, rejection.text, { retryable: false, details }), 0n,
      );
    }
  }

  /** @internal A refusal that names this channel, or this key in this study. */
  onRefusal(refusal: Refusal): void {
    if (this.state !== 'greeting' && this.state !== 'live') return;
    const { code } = refusal;
    if (code === 'unknown-channel') {
      // Later refusals are about the same channel.
      if (this.state === 'live') this.greet();
    } else if (code === 'stale-share' || this.encrypted?.isInBetween(refusal) === true) {
      this.link!.drop(refusal.text);
    } else if (refusal.retryable) {
      this.helloPutOff = this.state === 'greeting';
      this.outgoing.book.deferFlight();
      this.putOff(refusal.code);
    } else {
      const error = new WireError(refusal.code, refusal.text, { retryable: false });
      if (refusal.code === 'too-late') this.withdrawal.fail(error);
      else if (error.code === 'enrolment-expired' && typeof this.options.enrolment === 'function') {
        this.outgoing.book.deferFlight();
        this.greeting = null;
        this.enrol(error);
        // Anybody on the way can make a Refusal. On an encrypted channel it settles no batch.
      } else this.end(error, this.encrypted === null);
    }
  }

  /** @internal */
  onNotice(notice: Notice): void {
    if (this.state === 'greeting') this.newsWhileProving = notice;
    if (this.state !== 'live') return;
    this.noteBoxKeys(notice);
    this.setEpoch(notice.epoch, notice.closesInMs === 0n ? null : Number(notice.closesInMs));
    this.onState(notice.state);
    this.pump();
  }

  private noteBoxKeys({ epoch, boxKeys: keys }: Pick<Notice, 'epoch' | 'boxKeys'>): void {
    if (keys !== undefined) this.boxKeys = { epoch, keys };
  }

  /** True if rows can be signed for the open epoch. */
  private get canSign(): boolean {
    if (this.openEpoch === 0n) return false;
    return this.known?.document.sealed === undefined || this.boxKeys?.epoch === this.openEpoch;
  }

  protected setEpoch(epoch: bigint, closesInMs: number | null): void {
    if (this.state !== 'live' || (epoch === this.openEpoch && closesInMs === null)) return;
    const changed = epoch !== this.openEpoch;
    this.openEpoch = epoch;
    if (changed) this.outgoing.book.releaseDeferred();
    this.options.owner.onEpoch?.(epoch, closesInMs);
  }

  private onState(state: WireStudyState): void {
    if (state === 'open' || this.stopped !== null) return;
    this.stopped = stopOf(state);
    for (const contribution of this.outgoing.queue.splice(0)) refuse(contribution, this.stopped);
    this.endWhenDone();
  }

  private endWhenDone(): void {
    if (this.stopped !== null && this.isIdle) this.end(this.stopped);
  }

  /**
   * Sends as much as credit and socket allow, and signs more when there is room. May be called at
   * any time.
   */
  pump(): void {
    if (this.state !== 'live') return;
    this.sendWaiting();
    while (this.mayOffer && this.canSign && this.outgoing.queue.length > 0) {
      this.outgoing.signNext();
      this.sendWaiting();
    }
    this.sendWithdrawal();
  }

  private get mayOffer(): boolean {
    return this.state === 'live' && this.outgoing.book.ahead < this.credit;
  }

  private sendWaiting(): void {
    for (;;) {
      const batch = this.state === 'live' ? this.outgoing.book.next(this.credit) : undefined;
      if (batch === undefined) return;
      if (!this.link!.writable) {
        this.link!.whenWritable(this);
        return;
      }
      this.outgoing.book.move(batch, 'flight');
      batch.offered = true;
      if (this.encrypted === null) this.link!.send(this.offer(batch));
      else this.encrypted.send(batch.body);
    }
  }

  /** The message that has a batch. */
  protected offer(batch: Batch): Uint8Array {
    const { body, signature } = batch;
    return encodeClientFrame({ kind: 'batch', channel: this.channelNumber, body, signature });
  }

  private signingContext(): SigningContext & { readonly rowsMax: number } {
    const { welcome } = this.link!;
    const { document, studyId } = this.known!;
    return {
      serverKey: welcome.server.publicKey,
      studyId,
      signer: this.signer,
      limits: welcome.limits,
      columns: document.columns.length,
      types: document.types,
      dataType: this.options.dataType ?? 'float64',
      epoch: this.openEpoch,
      isSigned: this.encrypted === null,
      rowsMax: document.contribution.rowsMax,
      seal: document.sealed === undefined ? undefined
        : (rows, texts, sequence) => this.options.sealing!({
          document, rows, texts, studyId, epoch: this.openEpoch, sequence,
          contributorKey: this.signer.publicKey, boxKeys: this.boxKeys?.keys ?? [],
        }),
      takeSequence: () => this.outgoing.book.takeSequence(),
    };
  }

  private putOff(code: WireCode): void {
    this.options.owner.onPutOff?.(code);
    this.cancelRetry ??= this.options.runtime.after(this.retry.nextMs(), () => {
      this.cancelRetry = null;
      if (this.state === 'greeting' && this.helloPutOff) this.greet();
      this.outgoing.book.releaseDeferred();
      this.withdrawal.again();
      this.pump();
    });
  }

  /**
   * Ends for good, and fails everything open. The contents of an outbox stay for another run.
   * @param isSure false if somebody on the way may have made the error.
   */
  end(error: KeelsonError, isSure = true): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.endedBy = error;
    this.link = null;
    this.encrypted?.close();
    this.cancelRetry?.();
    this.cancelRetry = null;
    const tell = this.outgoing.close(error, isSure);
    this.options.owner.onEnded?.(error);
    this.withdrawal.fail(error);
    tell();
  }
}
