import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BudgetSpec, Store } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import {
  amount, batch, budget, epochOf, idOf, registration, release, verdicts,
} from '../support/store-fixtures.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { memoryFolder } from '../support/memory-folder.js';

const windowMs = 1_000;
let directory: string;
let clock: VirtualClock;
let store: Store;

beforeEach(async () => {
  directory = mkdtempSync(join(memoryFolder, 'keelson-window-'));
  clock = new VirtualClock();
  store = await openInlineSqliteStore({ directory, clock });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

async function reopen(): Promise<void> {
  await store.close();
  store = await openInlineSqliteStore({ directory, clock });
}

const register = (overrides: Partial<BudgetSpec> = {}): Promise<unknown> =>
  store.registerStudy(
    registration({ budget: budget({ rhoCap: amount(250), windowMs, ...overrides }) }),
  );
const open = (epoch: number) => store.openEpoch(epochOf(epoch, { opensAtMs: clock.nowMs() }));

/** Closes, charges at the present time and releases. */
async function finish(epoch: number, index: number): Promise<void> {
  await store.beginClose(idOf('s'), BigInt(epoch));
  await store.chargeEpoch(idOf('s'), BigInt(epoch), `["events ${epoch}"]`, clock.nowMs());
  await store.storeRelease(release(index, epoch));
}

const spent = async (): Promise<bigint> => (await store.balance('study:s'))!.rhoSpent;

it('counts a charge for exactly its window, and says when there is room again', async () => {
  await register();
  await open(1);
  await clock.advance(100);
  await finish(1, 0);
  const firstChargedAt = clock.nowMs();
  await clock.advance(300);
  await open(2);
  await finish(2, 1);
  expect(await spent()).toBe(200n);
  // The third would be 300 of 250; the first charge leaves first, and that is enough.
  expect(await open(3)).toMatchObject({ kind: 'declined', retryAtMs: firstChargedAt + windowMs });
  expect((await store.study(idOf('s')))!.state).toBe('open');
  await clock.advance(windowMs - 301);
  expect(await spent()).toBe(200n);
  expect(await open(3)).toMatchObject({ kind: 'declined' });
  await clock.advance(1);
  expect(await spent()).toBe(100n);
  expect(await open(3))
    .toMatchObject({ kind: 'opened', balance: { rhoSpent: 100n, rhoReserved: 100n } });
  await reopen();
  expect(await store.balance('study:s'))
    .toMatchObject({ rhoSpent: 100n, rhoReserved: 100n, windowMs });
  const declined =
    (await store.ledgerEntries('study:s', 99)).filter(({ kind }) => kind === 'declined');
  expect(declined).toHaveLength(1);
});

it('is exhausted for good by an epoch that not even an empty window pays for', async () => {
  await register();
  const dear = await store.openEpoch(epochOf(1, { rho: amount(251) }));
  expect(dear).toMatchObject({ kind: 'declined' });
  expect(dear).not.toHaveProperty('retryAtMs');
  expect((await store.study(idOf('s')))!.state).toBe('exhausted');
});

it('keeps charge times in order, and charges out, when the clock is set back', async () => {
  await register();
  await open(1);
  await finish(1, 0);
  await clock.advance(5 * windowMs);
  await open(2);
  await finish(2, 1);
  expect(await spent()).toBe(100n);
  clock.jump(-4 * windowMs);
  await open(3);
  await finish(3, 2);
  expect(await spent()).toBe(200n);
  // Adds up again what counts, and refuses totals that do not agree.
  await reopen();
  expect(await spent()).toBe(200n);
  const charges =
    (await store.ledgerEntries('study:s', 99)).filter(({ kind }) => kind === 'charged');
  const times = charges.map(({ atMs }) => atMs);
  expect(times).toEqual([...times].sort((left, right) => right - left));
  await clock.advance(5 * windowMs);
  expect(await spent()).toBe(0n);
  await open(4);
  await finish(4, 3);
  await reopen();
  expect(await spent()).toBe(100n);
});

it('never puts a charge before a renewal that made room for it, whatever the clock '
  + 'does', async () => {
  await register({ rhoCap: amount(100) });
  await open(1);
  await clock.advance(400);
  await finish(1, 0);
  await clock.advance(windowMs);
  // The charge has left, so this opens; then the clock is set back to a moment after the charge.
  expect(await open(2)).toMatchObject({ kind: 'opened' });
  clock.jump(-windowMs + 200);
  await finish(2, 1);
  const charges =
    (await store.ledgerEntries('study:s', 99)).filter(({ kind }) => kind === 'charged');
  const [second, first] = charges.map(({ atMs }) => atMs);
  expect(second! - first!).toBeGreaterThanOrEqual(windowMs);
  await reopen();
  expect(await spent()).toBe(100n);
});

it('counts a charge from the time that it is given, not from when it was made', async () => {
  await register();
  const openedAt = clock.nowMs();
  await open(1);
  await clock.advance(100);
  const closedAt = clock.nowMs();
  await store.beginClose(idOf('s'), 1n);
  await store.openEpoch(epochOf(2, { opensAtMs: closedAt }));
  await clock.advance(300);
  await store.chargeEpoch(idOf('s'), 1n, '["events 1"]', closedAt);
  const entries = await store.ledgerEntries('study:s', 99);
  expect(entries.map(({ kind, atMs }) => [kind, atMs - openedAt]))
    .toEqual([['charged', 100], ['reserved', 100], ['reserved', 0]]);
  expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 100n, rhoReserved: 100n });
  await clock.advance(windowMs - 301);
  expect(await spent()).toBe(100n);
  await clock.advance(1);
  expect(await spent()).toBe(0n);
  await reopen();
  expect(await spent()).toBe(0n);
});

