// @module-tag slow
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { EpochRunner } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import type { AdmissionRequest, JournalEntry, Store } from '../../server/store/contract.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import type { ClaimedSlice, SharedStore } from '../../server/store/shared.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import type { HubContext } from '../../server/studies/context.js';
import { defineStudy } from '../../server/studies/definition.js';
import { heldEpochOf } from '../../server/studies/release/held-epoch.js';
import { journalPages } from '../../server/studies/keep/journal-pages.js';
import { SliceWorker } from '../../server/studies/shared/slice-worker.js';
import {
  mayBeSliced, planDigest, slicingOf, summariseTogether,
} from '../../server/studies/release/slices.js';
import { fromHex, fromUtf8 } from '../../src/base/bytes.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import {
  encodeBatchBody, encodeRows, encodeStudyDocument, ofShortFacts,
} from '../../src/wire/index.js';
import { samples } from '../compliance/samples.js';
import type { ComplianceSample } from '../../src/kit/sample.js';
import { dataSource } from '../support/data.js';
import { LiveCommand } from '../support/live-command.js';
import { memoryFolder } from '../support/memory-folder.js';
import { describePostgres, psql } from '../support/postgres.js';
import { batch, budget, epochOf, idOf, registration } from '../support/store-fixtures.js';
import { root } from '../support/sources.js';
import { until } from '../support/until.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const people = Math.max(...Object.values(samples).map(({ cohort }) => cohort));
const perList = 256;
const s = idOf('s');

/** Every third person sends two batches. Who sends when is the same for every store. */
const sent: readonly AdmissionRequest[] = Array.from({ length: people }, (_, i) => i)
  .flatMap((i) => (i % 3 === 0
    ? [batch(`c${i}`, 1, 1), batch(`c${i}`, 2, 1, { last: true })]
    : [batch(`c${i}`, 1, 1, { last: true })]));

const places = new Map(Array.from({ length: people }, (_, i) => [idOf(`c${i}`), i]));

/** The lists go to the stores in turn, as the batches of one epoch go to several servers. */
async function journalOf(stores: readonly Store[]): Promise<readonly JournalEntry[]> {
  await stores[0]!.registerStudy(registration());
  await stores[0]!.openEpoch(epochOf(1));
  for (let from = 0, list = 0; from < sent.length; from += perList, list++) {
    const results = await stores[list % stores.length]!.admit(sent.slice(from, from + perList));
    expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
  }
  const entries: JournalEntry[] = [];
  for await (const page of journalPages(stores[0]!, s, 1n)) entries.push(...page);
  expect(entries).toHaveLength(sent.length);
  return entries;
}

/** A study of one estimator. */
function studyOf(name: string, { dimension, cohort, parameters }: ComplianceSample) {
  const estimator = estimators.find((each) => each.name === name)!;
  return defineStudy(ofShortFacts({
    version: 1, study: 's', columns: Array.from({ length: dimension }, (_, i) => `c${i}`), cohort,
    participation: 'secret', epoch: { everyMs: 10_000 },
    contribution: { reduce: 'mean', rowsMax: 4 }, estimator: name,
    parameters: parseParameters(estimator.parameters, parameters, { dimension }),
    privacy: { epsilon: 8, delta: 1e-6 },
    budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
    admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' },
  }));
}

/** The rows of each person's two batches. */
function rowsOf(name: string, sample: ComplianceSample): readonly Float64Array[] {
  const data = dataSource(`rows of ${name}`);
  return Array.from({ length: 2 * sample.cohort }, () => sample.honest(data));
}

interface Published {
  readonly digest: string;
  readonly kind: string;
}

/** What a server would publish: a digest of all outcomes. */
async function published(runner: EpochRunner, studyId: string): Promise<Published> {
  const { outcomes } = await runner.release(studyId, 1n);
  const digest = createHash('sha256').update(JSON.stringify(outcomes, (_key, value: unknown) =>
    (ArrayBuffer.isView(value) ? Array.from(value as Float64Array, exact)
      : typeof value === 'number' ? exact(value) : value)));
  return { digest: digest.digest('hex'), kind: outcomes[0]!.kind };
}

