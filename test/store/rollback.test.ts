import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../server/base/clock.js';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import type { BudgetSpec, Store } from '../../server/store/contract.js';
import type { Rollback } from '../../server/store/records.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import { define } from '../support/hub-bench.js';
import {
  amount, batch, budget, epochOf, finishEpoch, idOf, registration, release, verdicts,
} from '../support/store-fixtures.js';

let root: string;
let directory: string;
const path = (name: string): string => join(directory, name);
const mark = (): string => path('keelson.mark');
const open = (acceptRollback = false): Promise<Store> =>
  openBy(systemClock, acceptRollback);

async function openBy(clock: Clock, acceptRollback: boolean): Promise<Store> {
  const store = await openInlineSqliteStore({ directory, clock, acceptRollback });
  if (acceptRollback) await store.acceptRollback!(clock.nowMs());
  return store;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keelson-rollback-'));
  directory = join(root, 'data');
});
afterEach(() => { rmSync(root, { recursive: true, force: true }); });

const databaseNames = ['keelson.db', 'keelson.db-wal', 'keelson.db-shm'];

function removeDatabase(): void {
  for (const name of databaseNames) rmSync(path(name), { force: true });
}

/** The database as it is now, for later; the store may be open. */
function copyDatabase(): string {
  const copy = mkdtempSync(join(root, 'copy-'));
  for (const name of databaseNames) {
    if (existsSync(path(name))) cpSync(path(name), join(copy, name));
  }
  return copy;
}

function putBack(copy: string): void {
  removeDatabase();
  cpSync(copy, directory, { recursive: true });
}

async function runEpochs(store: Store, from: number, to: number): Promise<void> {
  for (let epoch = from; epoch <= to; epoch++) {
    await store.openEpoch(epochOf(epoch));
    await finishEpoch(store, epoch, epoch - 1);
  }
}

/** Two epochs are released, the database is copied, and three more are released. */
async function folderWithCopy(spec: Partial<BudgetSpec> = {}): Promise<string> {
  const store = await open();
  await store.registerStudy(registration({ budget: budget(spec) }));
  await runEpochs(store, 1, 2);
  const copy = copyDatabase();
  await runEpochs(store, 3, 5);
  await store.close();
  return copy;
}

const refusal = { name: 'StorageError', code: 'data-folder-rolled-back' };
const behind = {
  ...refusal,
  details: { ledgerFound: '4', ledgerMarked: '10', releasesFound: 2, releasesMarked: 5 },
  message:
    /4 entries and its logs 2 releases, the mark knows 10 and 5 \(s lacks some\).*--accept-rollback/,
};

