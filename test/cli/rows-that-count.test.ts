import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Answer {
  readonly estimate: readonly (number | null)[];
  readonly leftOut: readonly string[];
}

async function json(words: readonly string[]): Promise<Answer & {
  readonly questions: Readonly<Record<string, Answer>>; readonly notes?: readonly string[];
}> {
  const run = await keelson([...words, '--json'], {
    environment: { KEELSON_INSECURE_SEED: 'rows' },
  });
  expect(run.status, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as Awaited<ReturnType<typeof json>>;
}

const privacy = ['--epsilon', '50', '--delta', '1e-6'];
const shared = `epoch: { every: 1d }
privacy: { epsilon: 50, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-4 }
`;

describe('a row with an empty cell', { tags: ['long'] }, () => {
  // 400 people in two groups of 200; every second one of a group has no x.
  const gaps = file('gaps.csv', ['g,x', ...Array.from({ length: 400 }, (_, i) =>
    `${'ab'[i % 2]},${i % 4 < 2 ? '' : i % 20}`)].join('\n'));
  const study = file('gaps.yaml', `study: gaps
columns:
  g: { type: category, of: [a, b] }
  x: number
cohort: 400
${shared}questions:
  byg: { estimator: count, by: { column: g, keysMax: 1 } }
  ga: { estimator: count, where: { g: a } }
  m: { estimator: mean, columns: [x], parameters: { range: 0..20 } }
`);

  it('counts in each question that does not use the column', async () => {
    const { questions: { byg, ga, m } } =
      await json(['estimate', '--study', study, gaps, '--missing', 'null']);
    expect(byg!.estimate.map((count) => Math.round(count! / 10))).toEqual([20, 20]);
    expect(Math.round(ga!.estimate[0]! / 10)).toBe(20);
    expect(m!.leftOut).toEqual(['A row counts only if it has a value of x.']);
    expect(ga!.leftOut).toEqual(['A row without a value of g passes no test of it.']);
  });
});

describe('what becomes of several rows of one person', { tags: ['long'] }, () => {
  // 240 people with one to three rows: a is 1 a row, b is 1 in the first row and 3 in others.
  const people = Array.from({ length: 240 }, (_, i) =>
    Array.from({ length: 1 + (i % 3) }, (_, row) => `p${i},1,${row === 0 ? 1 : 3}`)).flat();
  const rows = file('rows.csv', ['id,a,b', ...people].join('\n'));
  // Totals: 480 rows, and 240 + 3 * 240.
  const truth = 480 / 960;
  const asked = [rows, '--contributor', 'id', '--columns', 'a,b', '--set', 'cap=5,10'];

  it('is their sum in a ratio, whichever way it is asked', async () => {
    const study = file('ratio.yaml', `study: ratio
columns: [a, b]
cohort: 240
${shared}questions:
  ratio: { estimator: ratio, columns: [a, b], parameters: { cap: [5, 10] } }
`);
    const byFlags = await json(['estimate', 'ratio', ...asked, ...privacy]);
    const byWhere = await json(['estimate', 'ratio', ...asked, ...privacy, '--cohort', '240',
      '--where', 'a>=0']);
    const byFile = await json(['estimate', '--study', study, rows, '--contributor', 'id']);
    for (const { estimate } of [
      byFlags, byWhere.questions['ratio']!, byFile.questions['ratio']!,
    ]) expect(Math.abs(estimate[0]! - truth)).toBeLessThan(0.03);
  });

  it('is what the study file says, or a refusal', async () => {
    const study = (reduce: string): string => file(`${reduce}.yaml`, `study: sums
columns: [a, b]
cohort: 240
${shared}contribution: { reduce: ${reduce} }
estimator: mean
parameters: { range: 0..20 }
`);
    const words = (reduce: string): readonly string[] => ['estimate', 'mean', rows, '--study',
      study(reduce), '--contributor', 'id', '--set', 'range=0..20', ...privacy];
    const { estimate } = await json(words('sum'));
    expect(estimate[0]).toBeCloseTo(2, 1);
    expect(estimate[1]).toBeCloseTo(4, 1);
    const one = await keelson(words('one'));
    expect(one).toMatchObject({ status: 2, stdout: '' });
    expect(one.stderr).toContain('reduce: one');
  });
});

describe('rows and keys that do not count', { tags: ['long'] }, () => {
  const visits = file('visits.csv', ['person,place,year', ...Array.from({ length: 600 }, (_, i) =>
    `p${Math.floor(i / 3)},${'abc'[i % 3]},${2000 + (i % 30)}`)].join('\n'));
  const study = file('visits.yaml', `study: visits
columns:
  place: { type: category, of: [a, b, c] }
  year: { type: integer, low: 2000, high: 2019 }
cohort: 200
${shared}questions:
  places: { estimator: count, by: { column: place, keysMax: 2 } }
  years: { estimator: count, by: { column: year, keysMax: 20 } }
`);
  const pairs = 'A person counts under at most 2 keys, chosen at random: pairs of a person and a '
    + 'key beyond 2 a person are left out, so counts are low where people have more. The '
    + 'intervals are about the pairs that count.';
  const years = 'Rows with year outside 2000..2019 count under no key: the answer has no key for '
    + 'others.';

  it('are said in the plan and in the answer', async () => {
    const plan = await keelson(['plan', study, '--json']);
    const { studies: [{ questions: planned }] } = JSON.parse(plan.stdout) as {
      readonly studies: readonly [{ readonly questions: Readonly<Record<string, Answer>> }];
    };
    const { questions } =
      await json(['estimate', '--study', study, visits, '--contributor', 'person']);
    for (const { places, years: byYear } of [planned, questions]) {
      expect(places!.leftOut).toEqual([pairs]);
      expect(byYear!.leftOut).toEqual([years]);
    }
  });

  it('are as many as asked for where keys are found', async () => {
    const asked = ['estimate', 'count', visits, '--contributor', 'person', '--group-by', 'place',
      '--keys-max', '3', '--cohort', '200', ...privacy];
    const few = await json([...asked, '--groups', 'discover:2']);
    expect(few.questions['count']!.estimate).toHaveLength(2);
    expect(few.questions['count']!.leftOut[1]).toEqual('At most 2 keys are shown, and none that '
      + 'fewer than 2 people have, or so few that noise hides them.');
    const usual = await json([...asked, '--groups', 'discover']);
    expect(usual.questions['count']!.estimate).toHaveLength(3);
    expect(usual.questions['count']!.leftOut[1]).toContain('At most 100 keys');
  });
});

it('gives null for a group without an answer', { tags: ['long'] }, async () => {
  const rows = file('groups.csv', ['g,x', ...Array.from({ length: 300 }, () => 'a,1')].join('\n'));
  const { questions } = await json(['estimate', 'mean', rows, '--columns', 'x', '--group-by', 'g',
    '--groups', 'a,b', '--keys-max', '1', '--cohort', '300', '--set', 'range=0..2', ...privacy]);
  expect(questions['mean']!.estimate[0]).toBeCloseTo(1, 1);
  expect(questions['mean']!.estimate[1]).toBeNull();
});
