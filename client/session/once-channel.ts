import type { WireCode } from '../../src/base/error-codes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { encodeOnce, type Ack, type Notice, type Rejection } from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import { Backoff } from './backoff.js';
import { Channel } from './channel.js';
import type { ChannelOptions } from './channel-contract.js';
import type { Batch } from './contribution.js';

const remedy = 'take createContributor of the entry client, which opens a channel';

/**
 * A contributor whose batches go each in a request of its own, without Hello. So no Ready says
 * which sequence is next: it is one more than the greatest that the outbox ever stored. No Notice
 * says which epoch is open: each answer does, and while rows wait for an epoch the channel asks.
 */
export class OnceChannel extends Channel {
  private readonly polls: Backoff;
  private cancelPoll: (() => void) | null = null;

  /** @param readOpen asks how a study stands, by its id. It rejects when nobody answers. */
  constructor(
    options: ChannelOptions, private readonly readOpen: (study: string) => Promise<Notice>,
  ) {
    super(options);
    const { pollInitialMs, pollMaxMs } = clientDefaults;
    this.polls = new Backoff(options.runtime, pollInitialMs, pollMaxMs);
  }

  protected override get sealedRemedy(): string {
    return remedy;
  }

  override withdraw(): Promise<bigint> {
    return Promise.reject(new KeelsonError('unsupported', `to take rows back, ${remedy}`));
  }

  override detach(): void {
    this.stopPolling();
    super.detach();
  }

  override end(error: KeelsonError): void {
    this.stopPolling();
    super.end(error);
  }

  protected override greet(): void {
    const { nextSequence: next } = this.outgoing.book;
    this.state = 'greeting';
    this.begin({
      kind: 'ready', channel: 0, studyId: this.known!.studyId, publicKey: this.signer.publicKey,
      nextSequence: next > this.firstSequence ? next : this.firstSequence, holes: [], credit: 1,
      epoch: this.known!.epoch, signature: new Uint8Array(0), ownSpend: null,
    });
  }

  protected override offer({ body, signature }: Batch): Uint8Array {
    const { enrolment } = this;
    return encodeOnce({
      studyId: this.known!.studyId, publicKey: this.signer.publicKey, body, signature,
      ...(enrolment !== undefined && { enrolment }),
    });
  }

  override onAck(ack: Ack): void {
    // Before the verdict: a batch that came too late is signed again, for this epoch.
    this.setEpoch(ack.epoch, null);
    super.onAck(ack);
  }

  /** The epoch of a cache may have closed, and the sequence is used up. */
  protected override takesNextSequence(code: WireCode): boolean {
    return code === 'stale-epoch' || super.takesNextSequence(code);
  }

  protected override onRejection(rejection: Rejection): void {
    const waits = rejection.code === 'stale-epoch' && this.openEpoch === 0n;
    // The same bytes get the same answer, which says when an epoch is open.
    super.onRejection(waits ? { ...rejection, retryable: true } : rejection);
  }

  override pump(): void {
    super.pump();
    if (this.state !== 'live' || this.openEpoch !== 0n || this.outgoing.queue.length === 0) {
      return this.stopPolling();
    }
    if (this.cancelPoll !== null) return;
    this.cancelPoll = this.options.runtime.after(this.polls.nextMs(), () => {
      const { link } = this;
      void this.readOpen(this.known!.studyIdHex).catch(() => null).then((news) => {
        if (this.link !== link) return;
        this.cancelPoll = null;
        if (news === null) this.pump();
        else this.onNotice(news);
      });
    });
  }

  private stopPolling(): void {
    this.cancelPoll?.();
    this.cancelPoll = null;
    this.polls.reset();
  }
}
