import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import type { SharedStore } from '../../server/store/shared.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import { defineStudy } from '../../server/studies/definition.js';
import { createStudyHub, type RunningHub } from '../../server/studies/hub/hub.js';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import { signing } from '../../src/signing/node.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import { batchOf, questionsDocument } from '../support/hub-bench.js';
import { describePostgres, psql } from '../support/postgres.js';
import { batch, epochOf, idOf, registration } from '../support/store-fixtures.js';
import { until } from '../support/until.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const s = idOf('s');
const peopleMax = 12;

describePostgres('the people of an epoch, on two nodes', (server) => {
  let url = '';
  let stores: readonly [SharedStore, SharedStore];

  beforeEach(async () => {
    url = await server().createDatabase();
    await migrateSchema({ url });
    const open = () => openPostgresStore({ encryptionKeys, url, leaseMs: 600_000 });
    stores = [await open(), await open()];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
  });

  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);

  /** Eight new contributors at each node, at once. @returns how many were accepted. */
  async function fill(epoch: number): Promise<number> {
    const results = await Promise.all(stores.map((store, node) => store.admit(
      Array.from({ length: 8 }, (_, i) => batch(`${epoch}/${node}/${i}`, 1, epoch, { peopleMax })),
    )));
    for (const { verdict, isFull } of results.flat()) {
      expect([verdict, isFull]).toEqual(
        verdict === 'accepted' ? ['accepted', undefined] : ['rejected', true]);
    }
    return results.flat().filter(({ verdict }) => verdict === 'accepted').length;
  }

  it('are never more together than it takes', async () => {
    const [one, two] = stores;
    await one.registerStudy(registration());
    await one.openEpoch(epochOf(1));
    await two.admit([batch('first', 1, 1, { peopleMax })]);
    // Holds the row until both lists have been judged and wait for it.
    const held = sql(`begin; select people from epoch_people for update; do $$ begin loop
      perform pg_stat_clear_snapshot();
      exit when (select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock') = 2;
      perform pg_sleep(0.01); end loop; end $$; commit`);
    await until(async () => await sql('select count(*) from pg_locks where granted and mode = '
      + "'RowShareLock' and relation = 'epoch_people'::regclass") === '1');
    expect(await fill(1)).toBe(11);
    await held;
    expect(await one.peopleCount(s, 1n)).toBe(12);
    expect(await two.journal(s, 1n, 0n, 100)).toHaveLength(12);
    for (let epoch = 2; epoch <= 6; epoch++) {
      await one.turnEpoch(s, BigInt(epoch - 1), epochOf(epoch, { rho: 1n as never }));
      expect(await fill(epoch)).toBe(12);
      expect(await two.peopleCount(s, BigInt(epoch))).toBe(12);
    }
  });

  it('bring keys that nobody listed to a node that does not lead, and are released', async () => {
    const people = 24;
    const types: readonly ColumnType[] = [{ type: 'text', bytes: 16 }];
    const study = defineStudy(questionsDocument([{
      name: 'apps', estimator: 'count', columns: [], where: [], reduce: 'mean', part: 100,
      parameters: parseParameters(findEstimator('count').parameters, {}, { dimension: 1 }),
      by: { columns: ['app'], groupsMax: 1, discover: { top: 3, prefilter: 2 } },
    }], {
      columns: ['app'], types, cohort: people, epoch: { contributors: people },
      privacy: { epsilon: 8, delta: 1e-6 },
      budget: { epsilon: 8, delta: 1e-6, rule: 'zcdp', scope: 'study' },
    }));
    const failures: unknown[] = [];
    const log = (): void => undefined;
    const start = (store: SharedStore): Promise<RunningHub> => createStudyHub({
      store, clock: systemClock, signer: signing.createSigner(new Uint8Array(32).fill(5)),
      runnerFactory: () => new InlineEpochRunner({ noise: () => seededNoise('keys') }),
      seriesKey: () => new Uint8Array(32).fill(9), studies: [study],
      logger: { debug: log, info: log, warn: log, error: log },
      onFatal: (error) => failures.push(error),
    });
    const leader = await start(stores[0]);
    const follower = await start(stores[1]);
    const { studyId } = leader.studies()[0]!;
    expect(follower.node!()).toMatchObject({ leads: [], follows: [study.document.study] });
    const send = async (hub: RunningHub, from: number, to: number): Promise<void> => {
      const sent = Array.from({ length: to - from }, (_, i) => hub.submit(useOf(from + i)));
      expect((await Promise.all(sent)).every(({ verdict }) => verdict === 'accepted')).toBe(true);
    };
    const useOf = (person: number): VerifiedBatch => {
      const facts = { sequence: 1n, epoch: 1n, last: true, rows: 1, columns: 1 };
      const body = encodeBatchBody({
        ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
        cells: encodeCells(Float64Array.of(0), types, 'float64', ['chess']),
      });
      const cells = batchCells(decodeBatchBody(body), types);
      return { ...batchOf(studyId, person, 1n), ...facts, body, ...cells };
    };
    await send(follower, 0, 10);
    await send(leader, 10, 11);
    for (const hub of [leader, follower]) {
      expect(await hub.progress(studyId)).toMatchObject(
        { contributors: 11, people: { came: 11, most: 16 * people } });
    }
    await send(follower, 11, people);
    await until(() => follower.study(studyId)!.releaseCount === 1, 20);
    const [released] = await follower.releases(studyId, 0, 1);
    const { outcome } = decodeReleaseBody(released!.body).answers[0]!;
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    expect(outcome.groups).toEqual([['chess']]);
    expect(Math.abs(outcome.estimate[0]! - people)).toBeLessThan(6);
    await follower.close();
    await leader.close();
    expect(failures).toEqual([]);
  });
});
