import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import { factsLimits } from '../../src/base/facts-limits.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { TextTable } from '../../src/base/text-table.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { assignmentHashBytes } from '../../src/estimators/run.js';
import { seededNoise } from '../../src/random/insecure.js';
import type {
  AcceptedBatch, EpochResult, EpochRunner, EpochSetup,
} from '../../server/epochs/contract.js';
import { EpochThread } from '../../server/epochs/epoch-thread.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { publishable } from '../../server/epochs/outcome.js';
import { Contributions } from '../../server/epochs/contributions.js';
import { buffersOf, packBatches, unpackBatches } from '../../server/epochs/packing.js';
import { recordSeedOf, assignmentHashOf } from '../../server/epochs/assignment-hashes.js';
import { WorkerEpochRunner } from '../../server/epochs/worker-runner.js';
import { defineStudy } from '../../server/studies/definition.js';
import {
  define, keyOf, questionsDocument, rowOf, studyDocument,
} from '../support/hub-bench.js';
import { until } from '../support/until.js';

const parsedEdges =
  parseParameters(findEstimator('histogram').parameters, { edges: [500, 1_000] }, { dimension: 1 });
const key = new Uint8Array(32).fill(9);
const setup = (epoch = 1n, overrides = {}): EpochSetup => {
  const { document, target } = define(overrides);
  return {
    studyId: 'a', epoch, document, target, assignmentKey: key, workSeed: new Uint8Array(32).fill(4),
  };
};
const partOf = (contributor: number, complete = true): AcceptedBatch => ({
  contributor: keyOf(contributor), sequence: 1n, values: rowOf(contributor), rows: 1, complete,
});
/** Texts as a view of larger memory, as those of a body are. */
const tableOf = (...texts: readonly string[]): TextTable => {
  const bytes = texts.flatMap((text) => [utf8(text).length, ...utf8(text)]);
  let end = 0;
  const starts = Uint32Array.from(texts, (text) => (end += 1 + utf8(text).length)
    - 1 - utf8(text).length);
  const body = new Uint8Array(1_000);
  body.set(bytes, 10);
  return { count: texts.length, bytes: body.subarray(10, 10 + bytes.length), starts };
};
const partsOf = (count: number): AcceptedBatch[] =>
  Array.from({ length: count }, (_, i) => partOf(i));

describe('assignment hashes', () => {
  it('belong to one contributor, one epoch and one use', () => {
    expect(assignmentHashOf(key, keyOf(1))).toHaveLength(assignmentHashBytes);
    expect(assignmentHashOf(key, keyOf(1))).toEqual(assignmentHashOf(key, keyOf(1)));
    const others = [
      assignmentHashOf(key, keyOf(2)), assignmentHashOf(new Uint8Array(32).fill(8), keyOf(1)),
      recordSeedOf(key, keyOf(1), 1n), recordSeedOf(key, keyOf(1), 2n),
      recordSeedOf(key, keyOf(2), 1n),
    ].map((bytes) => Buffer.from(bytes).toString('hex'));
    expect(new Set([...others, Buffer.from(assignmentHashOf(key, keyOf(1))).toString('hex')]).size)
      .toBe(6);
  });
});

