import type { WireCode } from '../../src/base/error-codes.js';
import { KeelsonError, WireError } from '../../src/base/errors.js';
import type { WireStudyState } from '../../src/wire/index.js';
import type { Outbox } from '../outbox/contract.js';
import { BatchBook } from './batch-book.js';
import {
  batchesOf, countRows, renumberBatch, signBatches, type Batch, type Contribution,
  type SigningContext,
} from './contribution.js';
import { ContributionRoom } from './room.js';

/** Codes after which waiting rows can never be accepted, whatever the client or the server does. */
const finalCodes: ReadonlySet<WireCode> = new Set<WireCode>(['study-ended', 'budget-exhausted']);

/** The signer of contributions, and the changes that it is notified of. */
export interface OutgoingOwner {
  /** Called only while the channel has a socket. */
  signingContext(): SigningContext & { readonly rowsMax: number };
  /** The outbox has stored batches, which may now be offered. */
  pump(): void;
  /** The outbox cannot store signed batches, so nothing may be sent any more. */
  end(error: KeelsonError): void;
  /** A contribution is settled. */
  onSettled(): void;
}

/**
 * Contributions from their acceptance to their settling, each settled once. They wait for an epoch,
 * are signed, and are durable in the outbox before they may be offered. Then they are finished or
 * failed. It knows nothing of the wire.
 */
export class Outgoing {
  readonly book = new BatchBook();
  /** Not signed yet, oldest first. */
  readonly queue: Contribution[] = [];
  private readonly room = new ContributionRoom();

  constructor(private readonly outbox: Outbox | undefined, private readonly owner: OutgoingOwner) {}

  /** True when nothing is queued or unsettled. */
  get isIdle(): boolean {
    return this.queue.length === 0 && this.book.isEmpty;
  }

  /** Makes batches of the oldest waiting contribution. */
  signNext(): void {
    const contribution = this.queue.shift()!;
    const context = this.owner.signingContext();
    try {
      const rows = countRows(contribution.values!, context.columns, contribution.columns);
      this.room.take(context.epoch, rows, contribution.last, context.rowsMax);
      contribution.batches = batchesOf(contribution, context);
    } catch (error) {
      this.outbox?.settle(contribution.id);
      if (error instanceof WireError) refuse(contribution, error);
      else contribution.fail(asKeelsonError(error));
      return;
    }
    contribution.values = null;
    for (const batch of contribution.batches) this.book.add(batch, 'signing');
    this.afterStored(contribution, contribution.batches, context);
  }

  /** Signs the rows of a batch again under a new sequence. The batch itself never counted. */
  renumber(batch: Batch): void {
    const { contribution } = batch;
    const context = this.owner.signingContext();
    const epoch = context.epoch > batch.epoch ? context.epoch : batch.epoch;
    let replacement: Batch;
    try {
      replacement = renumberBatch(batch, { ...context, epoch });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return this.settle(batch, error, 0n);
    }
    this.book.remove(batch);
    this.book.add(replacement, 'signing');
    contribution.batches =
      contribution.batches.map((other) => (other === batch ? replacement : other));
    this.afterStored(contribution, [replacement], context);
  }

  /** Signs what an encrypted channel left unsigned, for one whose batches are signed. */
  async signRest(): Promise<void> {
    await signBatches(this.book.unsigned, this.owner.signingContext());
  }

  /**
   * Offers batches only after they are signed, where they must be, and the outbox has stored them:
   * a crash must not lead to other bytes with their sequences.
   */
  private afterStored(
    { id, last, batches: all }: Contribution, batches: readonly Batch[], context: SigningContext,
  ): void {
    const { outbox } = this;
    const offer = (): void => {
      for (const batch of batches) if (batch.place === 'signing') this.book.move(batch, 'waiting');
    };
    if (outbox === undefined && !context.isSigned) {
      offer();
      return;
    }
    const signed = context.isSigned ? signBatches(batches, context) : Promise.resolve();
    signed.then(() => outbox?.sign(id, last, all)).then(
      () => {
        offer();
        this.owner.pump();
      },
      (error: unknown) => this.owner.end(asKeelsonError(error)),
    );
  }

  /**
   * Applies the server's final answer on a batch.
   * @param refusal null when the batch counts.
   * @param openEpoch the epoch that was open at the answer.
   */
  settle(batch: Batch, refusal: WireError | null, openEpoch: bigint): void {
    const { contribution } = batch;
    this.book.move(batch, 'settled');
    this.book.remove(batch);
    contribution.refusal ??= refusal;
    if (contribution.batches.some((other) => other.place !== 'settled')) return;
    this.outbox?.settle(contribution.id);
    if (contribution.refusal !== null) {
      refuse(contribution, contribution.refusal);
    } else {
      const sequences = contribution.batches.map((other) => other.sequence);
      contribution.finish({ kind: 'accepted', epoch: batch.epoch, openEpoch, sequences });
    }
    this.owner.onSettled();
  }

  /**
   * Sends nothing more.
   * @param isSure false if the error may not be the server's: then no contribution is settled.
   * @returns a function that notifies the waiting callers: refused if the study has stopped,
   *   otherwise failed.
   */
  close(error: KeelsonError, isSure: boolean): () => void {
    const open = new Set([...this.book.contributions(), ...this.queue.splice(0)]);
    this.book.clear();
    const final = isSure && error instanceof WireError && finalCodes.has(error.code);
    if (final) for (const contribution of open) this.outbox?.settle(contribution.id);
    return () => {
      for (const contribution of open) {
        if (final) refuse(contribution, error);
        else contribution.fail(error);
      }
    };
  }
}

/** Settles a contribution that the server refuses, or that the study's state excludes. */
export function refuse(contribution: Contribution, error: WireError): void {
  contribution.finish({
    kind: 'refused', error, sequences: contribution.batches.map((batch) => batch.sequence),
  });
}

/** The refusal of all rows that a study takes no more. */
export function stopOf(state: Exclude<WireStudyState, 'open'>): WireError {
  return state === 'ended'
    ? new WireError(
      'study-ended', 'the operator ended this study: it takes no more contributions',
    )
    : new WireError(
      'budget-exhausted', 'the privacy budget of this study is used up: no further epoch opens',
    );
}

/** Any failure as the type of error that callers of the SDK expect. */
export function asKeelsonError(error: unknown): KeelsonError {
  if (error instanceof KeelsonError) return error;
  return new KeelsonError('invariant', 'the client failed unexpectedly', { cause: error });
}
