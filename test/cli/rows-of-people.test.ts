import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-people-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Answer {
  readonly estimate: readonly (number | null)[];
  readonly notes?: readonly string[];
}

/** At an epsilon that leaves next to no noise. */
async function asked(...words: readonly string[]): Promise<Answer> {
  const run = await keelson(['estimate', ...words, '--json']);
  expect(run.status, run.stderr).toBe(0);
  const { questions, ...answer } = JSON.parse(run.stdout) as Answer & {
    readonly questions?: Readonly<Record<string, Answer>>;
  };
  return questions === undefined ? answer : { ...answer, ...Object.values(questions)[0]! };
}

const exact = ['--epsilon', '60', '--delta', '1e-6'];

describe('the rows of one person', () => {
  // 240 people: a third have one row, a third two and a third three, and each row is 2 per 1 more
  // than the row before.
  const people = Array.from({ length: 240 }, (_, i) =>
    Array.from({ length: 1 + (i % 3) }, (_row, k) => `p${i},2,${1 + 2 * k}`)).flat();
  const rows = file('ratio.csv', `id,a,b\n${people.join('\n')}\n`);
  // 480 rows: 960 over 240 + 160 * 3 + 80 * 5.
  const right = 960 / 1_120;
  const study = (more = ''): string => file('ratio.yaml', `
study: spread
columns: { a: number, b: number }
cohort: 240
epoch: { every: 1d }
${more}
estimator: ratio
parameters: { cap: [20, 40] }
privacy: { epsilon: 60, delta: 1e-6 }
budget: { epsilon: 90, delta: 1e-5 }
`);
  const flags = ['ratio', rows, '--contributor', 'id', '--columns', 'a,b', '--cohort', '240',
    '--set', 'cap=20,40', ...exact];

  it.each([
    ['flags', () => flags],
    ['flags with a test that all rows pass', () => [...flags, '--where', 'a>=0']],
    ['a study file', () => ['--study', study(), rows, '--contributor', 'id']],
    ['a study file for the types alone', () => [...flags, '--study', study()]],
  ] as const)('are added up for a ratio that is asked by %s', async (_name, words) => {
    const { estimate } = await asked(...words());
    expect(Math.abs(estimate[0]! - right)).toBeLessThan(0.05);
  });

  it('become what the study file says, and one that no estimator makes is refused', async () => {
    const words = ['mean', rows, '--contributor', 'id', '--columns', 'b', '--cohort', '240',
      '--set', 'range=0..40', ...exact];
    const { estimate: averaged, notes } = await asked(...words);
    // Their means are 1, 2 and 3, and their sums 1, 4 and 9.
    expect(Math.abs(averaged[0]! - 2)).toBeLessThan(0.1);
    expect(notes!.join()).toContain('the rows of each contributor become their mean');
    const summed = [...words, '--study', study('contribution: { reduce: sum }')];
    const { estimate, notes: others } = await asked(...summed);
    expect(Math.abs(estimate[0]! - 14 / 3)).toBeLessThan(0.1);
    expect(others!.join()).toContain('the rows of each contributor become their sum');
    const { estimate: tested } = await asked(...summed, '--where', 'a>=0');
    expect(Math.abs(tested[0]! - 14 / 3)).toBeLessThan(0.1);
    const one = await keelson(
      ['estimate', ...words, '--study', study('contribution: { reduce: one }')]);
    expect([one.status, one.stdout]).toEqual([2, '']);
    expect(one.stderr).toContain('keeps one row of each person (reduce: one)');
    expect(one.stderr).toContain('give --reduce mean or sum');
  });
});

describe('an empty cell', () => {
  // Every other person has no x.
  const cells = Array.from({ length: 2_000 }, (_, i) =>
    `${i % 4 < 2 ? 'a' : 'b'},${i % 2 === 0 ? 7 : ''}`);
  const rows = file('gaps.csv', `g,x\n${cells.join('\n')}\n`);
  const study = file('gaps.yaml', `
study: gaps
columns:
  g: { type: category, of: [a, b] }
  x: number
cohort: 2000
epoch: { every: 1d }
questions:
  people: { estimator: count }
  groups: { estimator: count, by: { column: g, keysMax: 1 } }
  in-a: { estimator: count, where: { g: a } }
  x: { estimator: sum, columns: [x], parameters: { cap: 10 } }
privacy: { epsilon: 50, delta: 1e-6 }
budget: { epsilon: 90, delta: 1e-4 }
`);

  it('leaves a row out of the questions about its column alone', async () => {
    const run = await keelson(['estimate', '--study', study, rows, '--missing', 'null', '--json']);
    expect(run.status, run.stderr).toBe(0);
    const { questions } = JSON.parse(run.stdout) as {
      readonly questions: Readonly<Record<string, {
        readonly estimate: readonly number[]; readonly leftOut: readonly string[];
      }>>;
    };
    const near = (name: string, right: readonly number[], within: number): void => {
      const { estimate } = questions[name]!;
      expect(estimate).toHaveLength(right.length);
      right.forEach((value, i) => expect(Math.abs(estimate[i]! - value)).toBeLessThan(within));
    };
    near('people', [2_000], 10);
    near('groups', [1_000, 1_000], 20);
    near('in-a', [1_000], 10);
    near('x', [7_000], 100);
    expect(questions['x']!.leftOut).toEqual(['A row counts only if it has a value of x.']);
    expect(questions['people']!.leftOut).toEqual([]);
  });

  it('does so for a question that flags ask', async () => {
    const { estimate } = await asked('count', rows, '--missing', 'null', '--cohort', '2000',
      '--group-by', 'g', '--groups', 'a,b', '--keys-max', '1', ...exact);
    estimate.forEach((value) => expect(Math.abs(value! - 1_000)).toBeLessThan(10));
  });
});
