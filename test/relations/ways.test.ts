// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStudyFile } from './read-study.js';
import { Contributions } from '../../server/epochs/contributions.js';
import { Sensitive } from '../../src/base/brands.js';
import { toHex } from '../../src/base/bytes.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import type { Finished, Plan } from '../../src/estimators/contract/estimator.js';
import { createGroups, type Groups } from '../../src/estimators/run.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import {
  batchCells, decodeBatchBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import { npyBytes } from '../support/npy.js';
import { keelson } from '../support/command.js';
import { arrowBytes, parquetBytes } from '../support/table-files.js';
import {
  csv, groupsMaxOf, ndjson, people, questions, rows, rowsDue, studyFile, tableColumns,
  type WayQuestion,
} from './people.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-ways-'));
const place = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(join(scratch, name), bytes);
  return join(scratch, name);
};

/** Rows as bits, in no order. The sign of a zero is no part of a value: formats may lose it. */
const bitsOf = (list: Iterable<ArrayLike<number>>): readonly string[] => Array.from(list, (row) =>
  toHex(new Uint8Array(Float64Array.from(row, (value) => value + 0).buffer))).sort();

/** Groups of which there is one, which takes rows without a hash. */
interface OneGroup {
  addToFirst(values: Float64Array, count: number, isWhole: boolean): void;
}

let seen: Float64Array[] = [];
const plan = findEstimator('count').plan({ side: 'at-least' }, {
  dimension: 1, cohort: 10, participation: 'secret',
  target: privacyTarget({ epsilon: 1, delta: 1e-6 }),
}) as Plan;
/**
 * Rows come into summaries here, or all at once into a pool that takes over their memory. The test
 * looks there, so that nothing is added to the sources. A row with a number missing is no row.
 */
const summaries = Object.getPrototypeOf(createGroups(plan, 1)) as Groups & OneGroup;
const unwatched = {
  add: Object.getOwnPropertyDescriptor(summaries, 'add')!,
  addToFirst: Object.getOwnPropertyDescriptor(summaries, 'addToFirst')!,
  of: Object.getOwnPropertyDescriptor(Sensitive, 'of')!,
};

function look(row: ArrayLike<number>): void {
  if (Array.from(row).every(Number.isFinite)) seen.push(Float64Array.from(row));
}

/** A pool of rows that were read in one piece. */
function lookAtPool(content: unknown): void {
  const [only] = (Array.isArray(content) ? content : []) as readonly (Finished | undefined)[];
  if (only?.kind !== 'pooled' || seen.length > 0) return;
  const { count, dimension, values } = only.rows;
  for (let i = 0; i < count; i++) look(values.subarray(i * dimension, (i + 1) * dimension));
}

beforeAll(() => {
  const add = unwatched.add.value as Groups['add'];
  const addToFirst = unwatched.addToFirst.value as OneGroup['addToFirst'];
  const of = unwatched.of.value as typeof Sensitive.of;
  summaries.addToFirst = function watched(this: Groups & OneGroup, values, count, isWhole) {
    const columns = values.length / count;
    for (let i = 0; i < count; i++) look(values.subarray(i * columns, (i + 1) * columns));
    addToFirst.call(this, values, count, isWhole);
  };
  summaries.add = function watched(this: Groups, hash, row) {
    look(row);
    add.call(this, hash, row);
  };
  Sensitive.of = (content) => {
    lookAtPool(content);
    return of(content);
  };
});
afterAll(() => {
  Object.defineProperty(summaries, 'add', unwatched.add);
  Object.defineProperty(summaries, 'addToFirst', unwatched.addToFirst);
  Object.defineProperty(Sensitive, 'of', unwatched.of);
  rmSync(scratch, { recursive: true, force: true });
});

const study = place('ways.yaml', studyFile('ways'));
const files = {
  CSV: place('rows.csv', csv),
  NDJSON: place('rows.ndjson', ndjson),
  Parquet: place('rows.parquet', parquetBytes(tableColumns)),
  Arrow: place('rows.arrow', arrowBytes(tableColumns)),
  'an Arrow stream': place('stream.arrow', arrowBytes(tableColumns, { format: 'stream' })),
};

const seeded = { environment: { KEELSON_INSECURE_SEED: 'ways' } };

interface Ran { readonly rows: readonly string[]; readonly answer: unknown }

async function ran(words: readonly string[]): Promise<Ran> {
  seen = [];
  const { status, stdout, stderr } = await keelson(['estimate', ...words, '--json'], seeded);
  expect([status, stderr.replace(/^warning: KEELSON_INSECURE.*\n/, '')]).toEqual([0, '']);
  return { rows: bitsOf(seen), answer: JSON.parse(stdout) };
}

