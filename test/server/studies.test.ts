import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import { verifyReady, verifyStatement } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeStudyDocument } from '../../src/wire/index.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { recordsInMemory } from '../../server/base/operator-records.js';
import type { AdmissionResult } from '../../server/store/contract.js';
import {
  Bench, batchOf, contribute, define, everyMs, hexKey, keyOf,
} from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

describe('batches', () => {
  it.each(
    [['next', 'accepted'], ['drop', 'rejected']] as const,
  )('that miss their epoch are treated by the rule `late: %s`', async (late, verdict) => {
    const hub = await bench.start([define({ late })]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(everyMs);
    const result = await hub.submit(batchOf(studyId, 1, 1n));
    expect(result).toMatchObject({ verdict, ...(late === 'drop' && { code: 'stale-epoch' }) });
    await bench.clock.advance(2 * everyMs);
    expect(await hub.submit(batchOf(studyId, 2, 1n)))
      .toMatchObject({ verdict: 'rejected', code: 'stale-epoch' });
    expect(
      await hub.submit(batchOf(studyId, 3, 9n, { sequence: 1n })),
    ).toMatchObject({ verdict: 'rejected', code: 'epoch-not-open' });
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${studyId}/2`)).toBe(late === 'next' ? 1 : 0);
    await hub.close();
  });

  it('count once when they are sent again, and not at all when their contents are '
    + 'unusable', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const batch = batchOf(studyId, 1, 1n);
    expect((await hub.submit(batch)).verdict).toBe('accepted');
    expect((await hub.submit(batch)).verdict).toBe('duplicate');
    const unusable = { ...batchOf(studyId, 2, 1n), rejectAs: 'not-finite' as const };
    expect(
      await hub.submit(unusable),
    ).toMatchObject({ verdict: 'rejected', code: 'not-finite' });
    const without = Object.fromEntries(
      Object.entries(batchOf(studyId, 3, 1n)).filter(([name]) => name !== 'values'),
    ) as unknown as VerifiedBatch;
    expect(await hub.submit(without))
      .toMatchObject({ verdict: 'rejected', code: 'wrong-columns' });
    expect(await hub.submit({ ...batchOf(studyId, 4, 1n), columns: 1 }))
      .toMatchObject({ code: 'wrong-columns' });
    expect(await hub.submit(batchOf('ab'.repeat(32), 4, 1n)))
      .toMatchObject({ code: 'unknown-study' });
    expect(await hub.progress(studyId)).toMatchObject({ contributors: 1, complete: 1 });
    await hub.close();
    expect(await hub.submit(batchOf(studyId, 5, 1n))).toMatchObject({ code: 'shutting-down' });
  });

  it('are in the summaries at the draw although the store answers late', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const store = await bench.store();
    const admit = store.admit.bind(store);
    // Judged and durable at once, as on the store's own thread; the answer takes its time to arrive
    // here.
    store.admit = async (batches) => {
      const results: readonly AdmissionResult[] = await admit(batches);
      for (let turn = 0;
          turn < 30; turn++) await new Promise<void>((resolve) => { setImmediate(resolve); });
      return results;
    };
    await bench.clock.advance(everyMs - 1);
    const sent = contribute(hub, studyId, 25, 1n);
    await Promise.resolve();
    await bench.clock.advance(1);
    await sent;
    await settle();
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(25);
    await hub.close();
  });

  it('are refused for now when too many wait for the disk', { tags: ['long'] }, async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const store = await bench.store();
    const admit = store.admit.bind(store);
    let answer = (): void => {};
    store.admit = (batches) =>
      new Promise((resolve) => { answer = () => resolve(admit(batches)); });
    const one = batchOf(studyId, 1, 1n);
    const body = new Uint8Array(protocolLimits.journalQueueBytes);
    expect(hub.overloaded()).toBe(false);
    const sent = hub.submit({ ...one, body });
    await settle();
    expect(hub.overloaded()).toBe(true);
    answer();
    await sent;
    expect(hub.overloaded()).toBe(false);
    store.admit = admit;
    await hub.close();
  });
});

describe('an epoch that closes on a count', () => {
  it('closes when so many contributions are complete, also when the count was reached before a '
    + 'restart', async () => {
    const study = define({ participation: 'public', epoch: { contributors: 10 } });
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    expect(hub.study(studyId)).toMatchObject({ epoch: 1n, closesAtMs: 0 });
    await contribute(hub, studyId, 9, 1n);
    await hub.submit(batchOf(studyId, 20, 1n, { last: false }));
    await bench.clock.advance(everyMs);
    expect(hub.study(studyId)!.epoch).toBe(1n);
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.study(studyId)!.epoch).toBe(1n);
    await hub.submit(batchOf(studyId, 10, 1n));
    await settle();
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ epoch: 2n, releaseCount: 1 });
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(11);
    await hub.close();
  });
});

describe('an operator', () => {
  it('ends a study: its open epoch is released on time, then it is over for good', async () => {
    const study = define();
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await contribute(hub, studyId, 10, 1n);
    await hub.endStudy(studyId);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 1n });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ state: 'ended', epoch: 0n, releaseCount: 1 });
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(10);
    expect(await hub.submit(batchOf(studyId, 1, 2n))).toMatchObject({ code: 'study-ended' });
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.study(studyId)).toMatchObject({ state: 'ended', epoch: 0n });
    await expect(hub.endStudy('00'.repeat(32))).rejects.toMatchObject({ code: 'unknown-study' });
    await hub.close();
  });

  it('pauses a study after its open epoch, also across restarts, until it is resumed', async () => {
    const study = define();
    const records = recordsInMemory();
    let hub = await bench.start([study], { paused: records.paused });
    const { studyId } = hub.studies()[0]!;
    const opened: bigint[] = [];
    hub.onEvent((event) => { if (event.kind === 'epoch-opened') opened.push(event.epoch); });
    await contribute(hub, studyId, 10, 1n);
    await hub.pauseStudy(studyId);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 1n });
    await bench.clock.advance(3 * everyMs);
    await hub.settled();
    expect(opened).toEqual([0n]);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 0n, releaseCount: 1 });
    await hub.close();
    hub = await bench.start([study], { paused: records.paused });
    await bench.clock.advance(3 * everyMs);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 0n, releaseCount: 1 });
    await hub.startStudy(studyId);
    expect(hub.study(studyId)).toMatchObject({ epoch: 0n });
    await hub.resumeStudy(studyId);
    expect(hub.isPaused(studyId)).toBe(false);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 2n });
    await hub.close();
  });

  it('ends a study that waits for a count at once', async () => {
    const hub =
      await bench.start([define({ participation: 'public', epoch: { contributors: 10 } })]);
    const { studyId } = hub.studies()[0]!;
    await contribute(hub, studyId, 3, 1n);
    await hub.endStudy(studyId);
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ state: 'ended', releaseCount: 1 });
    await hub.close();
  });

  it('adds studies and new versions without a restart', async () => {
    const hub = await bench.start([define()]);
    const first = hub.studies()[0]!.studyId;
    await hub.addStudy(define({ study: 'second' }));
    await hub.addStudy(define({ study: 'second' }));
    expect(hub.studies().map((view) => [view.name, view.epoch]))
      .toEqual([['delays', 1n], ['second', 1n]]);
    await hub.addStudy(define({ cohort: 500 }));
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.study(first)!.state).toBe('ended');
    // Of versions of one name the newest comes first.
    expect(hub.studies().map((view) => view.state)).toEqual(['open', 'open', 'ended']);
    expect(hub.studies().at(-1)!.studyId).toBe(first);
    const grown =
      define({ cohort: 600, budget: { epsilon: 17, delta: 1e-5, rule: 'zcdp', scope: 'study' } });
    await expect(hub.addStudy(grown)).rejects.toMatchObject({ code: 'invalid-study' });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies().filter((view) => view.state === 'open')).toHaveLength(2);
    await hub.close();
  });
});

describe('what a hub says', () => {
  it('signs facts, heads and handshakes with the server\'s key', async () => {
    const hub = await bench.start([define()]);
    const view = hub.studies()[0]!;
    const server = signing.createVerifier(hub.serverKey);
    const id = fromHex(view.studyId);
    expect(verifyStatement('study', server, id, signing.sha512(view.facts), view.factsSignature))
      .toBe(true);
    expect(decodeStudyDocument(view.facts)).toEqual(view.document);
    const head = await hub.head(view.studyId);
    expect(verifyStatement('head', server, id, signing.sha512(head.body), head.signature))
      .toBe(true);
    const nonces = {
      serverNonce: new Uint8Array(32).fill(1), clientNonce: new Uint8Array(32).fill(2),
    };
    const ready = hub.signReady(view.studyId, keyOf(1), nonces.serverNonce, nonces.clientNonce);
    expect(verifyReady(server, id, keyOf(1), nonces, ready)).toBe(true);
    await hub.close();
  });

  it('admits everybody, or the enrolled', async () => {
    const open = define();
    const closed = { ...define({ study: 'closed' }), enrolled: new Set([hexKey(1)]) };
    const hub = await bench.start([open, closed]);
    const [first, second] = hub.studies();
    expect(hub.admits(first!.studyId, keyOf(2))).toBe(true);
    expect(hub.admits(second!.studyId, keyOf(1))).toBe(true);
    expect(hub.admits(second!.studyId, keyOf(2))).toBe(false);
    expect(hub.admits('00'.repeat(32), keyOf(1))).toBe(false);
    await hub.close();
  });

  it('goes on when a listener throws', async () => {
    const hub = await bench.start([define()]);
    hub.onEvent(() => { throw new Error('a listener\'s own fault'); });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()[0]).toMatchObject({ epoch: 2n, releaseCount: 1 });
    expect(bench.logs.some((line) => line.includes('a listener of the hub failed'))).toBe(true);
    await hub.close();
  });
});

describe('retention', () => {
  const rowsOf = async (studyId: string) =>
    (await (await bench.store()).journal(studyId, 1n, 0n, 100)).length;

  it('deletes rows once the release is stored', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    await contribute(hub, studyId, 5, 1n);
    expect(await rowsOf(studyId)).toBe(5);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(await rowsOf(studyId)).toBe(0);
    await hub.close();
  });

  it('or after the time that the study says, also when it does not run any more', async () => {
    const study = define({ retention: { kind: 'duration', keepMs: 3 * everyMs } });
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await contribute(hub, studyId, 5, 1n);
    await hub.endStudy(studyId);
    await bench.clock.advance(everyMs);
    await hub.settled();
    await bench.clock.advance(2 * everyMs);
    await hub.close();
    expect(await rowsOf(studyId)).toBe(5);
    hub = await bench.start([]);
    await bench.clock.advance(everyMs + 1);
    await hub.settled();
    expect(await rowsOf(studyId)).toBe(0);
    await hub.close();
    expect(bench.clock.pending).toBe(0);
  });
});

describe('a study that is held', () => {
  const spentOf = async (hub: RunningHub) =>
    (await hub.balances()).map(({ rhoSpent, rhoReserved }) => rhoSpent + rhoReserved);

  it('opens no epoch and pays nothing until it is started, and then runs like any '
    + 'other', async () => {
    const hub = await bench.start([define()], { held: true });
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(5 * everyMs);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 0n, releaseCount: 0 });
    expect(await spentOf(hub)).toEqual([0n]);
    // Not refused for good: the same bytes count once an epoch is open.
    const early = batchOf(studyId, 1, 1n);
    expect(await hub.submit(early)).toMatchObject({ verdict: 'rejected', code: 'epoch-not-open' });

    await hub.startStudy(studyId);
    expect(hub.study(studyId))
      .toMatchObject({ epoch: 1n, closesAtMs: bench.clock.nowMs() + everyMs });
    expect(await hub.submit(early)).toMatchObject({ verdict: 'accepted' });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ epoch: 2n, releaseCount: 1 });
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(1);
    // Starting it again changes nothing.
    await hub.startStudy(studyId);
    expect(hub.study(studyId)).toMatchObject({ epoch: 2n });
    await hub.close();
  });

  it('is held by itself, also one that is added later, and can be ended without an '
    + 'epoch', async () => {
    const hub = await bench.start([define(), define({ study: 'second' })], { held: true });
    await hub.addStudy(define({ study: 'third' }));
    const [first, second, third] = hub.studies().map(({ studyId }) => studyId);
    await hub.startStudy(second!);
    await hub.endStudy(third!);
    await hub.startStudy(third!);
    expect([first, second, third].map((id) => hub.study(id!)!.epoch)).toEqual([0n, 1n, 0n]);
    expect(hub.study(third!)!.state).toBe('ended');
    await expect(hub.startStudy('ab'.repeat(32))).rejects.toThrow(/no study/);
    await hub.close();
  });

  it('releases the epoch that an earlier process left open, and opens none after it', async () => {
    const before = await bench.start([define()]);
    const { studyId } = before.studies()[0]!;
    await contribute(before, studyId, 5, 1n);
    await before.close();
    const hub = await bench.start([define()], { held: true });
    expect(hub.study(studyId)!.epoch).toBe(1n);
    await bench.clock.advance(3 * everyMs);
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ epoch: 0n, releaseCount: 1, state: 'open' });
    await hub.startStudy(studyId);
    expect(hub.study(studyId)!.epoch).toBe(2n);
    await hub.close();
  });
});
