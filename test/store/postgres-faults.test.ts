import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { SharedStore } from '../../server/store/shared.js';
import { ownVersion } from '../../server/store/postgres/migrations/index.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { Connections } from '../../server/store/postgres/connection.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { rowExtraBytes } from '../../server/store/postgres/row-seal.js';
import {
  amount, batch, budget, epochOf, idOf, registration, verdicts,
} from '../support/store-fixtures.js';
import { CuttingProxy } from '../support/postgres/cutting-proxy.js';
import { MeddlingProxy } from '../support/postgres/meddling-proxy.js';
import {
  describePrivatePostgres, psql, startPrivatePostgres,
} from '../support/postgres.js';
import { until } from '../support/until.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

/** Longer than any test, so that no renewal comes in between. */
const leaseMs = 600_000;
/** A body is sealed when it is sent, so it is known by its length, which stands before it. */
const marker = Buffer.from([0, 0, 0x7a, 0x3c]);
const marked = 'm'.repeat(0x7a3c - rowExtraBytes);

describePrivatePostgres('a PostgreSQL store in trouble', (server) => {
  let url = '';
  let store: SharedStore;
  let proxy: MeddlingProxy;

  beforeEach(async () => {
    const direct = await server().createDatabase();
    await migrateSchema({ url: direct });
    const started = await MeddlingProxy.start(direct);
    url = direct;
    proxy = started.proxy;
    store = await openPostgresStore({ encryptionKeys, url: started.url, leaseMs });
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
  });
  afterEach(async () => {
    await store.close();
    await proxy.stop();
  });

  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);
  const rows = async (): Promise<string[]> =>
    (await store.journal(idOf('s'), 1n, 0n, 100)).map(({ body }) => Buffer.from(body).toString());
  const changed = `update studies set revision = revision + 1`;

  it.each(['before', 'after'] as const)('counts a list once when its connection is cut %s it is '
    + 'committed', async (cut) => {
    await verdicts(store, [batch('a', 1, 1)]);
    proxy.planned.push({ marker, cut });
    expect(await verdicts(store, [batch('a', 2, 1, { content: marked }), batch('b', 1, 1)]))
      .toEqual(['accepted@1', 'accepted@1']);
    expect(proxy.planned).toEqual([]);
    expect(await rows()).toEqual(['a/1', marked, 'b/1']);
    expect(await verdicts(store, [batch('a', 2, 1, { content: marked }), batch('b', 2, 1)]))
      .toEqual(['duplicate@1', 'accepted@1']);
    expect(await store.contributorCount(idOf('s'), 1n)).toBe(2);
  });

  it.each(['before', 'after'] as const)('charges once, and says that it did, when the connection '
    + 'is cut %s the commit', async (cut) => {
    await store.beginClose(idOf('s'), 1n);
    proxy.planned.push({ marker: 'COMMIT', cut });
    expect((await store.chargeEpoch(idOf('s'), 1n, '[]', 5_000)).isMine).toBe(true);
    expect(proxy.planned).toEqual([]);
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 100n, rhoReserved: 0n });
    expect((await store.chargeEpoch(idOf('s'), 1n, '[]', 5_000)).isMine).toBe(false);
  });

  it('judges again when a study has changed since its facts were read', async () => {
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    await sql(`${changed}, state = 'ended'`);
    // Both a list that would write and one that would not.
    expect(await verdicts(store, [batch('a', 2, 1)])).toEqual(['rejected:study-ended']);
    await sql(`${changed}, state = 'open'`);
    expect(await verdicts(store, [batch('a', 2, 1)])).toEqual(['accepted@1']);
  });

  it('judges again when a window has changed since it was read', async () => {
    await verdicts(store, [batch('a', 1, 1)]);
    // As if another server had settled the contributor's last row of the epoch.
    const settled = 'update replay set version = version + 1, complete = 1';
    proxy.planned.push({ marker, before: async () => { await sql(settled); } });
    expect(await verdicts(store, [batch('a', 2, 1, { content: marked }), batch('b', 1, 1)]))
      .toEqual(['rejected:contribution-full', 'accepted@1']);
    expect(await rows()).toEqual(['a/1', 'b/1']);
  });

  it('asks senders to come again when others are always first', { tags: ['long'] }, async () => {
    await verdicts(store, [batch('a', 1, 1)]);
    const before = async (): Promise<void> => { await sql(changed); };
    for (let i = 0; i < 20; i++) proxy.planned.push({ marker, before });
    const list = [batch('a', 2, 1, { content: marked })];
    expect(await verdicts(store, list)).toEqual(['rejected:overloaded']);
    expect(proxy.planned).toEqual([]);
    expect(await rows()).toEqual(['a/1']);
    expect(await verdicts(store, list)).toEqual(['accepted@1']);
  });

  it('judges again when another server has stored the same new key', async () => {
    const insert = `insert into contributors values (1, '\\x${idOf('a')}')`;
    proxy.planned.push({ marker, before: async () => { await sql(insert); } });
    expect(await verdicts(store, [batch('a', 1, 1, { content: marked })]))
      .toEqual(['accepted@1']);
    expect(await sql('select contributor_id from contributors')).toBe('1');
  });

  it('judges again when the spending of a contributor has changed', async () => {
    const studyId = idOf('t');
    const own = budget({ key: 'study:t', scope: 'contributor', rhoCap: amount(250) });
    await store.registerStudy(registration({ studyId, name: 't', budget: own }));
    await store.openEpoch(epochOf(1, { studyId }));
    await verdicts(store, [batch('a', 1, 1, { studyId })]);
    await store.turnEpoch(studyId, 1n, epochOf(2, { studyId }));
    const spent = 'update contributor_spend set version = version + 1, rho = 200';
    proxy.planned.push({ marker, before: async () => { await sql(spent); } });
    expect(await verdicts(store, [batch('a', 2, 2, { studyId, content: marked })]))
      .toEqual(['rejected:contributor-budget-exhausted']);
    expect((await store.contributorState(studyId, idOf('a'))).spend)
      .toEqual({ rho: 200n, delta: 10n, pure: null });
  });

  /** @param state what every write of a table with the trigger `no_room` fails with. */
  const noRoom = (state: string): Promise<string> =>
    // A number that is drawn stays drawn, also where the transaction fails.
    sql(`create sequence refusals;
      create function no_room() returns trigger language plpgsql as $$ begin
        perform nextval('refusals'); raise exception 'full' using errcode = '${state}'; end $$`);
  const refusals = async (): Promise<number> =>
    Number(await sql('select last_value from refusals'));
  const onEpochs = `create trigger no_room before insert or update on epochs
    execute function no_room()`;

  it('refuses batches while the database has no room, and waits with the rest', {
    tags: ['slow'],
  }, async () => {
    await noRoom('53100');
    // A row that is replaced may find room on its page where a new row finds none.
    for (const table of ['nodes', 'contributors']) {
      await sql(`create trigger no_room before insert or update on ${table}
        execute function no_room()`);
      expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['rejected:overloaded']);
      expect((await store.standings()).fullBecause).toContain('free space on the disk');
      await sql(`drop trigger no_room on ${table}`);
    }
    await sql(onEpochs);
    const closing = store.beginClose(idOf('s'), 1n);
    // More often than one transaction is tried where others come first.
    await until(async () => await refusals() > 24);
    await sql('drop trigger no_room on epochs');
    await closing;
    expect(await verdicts(store, [batch('a', 1, 1)])).toHaveLength(1);
    expect((await store.standings()).fullBecause).toBeNull();
  });

  it('waits for room no longer once the server is told to end', async () => {
    await noRoom('53100');
    await sql(onEpochs);
    const closing = expect(store.beginClose(idOf('s'), 1n)).rejects
      .toMatchObject({ kind: 'full', retryable: true });
    await until(async () => await refusals() > 1);
    store.endSoon!();
    await closing;
  });

  it('does not take a database without memory for one without room', { tags: ['long'] },
    async () => {
      await noRoom('53200');
      await sql(onEpochs);
      await expect(store.beginClose(idOf('s'), 1n)).rejects
        .toThrow(/full \(53200\); give the database more memory/);
      expect([await refusals(), store.fullBecause!()]).toEqual([20, null]);
    });

  it('waits with a write for as long as the database is away, and with a read for a minute', {
    tags: ['slow'],
  }, async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const patient = await openPostgresStore({ encryptionKeys, url, leaseMs, clock });
    await server().crash();
    const writing = verdicts(patient, [batch('a', 1, 1)]);
    const reading = patient.studies();
    aheadMs = 3_600_000;
    await expect(reading).rejects.toMatchObject({ code: 'storage-failed', retryable: true });
    await server().restart();
    expect(await writing).toEqual(['accepted@1']);
    await patient.close();
  });

  it('waits for a server that was killed, and has what was acknowledged', async () => {
    await verdicts(store, [batch('a', 1, 1)]);
    await server().crash();
    const waiting = verdicts(store, [batch('b', 1, 1)]);
    await server().restart();
    expect(await waiting).toEqual(['accepted@1']);
    expect(await rows()).toEqual(['a/1', 'b/1']);
  });

  it('lets the database refuse a total above the cap', async () => {
    await expect(sql('update budgets set rho_reserved = rho_cap + 1')).rejects
      .toThrow('budgets_within_cap');
  });

  it('explains its columns in the catalogue', async () => {
    const missing = await sql(`select attrelid::regclass || '.' || attname from pg_attribute
      where attrelid in (select oid from pg_class where relnamespace = 'keelson'::regnamespace
        and relkind = 'r' and relname not like 'journal%')
      and attnum > 0 and not attisdropped and col_description(attrelid, attnum) is null`);
    expect(missing).toBe('');
  });
});

