import { encodeServerFrame } from '../../src/wire/index.js';
import type { Rejection, Spend } from '../../src/wire/messages.js';
import type { SignatureContext, Verifier } from '../../src/signing/index.js';
import type { SubmitResult } from '../hub.js';
import { rejection, type TextFacts } from './refusal-texts.js';

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
  #contiguous: bigint;
  /** Remembered refusals that were told, or are about to be. */
  #told: ReadonlySet<bigint> = new Set();
  #epoch: bigint;
  /** By sequence. */
  #rejections = new Map<bigint, Rejection>();
  #answers = 0;
  #ownSpend: Spend | undefined;
  #withdrawn: bigint | undefined;
  /** A Withdraw waits for its answer: there is one at a time. */
  withdrawing = false;

  constructor(readonly setup: ChannelSetup, contiguous: bigint, epoch: bigint) {
    this.#contiguous = contiguous;
    this.#epoch = epoch;
  }

  /** True when an ack waits. */
  get waiting(): boolean {
    return this.#answers > 0;
  }

  /**
   * A verdict that the hub gave on a batch in flight. Verdicts may come in any order; the ack only grows. It tells every
   * refusal that is remembered and was not told here yet: an earlier copy of a batch, perhaps on another socket, may have
   * settled what is in flight here too, and that would be taken for accepted before its own answer comes.
   */
  settle(result: SubmitResult, rejected?: Rejection): void {
    const { contiguousSequence, currentEpoch, ownSpend, refused } = result;
    for (const { sequence, code } of refused ?? []) {
      if (!this.#told.has(sequence)) this.#rejections.set(sequence, rejection(sequence, code, this.setup.facts));
    }
    if (refused !== undefined) this.#told = new Set(refused.map(({ sequence }) => sequence));
    if (contiguousSequence > this.#contiguous) this.#contiguous = contiguousSequence;
    if (currentEpoch > this.#epoch) this.#epoch = currentEpoch;
    if (ownSpend !== undefined) this.#ownSpend = ownSpend;
    this.answer(rejected);
  }

  /** The contributor's Withdraw is durable: the next ack says so. */
  withdrew(epoch: bigint): void {
    this.#withdrawn = epoch;
  }

  /** The end of a batch that the hub gave no verdict on. */
  answer(rejected?: Rejection): void {
    if (rejected !== undefined) this.#rejections.set(rejected.sequence, rejected);
    this.#answers += 1;
  }

  /** The one cumulative ack for all answers since the last one; frees their credit. */
  takeAck(credit: number): Uint8Array {
    const rejections = [...this.#rejections.values()];
    const ownSpend = this.#ownSpend;
    const withdrawn = this.#withdrawn;
    this.#ownSpend = undefined;
    this.#withdrawn = undefined;
    this.inFlight -= this.#answers;
    this.#rejections.clear();
    this.#answers = 0;
    return encodeServerFrame({
      kind: 'ack',
      channel: this.setup.id,
      contiguousSequence: this.#contiguous,
      rejections,
      epoch: this.#epoch,
      credit,
      ...(ownSpend !== undefined && { ownSpend }),
      ...(withdrawn !== undefined && { withdrawn }),
    });
  }
}
