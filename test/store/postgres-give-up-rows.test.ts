import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { giveUpRows, lostRows } from '../../server/store/postgres/give-up-rows.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { EncryptionKeys } from '../../server/store/postgres/encryption-keys.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import type { SharedStore } from '../../server/store/shared.js';
import { keelson } from '../support/command.js';
import { Stage } from '../support/live-command.js';
import { memoryFolder } from '../support/memory-folder.js';
import { describePostgres, psql } from '../support/postgres.js';
import {
  batch, budget, epochOf, finishEpoch, idOf, registration, release, verdicts,
} from '../support/store-fixtures.js';
import { meanStudy } from '../support/study-files.js';
import { requestPauseMs, until } from '../support/until.js';

const [s, own, kept] = [idOf('s'), idOf('own'), idOf('kept')];

describePostgres('giving up rows whose key is lost', (server) => {
  let url = '';
  let folder = '';
  let lostKey = '';
  const opened: SharedStore[] = [];
  const open = async (): Promise<SharedStore> => {
    const store = await openPostgresStore({ url, encryptionKeys: folder, leaseMs: 600_000 });
    opened.push(store);
    return store;
  };
  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);
  const states = (): Promise<string> => sql(`select string_agg(name || ' ' || epoch || ' ' || e.state
    || ' ' || purged, ', ' order by name, epoch) from epochs as e join studies using (study_key)`);
  const giveUp = (mayBeAll = false) => giveUpRows({ url }, folder, mayBeAll);

  /**
   * Study s has released epoch 1, charged epoch 2 and opened epoch 3. Study own, whose budget is of
   * each contributor, is closing epoch 1. The key of all of them is lost. Study kept has epoch 1
   * open under the key of the next day.
   */
  beforeEach(async () => {
    folder = mkdtempSync(join(memoryFolder, 'keelson-row-keys-'));
    url = await server().createDatabase();
    await migrateSchema({ url });
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await verdicts(store, [batch('a', 1, 1)]);
    await finishEpoch(store, 1, 0);
    await store.openEpoch(epochOf(2));
    await verdicts(store, [batch('a', 2, 2)]);
    await store.beginClose(s, 2n);
    await store.chargeEpoch(s, 2n, '[]', 8_000);
    await store.openEpoch(epochOf(3));
    expect(await verdicts(store, [batch('a', 3, 3), batch('b', 1, 3)]))
      .toEqual(['accepted@3', 'accepted@3']);
    await store.registerStudy(registration({
      studyId: own, name: 'own', budget: budget({ key: 'study:own', scope: 'contributor' }),
    }));
    await store.openEpoch(epochOf(1, { studyId: own }));
    await verdicts(store, [batch('a', 1, 1, { studyId: own })]);
    await store.beginClose(own, 1n);
    await sql("update row_keys set made_at = made_at - interval '1 day'");
    await store.registerStudy(registration({
      studyId: kept, name: 'kept', budget: budget({ key: 'study:kept' }),
    }));
    await store.openEpoch(epochOf(1, { studyId: kept }));
    await verdicts(store, [batch('a', 1, 1, { studyId: kept })]);
    await store.close();
    opened.length = 0;
    lostKey = (await sql('select name from row_keys order by row_key limit 1'));
    rmSync(EncryptionKeys.open(folder).pathOf(lostKey));
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is what a refused start says, and shows what is lost before it does anything', async () => {
    await expect(open()).rejects.toThrow(/from a copy\. If it is lost for ever, "keelson store give-/);
    await sql('delete from nodes');
    const before = await states();
    const { stdout, status } = await keelson(
      ['store', 'give-up-rows', url, '--encryption-keys', folder]);
    expect(status).toBe(0);
    expect(stdout.split('\n').map((line) => line.slice(0, 72))).toEqual([
      `encryption key ${lostKey} is not in ${folder}`.slice(0, 72),
      'epoch        1 of own (closing): ends without a release, and its cost go',
      'epoch        1 of s (released): its rows are deleted, and its release st',
      'epoch        2 of s (charged): ends as interrupted, and its cost stays s',
      'epoch        3 of s (open): ends without a release, and its cost goes ba',
      'nothing is changed yet. First look for the files in copies of the folder',
      '',
    ]);
    expect(await states()).toBe(before);
  });

  it('ends each epoch by its state, and nothing else', async () => {
    const amounts = (): Promise<string> =>
      sql("select rho_spent, rho_reserved from budgets where budget_key = 'study:s'");
    expect(await amounts()).toBe('200|100');
    expect(await sql('select sum(rho) from contributor_spend')).toBe('100');
    expect((await giveUp()).keys).toEqual([lostKey]);
    expect(await states()).toBe(
      'kept 1 open 0, own 1 lapsed 2, s 1 released 2, s 2 charged 2, s 3 lapsed 2');
    expect(await amounts()).toBe('200|0');
    expect(await sql('select sum(rho) from contributor_spend')).toBe('0');
    expect(await sql("select count(*) from pg_tables where tablename like 'journal_%'")).toBe('1');
    expect(await sql(`select count(*) from epoch_secrets join row_keys using (row_key)
      where erased_at is not null and length(assignment_key || work_seed || fingerprint_key) > 0`))
      .toBe('0');
    expect(await lostRows({ url }, folder)).toEqual({ keys: [], isAll: false, epochs: [] });
    // A start verifies the ledger.
    const store = await open();
    expect(await store.journal(kept, 1n, 0n, 9)).toHaveLength(1);
    expect(await verdicts(store, [batch('a', 1, 1, { studyId: kept })])).toEqual(['duplicate@1']);
    expect(await store.ledgerEntries('study:s', 9)).toContainEqual(
      expect.objectContaining({ kind: 'lapsed', epoch: 3n }));
  });

  it('lets studies go on, and counts nothing twice', async () => {
    await giveUp();
    const store = await open();
    const [charged] = await store.unfinishedEpochs();
    expect(charged).toMatchObject({ studyId: s, epoch: 2n, state: 'charged' });
    await expect(store.chargeEpoch(s, 3n, '[]', 9_000)).rejects.toThrow(/cannot charge.*lapsed/);
    await store.storeRelease(release(1, 2));
    // No epoch is open, and the newest one has no key for fingerprints.
    expect(await verdicts(store, [batch('a', 4, 1)])).toEqual(['rejected:stale-epoch']);
    expect(await verdicts(store, [batch('a', 4, 1)])).toEqual(['rejected:stale-epoch']);
    await store.openEpoch(epochOf(4));
    expect(await verdicts(store, [
      batch('a', 3, 3), batch('b', 1, 3, { content: 'other' }), batch('b', 2, 3), batch('a', 5, 4),
    ])).toEqual(['duplicate', 'duplicate', 'accepted@4', 'accepted@4']);
    expect(await store.journal(s, 4n, 0n, 9)).toHaveLength(2);
    await finishEpoch(store, 4, 2);
    await store.purgeEpoch(s, 4n);
    await store.standings();
    expect((await store.standings()).lacksKey).toBeNull();
  });

  it('deletes the file of a lost key that comes back', async () => {
    const other = EncryptionKeys.open(folder).names()[0]!;
    await giveUp();
    const path = EncryptionKeys.open(folder).pathOf(lostKey);
    copyFileSync(EncryptionKeys.open(folder).pathOf(other), path);
    await open();
    expect(readdirSync(folder)).toEqual([`${other}.key`]);
  });

  it('refuses when a server runs, nothing is missing, or the folder looks wrong', async () => {
    const path = EncryptionKeys.open(folder).pathOf(lostKey);
    const [other] = EncryptionKeys.open(folder).names();
    const before = await states();
    await sql("insert into nodes (name, last, seen_at) values ('host 1', 0, now())");
    await expect(giveUp()).rejects.toThrow(/servers run on this store: host 1\. Stop them/);
    await sql('delete from nodes');
    const elsewhere = join(folder, 'other');
    await expect(giveUpRows({ url }, elsewhere, false)).rejects
      .toThrow(/has none of the 2 encryption keys that this store needs.*add --all/);
    expect(readdirSync(folder)).not.toContain('other');
    expect(await states()).toBe(before);
    await sql(`update row_keys set erased_at = now() where name = '${lostKey}'`);
    await expect(giveUp()).rejects.toThrow(/no encryption key is missing/);
    expect(await states()).toBe(before);
    // A file with another key counts as missing.
    await sql('update row_keys set erased_at = null');
    copyFileSync(EncryptionKeys.open(folder).pathOf(other!), path);
    expect((await lostRows({ url }, folder)).keys).toEqual([lostKey]);
    expect((await giveUpRows({ url }, elsewhere, true)).isAll).toBe(true);
    expect(await states()).toMatch(/^kept 1 lapsed 2/);
    await open();
  });

  it('keeps out a leader that was away, and goes on after a crash', async () => {
    await sql("insert into nodes (name, last, seen_at) values ('away', 0, now() - interval '1 h')");
    await sql(`create function fails() returns trigger language plpgsql as
      'begin raise exception ''x''; end';
      create trigger fails before update on row_keys execute function fails()`);
    await expect(giveUp()).rejects.toThrow(/the store failed/);
    expect(await states()).toBe(
      'kept 1 open 0, own 1 closing 0, s 1 released 2, s 2 charged 0, s 3 open 0');
    await sql('drop trigger fails on row_keys');
    expect((await giveUp()).epochs).toHaveLength(3);
    expect(await states()).toBe(
      'kept 1 open 0, own 1 lapsed 2, s 1 released 2, s 2 charged 2, s 3 lapsed 2');
    expect(await sql('select count(*) from nodes')).toBe('0');
  });

  it('lets a server go on, with a log that verifies', { tags: ['slow'], timeout: 300_000 },
    async () => {
      const stage = new Stage();
      try {
        url = await server().createDatabase();
        await migrateSchema({ url });
        const study = stage.write('mean.yaml', meanStudy('mean'));
        const words = ['--store', url, '--secrets', stage.path('secrets')];
        const settings = stage.write('settings.yaml', 'store: { lease: 1s }\n');
        const serve = () => stage.start(['serve', study, ...words, '--port', '0', '--log-level',
          'warn', '--settings', settings, '--json']);
        const running = serve();
        await running.line(({ type }) => type === 'listening');
        const count = (): Promise<string> => sql('select count(*) from releases');
        await until(async () => Number(await count()) > 0, requestPauseMs);
        await running.kill();
        // As if it had died between its charge and its release, with the next epoch open.
        folder = stage.path('secrets/row-keys');
        const store = await open();
        const { studyId, budgetKey } = (await store.studies())[0]!;
        const charged = (await store.ledgerEntries(budgetKey, 9))
          .find(({ kind }) => kind === 'charged')!;
        const unfinished = await store.unfinishedEpochs();
        const last = unfinished.at(-1)!;
        if (last.state === 'open') await store.beginClose(studyId, last.epoch);
        if (last.state !== 'charged') {
          await store.chargeEpoch(studyId, last.epoch, charged.events, Date.now());
        }
        await store.openEpoch(epochOf(last.epoch + 1n, {
          studyId, rho: charged.rho, delta: charged.delta, opensAtMs: Date.now(),
          closesAtMs: Date.now() + 1_000,
        }));
        await store.close();
        opened.length = 0;
        rmSync(folder, { recursive: true });
        const refused = await serve().ended;
        expect(refused.stderr).toMatch(/encryption key .* is not in the folder.*give-up-rows/);
        await sql("update nodes set seen_at = now() - interval '2 minutes'");
        const command = ['store', 'give-up-rows', url, '--encryption-keys', folder, '--yes'];
        expect((await keelson(command)).stderr).toMatch(/has none of the 1 encryption keys.*add --all/);
        const done = await keelson([...command, '--all']);
        expect([done.status, done.stderr]).toEqual([0, '']);
        const before = Number(await count());
        const again = serve();
        const { address, serverKey } = await again.line(({ type }) => type === 'listening');
        await until(async () => Number(await count()) > before + 2, requestPauseMs);
        const log = await (await fetch(`${String(address)}/v1/releases?study=mean`)).text();
        const verified = await stage.run(['verify', stage.write('log.json', log),
          '--server-key', String(serverKey), '--json']);
        expect([verified.status, verified.stderr], verified.stdout).toEqual([0, '']);
        const bodies = log.trimEnd().split('\n').map((line) =>
          Buffer.from((JSON.parse(line) as { body?: string }).body ?? '', 'base64').toString());
        // The killed server may have left another charge without a release.
        expect(bodies.filter((body) => body.includes('interrupted'))).not.toEqual([]);
        expect(await sql(`select state, purged from epochs where epoch = ${last.epoch}`))
          .toBe('released|2');
        expect((await again.interrupt()).status).toBe(0);
        expect((await keelson(['ledger', '--store', url])).status).toBe(0);
      } finally {
        await stage.end();
      }
    });
}, ['long']);