/** All bits of a number. */
const exact = (value: number): string =>
  Buffer.from(Float64Array.of(value).buffer).toString('hex');

const quiet = { debug: noop, info: noop, warn: noop, error: noop };
function noop(): void {}

/** What a node has to summarise epochs. */
function nodeOf(name: string, store: Store, people: number): HubContext {
  const runner = new InlineEpochRunner({ noise: () => seededNoise(`noise of ${name}`) });
  const context = { store, runner, logger: quiet, clock: systemClock, stopped: () => false };
  return { ...context, ...slicingOf({ store, slicePeople: people }) } as unknown as HubContext;
}

/** The batches of everybody, with their rows. */
function batchesOf(name: string, sample: ComplianceSample): readonly AdmissionRequest[] {
  const rows = rowsOf(name, sample);
  const { dimension: columns } = sample;
  const studyId = idOf(name);
  return sent.filter(({ contributor }) => places.get(contributor)! < sample.cohort)
    .map((each) => {
      const values = rows[2 * places.get(each.contributor)! + Number(each.sequence) - 1]!;
      const { sequence, epoch, last } = each;
      const body = encodeBatchBody({
        studyId: fromHex(studyId), sequence, epoch, last, rows: 1, columns, dataType: 'float64',
        data: encodeRows(values, 'float64'),
      });
      return { ...each, studyId, body };
    });
}

/** Takes an epoch of the study to its charge, with the batches of everybody. */
async function charged(
  stores: readonly Store[], name: string, sample: ComplianceSample,
): Promise<void> {
  const studyId = idOf(name);
  const [first] = stores as [Store];
  await first.registerStudy(
    registration({ studyId, name, budget: budget({ key: `study:${name}` }) }));
  await first.openEpoch(epochOf(1, { studyId }));
  const batches = batchesOf(name, sample);
  for (let from = 0, list = 0; from < batches.length; from += perList, list++) {
    const results = await stores[list % stores.length]!.admit(batches.slice(from, from + perList));
    expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
  }
  await first.beginClose(studyId, 1n);
  await first.chargeEpoch(studyId, 1n, '[]', 5_000);
}

