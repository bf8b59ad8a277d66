import { execFileSync } from 'node:child_process';
import {
  mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, pragma } from '../../server/store/sqlite/driver.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import { migrations } from '../../server/store/sqlite/migrations/index.js';
import { newKeysSchema } from '../../server/store/sqlite/migrations/0005-new-keys.js';
import { keyRoomsSchema } from '../../server/store/sqlite/migrations/0010-key-rooms.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import type { Store } from '../../server/store/contract.js';
import {
  amount, batch, budget, epochOf, finishEpoch, idOf, registration, release, verdicts, withoutPure,
} from '../support/store-fixtures.js';

let directory: string;
const file = (): string => join(directory, 'keelson.db');
const openInline = (): Promise<Store> => openInlineSqliteStore({ directory, clock: systemClock });
const openThreaded = (): Promise<Store> => openSqliteStore({ directory, clock: systemClock });

/** Changes the closed file as a mistaken hand would. */
function tamper(statement: string): void {
  const database = connect(file());
  database.exec(statement);
  database.close();
}

const filesHold = (bytes: Uint8Array): boolean =>
  readdirSync(directory)
    .some((name) => readFileSync(join(directory, name)).includes(Buffer.from(bytes)));

beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'keelson-file-')); });
afterEach(() => { rmSync(directory, { recursive: true, force: true }); });

describe('opening a data folder', () => {
  it('refuses a newer schema with both numbers, on either thread and for reading', async () => {
    await (await openInline()).close();
    tamper('PRAGMA user_version = 99');
    for (const open of [openInline, openThreaded, () => openSqliteReader(directory)]) {
      await expect(open()).rejects.toMatchObject({
        code: 'schema-too-new', details: { found: 99, supported: migrations.length },
      });
    }
    // A refused open leaves the folder free.
    tamper(`PRAGMA user_version = ${migrations.length}`);
    await (await openInline()).close();
  });

  it('says where only one call failed, on either thread, and goes on', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.close();
    tamper('DROP TABLE journal_1');
    for (const open of [openInline, openThreaded]) {
      const again = await open();
      await expect(again.journal(idOf('s'), 1n, 0n, 9)).rejects.toMatchObject({
        name: 'StorageError', details: { sqliteCode: 'SQLITE_ERROR', scope: 'call' },
      });
      expect(await again.unfinishedEpochs()).toHaveLength(1);
      await again.close();
    }
  });

  it('refuses another program\'s database, and a ledger that does not add up', async () => {
    const foreign = connect(file());
    foreign.exec('CREATE TABLE notes (text); PRAGMA user_version = 3');
    foreign.close();
    await expect(openInline()).rejects
      .toMatchObject({ code: 'storage-failed', message: /another program/ });
    rmSync(file());
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await finishEpoch(store, 1, 0);
    await store.close();
    tamper("UPDATE budgets SET rho_spent = '0'");
    await expect(openThreaded()).rejects
      .toMatchObject({ code: 'storage-failed', message: /does not add up/ });
  });

  it('says so when the folder cannot be made or holds garbage', async () => {
    writeFileSync(join(directory, 'plain'), '');
    const inFile = { directory: join(directory, 'plain', 'data'), clock: systemClock };
    await expect(openInlineSqliteStore(inFile)).rejects
      .toMatchObject({ code: 'storage-failed', details: { reason: 'ENOTDIR' } });
    await expect(openSqliteStore(inFile)).rejects.toMatchObject(
      { code: 'storage-failed', details: { reason: 'ENOTDIR' } });
    writeFileSync(
      file(), 'not a database, but long enough to be taken for the head of one'.repeat(200),
    );
    await expect(openInline()).rejects.toMatchObject({ code: 'storage-failed' });
  });

  it('keeps the folder and its files from other users', async () => {
    const nested = join(directory, 'made', 'here');
    const store = await openInlineSqliteStore({ directory: nested, clock: systemClock });
    await store.registerStudy(registration());
    expect(statSync(nested).mode & 0o777).toBe(0o700);
    for (const name of ['keelson.db', 'keelson.db-wal']) {
      expect(statSync(join(nested, name)).mode & 0o077).toBe(0);
    }
    await store.close();
  });

  it('is refused to a second process, and free after the holder was killed', async () => {
    const script = (then: string) =>
      `import { openSqliteStore } from './dist/server/store/sqlite/open.js';
      import { systemClock } from './dist/server/base/clock.js';
      try { const store = await openSqliteStore({ directory: process.argv[1], clock: systemClock }); ${then} }
      catch (error) { console.log(error.code); process.exit(0); }`;
    const run = (then: string): string => {
      try {
        return execFileSync(
          process.execPath, ['--input-type=module', '-e', script(then), directory],
            { encoding: 'utf8' },
        ).trim();
      } catch (error) {
        return (error as { signal: string }).signal;
      }
    };
    const store = await openInline();
    expect(run("console.log('opened'); await store.close();")).toBe('data-folder-in-use');
    await store.close();
    expect(run("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});"))
      .toBe('SIGKILL');
    await (await openThreaded()).close();
  });
});

