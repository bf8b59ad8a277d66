import { Worker } from 'node:worker_threads';
import { workerUrl } from '../base/place.js';
import type { Logger } from '../base/logger.js';
import type { SignedBatch } from '../../src/wire/index.js';
import type { BodyMemory, SharedBody } from './body-memory.js';
import type { BatchChecks, BatchSigner, OnChecked } from './contract.js';
import { digestIfSigned, openedIn } from './inline.js';
import { digestBytes, layout, type CheckCall, type CheckReply, type CheckSetup } from './layout.js';

/** One thread cannot be fed by the listener with more than this many beside it. */
const threadsMax = 4;

/**
 * The number of threads that check signatures, by the number of cores: all cores but one, at most
 * 4. With one core it is 0: the listener checks, which saves the messages between threads.
 */
export function checkThreadsFor(cores: number): number {
  return Math.max(0, Math.min(threadsMax, cores - 1));
}

export interface CheckThreadsOptions extends CheckSetup {
  readonly threads: number;
  readonly memory: BodyMemory;
  readonly logger: Logger;
  /** The module that each thread runs. Tests replace it with one that exits. */
  readonly entry?: URL;
}

/**
 * Checks on threads. All batches of a contributor go to one thread, which handles them in order, so
 * their order is kept. A thread that ends unexpectedly is not replaced: its unanswered batches are
 * checked by the listener, in order, and so are all later batches of its contributors.
 */
export function threadedChecks(options: CheckThreadsOptions): BatchChecks {
  const threads = Array.from({ length: options.threads }, () => new CheckThread(options));
  return {
    threads: threads.length,
    check(signer, frame, onChecked) {
      const { publicKey } = signer.verifier;
      threads[publicKey[0]! % threads.length]!.check(signer, frame, onChecked);
    },
    opened: (plain) => openedIn(options.memory, plain),
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Waiting {
  readonly signer: BatchSigner;
  /** The body, with the bytes that `layout` puts in front of it. */
  readonly held: SharedBody;
  readonly onChecked: OnChecked;
}

/**
 * Lists that a thread may have before it answers the first. The second one keeps it busy meanwhile.
 * Later batches wait for an answer, so lists grow when there is much to check.
 */
const listsMax = 2;
/** Batches in a list. More would only delay the first answers. */
const listBatches = 256;

class CheckThread {
  readonly #worker: Worker;
  readonly #logger: Logger;
  readonly #memory: BodyMemory;
  #waiting: Waiting[] = [];
  /** Lists that are sent and not answered, oldest first. */
  #sent: (readonly Waiting[])[] = [];
  #isPlanned = false;
  #nextId = 0;
  #state: 'running' | 'closing' | 'dead' = 'running';

  constructor({ serverKeys, memory, logger, entry }: CheckThreadsOptions) {
    this.#memory = memory;
    this.#logger = logger;
    const workerData: CheckSetup = { serverKeys };
    this.#worker = new Worker(
      entry ?? workerUrl('server/checks/worker'), { workerData, execArgv: [] });
    this.#worker.on('message', (reply: CheckReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', () => this.#die());
    // The listener's socket keeps the process alive, not this thread.
    this.#worker.unref();
  }

  check(signer: BatchSigner, { body, signature }: SignedBatch, onChecked: OnChecked): void {
    const held = this.#memory.hold(
      signer.verifier.publicKey, signer.signatures.studyId, signature, body);
    const waiting = { signer, held, onChecked };
    if (this.#state !== 'running') return checkHere(waiting);
    this.#waiting.push(waiting);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    // All batches of one network read go in one message.
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#send();
    });
  }

  async close(): Promise<void> {
    if (this.#state === 'running') this.#state = 'closing';
    await this.#worker.terminate();
  }

  #send(): void {
    while (this.#sent.length < listsMax && this.#waiting.length > 0) {
      const list = this.#waiting.splice(0, listBatches);
      this.#sent.push(list);
      this.#worker.postMessage(callOf(this.#nextId++, list));
    }
  }

  #receive({ valid, digests }: CheckReply): void {
    const list = this.#sent.shift()!;
    this.#send();
    list.forEach((waiting, i) => finish(waiting, valid[i] !== 1
      ? null : digests.subarray(digestBytes * i, digestBytes * (i + 1))));
  }

  #die(error?: Error): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'running') {
      this.#logger.error({ err: error }, 'a thread that checks signatures ended: the main thread '
        + 'checks instead, more slowly; start again when you can');
    }
    this.#state = 'dead';
    const left = [...this.#sent.flat(), ...this.#waiting];
    this.#sent = [];
    this.#waiting = [];
    left.forEach(checkHere);
  }
}

function callOf(id: number, list: readonly Waiting[]): CheckCall {
  const memories: SharedArrayBuffer[] = [];
  const places = new Uint32Array(3 * list.length);
  list.forEach(({ held: { bytes } }, i) => {
    const memory = bytes.buffer as unknown as SharedArrayBuffer;
    if (memories.at(-1) !== memory) memories.push(memory);
    places.set([memories.length - 1, bytes.byteOffset, bytes.length - layout.body], 3 * i);
  });
  return { id, memories, places };
}

/** Checks on this thread. */
function checkHere(waiting: Waiting): void {
  const { signer, held: { bytes } } = waiting;
  const body = bytes.subarray(layout.body);
  const signature = bytes.slice(layout.signature, layout.body);
  finish(waiting, digestIfSigned(signer, { body, signature }));
}

/** @param digest null when the signature is not valid. */
function finish(
  { held: { bytes, release }, onChecked }: Waiting, digest: Uint8Array | null,
): void {
  if (digest !== null) return onChecked({ body: bytes.subarray(layout.body), digest, release });
  release();
  onChecked(null);
}
