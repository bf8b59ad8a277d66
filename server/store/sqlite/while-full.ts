import type { Clock } from '../../base/clock.js';
import type { StorageError } from '../../../src/base/errors.js';
import { KeelsonError } from '../../../src/base/errors.js';
import type { AdmissionRequest, AdmissionResult } from '../contract.js';
import { noRoom } from '../full-disk.js';
import type { Caller } from './caller.js';
import type { PlainMethods } from './engine.js';
import type { NamedMethod } from './messages.js';

/** The interval at which a write that found no room is tried again. */
const stepMs = 250;
/**
 * After a batch that found no room the disk counts as full for this long, unless a write succeeds.
 */
const fullMs = 10_000;

/** Methods that change nothing. They do not send the batches that wait in the group. */
export const readMethods: ReadonlySet<keyof PlainMethods> = new Set([
  'study', 'studies', 'epoch', 'unfinishedEpochs', 'unpurgedEpochs', 'balance', 'balances',
  'ledgerEntries', 'contributorState', 'journal', 'contributorCount', 'leftOutCount', 'peopleCount',
  'releases', 'series',
  'quarantines', 'quarantineOf', 'rotations', 'newestTime', 'rollbacks',
]);

/** The behaviour of a caller while its disk is full. */
export interface FullDisk {
  readonly clock: Clock;
  /** Called when writes begin to fail, with the cause and its remedy, and with null afterwards. */
  readonly onChange: (why: string | null) => void;
}

/**
 * A caller that outlasts a full disk. A transaction that found no room was rolled back whole, so it
 * can be repeated. Writes wait, without an end, and keep their order. Batches wait for nothing: all
 * of them are refused while a write waits, so none overtakes a close that was called before it.
 */
export class WhileFull implements Caller {
  #why: string | null = null;
  #sinceMs = 0;
  /** The writes so far. Never rejects. */
  #writes: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isEnding = false;

  constructor(private readonly caller: Caller, private readonly disk: FullDisk) {}

  /** The reason why the disk accepts no writes; null while it accepts them. */
  get fullBecause(): string | null {
    const { clock } = this.disk;
    if (this.#waiting === 0 && clock.monotonicMs() - this.#sinceMs > fullMs) this.#note(null);
    return this.#why;
  }

  /** The server ends: calls that wait for room fail with the cause. */
  endSoon(): void {
    this.#isEnding = true;
  }

  call(method: NamedMethod, args: readonly unknown[]): Promise<unknown> {
    const call = (): Promise<unknown> => this.caller.call(method, args);
    if (neverWaits(method)) return call();
    // If no other write waits, it is called at once.
    const result = this.#waiting === 0 ? this.#write(call) : this.#afterwards(call);
    this.#writes = Promise.allSettled([this.#writes, result]).then(() => undefined);
    return result;
  }

  async admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    const refused = (): readonly AdmissionResult[] => batches.map(() => noRoom);
    if (this.#waiting > 0) return refused();
    try {
      const results = await this.caller.admit(batches);
      if (this.#waiting === 0 && results.some(({ verdict }) => verdict === 'accepted')) {
        this.#note(null);
      }
      return results;
    } catch (error) {
      if (!isFull(error)) throw error;
      this.#note(error.message);
      return refused();
    }
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await this.#writes;
    await this.caller.close();
  }

  async #afterwards(call: () => Promise<unknown>): Promise<unknown> {
    this.#waiting += 1;
    try {
      await this.#writes;
      return await this.#write(call);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #write(call: () => Promise<unknown>): Promise<unknown> {
    let waits = false;
    try {
      for (;;) {
        try {
          const result = await call();
          if (waits || this.#waiting === 0) this.#note(null);
          return result;
        } catch (error) {
          if (!isFull(error) || this.#isEnding) throw error;
          if (!waits) this.#waiting += 1;
          waits = true;
          this.#note(error.message);
          await new Promise<void>((resolve) => { this.disk.clock.after(stepMs, resolve); });
        }
      }
    } finally {
      if (waits) this.#waiting -= 1;
    }
  }

  #note(why: string | null): void {
    const changes = (why === null) !== (this.#why === null);
    this.#why = why;
    this.#sinceMs = this.disk.clock.monotonicMs();
    if (changes) this.disk.onChange(why);
  }
}

/** Deleting rows makes room, and whoever asks for it asks again. The others write nothing. */
const neverWaits = (method: NamedMethod): boolean =>
  method === 'purgeStep' || method === 'health' || method === 'close'
  || readMethods.has(method);

/** Nothing was written for want of room, so the same call can be made again. */
function isFull(error: unknown): error is StorageError {
  if (!(error instanceof KeelsonError) || !error.retryable) return false;
  const { sqliteCode, reason } = error.details;
  return reason === 'ENOSPC' || (typeof sqliteCode === 'string' && /^SQLITE_FULL/.test(sqliteCode));
}