describePostgres('releases of rows that several servers took', (server) => {
  const stores: Store[] = [];
  let folder = '';
  let shared = '';
  let journals: readonly (readonly JournalEntry[])[] = [];

  beforeAll(async () => {
    const open = async (count: number): Promise<readonly Store[]> => {
      const url = await server().createDatabase();
      await migrateSchema({ url });
      shared = url;
      const opened = await Promise.all(Array.from({ length: count }, () =>
        openPostgresStore({ encryptionKeys, url, leaseMs: 600_000 })));
      stores.push(...opened);
      return opened;
    };
    folder = mkdtempSync(join(memoryFolder, 'keelson-releases-'));
    const sqlite = await openInlineSqliteStore({ directory: folder, clock: systemClock });
    stores.push(sqlite);
    journals = [
      await journalOf([sqlite]), await journalOf(await open(1)), await journalOf(await open(3)),
    ];
  }, 300_000);
  afterAll(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('have the rows in the order of SQLite on one server, and in another one on three', () => {
    const names = journals.map((entries) => entries.map(({ contributor, sequence, complete }) =>
      `${contributor} ${sequence} ${complete}`));
    expect(names[1]).toEqual(names[0]);
    expect(names[2]).not.toEqual(names[0]);
    expect([...names[2]!].sort()).toEqual([...names[0]!].sort());
  });

  /** Estimators whose contributors are summarised on several nodes. */
  const together =
    ['count', 'distribution', 'histogram', 'median', 'quantile', 'ratio', 'share', 'sum'];

  it('are shared among nodes where summaries add up exactly', () => {
    expect(Object.entries(samples).flatMap(([name, sample]) =>
      (mayBeSliced(studyOf(name, sample)) ? [name] : [])).sort()).toEqual(together);
  });

  it.for(Object.entries(samples))('are the same bytes when nodes that die share them: %s',
    async ([name, sample]) => {
      const definition = studyOf(name, sample);
      const studyId = idOf(name);
      const [sqlite, , ...nodes] = stores as [Store, Store, SharedStore, SharedStore, SharedStore];
      const summarised = async (store: Store, people: number): Promise<HubContext> => {
        const node = nodeOf(name, store, people);
        const held = heldEpochOf((await store.epoch(studyId, 1n))!);
        await summariseTogether(node, definition, studyId, held);
        return node;
      };
      await charged([sqlite], name, sample);
      await charged(nodes, name, sample);
      const people = sample.cohort / 6;
      const leader = summarised(nodes[0], people);
      const workers: SliceWorker[] = [];
      if (together.includes(name)) {
        const { slices } = nodes[1];
        const plans = new Map([[studyId, planDigest(definition)]]);
        let dead: ClaimedSlice | null = null;
        await until(async () => (dead = await slices!.claim(plans)) !== null);
        await slices!.journal(dead!, 0n, 100);
        for (const store of [nodes[0], nodes[2]]) {
          const node = nodeOf(name, store, people);
          workers.push(
            new SliceWorker(node, node.slicing!, () => new Map([[studyId, definition]])));
        }
        await until(async () => (await slices!.left(studyId, 1n)).count === 1);
        await psql(shared, "update keelson.epoch_slices set expires_at = '-infinity'");
        await leader;
        await expect(slices!.finish(dead!, new Uint8Array(8))).rejects.toThrow(/another server/);
      }
      const expected = await published((await summarised(sqlite, people)).runner, studyId);
      expect(expected.kind).toBe('value');
      expect(await published((await leader).runner, studyId)).toEqual(expected);
      if (!together.includes(name)) return;
      const alone = await summarised(nodes[1], Infinity);
      expect(await published(alone.runner, studyId)).toEqual(expected);
      for (const worker of workers) await worker.close();
    });

  it('are the same bytes when a process is killed in the middle of a slice', async () => {
    const sample = samples['histogram']!;
    const [definition, name, people] = [studyOf('histogram', sample), 'killed', sample.cohort / 6];
    const studyId = idOf(name);
    const [sqlite, , ...nodes] = stores as [Store, Store, SharedStore, SharedStore, SharedStore];
    const summarised = async (node: HubContext): Promise<HubContext> => {
      const held = heldEpochOf((await node.store.epoch(studyId, 1n))!);
      await summariseTogether(node, definition, studyId, held);
      return node;
    };
    await charged([sqlite], name, sample);
    await charged(nodes, name, sample);
    const leader = summarised(nodeOf(name, nodes[0], people));
    const reader = new LiveCommand(
      [shared, encryptionKeys, studyId, fromUtf8(encodeStudyDocument(definition.document))],
      { command: `${root}test/support/children/slice-reader.js` });
    let worker: SliceWorker | undefined;
    try {
      const { name: claimed, contributors } = await reader.line(() => true);
      expect(claimed).toBe(`${studyId}/0/1`);
      expect(contributors).toBeGreaterThan(0);
      expect((await reader.kill()).status).toBeNull();
      const { slices } = nodes[1];
      const node = nodeOf(name, nodes[1], people);
      worker = new SliceWorker(node, node.slicing!, () => new Map([[studyId, definition]]));
      await until(async () => (await slices!.left(studyId, 1n)).count === 1);
      // The claim of the dead process still holds.
      expect(await slices!.claim(new Map([[studyId, planDigest(definition)]]))).toBeNull();
      await psql(shared, `update keelson.epoch_slices set expires_at = now() - interval '1 s'
        where summary is null`);
      const expected =
        await published((await summarised(nodeOf(name, sqlite, people))).runner, studyId);
      expect(expected.kind).toBe('value');
      expect(await published((await leader).runner, studyId)).toEqual(expected);
      expect(await psql(shared, `select slice, token from keelson.epoch_slices join keelson.epochs
        using (epoch_key) join keelson.studies using (study_key)
        where study_id = '${studyId}' and token != 1`)).toBe('0|2');
    } finally {
      await reader.kill();
      await worker?.close();
    }
  });
});
