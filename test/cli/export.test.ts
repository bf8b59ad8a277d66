import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '@uwdata/flechette';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { keelson, type CommandRun } from '../support/command.js';
import { sampleLog } from '../support/log-samples.js';
import { scratchFolder } from '../support/scratch.js';
import { questionsDocument, server } from '../support/wire-samples.js';

const scratch = scratchFolder('export');

const key = toHex(server.publicKey);
const by = { columns: ['app'], groupsMax: 1, discover: { top: 9, prefilter: 1 } };
const [delays, regions, quiet] = questionsDocument.questions;
const columns = [...questionsDocument.columns, 'app'];
const logged = await sampleLog(2, {
  facts: {
    ...questionsDocument, columns,
    types: [...questionsDocument.types!, { type: 'text', bytes: 64 }],
    questions: [delays!, regions!, quiet!, { ...regions!, name: 'found', by }, {
      ...regions!, name: 'alone',
      by: { ...by, discover: { ...by.discover, answer: 'groups' as const } },
    }].map((question) => ({ ...question, part: 20 })),
  },
  changeAnswers: (body) => ({
    ...body, columns,
    answers: [...body.answers, {
      question: 'found', estimator: 'count', parameters: '{}', rhoAmount: 0n, deltaAmount: 0n,
      outcome: {
        kind: 'value' as const, estimate: [41], shape: [1], groups: [['=A1+1']],
        uncertainty: { kind: 'none' as const },
      },
    }, {
      question: 'alone', estimator: 'count', parameters: '{}', rhoAmount: 0n, deltaAmount: 0n,
      outcome: {
        kind: 'value' as const, estimate: [], shape: [2, 0], groups: [['maps'], ['chess']],
        uncertainty: { kind: 'none' as const },
      },
    }],
  }),
});
const text = `${logged.lines.join('\n')}\n`;

let files = 0;
const fresh = (ending: string): string => join(scratch, `${files += 1}${ending}`);
const exported = (path: string, stdin = text): Promise<CommandRun> =>
  keelson(['verify', '-', '--server-key', key, '--export', path], { stdin });

type Row = Readonly<Record<string, unknown>>;

async function rowsIn(path: string): Promise<readonly Row[]> {
  const bytes = new Uint8Array(readFileSync(path));
  const plain = (value: unknown): unknown =>
    (typeof value === 'bigint' ? Number(value) : value ?? null);
  if (path.endsWith('.csv')) return parse(Buffer.from(bytes), { columns: true });
  const rows = path.endsWith('.parquet')
    ? await parquetReadObjects({ file: bytes.buffer })
    : tableFromIPC(bytes).toArray() as Row[];
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
}

describe('keelson verify --export', () => {
  it.each(['.parquet', '.arrow'])('writes a row for each number, as %s', async (ending) => {
    const path = fresh(ending);
    expect(await exported(path)).toMatchObject({ status: 0, stderr: '' });
    const rows = await rowsIn(path);
    // One delay, six regions, a refusal, a key that was found and two without counts, in both
    // releases.
    expect(rows.length).toBe(22);
    expect(rows[0]).toEqual({
      release: 0, epoch: 5, closed_at_ms: 1_767_225_600_000, question: 'delays',
      estimator: 'prime', group: null, part: null, name: 'minutes', outcome: 'value', reason: null,
      estimate: 8.25, deviation: 0.5, low95: 7.25, high95: 9.25, low_if_honest95: null,
      high_if_honest95: null, rho: 1 / 160, delta: 4e12 / 2 ** 64,
      epsilon_spent: expect.any(Number) as unknown, left_out: null,
    });
    expect(rows[1]).toMatchObject({
      question: 'regions', group: '["false","north"]', estimate: 251, low95: 238,
    });
    expect(rows[3]).toMatchObject({ outcome: 'no-answer', estimate: null, low95: null });
    expect(rows[7]).toMatchObject({
      question: 'quiet', outcome: 'refused', reason: 'subsamples-disagree', estimate: null,
    });
    expect(rows[8]).toMatchObject({ group: '=A1+1', estimate: 41 });
    expect(rows[9]).toMatchObject({ group: 'maps', outcome: 'value', estimate: null, low95: null });
    expect(rows[10]).toMatchObject({
      question: 'alone', group: 'chess',
      left_out: expect.stringContaining('A person counts under at most 1 group') as unknown,
    });
    expect(rows[21]).toMatchObject({ release: 1, epoch: 7 });
  });

  it('writes the same rows as CSV, with texts that no spreadsheet runs', async () => {
    const path = fresh('.csv');
    await exported(path);
    const parquet = fresh('.parquet');
    await exported(parquet);
    const cell = (value: unknown): string =>
      (typeof value === 'number' || typeof value === 'string' ? String(value) : '');
    const expected = (await rowsIn(parquet)).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) =>
        [name, value === '=A1+1' ? '\'=A1+1' : cell(value)])));
    expect(await rowsIn(path)).toEqual(expected);
  });

  it('writes nothing if a check fails, over no other file, and in no other format', async () => {
    const path = fresh('.csv');
    const headless = `${logged.lines.slice(0, -1).join('\n')}\n`;
    expect(await exported(path, headless)).toMatchObject({ status: 1 });
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'mine');
    expect((await exported(path)).stderr).toContain('it exists already: name another file');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect((await exported(fresh('.xlsx'))).stderr).toContain('use .csv, .parquet, .arrow');
  });
});
