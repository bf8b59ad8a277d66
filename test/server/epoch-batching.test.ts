import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AcceptedBatch, EpochSetup } from '../../server/epochs/contract.js';
import { EpochThread, type Call } from '../../server/epochs/epoch-thread.js';
import { unpackBatches } from '../../server/epochs/packing.js';
import { WorkerEpochRunner } from '../../server/epochs/worker-runner.js';
import { define, keyOf, rowOf } from '../support/hub-bench.js';
import { until } from '../support/until.js';

const { document, target } = define({});
const setup: EpochSetup = {
  studyId: 'a', epoch: 1n, document, target,
  assignmentKey: new Uint8Array(32).fill(9), workSeed: new Uint8Array(32).fill(4),
};
const bytesOfPart = 32 + 16 + 8 + 8 + 1;
const partOf = (contributor: number): AcceptedBatch =>
  ({
    contributor: keyOf(contributor), sequence: 1n, values: rowOf(contributor), rows: 1,
    complete: true,
  });
const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

/** The lists that the thread was sent: the first value of each part. */
function listsSent(): number[][] {
  const lists: number[][] = [];
  const original = Reflect.get<EpochThread, 'call'>(EpochThread.prototype, 'call');
  vi.spyOn(EpochThread.prototype, 'call')
    .mockImplementation(function record(this: EpochThread, sent: Call, transfer) {
      if (sent.kind === 'add') lists.push(unpackBatches(sent.parts).map((part) => part.values[0]!));
      return original.call(this, sent, transfer);
    });
  return lists;
}

afterEach(() => { vi.restoreAllMocks(); });

describe('parts on their way to a thread', () => {
  it('wait for the answer to earlier parts, and are then sent together and in order', async () => {
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    await threads.open(setup);
    const lists = listsSent();
    // One at a time, each in a microtask of its own, as verdicts come: all before the thread can
    // answer.
    for (let i = 0; i < 50; i++) {
      threads.add('a', 1n, [partOf(i)]);
      await Promise.resolve();
    }
    expect(threads.backlogBytes).toBe(50 * bytesOfPart);
    // Without a call that would flush: what waits must leave by itself.
    await until(() => threads.backlogBytes === 0);
    expect(lists.map((list) => list.length)).toEqual([1, 49]);
    expect(lists.flat()).toEqual(Array.from({ length: 50 }, (_, i) => rowOf(i)[0]));
    expect(await threads.progress('a', 1n)).toMatchObject({ complete: 50 });
    await threads.close();
  });

  it('wait only up to a bound', async () => {
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    await threads.open(setup);
    const lists = listsSent();
    for (let i = 0; i < 2_100; i++) {
      threads.add('a', 1n, [partOf(i)]);
      await Promise.resolve();
    }
    expect(lists.map((list) => list.length)).toEqual([1, 1_024, 1_024]);
    await until(() => threads.backlogBytes === 0);
    await threads.close();
  });

  it('are dropped with their epoch', async () => {
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    await threads.open(setup);
    for (let i = 0; i < 3; i++) {
      threads.add('a', 1n, [partOf(i)]);
      await Promise.resolve();
    }
    threads.drop('a', 1n);
    await nextTurn();
    await until(() => threads.backlogBytes === 0);
    await threads.close();
  });
});
