import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../server/store/contract.js';
import { protocolLimits } from '../../src/base/limits.js';
import { AdmissionModel } from './admission-model.js';
import {
  amount, batch, budget, epochOf, finishEpoch, idOf, registration, release, resultText, verdicts,
} from './store-fixtures.js';
import { memoryFolder } from './memory-folder.js';
import { sumTests } from './store-suite-sums.js';

/** Opens a store on `directory`: creates it, or goes on with what is there. */
export type StoreFactory = (directory: string) => Promise<Store>;

export interface Bench {
  store: Store;
  readonly directory: string;
  /** Closes and opens again, as a restart does. */
  reopen(): Promise<void>;
}

/** What a kind of store promises beyond the contract. */
export interface StoreTraits {
  /** A purge leaves no byte of the rows in the files. */
  readonly erases: boolean;
  /** One server at a time has it open. */
  readonly isExclusive: boolean;
}

/**
 * The contract's test: any Store passes it.
 * @param tags of the comparison with the model, which makes some 15,000 calls, and of the tests of
 * studies, epochs and budgets. The other tests make the same calls. Each test opens a store.
 */
export function storeSuite(
  name: string, open: StoreFactory, tags: string[] = [],
  { erases, isExclusive }: StoreTraits = { erases: true, isExclusive: true },
): void {
  describe(name, () => {
    const bench = { store: undefined as unknown as Store, directory: '' } as Bench;
    bench.reopen = async () => {
      await bench.store.close();
      bench.store = await open(bench.directory);
    };
    beforeEach(async () => {
      const directory = mkdtempSync(join(memoryFolder, 'keelson-store-'));
      (bench as { directory: string }).directory = directory;
      bench.store = await open(bench.directory);
    });
    afterEach(async () => {
      await bench.store.close();
      rmSync(bench.directory, { recursive: true, force: true });
    });
    describe('studies and budgets', { tags }, () => studyTests(bench));
    describe('epochs and ledger', { tags }, () => epochTests(bench));
    describe('contributor scope', { tags }, () => contributorTests(bench));
    describe('two sums', { tags }, () => sumTests(bench));
    describe('admission', () => admissionTests(bench, tags));
    describe('withdrawals and quarantine', () => takenOutTests(bench));
    describe('releases', () => releaseTests(bench));
    describe('purge', () => purgeTests(bench, erases));
    describe('life', () => lifeTests(bench, open, isExclusive));
  });
}

function studyTests(bench: Bench): void {
  it('registers a study once and finds it again', async () => {
    const first = await bench.store.registerStudy(registration());
    expect(first).toEqual({
      studyId: idOf('s'), name: 's', document: '{"study":"s"}', budgetKey: 'study:s', state: 'open',
      releaseCount: 0, lastDigest: '0'.repeat(128), lastEpoch: 0n,
    });
    expect(await bench.store.registerStudy(registration({ nowMs: 5_000 }))).toEqual(first);
    await bench.reopen();
    expect(await bench.store.studies()).toEqual([first]);
    expect(await bench.store.study(idOf('s'))).toEqual(first);
    expect(await bench.store.study(idOf('other'))).toBeNull();
  });

  it('lets a budget shrink, and never grow or change rule or scope', async () => {
    await bench.store.registerStudy(registration());
    const attempt = (overrides: Parameters<typeof budget>[0]) =>
      bench.store.registerStudy(registration({ budget: budget(overrides) }));
    await expect(attempt({ rhoCap: amount(1_001) })).rejects
      .toMatchObject({ code: 'invalid-study' });
    await expect(attempt({ deltaCap: amount(1_001), rhoCap: amount(1) })).rejects
      .toMatchObject({ code: 'invalid-study' });
    await expect(attempt({ rule: { rule: 'pure' } })).rejects
      .toMatchObject({ code: 'invalid-study' });
    await expect(attempt({ rule: { rule: 'renyi', order: 8 } })).rejects
      .toMatchObject({ code: 'invalid-study' });
    await expect(attempt({ scope: 'contributor' })).rejects
      .toMatchObject({ code: 'invalid-study' });
    await attempt({ rhoCap: amount(300), epsilon: 0.5 });
    expect(await bench.store.balance('study:s'))
      .toMatchObject({ rhoCap: 300n, deltaCap: 1_000n, epsilon: 0.5 });
    await bench.store.openEpoch(epochOf(1));
    const less = (cap: number): Promise<unknown> => attempt({ rhoCap: amount(cap), epsilon: 0.5 });
    await expect(less(99)).rejects.toMatchObject({ code: 'invalid-study' });
    await less(100);
    await expect(attempt({ rhoCap: amount(100), epsilon: 0.6 })).rejects
      .toMatchObject({ message: expect.stringContaining('can only shrink') as string });
  });

  it('keeps the order of a renyi budget', async () => {
    const renyi = budget({ key: 'study:r', rule: { rule: 'renyi', order: 16 } });
    await bench.store.registerStudy(registration({ studyId: idOf('r'), budget: renyi }));
    expect((await bench.store.balance('study:r'))!.rule).toEqual({ rule: 'renyi', order: 16 });
    const other =
      registration({ studyId: idOf('r'), budget: { ...renyi, rule: { rule: 'renyi', order: 8 } } });
    await expect(bench.store.registerStudy(other)).rejects.toMatchObject({ code: 'invalid-study' });
  });

  it('goes on with the budget when a study has a new version', async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    await finishEpoch(bench.store, 1, 0);
    await bench.store.registerStudy(registration({ studyId: idOf('s2') }));
    expect(await bench.store.balances()).toMatchObject([{ key: 'study:s', rhoSpent: 100n }]);
    const opened =
      await bench.store.openEpoch(epochOf(1, { studyId: idOf('s2'), rho: amount(901) }));
    expect(opened.kind).toBe('declined');
  });
}

