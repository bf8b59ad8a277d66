import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { Store } from '../../server/store/contract.js';
import { importFolder } from '../../server/store/moving/import-folder.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { connect } from '../../server/store/sqlite/driver.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { HandClock } from '../listener/hand-clock.js';
import { sequenceOf } from '../support/differential/actions.js';
import { Comparison, differenceText, type Pair } from '../support/differential/compare.js';
import { memoryFolder } from '../support/memory-folder.js';
import { MeddlingProxy } from '../support/postgres/meddling-proxy.js';
import { describePostgres, psql, type PostgresServer } from '../support/postgres.js';
import {
  batch, epochOf, finishEpoch, idOf, registration, verdicts,
} from '../support/store-fixtures.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const s = idOf('s');
let folder = '';
beforeEach(() => { folder = mkdtempSync(join(memoryFolder, 'keelson-import-')); });
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const data = (): string => join(folder, 'data');
const inFolder = (directory = data(), clock = systemClock): Promise<Store> =>
  openInlineSqliteStore({ directory, clock });

async function emptyStore(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  await migrateSchema({ url });
  return url;
}

/** Two epochs, one released and one open, with rows in both. */
async function filled(): Promise<void> {
  const store = await inFolder();
  await store.registerStudy(registration());
  await store.openEpoch(epochOf(1));
  expect(await verdicts(store, [batch('a', 1, 1), batch('b', 1, 1, { last: true })]))
    .toEqual(['accepted@1', 'accepted@1!']);
  await finishEpoch(store, 1, 0);
  await store.close();
  // As after many rows, so that the numbers of PostgreSQL do not begin behind them by themselves.
  const database = connect(join(data(), 'keelson.db'));
  database.exec("INSERT INTO meta VALUES ('journal_position', 200000000)");
  database.close();
  return openedAgain();
}

async function openedAgain(): Promise<void> {
  const store = await inFolder();
  await store.openEpoch(epochOf(2));
  await verdicts(store, [batch('a', 2, 2), batch('c', 1, 2, { last: true })]);
  await store.close();
}

/** Sequences with a restart in the middle, at which the second store moves. */
const restarting = Array.from({ length: 400 }, (_, i) => i + 1).filter((seed) => {
  const { actions } = sequenceOf(seed);
  const at = actions.findIndex(({ kind }) => kind === 'reopen');
  return at > 12 && at < actions.length - 8;
});

