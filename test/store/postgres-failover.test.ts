import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SharedStore } from '../../server/store/shared.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import {
  batch, epochOf, idOf, registration, release, verdicts,
} from '../support/store-fixtures.js';
import {
  describePrivatePostgres, psql, startPrivatePostgres, type PrivatePostgres,
} from '../support/postgres.js';
import { until } from '../support/until.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const s = idOf('s');
const wentBack = { code: 'store-went-back', retryable: false };

describePrivatePostgres('a standby that takes over', () => {
  let folder = '';
  let seenFile = '';
  let primary: PrivatePostgres;
  let standby: PrivatePostgres;
  let url = '';
  const stores: SharedStore[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-failover-'));
    seenFile = join(folder, 'seen.json');
    primary = await startPrivatePostgres();
    url = await primary.createDatabase();
    await migrateSchema({ url });
    standby = await startPrivatePostgres({ primary });
    await until(async () => await psql(url, 'select count(*) from pg_stat_replication') === '1');
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await standby.stop();
    await primary.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (address = url, file = seenFile): Promise<SharedStore> => {
    const store = await openPostgresStore({ encryptionKeys, url: address, seenFile: file });
    stores.push(store);
    return store;
  };
  const standbyUrl = (): string => standby.url(new URL(url).pathname.slice(1));
  const setting = async (address: string, text: string): Promise<void> => {
    await psql(address, `alter system set ${text}`);
    await psql(address, 'select pg_reload_conf()');
  };

  /** Commits wait until the standby has them too. */
  async function beSynchronous(): Promise<void> {
    await setting(url, "synchronous_standby_names = '*'");
    await until(async () =>
      await psql(url, 'select sync_state from pg_stat_replication') === 'sync');
  }

  /** The standby gets nothing more. */
  async function lag(): Promise<void> {
    await setting(standbyUrl(), "primary_conninfo = ''");
    await until(async () => await psql(url, 'select count(*) from pg_stat_replication') === '0');
  }

  async function takeOver(): Promise<void> {
    await primary.crash();
    await psql(standbyUrl(), 'select pg_promote()');
  }

  /** One epoch, up to its charge. */
  async function charge(store: SharedStore, epoch: number): Promise<void> {
    await store.openEpoch(epochOf(epoch));
    expect(await verdicts(store, [batch('a', epoch, epoch)])).toEqual([`accepted@${epoch}`]);
    await store.beginClose(s, BigInt(epoch));
    await store.chargeEpoch(s, BigInt(epoch), '[]', 5_000);
  }

  it('has everything with synchronous commits', { tags: ['slow'] }, async () => {
    await beSynchronous();
    const store = await open();
    await store.registerStudy(registration());
    await charge(store, 1);
    await store.storeRelease(release(0, 1));
    await store.standings();
    await charge(store, 2);
    const balances = await store.balances();
    await takeOver();
    const other = await open(standbyUrl());
    expect(await other.balances()).toEqual(balances);
    expect((await other.standings()).studies[0]!.releaseCount).toBe(1);
    expect(await other.journal(s, 2n, 0n, 10)).toHaveLength(1);
  });

  it('is refused by name when it lacks a charge', async () => {
    const store = await open();
    await store.registerStudy(registration());
    await charge(store, 1);
    await lag();
    await store.storeRelease(release(0, 1));
    await charge(store, 2);
    await takeOver();
    await expect(open(standbyUrl())).rejects.toMatchObject(wentBack);
    await expect(open(standbyUrl())).rejects.toThrow(/\(s\)/);
    // A server that saw less does not know.
    await expect(open(standbyUrl(), join(folder, 'other.json'))).resolves.toBeDefined();
  });

  it('is refused when it lacks a release that was read', { tags: ['slow'] }, async () => {
    const store = await open();
    await store.registerStudy(registration());
    await charge(store, 1);
    await lag();
    await store.storeRelease(release(0, 1));
    expect(await store.releases(s, 0, 10)).toHaveLength(1);
    await takeOver();
    await expect(open(standbyUrl())).rejects.toMatchObject(wentBack);
  });
});

describePrivatePostgres('what a server has seen', (server) => {
  let folder = '';
  let url = '';
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-seen-'));
    url = await server().createDatabase();
    await migrateSchema({ url });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is compared on each new connection of a running server', async () => {
    const seenFile = join(folder, 'seen.json');
    const store = await openPostgresStore({ encryptionKeys, url, seenFile });
    try {
      await store.registerStudy(registration());
      await store.openEpoch(epochOf(1));
      await store.beginClose(s, 1n);
      await store.chargeEpoch(s, 1n, '[]', 5_000);
      await psql(url, "delete from keelson.ledger where kind = 'charged'");
      // The connections of before belong to the database that had it.
      expect(await store.study(s)).toBeDefined();
      await psql(url, `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid != pg_backend_pid()`);
      const calls: (() => Promise<unknown>)[] = [
        () => store.storeRelease(release(0, 1)), () => store.admit([batch('a', 1, 1)]),
        () => store.standings(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject(wentBack);
    } finally {
      await store.close();
    }
  });

  it('is kept for several servers of one machine, and refused when damaged', async () => {
    const seenFile = join(folder, 'seen.json');
    const [one, two] = [
      await openPostgresStore({ encryptionKeys, url, seenFile }),
      await openPostgresStore({ encryptionKeys, url, seenFile }),
    ];
    try {
      await one.registerStudy(registration());
      await two.standings();
      await one.openEpoch(epochOf(1));
      await one.beginClose(s, 1n);
      await one.chargeEpoch(s, 1n, '[]', 5_000);
      const charged = readFileSync(seenFile, 'utf8');
      await two.registerStudy(registration({ studyId: idOf('t'), name: 't' }));
      await two.standings();
      const text = readFileSync(seenFile, 'utf8');
      expect(text).toContain(idOf('t'));
      expect(/"charge": "(\d+)"/.exec(text)![1]).toBe(/"charge": "(\d+)"/.exec(charged)![1]);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
    writeFileSync(seenFile, '{}');
    await expect(openPostgresStore({ encryptionKeys, url, seenFile })).rejects.toThrow(/is damaged/);
  });
});