function epochTests(bench: Bench): void {
  beforeEach(async () => { await bench.store.registerStudy(registration()); });

  it('goes on with a charge that was made in the words of an earlier version', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await store.beginClose(idOf('s'), 1n);
    const before = '[{"keysMax":2,"kind":"key-histogram","sigma":3}]';
    const charged = await store.chargeEpoch(idOf('s'), 1n, before, 5_000);
    const now = '[{"groupsMax":2,"kind":"group-histogram","sigma":3}]';
    expect(await store.chargeEpoch(idOf('s'), 1n, now, 6_000))
      .toEqual({ ...charged, isMine: false });
    await expect(store.chargeEpoch(idOf('s'), 1n, now.replace('3', '4'), 6_000)).rejects
      .toMatchObject({ code: 'invariant' });
  });

  it('reserves, charges and releases in that order, and each step once', async () => {
    const { store } = bench;
    expect(await store.openEpoch(epochOf(1))).toMatchObject(
      { kind: 'opened', balance: { rhoReserved: 100n, rhoSpent: 0n } });
    expect(await store.openEpoch(epochOf(1))).toMatchObject(
      { kind: 'opened', balance: { rhoReserved: 100n, rhoSpent: 0n } });
    await expect(store.chargeEpoch(idOf('s'), 1n, '[]', 5_000)).rejects
      .toMatchObject({ code: 'invariant' });
    await store.beginClose(idOf('s'), 1n);
    await store.beginClose(idOf('s'), 1n);
    await expect(store.storeRelease(release(0, 1))).rejects.toMatchObject({ code: 'invariant' });
    const charged = await store.chargeEpoch(idOf('s'), 1n, '[]', 5_000);
    expect(charged.isMine).toBe(true);
    expect(charged.balance)
      .toMatchObject({ rhoReserved: 0n, rhoSpent: 100n, deltaReserved: 0n, deltaSpent: 10n });
    const again = { ...charged, isMine: false };
    expect(await store.chargeEpoch(idOf('s'), 1n, '[]', 6_000)).toEqual(again);
    await expect(store.chargeEpoch(idOf('s'), 1n, '["others"]', 6_000)).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(store.lapseEpoch(idOf('s'), 1n, 5_000)).rejects
      .toMatchObject({ code: 'invariant' });
    await store.storeRelease(release(0, 1));
    expect(await store.chargeEpoch(idOf('s'), 1n, '[]', 6_000)).toEqual(again);
    await expect(store.beginClose(idOf('s'), 1n)).rejects.toMatchObject({ code: 'invariant' });
    await bench.reopen();
    expect(await bench.store.balance('study:s')).toEqual(charged.balance);
    expect(await bench.store.ledgerEntries('study:s', 10)).toEqual([
      {
        budgetKey: 'study:s', studyId: idOf('s'), epoch: 1n, kind: 'charged', rho: 100n, delta: 10n,
        pure: null, events: '[]', atMs: 5_000,
      },
      {
        budgetKey: 'study:s', studyId: idOf('s'), epoch: 1n, kind: 'reserved', rho: 100n,
        delta: 10n, pure: null, events: '', atMs: 2_000,
      },
    ]);
  });

  it('declines what does not fit, in rho or in delta, and writes nothing but the '
    + 'state', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1, { rho: amount(900) }));
    const before = await store.balance('study:s');
    await store.beginClose(idOf('s'), 1n);
    const declined = await store.openEpoch(epochOf(2, { rho: amount(101) }));
    expect(declined)
      .toEqual({ kind: 'declined', balance: before, rhoAsked: 101n, deltaAsked: 10n });
    expect(await store.study(idOf('s'))).toMatchObject({ state: 'exhausted', lastEpoch: 1n });
    expect(await store.balance('study:s')).toEqual(before);
    expect(await store.epoch(idOf('s'), 2n)).toBeNull();
    expect(await store.openEpoch(epochOf(2, { rho: amount(1), delta: amount(991) })))
      .toMatchObject({ kind: 'declined' });
    expect(await store.openEpoch(epochOf(2, { rho: amount(100) })))
      .toMatchObject({ kind: 'opened' });
    expect(await store.balance('study:s')).toMatchObject({ rhoReserved: 1_000n });
  });

  it('never commits more than the cap when studies share a budget', async () => {
    const { store } = bench;
    const shared = budget({ key: 'population:p', scope: 'population' });
    for (const name of ['a', 'b', 'c']) await store.registerStudy(
      registration({ studyId: idOf(name), name, budget: shared }));
    let index = 0;
    const outcomes: string[] = [];
    for (let epoch = 1; epoch <= 3; epoch++) {
      for (const name of ['a', 'b', 'c']) {
        const opened =
          await store.openEpoch(epochOf(epoch, { studyId: idOf(name), rho: amount(190) }));
        outcomes.push(opened.kind);
        const { rhoSpent, rhoReserved, rhoCap } = opened.balance;
        expect(rhoSpent + rhoReserved <= rhoCap).toBe(true);
      }
      for (const name of ['a', 'b', 'c']) {
        if ((await store.epoch(idOf(name), BigInt(epoch))) !== null) {
          await finishEpoch(store, epoch, index, idOf(name));
        }
      }
      index += 1;
    }
    expect(outcomes).toEqual([
      'opened', 'opened', 'opened', 'opened', 'opened', 'declined', 'declined', 'declined',
        'declined',
    ]);
    expect(await store.balance('population:p')).toMatchObject({ rhoSpent: 950n, rhoReserved: 0n });
  });

  it('compares amounts that a double cannot hold apart', async () => {
    const cap = 2n ** 64n + 1n;
    await bench.store.registerStudy(registration({ studyId: idOf('w'),
      budget: budget({ key: 'study:w', rhoCap: amount(cap) }) }));
    expect(await bench.store.openEpoch(epochOf(1, { studyId: idOf('w'), rho: amount(cap + 1n) })))
      .toMatchObject({ kind: 'declined' });
    expect(await bench.store.openEpoch(epochOf(1, { studyId: idOf('w'), rho: amount(cap) })))
      .toMatchObject({ kind: 'opened' });
  });

  it('closes one epoch and opens the next in one step, or does neither', async () => {
    const { store } = bench;
    const turn = (closing: bigint, next: Parameters<typeof epochOf>) =>
      store.turnEpoch(idOf('s'), closing, epochOf(...next));
    await store.openEpoch(epochOf(1));
    await expect(turn(7n, [2])).rejects.toMatchObject({ code: 'invariant' });
    await expect(turn(1n, [1])).rejects.toMatchObject({ code: 'invariant' });
    expect(await store.epoch(idOf('s'), 1n)).toMatchObject({ state: 'open' });
    const before = verdicts(store, [batch('a', 1, 1)]);
    const turned = turn(1n, [2]);
    const after = verdicts(store, [batch('a', 2, 2)]);
    // The reservation of the epoch that closed is still there.
    expect(await turned).toMatchObject({ kind: 'opened', balance: { rhoReserved: 200n } });
    expect([await before, await after]).toEqual([['accepted@1'], ['accepted@2']]);
    expect(await turn(2n, [3, { rho: amount(801) }])).toMatchObject({ kind: 'declined' });
    expect(await store.epoch(idOf('s'), 2n)).toMatchObject({ state: 'closing' });
    expect(await store.study(idOf('s'))).toMatchObject({ state: 'exhausted', lastEpoch: 2n });
    await bench.reopen();
    expect((await bench.store.unfinishedEpochs()).map(({ epoch, state }) => [epoch, state]))
      .toEqual([[1n, 'closing'], [2n, 'closing']]);
  });

  it('gives a reservation back when an epoch lapses, once', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await store.lapseEpoch(idOf('s'), 1n, 4_000);
    await store.lapseEpoch(idOf('s'), 1n, 4_000);
    expect(await store.balance('study:s')).toMatchObject({ rhoReserved: 0n, rhoSpent: 0n });
    await expect(store.openEpoch(epochOf(1))).rejects.toMatchObject({ code: 'invariant' });
    expect(await store.study(idOf('s'))).toMatchObject({ lastEpoch: 1n });
    await store.openEpoch(epochOf(2));
    await store.beginClose(idOf('s'), 2n);
    await store.lapseEpoch(idOf('s'), 2n, 4_000);
    expect(await store.unfinishedEpochs()).toEqual([]);
  });

  it('keeps one epoch open at a time and its facts', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await expect(store.openEpoch(epochOf(2))).rejects.toMatchObject({ code: 'invariant' });
    await store.beginClose(idOf('s'), 1n);
    await store.openEpoch(epochOf(2, { closesAtMs: 0 }));
    expect(await store.noteRecovery(idOf('s'), 1n)).toBe(1);
    expect(await store.noteRecovery(idOf('s'), 1n)).toBe(2);
    await bench.reopen();
    const [first, second] = await bench.store.unfinishedEpochs();
    expect(first).toEqual({
      studyId: idOf('s'), epoch: 1n, state: 'closing', opensAtMs: 2_000, closesAtMs: 3_000,
      rho: 100n, delta: 10n, pure: null, assignmentKey: new Uint8Array(32).fill(7),
      workSeed: new Uint8Array(32).fill(9), rowsMax: 4, recoveries: 2,
    });
    expect(second).toMatchObject({ epoch: 2n, state: 'open', closesAtMs: 0, recoveries: 0 });
    await bench.store.noteRecovered?.(idOf('s'), 1n);
    expect(await bench.store.noteRecovery(idOf('s'), 1n))
      .toBe(bench.store.noteRecovered === undefined ? 3 : 1);
  });

  it('refuses unknown studies and epochs as defects', async () => {
    await expect(bench.store.openEpoch(epochOf(1, { studyId: idOf('none') }))).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(bench.store.beginClose(idOf('s'), 7n)).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(bench.store.setStudyState(idOf('none'), 'open')).rejects
      .toMatchObject({ code: 'invariant' });
    expect(await bench.store.epoch(idOf('none'), 1n)).toBeNull();
    expect(await bench.store.journal(idOf('none'), 1n, 0n, 9)).toEqual([]);
    expect(await bench.store.balance('study:none')).toBeNull();
  });
}

