import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import type { EpochRunner } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { WorkerEpochRunner } from '../../server/epochs/worker-runner.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import { defineStudy } from '../../server/studies/definition.js';
import {
  Bench, batchOf, everyMs, keyOf, questionsDocument,
} from '../support/hub-bench.js';

const types: readonly ColumnType[] = [
  { type: 'number', optional: true }, { type: 'text', bytes: 16, optional: true },
];
const parsed = (estimator: string, values: Record<string, unknown>) =>
  parseParameters(findEstimator(estimator).parameters, values, { dimension: 1 });
const asked = { where: [], columns: [], reduce: 'mean', part: 14 } as const;
const count = { ...asked, estimator: 'count', parameters: parsed('count', {}) } as const;
const by = { columns: ['app'], groupsMax: 1 };
const questions: readonly Question[] = [
  { ...count, name: 'apps', by: { ...by, groups: [['chess'], ['maps']] } },
  { ...count, name: 'maps', where: [{ column: 'app', is: 'maps' }] },
  { ...count, name: 'named', where: [{ column: 'app', present: true }] },
  { ...count, name: 'found', by: { ...by, discover: { top: 9, prefilter: 2 } } },
  {
    ...count, name: 'distinct', parameters: parsed('count', { of: 'groups' }),
    by: { ...by, discover: { top: 1, prefilter: 2 } },
  },
  {
    ...asked, name: 'time', estimator: 'sum', columns: ['minutes'],
    parameters: parsed('sum', { range: '0..10' }),
  },
  {
    ...asked, name: 'minutes-of-found', estimator: 'sum', columns: ['minutes'],
    parameters: parsed('sum', { cap: 10 }), by: { ...by, discover: { top: 9, prefilter: 2 } },
  },
];
const document = questionsDocument(questions, {
  columns: ['minutes', 'app'], types, privacy: { epsilon: 8, delta: 1e-6 },
  budget: { epsilon: 64, delta: 1e-5, rule: 'zcdp', scope: 'study' },
});
const texts = ['chess', 'maps', 'letters', 'an app of one'];

/**
 * Contributor i sends two batches of a row each. A third has no minutes, a quarter no app. One has
 * an app that nobody else has.
 */
function batches(studyId: string, i: number): VerifiedBatch[] {
  return [0, 1].map((at) => {
    const sent = Float64Array.of(i % 3 === 0 ? NaN : 5, i % 4 === 3 ? NaN : i === 2 ? 3 : i % 4);
    const facts = { sequence: BigInt(at + 1), epoch: 1n, last: at === 1, rows: 1, columns: 2 };
    const body = encodeBatchBody({
      ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(sent, types, 'float64', texts),
    });
    return {
      ...batchOf(studyId, i, 1n), ...facts, body, ...batchCells(decodeBatchBody(body), types),
    };
  });
}

const runners: readonly (readonly [string, () => EpochRunner])[] = [
  ['on the calling thread', () => new InlineEpochRunner()],
  ['on worker threads', () => new WorkerEpochRunner({ onDeath: (error) => { throw error; } })],
];

describe('a live study with texts', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it.each(runners)('counts them %s, also after a restart', async (_, runner) => {
    const study = defineStudy(document);
    let hub = await bench.start([study], { runner: runner() });
    const { studyId } = hub.studies()[0]!;
    for (const at of [0, 1]) {
      const results = await Promise.all(Array.from({ length: 240 }, (_, i) =>
        hub.submit(batches(studyId, i)[at]!)));
      expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
      if (at === 1) continue;
      await hub.close();
      hub = await bench.start([study], { runner: runner() });
    }
    expect(await hub.evidence!(studyId, keyOf(3)))
      .toMatchObject({ epochs: [{ rows: 2, complete: true, distance: null }] });
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    const { body } = bench.record.published(studyId)[0]!;
    const numbers = Object.fromEntries(decodeReleaseBody(body).answers.map((answer) =>
      [answer.question, answer.outcome.kind === 'value' ? answer.outcome.estimate : []]));
    const found = decodeReleaseBody(body).answers[3]!.outcome;
    if (found.kind !== 'value') throw new Error(found.text);
    expect(found.groups!.flat().sort()).toEqual(['chess', 'letters', 'maps']);
    found.estimate.forEach((number) => expect(Math.abs(number - 60)).toBeLessThan(30));
    const totals = decodeReleaseBody(body).answers[6]!.outcome;
    if (totals.kind !== 'value') throw new Error(totals.text);
    expect(totals.groups!.flat().sort()).toEqual(['chess', 'letters', 'maps']);
    expect(totals.shape).toEqual([3, 1]);
    // Two in three of the 60 people of an app send 5 minutes; of chess, two in three of 60 too.
    totals.estimate.forEach((number) => expect(Math.abs(number - 200)).toBeLessThan(130));
    const truths = { apps: [60, 60], maps: [60], named: [180], distinct: [3], time: [160 * 5] };
    for (const [name, truth] of Object.entries(truths)) {
      expect(numbers[name]).toHaveLength(truth.length);
      truth.forEach((number, i) =>
        expect(Math.abs(numbers[name]![i]! - number)).toBeLessThan(name === 'time' ? 150 : 25));
    }
  });
});
