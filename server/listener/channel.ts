import type { ColumnType } from '../../src/base/columns.js';
import type { EntryForm } from '../../src/sealed/shares/form.js';
import { encodeAck, encodeServerFrame } from '../../src/wire/index.js';
import type { Ack, Rejection, Spend } from '../../src/wire/messages.js';
import type { BatchSigner } from '../checks/contract.js';
import type { SubmitResult } from '../studies/contract.js';
import type { Encryption } from './encryption.js';
import type { EnrolledTime } from './enrolment.js';
import type { TextFacts } from './refusal-texts.js';

/** The facts against which batches of one contributor in one study are checked. */
export interface BatchSetup extends BatchSigner {
  /** Hex. */
  readonly studyId: string;
  readonly studyName: string;
  readonly dimension: number;
  /** Types of the columns, if the study has any. */
  readonly types?: readonly ColumnType[] | undefined;
  /** Set for a sealed study: batches hold an entry of this form in place of rows. */
  readonly sealed?: EntryForm;
  readonly enrolled: EnrolledTime;
  readonly facts: TextFacts;
}

/** The constant facts of a channel. */
export interface ChannelSetup extends BatchSetup {
  /** From 1. On the wire, 0 means the socket itself. */
  readonly id: number;
}

/** One contributor in one study on one socket, and the ack that is collected for it. */
export class Channel {
  /** Batches received and not yet answered, with those that are being checked. */
  inFlight = 0;
  #accepted: bigint[] = [];
  #rejections: Rejection[] = [];
  #withdrawn: bigint | undefined;
  /** Batches whose check began, and whose check ended. */
  #begun = 0;
  #checked = 0;
  /** Actions that wait for the checks begun before them. */
  readonly #afterChecks: { readonly begun: number; readonly action: () => void }[] = [];
  #ownSpend: Spend | undefined;
  /** A Withdraw waits for its answer. There is one at a time. */
  withdrawing = false;

  /** True if acks may leave. Those of an encrypted channel wait for Opened, which names it. */
  isAnnounced: boolean;

  /** @param encryption null for a channel of signed batches. */
  constructor(readonly setup: ChannelSetup, readonly encryption: Encryption | null) {
    this.isAnnounced = encryption === null;
  }

  /** True if an ack would say something. */
  get hasAnswers(): boolean {
    return this.#accepted.length > 0 || this.#rejections.length > 0
      || this.#withdrawn !== undefined;
  }

  /**
   * The hub accepted a batch in flight, now or as an earlier copy. Verdicts may come in any order.
   */
  accept(sequence: bigint, { ownSpend }: SubmitResult): void {
    this.#accepted.push(sequence);
    this.#ownSpend = ownSpend ?? this.#ownSpend;
  }

  /** @param result absent when the hub reached no verdict on the batch. */
  reject(rejected: Rejection, result?: SubmitResult): void {
    this.#rejections.push(rejected);
    this.#ownSpend = result?.ownSpend ?? this.#ownSpend;
  }

  checkBegins(): void {
    this.#begun += 1;
  }

  /** Call it after the batch was passed on or refused. */
  checkEnded(): void {
    this.#checked += 1;
    while (this.#afterChecks[0] !== undefined && this.#afterChecks[0].begun <= this.#checked) {
      this.#afterChecks.shift()!.action();
    }
  }

  /** Calls `action` when every check that began before has ended: at once if there is none. */
  afterChecks(action: () => void): void {
    if (this.#checked === this.#begun) action();
    else this.#afterChecks.push({ begun: this.#begun, action });
  }

  /** The contributor's Withdraw is durable. The next ack reports it. */
  withdrew(epoch: bigint): void {
    this.#withdrawn = epoch;
  }

  /**
   * Returns the one ack for all answers since the last ack, and frees their credit.
   * @param epoch open now; 0n when none is.
   */
  takeAck(credit: number, epoch: bigint): Uint8Array {
    const accepted = this.#accepted;
    const rejections = this.#rejections;
    const ownSpend = this.#ownSpend;
    const withdrawn = this.#withdrawn;
    this.#accepted = [];
    this.#rejections = [];
    this.#ownSpend = undefined;
    this.#withdrawn = undefined;
    this.inFlight -= accepted.length + rejections.length;
    const channel = this.setup.id;
    const ack: Ack = {
      kind: 'ack',
      channel,
      accepted,
      rejections,
      epoch,
      credit,
      ...(ownSpend !== undefined && { ownSpend }),
      ...(withdrawn !== undefined && { withdrawn }),
    };
    return encodeServerFrame(this.encryption === null ? ack : {
      kind: 'encrypted-ack', channel, encrypted: this.encryption.seal('ack', encodeAck(ack)),
    });
  }
}