describePostgres('the store of a data folder that is moved into PostgreSQL', (server) => {
  it.each(restarting.slice(0, 4))('has the answers of one that stays: sequence %i',
    { tags: ['slow'], timeout: 120_000 }, async (seed) => {
      const clock = new HandClock();
      clock.advance(1_760_000_000_000);
      const url = await emptyStore(server());
      const here = join(folder, 'here');
      let isMoved = false;
      const pair: Pair & { stores: [Store, Store] } = {
        clock, stores: [await inFolder(here, clock), await inFolder(data(), clock)],
        async reopen() {
          for (const store of pair.stores) await store.close();
          if (!isMoved) {
            const { rows } = await importFolder(data(), { url }, encryptionKeys);
            expect(rows).not.toBeNull();
          }
          isMoved = true;
          pair.stores = [
            await inFolder(here, clock),
            await openPostgresStore({ encryptionKeys, url, nowMs: () => clock.nowMs() }),
          ];
        },
      };
      try {
        const comparison = new Comparison(pair);
        // What other sequences have left moves too.
        for (const each of [seed + 1_000, seed + 2_000, seed]) {
          const found = await comparison.compare(each);
          expect(found === null ? '' : differenceText(found)).toBe('');
        }
        expect(isMoved).toBe(true);
      } finally {
        for (const store of pair.stores) await store.close();
      }
    });

  it('goes on with its open epoch, and is not opened in the folder any more', async () => {
    await filled();
    const url = await emptyStore(server());
    const { store: name, rows } = await importFolder(data(), { url }, encryptionKeys);
    expect(rows).toMatchObject({ studies: 1, epochs: 2, contributors: 3, releases: 1, ledger: 3 });
    const store = await openPostgresStore({ encryptionKeys, url });
    expect(await store.tally(s, 2n)).toEqual({ contributors: 2, complete: 1 });
    expect(await verdicts(store, [batch('a', 2, 2), batch('a', 3, 2), batch('d', 1, 2)]))
      .toEqual(['duplicate@2', 'accepted@2', 'accepted@2']);
    const withdrawal = { studyId: s, epoch: 2n, signature: new Uint8Array(64), nowMs: 5 };
    await store.withdraw({ ...withdrawal, contributor: idOf('c') });
    expect(await store.tally(s, 2n)).toEqual({ contributors: 2, complete: 0 });
    const kept = await store.journal(s, 2n, 0n, 9);
    expect(kept.map(({ body }) => Buffer.from(body).toString())).toEqual(['a/2', 'a/3', 'd/1']);
    await store.close();
    await expect(inFolder()).rejects
      .toThrow(new RegExp(`moved to the PostgreSQL store ${name}: serve`));
    const into = async (address: string): Promise<unknown> =>
      importFolder(data(), { url: address }, encryptionKeys);
    expect(await into(url)).toEqual({ store: name, rows: null });
    await expect(into(await emptyStore(server()))).rejects
      .toThrow(new RegExp(`were moved to the store ${name}, and this is`));
  });

  it('counts who took rows back before, and who does so afterwards', async () => {
    await filled();
    const withdrawal = { studyId: s, epoch: 2n, signature: new Uint8Array(64), nowMs: 5 };
    const before = await inFolder();
    await before.withdraw({ ...withdrawal, contributor: idOf('c') });
    await before.close();
    const url = await emptyStore(server());
    await importFolder(data(), { url }, encryptionKeys);
    const store = await openPostgresStore({ encryptionKeys, url });
    expect(await store.tally(s, 2n)).toEqual({ contributors: 1, complete: 0 });
    await store.withdraw({ ...withdrawal, contributor: idOf('a') });
    expect(await store.tally(s, 2n)).toEqual({ contributors: 0, complete: 0 });
    expect(await store.journal(s, 2n, 0n, 9)).toEqual([]);
    await store.close();
  });

  it('is refused where there is none, it is in use, or the tables are not empty', async () => {
    const url = await emptyStore(server());
    await expect(importFolder(data(), { url }, encryptionKeys)).rejects.toThrow(/there is no store in/);
    await filled();
    const open = await inFolder();
    await expect(importFolder(data(), { url }, encryptionKeys)).rejects
      .toMatchObject({ code: 'data-folder-in-use' });
    await open.close();
    const other = await openPostgresStore({ encryptionKeys, url });
    await other.registerStudy(registration());
    await other.close();
    await expect(importFolder(data(), { url }, encryptionKeys)).rejects
      .toThrow(/a store with studies.*an empty one/);
    const empty = await server().createDatabase();
    await expect(importFolder(data(), { url: empty }, encryptionKeys)).rejects
      .toThrow(/no store yet: run keelson store init/);
    await (await inFolder()).close();
  });

  it.each([
    ['changes', 'new.rho = new.rho + 1; return new'], ['leaves out', 'return null'],
  ])('stays in the folder when the database %s a row', async (_, body) => {
    await filled();
    const url = await emptyStore(server());
    await psql(url, `set search_path = keelson; create function meddle() returns trigger
      language plpgsql as $$ begin ${body}; end $$;
      create trigger meddle before insert on ledger for each row when (new.kind = 'charged')
      execute function meddle()`);
    await expect(importFolder(data(), { url }, encryptionKeys)).rejects
      .toThrow(/the row entry_id \d of ledger is not the same.*nothing was moved/);
    expect(await psql(url, 'select count(*) from keelson.studies')).toBe('0');
    await (await inFolder()).close();
    await psql(url, 'drop trigger meddle on keelson.ledger');
    expect((await importFolder(data(), { url }, encryptionKeys)).rows).not.toBeNull();
  });

  it.each([['before', 1], ['after', 0]] as const)('is moved once when the connection is cut %s the '
    + 'commit', async (cut, again) => {
    await filled();
    const url = await emptyStore(server());
    const { proxy, url: through } = await MeddlingProxy.start(url);
    try {
      proxy.planned.push({ marker: 'COMMIT', cut });
      await expect(importFolder(data(), { url: through }, encryptionKeys)).rejects
        .toThrow(/It is not known whether all was moved: run the same command again/);
      expect(proxy.planned).toEqual([]);
    } finally {
      await proxy.stop();
    }
    await expect(inFolder()).rejects.toThrow(/run it again first/);
    const { rows } = await importFolder(data(), { url }, encryptionKeys);
    expect(rows?.['studies'] ?? 0).toBe(again);
    expect(await psql(url, 'select count(*) from keelson.ledger')).toBe('3');
  });
}, ['long']);