/** Types of the columns that a question looks at. */
function typesOf({ columns, where, by }: WayQuestion): string[] {
  // Flags cannot give an integer its range.
  if (by === 'stops') return ['--study', study];
  const used = [
    ...columns, ...(where === undefined ? [] : where.text.split(/>?=/).slice(0, 1)),
    ...(by === undefined ? [] : [by]),
  ];
  const types: Readonly<Record<string, string>> = {
    late: 'boolean', region: 'category:north,south', stops: 'integer',
  };
  return used.flatMap((name) => ['--type', `${name}=${types[name] ?? 'number'}`]);
}

/** The question as flags of `estimate`. */
function flagsOf(question: WayQuestion): string[] {
  const { estimator, columns, where, reduce, by, parameters } = question;
  return [
    estimator, ...typesOf(question),
    '--cohort', String(people), '--participation', 'secret', '--epsilon', '40', '--delta', '1e-6',
    ...(columns.length > 0 ? ['--columns', columns.join(','), '--reduce', reduce] : []),
    ...(where === undefined ? [] : ['--where', where.text]),
    ...(by === undefined ? [] : ['--group-by', by, '--groups-max', String(groupsMaxOf[by])]),
    ...(by === 'region' ? ['--groups', 'north,south'] : []),
    ...Object.entries(parameters).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
  ];
}

/** What a live server makes of the same rows, sent as a client sends them, a row in a batch. */
function liveRows(): readonly (readonly string[])[] {
  const { document } = readStudyFile(study);
  const types = document.types!;
  const tables = document.questions.map(() => null);
  const contributions = new Contributions(document, new Uint8Array(32), tables);
  const found = document.questions.map((): Float64Array[] => []);
  rows.forEach((row, i) => {
    const isLast = !rows.some((other, k) => k > i && other.id === row.id);
    const sent = Float64Array.of(row.minutes, row.stops, Number(row.late),
      row.region === 'north' ? 0 : 1, row.at, row.score ?? NaN);
    const body = encodeBatchBody({
      studyId: new Uint8Array(32), epoch: 1n, sequence: BigInt(i + 1), last: isLast, rows: 1,
      columns: types.length, dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(sent, types, 'float64', []),
    });
    const contributor = new Uint8Array(32);
    new DataView(contributor.buffer).setBigUint64(0, row.id);
    const reduced = contributions.take({
      contributor, sequence: BigInt(i + 1), complete: isLast, rows: 1,
      ...batchCells(decodeBatchBody(body), types),
    });
    reduced?.rows.forEach((own, question) => found[question]!.push(...own));
  });
  return found.map(bitsOf);
}

let live: ReturnType<typeof liveRows> | undefined;
const ways = {
  live: (question: WayQuestion): Promise<Ran> => {
    live ??= liveRows();
    return Promise.resolve({ rows: live[questions.indexOf(question)]!, answer: null });
  },
  ...Object.fromEntries(Object.entries(files).flatMap(([format, file]) => {
    const common = [file, '--contributor', 'id', '--csv', 'missing=null'];
    return [
      [`study file, ${format}`, ({ name }: WayQuestion) =>
        ran(['--study', study, '--question', name, ...common])],
      [`flags, ${format}`, (question: WayQuestion) => ran([...flagsOf(question), ...common])],
    ];
  })),
} as Readonly<Record<string, (question: WayQuestion) => Promise<Ran>>>;

describe('one question, asked in every way', () => {
  for (const question of questions) {
    const due = bitsOf(rowsDue(question));
    const answers = new Map<string, unknown>();
    for (const [way, ask] of Object.entries(ways)) {
      const name = `${question.name}, ${way}`;
      it(name, async () => {
        const { rows: found, answer } = await ask(question);
        expect(found).toEqual(due);
        const kind = way.split(',')[0]!;
        // The noise is the same, too.
        if (!answers.has(kind)) answers.set(kind, answer);
        expect(answer).toEqual(answers.get(kind));
      });
    }
  }
});

describe('rows of numbers, one for each person', () => {
  const numbers = rows.slice(0, people).map(({ minutes, stops }) => [minutes, stops]);
  const inOneFile = {
    CSV: place('numbers.csv', `minutes,stops\n${numbers.map((row) =>
      row.map((value) => (Object.is(value, -0) ? '-0' : value)).join()).join('\n')}`),
    npy: place('numbers.npy', npyBytes(numbers)),
  };

  it.each([
    ['mean', 'range=-1..240'], ['robust-mean', 'spread=35,2'], ['sum', 'cap=240,20'],
  ])('are the same in a file of NumPy, for %s', async (estimator, parameter) => {
    const answers = [];
    for (const [, file] of Object.entries(inOneFile)) {
      const { rows: found, answer } = await ran([
        estimator, file, '--cohort', String(people), '--participation', 'secret',
        '--epsilon', '40', '--delta', '1e-6',
        '--set', parameter,
      ]);
      expect(found).toEqual(bitsOf(numbers));
      const { estimate, interval95 } = answer as ValueOutcome;
      answers.push({ estimate, interval95 });
    }
    expect(answers[1]).toEqual(answers[0]);
  });
});
