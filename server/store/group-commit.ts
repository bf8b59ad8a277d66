import type { Clock } from '../base/clock.js';
import { protocolLimits } from '../../src/base/limits.js';
import type { AdmissionRequest, AdmissionResult } from './contract.js';

/** Commits one list. Resolves when it is durable. */
export type CommitList =
  (batches: readonly AdmissionRequest[]) => Promise<readonly AdmissionResult[]>;

/** A list with this many batches, or this many bytes, is sent at once. */
export const groupBatches = 512;
export const groupBytes = 4 * 1024 * 1024;

interface Waiting {
  readonly batches: readonly AdmissionRequest[];
  readonly bytes: number;
  readonly resolve: (results: readonly AdmissionResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects calls so that many share one fsync. One list is in flight at a time. The next one leaves
 * when that one is durable and its own oldest call has waited groupCommitMs, or at once when it is
 * large. Calls keep their order.
 */
export class GroupCommit {
  readonly #clock: Clock;
  readonly #commit: CommitList;
  #waiting: Waiting[] = [];
  #batches = 0;
  #bytes = 0;
  #oldestMs = 0;
  #inFlight = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, commit: CommitList) {
    this.#clock = clock;
    this.#commit = commit;
  }

  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    if (batches.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const bytes = batches.reduce((sum, batch) => sum + batch.body.length, 0);
      if (this.#waiting.length === 0) this.#oldestMs = this.#clock.monotonicMs();
      this.#waiting.push({ batches, bytes, resolve, reject });
      this.#batches += batches.length;
      this.#bytes += bytes;
      this.#consider();
    });
  }

  /** Sends the waiting calls now, so that a call made next is executed after them. */
  flush(): void {
    while (this.#waiting.length > 0) this.#send();
  }

  #consider(): void {
    if (this.#inFlight > 0 || this.#waiting.length === 0) return;
    const leftMs = this.#oldestMs + protocolLimits.groupCommitMs - this.#clock.monotonicMs();
    if (leftMs <= 0 || this.#batches >= groupBatches || this.#bytes >= groupBytes) {
      this.#send();
    } else {
      this.#cancelTimer ??= this.#clock.after(leftMs, () => {
        this.#cancelTimer = undefined;
        // The clock may show slightly less than the delay. The timer decides, not the clock.
        if (this.#inFlight === 0 && this.#waiting.length > 0) this.#send();
      });
    }
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const calls: Waiting[] = [];
    let batches = 0;
    let bytes = 0;
    while (this.#waiting.length > 0
        && (calls.length === 0 || (batches < groupBatches && bytes < groupBytes))) {
      const call = this.#waiting.shift()!;
      calls.push(call);
      batches += call.batches.length;
      bytes += call.bytes;
    }
    this.#batches -= batches;
    this.#bytes -= bytes;
    this.#inFlight += 1;
    this.#commit(calls.flatMap((call) => call.batches)).then(
      (results) => {
        let offset = 0;
        for (const call of calls) {
          call.resolve(results.slice(offset, offset + call.batches.length));
          offset += call.batches.length;
        }
      },
      (error: unknown) => { for (const call of calls) call.reject(error); },
    ).finally(() => {
      this.#inFlight -= 1;
      this.#consider();
    });
  }
}
