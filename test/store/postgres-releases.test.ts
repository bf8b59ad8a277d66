import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { partOf } from '../../server/epochs/reduction.js';
import type { AdmissionRequest, JournalEntry, Store } from '../../server/store/contract.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { defineStudy } from '../../server/studies/definition.js';
import { journalPages } from '../../server/studies/journal-pages.js';
import { fromHex } from '../../src/base/bytes.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import { samples } from '../compliance/samples.js';
import type { ComplianceSample } from '../compliance/suite.js';
import { dataSource } from '../support/data.js';
import { memoryFolder } from '../support/memory-folder.js';
import { describePostgres } from '../support/postgres.js';
import { batch, epochOf, idOf, registration } from '../support/store-fixtures.js';
import { rowKeys } from '../support/postgres/row-keys.js';

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

/** What a server would publish: a digest of all outcomes. */
async function releaseOf(
  name: string, sample: ComplianceSample, entries: readonly JournalEntry[],
): Promise<{ readonly digest: string; readonly kind: string }> {
  const { dimension, cohort } = sample;
  const estimator = estimators.find((each) => each.name === name)!;
  const { document, target } = defineStudy({
    version: 1, study: 's', columns: Array.from({ length: dimension }, (_, i) => `c${i}`), cohort,
    participation: 'secret', epoch: { everyMs: 1_000 },
    contribution: { reduce: 'mean', rowsMax: 4 }, estimator: name,
    parameters: parseParameters(estimator.parameters, sample.parameters, { dimension }),
    privacy: { epsilon: 8, delta: 1e-6 },
    budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
    admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' },
  });
  const data = dataSource(`rows of ${name}`);
  const rows = Array.from({ length: 2 * cohort }, () => sample.honest(data));
  const { assignmentKey, workSeed } = epochOf(1);
  const runner = new InlineEpochRunner({ noise: () => seededNoise(`noise of ${name}`) });
  await runner.open({ studyId: s, epoch: 1n, document, target, assignmentKey, workSeed });
  for (const { contributor, sequence, complete } of entries) {
    const place = places.get(contributor)!;
    if (place >= cohort) continue;
    runner.add(s, 1n, [partOf(document, assignmentKey, {
      contributor: fromHex(contributor), sequence, complete, rows: 1,
      values: rows[2 * place + Number(sequence) - 1]!,
    })]);
  }
  const { outcomes } = await runner.release(s, 1n);
  const digest = createHash('sha256').update(JSON.stringify(outcomes, (_key, value: unknown) =>
    (ArrayBuffer.isView(value) ? Array.from(value as Float64Array, exact)
      : typeof value === 'number' ? exact(value) : value)));
  return { digest: digest.digest('hex'), kind: outcomes[0]!.kind };
}

/** All bits of a number. */
const exact = (value: number): string =>
  Buffer.from(Float64Array.of(value).buffer).toString('hex');

describePostgres('releases of rows that several servers took', (server) => {
  const stores: Store[] = [];
  let folder = '';
  let journals: readonly (readonly JournalEntry[])[] = [];

  beforeAll(async () => {
    const open = async (count: number): Promise<readonly Store[]> => {
      const url = await server().createDatabase();
      await migrateSchema({ url });
      const opened = await Promise.all(Array.from({ length: count }, () =>
        openPostgresStore({ rowKeys, url, leaseMs: 600_000 })));
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

  it.for(Object.entries(samples))('are the same bytes: %s', async ([name, sample]) => {
    // One server on PostgreSQL has the entries of SQLite, so its release is the same.
    const sqlite = await releaseOf(name, sample, journals[0]!);
    expect(sqlite.kind).toBe('value');
    expect(await releaseOf(name, sample, journals[2]!)).toEqual(sqlite);
  });
}, ['slow']);