function contributorTests(bench: Bench): void {
  beforeEach(async () => {
    await bench.store.registerStudy(
      registration({ budget: budget({ scope: 'contributor', rhoCap: amount(250) }) }),
    );
  });

  it('debits the first row of each epoch and leaves out who cannot afford it', async () => {
    const { store } = bench;
    expect(await store.openEpoch(epochOf(1)))
      .toMatchObject({ kind: 'opened', balance: { rhoReserved: 0n } });
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 2, 1)]))
      .toEqual(['accepted@1', 'accepted@1']);
    expect((await store.contributorState(idOf('s'), idOf('a'))).spend)
      .toEqual({ rho: 100n, delta: 10n, pure: null });
    await finishEpoch(store, 1, 0);
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 100n, rhoReserved: 0n });
    await store.openEpoch(epochOf(2));
    expect(await verdicts(store, [batch('a', 3, 2)])).toEqual(['accepted@2']);
    await finishEpoch(store, 2, 1);
    await store.openEpoch(epochOf(3));
    expect(await verdicts(store, [
      batch('a', 4, 3), batch('a', 5, 3), batch('b', 1, 3), batch('a', 4, 3),
    ])).toEqual([
      'rejected:contributor-budget-exhausted', 'rejected:contributor-budget-exhausted',
      'accepted@3', 'rejected:contributor-budget-exhausted',
    ]);
    expect((await store.contributorState(idOf('s'), idOf('a'))).spend)
      .toEqual({ rho: 200n, delta: 20n, pure: null });
    expect((await store.contributorState(idOf('s'), idOf('new'))).spend)
      .toEqual({ rho: 0n, delta: 0n, pure: 0n });
    expect(await store.contributorCount(idOf('s'), 3n)).toBe(1);
    await finishEpoch(store, 3, 2);
    // The public bound is the smaller of the cap and the sum over epochs.
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 250n, deltaSpent: 30n });
    await bench.reopen();
    expect((await bench.store.contributorState(idOf('s'), idOf('b'))).spend)
      .toEqual({ rho: 100n, delta: 10n, pure: null });
    // A later start registers the study again: its epochs together may cost more than one
    // contributor has.
    const own = registration({ budget: budget({ scope: 'contributor', rhoCap: amount(250) }) });
    expect(await bench.store.registerStudy(own)).toMatchObject({ state: 'open', lastEpoch: 3n });
  });

  it('gives the debit back when the epoch lapses', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1), batch('a', 2, 1), batch('b', 1, 1)]);
    await store.lapseEpoch(idOf('s'), 1n, 5_000);
    for (const name of ['a', 'b']) {
      expect((await store.contributorState(idOf('s'), idOf(name))).spend)
        .toEqual({ rho: 0n, delta: 0n, pure: 0n });
    }
  });

  it('declines an epoch that nobody could afford', async () => {
    expect(await bench.store.openEpoch(epochOf(1, { rho: amount(251) })))
      .toMatchObject({ kind: 'declined' });
  });
}