describe('a database that is older than its mark', () => {
  it('is refused with both positions, on either thread, until the newest one is back', async () => {
    const copy = await folderWithCopy();
    const newest = copyDatabase();
    putBack(copy);
    await expect(open()).rejects.toMatchObject(behind);
    await expect(openSqliteStore({ directory, clock: systemClock })).rejects.toMatchObject(behind);
    putBack(newest);
    await (await open()).close();
  });

  it('is accepted once: what is missing is charged, and no epoch number comes again', async () => {
    putBack(await folderWithCopy());
    const store = await open(true);
    expect(await store.balance('study:s'))
      .toMatchObject({ rhoSpent: 500n, deltaSpent: 50n, rhoReserved: 0n });
    expect(await store.study(idOf('s'))).toMatchObject({ lastEpoch: 5n, releaseCount: 2 });
    expect((await store.ledgerEntries('study:s', 1))[0])
      .toMatchObject({ kind: 'rollback', epoch: 5n, rho: 300n, delta: 30n, events: '' });
    const accepted = [{ ledger: { found: 4, marked: 10 }, releases: { found: 2, marked: 5 } }];
    expect(await store.rollbacks!()).toMatchObject(accepted);
    await expect(store.openEpoch(epochOf(5))).rejects.toThrow('epoch numbers only increase');
    await store.openEpoch(epochOf(6));
    await finishEpoch(store, 6, 2);
    await store.close();
    // From now on the folder is like any other.
    const again = await open();
    expect(await again.balance('study:s')).toMatchObject({ rhoSpent: 600n });
    await again.close();
    const reader = await openSqliteReader(directory);
    expect(await reader.rollbacks()).toMatchObject(accepted);
    await reader.close();
  });

  it('changes nothing before it is accepted', async () => {
    putBack(await folderWithCopy());
    for (const opened of [openInlineSqliteStore, openSqliteStore]) {
      const store = await opened({ directory, clock: systemClock, acceptRollback: true });
      const early = /an older database is accepted before/;
      await expect(store.openEpoch(epochOf(3))).rejects.toThrow(early);
      await expect(store.registerStudy(registration())).rejects.toThrow(early);
      await expect(store.admit([batch('a', 1, 3)])).rejects.toThrow(early);
      // The clock is checked and repaired before.
      await store.repairTimes!(systemClock.nowMs(), false);
      expect(await store.rollbacks!()).toEqual([]);
      expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 200n });
      await store.close();
    }
    await expect(open()).rejects.toMatchObject(behind);
  });

  it('is asked for again when the accepting start is cut off before the mark, and charged '
    + 'once', async () => {
    putBack(await folderWithCopy());
    const before = readFileSync(mark());
    await (await open(true)).close();
    writeFileSync(mark(), before);
    await expect(open()).rejects.toMatchObject(refusal);
    const store = await open(true);
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 500n });
    await store.close();
  });

  it('is found when it is empty, or gone, and its study and budget are made anew', async () => {
    await folderWithCopy();
    removeDatabase();
    await expect(open()).rejects
      .toMatchObject({ ...refusal, details: { ledgerFound: '0', ledgerMarked: '10' } });
    removeDatabase();
    writeFileSync(path('keelson.db'), '');
    await expect(open()).rejects.toMatchObject(refusal);
    const store = await open(true);
    expect(await store.registerStudy(registration()))
      .toMatchObject({ lastEpoch: 5n, releaseCount: 0 });
    expect(await store.balance('study:s'))
      .toMatchObject({ rhoSpent: 500n, deltaSpent: 50n, rhoCap: 1_000n });
    // Five epochs were paid for before, so five fit.
    await store.openEpoch(epochOf(6, { rho: amount(500) }));
    await store.beginClose(idOf('s'), 6n);
    expect(await store.openEpoch(epochOf(7, { rho: amount(1) })))
      .toMatchObject({ kind: 'declined' });
    await store.close();
  });

  it('is found when its log was truncated', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await runEpochs(store, 1, 2);
    const copy = copyDatabase();
    await store.close();
    truncateSync(join(copy, 'keelson.db-wal'), 0);
    putBack(copy);
    await expect(open()).rejects.toMatchObject(refusal);
  });

  it('is found when a release alone is missing, and its epoch gets no other', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.beginClose(idOf('s'), 1n);
    await store.chargeEpoch(idOf('s'), 1n, '["events 1"]', 8_000);
    const copy = copyDatabase();
    await store.storeRelease(release(0, 1));
    await store.close();
    putBack(copy);
    await expect(open()).rejects
      .toMatchObject({ ...refusal, details: { releasesFound: 0, releasesMarked: 1 } });
    const again = await open(true);
    expect(await again.unfinishedEpochs()).toEqual([]);
    expect(await again.balance('study:s')).toMatchObject({ rhoSpent: 100n });
    await again.close();
  });

  it('is found when it is another history of the same length', async () => {
    const copy = await folderWithCopy();
    const newest = copyDatabase();
    putBack(copy);
    const other = await open(true);
    await runEpochsFrom(other, 6, 2, 5);
    await other.close();
    putBack(newest);
    await expect(open()).rejects.toMatchObject(refusal);
  });
});

async function runEpochsFrom(
  store: Store, epoch: number, index: number, count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await store.openEpoch(epochOf(epoch + i, { rho: amount(1) }));
    await finishEpoch(store, epoch + i, index + i);
  }
}

describe('an epoch in progress in an older database', () => {
  it('is closed where it was charged since, with its rows deleted, and goes on where it was '
    + 'not', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    expect(await verdicts(store, [batch('a', 1, 1, { content: 'released-long-ago' })]))
      .toEqual(['accepted@1']);
    await store.beginClose(idOf('s'), 1n);
    await store.openEpoch(epochOf(2));
    expect(await verdicts(store, [batch('a', 2, 2)])).toEqual(['accepted@2']);
    const copy = copyDatabase();
    await finishEpoch(store, 1, 0);
    await store.close();
    putBack(copy);
    const again = await open(true);
    expect(await again.unfinishedEpochs()).toMatchObject([{ epoch: 2n, state: 'open' }]);
    expect(await again.balance('study:s')).toMatchObject({ rhoSpent: 100n, rhoReserved: 100n });
    expect(await again.journal(idOf('s'), 2n, 0n, 9)).toHaveLength(1);
    await again.close();
    const held = databaseNames.some((name) => existsSync(path(name))
      && readFileSync(path(name)).includes('released-long-ago'));
    expect(held).toBe(false);
  });

  it('lapses for charges of another study that do not fit beside it', async () => {
    const shared = budget({ key: 'population:p', scope: 'population', rhoCap: amount(250) });
    const other = { studyId: idOf('t'), name: 't', budget: shared };
    const store = await open();
    await store.registerStudy(registration({ budget: shared }));
    await store.registerStudy(registration(other));
    await store.openEpoch(epochOf(1, { studyId: idOf('t') }));
    const copy = copyDatabase();
    await store.lapseEpoch(idOf('t'), 1n, 5_000);
    await runEpochs(store, 1, 2);
    await store.close();
    putBack(copy);
    const again = await open(true);
    expect(await again.balance('population:p')).toMatchObject({ rhoSpent: 200n, rhoReserved: 0n });
    expect(await again.unfinishedEpochs()).toEqual([]);
    await again.close();
  });
});

