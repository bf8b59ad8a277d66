import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../server/store/contract.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, decodeStudyDocument, encodeBatchBody, encodeCells,
  encodeStudyDocument,
} from '../../src/wire/index.js';
import { defineStudy } from '../../server/studies/definition.js';
import { document } from '../support/wire-samples.js';
import {
  Bench, batchOf, contribute, define, everyMs, hexKey, keyOf, questionsDocument,
} from '../support/hub-bench.js';
import { until } from '../support/until.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

type Hub = Awaited<ReturnType<Bench['start']>>;

/** One released epoch, then rows of key 5 so many spreads from its answer in the open one. */
async function apart(hub: Hub, spreads: number): Promise<string> {
  const { studyId } = hub.studies()[0]!;
  await contribute(hub, studyId, 300, 1n);
  await bench.clock.advance(everyMs);
  await hub.settled();
  const [release] = await hub.releases(studyId, 0, 1);
  const { outcome } = decodeReleaseBody(release!.body).answers[0]!;
  if (outcome.kind !== 'value') throw new Error('the epoch was to have an answer');
  const [minutes, miles] = outcome.estimate as [number, number];
  const values = Float64Array.of(minutes + 40 * spreads, miles);
  expect((await hub.submit(batchOf(studyId, 5, 2n, { sequence: 2n, values }))).verdict)
    .toBe('accepted');
  return studyId;
}

const verdictOf = async (hub: Hub, studyId: string, epoch: bigint, sequence: bigint, key = 5) => {
  const { verdict, code } = await hub.submit(batchOf(studyId, key, epoch, { sequence }));
  return code ?? verdict;
};

it('excludes nobody unless the study says from which distance on', async () => {
  const hub = await bench.start([define()]);
  const studyId = await apart(hub, 100);
  expect(await hub.quarantine!(studyId, keyOf(5))).toEqual({ kind: 'off' });
  expect(await hub.quarantines!(studyId, 9)).toEqual([]);
  await hub.close();
});

it('excludes a key by its own rows, from the next epoch on, for good and across a '
  + 'restart', async () => {
  const study = define({ quarantine: { beyond: 8 } });
  let hub = await bench.start([study]);
  const studyId = await apart(hub, 10);
  expect(await hub.quarantine!(studyId, keyOf(6))).toEqual({ kind: 'unknown' });
  const outcome = await hub.quarantine!(studyId, keyOf(5));
  expect(outcome).toEqual({ kind: 'excluded', fromEpoch: 3n, distance: 10, beyond: 8 });
  // The open epoch keeps what it has and takes more.
  expect(await verdictOf(hub, studyId, 2n, 3n)).not.toBe('quarantined');
  await contribute(hub, studyId, 4, 2n);
  await bench.clock.advance(everyMs);
  await hub.settled();
  expect(await verdictOf(hub, studyId, 3n, 4n)).toBe('quarantined');
  expect(await verdictOf(hub, studyId, 3n, 4n)).toBe('quarantined');
  expect(await verdictOf(hub, studyId, 3n, 3n, 6)).toBe('accepted');
  const entries = await hub.quarantines!(studyId, 9);
  expect(entries).toMatchObject([{ fromEpoch: 3n, distance: 10, beyond: 8, releaseIndex: 0 }]);
  await hub.close();
  hub = await bench.start([study]);
  expect(await hub.quarantines!(studyId, 9)).toEqual(entries);
  expect(await verdictOf(hub, studyId, 3n, 5n)).toBe('quarantined');
  await hub.close();
});

it('depends on no rows but the key\'s own', async () => {
  const hub = await bench.start([define({ quarantine: { beyond: 8 } })]);
  const studyId = await apart(hub, 7);
  const near = { kind: 'near', distance: 7, beyond: 8 };
  expect(await hub.quarantine!(studyId, keyOf(5))).toEqual(near);
  await contribute(hub, studyId, 4, 2n);
  expect(await hub.quarantine!(studyId, keyOf(5))).toEqual(near);
  expect(await hub.quarantines!(studyId, 9)).toEqual([]);
  await hub.close();
});

