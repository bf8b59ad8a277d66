import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Leadership, SharedStore, StudyStanding } from '../../server/store/shared.js';
import { migrations } from '../../server/store/postgres/migrations/index.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { Session } from '../../server/store/postgres/session.js';
import { batch, budget, epochOf, idOf, registration, verdicts } from '../support/store-fixtures.js';
import { describePostgres, psql } from '../support/postgres.js';
import { HandClock } from '../listener/hand-clock.js';
import { MeddlingProxy } from '../support/postgres/meddling-proxy.js';
import { until } from '../support/until.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

/** Longer than any test, so that no lease ends by itself. */
const leaseMs = 600_000;
const s = idOf('s');

describePostgres('nodes on one PostgreSQL store', (server) => {
  let url = '';
  let one: SharedStore;
  let two: SharedStore;

  beforeEach(async () => {
    url = await server().createDatabase();
    await migrateSchema({ url });
    one = await openPostgresStore({ encryptionKeys, url, leaseMs });
    two = await openPostgresStore({ encryptionKeys, url, leaseMs });
    await one.registerStudy(registration());
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);
  const expire = (): Promise<string> =>
    sql("update leases set expires_at = now() - interval '5 s'");
  const lead = async (store: SharedStore, studyId = s): Promise<Leadership> =>
    (await store.lead(studyId))!;
  const standing = async (store: SharedStore): Promise<StudyStanding> =>
    (await store.standings()).studies[0]!;
  const lost = { name: 'PostgresFailure', code: 'lease-lost' };
  /** Statements that end when others of so many kinds wait for what this transaction locks. */
  const untilWaited = (kinds = 1): string => `do $$ begin
    while (select count(distinct query) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()) < ${kinds} loop
      perform pg_sleep(0.01), pg_stat_clear_snapshot();
    end loop;
  end $$`;
  const isLocked = async (): Promise<boolean> =>
    await sql("select count(*) from pg_locks where locktype = 'advisory' and objid = 7") === '1';

  it('have one leader of a study, and another one when its lease is over', async () => {
    const first = await lead(one);
    expect(await two.lead(s)).toBeNull();
    expect((await lead(one)).token).toBe(first.token);
    await expire();
    expect(await two.lead(s, 60_000)).toBeNull();
    const second = await lead(two);
    expect(second.token).toBe(first.token + 1n);
    expect(await one.lead(s)).toBeNull();
  });

  it('lead nothing, and take batches, when they were told not to lead', async () => {
    await (await lead(one)).openEpoch(epochOf(1));
    const front = await openPostgresStore({ encryptionKeys, url, leaseMs, leads: false });
    try {
      expect(await verdicts(front, [batch('a', 1, 1)])).toEqual(['accepted@1']);
      await expire();
      expect(await front.lead(s)).toBeNull();
      await front.askToLead([s]);
      expect(await sql('select count(*) from leases where asked_by != 0')).toBe('0');
      expect((await standing(front)).leader).toBe('none');
      expect(await two.lead(s)).not.toBeNull();
    } finally {
      await front.close();
    }
  });

  it('read again what admission knows of studies that have changed, and no other', async () => {
    const t = idOf('t');
    const other = { studyId: t, name: 't', budget: budget({ key: 't' }) };
    await one.registerStudy(registration(other));
    for (const studyId of [s, t]) {
      await (await lead(one, studyId)).openEpoch(epochOf(1, { studyId, rowsMax: 9 }));
    }
    let sequence = 0;
    const reads = async (): Promise<number> => {
      sequence += 1;
      const transactions = vi.spyOn(Session.prototype, 'transaction');
      const batches = [s, t].map((studyId) => batch('a', sequence, 1, { studyId }));
      expect(await verdicts(one, batches)).toEqual(['accepted@1', 'accepted@1']);
      const modes = transactions.mock.calls.map(([mode]) => mode);
      transactions.mockRestore();
      return modes.filter((mode) => mode.endsWith('READ ONLY')).length;
    };
    expect(await reads()).toBe(2);
    expect(await reads()).toBe(0);
    await (await lead(one)).setStudyState(s, 'open');
    expect(await reads()).toBe(1);
    await two.askEnd(t);
    expect(await reads()).toBe(1);
    expect(await reads()).toBe(0);
  });

  it('lead the studies of one budget together', async () => {
    const other = registration({ studyId: idOf('t'), name: 't' });
    await one.registerStudy(other);
    const elsewhere = { studyId: idOf('u'), name: 'u', budget: budget({ key: 'study:u' }) };
    await one.registerStudy(registration(elsewhere));
    const first = await lead(one);
    expect(await two.lead(idOf('t'))).toBeNull();
    expect(await two.lead(idOf('u'))).not.toBeNull();
    const second = await lead(one, idOf('t'));
    await first.release();
    expect(await two.lead(s)).toBeNull();
    await second.release();
    expect(await two.lead(s)).not.toBeNull();
  });

  it('ask for a study where another leads two more, and for one at a time', async () => {
    const names = ['s', 't', 'u', 'v'];
    const ids = names.map(idOf);
    for (const name of names.slice(1)) {
      await one.registerStudy(registration({
        studyId: idOf(name), name, budget: budget({ key: `study:${name}` }),
      }));
    }
    const asked = async (): Promise<string[]> => (await one.standings()).studies
      .filter(({ isAsked }) => isAsked).map(({ studyId }) => names[ids.indexOf(studyId)]!);
    const grants = new Map<string, Leadership>();
    for (const id of ids.slice(0, 3)) grants.set(id, await lead(one, id));
    await two.askToLead(ids.slice(3));
    expect(await asked()).toEqual([]);
    await two.askToLead(ids);
    await two.askToLead(ids);
    expect(await asked()).toEqual(['s']);
    await grants.get(s)!.release();
    expect(await two.lead(s)).not.toBeNull();
    expect(await asked()).toEqual([]);
    // Two here and one there: another move would only turn that round.
    await two.askToLead(ids);
    expect(await asked()).toEqual([]);
    await lead(one, idOf('v'));
    await two.askToLead(ids);
    expect(await asked()).toEqual(['t']);
  });

  it('ask for no budget with a study that they do not run', async () => {
    await one.registerStudy(registration({ studyId: idOf('t'), name: 't' }));
    const other = { studyId: idOf('u'), name: 'u', budget: budget({ key: 'study:u' }) };
    await one.registerStudy(registration(other));
    for (const id of [s, idOf('u')]) await lead(one, id);
    await two.askToLead([s]);
    expect((await one.standings()).studies.map(({ isAsked }) => isAsked))
      .toEqual([false, false, false]);
    await two.askToLead([s, idOf('t')]);
    expect((await one.standings()).studies.map(({ isAsked }) => isAsked))
      .toEqual([true, true, false]);
  });

  it('write nothing as a leader after another has taken over', async () => {
    const first = await lead(one);
    await first.openEpoch(epochOf(1));
    await expire();
    const second = await lead(two);
    const calls: (() => Promise<unknown>)[] = [
      () => first.openEpoch(epochOf(2)), () => first.beginClose(s, 1n),
      () => first.turnEpoch(s, 1n, epochOf(2)), () => first.setStudyState(s, 'ended'),
      () => first.lapseEpoch(s, 1n, 1), () => first.noteRecovery(s, 1n),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(lost);
    expect(await standing(two)).toMatchObject({
      state: 'open', leader: 'own', open: { epoch: 1n }, isUnfinished: true,
    });
    expect(await standing(one)).toMatchObject({ leader: 'other' });
    await second.beginClose(s, 1n);
    await expect(first.chargeEpoch(s, 1n, '[]', 5_000)).rejects.toMatchObject(lost);
    expect((await second.chargeEpoch(s, 1n, '[]', 5_000)).isMine).toBe(true);
    // Whoever was a leader still admits.
    await second.openEpoch(epochOf(2));
    expect(await verdicts(one, [batch('a', 1, 2)])).toEqual(['accepted@2']);
  });

  it('wait for a transaction of the leader before they take over', async () => {
    const first = await lead(one);
    await first.openEpoch(epochOf(1));
    await expire();
    // A transaction that has checked its token, and is not committed yet.
    const open = sql(`begin; select lead_write('${s}', ${first.token});
      select pg_advisory_xact_lock(7); ${untilWaited()};
      update studies set last_digest = 'marked'; commit`);
    await until(isLocked);
    await lead(two);
    expect((await two.study(s))!.lastDigest).toBe('marked');
    await open;
  });

  it('keep a lease that is over until somebody takes it, and notice that', async () => {
    await Promise.all([one.close(), two.close()]);
    one = await openPostgresStore({ encryptionKeys, url, leaseMs: 150 });
    two = await openPostgresStore({ encryptionKeys, url, leaseMs });
    const first = await lead(one);
    await expire();
    // Its next renewal comes first here, since nobody else asks.
    await until(async () => (await standing(two)).leader === 'other');
    await first.openEpoch(epochOf(1));
    await sql('update leases set token = token + 1');
    await first.ended;
    await expect(first.beginClose(s, 1n)).rejects.toMatchObject(lost);
  });

  it('admit the batches of one contributor once, whichever gets them', async () => {
    await (await lead(one)).openEpoch(epochOf(1, { rowsMax: 1_000 }));
    const seen: string[] = [];
    await Promise.all(Array.from({ length: 40 }, async (_, i) => {
      const asked = batch('a', 1 + i % 20, 1);
      seen.push(...await verdicts(i < 20 ? one : two, [asked]));
    }));
    expect(seen.filter((verdict) => verdict === 'accepted@1')).toHaveLength(20);
    expect(seen.filter((verdict) => verdict === 'duplicate@1')).toHaveLength(20);
    expect(await one.journal(s, 1n, 0n, 100)).toHaveLength(20);
    expect(await two.tally(s, 1n)).toEqual({ contributors: 1, complete: 0 });
  });

  it('greet a contributor with what another node knows of it', async () => {
    await (await lead(one)).openEpoch(epochOf(1));
    await verdicts(two, [batch('a', 1, 1)]);
    expect(await one.contributorState(s, idOf('a')))
      .toMatchObject({ nextSequence: 2n, inOpenEpoch: true });
    const leader = await lead(one);
    await leader.turnEpoch(s, 1n, epochOf(2));
    expect(await two.contributorState(s, idOf('a'))).toMatchObject({ inOpenEpoch: false });
    expect(await verdicts(two, [batch('a', 2, 2)])).toEqual(['accepted@2']);
  });

  it('count who came and who is complete, without withdrawn ones', async () => {
    await (await lead(one)).openEpoch(epochOf(1));
    await verdicts(one, [batch('a', 1, 1, { last: true }), batch('b', 1, 1)]);
    await verdicts(two, [batch('c', 1, 1), batch('c', 2, 1, { last: true })]);
    expect(await one.tally(s, 1n)).toEqual({ contributors: 3, complete: 2 });
    const signature = new Uint8Array(64);
    await two.withdraw({ studyId: s, contributor: idOf('a'), epoch: 1n, signature, nowMs: 5 });
    expect(await one.tally(s, 1n)).toEqual({ contributors: 2, complete: 1 });
    expect(await one.tally(s, 2n)).toEqual({ contributors: 0, complete: 0 });
  });

  const withdraw = (store: SharedStore, name: string) => store.withdraw({
    studyId: s, contributor: idOf(name), epoch: 1n, signature: new Uint8Array(64), nowMs: 5,
  });

  it('take rows back beside lists of others, which are not judged again', async () => {
    await (await lead(one)).openEpoch(epochOf(1));
    await verdicts(one, [batch('a', 1, 1), batch('b', 1, 1)]);
    const before = await sql('select revision from studies');
    expect(await withdraw(two, 'a')).toMatchObject({ kind: 'withdrawn', undone: true });
    expect(await sql('select revision from studies')).toBe(before);
  });

  it('take rows back while another node gets more of them', async () => {
    await (await lead(one)).openEpoch(epochOf(1, { rowsMax: 1_000 }));
    const names = Array.from({ length: 40 }, (_, i) => `c${i}`);
    await verdicts(one, names.map((name) => batch(name, 1, 1)));
    // No statement of either node ends before both wait, so that each finds the other under way.
    const gate = sql(`begin; select lock_studies('{${s}}', null);
      select pg_advisory_xact_lock(7); ${untilWaited(2)}; commit`);
    await until(isLocked);
    const taken = names.map((name) => withdraw(two, name));
    const sent = names.map((name) => verdicts(one, [batch(name, 2, 1)]));
    expect((await Promise.all(taken)).map((result) => result.kind))
      .toEqual(names.map(() => 'withdrawn'));
    await Promise.all(sent);
    await gate;
    const later = await verdicts(one, names.map((name) => batch(name, 3, 1)));
    expect(later.filter((verdict) => verdict === 'accepted@1')).toEqual([]);
    expect(await one.tally(s, 1n)).toEqual({ contributors: 0, complete: 0 });
    expect(await one.journal(s, 1n, 0n, 100)).toEqual([]);
  });

  it('take no rows back from an epoch that is being closed', async () => {
    await (await lead(one)).openEpoch(epochOf(1));
    await verdicts(one, [batch('a', 1, 1)]);
    const closing = sql(`begin; select lock_studies('{${s}}', null);
      update epochs set state = 'closing'; select pg_advisory_xact_lock(7);
      ${untilWaited()}; commit`);
    await until(isLocked);
    expect(await withdraw(two, 'a')).toEqual({ kind: 'refused', code: 'too-late' });
    await closing;
  });

  it('hear of what the leader and the operator do', async () => {
    let heard = 0;
    const stop = two.onNews(() => { heard += 1; });
    const leader = await lead(one);
    const listens = "select count(*) from pg_stat_activity where query like 'LISTEN keelson%'";
    await until(async () => await sql(listens) === '1');
    const before = heard;
    await leader.openEpoch(epochOf(1));
    await until(async () => heard > before && (await standing(two)).open?.epoch === 1n);
    await two.askEnd(s);
    expect(await standing(one)).toMatchObject({ ends: true, state: 'open' });
    // Without the connection it listens on, it asks all the same.
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where query like 'LISTEN keelson%'`);
    const then = heard;
    await until(() => heard > then + 1);
    stop();
  });

  it.each([
    ['straight', false, false, false], ['behind a pooler that breaks LISTEN', true, false, true],
    ['behind such a pooler, and hear at the database', true, true, false],
  ])('find news within a second, and know whether they are told: %s', async (
    _, dropsNews, hearsDirectly, isDeaf,
  ) => {
    const { proxy, url: through } = await MeddlingProxy.start(url);
    proxy.dropsNews = dropsNews;
    const clock = new HandClock();
    const node = await openPostgresStore({
      encryptionKeys, url: through, leaseMs, clock, ...(hearsDirectly && { direct: url }),
    });
    try {
      let told = 0;
      node.onNews(() => { told += 1; });
      if (!isDeaf) await until(() => told > 0);
      const leadership = await lead(one);
      await leadership.openEpoch(epochOf(1));
      const before = told;
      clock.advance(1_000);
      expect(told).toBeGreaterThan(before);
      expect((await standing(node)).open).toMatchObject({ epoch: 1n });
      expect((await node.standings()).isDeaf).toBe(false);
      for (let i = 0; i < 6; i++) clock.advance(1_000);
      expect((await node.standings()).isDeaf).toBe(isDeaf);
    } finally {
      await node.close();
      await proxy.stop();
    }
  });

  it('keep the first key of each name, and tell another one from it', async () => {
    const key = new Uint8Array(32).fill(1);
    expect(await one.shareKey({ name: 'server', fingerprint: key })).toBe(true);
    expect(await two.shareKey({ name: 'server', fingerprint: key })).toBe(true);
    expect(await two.shareKey({ name: 'server', fingerprint: new Uint8Array(32) })).toBe(false);
    expect(await two.shareKey({ name: 'series', fingerprint: new Uint8Array(32) })).toBe(true);
  });

  it('tell how far the clock of the database is ahead', async () => {
    const nowMs = (): number => Date.now() - 60_000;
    const slow = await openPostgresStore({ encryptionKeys, url, leaseMs, nowMs });
    expect((await slow.standings()).clockAheadMs).toBeGreaterThan(55_000);
    expect(Math.abs((await one.standings()).clockAheadMs)).toBeLessThan(5_000);
    await slow.close();
  });

  it('brings a store of the first schema up to this one', async () => {
    const old = await server().createDatabase();
    await psql(old, 'create schema keelson; set search_path = keelson; '
      + `${migrations[0]!.sql} insert into meta values ('schema_version', 1), ('store_id', 7);
        insert into budgets values (7, 'study:old', 'study', 'zcdp', null, 9, 9, 0, 0, 0, 0, 1, 1);
        insert into studies values (7, '${idOf('old')}', 'old', '{}', 7, 'open', 0, '', 1, 1);
        insert into epochs values (7, 7, 1, 'open', 1, 0, 1, 1, 4, 'next', 0, 0, 0, 0);
        insert into epoch_tallies values (7, 2, 3, 0);`);
    await expect(openPostgresStore({ encryptionKeys, url: old })).rejects.toThrow(/run keelson store migrate/);
    expect(await migrateSchema({ url: old })).toMatchObject({ version: migrations.length });
    const store = await openPostgresStore({ encryptionKeys, url: old });
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    // Those who came to the epoch that was open were counted by server 2.
    expect(await store.peopleCount(idOf('old'), 1n)).toBe(3);
    expect(await store.peopleCount(s, 1n)).toBe(1);
    await store.close();
  });
}, ['long']);
