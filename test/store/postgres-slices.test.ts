import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalEntry } from '../../server/store/contract.js';
import type { ClaimedSlice, EpochSlices, SharedStore } from '../../server/store/shared.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { batch, epochOf, idOf, registration, release } from '../support/store-fixtures.js';
import { describePostgres, psql } from '../support/postgres.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const s = idOf('s');
const plan = 'the plan';
const plans = new Map([[s, plan]]);
const summary = Uint8Array.of(1, 2, 3);
const lost = { name: 'PostgresFailure', code: 'lease-lost' };

describePostgres('slices of an epoch on a PostgreSQL store', (server) => {
  let url = '';
  let stores: readonly SharedStore[] = [];
  let one: EpochSlices;
  let two: EpochSlices;

  beforeEach(async () => {
    url = await server().createDatabase();
    await migrateSchema({ url });
    const open = () => openPostgresStore({ url, encryptionKeys, leaseMs: 600_000 });
    stores = [await open(), await open()];
    [one, two] = stores.map(({ slices }) => slices!) as [EpochSlices, EpochSlices];
    await stores[0]!.registerStudy(registration());
    await stores[0]!.openEpoch(epochOf(1));
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
  });

  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);
  const expire = (): Promise<string> =>
    sql("update epoch_slices set expires_at = now() - interval '1 s'");
  const charge = async (): Promise<void> => {
    await stores[0]!.beginClose(s, 1n);
    await stores[0]!.chargeEpoch(s, 1n, '[]', 5_000);
  };
  const cut = async (slices: number): Promise<void> => {
    await charge();
    await one.split(s, 1n, slices, plan);
  };
  const claimed = async (slices: EpochSlices): Promise<ClaimedSlice> =>
    (await slices.claim(plans))!;
  const numberOf = async (slices: EpochSlices): Promise<number | undefined> =>
    (await slices.claim(plans))?.slice;

  it('are claimed once each, by whichever node asks', async () => {
    await cut(3);
    expect([await numberOf(one), await numberOf(two), await numberOf(one)]).toEqual([0, 1, 2]);
    expect([await numberOf(one), await numberOf(two)]).toEqual([undefined, undefined]);
  });

  it('are claimed once each by nodes that ask at the same time', async () => {
    await cut(4);
    const found: (number | undefined)[] = [];
    // A claim passes over slices that others are just claiming.
    while (found.filter((slice) => slice !== undefined).length < 4) {
      found.push(...await Promise.all([one, two, one, two, one, two].map(numberOf)));
    }
    expect(found.filter((slice) => slice !== undefined).sort()).toEqual([0, 1, 2, 3]);
  });

  it('have each contributor of the journal once, with all its entries in order', async () => {
    const names = Array.from({ length: 300 }, (_, i) => `c${i}`);
    for (const sequence of [1, 2]) {
      // One new key for each list, too: their numbers are far apart.
      const batches = names.map((name) => batch(name, sequence, 1));
      await stores[sequence % 2]!.admit(batches.slice(0, 290));
      for (const each of batches.slice(290)) await stores[0]!.admit([each]);
    }
    await stores[0]!.withdraw({
      studyId: s, contributor: idOf('c7'), epoch: 1n, signature: new Uint8Array(64), nowMs: 5,
    });
    await cut(4);
    const all = await one.journal(await claimed(one), 0n, 1_000);
    const others = [await claimed(one), await claimed(two), await claimed(one)];
    const slices = [all, ...await Promise.all(others.map((each) => one.journal(each, 0n, 1_000)))];
    const whole = await stores[0]!.journal(s, 1n, 0n, 1_000);
    expect(whole).toHaveLength(2 * 299);
    const byPosition = (left: JournalEntry, right: JournalEntry): number =>
      Number(left.position - right.position);
    expect(slices.flat().sort(byPosition)).toEqual(whole);
    const keys = slices.map((entries) => new Set(entries.map(({ contributor }) => contributor)));
    expect(keys.reduce((sum, { size }) => sum + size, 0)).toBe(299);
    for (const [i, entries] of slices.entries()) {
      expect(entries).toEqual(whole.filter(({ contributor }) => keys[i]!.has(contributor)));
      expect(keys[i]!.size).toBeGreaterThan(40);
    }
    const second = others[0]!;
    const [first] = await two.journal(second, 0n, 1);
    expect(first).toEqual(slices[1]![0]);
    expect(await two.journal(second, first!.position, 1_000)).toEqual(slices[1]!.slice(1));
  });

  it('go to another node when their claim is over, and take nothing late', async () => {
    await cut(1);
    const late = await claimed(one);
    await expire();
    // Nobody has claimed it yet, so it is still this node's.
    expect(await one.journal(late, 0n, 10)).toEqual([]);
    expect(await numberOf(two)).toBeUndefined();
    await expire();
    const newer = await claimed(two);
    expect(newer.token).toBe(late.token + 1n);
    await expect(one.journal(late, 0n, 10)).rejects.toMatchObject(lost);
    await expect(one.finish(late, Uint8Array.of(9))).rejects.toMatchObject(lost);
    await one.giveBack(late);
    expect(await numberOf(one)).toBeUndefined();
    expect(await one.left(s, 1n)).toEqual({ count: 1, hasFailed: false });
    await two.finish(newer, summary);
    await expect(one.finish(late, Uint8Array.of(9))).rejects.toMatchObject(lost);
    expect(await one.left(s, 1n)).toEqual({ count: 0, hasFailed: false });
    expect(await one.summary(s, 1n, 0)).toEqual(summary);
  });

  it('go to another node when the sessions of the first one are gone', async () => {
    await cut(1);
    const first = await claimed(one);
    await one.journal(first, 0n, 10);
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where pid != pg_backend_pid() and datname = current_database()`);
    expect(await numberOf(two)).toBeUndefined();
    await expire();
    expect(await claimed(two)).toMatchObject({ slice: 0, token: 2n });
  });

  it('are claimed no more when they have a summary', async () => {
    await cut(1);
    await one.finish(await claimed(one), summary);
    await expire();
    expect(await numberOf(two)).toBeUndefined();
    expect(await two.left(s, 1n)).toEqual({ count: 0, hasFailed: false });
  });

  it('fail after three claims, and not while the third one holds', async () => {
    await cut(2);
    await one.finish(await claimed(one), summary);
    for (let claim = 1; claim < 3; claim++) await one.giveBack(await claimed(one));
    expect((await claimed(two)).token).toBe(3n);
    expect(await one.left(s, 1n)).toEqual({ count: 1, hasFailed: false });
    await expire();
    expect(await one.left(s, 1n)).toEqual({ count: 1, hasFailed: true });
    expect(await numberOf(one)).toBeUndefined();
  });

  it('are not claimed with another plan, of other studies, or twice cut', async () => {
    await cut(1);
    await two.split(s, 1n, 1, 'another plan');
    expect(await one.claim(new Map([[s, 'another plan']]))).toBeNull();
    expect(await one.claim(new Map([[idOf('t'), plan]]))).toBeNull();
    expect(await numberOf(two)).toBe(0);
  });

  it('are of charged epochs alone', async () => {
    await one.split(s, 1n, 1, plan);
    expect(await sql('select count(*) from epoch_slices')).toBe('0');
    await cut(1);
    await stores[0]!.storeRelease(release(0, 1));
    expect(await numberOf(one)).toBeUndefined();
    await one.split(s, 1n, 2, plan);
    expect(await sql('select count(*) from epoch_slices')).toBe('1');
  });

  it('are deleted with the rows of the epoch, and take nothing afterwards', async () => {
    await cut(2);
    const late = await claimed(one);
    await two.finish(await claimed(two), summary);
    await stores[0]!.storeRelease(release(0, 1));
    await stores[0]!.purgeEpoch(s, 1n);
    expect(await sql('select count(*) from epoch_slices')).toBe('0');
    await expect(one.finish(late, summary)).rejects.toMatchObject(lost);
    await expect(one.journal(late, 0n, 10)).rejects.toMatchObject(lost);
    // A leader that was replaced and looks for them now.
    expect(await one.left(s, 1n)).toEqual({ count: 0, hasFailed: false });
    await expect(one.summary(s, 1n, 0)).rejects.toMatchObject(lost);
  });
}, ['long']);
