// @module-tag long
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import {
  decodeReleaseBody, encodeBatchBody, encodeCells, encodeRows,
} from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { journalledRows } from '../../server/studies/keep/journal-rows.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import {
  Bench, batchOf, everyMs, questionsDocument, studyDocument,
} from '../support/hub-bench.js';

const people = 400;
const [yearStart, yearEnd, july] = [Date.UTC(2025, 0), Date.UTC(2026, 0), Date.UTC(2025, 6)];
const times = Array.from({ length: people }, (_, i) =>
  yearStart + Math.round((yearEnd - yearStart) * ((i * 187 % people + 0.5) / people)));
const types: readonly ColumnType[] = [{ type: 'integer', low: yearStart, high: yearEnd }];

const asked = { columns: ['at_ms'], where: [], reduce: 'mean', part: 30 } as const;
const parsed = (name: string, given: Record<string, unknown>) =>
  parseParameters(findEstimator(name).parameters, given, { dimension: 1 });
const questions: readonly Question[] = [
  { ...asked, name: 'later', estimator: 'count', parameters: parsed('count', { threshold: july }) },
  {
    ...asked, name: 'tested', estimator: 'count', parameters: parsed('count', {}),
    columns: [], where: [{ column: 'at_ms', atLeast: july }],
  },
  {
    ...asked, name: 'middle', estimator: 'quantile', reduce: 'one',
    parameters: parsed('quantile', { range: `${yearStart}..${yearEnd}`, probabilities: [0.5] }),
  },
];

function batch(studyId: string, i: number, values: readonly number[], typed: boolean):
VerifiedBatch {
  const facts = { sequence: 1n, epoch: 1n, last: true, rows: 1, columns: values.length };
  const rows = Float64Array.from(values);
  const none = new Uint8Array(0);
  const body = encodeBatchBody({
    ...facts, studyId: fromHex(studyId), dataType: 'float64',
    ...(typed ? { data: none, cells: encodeCells(rows, types, 'float64') }
      : { data: encodeRows(rows, 'float64') }),
  });
  return { ...batchOf(studyId, i, 1n), ...facts, body, values: rows };
}

describe('times in milliseconds, live', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  async function release(study: StudyDefinition, typed: boolean, restarts: boolean) {
    const start = () => bench.start(
      [study], { runner: new InlineEpochRunner({ noise: () => seededNoise('large') }) },
    );
    let hub = await start();
    const { studyId } = hub.studies()[0]!;
    const dimension = study.document.columns.length;
    const results = await Promise.all(times.map((time, i) => hub.submit(
      batch(studyId, i, Array<number>(dimension).fill(time), typed),
    )));
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(['accepted']));
    if (restarts) {
      await hub.close();
      hub = await start();
    }
    await bench.clock.advance(everyMs);
    await hub.settled();
    const [stored] = await hub.releases(studyId, 0, 1);
    return decodeReleaseBody(stored!.body).answers;
  }

  it.each([false, true])('are whole in every question, journal read: %s', async (again) => {
    const study = defineStudy(questionsDocument(questions, { columns: ['at_ms'], types }));
    const later = times.filter((time) => time >= july).length;
    const numbers = (await release(study, true, again)).map(({ outcome }) => outcome)
      .map((outcome) => (outcome.kind === 'value' ? outcome.estimate[0]! : Number.NaN));
    expect(Math.abs(numbers[0]! - later)).toBeLessThan(40);
    expect(Math.abs(numbers[1]! - later)).toBeLessThan(40);
    expect(Math.abs(numbers[2]! - (yearStart + yearEnd) / 2)).toBeLessThan(60 * 86_400_000);
  });

  it.each([false, true])('are whole in the short form, journal read: %s', async (again) => {
    const document = studyDocument({
      parameters: parseParameters(
        findEstimator('mean').parameters, { range: `${yearStart}..${yearEnd}` }, { dimension: 2 },
      ),
    });
    const [answer] = await release(defineStudy(document), false, again);
    if (answer?.outcome.kind !== 'value') throw new Error('there is no answer');
    for (const number of answer.outcome.estimate) {
      expect(Math.abs(number - (yearStart + yearEnd) / 2)).toBeLessThan(60 * 86_400_000);
    }
  });
});

describe('a journal of an earlier version', () => {
  const facts = { studyId: new Uint8Array(32), sequence: 1n, epoch: 1n, last: true } as const;
  const numbers = [1e300, -1e300, 2 ** 64, 1_751_328_000_123];
  const data = new Uint8Array(Float64Array.from(numbers).buffer);

  it('has numbers of any size, which count as the largest that is taken', () => {
    const expected = Float64Array.of(2 ** 64, -(2 ** 64), 2 ** 64, 1_751_328_000_123);
    const plain = { ...facts, dataType: 'float64', rows: 2, columns: 2, data } as const;
    expect(journalledRows(plain, undefined).values).toEqual(expected);
    const none = new Uint8Array(0);
    const cells = [{ numbers: data, codes: none }];
    const typed = { ...plain, rows: 4, columns: 1, data: none, cells } as const;
    expect(journalledRows(typed, [{ type: 'number' }]).values).toEqual(expected);
  });

  it('keeps rows without a value', () => {
    const none = new Uint8Array(0);
    const typed = {
      ...facts, dataType: 'float64', rows: 5, columns: 1, data: none,
      cells: [{ numbers: data, codes: none, present: Uint8Array.of(0b11101) }],
    } as const;
    const { values } = journalledRows(typed, [{ type: 'number', optional: true }]);
    expect([...values]).toEqual([2 ** 64, Number.NaN, -(2 ** 64), 2 ** 64, 1_751_328_000_123]);
  });
});