function admissionTests(bench: Bench, tags: string[]): void {
  beforeEach(async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
  });

  it('journals in order, with positions that only increase', async () => {
    const { store } = bench;
    const results = await store.admit([batch('a', 1, 1), batch('b', 1, 1, { last: true }),
      batch('a', 2, 1, { rows: 3 })]);
    expect(results.map((result) => [result.verdict, result.epoch, result.complete]))
      .toEqual([['accepted', 1n, false], ['accepted', 1n, true], ['accepted', 1n, true]]);
    const positions = results.map((result) => result.position);
    expect(positions[0]! > 0n && positions[1]! > positions[0]! && positions[2]! > positions[1]!)
      .toBe(true);
    const journal = await store.journal(idOf('s'), 1n, 0n, 10);
    expect(journal.map((entry) => entry.position)).toEqual(positions);
    expect(journal[1]).toEqual({
      position: positions[1], contributor: idOf('b'), sequence: 1n, complete: true,
      body: new Uint8Array(Buffer.from('b/1')), signature: new Uint8Array(64).fill(3),
    });
    expect((await store.journal(idOf('s'), 1n, positions[0]!, 1)).map((entry) => entry.position))
      .toEqual([positions[1]]);
    // Three bytes a body: the one that reaches the bound is the last, and there is always one.
    for (const [bytesMost, entries] of [
      [1, 1], [3, 1], [4, 2], [6, 2], [7, 3], [100, 3],
    ] as const) {
      const page = await store.journal(idOf('s'), 1n, 0n, 10, bytesMost);
      expect(page.map((entry) => entry.position)).toEqual(positions.slice(0, entries));
    }
    expect(await store.journal(idOf('s'), 1n, positions[0]!, 1, 100)).toHaveLength(1);
    expect(await store.contributorCount(idOf('s'), 1n)).toBe(2);
  });

  it('1: refuses unknown, ended and exhausted studies without trace', async () => {
    const { store } = bench;
    expect(await verdicts(store, [batch('a', 1, 1, { studyId: idOf('none') })]))
      .toEqual(['rejected:study-ended']);
    await store.setStudyState(idOf('s'), 'ended');
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['rejected:study-ended']);
    await store.setStudyState(idOf('s'), 'exhausted');
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['rejected:budget-exhausted']);
    await store.setStudyState(idOf('s'), 'open');
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    // What was settled before is told as it was, so that a lost ack does not look like a lost
    // batch.
    await store.setStudyState(idOf('s'), 'exhausted');
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 2, 1)]))
      .toEqual(['duplicate@1', 'rejected:budget-exhausted']);
  });

  it('1: keeps nothing of what comes after a study has stopped, also not in the holes before what '
    + 'counts', async () => {
    const { store } = bench;
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 3, 1)]))
      .toEqual(['accepted@1', 'accepted@1']);
    await store.setStudyState(idOf('s'), 'exhausted');
    const late = [batch('a', 2, 1), batch('a', 4, 1), batch('a', 3, 1)];
    const answers = ['rejected:budget-exhausted', 'rejected:budget-exhausted', 'duplicate@1'];
    expect(await verdicts(store, late)).toEqual(answers);
    await bench.reopen();
    expect(await bench.store.contributorState(idOf('s'), idOf('a')))
      .toEqual({ nextSequence: 4n, holes: [2n], inOpenEpoch: true, spend: null });
    expect(await verdicts(bench.store, late)).toEqual(answers);
    expect(await bench.store.journal(idOf('s'), 1n, 0n, 10)).toHaveLength(2);
  });

  it('2: answers duplicates as before, and refuses the same sequence with other '
    + 'bytes', async () => {
    const { store } = bench;
    await store.admit([batch('a', 1, 1), batch('a', 2, 1, { rows: 9 })]);
    const again = [
      batch('a', 1, 1), batch('a', 1, 1, { content: 'other' }), batch('a', 2, 1, { rows: 9 }),
      batch('a', 2, 1, { content: 'other' })];
    const expected = [
      'duplicate@1', 'rejected:mutated', 'rejected:contribution-full', 'rejected:mutated',
    ];
    expect(await verdicts(store, again)).toEqual(expected);
    await bench.reopen();
    expect(await verdicts(bench.store, again)).toEqual(expected);
    expect(await bench.store.journal(idOf('s'), 1n, 0n, 10)).toHaveLength(1);
  });

  it('2: bounds how far ahead a sequence may be, and forgets digests past the window', async () => {
    const { store } = bench;
    const far = protocolLimits.sequenceWindow + 1;
    expect(await verdicts(store, [batch('a', far, 1)])).toEqual(['rejected:sequence-too-far']);
    expect(await verdicts(store, [batch('a', 2n ** 64n - 1n, 1)]))
      .toEqual(['rejected:sequence-too-far']);
    expect(await verdicts(store, [batch('a', 0, 1)])).toEqual(['rejected:malformed']);
    expect(await store.contributorState(idOf('s'), idOf('a'))).toEqual(
      { nextSequence: 1n, holes: [], inOpenEpoch: false, spend: null });
    const run =
      Array.from({ length: far }, (_, i) => batch('a', i + 1, 1, { rejectAs: 'not-finite' }));
    await store.admit(run);
    expect(await verdicts(store, [batch('a', 1, 1, { content: 'other' }), batch('a', 2, 1)]))
      .toEqual(['duplicate', 'rejected:not-finite']);
  });

  it('2: keeps holes open until they are filled', async () => {
    const { store } = bench;
    await store.admit([
      batch('a', 1, 1), batch('a', 3, 1), batch('a', 6, 1, { rejectAs: 'wrong-columns' }),
    ]);
    expect(await store.contributorState(idOf('s'), idOf('a'))).toEqual(
      { nextSequence: 7n, holes: [2n, 4n, 5n], inOpenEpoch: true, spend: null });
    expect(await verdicts(store, [batch('a', 2, 1), batch('a', 4, 1)]))
      .toEqual(['accepted@1', 'accepted@1!']);
    expect(await store.contributorState(idOf('s'), idOf('a')))
      .toMatchObject({ nextSequence: 7n, holes: [5n] });
    expect(
      await verdicts(store, [batch('a', 6, 1, { rejectAs: 'wrong-columns' }), batch('a', 5, 1)]),
    )
      .toEqual(['rejected:wrong-columns', 'rejected:contribution-full']);
    expect(await store.contributorState(idOf('s'), idOf('a')))
      .toMatchObject({ nextSequence: 7n, holes: [] });
  });

  it('3: consumes the sequence of unusable contents and journals nothing', async () => {
    const { store } = bench;
    await store.beginClose(idOf('s'), 1n);
    const unusable = batch('a', 1, 9, { rejectAs: 'not-finite' });
    expect(await store.admit([unusable])).toMatchObject(
      [{ verdict: 'rejected', code: 'not-finite' }]);
    expect(await store.journal(idOf('s'), 1n, 0n, 10)).toEqual([]);
  });

  it('4: places a batch in the open epoch, in the next for late ones, or refuses it', async () => {
    const { store } = bench;
    expect(await verdicts(store, [batch('a', 1, 2)])).toEqual(['rejected:epoch-not-open']);
    await store.beginClose(idOf('s'), 1n);
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['rejected:epoch-not-open']);
    await store.openEpoch(epochOf(2));
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 2, 0), batch('a', 3, 2)])).toEqual([
      'accepted@2', 'rejected:stale-epoch', 'accepted@2']);
    await store.beginClose(idOf('s'), 2n);
    await store.openEpoch(epochOf(3, { late: 'drop' }));
    expect(await verdicts(store, [batch('a', 4, 2), batch('a', 5, 3), batch('a', 4, 2)])).toEqual([
      'rejected:stale-epoch', 'accepted@3', 'rejected:stale-epoch']);
    expect(await store.contributorState(idOf('s'), idOf('a')))
      .toMatchObject({ nextSequence: 6n, holes: [] });
  });

  it('4: says at once that no epoch takes a late batch, also while none is open', async () => {
    const { store } = bench;
    await store.beginClose(idOf('s'), 1n);
    await store.openEpoch(epochOf(2));
    await store.beginClose(idOf('s'), 2n);
    // late: next. Epoch 3 takes what names 2 or 3.
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 2, 2), batch('a', 3, 3)])).toEqual([
      'rejected:stale-epoch', 'rejected:epoch-not-open', 'rejected:epoch-not-open']);
    await store.openEpoch(epochOf(3, { late: 'drop' }));
    await store.beginClose(idOf('s'), 3n);
    const late = [batch('b', 1, 3), batch('b', 2, 4)];
    expect(await verdicts(store, late))
      .toEqual(['rejected:stale-epoch', 'rejected:epoch-not-open']);
    await bench.reopen();
    await bench.store.openEpoch(epochOf(4, { late: 'drop' }));
    expect(await verdicts(bench.store, late)).toEqual(['rejected:stale-epoch', 'accepted@4']);
  });

  it('5: takes rowsMax rows and nothing after the last', async () => {
    const { store } = bench;
    expect(await verdicts(store, [
      batch('a', 1, 1, { rows: 3 }), batch('a', 2, 1, { rows: 2 }), batch('a', 3, 1, { rows: 1 }),
      batch('a', 4, 1), batch('b', 1, 1, { last: true }), batch('b', 2, 1),
    ])).toEqual([
      'accepted@1', 'rejected:contribution-full', 'accepted@1!', 'rejected:contribution-full',
        'accepted@1!', 'rejected:contribution-full',
    ]);
    await store.beginClose(idOf('s'), 1n);
    await store.openEpoch(epochOf(2));
    expect(await verdicts(store, [batch('b', 3, 2), batch('a', 5, 2, { rows: 4 })]))
      .toEqual(['accepted@2', 'accepted@2!']);
  });

  it('6: takes as many people as an epoch does, and writes nothing of others', async () => {
    const { store } = bench;
    const asked = (who: string, sequence: number, rows: number, epoch = 1) =>
      batch(who, sequence, epoch, { rows, peopleMax: 3 });
    const people = (epoch = 1n): Promise<number> => bench.store.peopleCount(idOf('s'), epoch);
    expect(await people()).toBe(0);
    expect(await verdicts(store, [
      asked('a', 1, 1), asked('a', 2, 1), asked('b', 1, 3),
      { ...asked('c', 1, 1), rejectAs: 'not-finite' }, asked('d', 1, 1), asked('c', 2, 2),
    ])).toEqual(['accepted@1', 'accepted@1', 'accepted@1', 'rejected:not-finite', 'accepted@1',
      'rejected:overloaded']);
    expect(await people()).toBe(3);
    const [full] = await store.admit([asked('c', 2, 2)]);
    expect(full).toEqual({
      verdict: 'rejected', code: 'overloaded', isFull: true, epoch: 0n, position: 0n,
      complete: false,
    });
    expect(await store.contributorState(idOf('s'), idOf('c'))).toMatchObject({ nextSequence: 2n });
    // Somebody who withdraws leaves no place to others.
    const signature = new Uint8Array(64);
    await store.withdraw(
      { studyId: idOf('s'), contributor: idOf('b'), epoch: 1n, signature, nowMs: 1 });
    await bench.reopen();
    expect([await people(), await bench.store.contributorCount(idOf('s'), 1n)]).toEqual([3, 2]);
    expect(await verdicts(bench.store, [
      asked('c', 2, 2), asked('a', 3, 1), asked('a', 3, 1), asked('e', 1, 1),
    ])).toEqual(['rejected:overloaded', 'accepted@1', 'duplicate@1', 'rejected:overloaded']);
    await bench.store.turnEpoch(idOf('s'), 1n, epochOf(2));
    expect(await verdicts(bench.store, [asked('c', 2, 2)])).toEqual(['accepted@2']);
    expect([await people(), await people(2n), await people(3n)]).toEqual([3, 1, 0]);
  });

  it('6: answers the same, whatever others send, until an epoch has all its people', async () => {
    const answers: string[][] = [];
    for (const [name, others, rows] of [['t', 0, 0], ['u', 13, 1], ['v', 14, 4]] as const) {
      const studyId = idOf(name);
      await bench.store.registerStudy(
        registration({ studyId, name, budget: budget({ key: `study:${name}` }) }));
      await bench.store.openEpoch(epochOf(1, { studyId }));
      const facts = { peopleMax: 20, studyId };
      const sent = Array.from({ length: others }, (_, i) =>
        batch(`${i}`, 1, 1, { ...facts, rows }));
      const first = await bench.store.admit(sent);
      expect(first.every(({ verdict }) => verdict === 'accepted')).toBe(true);
      answers.push(await verdicts(bench.store, Array.from({ length: 6 }, (_, i) =>
        batch(`new ${i}`, 1, 1, { ...facts, rows: 4 }))));
    }
    const all = Array.from({ length: 6 }, () => 'accepted@1!');
    expect(answers).toEqual([all, all, all]);
  });

  it('keeps contributors and studies apart', async () => {
    const { store } = bench;
    await store.registerStudy(
      registration({ studyId: idOf('t'), name: 't', budget: budget({ key: 'study:t' }) }),
    );
    await store.openEpoch(epochOf(1, { studyId: idOf('t') }));
    const there = { studyId: idOf('t') };
    expect(
      await verdicts(store, [batch('a', 1, 1), batch('a', 1, 1, there), batch('b', 1, 1, there),
        batch('b', 1, 1)]),
    ).toEqual(
      ['accepted@1', 'accepted@1', 'accepted@1', 'accepted@1']);
    expect((await store.journal(idOf('t'), 1n, 0n, 9)).map((entry) => entry.contributor))
      .toEqual([idOf('a'), idOf('b')]);
    expect((await store.contributorState(idOf('t'), idOf('a'))).nextSequence).toBe(2n);
  });

  it('takes a body that another contributor sent before', async () => {
    const { store } = bench;
    const { body, digest } = batch('a', 1, 1);
    expect(await verdicts(store, [
      batch('a', 1, 1), { ...batch('b', 1, 1), body, digest }, { ...batch('c', 2, 1), digest },
    ])).toEqual(['accepted@1', 'accepted@1', 'accepted@1']);
    expect(await verdicts(store, [{ ...batch('d', 1, 1), digest }])).toEqual(['accepted@1']);
  });

  it('agrees with a simple model on any sequence of batches, closings and '
    + 'restarts', { tags }, async () => {
    const step = fc.oneof(
      { weight: 12, arbitrary: fc.record({
        kind: fc.constant('admit' as const),
        list: fc.array(fc.record({
          contributor: fc.constantFrom('a', 'b', 'c'), sequence: fc.oneof(
            { weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }) },
            { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }) }),
          behind: fc.constantFrom(-1, 0, 0, 0, 1, 2, 3), rows: fc.constantFrom(0, 1, 1, 2, 3),
          last: fc.constantFrom(true, false, false, false),
          content: fc.constantFrom('x', 'x', 'x', 'y'), rejected: fc.integer({ min: 0, max: 5 }),
        }), { maxLength: 12, size: 'max' }),
      }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('advance' as const),
        late: fc.constantFrom('next' as const, 'drop' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('state' as const),
        to: fc.constantFrom('open' as const, 'open' as const, 'ended' as const) }) },
    );
    let run = 0;
    await fc.assert(fc.asyncProperty(fc
      .array(step, { minLength: 10, maxLength: 30, size: 'max' }), async (steps) => {
      const studyId = idOf(`model ${run++}`);
      const wide =
        budget({ key: `study:${studyId}`, rhoCap: amount(10n ** 9n), deltaCap: amount(10n ** 9n) });
      await bench.store.registerStudy(registration({ studyId, budget: wide }));
      const model = new AdmissionModel();
      let epoch = 0n;
      for (const action of steps) {
        if (action.kind === 'restart') await bench.reopen();
        if (action.kind === 'state') {
          await bench.store.setStudyState(studyId, (model.state = action.to));
        }
        if ((action.kind === 'close' || action.kind === 'advance') && model.open !== null) {
          await bench.store.beginClose(studyId, epoch);
          model.open = null;
        }
        if (action.kind === 'advance' && model.state === 'open') {
          epoch += 1n;
          await bench.store.openEpoch(epochOf(epoch, { studyId, late: action.late }));
          model.open = { epoch, rowsMax: 4 };
          model.newest = { epoch, late: action.late };
        }
        if (action.kind === 'admit') {
          const named = (behind: number): bigint =>
            (epoch > BigInt(behind) ? epoch - BigInt(behind) : 0n);
          const list =
            action.list.map((item) => batch(item.contributor, item.sequence, named(item.behind), {
              studyId, rows: item.rows, last: item.last,
              content: `${item.contributor}${item.sequence}${item.content}`,
              ...(item.rejected === 0 ? { rejectAs: 'not-finite' as const } : {}),
            }));
          const got = await bench.store.admit(list);
          list.forEach((asked, i) => {
            expect([i, resultText(got[i]!)]).toEqual([i, model.admit(asked)]);
          });
        }
      }
      for (const contributor of ['a', 'b', 'c']) {
        expect(await bench.store.contributorState(studyId, idOf(contributor))).toMatchObject({
          nextSequence: model.next(idOf(contributor)), holes: model.holes(idOf(contributor)),
          spend: null,
        });
      }
      for (let at = 1n; at <= epoch; at++) {
        const journal = await bench.store.journal(studyId, at, 0n, 10_000);
        const counted = model.accepted.filter((entry) => entry.epoch === at);
        expect(journal.map((entry) => [entry.contributor, entry.sequence]))
          .toEqual(counted.map((entry) => [entry.contributor, entry.sequence]));
        expect(await bench.store.contributorCount(studyId, at))
          .toBe(new Set(counted.map((entry) => entry.contributor)).size);
      }
    }), { numRuns: 40, seed: 20_261_121 });
  });
}