it('goes by the exact distance, not by the one that is shown', async () => {
  const hub = await bench.start([define({ quarantine: { beyond: 99.8 } })]);
  const studyId = await apart(hub, 99.6);
  expect(await hub.quarantine!(studyId, keyOf(5)))
    .toEqual({ kind: 'near', distance: 100, beyond: 99.8 });
  await hub.close();
});

it('measures what counts in a release: far rows do not cancel in sums that lose '
  + 'digits', async () => {
  const hub = await bench.start([define({ quarantine: { beyond: 8 } })]);
  const studyId = await apart(hub, 0);
  const values = Float64Array.of(2 ** 64, 730, 4e6, 730, -(2 ** 64), 730);
  await hub.submit(batchOf(studyId, 6, 2n, { sequence: 2n, values }));
  expect(await hub.quarantine!(studyId, keyOf(6))).toMatchObject({ kind: 'excluded' });
  await hub.close();
});

it.each([
  [1_500, 0, { kind: 'excluded', fromEpoch: 3n }],
  [1_500, 300, { kind: 'excluded', fromEpoch: 3n }],
  // The epoch may close, be released and be deleted meanwhile: its rows decide nothing.
  [500, 0, { kind: 'unknown' }], [500, 300, { kind: 'unknown' }], [500, 700, { kind: 'unknown' }],
] as const)('%d ms before a close decides the same when reading takes %d '
  + 'ms', async (leftMs, readMs, expected) => {
  const hub = await bench.start([define({ quarantine: { beyond: 8 } })]);
  const studyId = await apart(hub, 10);
  const store = await bench.store() as { journal: Store['journal'] };
  const journal = store.journal.bind(store);
  store.journal = async (...page) => {
    await new Promise<void>((resolve) => { bench.clock.after(readMs, resolve); });
    return journal(...page);
  };
  await bench.clock.advance(hub.studies()[0]!.closesAtMs - bench.clock.nowMs() - leftMs);
  const outcome = hub.quarantine!(studyId, keyOf(5));
  await bench.clock.advance(5_000);
  expect(await outcome).toMatchObject(expected);
  await bench.clock.advance(everyMs);
  await hub.close();
});

it('compares nobody with an answer that is no row: a count of one column', async () => {
  // A study file refuses this, but facts of an older one may hold it.
  const parameters = parseParameters(findEstimator('count').parameters, {}, { dimension: 1 });
  const hub = await bench.start([define({
    estimator: 'count', parameters, columns: ['delay'], quarantine: { beyond: 8, automatic: true },
  })]);
  const { studyId } = hub.studies()[0]!;
  await Promise.all(Array.from({ length: 40 }, (_, key) =>
    hub.submit(batchOf(studyId, key, 1n, { columns: 1, values: Float64Array.of(1) }))));
  await bench.clock.advance(everyMs);
  await hub.settled();
  const [release] = await hub.releases(studyId, 0, 1);
  expect(decodeReleaseBody(release!.body).answers[0]!.outcome)
    .toMatchObject({ kind: 'value', shape: [1] });
  expect(await hub.quarantines!(studyId, 99)).toEqual([]);
  await hub.close();
});

it('is refused where the absence of a key would show, or would change the promise', () => {
  const quarantine = { beyond: 8 };
  const own = {
    ...document, participation: 'secret' as const,
    budget: { ...document.budget, scope: 'study' as const },
  };
  expect(decodeStudyDocument(encodeStudyDocument({ ...own, quarantine })).quarantine)
    .toEqual(quarantine);
  const automatic = { beyond: 8, automatic: true } as const;
  expect(decodeStudyDocument(encodeStudyDocument({ ...own, quarantine: automatic })).quarantine)
    .toEqual(automatic);
  // One form for each rule: another would be another study.
  const long =
    encodeStudyDocument({ ...own, quarantine: { beyond: 8, automatic: false as unknown as true } });
  expect(() => decodeStudyDocument(long)).toThrow('facts.quarantine.automatic');
  expect(
    () => decodeStudyDocument(encodeStudyDocument({ ...own, quarantine, participation: 'public' })),
  ).toThrow('facts.quarantine');
  expect(() => decodeStudyDocument(encodeStudyDocument({
    ...own, quarantine, budget: { ...own.budget, scope: 'contributor' },
  }))).toThrow('facts.quarantine');
});

