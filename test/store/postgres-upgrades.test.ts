import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Connections } from '../../server/store/postgres/connection.js';
import { migrations, ownVersion } from '../../server/store/postgres/migrations/index.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { postgresStatus } from '../../server/store/postgres/status.js';
import type { SharedStore } from '../../server/store/shared.js';
import { keelson } from '../support/command.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';
import { describePostgres, psql } from '../support/postgres.js';
import { until } from '../support/until.js';
import {
  amount, batch, budget, epochOf, finishEpoch, idOf, registration, verdicts,
} from '../support/store-fixtures.js';

/** A step of a later version. It adds a column to every table that servers read as a whole. */
const later = (leastProgram: number) => [...migrations, {
  sql: ['studies', 'epochs', 'budgets', 'releases', 'epoch_secrets', 'nodes', 'leases', 'ledger']
    .map((table) => `ALTER TABLE ${table} ADD COLUMN planted bigint NOT NULL DEFAULT 0;`).join(''),
  leastProgram,
}];
const s = idOf('s');

describePostgres('upgrades of a PostgreSQL store', (server) => {
  let url = '';
  const opened: SharedStore[] = [];
  const open = async (): Promise<SharedStore> => {
    const store = await openPostgresStore({ url, encryptionKeys, leaseMs: 600_000, pool: 8 });
    opened.push(store);
    return store;
  };
  const upgrade = (leastProgram: number) => migrateSchema({ url }, undefined, later(leastProgram));
  const goneFor = (minutes: number): Promise<string> =>
    psql(url, `update keelson.nodes set seen_at = now() - interval '${minutes} minutes'`);

  beforeEach(async () => {
    url = await server().createDatabase();
    await migrateSchema({ url });
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  it('leave servers running that may use the newer tables', async () => {
    const [store, beside] = [await open(), await open()];
    await store.registerStudy(registration({ budget: budget({ rhoCap: amount(1_000_000_000) }) }));
    let upgraded: Promise<unknown> | undefined;
    let isUpgraded = false;
    let failure: unknown;
    let after = 0;
    let epochs = 0;
    for (; after < 3; epochs++) {
      const epoch = epochs + 1;
      await store.openEpoch(epochOf(epoch));
      const given = Array.from({ length: 8 }, (_, i) =>
        verdicts(i % 2 === 0 ? store : beside, [batch(`${epoch}/${i}`, 1, epoch)]));
      if (epoch === 3) {
        upgraded = upgrade(ownVersion).then(
          () => { isUpgraded = true; }, (error: unknown) => { failure = error; });
      }
      const accepted = Array.from({ length: 8 }, () => [`accepted@${epoch}`]);
      expect(await Promise.all(given)).toEqual(accepted);
      const wasUpgraded = isUpgraded;
      await Promise.all([finishEpoch(store, epoch, epoch - 1), beside.standings()]);
      expect(await store.journal(s, BigInt(epoch), 0n, 99)).toHaveLength(8);
      await store.purgeEpoch(s, BigInt(epoch));
      expect(failure).toBeUndefined();
      if (wasUpgraded) after += 1;
    }
    await upgraded;
    expect(await beside.releases(s, 0, 999)).toHaveLength(epochs);
    expect(await psql(url, 'select count(*) from keelson.studies where planted = 0')).toBe('1');
  });

  it('make way for a transaction that holds what they need, and end none', async () => {
    const reader = psql(url, `begin; lock table keelson.epochs in access share mode;
      do $$ begin loop perform pg_stat_clear_snapshot();
        exit when exists (select 1 from pg_locks where granted and mode = 'AccessExclusiveLock'
          and relation = 'keelson.studies'::regclass);
        perform pg_sleep(0.01);
      end loop; end $$; select count(*) from keelson.studies; commit`);
    await until(async () => await psql(url, `select count(*) from pg_locks where granted
      and mode = 'AccessShareLock' and relation = 'keelson.epochs'::regclass`) === '1');
    const upgraded = upgrade(ownVersion);
    expect(await reader).toBe('0');
    expect(await upgraded).toMatchObject({ version: ownVersion + 1 });
  });

  it('let a program start on newer tables that it may use', async () => {
    await upgrade(ownVersion);
    expect(await migrateSchema({ url })).toMatchObject({ version: ownVersion + 1 });
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    const status = await postgresStatus({ url });
    expect(status).toMatchObject({
      version: ownVersion + 1, needed: ownVersion, leastProgram: ownVersion,
      nodes: [{ program: ownVersion }],
    });
    expect(status.refusal).toBeNull();
    const shown = await keelson(['store', 'migrate', url]);
    expect(shown.stdout).toMatch(/^nothing changed.*\n/);
    expect(shown.stdout).toMatch(
      /version 11; this program needs 10 or later, and programs before 10 cannot use it\n/);
    expect(shown.stdout).toMatch(/server .*, of version 10: it goes on with these tables\n/);
  });

  it('change nothing while servers run that may not use the newer tables', async () => {
    const store = await open();
    const name = await psql(url, 'select name from keelson.nodes');
    await expect(upgrade(ownVersion + 1)).rejects
      .toThrow(`servers run on this store that cannot use the newer tables: ${name}. Stop them`);
    expect((await postgresStatus({ url })).version).toBe(ownVersion);
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    await store.close();
    expect(await upgrade(ownVersion + 1)).toMatchObject({ version: ownVersion + 1 });
    await expect(open()).rejects.toMatchObject({ code: 'schema-too-new' });
    await expect(open()).rejects.toThrow(/programs of schema 11 and later.*install the newer program/);
    expect((await postgresStatus({ url })).refusal).toMatch(/install the newer program/);
  });

  it('keep out a server that was away meanwhile', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    await goneFor(2);
    await upgrade(ownVersion + 1);
    await expect(store.standings()).rejects.toMatchObject({ code: 'schema-too-new' });
    await expect(verdicts(store, [batch('a', 1, 1)])).rejects.toThrow(/tables were upgraded/);
    await expect(store.beginClose(s, 1n)).rejects.toThrow(/tables were upgraded/);
    expect(await psql(url, 'select count(*) from keelson.journal_1')).toBe('0');
  });

  it('keep out a server that starts meanwhile', async () => {
    const connections = await Connections.open({ url }, 1);
    const stage = new EventEmitter();
    const locked = once(stage, 'locked');
    const upgraded = connections.use((session) => session.transaction('', async () => {
      await session.execute(`SET LOCAL idle_in_transaction_session_timeout = 0;
        LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE`);
      const commit = once(stage, 'commit');
      stage.emit('locked');
      await commit;
      await session.text(`UPDATE meta SET value = ${ownVersion + 1}
        WHERE name IN ('schema_version', 'least_program')`);
    }));
    await locked;
    const start = open();
    await until(async () =>
      await psql(url, 'select count(*) from pg_locks where not granted') !== '0');
    stage.emit('commit');
    await expect(start).rejects.toMatchObject({ code: 'schema-too-new' });
    await upgraded;
    await connections.close();
    expect(await psql(url, 'select count(*) from keelson.nodes')).toBe('0');
  });

  it.each([[9, 'the version before'], [4, 'long ago']])(
    'tell which servers of version %i, %s, must be stopped', async (version) => {
    url = await server().createDatabase();
    await migrateSchema({ url }, undefined, migrations.slice(0, version));
    await psql(url, "insert into keelson.nodes (name, last, seen_at) values ('old 1', 0, now())");
    const refused = await keelson(['store', 'init', url]);
    expect(refused.stderr).toContain(
      `has schema ${version}, this program needs 10 or later: run keelson store migrate`);
    expect((await keelson(['store', 'migrate', url])).stderr).toMatch(/newer tables: old 1\. Stop/);
    await goneFor(2);
    expect((await keelson(['store', 'migrate', url])).status).toBe(0);
  });
}, ['long']);