function takenOutTests(bench: Bench): void {
  const takeBack = (name: string, epoch: bigint, studyId = idOf('s')) => bench.store.withdraw(
    { studyId, contributor: idOf(name), epoch, signature: new Uint8Array(64), nowMs: 2_500 },
  );
  const untouched = { kind: 'withdrawn', undone: false, complete: false };

  it('takes a contribution out of the open epoch, once and for good', async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    await bench.store.admit([batch('a', 1, 1), batch('b', 1, 1), batch('c', 1, 1, { rows: 4 })]);
    expect(await takeBack('a', 2n ** 64n - 1n)).toEqual(
      { kind: 'refused', code: 'epoch-not-open' });
    expect(await takeBack('new', 1n)).toEqual(untouched);
    expect(await takeBack('a', 1n)).toEqual({ ...untouched, undone: true });
    expect(await takeBack('c', 1n)).toEqual({ ...untouched, undone: true, complete: true });
    expect(await takeBack('a', 1n)).toEqual(untouched);
    await bench.reopen();
    const { store } = bench;
    expect(await store.contributorCount(idOf('s'), 1n)).toBe(1);
    expect((await store.journal(idOf('s'), 1n, 0n, 9)).map(({ contributor }) => contributor))
      .toEqual([idOf('b')]);
    expect(await verdicts(store, [batch('a', 1, 1), batch('a', 2, 1)]))
      .toEqual(['duplicate@1', 'rejected:contribution-full']);
    await store.turnEpoch(idOf('s'), 1n, epochOf(2));
    expect(await takeBack('a', 1n)).toEqual(untouched);
    expect(await takeBack('b', 1n)).toEqual({ kind: 'refused', code: 'too-late' });
    expect(await verdicts(store, [batch('a', 3, 2)])).toEqual(['accepted@2']);
    // A withdrawal is remembered as long as a batch may name its epoch.
    await store.chargeEpoch(idOf('s'), 1n, '[]', 8_000);
    await store.storeRelease(release(0, 1));
    await store.turnEpoch(idOf('s'), 2n, epochOf(3));
    await store.purgeEpoch(idOf('s'), 1n);
    expect(await takeBack('a', 1n)).toEqual({ kind: 'refused', code: 'too-late' });
  });

  it('takes late rows of an epoch that their contributor withdrew from in no other '
    + 'epoch', async () => {
    const { store } = bench;
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1), batch('b', 1, 1)]);
    await takeBack('a', 1n);
    await store.turnEpoch(idOf('s'), 1n, epochOf(2));
    await store.chargeEpoch(idOf('s'), 1n, '[]', 5_000);
    await store.storeRelease(release(0, 1));
    await store.purgeEpoch(idOf('s'), 1n);
    expect(await verdicts(store, [batch('a', 2, 1), batch('b', 2, 1)]))
      .toEqual(['rejected:contribution-full', 'accepted@2']);
    // Also once it has given something to the epoch that is open.
    await bench.reopen();
    expect(await verdicts(bench.store, [batch('a', 3, 2), batch('a', 4, 1), batch('a', 2, 1)]))
      .toEqual(['accepted@2', 'rejected:contribution-full', 'rejected:contribution-full']);
  });

  it('keeps rows out of an epoch that waits for its release while one before it is '
    + 'purged', async () => {
    const { store } = bench;
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.turnEpoch(idOf('s'), 1n, epochOf(2));
    await store.admit([batch('alice', 1, 2), batch('bob', 1, 2)]);
    expect(await takeBack('alice', 2n)).toMatchObject({ kind: 'withdrawn', undone: true });
    for (const next of [3n, 4n, 5n]) await store.turnEpoch(idOf('s'), next - 1n, epochOf(next));
    await store.chargeEpoch(idOf('s'), 1n, '[]', 5_000);
    await store.storeRelease(release(0, 1));
    await store.purgeEpoch(idOf('s'), 1n);
    expect((await store.journal(idOf('s'), 2n, 0n, 10)).map(({ contributor }) => contributor))
      .toEqual([idOf('bob')]);
    await store.chargeEpoch(idOf('s'), 2n, '[]', 5_000);
    await store.storeRelease(release(1, 2));
    expect((await store.journal(idOf('s'), 2n, 0n, 10)).map(({ contributor }) => contributor))
      .toEqual([idOf('bob')]);
  });

  it('gives back what a contributor was debited, once', async () => {
    for (const [name, windowMs] of [['s', undefined], ['t', 9_000]] as const) {
      const studyId = idOf(name);
      const own = budget({
        key: `study:${name}`, scope: 'contributor', ...(windowMs !== undefined && { windowMs }),
      });
      await bench.store.registerStudy(registration({ studyId, name, budget: own }));
      await bench.store.openEpoch(epochOf(1, { studyId }));
      await bench.store.admit([batch('a', 1, 1, { studyId }), batch('b', 1, 1, { studyId })]);
      for (let i = 0; i < 2; i++) await takeBack('a', 1n, studyId);
      const spendOf = async (key: string) =>
        (await bench.store.contributorState(studyId, idOf(key))).spend!.rho;
      expect([await spendOf('a'), await spendOf('b')]).toEqual([0n, 100n]);
    }
  });

  it('leaves quarantined keys out of the epochs that open later', async () => {
    await bench.store.registerStudy(registration());
    const entry = {
      studyId: idOf('s'), contributor: idOf('a'), distance: 9.5, beyond: 3, releaseIndex: 0,
      atMs: 7_000,
    };
    await expect(bench.store.quarantine!([entry])).rejects.toMatchObject({ code: 'invariant' });
    await bench.store.openEpoch(epochOf(1));
    await bench.store.admit([batch('a', 1, 1), batch('b', 1, 1)]);
    const stored = { ...entry, fromEpoch: 2n };
    expect(await bench.store.quarantine!([entry])).toEqual([stored]);
    expect(await bench.store.quarantine!([{ ...entry, distance: 1, fromEpoch: 9n }]))
      .toEqual([stored]);
    expect(await verdicts(bench.store, [batch('a', 2, 1)])).toEqual(['accepted@1']);
    await bench.store.turnEpoch(idOf('s'), 1n, epochOf(2));
    await bench.reopen();
    expect(await verdicts(bench.store, [batch('a', 3, 2), batch('b', 2, 2)]))
      .toEqual(['rejected:quarantined', 'accepted@2']);
    // Also a late one, which names the epoch before.
    expect(await verdicts(bench.store, [batch('a', 4, 1)])).toEqual(['rejected:quarantined']);
    expect(await bench.store.quarantines!(idOf('s'), 5)).toEqual([stored]);
    expect(await bench.store.quarantineOf!(idOf('s'), idOf('b'))).toBeNull();
  });
}