describe('what an acceptance charges', () => {
  it('is charged to every contributor, known or not, under contributor scope', async () => {
    putBack(await folderWithCopy({ scope: 'contributor', rhoCap: amount(450) }));
    const store = await open(true);
    await store.openEpoch(epochOf(6));
    const [known] = await store.admit([batch('a', 1, 6)]);
    expect(known).toMatchObject({ verdict: 'accepted', spend: { rho: 400n } });
    expect((await store.contributorState(idOf('s'), idOf('b'))).spend)
      .toEqual({ rho: 300n, delta: 30n, pure: null });
    await finishEpoch(store, 6, 2);
    await store.openEpoch(epochOf(7));
    expect(await verdicts(store, [batch('a', 2, 7), batch('b', 1, 7)]))
      .toEqual(['rejected:contributor-budget-exhausted', 'accepted@7']);
    await store.close();
  });

  it('leaves a budget that renews full for a window, however much is missing', async () => {
    let nowMs = 1_000_000;
    const clock = { ...systemClock, nowMs: () => nowMs };
    const at = (accept = false): Promise<Store> => openBy(clock, accept);
    const run = async (store: Store, epoch: number): Promise<void> => {
      nowMs += 400;
      await store.openEpoch(epochOf(epoch, { opensAtMs: nowMs }));
      await store.beginClose(idOf('s'), BigInt(epoch));
      await store.chargeEpoch(idOf('s'), BigInt(epoch), '[]', nowMs);
    };
    const store = await at();
    await store.registerStudy(
      registration({ nowMs, budget: budget({ rhoCap: amount(300), windowMs: 1_000 }) }),
    );
    await run(store, 1);
    const copy = copyDatabase();
    for (let epoch = 2; epoch <= 6; epoch++) await run(store, epoch);
    await store.close();
    putBack(copy);
    const again = await at(true);
    expect(await again.balance('study:s')).toMatchObject({ rhoSpent: 300n });
    expect(await again.openEpoch(epochOf(7, { opensAtMs: nowMs })))
      .toMatchObject({ kind: 'declined' });
    nowMs += 1_001;
    expect(await again.openEpoch(epochOf(8, { opensAtMs: nowMs })))
      .toMatchObject({ kind: 'opened' });
    await again.close();
  });
});

describe('a start that accepts a rollback', () => {
  it('charges nothing by a clock that cannot be right', async () => {
    const dayMs = 86_400_000;
    const nowMs = systemClock.nowMs();
    const before = await open();
    await before.registerStudy(registration({ nowMs }));
    await before.openEpoch(epochOf(1, { opensAtMs: nowMs }));
    const copy = copyDatabase();
    await before.beginClose(idOf('s'), 1n);
    await before.chargeEpoch(idOf('s'), 1n, '[]', nowMs);
    await before.close();
    putBack(copy);
    const start = (shiftMs: number): Promise<Aggregator> => {
      const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + shiftMs };
      return createAggregator({
        dataDirectory: directory, studies: [define({ epoch: { everyMs: 600_000 } })], port: 0,
        logger: silentLogger, clock, acceptRollback: true,
        openStore: () => openInlineSqliteStore({ directory, clock, acceptRollback: true }),
      });
    };
    for (const shiftMs of [400 * dayMs, -dayMs]) {
      await expect(start(shiftMs)).rejects.toMatchObject({ code: 'clock-implausible' });
    }
    await (await start(0)).close();
    const reader = await openSqliteReader(directory);
    const [{ atMs: acceptedAtMs }] = await reader.rollbacks() as [Rollback];
    const [entry] = await reader.ledgerEntries('study:s', 1);
    await reader.close();
    expect(entry).toMatchObject({ kind: 'rollback', rho: 100n });
    for (const atMs of [acceptedAtMs, entry!.atMs]) {
      expect(Math.abs(atMs - nowMs)).toBeLessThan(3_600_000);
    }
  });
});

