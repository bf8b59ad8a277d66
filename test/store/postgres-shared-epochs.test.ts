import { afterEach, beforeEach, expect, it } from 'vitest';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { systemClock } from '../../server/base/clock.js';
import type { EpochSlices, SharedStore } from '../../server/store/shared.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { createStudyHub, type RunningHub } from '../../server/studies/hub/hub.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { SliceCounts } from '../../server/studies/node-health.js';
import type { Outcome } from '../../src/base/outcome.js';
import { signing } from '../../src/signing/node.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { batchOf, define } from '../support/hub-bench.js';
import { describePostgres, psql } from '../support/postgres.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';
import { until } from '../support/until.js';

const people = 40;
const study = (): StudyDefinition => define({
  epoch: { contributors: people }, cohort: people, estimator: 'sum',
  parameters: { range: [-500, 500, -500, 1_500] }, retention: { kind: 'release' },
});

describePostgres('servers that summarise an epoch together', (server) => {
  let url = '';
  const stores: SharedStore[] = [];
  const hubs: RunningHub[] = [];
  const logs: string[] = [];
  const failures: unknown[] = [];

  beforeEach(async () => {
    url = await server().createDatabase();
    await migrateSchema({ url });
    logs.length = 0;
    failures.length = 0;
  });
  afterEach(async () => {
    for (const hub of hubs.splice(0)) await hub.close();
    for (const store of stores.splice(0)) await store.close();
    expect(failures).toEqual([]);
  });

  const sql = (text: string): Promise<string> => psql(url, `set search_path = keelson; ${text}`);

  async function start(
    changed: (slices: EpochSlices) => Partial<EpochSlices>, runner = new InlineEpochRunner(),
  ): Promise<{ readonly hub: RunningHub; readonly store: SharedStore }> {
    const store = await openPostgresStore({ url, encryptionKeys, leaseMs: 600_000 });
    stores.push(store);
    const log = (_: object, text: string): void => { logs.push(text); };
    const slices = store.slices!;
    const hub = await createStudyHub({
      store: { ...store, slices: { ...slices, ...changed(slices) } } as SharedStore,
      runnerFactory: () => runner, clock: systemClock, slicePeople: 5, studies: [study()],
      signer: signing.createSigner(new Uint8Array(32).fill(5)),
      logger: { debug: log, info: log, warn: log, error: log },
      onFatal: (error) => failures.push(error),
    });
    hubs.push(hub);
    return { hub, store };
  }

  const slicesOf = (hub: RunningHub): SliceCounts => hub.node!()!.slices;

  /** Everybody contributes, in turn to each server. @returns the outcome of the epoch. */
  async function answered(): Promise<Outcome | undefined> {
    const { studyId } = hubs[0]!.studies()[0]!;
    await Promise.all(Array.from({ length: people }, (_, i) =>
      hubs[i % hubs.length]!.submit(batchOf(studyId, i, 1n))));
    await until(async () => (await stores[0]!.releases(studyId, 0, 1)).length === 1, 20);
    const [release] = await stores[0]!.releases(studyId, 0, 1);
    return decodeReleaseBody(release!.body).answers[0]!.outcome;
  }

  it('release what they have read, and keep no summary', async () => {
    const read: string[] = [];
    const noting = (name: string) => (slices: EpochSlices): Partial<EpochSlices> => ({
      async finish(claimed, summary) {
        await slices.finish(claimed, summary);
        read.push(`${name} ${claimed.slice}`);
      },
    });
    await start((slices) => ({
      ...noting('leader')(slices),
      // So that the other one reads, too, whoever is faster.
      claim: async (plans) => (read.length === 0 ? null : slices.claim(plans)),
    }));
    await start(noting('other'));
    expect(await answered()).toMatchObject({ kind: 'value' });
    expect(read[0]).toBe('other 0');
    expect(read.map((each) => each.split(' ')[1]).sort())
      .toEqual(Array.from({ length: people / 5 }, (_, i) => String(i)));
    await until(async () => await sql('select count(*) from epoch_slices') === '0');
    expect(logs.filter((text) => /summaris|slice/.test(text))).toEqual([]);
    const counts = hubs.map(slicesOf);
    expect(counts.map(({ done }) => done)).toEqual(['leader', 'other'].map((name) =>
      read.filter((each) => each.startsWith(name)).length));
    expect(counts.every(({ failed, lost }) => failed === 0 && lost === 0)).toBe(true);
    expect(counts[1]!.secondsTotal).toBeGreaterThan(0);
  });

  it('go on where one of them stops in the middle of a slice', { tags: ['slow'] }, async () => {
    let isHeld = false;
    const hangs = new InlineEpochRunner();
    let thaw = (): void => {};
    hangs.encode = () => {
      isHeld = true;
      return new Promise((_, reject) => { thaw = () => reject(new Error('gone')); });
    };
    await start((slices) => ({
      claim: async (plans) => (isHeld ? slices.claim(plans) : null),
    }));
    await start(() => ({}), hangs);
    const answer = answered();
    await until(async () => isHeld
      && await sql('select count(*) from epoch_slices where summary is null') === '1');
    await sql("update epoch_slices set expires_at = '-infinity' where summary is null");
    expect(await answer).toMatchObject({ kind: 'value' });
    thaw();
  });

  it('end an epoch as interrupted whose slice fails three times', async () => {
    const tries: number[] = [];
    for (const name of [0, 1, 2]) {
      const fails = new InlineEpochRunner();
      fails.encode = async () => {
        tries.push(name);
        throw new Error('no memory');
      };
      // One after the other, so that all try the first slice.
      await start((slices) => ({
        claim: async (plans) => (tries.length === name ? slices.claim(plans) : null),
      }), fails);
    }
    expect(await answered()).toMatchObject({ kind: 'refused', reason: 'interrupted' });
    expect(tries).toEqual([0, 1, 2]);
    expect(hubs.map((hub) => slicesOf(hub).failed)).toEqual([1, 1, 1]);
    expect(logs.filter((text) => /cannot be summarised here/.test(text))).toHaveLength(3);
    expect(logs).toContain('an epoch cannot be rebuilt; it ends as interrupted');
  });
}, ['long']);
