import { encodeServerFrame } from '../../src/wire/index.js';
import type { Rejection, Spend } from '../../src/wire/messages.js';
import type { SignatureContext, Verifier } from '../../src/signing/index.js';
import type { SubmitResult } from '../studies/contract.js';
import type { TextFacts } from './refusal-texts.js';

/** What stays the same for a channel. */
export interface ChannelSetup {
  /** From 1; 0 stands for the socket itself on the wire. */
  readonly id: number;
  /** Hex. */
  readonly studyId: string;
  readonly studyName: string;
  /** Holds the parsed key: parsing it costs about as much as a tenth of a verification. */
  readonly verifier: Verifier;
  readonly signatures: SignatureContext;
  /** The same under the keys that the server had before: a contributor may have signed for those and not been heard. */
  readonly earlier: readonly SignatureContext[];
  readonly dimension: number;
  /** Unix ms: from then on the key's enrolment is over. Infinite where the study asks for none. */
  readonly enrolledUntilMs: number;
  readonly facts: TextFacts;
}

/** One contributor in one study on one socket, and the ack that waits to be sent to it. */
export class Channel {
  /** Batches received and not yet answered. */
  inFlight = 0;
  #accepted: bigint[] = [];
  #rejections: Rejection[] = [];
  #withdrawn: bigint | undefined;
  #ownSpend: Spend | undefined;
  /** A Withdraw waits for its answer: there is one at a time. */
  withdrawing = false;

  constructor(readonly setup: ChannelSetup) {}

  /** The hub took a batch in flight, now or when an earlier copy of it came. Verdicts may come in any order. */
  accept(sequence: bigint, { ownSpend }: SubmitResult): void {
    this.#accepted.push(sequence);
    this.#ownSpend = ownSpend ?? this.#ownSpend;
  }

  /** @param result absent when the hub gave no verdict on the batch. */
  reject(rejected: Rejection, result?: SubmitResult): void {
    this.#rejections.push(rejected);
    this.#ownSpend = result?.ownSpend ?? this.#ownSpend;
  }

  /** The contributor's Withdraw is durable: the next ack says so. */
  withdrew(epoch: bigint): void {
    this.#withdrawn = epoch;
  }

  /**
   * The one ack for all answers since the last one; frees their credit.
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
    return encodeServerFrame({
      kind: 'ack',
      channel: this.setup.id,
      accepted,
      rejections,
      epoch,
      credit,
      ...(ownSpend !== undefined && { ownSpend }),
      ...(withdrawn !== undefined && { withdrawn }),
    });
  }
}
