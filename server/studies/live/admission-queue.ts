import { assert } from '../../../src/base/assert.js';
import { KeelsonError } from '../../../src/base/errors.js';
import type { AdmissionRequest, AdmissionResult, Store } from '../../store/contract.js';

interface Waiting {
  readonly request: AdmissionRequest;
  readonly settle: (result: AdmissionResult) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * The queue between sockets and journal. Batches that are submitted in one turn of the event loop
 * go to the store in one call. Verdicts are handled in the order of the calls, so that summaries
 * see rows in journal order, whatever the order in which the store's promises resolve. It counts
 * the rows that are accepted but not durable, for backpressure.
 */
export class AdmissionQueue {
  #waiting: Waiting[] = [];
  #bytes = 0;
  #batches = 0;
  /** Resolves when the verdicts of all calls so far are handled. Never rejects. */
  #handled: Promise<void> = Promise.resolve();
  #lastPosition = 0n;

  constructor(
    private readonly store: Pick<Store, 'admit'>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  get batches(): number {
    return this.#batches;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves to the result of `handle`, which is called with the verdict after the batch is
   * durable, in journal order.
   * @param bytes memory that the batch uses until then.
   */
  submit<T>(
    request: AdmissionRequest, bytes: number, handle: (result: AdmissionResult) => T,
  ): Promise<T> {
    this.#batches += 1;
    this.#bytes += bytes;
    return new Promise<T>((resolve, reject) => {
      let counted = true;
      const release = (): void => {
        if (!counted) return;
        counted = false;
        this.#batches -= 1;
        this.#bytes -= bytes;
      };
      const settle = (result: AdmissionResult): void => {
        release();
        resolve(handle(result));
      };
      const fail = (error: unknown): void => {
        release();
        reject(error instanceof Error
          ? error : new KeelsonError('internal', 'the journal failed', { cause: error }));
      };
      if (this.#waiting.length === 0) queueMicrotask(() => this.#flush());
      this.#waiting.push({ request, settle, fail });
    });
  }

  /** Resolves when everything submitted before this call is handled. */
  async drained(): Promise<void> {
    this.#flush();
    await this.#handled;
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    const calls = this.#waiting;
    this.#waiting = [];
    const before = this.#handled;
    const verdicts = this.store.admit(calls.map((call) => call.request));
    // A rejection is handled below, after the calls before it. Until then it must not count as
    // unhandled.
    verdicts.catch(() => undefined);
    this.#handled = before.then(() => verdicts).then(
      (results) => this.#settle(calls, results),
      (error: unknown) => this.#fail(calls, error),
    );
  }

  #settle(calls: readonly Waiting[], results: readonly AdmissionResult[]): void {
    try {
      assert(results.length === calls.length, 'the store answers every batch');
      results.forEach((result, i) => {
        if (result.verdict === 'accepted') {
          assert(result.position > this.#lastPosition, 'verdicts are handled in journal order');
          this.#lastPosition = result.position;
        }
        calls[i]!.settle(result);
      });
    } catch (error) {
      // A client's bytes never cause this: it is a defect. A call that is settled ignores the
      // rejection.
      this.onFailure(error);
      for (const call of calls) call.fail(error);
    }
  }

  #fail(calls: readonly Waiting[], error: unknown): void {
    this.onFailure(error);
    for (const call of calls) call.fail(error);
  }
}
