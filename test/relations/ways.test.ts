// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStudyFile } from './read-study.js';
import { contributionsOf } from '../../server/epochs/contributions.js';
import { toHex } from '../../src/base/bytes.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { createGroups, type Groups } from '../../src/estimators/run.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import {
  batchCells, decodeBatchBody, encodeBatchBody, encodeCells,
} from '../../src/wire/index.js';
import { keelson } from '../support/command.js';
import { arrowBytes, parquetBytes } from '../support/table-files.js';
import {
  csv, ndjson, people, questions, rows, rowsDue, studyFile, tableColumns, type WayQuestion,
} from './people.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-ways-'));
const place = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(join(scratch, name), bytes);
  return join(scratch, name);
};

/** Rows as bits, in no order. */
const bitsOf = (list: Iterable<ArrayLike<number>>): readonly string[] =>
  Array.from(list, (row) => toHex(new Uint8Array(Float64Array.from(row).buffer))).sort();

let seen: Float64Array[] = [];
const plan = findEstimator('count').plan({ side: 'at-least' }, {
  dimension: 1, cohort: 10, participation: 'secret', target: privacyTarget({ epsilon: 1, delta: 1e-6 }),
}) as Plan;
/** All summaries have one way in. The test looks there, and nothing is added to the sources. */
const summaries = Object.getPrototypeOf(createGroups(plan, 1)) as Groups;
const { add } = summaries;

beforeAll(() => {
  summaries.add = function watched(this: Groups, hash, row) {
    seen.push(Float64Array.from(row));
    add.call(this, hash, row);
  };
});
afterAll(() => {
  summaries.add = add;
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

/** The question as flags of `estimate`. */
function flagsOf(question: WayQuestion): string[] {
  const { estimator, columns, where, reduce, isByRegion, parameters } = question;
  return [
    estimator, '--study', study, '--cohort', String(people), '--epsilon', '40', '--delta', '1e-6',
    ...(columns.length > 0 ? ['--columns', columns.join(','), '--reduce', reduce] : []),
    ...(where === undefined ? [] : ['--where', where.text]),
    ...(isByRegion === true
      ? ['--group-by', 'region', '--groups', 'north,south', '--keys-max', '1'] : []),
    ...Object.entries(parameters).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
  ];
}

/** What a live server makes of the same rows, sent as a client sends them, a row in a batch. */
function liveRows(): readonly (readonly string[])[] {
  const { document } = readStudyFile(study);
  const types = document.types!;
  const contributions = contributionsOf(document, new Uint8Array(32), document.questions!.map(() =>
    null));
  const found = document.questions!.map((): Float64Array[] => []);
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
    } as never);
    reduced?.rows.forEach((own, question) => found[question]!.push(...own));
  });
  return found.map(bitsOf);
}

describe('one question, asked in every way', () => {
  const live = (): readonly (readonly string[])[] => liveRows();

  for (const [at, question] of questions.entries()) {
    it(`brings the same rows to the summary: ${question.name}`, async () => {
      const due = bitsOf(rowsDue(question));
      expect(live()[at], 'live').toEqual(due);
      const answers = new Map<string, unknown>();
      for (const [format, file] of Object.entries(files)) {
        const common = [file, '--contributor', 'id', '--missing', 'null'];
        const asStudy = await ran(['--study', study, '--question', question.name, ...common]);
        expect(asStudy.rows, `study file, ${format}`).toEqual(due);
        const asFlags = await ran([...flagsOf(question), ...common]);
        expect(asFlags.rows, `flags, ${format}`).toEqual(due);
        answers.set(`study ${format}`, asStudy.answer).set(`flags ${format}`, asFlags.answer);
      }
      for (const [way, answer] of answers) {
        expect(answer, way).toEqual(answers.get(way.replace(/ .*/, ' CSV')));
      }
    });
  }
});