describe('reduction', () => {
  const batch = (sequence: bigint, rows: number[][], complete: boolean) => ({
    contributor: keyOf(1), sequence, values: Float64Array.from(rows.flat()), rows: rows.length,
    complete,
  });
  const openOf = (
    reduce: 'mean' | 'sum' | 'one', dimension: number, assignmentKey: Uint8Array = key,
  ): Contributions => new Contributions(studyDocument({
    columns: Array.from({ length: dimension }, (_, i) => `c${i}`),
    contribution: { reduce, rowsMax: 64 },
  }), assignmentKey, [null]);
  const rowIn = (open: Contributions, sent: AcceptedBatch): Float64Array =>
    open.take(sent)!.rows[0]![0]!;

  it('makes one row of many by averaging, in one batch or several', () => {
    const whole = rowIn(openOf('mean', 2), batch(1n, [[1, 10], [2, 20], [6, 60]], true));
    expect([...whole]).toEqual([3, 30]);
    const open = openOf('mean', 2);
    expect(open.take(batch(1n, [[1, 10], [2, 20]], false))).toBeNull();
    expect(open.size).toBe(1);
    expect([...rowIn(open, batch(2n, [[6, 60]], true))]).toEqual([3, 30]);
    expect(open.size).toBe(0);
  });

  it('takes each record in full, up to the largest number that a row holds', () => {
    const { valueMax } = factsLimits;
    const row = rowIn(openOf('mean', 2), batch(1n, [[valueMax, -valueMax], [0, 0]], true));
    expect([...row]).toEqual([valueMax / 2, -valueMax / 2]);
    expect([...rowIn(openOf('mean', 2), batch(1n, [[1_751_328_000_123, 2 ** 53]], true))])
      .toEqual([1_751_328_000_123, 2 ** 53]);
  });

  it('adds each column in the order of the rows, to the last bit', () => {
    for (const dimension of [1, 3, 4, 5, 8, 11]) {
      const values = Float64Array.from({ length: 37 * dimension }, (_, i) =>
        Math.sin(i * 12.9898) * 10 ** (i % 19 - 9));
      const expected = new Float64Array(dimension);
      values.forEach((value, i) => { expected[i % dimension]! += value; });
      const sums = rowIn(openOf('sum', dimension), {
        contributor: keyOf(1), sequence: 1n, values, rows: 37, complete: true,
      });
      expect(sums).toEqual(expected);
    }
  });

  it('chooses one record by a keyed hash, whatever the values and the cut into parts of a '
    + 'journal', () => {
    const rows = Array.from({ length: 40 }, (_, i) => [i, -i]);
    const chosen = (assignmentKey: Uint8Array, values: number[][]): number =>
      rowIn(openOf('one', 2, assignmentKey), batch(1n, values, true))[0]!;
    expect(chosen(key, rows)).toBe(chosen(key, rows));
    const shifted = rows.map(([first, second]) => [first! + 1_000, second!]);
    expect(chosen(key, shifted)).toBe(chosen(key, rows) + 1_000);
    const picks = Array.from({ length: 60 }, (_, i) => chosen(new Uint8Array(32).fill(i), rows));
    expect(new Set(picks).size).toBeGreaterThan(20);
  });

  it('chooses every record of several batches equally often', () => {
    // 3 records in the first batch, 1 in the second: each should win a quarter of the time. At
    // 4,000 trials the deviation of a share is 0.0068; six of them are a failure chance below 1e-8.
    const wins = [0, 0, 0, 0];
    for (let trial = 0; trial < 4_000; trial++) {
      const trialKey = new Uint8Array(32);
      new DataView(trialKey.buffer).setUint32(0, trial);
      const open = openOf('one', 1, trialKey);
      open.take(batch(1n, [[0], [1], [2]], false));
      wins[rowIn(open, batch(2n, [[3]], true))[0]!]! += 1;
    }
    for (const count of wins) expect(Math.abs(count / 4_000 - 0.25)).toBeLessThan(0.041);
  });
});

describe('packing', () => {
  it('carries batches to another thread unchanged', () => {
    const batches = [partOf(1), { ...partOf(2, false), sequence: 2n ** 53n - 1n }];
    expect(unpackBatches(structuredClone(packBatches(batches)))).toEqual(batches);
    expect(unpackBatches(packBatches([]))).toEqual([]);
  });

  it('carries batches with texts unchanged, and leaves the memory behind their views', () => {
    const lists = [['a', 'bc'], [], ['\u00e9t\u00e9'], ['d'.repeat(255), 'e', 'f']];
    const batches = lists.map((texts, i): AcceptedBatch => ({
      contributor: keyOf(i), sequence: BigInt(i), values: Float64Array.of(i, 0, NaN), rows: 1,
      complete: i % 2 === 0, texts: [null, tableOf(...texts), tableOf('g')],
    }));
    const packed = packBatches(batches);
    expect(packed.texts!.bytes.length).toBeLessThan(300);
    const sent = structuredClone(packed, { transfer: buffersOf(packed) });
    expect(packed.texts!.bytes.length).toBe(0);
    expect(unpackBatches(sent)).toEqual(batches);
    const numeric = batches.map((batch) => ({ ...batch, texts: undefined }));
    expect(unpackBatches(packBatches(numeric))).toEqual(numeric);
  });
});

