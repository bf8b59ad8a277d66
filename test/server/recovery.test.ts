// @module-tag long
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { signing } from '../../src/signing/node.js';
import { decodeReleaseBody, type ShortFacts } from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { seededNoise } from '../../src/random/insecure.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { until } from '../support/until.js';
import { Bench, batchOf, contribute, define, everyMs, rowOf } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

const idOf = (hub: RunningHub): string => hub.studies()[0]!.studyId;

/**
 * Contributor i sends its row, some in two batches, and every seventh never says that it is done.
 */
async function sendSome(
  hub: RunningHub, studyId: string, from: number, to: number, part: 1 | 2,
): Promise<void> {
  const batches = [];
  for (let i = from; i < to; i++) {
    if (i % 3 !== 0) {
      if (part === 1) batches.push(batchOf(studyId, i, 1n));
    } else {
      const values = Float64Array.of(...rowOf(i), ...rowOf(i + 10_000));
      batches.push(batchOf(studyId, i, 1n, {
        sequence: BigInt(part), values, last: part === 2 && i % 7 !== 0,
      }));
    }
  }
  const results = await Promise.all(batches.map((batch) => hub.submit(batch)));
  expect(results.every((result) => result.verdict === 'accepted')).toBe(true);
}

/** One epoch, with a restart wherever `restarts` says; returns the bytes of its release. */
async function lifeWith(
  study: StudyDefinition, contributors: number, restarts: readonly number[],
): Promise<Uint8Array> {
  // The same keys in every life, so that lives can be compared.
  let drawn = 0;
  vi.spyOn(signing, 'randomBytes')
    .mockImplementation((length) => new Uint8Array(length).fill(++drawn));
  const own = new Bench();
  let hub = await own.start([study]);
  const studyId = idOf(hub);
  const restartAt = async (point: number): Promise<void> => {
    if (!restarts.includes(point)) return;
    await hub.close();
    hub = await own.start([study]);
    expect(idOf(hub)).toBe(studyId);
  };
  await restartAt(0);
  await sendSome(hub, studyId, 0, Math.floor(contributors / 2), 1);
  await restartAt(1);
  await sendSome(hub, studyId, Math.floor(contributors / 2), contributors, 1);
  await restartAt(2);
  await sendSome(hub, studyId, 0, contributors, 2);
  await restartAt(3);
  await own.clock.advance(everyMs);
  await hub.settled();
  const [release] = await hub.releases(studyId, 0, 1);
  await hub.close();
  await own.close();
  return release!.body;
}

const grouped: Partial<ShortFacts> = {
  estimator: 'populous-mean', parameters: { spread: [40, 600], corruption: 0.05, local: 'robust' },
  cohort: 1_500, privacy: { epsilon: 8, delta: 1e-6 },
  budget: { epsilon: 40, delta: 1e-5, rule: 'zcdp', scope: 'study' },
};

const one: Partial<ShortFacts> = { contribution: { reduce: 'one', rowsMax: 8 } };