describe('the schema', () => {
  it('explains every column in the file itself', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.close();
    const database = connect(file(), { readonly: true });
    const tables = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
      .all() as { name: string; sql: string }[];
    const silent = tables.flatMap(({ name, sql }) =>
      database.prepare<[], { name: string }>(`PRAGMA table_info(${name})`).all()
        .filter((column) => !new RegExp(
          `(^\\s+|, )${column.name} .*(-- |/\\* )\\S+`, 'm').test(sql))
        .map((column) => `${name}.${column.name}`));
    database.close();
    expect(tables.length).toBeGreaterThan(9);
    expect(silent).toEqual([]);
  });
});

describe('a folder that an older program wrote', () => {
  /**
   * The first schema with a study, a charge, an open epoch with rows, and a contributor's own
   * spending.
   */
  async function writeFirstSchema(): Promise<void> {
    const store = await openInline();
    await store.registerStudy(
      registration({ budget: budget({ scope: 'contributor', rhoCap: amount(250) }) }),
    );
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1)]);
    await finishEpoch(store, 1, 0);
    await store.openEpoch(epochOf(2));
    await store.admit([batch('a', 2, 2), batch('b', 1, 2, { last: true })]);
    await store.close();
    // What the second step added is taken away again: the file is what the first one made.
    tamper(`${withoutPure} DROP TABLE budget_windows; `
      + 'DROP TABLE contributor_debits; DROP TABLE epochs_left_out; '
      + 'DROP INDEX ledger_charged; DROP TABLE quarantines; DROP TABLE key_rotations; DROP TABLE '
      + 'new_keys; DROP TABLE withdrawals; DROP TABLE rollback_charges; DROP TABLE rollbacks; '
      + 'DROP TABLE running_series; DROP TABLE running_participations; DROP TABLE epoch_people; '
      + 'PRAGMA user_version = 1');
  }

  it('is refused to a reader, then upgraded with everything in it, and can do what is '
    + 'new', async () => {
    await writeFirstSchema();
    await expect(openSqliteReader(directory)).rejects.toMatchObject({ message: /older schema 1/ });
    const store = await openInline();
    expect((await store.unfinishedEpochs()).map(({ epoch }) => epoch)).toEqual([2n]);
    expect(await store.journal(idOf('s'), 2n, 0n, 9)).toHaveLength(2);
    expect(await store.releases(idOf('s'), 0, 9)).toHaveLength(1);
    expect((await store.contributorState(idOf('s'), idOf('a'))).spend)
      .toEqual({ rho: 200n, delta: 20n, pure: null });
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 100n, rhoCap: 250n });
    expect(await store.balance('study:s')).not.toHaveProperty('windowMs');
    expect(await verdicts(store, [batch('a', 1, 1), batch('b', 2, 2)]))
      .toEqual(['duplicate@1', 'rejected:contribution-full']);
    // Two people came to the open epoch before anybody counted them.
    expect(await store.peopleCount(idOf('s'), 2n)).toBe(2);
    const found = (epoch: number) => batch('c', 1, epoch, { peopleMax: 2 });
    expect(await verdicts(store, [found(2)])).toEqual(['rejected:overloaded']);
    await finishEpoch(store, 2, 1);
    await store.openEpoch(epochOf(3));
    expect(await verdicts(store, [batch('a', 3, 3), batch('b', 3, 3), found(3)]))
      .toEqual(['rejected:contributor-budget-exhausted', 'accepted@3', 'accepted@3']);
    expect(await store.leftOutCount(idOf('s'), 3n)).toBe(1);
    const renewing = budget({ key: 'study:r', windowMs: 1_000 });
    await store.registerStudy(registration({ studyId: idOf('r'), name: 'r', budget: renewing }));
    expect(await store.balance('study:r')).toMatchObject({ windowMs: 1_000 });
    await store.close();
  });

  /** What each later step added; taken away again, the file is what the steps before it made. */
  const added: readonly string[] = [
    'DROP TABLE budget_windows; DROP TABLE contributor_debits; DROP TABLE epochs_left_out; DROP '
      + 'INDEX ledger_charged;',
    'DROP TABLE quarantines;',
    'DROP TABLE key_rotations;',
    'DROP TABLE new_keys;',
    'DROP TABLE withdrawals;',
    'DROP TABLE rollback_charges; DROP TABLE rollbacks;',
    `DROP TABLE new_keys; ${newKeysSchema}`,
    'DROP TABLE running_series; DROP TABLE running_participations;',
    'DROP TABLE key_rooms;',
    `DROP TABLE epoch_people; ${keyRoomsSchema}`,
    withoutPure,
    `ALTER TABLE budgets RENAME COLUMN rule TO newer;
      ALTER TABLE budgets ADD COLUMN rule TEXT NOT NULL DEFAULT 'zcdp'
        CHECK (rule IN ('zcdp', 'pure', 'renyi'));
      UPDATE budgets SET rule = newer; ALTER TABLE budgets DROP COLUMN newer;`,
  ];
  it('is upgraded from every schema there was, and keeps what it holds', async () => {
    expect(added).toHaveLength(migrations.length - 1);
    for (let version = 1; version < migrations.length; version++) {
      const studyId = idOf(`from ${version}`);
      const before = await openInline();
      await before.registerStudy(registration({
        studyId, name: `from ${version}`, budget: budget({ key: `study:${version}` }),
      }));
      await before.openEpoch(epochOf(1, { studyId }));
      await before.admit([batch('a', 1, 1, { studyId })]);
      await before.close();
      tamper(`${added.slice(version - 1).toReversed().join(' ')} PRAGMA user_version = ${version}`);
      const store = await openInline();
      expect(await store.journal(studyId, 1n, 0n, 9)).toHaveLength(1);
      expect(await verdicts(store, [batch('a', 1, 1, { studyId }), batch('a', 2, 1, { studyId })]))
        .toEqual(['duplicate@1', 'accepted@1']);
      await store.close();
    }
  });

  it('gets the pure sum from the events of its charges, and none where it has none', async () => {
    const laplace = (scale: number): string => eventsToJson([{
      kind: 'laplace', name: 'n', cohort: 'all', dimension: 1, grid: 1, sensitivity: 1, scale,
    }]);
    const gaussian = eventsToJson([{
      kind: 'gaussian', name: 'n', cohort: 'all', dimension: 1, grid: 1, sensitivity: 1, sigma: 4,
    }]);
    const charged: Readonly<Record<string, readonly string[]>> = {
      pure: [laplace(4), laplace(2)], mixed: [laplace(4), gaussian], unknown: [laplace(4), '[{}]'],
    };
    const before = await openInline();
    for (const [name, texts] of Object.entries(charged)) {
      const studyId = idOf(name);
      await before.registerStudy(
        registration({ studyId, name, budget: budget({ key: `study:${name}` }) }));
      for (const [i, events] of texts.entries()) {
        const epoch = BigInt(i + 1);
        await before.openEpoch(epochOf(epoch, { studyId }));
        await before.beginClose(studyId, epoch);
        await before.chargeEpoch(studyId, epoch, events, 8_000);
        await before.storeRelease(release(i, i + 1, { studyId }));
      }
    }
    await before.openEpoch(epochOf(3, { studyId: idOf('pure') }));
    await before.close();
    tamper(`${withoutPure} PRAGMA user_version = 11`);
    const store = await openInline();
    const one = 2n ** 64n;
    expect(await store.balance('study:pure')).toMatchObject(
      { pureCap: one, pureSpent: (one * 3n) / 4n, pureReserved: null });
    for (const name of ['mixed', 'unknown']) {
      expect(await store.balance(`study:${name}`))
        .toMatchObject({ pureSpent: null, pureReserved: 0n });
    }
    // The epoch that was open has events when it is charged.
    await store.beginClose(idOf('pure'), 3n);
    await store.chargeEpoch(idOf('pure'), 3n, laplace(8), 8_000);
    expect(await store.balance('study:pure'))
      .toMatchObject({ pureSpent: (one * 7n) / 8n, pureReserved: 0n });
    await store.close();
    await (await openInline()).close();
  });

  it('is upgraded whole or not at all', async () => {
    await writeFirstSchema();
    // The last statement of the step fails.
    tamper('CREATE INDEX ledger_charged ON ledger (at_ms)');
    await expect(openInline()).rejects.toMatchObject({ code: 'storage-failed' });
    const database = connect(file(), { readonly: true });
    expect(pragma(database, 'user_version')).toBe(1n);
    expect(database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'budget_windows'").get())
      .toBeUndefined();
    database.close();
    tamper('DROP INDEX ledger_charged');
    await (await openInline()).close();
  });
});