describe('the automatic rule', () => {
  const automatic = { beyond: 8, automatic: true } as const;
  /** Key 5 so many spreads from the answer of the epoch in which it says so. */
  async function far(hub: Hub, spreads: number, epoch: bigint): Promise<string> {
    const { studyId } = hub.studies()[0]!;
    // The answer of flights' like is near (12, 730) whatever one of 300 says.
    const values = Float64Array.of(12 + 40 * spreads, 730);
    await hub.submit(batchOf(studyId, 5, epoch, { sequence: epoch, values }));
    await Promise.all(Array.from({ length: 300 }, (_, i) => i).filter((key) => key !== 5)
      .map((key) => hub.submit(batchOf(studyId, key, epoch))));
    return studyId;
  }
  const close = async (hub: Hub): Promise<void> => {
    await bench.clock.advance(everyMs);
    await hub.settled();
  };

  it('excludes at the release, from the epoch after the open one, and nobody else', async () => {
    const hub = await bench.start([define({ quarantine: automatic })]);
    const studyId = await far(hub, 20, 1n);
    await close(hub);
    const entries = await hub.quarantines!(studyId, 9);
    expect(entries)
      .toMatchObject([{ contributor: hexKey(5), fromEpoch: 3n, beyond: 8, releaseIndex: 0 }]);
    expect(entries[0]!.distance).toBeGreaterThan(18);
    expect(await verdictOf(hub, studyId, 2n, 2n)).toBe('accepted');
    await close(hub);
    expect(await verdictOf(hub, studyId, 3n, 3n)).toBe('quarantined');
    expect(await verdictOf(hub, studyId, 3n, 3n, 6)).toBe('accepted');
    expect(await hub.quarantines!(studyId, 9)).toEqual(entries);
    await hub.close();
  });

  it('decides by a key\'s mean of an epoch against that epoch\'s answer, not by what is near '
    + 'enough', async () => {
    const hub = await bench.start([define({ quarantine: automatic })]);
    const studyId = await far(hub, 6, 1n);
    await close(hub);
    expect(await hub.quarantines!(studyId, 9)).toEqual([]);
    await far(hub, 6, 2n);
    await close(hub);
    expect(await hub.quarantines!(studyId, 9)).toEqual([]);
    await hub.close();
  });

  it('excludes nobody unless the facts say automatic', async () => {
    const hub = await bench.start([define({ quarantine: { beyond: 8 } })]);
    const studyId = await far(hub, 20, 1n);
    await close(hub);
    expect(await hub.quarantines!(studyId, 9)).toEqual([]);
    await hub.close();
  });

  it('opens no further epoch and deletes no rows before all keys are measured', async () => {
    const hub = await bench.start([define({ quarantine: automatic })]);
    const store = await bench.store() as { journal: Store['journal'] };
    const journal = store.journal.bind(store);
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => { open = resolve; });
    store.journal = async (...words) => {
      await gate;
      return journal(...words);
    };
    const studyId = await far(hub, 20, 1n);
    await bench.clock.advance(everyMs);
    await until(() => bench.record.published(studyId).length === 1);
    await bench.clock.advance(everyMs);
    expect(hub.studies()[0]!.epoch).toBe(2n);
    expect(bench.record.steps).not.toContain('store.purgeEpoch 1');
    open();
    await hub.settled();
    expect(hub.studies()[0]!.epoch).toBe(3n);
    expect(bench.record.steps).toContain('store.purgeEpoch 1');
    expect(await hub.quarantines!(studyId, 9))
      .toMatchObject([{ contributor: hexKey(5), fromEpoch: 3n }]);
    await hub.close();
  });

  it.each(['before', 'after'] as const)(
    'is made up for after a crash %s the entries were written', async (when) => {
      const study = define({ quarantine: automatic });
      const first = await bench.start([study], { crash: { step: 'store.quarantine ', when } });
      const studyId = await far(first, 20, 1n);
      await bench.clock.advance(everyMs);
      await first.settled();
      expect(bench.failures).toHaveLength(1);
      await first.close().catch(() => undefined);
      const hub = await bench.start([study]);
      expect(await hub.quarantines!(studyId, 9))
        .toMatchObject([{ contributor: hexKey(5), fromEpoch: 3n, releaseIndex: 0 }]);
      expect(await verdictOf(hub, studyId, 2n, 2n)).toBe('accepted');
      await close(hub);
      expect(await verdictOf(hub, studyId, 3n, 3n)).toBe('quarantined');
      await hub.close();
    },
  );
});