function releaseTests(bench: Bench): void {
  beforeEach(async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    await finishEpoch(bench.store, 1, 0);
  });

  it('appends to the log, the next index only, each epoch once', async () => {
    const { store } = bench;
    await store.storeRelease(release(0, 1));
    await expect(store.storeRelease(release(0, 1, { body: new Uint8Array(4) }))).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(store.storeRelease(release(0, 1, { signature: new Uint8Array(64) }))).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(store.storeRelease(release(1, 1))).rejects.toMatchObject({ code: 'invariant' });
    await store.openEpoch(epochOf(2));
    await store.beginClose(idOf('s'), 2n);
    await store.chargeEpoch(idOf('s'), 2n, '[]', 8_000);
    for (const index of [0, 2]) await expect(store.storeRelease(release(index, 2))).rejects
      .toMatchObject({ code: 'invariant' });
    await expect(store.storeRelease(release(1, 2, { digest: 'short' }))).rejects
      .toMatchObject({ code: 'invariant' });
    await store.storeRelease(release(1, 2));
    expect(await store.study(idOf('s'))).toMatchObject(
      { releaseCount: 2, lastDigest: release(1, 2).digest, lastEpoch: 2n });
    await bench.reopen();
    const log = await bench.store.releases(idOf('s'), 0, 10);
    expect(log.map(({ index, epoch }) => [index, epoch])).toEqual([[0, 1n], [1, 2n]]);
    const { nowMs, ...expected } = release(1, 2);
    expect([nowMs, log[1]]).toEqual([9_000, expected]);
    expect(await bench.store.releases(idOf('s'), 1, 10)).toEqual([expected]);
    expect(await bench.store.releases(idOf('s'), 0, 1)).toHaveLength(1);
    // A page ends with the release that reaches the bound, so that one larger than it is read too.
    expect(await bench.store.releases(idOf('s'), 0, 10, 1)).toHaveLength(1);
    const both = log.reduce((bytes, { body }) => bytes + body.length, 0);
    expect(await bench.store.releases(idOf('s'), 0, 10, both)).toHaveLength(log.length);
  });
}