describe('reading beside a running server', () => {
  it('sees public records and epochs, no secrets, and follows commits', async () => {
    const store = await openThreaded();
    await store.registerStudy(registration());
    const reader = await openSqliteReader(directory);
    expect(await reader.balances()).toMatchObject([{ rhoReserved: 0n }]);
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1)]);
    expect(await reader.balance('study:s')).toMatchObject({ rhoReserved: 100n });
    expect(await reader.unfinishedEpochs()).toMatchObject(
      [{ epoch: 1n, state: 'open', assignmentKey: new Uint8Array(0) }]);
    expect(await reader.epoch(idOf('s'), 1n)).toMatchObject({ workSeed: new Uint8Array(0) });
    await finishEpoch(store, 1, 0);
    expect((await reader.studies())[0]).toMatchObject({ releaseCount: 1 });
    expect(await reader.study(idOf('s'))).toEqual(await store.study(idOf('s')));
    expect(await reader.releases(idOf('s'), 0, 9)).toEqual(await store.releases(idOf('s'), 0, 9));
    expect(await reader.ledgerEntries('study:s', 1)).toMatchObject([{ kind: 'charged' }]);
    await store.close();
    expect(await reader.balances()).toMatchObject([{ rhoSpent: 100n }]);
    await reader.close();
    const later = await openSqliteReader(directory);
    expect(await later.balances()).toMatchObject([{ rhoSpent: 100n }]);
    await later.close();
  });

  it('refuses a folder without a store', async () => {
    mkdirSync(join(directory, 'empty'));
    await expect(openSqliteReader(join(directory, 'empty'))).rejects
      .toMatchObject({ code: 'storage-failed', message: /no store/ });
  });

  it('makes a purge wait while a reader holds an old state', async () => {
    const store = await openThreaded();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.admit([batch('a', 1, 1, { content: 'row-that-must-leave' })]);
    await finishEpoch(store, 1, 0);
    const reader = connect(file(), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM studies').get();
    let purged = false;
    const purge = store.purgeEpoch(idOf('s'), 1n).then(() => { purged = true; });
    for (let i = 0; i < 5; i++) expect(await verdicts(store, [batch('b', i + 1, 9)]))
      .toEqual(['rejected:epoch-not-open']);
    expect(purged).toBe(false);
    expect(await store.unpurgedEpochs(idOf('s'))).toHaveLength(1);
    reader.exec('COMMIT');
    reader.close();
    await purge;
    expect(filesHold(Buffer.from('row-that-must-leave'))).toBe(false);
    expect(await store.unpurgedEpochs(idOf('s'))).toEqual([]);
    await store.close();
  });
});