describe('in a study of several questions, with texts and optional columns', () => {
  const types: readonly ColumnType[] = [
    { type: 'number', optional: true }, { type: 'text', bytes: 8 },
  ];
  const study = defineStudy(questionsDocument([
    {
      name: 'people', estimator: 'count', columns: [], where: [], reduce: 'one', part: 50,
      parameters: parseParameters(findEstimator('count').parameters, {}, { dimension: 1 }),
    },
    {
      name: 'delays', estimator: 'mean', columns: ['minutes'], reduce: 'mean', part: 50,
      where: [{ column: 'app', is: 'maps' }],
      parameters: parseParameters(
        findEstimator('mean').parameters, { spread: 40, corruption: 0.05 }, { dimension: 1 }),
    },
  ], { columns: ['minutes', 'app'], types, quarantine: { beyond: 8 } }));

  const rowsOf = (
    studyId: string, key: number, epoch: bigint, minutes: number, app: 'maps' | 'mail',
  ) => {
    const facts = { sequence: epoch, epoch, last: true, rows: 1, columns: 2 };
    const body = encodeBatchBody({
      ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(Float64Array.of(minutes, app === 'maps' ? 0 : 1), types, 'float64',
        ['maps', 'mail']),
    });
    const cells = batchCells(decodeBatchBody(body), types);
    return { ...batchOf(studyId, key, epoch), ...facts, body, ...cells };
  };

  it('compares a key with the question whose answers are rows, by the rows that count for it',
    async () => {
      const hub = await bench.start([study]);
      const { studyId } = hub.studies()[0]!;
      await Promise.all(Array.from({ length: 400 }, (_, i) =>
        hub.submit(rowsOf(studyId, i, 1n, 12 + (i % 9), 'maps'))));
      await bench.clock.advance(everyMs);
      await hub.settled();
      const [release] = await hub.releases(studyId, 0, 1);
      expect(decodeReleaseBody(release!.body).answers[1]!.outcome.kind).toBe('value');
      await Promise.all([
        rowsOf(studyId, 5, 2n, 2_000, 'maps'), rowsOf(studyId, 6, 2n, 2_000, 'mail'),
        rowsOf(studyId, 7, 2n, NaN, 'maps'),
      ].map((sent) => hub.submit(sent)));
      const outcomes = await Promise.all([5, 6, 7].map((key) =>
        hub.quarantine!(studyId, keyOf(key))));
      expect(outcomes).toMatchObject([
        { kind: 'excluded' }, { kind: 'near', distance: 0 }, { kind: 'near', distance: 0 },
      ]);
      const read = decodeStudyDocument(encodeStudyDocument(study.document));
      expect(read).toEqual(study.document);
      await hub.close();
    });
});
