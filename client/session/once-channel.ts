import { KeelsonError } from '../../src/base/errors.js';
import { encodeOnce, type Ack, type Notice, type Rejection } from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import { isStudyId } from '../http/once.js';
import { reasonOf } from '../http/requests.js';
import { Backoff } from './backoff.js';
import { Channel, renumberingsMax } from './channel.js';
import type { ChannelOptions } from './channel-contract.js';
import type { Batch } from './contribution.js';

/**
 * A contributor whose batches go each in a request of its own, without Hello. So no Ready names the
 * next sequence: it is one more than the greatest that the outbox ever stored. No Notice names the
 * open epoch: each answer does, and while rows wait for an epoch the channel asks.
 */
export class OnceChannel extends Channel {
  private readonly polls: Backoff;
  private cancelPoll: (() => void) | null = null;

  /**
   * @param readOpen asks for the state of a study, by its id; null where the server does not have
   *   it. It rejects when no server answers, or it takes no signed rows.
   */
  constructor(
    options: ChannelOptions, private readonly readOpen: (study: string) => Promise<Notice | null>,
  ) {
    super(options);
    const { pollInitialMs, pollMaxMs } = clientDefaults;
    this.polls = new Backoff(options.runtime, pollInitialMs, pollMaxMs);
  }

  override withdraw(): Promise<bigint> {
    return Promise.reject(new KeelsonError(
      'unsupported', 'to take rows back, open a channel: createContributor of the entry client',
    ));
  }

  override detach(): void {
    this.stopPolling();
    super.detach();
  }

  override end(error: KeelsonError, isSure?: boolean): void {
    this.stopPolling();
    super.end(error, isSure);
  }

  protected override greet(): void {
    this.state = 'greeting';
    if (isStudyId(this.options.study)) return this.start();
    const { link } = this;
    // Only this answer says whether the server takes signed rows. A study that was given by its id
    // has had it.
    this.readOpen(this.known!.studyIdHex).then(() => {
      if (this.link === link) this.start();
    }, (error: unknown) => {
      if (this.link !== link) return;
      if (error instanceof KeelsonError) this.end(error);
      else link!.drop(reasonOf(error));
    });
  }

  private start(): void {
    const { nextSequence } = this.outgoing.book;
    this.begin({
      kind: 'ready', channel: 0, studyId: this.known!.studyId, publicKey: this.signer.publicKey,
      nextSequence, holes: [], credit: 1, epoch: this.known!.epoch, signature: new Uint8Array(0),
      ownSpend: null,
    });
  }

  protected override offer(batch: Batch): Uint8Array {
    const { enrolment } = this;
    return encodeOnce({
      studyId: this.known!.studyId, publicKey: this.signer.publicKey, body: batch.body,
      signature: batch.signature,
      ...(enrolment !== undefined && { enrolment }),
    });
  }

  override onAck(ack: Ack): void {
    // Before the verdict: a batch that came too late is signed again, for this epoch.
    this.setEpoch(ack.epoch, null);
    super.onAck(ack);
  }

  protected override onRejection(rejection: Rejection): void {
    const batch = this.outgoing.book.offered(rejection.sequence);
    if (rejection.code !== 'stale-epoch' || batch === undefined
      || batch.renumbered >= renumberingsMax) {
      super.onRejection(rejection);
    } else if (this.openEpoch === 0n) {
      // The same bytes get the same answer again, and it names the epoch once one is open.
      super.onRejection({ ...rejection, retryable: true });
    } else {
      // The epoch of a cache had closed, and the sequence is used up.
      this.outgoing.renumber(batch);
    }
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