describe('a folder without a mark', () => {
  it('is refused when there was one, and what is accepted then says that nothing is '
    + 'known', async () => {
    await folderWithCopy();
    rmSync(mark());
    await expect(open()).rejects
      .toMatchObject({ ...refusal, message: /keelson\.mark is missing.*operations\.md/ });
    const store = await open(true);
    expect(await store.rollbacks!()).toMatchObject([{ ledger: { found: 10, marked: null } }]);
    await store.close();
    await (await open()).close();
  });

  it('releases no epoch of the copy, since that may have its release already', async () => {
    const store = await open();
    await store.registerStudy(registration({ budget: budget() }));
    await runEpochs(store, 1, 2);
    await store.openEpoch(epochOf(3));
    await store.admit([batch('a', 1, 3)]);
    const open3 = copyDatabase();
    await finishEpoch(store, 3, 2);
    await store.openEpoch(epochOf(4));
    await store.beginClose(idOf('s'), 4n);
    await store.chargeEpoch(idOf('s'), 4n, '[]', 0);
    const charged4 = copyDatabase();
    await store.close();
    for (const [copy, epoch] of [[open3, 3n], [charged4, 4n]] as const) {
      putBack(copy);
      rmSync(mark(), { force: true });
      const restored = await open(true);
      expect(await restored.unfinishedEpochs()).toEqual([]);
      expect(await restored.epoch(idOf('s'), epoch)).toMatchObject({ state: 'lapsed' });
      expect(await restored.journal(idOf('s'), epoch, 0n, 10, 1e6)).toEqual([]);
      expect(await restored.balances()).toMatchObject([{ rhoReserved: 0n }]);
      await restored.openEpoch(epochOf(Number(epoch) + 1));
      await restored.close();
    }
  });

  it('is refused when it has a key and an empty database, and taken as new when it has '
    + 'neither', async () => {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(path('server.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    await expect(open()).rejects.toMatchObject({ ...refusal, message: /server\.key from before/ });
    await (await open(true)).close();
    await (await open()).close();
    rmSync(directory, { recursive: true });
    await (await open()).close();
    expect(existsSync(mark())).toBe(true);
  });

  it('gets one when an older version wrote it', async () => {
    await folderWithCopy();
    rmSync(mark());
    const database = connect(path('keelson.db'));
    database.exec("DELETE FROM meta WHERE name = 'marked'");
    database.close();
    await (await open()).close();
    expect(readFileSync(mark(), 'utf8')).toContain('"ledger":"10"');
  });

  it('is distinguished from one whose mark is damaged, or of a newer version', async () => {
    await folderWithCopy();
    const text = readFileSync(mark(), 'utf8');
    writeFileSync(mark(), text.replace('"releases":5', '"releases":1'));
    await expect(open(true)).rejects
      .toMatchObject({ code: 'storage-failed', message: /is damaged/ });
    writeFileSync(mark(), text.replace('mark 2', 'mark 3'));
    await expect(open()).rejects.toMatchObject({ code: 'schema-too-new' });
  });
});

describe('the order of database and mark', () => {
  it('never refuses a start that a crash left with a charge that is not in the mark', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await runEpochs(store, 1, 1);
    const before = readFileSync(mark());
    await runEpochs(store, 2, 2);
    await store.close();
    writeFileSync(mark(), before);
    writeFileSync(`${mark()}.draft`, 'half of a dra');
    const again = await open();
    expect(await again.rollbacks!()).toEqual([]);
    expect(readFileSync(mark(), 'utf8')).toContain('"releases":2');
    await again.close();
  });

  it('charges nothing when the mark cannot be written, and charges later', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.beginClose(idOf('s'), 1n);
    mkdirSync(`${mark()}.draft`);
    await expect(store.chargeEpoch(idOf('s'), 1n, '[]', 8_000))
      .rejects.toMatchObject({ code: 'storage-failed', details: { reason: 'ERR_FS_EISDIR' } });
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 0n });
    rmSync(`${mark()}.draft`, { recursive: true });
    expect(await store.chargeEpoch(idOf('s'), 1n, '[]', 8_000))
      .toMatchObject({ isMine: true, balance: { rhoSpent: 100n } });
    await store.close();
  });

  it('has a charge in the mark before the caller is answered', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.beginClose(idOf('s'), 1n);
    await store.chargeEpoch(idOf('s'), 1n, '[]', 8_000);
    expect(readFileSync(mark(), 'utf8'))
      .toContain('"charged":{"rho":"100","delta":"10","pure":null}');
    await store.close();
  });
});

describe('the series of running totals', () => {
  it('end where an older database is accepted, also without a mark', async () => {
    const left = [{ question: 'answer', sealed: Uint8Array.of(1, 2, 3) }];
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.beginClose(idOf('s'), 1n);
    await store.chargeEpoch(idOf('s'), 1n, '[]', 8_000);
    await store.storeRelease(release(0, 1, { series: left }));
    expect(await store.series!(idOf('s'))).toEqual(left);
    const copy = copyDatabase();
    // A release that leaves nothing ends them, too.
    await runEpochs(store, 2, 2);
    expect(await store.series!(idOf('s'))).toEqual([]);
    await store.close();
    putBack(copy);
    rmSync(mark());
    const again = await open(true);
    expect(await again.series!(idOf('s'))).toEqual([]);
    await again.close();
  });
});
