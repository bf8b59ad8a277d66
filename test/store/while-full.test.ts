import { afterEach, describe, expect, it, vi } from 'vitest';
import { StorageError } from '../../src/base/errors.js';
import type { AdmissionRequest, AdmissionResult } from '../../server/store/contract.js';
import type { Caller } from '../../server/store/sqlite/caller.js';
import type { NamedMethod } from '../../server/store/sqlite/messages.js';
import { WhileFull } from '../../server/store/sqlite/while-full.js';
import { batch } from '../support/store-fixtures.js';
import { settle, VirtualClock } from '../support/virtual-clock.js';

const failure = (details: Readonly<Record<string, unknown>>, retryable: boolean): StorageError =>
  new StorageError('no room', 'storage-failed', { retryable, details });
const full = failure({ sqliteCode: 'SQLITE_FULL' }, true);

/** An engine whose next calls fail with `failure`, if there is one, and write nothing. */
class Disk implements Caller {
  failure: StorageError | null = null;
  tries = 0;
  readonly done: string[] = [];

  call = (method: NamedMethod, args: readonly unknown[]): Promise<unknown> =>
    this.#run(`${method} ${args.join()}`.trim(), undefined);

  admit = (batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> =>
    this.#run(`admit ${batches.map(({ sequence }) => sequence).join()}`, batches.map(
      ({ sequence }) => ({ verdict: 'accepted', epoch: 1n, position: sequence, complete: false })));

  close = (): Promise<void> => this.#run('close', undefined);

  async #run<T>(name: string, result: T): Promise<T> {
    this.tries += 1;
    const reads = ['purgeStep', 'health', 'balance', 'close'].some((read) => name.startsWith(read));
    if (this.failure !== null && !reads) throw this.failure;
    this.done.push(name);
    return result;
  }
}

function stage() {
  const clock = new VirtualClock();
  const disk = new Disk();
  const news: (string | null)[] = [];
  const caller = new WhileFull(disk, { clock, onChange: (why) => news.push(why) });
  const results: string[] = [];
  const call = (method: NamedMethod, ...args: readonly unknown[]): void => {
    caller.call(method, args).then(
      () => results.push(method), (error: Error) => results.push(`${method}: ${error.message}`));
  };
  const admit = async (sequence: number): Promise<string> => {
    const [result] = await caller.admit([batch('a', sequence, sequence)]);
    return `${result!.verdict} ${result!.code ?? ''} ${result!.lacksDisk === true}`;
  };
  return { clock, disk, news, caller, results, call, admit };
}

afterEach(() => { vi.useRealTimers(); });

const refused = 'rejected overloaded true';
const accepted = 'accepted  false';

describe('a store whose disk is full', () => {
  it.each([
    { sqliteCode: 'SQLITE_FULL' }, { reason: 'ENOSPC' },
  ])('writes once there is room, in order, and by the clock of the store: %o', async (details) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
    const { clock, disk, news, caller, results, call, admit } = stage();
    disk.failure = failure(details, true);
    call('beginClose', 1);
    await settle();
    // Real time does not matter.
    await vi.advanceTimersByTimeAsync(300);
    expect(disk.tries).toBe(1);
    call('chargeEpoch', 1);
    call('balance');
    call('purgeStep', 0);
    // No batch overtakes the close, and none waits.
    expect([await admit(1), await admit(2)]).toEqual([refused, refused]);
    await clock.advance(10_000);
    expect(disk.tries).toBe(43);
    expect([results, disk.done]).toEqual([
      ['balance', 'purgeStep'], ['balance', 'purgeStep 0'],
    ]);
    expect([caller.fullBecause, news]).toEqual(['no room', ['no room']]);

    disk.failure = null;
    await clock.advance(250);
    expect(disk.done.slice(2)).toEqual(['beginClose 1', 'chargeEpoch 1']);
    expect(results.slice(2)).toEqual(['beginClose', 'chargeEpoch']);
    expect([caller.fullBecause, news]).toEqual([null, ['no room', null]]);
    expect(await admit(3)).toBe(accepted);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['another program has locked the file', failure({ sqliteCode: 'SQLITE_BUSY' }, true)],
    ['the disk is broken', failure({ sqliteCode: 'SQLITE_IOERR_WRITE' }, false)],
    ['it is committed, and the mark found no room', failure({ reason: 'ENOSPC' }, false)],
    ['a reader blocks it', failure({}, true)],
  ])('waits for nothing else: %s', async (_what, cause) => {
    const { clock, disk, news, caller, results, call, admit } = stage();
    disk.failure = cause;
    call('beginClose', 1);
    await expect(admit(1)).rejects.toBe(cause);
    expect([results, disk.tries, clock.pending]).toEqual([['beginClose: no room'], 2, 0]);
    expect([caller.fullBecause, news]).toEqual([null, []]);
  });

  it('counts as full for ten seconds after a batch, unless one is written', async () => {
    const { clock, disk, news, caller, admit } = stage();
    disk.failure = full;
    expect(await admit(1)).toBe(refused);
    await clock.advance(9_000);
    expect([caller.fullBecause, await admit(1)]).toEqual(['no room', refused]);
    await clock.advance(10_000);
    expect([caller.fullBecause, news]).toEqual(['no room', ['no room']]);
    await clock.advance(1);
    expect([caller.fullBecause, news]).toEqual([null, ['no room', null]]);
    expect(await admit(1)).toBe(refused);
    disk.failure = null;
    expect(await admit(1)).toBe(accepted);
    expect([caller.fullBecause, disk.done]).toEqual([null, ['admit 1']]);
  });

  it('gives up what waits when the server ends, and writes nothing of it later', async () => {
    const { clock, disk, caller, results, call } = stage();
    disk.failure = full;
    call('beginClose', 1);
    call('chargeEpoch', 1);
    await clock.advance(1_000);
    caller.endSoon();
    await clock.advance(250);
    expect(results).toEqual(['beginClose: no room', 'chargeEpoch: no room']);
    disk.failure = null;
    await caller.close();
    expect([disk.done, clock.pending]).toEqual([['close'], 0]);
  });
});