describePrivatePostgres('connections that are silent', (server) => {
  it('keep no process once they are closed', async () => {
    const { proxy, url } = await CuttingProxy.start(await server().createDatabase());
    try {
      const kept = (): number =>
        process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
      const connections = await Connections.open({ url }, 2);
      await connections.use((session) => session.text('SELECT 1'));
      const before = kept();
      proxy.freeze();
      await connections.close();
      // Those of the proxy, in both directions, are left.
      expect(kept()).toBe(before - 1);
    } finally {
      await proxy.stop();
    }
  });
});

describePrivatePostgres('opening a PostgreSQL store', (server) => {
  const refusal = (url: string, schema = 'keelson') =>
    expect(openPostgresStore({ encryptionKeys, url, schema })).rejects;

  it('refuses what is not there, each with its remedy', async () => {
    const url = await server().createDatabase();
    await refusal(url).toThrow(/no store yet: run keelson store init/);
    await refusal(url, 'Not a name').toThrow(/name of a schema has up to 63/);
    await refusal(server().url('nothing')).toThrow(/"nothing" does not exist .*create the database/);
    await refusal(url.replace(/:[^:@]+@/, ':wrong@')).toThrow(/check the user and the password/);
    await refusal('postgres://user:secret@localhost:port/x').not.toThrow(/secret/);
    await refusal('postgres://localhost:1/x').toThrow(/cannot be reached.*check that it runs/);
  });

  it('refuses a schema of another version, and another program\'s', async () => {
    const url = await server().createDatabase();
    const status = { schema: 'keelson', version: ownVersion, supported: ownVersion };
    expect(await migrateSchema({ url })).toEqual(status);
    expect(await migrateSchema({ url })).toEqual(status);
    await psql(url, `update keelson.meta set value = ${ownVersion + 1}`);
    await refusal(url).toMatchObject({ code: 'schema-too-new' });
    await expect(migrateSchema({ url })).rejects.toMatchObject({ code: 'schema-too-new' });
    await psql(url, 'delete from keelson.meta');
    await refusal(url).toThrow(/belongs to another program/);
  });

  it('refuses a database that is read-only or does not wait for its disk', async () => {
    const url = await server().createDatabase();
    await migrateSchema({ url });
    const name = new URL(url).pathname.slice(1);
    for (const [setting, value, text] of [
      ['default_transaction_read_only', 'on', /is read-only: name the primary/],
      ['synchronous_commit', 'off', /synchronous_commit = off.*set it to on/],
    ] as const) {
      await psql(url, `alter database ${name} set ${setting} = ${value}`);
      await refusal(url).toThrow(text);
      await psql(server().url('postgres'), `alter database ${name} reset ${setting}`);
    }
  });

  it('refuses a server without fsync', { tags: ['slow'] }, async () => {
    const careless = await startPrivatePostgres({ settings: { fsync: 'off' } });
    try {
      const url = await careless.createDatabase();
      await migrateSchema({ url });
      await refusal(url).toThrow(/fsync = off, so it may lose batches/);
    } finally {
      await careless.stop();
    }
  });
});
