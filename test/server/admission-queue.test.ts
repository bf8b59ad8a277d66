import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/base/errors.js';
import type { AdmissionRequest, AdmissionResult } from '../../server/store/contract.js';
import { AdmissionQueue } from '../../server/studies/live/admission-queue.js';
import { batch } from '../support/store-fixtures.js';

/** A store that judges in order and answers when the test says so, in any order. */
function slowStore() {
  const calls: { answer: () => void; fail: (error: Error) => void; size: number }[] = [];
  let position = 0n;
  return {
    calls,
    admit: (batches: readonly AdmissionRequest[]) => {
      const results = batches.map((one): AdmissionResult => {
        position += 1n;
        return { verdict: 'accepted', epoch: 1n, position, complete: one.last };
      });
      return new Promise<readonly AdmissionResult[]>((resolve, reject) => {
        calls.push({ answer: () => resolve(results), fail: reject, size: batches.length });
      });
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('the queue between sockets and journal', () => {
  it('makes one call of what is submitted in one turn', async () => {
    const store = slowStore();
    const queue = new AdmissionQueue(store, () => {});
    void queue.submit(batch('a', 1, 1), 100, () => 1);
    void queue.submit(batch('b', 1, 1), 100, () => 1);
    await turn();
    void queue.submit(batch('c', 1, 1), 100, () => 1);
    await turn();
    expect(store.calls.map((call) => call.size)).toEqual([2, 1]);
    expect([queue.batches, queue.bytes]).toEqual([3, 300]);
  });

  it('handles verdicts in journal order although a later call is answered first', async () => {
    const store = slowStore();
    const queue = new AdmissionQueue(store, () => {});
    const handled: bigint[] = [];
    const submit = (name: string) =>
      queue.submit(batch(name, 1, 1), 1, (result) => { handled.push(result.position); });
    const first = submit('a');
    await turn();
    const second = submit('b');
    await turn();
    store.calls[1]!.answer();
    await turn();
    expect(handled).toEqual([]);
    store.calls[0]!.answer();
    await Promise.all([first, second]);
    expect(handled).toEqual([1n, 2n]);
    expect([queue.batches, queue.bytes]).toEqual([0, 0]);
  });

  it('is drained only when what was submitted before is handled', async () => {
    const store = slowStore();
    const queue = new AdmissionQueue(store, () => {});
    let handled = false;
    void queue.submit(batch('a', 1, 1), 1, () => { handled = true; });
    let drained = false;
    const draining = queue.drained().then(() => { drained = true; });
    await turn();
    expect([handled, drained]).toEqual([false, false]);
    store.calls[0]!.answer();
    await draining;
    expect(handled).toBe(true);
  });

  it('fails what was in a failed call, says so once for each call, and goes on counting '
    + 'right', async () => {
    const store = slowStore();
    const failures: unknown[] = [];
    const queue = new AdmissionQueue(store, (error) => failures.push(error));
    const sent = [
      queue.submit(batch('a', 1, 1), 10, () => 1), queue.submit(batch('b', 1, 1), 10, () => 1),
    ];
    await turn();
    store.calls[0]!.fail(new StorageError('the disk is gone'));
    const results = await Promise.allSettled(sent);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(failures).toHaveLength(1);
    expect([queue.batches, queue.bytes]).toEqual([0, 0]);
    await queue.drained();
  });

  it('treats a verdict out of journal order as a defect', async () => {
    const failures: unknown[] = [];
    const wrong: AdmissionResult = {
      verdict: 'accepted', epoch: 1n, position: 0n, complete: true,
    };
    const queue =
      new AdmissionQueue({ admit: async () => [wrong] }, (error) => failures.push(error));
    await expect(queue.submit(batch('a', 1, 1), 1, () => 1)).rejects
      .toMatchObject({ code: 'invariant' });
    expect(failures).toHaveLength(1);
  });
});
