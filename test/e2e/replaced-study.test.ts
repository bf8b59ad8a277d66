import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createContributor, openOutbox, subscribe } from '../../client/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { decodeStudyDocument } from '../../src/wire/index.js';
import { define } from '../support/hub-bench.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

const change = { participation: 'public', epoch: { everyMs: 600_000 }, cohort: 400 } as const;
const budget = { epsilon: 100, delta: 1e-5, rule: 'zcdp', scope: 'study' } as const;
let directory: string;
let aggregator: Aggregator;
let clock: ShiftedClock;
beforeEach(async () => {
  clock = new ShiftedClock();
  directory = mkdtempSync(join(tmpdir(), 'keelson-replaced-'));
  aggregator = await createAggregator({
    dataDirectory: join(directory, 'data'), port: 0, logger: silentLogger, releaseTickMs: 0, clock,
    runnerFactory: () => new InlineEpochRunner(), network: { limits: { heartbeatMs: 2_000 } },
    studies: [define({ ...change, budget }), define({ ...change, budget, study: 'other' })],
  });
});
afterEach(async () => {
  await aggregator.close();
  rmSync(directory, { recursive: true, force: true });
});

const namesIn = async (client: WireClient): Promise<string[]> =>
  (await client.next('welcome')).studies.map(({ facts }) => decodeStudyDocument(facts).study);

it('makes subscribers of the older version read the newer one, and loses nothing', async () => {
  const url = aggregator.address.replace('http', 'ws');
  const [older, other] = aggregator.hub.studies();
  const { name: study, studyId } = older!;
  const [follower, bystander] = [
    await WireClient.open(aggregator.port), await WireClient.open(aggregator.port),
  ];
  const signer = newSigner();
  const before = await WireContributor.open(follower, studyId, signer);
  expect(await before.send(1n)).toMatchObject({ accepted: [1n] });
  await WireContributor.open(bystander, other!.studyId);
  const contributor = createContributor({ url, study, seed: new Uint8Array(32).fill(9) });
  expect(await contributor.send([[1, 2]])).toMatchObject({ kind: 'accepted', epoch: 1n });
  const releases = (async () => {
    const seen: bigint[] = [];
    for await (const { release } of subscribe({ url, study, endGraceMs: 50 })) {
      seen.push(release.epoch);
    }
    return seen;
  })();

  expect(
    await reloadStudies(aggregator.hub, [define({ ...change, budget, cohort: 500 })], silentLogger),
  )
    .toEqual({ added: [study], refused: [] });
  expect(await follower.closed()).toBe(1001);
  expect(follower.closeReason).toContain('newer version');
  // The name means the newer one now, while the older one still takes rows.
  const again = await WireClient.open(aggregator.port);
  expect(await namesIn(again)).toEqual(['other', study, study]);
  const newer = aggregator.hub.studies()[1]!;
  expect([newer.studyId === studyId, aggregator.hub.study(studyId)!.epoch]).toEqual([false, 1n]);
  const after = await WireContributor.open(again, studyId, signer);
  expect(after.ready).toMatchObject({ nextSequence: 2n, epoch: 1n });
  expect(await after.send(1n)).toMatchObject({ accepted: [1n], rejections: [] });
  expect(await after.send(2n, { last: true })).toMatchObject({ accepted: [2n] });
  expect(await contributor.send([[3, 4]], { last: true }))
    .toMatchObject({ kind: 'accepted', epoch: 1n });
  expect(bystander.closeCode).toBeUndefined();

  // Its last release is whole, and then its followers are told that it ended.
  clock.advance(600_000);
  expect(await releases).toEqual([1n]);
  expect(await aggregator.hub.releases(studyId, 0, 9)).toHaveLength(1);
  await expect(contributor.send([[5, 6]])).rejects.toMatchObject({ code: 'study-ended' });
  await contributor.close();
  // Who comes by name takes part in the newer one.
  const next = createContributor({ url, study, seed: new Uint8Array(32).fill(9) });
  expect(await next.contribute([[7, 8]])).toMatchObject({ kind: 'accepted' });
  expect((await next.study()).cohort).toBe(newer.document.cohort);
  await next.close();
});

it('keeps an outbox with the facts that it began with', async () => {
  const url = aggregator.address.replace('http', 'ws');
  const { name: study, studyId } = aggregator.hub.studies()[0]!;
  const seed = new Uint8Array(32).fill(9);
  const contribute = async (wanted: string): Promise<unknown> => {
    const outbox = await openOutbox(join(directory, 'outbox'));
    const contributor = createContributor({ url, study: wanted, seed, outbox });
    return contributor.send([[1, 2]]).then(({ kind }) => kind, ({ code }: { code: string }) => code)
      .finally(() => contributor.close().then(() => outbox.close()));
  };
  expect(await contribute(study)).toBe('accepted');
  await reloadStudies(aggregator.hub, [define({ ...change, budget, cohort: 500 })], silentLogger);
  expect([await contribute(study), await contribute(studyId)]).toEqual(['accepted', 'accepted']);
  const [, newer] = aggregator.hub.studies();
  // The older version is still there, but another one was asked for.
  expect([await contribute(newer!.studyId), await contribute('other')])
    .toEqual(['unknown-study', 'unknown-study']);
  expect(await aggregator.hub.progress(newer!.studyId)).toMatchObject({ complete: 0 });
});
