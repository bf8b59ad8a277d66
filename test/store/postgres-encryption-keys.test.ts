import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { migrations } from '../../server/store/postgres/migrations/index.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { EncryptionKeys } from '../../server/store/postgres/encryption-keys.js';
import { openRow, openSecret } from '../../server/store/postgres/row-seal.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { postgresStatus } from '../../server/store/postgres/status.js';
import type { SharedStore } from '../../server/store/shared.js';
import { memoryFolder } from '../support/memory-folder.js';
import { describePostgres, psql } from '../support/postgres.js';
import {
  batch, epochOf, finishEpoch, idOf, registration, verdicts,
} from '../support/store-fixtures.js';

const s = idOf('s');

describePostgres('encryption keys of a PostgreSQL store', (server) => {
  let url = '';
  let folder = '';
  let store: SharedStore;
  const opened: SharedStore[] = [];
  const open = async (encryptionKeys = folder): Promise<SharedStore> => {
    const other = await openPostgresStore({ url, encryptionKeys, leaseMs: 600_000 });
    opened.push(other);
    return other;
  };
  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);
  /** All keys were made a day ago. */
  const nextDay = (): Promise<string> =>
    sql("update row_keys set made_at = made_at - interval '1 day'");
  const names = (): string[] => EncryptionKeys.open(folder).names().sort();

  beforeEach(async () => {
    folder = mkdtempSync(join(memoryFolder, 'keelson-row-keys-'));
    url = await server().createDatabase();
    await migrateSchema({ url });
    store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await verdicts(store, [batch('a', 1, 1), batch('b', 1, 1, { last: true })]);
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A copy of what the tables of an epoch have now, as a backup has it. */
  async function backup(epoch: number): Promise<readonly CopiedRow[]> {
    const text = await sql(`select position, encode(public_key, 'hex'), sequence, complete,
      encode(sealed, 'hex') from journal_${epoch} join contributors using (contributor_id)`);
    return text.split('\n').map((line) => {
      const [position, contributor, sequence, complete, sealed] = line.split('|');
      return {
        place: {
          studyId: s, epoch: BigInt(epoch), position: BigInt(position!), contributor: contributor!,
          sequence: BigInt(sequence!), complete: complete === '1',
        },
        sealed: fromHex(sealed!),
      };
    });
  }

  /** Bodies that can be read from a copy with the keys that are in a folder. */
  function readable(rows: readonly CopiedRow[], from = folder): string[] {
    const keys = EncryptionKeys.open(from);
    return rows.flatMap(({ place, sealed }) => keys.names().flatMap((name) => {
      try {
        return [Buffer.from(openRow(keys.read(name), place, sealed).body).toString()];
      } catch {
        return [];
      }
    }));
  }

  async function releaseAndPurge(epoch: number): Promise<void> {
    await finishEpoch(store, epoch, epoch - 1);
    await store.openEpoch(epochOf(epoch + 1));
    await store.purgeEpoch(s, BigInt(epoch));
  }

  it('seal rows and secrets under the key of the day, in a file of its own', async () => {
    expect(names()).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d-[0-9a-f]{16}$/)]);
    expect(statSync(EncryptionKeys.open(folder).pathOf(names()[0]!)).mode & 0o777).toBe(0o600);
    expect(readable(await backup(1)).sort()).toEqual(['a/1', 'b/1']);
    expect((await store.journal(s, 1n, 0n, 9)).map(({ body }) => Buffer.from(body).toString()))
      .toEqual(['a/1', 'b/1']);
    expect((await store.epoch(s, 1n))!.assignmentKey).toEqual(new Uint8Array(32).fill(7));
    const all = await sql(`select string_agg(encode(sealed, 'hex'), ' ') from journal_1`)
      + await sql(`select encode(assignment_key || work_seed || fingerprint_key, 'hex')
        from epoch_secrets where epoch = 1`);
    expect(all).not.toContain(Buffer.from('a/1').toString('hex'));
    expect(all).not.toContain('03'.repeat(8));
    expect(all).not.toContain('07'.repeat(8));
    expect(all).not.toContain('09'.repeat(8));
  });

  it('open no row from a copy of the tables after its purge', async () => {
    const copy = await backup(1);
    const key = names()[0]!;
    await nextDay();
    await releaseAndPurge(1);
    // The key of epoch 1 goes; epoch 2 has one of its own.
    await store.standings();
    expect(names()).not.toContain(key);
    expect(names()).toHaveLength(1);
    expect(readable(copy)).toEqual([]);
    await verdicts(store, [batch('c', 1, 2)]);
    expect(readable(await backup(2))).toEqual(['c/1']);
    // The bytes of a repeated batch are still known: the key of fingerprints outlives the rows.
    expect(await verdicts(store, [batch('a', 1, 1), batch('b', 1, 1, { content: 'other' })]))
      .toEqual(['duplicate@1', 'rejected:mutated']);
  });

  it('are erased on the day after, also when no epoch follows', async () => {
    await finishEpoch(store, 1, 0);
    await store.purgeEpoch(s, 1n);
    await store.setStudyState(s, 'ended');
    await nextDay();
    const [key] = names();
    await store.standings();
    expect(names()).not.toContain(key);
    const secret = await sql(`select encode(fingerprint_key, 'hex') || '|' || name
      from epoch_secrets join row_keys using (row_key) where epoch = 1`);
    const [sealed, newest] = secret.split('|');
    expect(newest).toBe(names()[0]);
    const { length } = openSecret(
      EncryptionKeys.open(folder).read(newest!), s, 1n, 'fingerprint', fromHex(sealed!));
    expect(length).toBe(32);
  });

  it('stay while rows need them, and while it is their day', async () => {
    await store.standings();
    expect(names()).toHaveLength(1);
    await nextDay();
    await store.beginClose(s, 1n);
    await store.openEpoch(epochOf(2));
    await store.standings();
    expect(names()).toHaveLength(2);
    expect((await postgresStatus({ url })).encryptionKeys.map(({ epochs }) => epochs))
      .toEqual(['epoch 1 of s', 'epoch 2 of s']);
    expect(await store.journal(s, 1n, 0n, 9)).toHaveLength(2);
  });

  it('are erased after a crash between the mark and the file', async () => {
    const path = EncryptionKeys.open(folder).pathOf(names()[0]!);
    copyFileSync(path, join(folder, 'kept'));
    await nextDay();
    await releaseAndPurge(1);
    await store.standings();
    copyFileSync(join(folder, 'kept'), path);
    await open();
    expect(readdirSync(folder)).not.toContain(path.slice(folder.length + 1));
  });

  it('are made once and never erased under an epoch, whoever opens and looks', {
    tags: ['slow'],
  }, async () => {
    const two = await open();
    const other = registration({ studyId: idOf('t'), name: 't' });
    await two.registerStudy({ ...other, budget: { ...other.budget, key: 'study:t' } });
    const looks = async (): Promise<void> => {
      for (let i = 0; i < 30; i++) {
        await nextDay();
        await Promise.all([store.standings(), two.standings()]);
      }
    };
    const opens = async (): Promise<void> => {
      for (let epoch = 1; epoch <= 30; epoch++) {
        await two.openEpoch(epochOf(epoch, { studyId: idOf('t'), rho: 1n as never }));
        await verdicts(two, [batch('a', epoch, epoch, { studyId: idOf('t') })]);
        expect(await two.journal(idOf('t'), BigInt(epoch), 0n, 9)).toHaveLength(1);
        await two.lapseEpoch(idOf('t'), BigInt(epoch), 1);
        await two.purgeEpoch(idOf('t'), BigInt(epoch));
      }
    };
    await Promise.all([looks(), opens()]);
    expect(await store.journal(s, 1n, 0n, 9)).toHaveLength(2);
    await store.standings();
    const inUse = await sql('select name from row_keys where erased_at is null order by name');
    expect(names()).toEqual(inUse.split('\n'));
  });

  it('refuse rows that were moved to another place', async () => {
    await sql(`update journal_1 as j set sealed = other.sealed from journal_1 as other
      where other.position != j.position`);
    await expect(store.journal(s, 1n, 0n, 9)).rejects
      .toThrow(/the row \d+ of epoch 1 does not open with its encryption key: the tables were changed/);
  });

  it('that are missing are named at the start, with their epochs and the remedy', async () => {
    const [key] = names();
    await store.close();
    EncryptionKeys.open(folder).erase(key!);
    await expect(open()).rejects.toMatchObject({ code: 'encryption-key-missing' });
    await expect(open()).rejects.toThrow(new RegExp(`the encryption key ${key} is not in the folder.*`
      + 'the rows of epoch 1 of s are sealed under it.*--encryption-keys'));
    expect((await postgresStatus({ url }, folder)).missingKeys).toEqual([key]);
  });

  it('that another key replaced count as missing', async () => {
    const keys = EncryptionKeys.open(folder);
    const [key] = names();
    const other = keys.make('2030-01-01');
    copyFileSync(keys.pathOf(other), keys.pathOf(key!));
    await expect(store.journal(s, 1n, 0n, 9)).rejects
      .toMatchObject({ code: 'encryption-key-missing' });
  });

  it('keep a node with another folder from writing rows, and from leading', async () => {
    await store.beginClose(s, 1n);
    const elsewhere = mkdtempSync(join(memoryFolder, 'keelson-row-keys-'));
    try {
      for (const name of names()) {
        const [from, to] =
          [folder, elsewhere].map((each) => EncryptionKeys.open(each).pathOf(name));
        copyFileSync(from!, to!);
      }
      const two = await open(elsewhere);
      await nextDay();
      await store.openEpoch(epochOf(2));
      expect(await verdicts(two, [batch('c', 1, 2)])).toEqual(['rejected:overloaded']);
      expect((await two.standings()).lacksKey).toMatch(/epoch 2 of s are sealed under it/);
      expect((await store.standings()).lacksKey).toBeNull();
      const there = EncryptionKeys.open(elsewhere);
      const newest = names().find((name) => !there.has(name))!;
      copyFileSync(EncryptionKeys.open(folder).pathOf(newest), there.pathOf(newest));
      expect((await two.standings()).lacksKey).toBeNull();
      expect(await verdicts(two, [batch('c', 1, 2)])).toEqual(['accepted@2']);
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it('seal what a store of before has in the clear', async () => {
    const old = await server().createDatabase();
    const key = toHex(new Uint8Array(32).fill(7));
    await psql(old, 'create schema keelson; set search_path = keelson; '
      + `${migrations.slice(0, 4).map(({ sql: each }) => each).join('')} insert into meta values ('schema_version', 4), ('store_id', 7);
        insert into budgets values (7, 'study:s', 'study', 'zcdp', null, 900, 900, 0, 0, 0, 0, 1, 1);
        insert into studies (study_key, study_id, name, document, budget_id, state, release_count,
          last_digest, last_epoch, registered_at_ms) values (7, '${s}', 's', '{"study":"s"}', 7,
          'open', 0, '', 1, 1);
        insert into epochs values (7, 7, 1, 'open', 1, 0, 100, 10, 4, 'next', 0, 0, 0, 0);
        insert into epoch_secrets values (7, 0, '', '', '\\x${key}'),
          (7, 1, '\\x${key}', '\\x${key}', '\\x${key}');
        insert into contributors values (1, '\\x${idOf('a')}');
        create table journal_7 (position bigint primary key, contributor_id bigint not null,
          sequence bigint not null, complete bigint not null, signature bytea not null,
          body bytea not null);
        insert into journal_7 values (5, 1, 1, 0, '\\x${'03'.repeat(64)}', 'a row');`);
    await expect(migrateSchema({ url: old })).rejects.toThrow(/not sealed yet.*--encryption-keys/);
    expect(await psql(old, 'select body from keelson.journal_7')).not.toBe('');
    expect(await migrateSchema({ url: old }, folder)).toMatchObject({ version: migrations.length });
    const columns = await psql(old, `select column_name from information_schema.columns
      where table_name = 'journal_7' order by 1`);
    expect(columns.split('\n'))
      .toEqual(['complete', 'contributor_id', 'position', 'sealed', 'sequence']);
    const migrated = await openPostgresStore({ url: old, encryptionKeys: folder });
    opened.push(migrated);
    expect(await migrated.journal(s, 1n, 0n, 9)).toMatchObject([{
      contributor: idOf('a'), body: new Uint8Array(Buffer.from('a row')),
      signature: new Uint8Array(64).fill(3),
    }]);
    expect((await migrated.epoch(s, 1n))!.workSeed).toEqual(fromHex(key));
    expect(await verdicts(migrated, [batch('c', 1, 1)])).toEqual(['accepted@1']);
  });

  it('are never in the database', async () => {
    const keys = EncryptionKeys.open(folder);
    const secrets = names().map((name) => readFileSync(keys.pathOf(name), 'utf8'));
    const dump = await sql(`select string_agg(k::text, ' ') from row_keys as k`)
      + await sql(`select string_agg(s::text, ' ') from epoch_secrets as s`);
    for (const secret of secrets) expect(dump).not.toContain(secret.trim());
  });
}, ['long']);

interface CopiedRow {
  readonly place: Parameters<typeof openRow>[1];
  readonly sealed: Uint8Array;
}