it('judges rows of an epoch that stays open past its close as of that close', async () => {
  await register({ scope: 'contributor', rhoCap: amount(150) });
  const closesAtMs = clock.nowMs() + 100;
  await store.openEpoch(epochOf(1, { opensAtMs: clock.nowMs(), closesAtMs }));
  expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
  await clock.advance(100);
  await store.beginClose(idOf('s'), 1n);
  await store.chargeEpoch(idOf('s'), 1n, '["events 1"]', closesAtMs);
  await store.openEpoch(
    epochOf(2, { opensAtMs: closesAtMs, closesAtMs: closesAtMs + windowMs - 1 }),
  );
  await clock.advance(2 * windowMs);
  // By its stamp the second charge will be less than a window after the first one.
  expect(await verdicts(store, [batch('a', 2, 2), batch('b', 1, 2)]))
    .toEqual(['rejected:contributor-budget-exhausted', 'accepted@2']);
});

it('counts a contributor\'s debit until a window after the charge, however late that '
  + 'came', async () => {
  await register({ scope: 'contributor', rhoCap: amount(150) });
  await open(1);
  expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
  await store.beginClose(idOf('s'), 1n);
  await clock.advance(3 * windowMs);
  // Collected long ago, but nothing was published yet: it counts.
  await open(2);
  expect(await verdicts(store, [batch('a', 2, 2), batch('b', 1, 2)]))
    .toEqual(['rejected:contributor-budget-exhausted', 'accepted@2']);
  await store.chargeEpoch(idOf('s'), 1n, '["events 1"]', clock.nowMs());
  await store.storeRelease(release(0, 1));
  await clock.advance(windowMs - 1);
  const spendOf = async (name: string) =>
    (await store.contributorState(idOf('s'), idOf(name))).spend!.rho;
  expect(await spendOf('a')).toBe(100n);
  await clock.advance(1);
  expect(await spendOf('a')).toBe(0n);
  expect(await spendOf('b')).toBe(100n);
  // Left out is left out for the epoch, and counted once; the next epoch takes it again.
  expect(await verdicts(store, [batch('a', 3, 2)]))
    .toEqual(['rejected:contributor-budget-exhausted']);
  expect(await store.leftOutCount(idOf('s'), 2n)).toBe(1);
  await finish(2, 1);
  await store.purgeEpoch(idOf('s'), 1n);
  expect(await spendOf('b')).toBe(100n);
  await open(3);
  expect(await verdicts(store, [batch('a', 4, 3)])).toEqual(['accepted@3']);
  // A purge forgets who was in which epoch once it no longer counts, and nothing that does.
  await clock.advance(3 * windowMs);
  await store.purgeEpoch(idOf('s'), 2n);
  expect(await spendOf('a')).toBe(100n);
  const file = connect(join(directory, 'keelson.db'), { readonly: true });
  expect(file.prepare('SELECT count(*) AS debits FROM contributor_debits').get())
    .toEqual({ debits: 1n });
  file.close();
  await store.lapseEpoch(idOf('s'), 3n, clock.nowMs());
  expect(await spendOf('a')).toBe(0n);
});
