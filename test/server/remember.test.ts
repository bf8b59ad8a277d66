import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import type { Question } from '../../src/base/questions.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import {
  batchCells, decodeBatchBody, decodeReleaseBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import type { EpochRunner } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { WorkerEpochRunner } from '../../server/epochs/worker-runner.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { defineStudy } from '../../server/studies/definition.js';
import { Bench, batchOf, everyMs, questionsDocument } from '../support/hub-bench.js';

const types: readonly ColumnType[] = [{ type: 'number' }, { type: 'text', bytes: 16 }];
const texts = ['chess', 'letters', 'maps', 'rare'];
const parsed = (estimator: string, values: Record<string, unknown>) =>
  parseParameters(findEstimator(estimator).parameters, values, { dimension: 1 });
const asked = { where: [], part: 25 } as const;
const by = { columns: ['app'], groupsMax: 1 };
const remember = { top: 4, prefilter: 2, remember: 3 };
const questions: readonly Question[] = [
  {
    ...asked, name: 'people', estimator: 'count', parameters: parsed('count', {}), columns: [],
    reduce: 'one', by: { ...by, discover: remember },
  },
  {
    ...asked, name: 'minutes', estimator: 'sum', parameters: parsed('sum', { cap: 10 }),
    columns: ['minutes'], reduce: 'sum', by: { ...by, discover: remember },
  },
  {
    ...asked, name: 'anew', estimator: 'count', parameters: parsed('count', {}), columns: [],
    reduce: 'one', by: { ...by, discover: { top: 4, prefilter: 2 } },
  },
  {
    ...asked, name: 'alone', estimator: 'count', parameters: parsed('count', {}), columns: [],
    reduce: 'one', by: { ...by, discover: { ...remember, prefilter: 1, answer: 'groups' } },
  },
];
const study = defineStudy(questionsDocument(questions, {
  columns: ['minutes', 'app'], types, privacy: { epsilon: 8, delta: 1e-6 },
  budget: { epsilon: 64, delta: 1e-5, rule: 'zcdp', scope: 'study' },
}));

/** Sends 5 minutes of each of so many people of each app to an epoch. */
async function send(hub: RunningHub, epoch: bigint, people: readonly number[]): Promise<void> {
  const { studyId } = hub.studies()[0]!;
  const apps = people.flatMap((count, app) => new Array<number>(count).fill(app));
  const results = await Promise.all(apps.map((app, i) => {
    const facts = { sequence: epoch, epoch, last: true, rows: 1, columns: 2 };
    const body = encodeBatchBody({
      ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(Float64Array.of(5, app), types, 'float64', texts),
    });
    return hub.submit({
      ...batchOf(studyId, i, epoch), ...facts, body,
      ...batchCells(decodeBatchBody(body), types),
    });
  }));
  expect(results.every(({ verdict }) => verdict === 'accepted')).toBe(true);
}

const runners: readonly (readonly [string, () => EpochRunner])[] = [
  ['on the calling thread', () => new InlineEpochRunner()],
  ['on worker threads', () => new WorkerEpochRunner({ onDeath: (error) => { throw error; } })],
];

describe('a study that remembers keys', { tags: ['long'] }, () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it.each(runners)('shows them again %s, also after a restart', async (_, runner) => {
    let hub = await bench.start([study], { runner: runner() });
    const { studyId } = hub.studies()[0]!;
    // Chess is gone after the first epoch. Maps come in the second.
    const epochs = [[120, 200, 0, 1], [0, 200, 120, 1], [0, 200, 0, 1]];
    const answers: ValueOutcome[][] = [];
    for (const [i, people] of epochs.entries()) {
      await send(hub, BigInt(i + 1), people);
      await bench.clock.advance(everyMs);
      await hub.settled();
      const { body } = bench.record.published(studyId)[i]!;
      answers.push(decodeReleaseBody(body).answers.map(({ outcome }) => {
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        return outcome;
      }));
      await hub.close();
      hub = await bench.start([study], { runner: runner() });
    }
    await hub.close();
    const keysOf = (epoch: number, question: number): string[] =>
      [...answers[epoch]![question]!.groups!.flat()].sort();
    expect(answers.map((all) => all[3]!.estimate)).toEqual([[], [], []]);
    for (const question of [0, 1, 3]) {
      expect(keysOf(0, question)).toEqual(['chess', 'letters']);
      expect(keysOf(1, question)).toEqual(['chess', 'letters', 'maps']);
      expect(keysOf(2, question)).toEqual(['chess', 'letters', 'maps']);
    }
    expect([0, 1, 2].map((epoch) => keysOf(epoch, 2))).toEqual([
      ['chess', 'letters'], ['letters', 'maps'], ['letters'],
    ]);
    const of = (epoch: number, question: number, key: string): number => {
      const { groups, estimate } = answers[epoch]![question]!;
      return estimate[groups!.findIndex(([app]) => app === key)]!;
    };
    expect(Math.abs(of(2, 0, 'chess'))).toBeLessThan(30);
    expect(Math.abs(of(2, 1, 'maps'))).toBeLessThan(200);
    expect(Math.abs(of(2, 1, 'letters') - 1_000)).toBeLessThan(200);
  });
});