function filesHold(directory: string, marker: Buffer): boolean {
  return readdirSync(directory)
    .some((file) => readFileSync(join(directory, file)).includes(marker));
}

/** Expects a marker in the files, or none: of a store that keeps its files there. */
type ExpectFiles = (directory: string, marker: Buffer, holds: boolean) => void;

function purgeTests(bench: Bench, erases: boolean): void {
  beforeEach(async () => { await bench.store.registerStudy(registration()); });

  const expectFiles: ExpectFiles = (directory, marker, holds) => {
    if (erases) expect(filesHold(directory, marker)).toBe(holds);
  };

  it('leaves no byte of the rows in any file, whatever their size', async () => {
    const { store, directory } = bench;
    await store.registerStudy(
      registration({ studyId: idOf('t'), name: 't', budget: budget({ key: 'study:t' }) }),
    );
    const marker = Buffer.from('marked-row-bytes');
    const secret = Buffer.from('assignment-secret-of-the-epoch!!');
    await store.openEpoch(epochOf(1, { rowsMax: 100, assignmentKey: new Uint8Array(secret) }));
    await store.openEpoch(epochOf(1, { studyId: idOf('t') }));
    const sizes = [32, 300, 1_500, 4_096, 9_000, 65_536, 300_000];
    for (let i = 0; i < 140; i++) {
      const body = Buffer.alloc(sizes[i % sizes.length]!);
      for (let at = 0;
          at + marker.length <= body.length; at += marker.length) marker.copy(body, at);
      body[0] = i;
      // Rows of another study lie in between, so that pages are kept and rebalanced, not only
      // freed.
      await store.admit([batch(`c${i}`, 1, 1, { body }),
        batch(`c${i}`, 1, 1, { studyId: idOf('t'), content: `kept ${i}`.repeat(40) })]);
    }
    expectFiles(directory, marker, true);
    expectFiles(directory, secret, true);
    await finishEpoch(store, 1, 0);
    expect(await store.unpurgedEpochs(idOf('s'))).toEqual([{ epoch: 1n, releasedAtMs: 9_000 }]);
    await store.purgeEpoch(idOf('s'), 1n);
    expectFiles(directory, marker, false);
    expectFiles(directory, secret, false);
    expect(await store.unpurgedEpochs(idOf('s'))).toEqual([]);
    expect(await store.journal(idOf('s'), 1n, 0n, 10)).toEqual([]);
    expect(await store.journal(idOf('t'), 1n, 0n, 1_000)).toHaveLength(140);
    expect(await store.epoch(idOf('s'), 1n))
      .toMatchObject({ state: 'released', assignmentKey: new Uint8Array(0) });
    await store.purgeEpoch(idOf('s'), 1n);
  });

  it('keeps rows that are still needed', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1)]);
    await expect(store.purgeEpoch(idOf('s'), 1n)).rejects.toMatchObject({ code: 'invariant' });
    await store.beginClose(idOf('s'), 1n);
    await store.chargeEpoch(idOf('s'), 1n, '[]', 8_000);
    await expect(store.purgeEpoch(idOf('s'), 1n)).rejects.toMatchObject({ code: 'invariant' });
    expect(await store.journal(idOf('s'), 1n, 0n, 10)).toHaveLength(1);
  });

  it('purges an epoch that lapsed', async () => {
    await bench.store.openEpoch(epochOf(1));
    await bench.store.admit([batch('a', 1, 1)]);
    await bench.store.lapseEpoch(idOf('s'), 1n, 4_000);
    await bench.store.purgeEpoch(idOf('s'), 1n);
    expect(await bench.store.journal(idOf('s'), 1n, 0n, 10)).toEqual([]);
  });

  it('never counts a purged batch again, and never reuses a position', async () => {
    const { store } = bench;
    const old = [batch('a', 1, 1), batch('a', 3, 1), batch('a', 4, 1, { rejectAs: 'not-finite' })];
    await store.openEpoch(epochOf(1));
    const positions = (await store.admit(old)).map((result) => result.position);
    await finishEpoch(store, 1, 0);
    await store.openEpoch(epochOf(2));
    await store.purgeEpoch(idOf('s'), 1n);
    // The epoch before the open one can still be named: verdicts are remembered.
    const remembered = ['duplicate@1', 'duplicate@1', 'rejected:not-finite'];
    expect(await verdicts(store, old)).toEqual(remembered);
    expect(await verdicts(store, [batch('a', 1, 2, { content: 'other' })]))
      .toEqual(['rejected:mutated']);
    await finishEpoch(store, 2, 1);
    await store.openEpoch(epochOf(3));
    await store.purgeEpoch(idOf('s'), 2n);
    await bench.reopen();
    // Now digests are forgotten, but not that the sequences were used, nor which of them did not
    // count.
    const forgotten = [...old, batch('a', 3, 3, { content: 'other' })];
    expect(await verdicts(bench.store, forgotten)).toEqual(
      ['duplicate', 'duplicate', 'rejected:not-finite', 'duplicate']);
    expect(await bench.store.contributorState(idOf('s'), idOf('a'))).toMatchObject(
      { nextSequence: 5n, holes: [2n] });
    const [next] = await bench.store.admit([batch('a', 2, 3)]);
    expect(next).toMatchObject({ verdict: 'accepted', epoch: 3n });
    expect(next!.position > positions[1]!).toBe(true);
    expect((await verdicts(bench.store, [...forgotten, batch('a', 5, 3)])).slice(2)).toEqual(
      ['rejected:not-finite', 'duplicate', 'accepted@3']);
    expect(await verdicts(bench.store, [forgotten[2]!])).toEqual(['rejected:not-finite']);
  });

  it('holds no plain digest of a body: few possible rows could be guessed from it', async () => {
    const { store, directory } = bench;
    await store.openEpoch(epochOf(1));
    const batches = [batch('a', 1, 1), batch('b', 1, 1, { rejectAs: 'not-finite' })];
    await store.admit(batches);
    for (const one of batches) {
      expectFiles(directory, Buffer.from(one.digest.subarray(0, 16)), false);
    }
  });

  it('admits while it purges', async () => {
    const { store } = bench;
    await store.openEpoch(epochOf(1));
    await store.admit(Array.from({ length: 3_000 }, (_, i) => batch(`c${i}`, 1, 1)));
    await finishEpoch(store, 1, 0);
    await store.openEpoch(epochOf(2));
    const purged = store.purgeEpoch(idOf('s'), 1n);
    expect(await verdicts(store, [batch('c0', 2, 2)])).toEqual(['accepted@2']);
    await purged;
    expect(await store.journal(idOf('s'), 2n, 0n, 10)).toHaveLength(1);
  });
}

