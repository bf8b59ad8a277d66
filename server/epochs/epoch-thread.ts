import { Worker } from 'node:worker_threads';
import { InvariantError, KeelsonError } from '../../src/base/errors.js';
import { epochHeapMebibytes } from '../base/memory.js';
import { workerUrl } from '../base/place.js';
import { errorOfParts, type EpochRequest, type EpochResponse } from './messages.js';

type Distribute<Request> = Request extends unknown ? Omit<Request, 'id'> : never;
/** A request before it has a number. */
export type Call = Distribute<EpochRequest>;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** One worker thread, and its calls without an answer. */
export class EpochThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: KeelsonError | undefined;
  /** Number of epochs on this thread. */
  epochs = 0;

  /**
   * @param onDeath called when the thread ends unexpectedly: its epochs must be rebuilt from the
   *   journal.
   * @param entry the module of the thread; tests use one that dies.
   */
  constructor(
    onDeath: (error: KeelsonError) => void, entry: URL = workerUrl('server/epochs/worker'),
  ) {
    this.#worker = new Worker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: epochHeapMebibytes() },
    });
    this.#worker.on('message', (response: EpochResponse) => this.#receive(response));
    const die = (cause?: Error): void => {
      if (this.#ended !== undefined) return;
      const error = new InvariantError(
        'the epochs\' thread ended by itself, with its summaries; start again: they are rebuilt '
          + 'from the journal',
        cause === undefined ? {} : { cause },
      );
      this.#end(error);
      onDeath(error);
    };
    this.#worker.on('error', die);
    this.#worker.on('exit', () => die());
  }

  call(call: Call, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ ...call, id }, transfer);
    });
  }

  async close(): Promise<void> {
    this.#end(new KeelsonError('closed', 'the epochs are closed'));
    await this.#worker.terminate();
  }

  #receive(response: EpochResponse): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if (response.kind === 'error') pending?.reject(errorOfParts(response.error));
    else pending?.resolve(response.value);
  }

  #end(error: KeelsonError): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