describe('what may be published', () => {
  const value: Outcome = {
    kind: 'value', estimate: [1, 2], shape: [2],
    uncertainty: { kind: 'gaussian', standardDeviation: [1, 1] },
    interval95: { low: [0, 1], high: [2, 3] },
  };
  it('is whole and finite, or a refusal that says nothing else', () => {
    expect(publishable(value, { outputShape: [2] })).toBe(value);
    const bad: Outcome[] = [
      { ...value, estimate: [1, NaN] }, { ...value, estimate: [1] }, { ...value, shape: [1, 2] },
      {
        ...value, interval95: { low: [0, Infinity], high: [2, 3] },
      }, { ...value, interval95: { low: [0], high: [2] } },
      { ...value, uncertainty: { kind: 'gaussian', standardDeviation: [NaN, 1] } },
      { ...value, intervalIfFalse95: { low: [0, 4], high: [2, 3] } },
      { ...value, radiusIfFalse95: Infinity }, { ...value, spread: [1] },
      { ...value, findings: [{ reason: 'skewed', columns: [2], amounts: [] }] },
      { ...value, findings: [{ reason: 'cluster-apart', columns: [], amounts: [NaN] }] },
    ];
    const unknown: Outcome = { ...value, interval95: { low: [0, -Infinity], high: [2, Infinity] } };
    expect(publishable(unknown, { outputShape: [2] }, 2)).toBe(unknown);
    for (const outcome of bad) expect(
      publishable(outcome, { outputShape: [2] }, 2),
    ).toMatchObject({ kind: 'refused', reason: 'numerical-failure' });
    const refused: Outcome = { kind: 'refused', reason: 'centre-not-found', text: 'x' };
    expect(publishable(refused, { outputShape: [2] })).toBe(refused);
    const named = {
      outputShape: [2], parts: [{ name: 'a', shape: [1] }, { name: 'b', shape: [1] }],
    };
    expect(publishable({ ...value, parts: named.parts }, named)).toMatchObject({ kind: 'value' });
    for (const parts of [
      [{ name: 'a', shape: [1] }, { name: 'c', shape: [1] }], [{ name: 'a', shape: [2] }],
    ]) {
      expect(publishable({ ...value, parts }, named)).toMatchObject({ kind: 'refused' });
    }
    expect(publishable(value, named)).toMatchObject({ kind: 'refused' });
    expect(publishable({ ...value, parts: named.parts }, { outputShape: [2] }))
      .toMatchObject({ kind: 'refused' });
  });

  it('publishes an interval of all numbers, with ends that may be open', () => {
    const value: Outcome = {
      kind: 'value', estimate: [1, 7], shape: [2], uncertainty: { kind: 'none' },
    };
    const kindOf = (low: number[], high: number[]): string[] =>
      [{ interval95: { low, high } }, { intervalIfFalse95: { low, high } }]
        .map((interval) => publishable({ ...value, ...interval }, { outputShape: [2] }).kind);
    for (const [low, high] of [[-Infinity, Infinity], [-Infinity, 8], [6, Infinity]] as const) {
      expect(kindOf([0, low], [2, high])).toEqual(['value', 'value']);
    }
    for (const [low, high] of [
      [[0, Infinity], [2, -Infinity]], [[0, Infinity], [2, Infinity]], [[0, NaN], [2, NaN]],
      [[0], [2]],
    ] as const) {
      expect(kindOf([...low], [...high])).toEqual(['refused', 'refused']);
    }
    const findings = [{ reason: 'mostly-one-value', columns: [1], amounts: [7, NaN] }] as const;
    expect(publishable({ ...value, findings }, { outputShape: [2] }).kind).toBe('refused');
  });
});

const runners: readonly (readonly [string, () => EpochRunner])[] = [
  ['inline', () => new InlineEpochRunner()],
  ['on worker threads', () => new WorkerEpochRunner({ onDeath: (error) => { throw error; } })],
];

describe.each(runners)('an epoch runner %s', (_name, make) => {
  it('counts, releases once and forgets', async () => {
    const runner = make();
    await runner.open(setup());
    runner.add('a', 1n, partsOf(400));
    runner.add('a', 1n, [partOf(1_000, false), partOf(1_001, false)]);
    expect(await runner.progress('a', 1n)).toMatchObject({ contributors: 402, complete: 400 });
    const { outcomes: [outcome], failures } = await runner.release('a', 1n);
    expect([outcome?.kind, failures]).toEqual(['value', []]);
    if (outcome?.kind === 'value') {
      expect(Math.abs(outcome.estimate[0]! - 12)).toBeLessThan(20);
      expect(Math.abs(outcome.estimate[1]! - 730)).toBeLessThan(300);
    }
    await expect(async () => runner.release('a', 1n)).rejects.toMatchObject({ code: 'invariant' });
    await runner.close();
  });

  it('keeps epochs apart, and one that is dropped is gone', async () => {
    const runner = make();
    await Promise.all([runner.open(setup(1n)), runner.open(setup(2n)), runner.open(setup(3n))]);
    runner.add('a', 1n, partsOf(3));
    runner.add('a', 2n, partsOf(5));
    expect(
      [
        (await runner.progress('a', 1n)).contributors,
        (await runner.progress('a', 2n)).contributors,
      ],
    ).toEqual([3, 5]);
    runner.drop('a', 3n);
    expect(() => runner.add('a', 3n, partsOf(1))).toThrow('open until');
    await expect(runner.open(setup(1n))).rejects.toMatchObject({ code: 'invariant' });
    await runner.close();
  });

  it('fails alone: an epoch that has no summaries cannot be released, the others can', async () => {
    const runner = make();
    await runner.open(setup(1n));
    await runner.open(setup(2n));
    runner.add('a', 1n, [partOf(1)]);
    await expect(
      runner.open({ ...setup(4n), document: studyDocument({ estimator: 'nobody-knows' }) }),
    ).rejects.toThrow('no estimator');
    await expect(runner.release('a', 4n)).rejects.toThrow('no estimator');
    runner.add('a', 2n, partsOf(400));
    expect((await runner.release('a', 2n)).outcomes[0]?.kind).toBe('value');
    await runner.close();
  });
});