function lifeTests(bench: Bench, open: StoreFactory, isExclusive: boolean): void {
  it.runIf(isExclusive)('refuses a second writer, and is free again after closing', async () => {
    await expect(open(bench.directory)).rejects.toMatchObject({ code: 'data-folder-in-use' });
    await bench.store.close();
    const second = await open(bench.directory);
    await second.close();
    bench.store = await open(bench.directory);
  });

  it('finishes what was begun when it closes, and refuses later calls', async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    const begun = Array.from({ length: 20 }, (_, i) => bench.store.admit([batch(`c${i}`, 1, 1)]));
    await bench.store.close();
    for (const [result] of await Promise.all(begun)) {
      expect(result).toMatchObject({ verdict: 'accepted' });
    }
    await expect(bench.store.admit([batch('d', 1, 1)])).rejects.toMatchObject({ code: 'closed' });
    await expect(bench.store.studies()).rejects.toMatchObject({ code: 'closed' });
    await bench.store.close();
    bench.store = await open(bench.directory);
    expect(await bench.store.journal(idOf('s'), 1n, 0n, 100)).toHaveLength(20);
  });

  it('executes a writing call after the batches handed over before it', async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    const early = verdicts(bench.store, [batch('a', 1, 1)]);
    await bench.store.beginClose(idOf('s'), 1n);
    expect(await early).toEqual(['accepted@1']);
  });

  it('answers many concurrent calls, each with its own results', async () => {
    await bench.store.registerStudy(registration());
    await bench.store.openEpoch(epochOf(1));
    const calls = Array.from({ length: 200 }, (_, i) =>
      bench.store.admit([batch(`c${i % 50}`, 1 + Math.floor(i / 50), 1)]));
    const positions = (await Promise.all(calls)).map(([result]) => result!.position);
    expect(new Set(positions).size).toBe(200);
    const health = await bench.store.health();
    expect(health.batches).toBe(200);
    expect(health.commits).toBeGreaterThan(0);
    expect(health.commitSeconds99).toBeGreaterThanOrEqual(health.commitSecondsMedian);
    expect(health.fileBytes).toBeGreaterThan(0);
    expect(await bench.store.admit([])).toEqual([]);
  });
}