describe('what a purge forgets', () => {
  it('returns rows of an epoch whole or not at all while it deletes them', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    // More than one step of a purge deletes.
    const count = 6_000;
    await store.admit(
      Array.from({ length: count }, (_, i) => batch(`c${i}`, 1, 1, { last: true })),
    );
    await finishEpoch(store, 1, 0);
    const pages: number[] = [];
    let isDone = false;
    const purge = store.purgeEpoch(idOf('s'), 1n).then(() => { isDone = true; });
    while (!isDone) pages.push((await store.journal(idOf('s'), 1n, 0n, 2 * count)).length);
    await purge;
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.filter((length) => length !== 0 && length !== count)).toEqual([]);
    await store.close();
  });

  it('destroys the keys of fingerprints that no batch can be compared with', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    const keys: Buffer[] = [];
    for (const epoch of [1, 2, 3]) {
      await store.openEpoch(epochOf(epoch));
      const reader = connect(file(), { readonly: true });
      keys.push((reader.prepare(`SELECT fingerprint_key FROM secrets_1_${epoch}`)
        .get() as { fingerprint_key: Buffer }).fingerprint_key);
      reader.close();
      await finishEpoch(store, epoch, epoch - 1);
      await store.purgeEpoch(idOf('s'), BigInt(epoch));
    }
    expect(keys.map((key) => key.length)).toEqual([32, 32, 32]);
    // With epoch 3 the newest, a batch may still be compared with one of epochs 2 and 3.
    expect(keys.map(filesHold)).toEqual([false, true, true]);
    await store.close();
    const database = connect(file(), { readonly: true });
    const left = database.prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE name GLOB 'journal_*' OR name GLOB 'secrets_*' ORDER "
        + 'BY name',
    ).all().map(({ name }) => name);
    database.close();
    expect(left).toEqual(['secrets_1_2', 'secrets_1_3']);
  });

  it('survives a crash between its steps', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await store.admit(Array.from({ length: 1_500 }, (_, i) => batch(`c${i}`, 1, 1)));
    await finishEpoch(store, 1, 0);
    await store.close();
    // As if the process had died after the table was dropped and before the log was truncated.
    tamper('DROP TABLE journal_1; UPDATE epochs SET purged = 1');
    const again = await openInline();
    expect(await again.unpurgedEpochs(idOf('s'))).toEqual([{ epoch: 1n, releasedAtMs: 9_000 }]);
    expect(await again.journal(idOf('s'), 1n, 0n, 10)).toEqual([]);
    await again.purgeEpoch(idOf('s'), 1n);
    expect(await again.unpurgedEpochs(idOf('s'))).toEqual([]);
    await again.close();
  });
});

describe('failures', () => {
  it('rolls a whole list back when one batch cannot be stored, and goes on', async () => {
    const store = await openInline();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    const broken = batch('b', 1, 1, { signature: null as unknown as Uint8Array });
    await expect(store.admit([batch('a', 1, 1), broken])).rejects
      .toMatchObject({ code: 'storage-failed' });
    expect(await store.contributorState(idOf('s'), idOf('a'))).toMatchObject({ nextSequence: 1n });
    const [result] = await store.admit([batch('a', 1, 1)]);
    expect(result).toMatchObject({ verdict: 'accepted', position: 1n });
    await store.close();
  });

  it('carries typed errors over from the store\'s thread', async () => {
    const store = await openThreaded();
    await store.registerStudy(registration());
    await expect(store.storeRelease(release(0, 1))).rejects.toMatchObject(
      { name: 'InvariantError', code: 'invariant', details: { epoch: '1', state: 'absent' } });
    await store.close();
  });
});