describe('worker threads', () => {
  it('take the batches of a list of questions as they were sent', async () => {
    const asked = { where: [], columns: ['miles'], parameters: parsedEdges, part: 30 } as const;
    const { document, target } = defineStudy(questionsDocument([
      { ...asked, name: 'total', estimator: 'histogram', reduce: 'sum' },
      {
        ...asked, name: 'long', estimator: 'histogram', reduce: 'one',
        where: [{ column: 'minutes', atLeast: 12 }],
      },
    ]));
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    const inline = new InlineEpochRunner({ noise: () => seededNoise('a') });
    const batches: AcceptedBatch[] = Array.from({ length: 800 }, (_, i) => ({
      contributor: keyOf(i >> 1), sequence: BigInt(i % 2), values: rowOf(i), rows: 1,
      complete: i % 2 === 1, texts: [null, tableOf('a text')],
    }));
    for (const runner of [threads, inline]) {
      await runner.open({ ...setup(), document, target });
      for (let i = 0; i < 800; i += 32) runner.add('a', 1n, batches.slice(i, i + 32));
    }
    expect(threads.backlogBytes).toBeGreaterThan(800 * (32 + 2 * 8 + 7 + 4));
    expect(await threads.progress('a', 1n)).toEqual(await inline.progress('a', 1n));
    expect(await inline.progress('a', 1n)).toMatchObject({ complete: 400 });
    const [one, other] = [await threads.release('a', 1n), await inline.release('a', 1n)];
    expect(threads.backlogBytes).toBe(0);
    await threads.close();
    const numbersOf = ({ outcomes }: EpochResult): readonly (readonly number[])[] =>
      outcomes.map((outcome) => (outcome.kind === 'value' ? outcome.estimate : []));
    numbersOf(one).forEach((numbers, question) => {
      expect(numbers.length).toBeGreaterThan(0);
      numbers.forEach((number, i) => {
        expect(Math.abs(number - numbersOf(other)[question]![i]!)).toBeLessThan(200);
      });
    });
  });

  it('give what the calling thread gives, but for noise', async () => {
    const inline = new InlineEpochRunner({ noise: () => seededNoise('a') });
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    for (const runner of [inline, threads]) {
      await runner.open(setup());
      for (let i = 0; i < 400; i += 16) runner.add('a', 1n, partsOf(400).slice(i, i + 16));
    }
    expect(await threads.progress('a', 1n)).toEqual(await inline.progress('a', 1n));
    const [one, other] = await Promise.all([inline.release('a', 1n), threads.release('a', 1n)]);
    expect(one.outcomes[0]?.kind).toBe('value');
    expect(other.outcomes[0]?.kind).toBe('value');
    expect(one).not.toEqual(other);
    await threads.close();
  });

  it('account for what they were handed, until it is folded', async () => {
    const threads = new WorkerEpochRunner({ onDeath: () => {} });
    await threads.open(setup());
    threads.add('a', 1n, partsOf(100));
    await Promise.resolve();
    // A key, two doubles, a count, a rank and a mark each.
    expect(threads.backlogBytes).toBe(100 * (32 + 16 + 8 + 8 + 1));
    await until(() => threads.backlogBytes === 0);
    await threads.close();
  });

  it('answer an epoch that they cannot hold with an error, and go on', async () => {
    const deaths: unknown[] = [];
    const threads = new WorkerEpochRunner({ onDeath: (error) => deaths.push(error) });
    await expect(
      threads.open({ ...setup(), document: studyDocument({ estimator: 'nobody-knows' }) }),
    ).rejects.toThrow('no estimator');
    await threads.open(setup(2n));
    expect(await threads.progress('a', 2n)).toMatchObject({ contributors: 0 });
    await threads.close();
    expect(deaths).toEqual([]);
  });

  it('report an end that nobody asked for, once, and fail what waited for them', async () => {
    const deaths: unknown[] = [];
    const dying = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => { throw new Error('out of luck'); });`;
    const thread = new EpochThread(
      (error) => deaths.push(error), new URL(`data:text/javascript,${encodeURIComponent(dying)}`),
    );
    await expect(
      thread.call({ kind: 'release', studyId: 'a', epoch: 1n }),
    ).rejects.toMatchObject({ code: 'invariant' });
    await expect(thread.call({ kind: 'release', studyId: 'a', epoch: 1n })).rejects
      .toThrow('rebuilt from the journal');
    await thread.close();
    expect(deaths).toHaveLength(1);
  });
});
