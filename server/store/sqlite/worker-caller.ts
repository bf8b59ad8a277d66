import { Worker } from 'node:worker_threads';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import { workerUrl } from '../../base/place.js';
import type { AdmissionRequest, AdmissionResult } from '../contract.js';
import { errorFromMessage } from './failures.js';
import {
  packList, reusedBytes, type NamedMethod, type Request, type Response,
} from './messages.js';
import type { Caller } from './caller.js';

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends calls to the worker that owns the data folder, and matches its answers with them. */
export class WorkerCaller implements Caller {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  /**
   * Memory of the last list, for the next one. Any other call drops it: it holds rows, and no row
   * may outlive its release.
   */
  #spare: ArrayBuffer | undefined;
  #ended: KeelsonError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** @throws StorageError when the folder cannot be opened. */
  static open(directory: string, acceptRollback: boolean): Promise<WorkerCaller> {
    // The worker gets no flags of the process: `--input-type=module` would make it refuse its file.
    const workerData = { directory, acceptRollback };
    const entry = workerUrl('server/store/sqlite/worker');
    const worker = new Worker(entry, { workerData, execArgv: [] });
    const caller = new WorkerCaller(worker);
    return new Promise((resolve, reject) => {
      worker.on('message', (response: Response) => {
        if (response.kind === 'opened') resolve(caller);
        else if (response.kind === 'refused') {
          reject(errorFromMessage(response.error));
          void worker.terminate();
        } else caller.#receive(response);
      });
      worker.on('error', (cause) => {
        const error = new StorageError(
          `the store's thread failed: ${cause.message}`, 'storage-failed', { cause },
        );
        caller.#end(error);
        reject(error);
      });
      worker.on('exit', () => caller.#end(new KeelsonError('closed', 'the store is closed')));
    });
  }

  call(method: NamedMethod, args: readonly unknown[]): Promise<unknown> {
    this.#spare = undefined;
    return this.#send((id) => ({ id, kind: 'call', method, args }), []);
  }

  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    const list = packList(batches, this.#spare);
    this.#spare = undefined;
    return this.#send(
      (id) => ({ id, kind: 'admit', list }), [list.bytes],
    ) as Promise<readonly AdmissionResult[]>;
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    await this.call('close', []);
    await exited;
  }

  #send(make: (id: number) => Request, transfer: ArrayBuffer[]): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage(make(id), transfer);
    });
  }

  #receive(response: Exclude<Response, { kind: 'opened' | 'refused' }>): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    this.#spare = response.kind === 'admitted' && response.bytes.byteLength <= reusedBytes
      ? response.bytes : undefined;
    if (response.kind === 'error') pending?.reject(errorFromMessage(response.error));
    else pending?.resolve(response.kind === 'admitted' ? response.results : response.value);
  }

  #end(error: KeelsonError): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}