describe('an epoch that is rebuilt', () => {
  it.each([
    ['the mean', {}, 400],
    ['one record of each', one, 400],
    ['an estimator with groups', grouped, 1_500],
  ])('gives the same release as one that was never interrupted: %s', async (
    _name, overrides, contributors,
  ) => {
    const study = define(overrides);
    const reference = await lifeWith(study, contributors, []);
    expect(decodeReleaseBody(reference).answers[0]!.outcome.kind).toBe('value');
    expect(Buffer.from(await lifeWith(study, contributors, [2])).equals(Buffer.from(reference)))
      .toBe(true);
    expect(Buffer.from(await lifeWith(study, contributors, [0, 1, 3]))
      .equals(Buffer.from(reference))).toBe(true);
  });

  it('goes on until its scheduled close, then closes', async () => {
    const study = define();
    let hub = await bench.start([study]);
    const { closesAtMs } = hub.studies()[0]!;
    await contribute(hub, idOf(hub), 20, 1n);
    await bench.clock.advance(everyMs / 2);
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.studies()[0]).toMatchObject({ epoch: 1n, closesAtMs });
    await bench.clock.advance(everyMs / 2);
    await hub.settled();
    expect(hub.studies()[0])
      .toMatchObject({ epoch: 2n, releaseCount: 1, closesAtMs: closesAtMs + everyMs });
    expect(bench.record.contributorsAtDraw.get(`${idOf(hub)}/1`)).toBe(20);
    await hub.close();
  });

  it('is closed at once when its time passed while the server was down', async () => {
    const study = define();
    let hub = await bench.start([study]);
    const { closesAtMs } = hub.studies()[0]!;
    await contribute(hub, idOf(hub), 20, 1n);
    await hub.close();
    await bench.clock.advance(10 * everyMs);
    hub = await bench.start([study]);
    expect(hub.studies()[0]!.epoch).toBe(2n);
    await hub.settled();
    const [release] = await hub.releases(idOf(hub), 0, 10);
    expect(decodeReleaseBody(release!.body))
      .toMatchObject({ epoch: 1n, closedAtMs: BigInt(closesAtMs) });
    expect(hub.studies()[0]!.closesAtMs).toBe(bench.clock.nowMs() + everyMs);
    await hub.close();
  });

  it('does not stay open for longer when the clock was set back meanwhile', async () => {
    const study = define();
    let hub = await bench.start([study]);
    await hub.close();
    bench.clock.jump(-24 * 3_600_000);
    hub = await bench.start([study]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()[0]).toMatchObject({ epoch: 2n, releaseCount: 1 });
    // Its close was scheduled for tomorrow; its charge counts from today.
    const entries = await (await bench.store()).ledgerEntries('study:delays', 9);
    const charge = entries.find(({ kind }) => kind === 'charged')!;
    expect(charge.atMs).toBeLessThanOrEqual(bench.clock.nowMs());
    await hub.close();
  });

  it('is given up after it stopped the server twice, charged, and the next epoch '
    + 'runs', async () => {
    const study = define();
    const first = await bench.start([study]);
    const studyId = idOf(first);
    await contribute(first, studyId, 20, 1n);
    await first.close();
    const store = await bench.store();
    const journal = store.journal.bind(store);
    // As a process that dies while it rebuilds: the start never comes back, and nothing after the
    // count is written.
    let rebuilding = 0;
    store.journal = () => {
      rebuilding += 1;
      return new Promise(() => {});
    };
    for (let start = 1; start <= 2; start++) {
      void bench.start([study]);
      await until(() => rebuilding === start);
    }
    store.journal = journal;
    const hub = await bench.start([study]);
    await hub.settled();
    const [release] = await hub.releases(studyId, 0, 10);
    expect(
      decodeReleaseBody(release!.body),
    ).toMatchObject({
      epoch: 1n, answers: [{ outcome: { kind: 'refused', reason: 'interrupted' } }],
    });
    expect((await store.balance('study:delays'))!.rhoSpent).toBe(study.charge.rho);
    expect(bench.record.draws.size).toBe(0);
    expect(hub.studies()[0]!.epoch).toBe(2n);
    await hub.close();
  });

  it('is given up alone when it cannot be rebuilt', async () => {
    const study = define();
    const other = define({ study: 'other' });
    const first = await bench.start([study, other]);
    const [studyId, otherId] = first.studies().map((view) => view.studyId) as [string, string];
    await contribute(first, studyId, 20, 1n);
    await contribute(first, otherId, 20, 1n);
    await first.close();
    const store = await bench.store();
    const journal = store.journal.bind(store);
    store.journal = async (id, epoch, after, limit) => {
      const page = await journal(id, epoch, after, limit);
      return id === studyId
        ? page.map((entry) => ({ ...entry, body: new Uint8Array([1, 2, 3]) })) : page;
    };
    const hub = await bench.start([study, other]);
    await hub.settled();
    expect(hub.studies().map((view) => [view.epoch, view.releaseCount]))
      .toEqual([[2n, 1], [1n, 0]]);
    expect(await hub.progress(otherId)).toMatchObject({ contributors: 20 });
    await hub.close();
  });

  it('is not released by a program that would draw more than was reserved', async () => {
    const study = define();
    const first = await bench.start([study]);
    await contribute(first, idOf(first), 20, 1n);
    await first.close();
    const dearer: StudyDefinition = {
      ...study,
      charge: { ...study.charge, rho: (study.charge.rho + 1n) as typeof study.charge.rho },
    };
    const hub = await bench.start([dearer]);
    await hub.settled();
    expect(bench.record.draws.size).toBe(0);
    const [release] = await hub.releases(idOf(hub), 0, 10);
    expect(decodeReleaseBody(release!.body)).toMatchObject({
      answers: [{ outcome: { reason: 'interrupted' } }], cost: { rhoAmount: study.charge.rho },
    });
    await hub.close();
  });
});

describe('a study that is not configured any more', () => {
  it('releases what was acknowledged, then leaves; it can come back', async () => {
    const study = define();
    let hub = await bench.start([study]);
    const studyId = idOf(hub);
    await contribute(hub, studyId, 20, 1n);
    await hub.close();
    hub = await bench.start([]);
    expect(hub.studies().map((view) => view.studyId)).toEqual([studyId]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(20);
    expect(hub.studies()).toEqual([]);
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.studies()[0]).toMatchObject({ state: 'open', epoch: 2n, releaseCount: 1 });
    await hub.close();
  });

  it('is ended when another version took its name, and their budget goes on', async () => {
    const first = define();
    let hub = await bench.start([first]);
    const oldId = idOf(hub);
    await contribute(hub, oldId, 20, 1n);
    await hub.close();
    const second =
      define({ cohort: 500, budget: { epsilon: 12, delta: 1e-5, rule: 'zcdp', scope: 'study' } });
    hub = await bench.start([second]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies().map((view) => view.document.cohort)).toEqual([500]);
    const store = await bench.store();
    expect((await store.study(oldId))!.state).toBe('ended');
    expect((await store.releases(oldId, 0, 10)).map((release) => release.epoch)).toEqual([1n]);
    expect((await store.balance('study:delays'))!.rhoSpent)
      .toBe(first.charge.rho + second.charge.rho);
    await hub.close();
  });
});

describe('the runner that is given', () => {
  it('draws from the system when no noise is injected: two runs differ', async () => {
    const study = define();
    const values = await Promise.all([1, 2].map(async () => {
      const own = new Bench();
      const hub = await own.start([study], { runner: new InlineEpochRunner() });
      await contribute(hub, idOf(hub), 400, 1n);
      await own.clock.advance(everyMs);
      await hub.settled();
      const [release] = await hub.releases(idOf(hub), 0, 1);
      await hub.close();
      await own.close();
      return JSON.stringify(decodeReleaseBody(release!.body).answers[0]!.outcome);
    }));
    expect(values[0]).not.toBe(values[1]);
    expect(seededNoise('x').secure).toBe(false);
  });
});
