import { readFileSync } from 'node:fs';
import { decodeLogLine } from '../../src/log/index.js';
import { fromUtf8, toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { encodeStudyDocument, studyId } from '../../src/wire/index.js';
import type { SealedFacts } from '../../src/wire/study-document.js';
import { SealedPart } from '../../server/sealed/sealed-part.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError } from '../../src/base/errors.js';
import { silentLogger } from '../../server/base/logger.js';
import type { SubmitResult } from '../../server/studies/contract.js';
import type { Store } from '../../server/store/contract.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { Bench, batchOf, contribute, define, everyMs } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const grown = { budget: { epsilon: 99, delta: 1e-5, rule: 'zcdp', scope: 'study' } } as const;

it('leaves out a study that the store refuses, says so, and runs the others', async () => {
  let hub = await bench.start([define(), define({ study: 'other' })]);
  const [delays] = hub.studies();
  await contribute(hub, delays!.studyId, 10, 1n);
  await hub.close();
  hub = await bench.start([define(grown), define({ study: 'other' }), define({ study: 'third' })]);
  expect(hub.refused()).toMatchObject([{ study: 'delays', error: { code: 'invalid-study' } }]);
  expect(bench.logs).toContain('error: a study cannot start and is left out; the others run');
  await bench.clock.advance(everyMs);
  await hub.settled();
  const open = hub.studies().filter(({ state, epoch }) => state === 'open' && epoch > 0n);
  expect(open.map(({ name }) => name)).toEqual(['other', 'third']);
  // What the refused study's version in the store had collected is released, and that version is
  // not ended.
  expect(bench.record.contributorsAtDraw.get(`${delays!.studyId}/1`)).toBe(10);
  const store = await bench.store();
  expect((await store.study(delays!.studyId))!.state).toBe('open');
  await hub.close();
  hub = await bench.start([define()]);
  expect(hub.refused()).toEqual([]);
  expect(hub.study(delays!.studyId)).toMatchObject({ state: 'open', epoch: 2n, releaseCount: 1 });
  await hub.close();
});

it('does not start when every study is refused, or when one is and it is strict', async () => {
  const hub = await bench.start([define(), define({ study: 'other' })]);
  await hub.close();
  await expect(bench.start([define(grown), define({ study: 'other', ...grown })]))
    .rejects.toMatchObject({
      code: 'invalid-study', message: expect.stringMatching(/delays[^]*other/) as string,
    });
  await expect(bench.start([define(grown), define({ study: 'third' })], { strict: true }))
    .rejects.toMatchObject({ code: 'invalid-study' });
  // A file that no study could be made of counts as refused.
  const broken = { study: 'broken.yaml', error: new Error('line 1: what is this') };
  const started = await bench.start([define()], { refused: [broken] });
  expect(started.refused()).toEqual([broken]);
  await started.close();
});

it('shows at each reload what is refused now', async () => {
  const hub = await bench.start([define(), define({ study: 'other' })]);
  const broken = { study: 'other.yaml', error: new Error('line 1: what is this') };
  const reload = (...files: Parameters<typeof reloadStudies>[1]) =>
    reloadStudies(hub, files, silentLogger, [broken]);
  expect(await reload(define(grown), define({ study: 'third' })))
    .toEqual({ added: ['third'], refused: ['other.yaml', 'delays'] });
  expect(hub.refused().map(({ study }) => study)).toEqual(['other.yaml', 'delays']);
  expect(hub.studies().map(({ name, state }) => [name, state]))
    .toEqual([['delays', 'open'], ['other', 'open'], ['third', 'open']]);
  await reloadStudies(hub, [define(), define({ study: 'other' })], silentLogger);
  expect(hub.refused()).toEqual([]);
  await hub.close();
});

it('leaves a sealed study of an earlier version, by name, and its ledger can be read', async () => {
  const servers = ['north', 'east', 'west'].map((name, i) => ({
    name, url: `wss://${name}.example`,
    key: toHex(i === 0 ? bench.signer.publicKey : signing.createSigner(new Uint8Array(32)
      .fill(i)).publicKey),
  }));
  const old = define({
    study: 'old', columns: ['minutes'], estimator: 'count',
    parameters: { threshold: 25, column: 0, side: 'above' },
    contribution: { reduce: 'mean', rowsMax: 1 }, late: 'drop',
    sealed: {
      against: 'reading', bits: 16, patienceMs: 60_000, unusableMax: 0.2,
      servers: servers as unknown as SealedFacts['servers'],
    },
  });
  const facts = encodeStudyDocument(old.document);
  const record = await studyId(facts, signing);
  const store = await bench.store();
  await store.registerStudy({
    studyId: record, name: 'old', document: fromUtf8(facts), budget: old.budget, nowMs: 0,
  });
  await store.openEpoch({
    studyId: record, epoch: 1n, opensAtMs: 0, closesAtMs: everyMs, ...old.charge, rowsMax: 1,
    late: 'drop', assignmentKey: new Uint8Array(32), workSeed: new Uint8Array(32),
  });
  const part = new SealedPart({
    as: 'north', clock: bench.clock, logger: silentLogger, timeoutMs: 1_000,
  });
  const hub = await bench.start([define()], { openSealed: part.open });
  expect(hub.studies().map(({ name }) => name)).toEqual(['delays']);
  expect(bench.logged).toContainEqual({
    text: expect.stringContaining('cannot be continued') as string,
    fields: { study: 'old', err: expect.objectContaining({
      code: 'invalid-study',
      message: expect.stringMatching(/study old has the fact sealed\.unusableMax/) as string,
    }) as Error },
  });
  expect((await hub.balances()).map(({ key }) => key)).toContain('study:old');
  await hub.close();
});

describe('a study that cannot go on with what the store holds of it', () => {
  /** The store, but reading the journal of one study fails. */
  const withoutJournal = (studyId: string, details: object) => (store: Store): Store => ({
    ...store,
    journal: async (id, ...page) => {
      if (id !== studyId) return store.journal(id, ...page);
      throw new StorageError(
        'no such table: journal_1', 'storage-failed', { details: { ...details } },
      );
    },
  });
  const ofOneCall = { sqliteCode: 'SQLITE_ERROR', scope: 'call' };
  const left = [{
    study: 'delays',
    error: { code: 'invalid-study', message: /delays cannot go on.*no such table/ },
  }];

  /** Two studies with rows in their open epochs, and the server stopped. */
  async function stopped(): Promise<{ delays: string; other: string }> {
    const hub = await bench.start([define(), define({ study: 'other' })]);
    const [delays, other] = hub.studies().map(({ studyId }) => studyId) as [string, string];
    await contribute(hub, delays, 10, 1n);
    await contribute(hub, other, 7, 1n);
    await hub.close();
    return { delays, other };
  }

  it('is left out of a start and of a reload, and the others run', async () => {
    const { delays, other } = await stopped();
    bench.wrapStore = withoutJournal(delays, ofOneCall);
    const hub = await bench.start([define(), define({ study: 'other' })]);
    expect(hub.refused()).toMatchObject(left);
    expect(hub.studies().map(({ name }) => name)).toEqual(['other']);
    expect((await hub.submit(batchOf(delays, 11, 1n))).code).toBe('unknown-study');
    // Still broken.
    const files = [define(), define({ study: 'other' })];
    expect(await reloadStudies(hub, files, silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${other}/1`)).toBe(7);
    expect(bench.failures).toEqual([]);
    await hub.close();
  });

  it('ends the start with strict, or when the store failed as a whole', async () => {
    const { delays } = await stopped();
    const both = [define(), define({ study: 'other' })];
    bench.wrapStore = withoutJournal(delays, { sqliteCode: 'SQLITE_FULL' });
    await expect(bench.start(both)).rejects.toMatchObject({ name: 'StorageError' });
    bench.wrapStore = withoutJournal(delays, ofOneCall);
    await expect(bench.start(both, { strict: true })).rejects.toMatchObject(left[0]!.error);
  });

  it('is taken by a reload once its cause is gone, with the rows of its open epoch', async () => {
    const { delays } = await stopped();
    let isBroken = true;
    bench.wrapStore = (store) => {
      const broken = withoutJournal(delays, ofOneCall)(store);
      return { ...store, journal: (...page) => (isBroken ? broken : store).journal(...page) };
    };
    const hub = await bench.start([define(), define({ study: 'other' })]);
    expect(hub.refused()).toMatchObject(left);
    isBroken = false;
    const files = [define(), define({ study: 'other' })];
    expect(await reloadStudies(hub, files, silentLogger))
      .toEqual({ added: ['delays'], refused: [] });
    await contribute(hub, delays, 12, 1n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${delays}/1`)).toBe(12);
    expect(bench.failures).toEqual([]);
    await hub.close();
  });

  it('leaves the version before it running when the new version cannot start', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const openEpoch = (await bench.store()).openEpoch.bind(await bench.store());
    (await bench.store()).openEpoch = async (input) => {
      if (input.studyId === studyId) return openEpoch(input);
      throw new StorageError(
        'no such table: secrets_2_1', 'storage-failed', { details: ofOneCall },
      );
    };
    expect(await reloadStudies(hub, [define({ cohort: 500 })], silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()).toMatchObject([{ studyId, state: 'open', epoch: 2n, releaseCount: 1 }]);
    expect(bench.failures).toEqual([]);
    await hub.close();
  });

  it('takes nothing before the rows of its open epoch are counted', async () => {
    const { delays } = await stopped();
    const codes: unknown[] = [];
    const later: { submit?: () => Promise<SubmitResult> } = {};
    bench.wrapStore = (store) => {
      const broken = withoutJournal(delays, ofOneCall)(store);
      return {
        ...store,
        journal: async (...page) => {
          if (later.submit === undefined) return broken.journal(...page);
          codes.push((await later.submit()).code);
          return store.journal(...page);
        },
      };
    };
    const hub = await bench.start([define(), define({ study: 'other' })]);
    later.submit = () => hub.submit(batchOf(delays, 20, 1n));
    await hub.addStudy(define());
    expect(new Set(codes)).toEqual(new Set(['epoch-not-open']));
    expect((await hub.submit(batchOf(delays, 20, 1n))).verdict).toBe('accepted');
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${delays}/1`)).toBe(11);
    await hub.close();
  });
});

it.each([
  ['rides', 'rides-questions', 'questions[0].by.keysMax is now groupsMax'],
  ['flights', 'flights-robust', 'scale is now spread'],
] as const)(
  'leaves an earlier study whose facts have old names, by name, and its ledger can be read: %s',
  async (log, study, renamed) => {
    const lines = readFileSync(new URL(`../log/before/${log}.log`, import.meta.url), 'utf8');
    const { facts } = decodeLogLine(lines.slice(0, lines.indexOf('\n'))) as
      { readonly facts: Uint8Array };
    const { budget, charge } = define();
    const record = await studyId(facts, signing);
    const store = await bench.store();
    await store.registerStudy({
      studyId: record, name: study, document: fromUtf8(facts),
      budget: { ...budget, key: `study:${study}` }, nowMs: 0,
    });
    await store.openEpoch({
      studyId: record, epoch: 1n, opensAtMs: 0, closesAtMs: everyMs, ...charge, rowsMax: 1,
      late: 'drop', assignmentKey: new Uint8Array(32), workSeed: new Uint8Array(32),
    });
    const hub = await bench.start([define()]);
    expect(hub.studies().map(({ name }) => name)).toEqual(['delays']);
    expect(bench.logged).toContainEqual({
      text: expect.stringContaining('cannot be continued') as string,
      fields: { study, err: expect.objectContaining({
        code: 'invalid-study', message: expect.stringContaining(renamed) as string,
      }) as Error },
    });
    expect((await hub.balances()).map(({ key }) => key)).toContain(`study:${study}`);
    await hub.close();
  },
);
