import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('rows');

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Answer {
  readonly estimate: readonly (number | null)[];
  readonly leftOut: readonly string[];
}

interface Answers {
  readonly estimate: readonly (number | null)[];
  readonly questions: Readonly<Record<string, Answer>>;
  readonly notes?: readonly string[];
}

async function json(words: readonly string[]): Promise<Answers> {
  const run = await keelson([...words, '--json'], {
    environment: { KEELSON_INSECURE_SEED: 'rows' },
  });
  expect(run.status, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as Answers;
}

/** The numbers of the only answer, whichever form it has. */
async function numbersOf(words: readonly string[]): Promise<readonly (number | null)[]> {
  const { estimate, questions } = await json(words);
  return estimate ?? Object.values(questions)[0]!.estimate;
}

const privacy = ['--epsilon', '50', '--delta', '1e-6'];
const shared = `epoch: { every: 1d }
privacy: { epsilon: 50, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-4 }
`;

describe('a row with an empty cell', { tags: ['long'] }, () => {
  // 2,000 people in two groups of 1,000; every second one of a group has no x.
  const gaps = file('gaps.csv', ['g,x', ...Array.from({ length: 2_000 }, (_, i) =>
    `${'ab'[i % 2]},${i % 4 < 2 ? '' : 7}`)].join('\n'));
  const study = file('gaps.yaml', `study: gaps
columns:
  g: { type: category, of: [a, b] }
  x: number
cohort: 2000
${shared}questions:
  people: { estimator: count }
  groups: { estimator: count, by: { column: g, groupsMax: 1 } }
  in-a: { estimator: count, where: { g: a } }
  total: { estimator: sum, columns: [x], parameters: { cap: 10 } }
  mean: { estimator: mean, columns: [x], parameters: { range: 0..20 } }
`);

  it('counts in each question that does not use the column', async () => {
    const { questions } = await json(['estimate', '--study', study, gaps, '--csv', 'missing=null']);
    const near = (name: string, right: readonly number[], within: number): void => {
      const { estimate } = questions[name]!;
      expect(estimate).toHaveLength(right.length);
      right.forEach((value, i) => expect(Math.abs(estimate[i]! - value)).toBeLessThan(within));
    };
    near('people', [2_000], 10);
    near('groups', [1_000, 1_000], 20);
    near('in-a', [1_000], 10);
    near('total', [7_000], 100);
    near('mean', [7], 0.1);
    const ofX = ['A row counts only if it has a value of x.'];
    expect(questions['total']!.leftOut).toEqual(ofX);
    expect(questions['mean']!.leftOut).toEqual(ofX);
    expect(questions['in-a']!.leftOut)
      .toEqual(['A row without a value of g passes no test of it.']);
    expect(questions['people']!.leftOut).toEqual([]);
  });

  it('does so for a question that flags ask', async () => {
    const estimate = await numbersOf(['estimate', 'count', gaps, '--csv', 'missing=null',
      '--cohort', '2000', '--participation', 'secret',
      '--group-by', 'g', '--groups', 'a,b', '--groups-max', '1', ...privacy]);
    expect(estimate).toHaveLength(2);
    for (const value of estimate) expect(Math.abs(value! - 1_000)).toBeLessThan(10);
  });
});

describe('what becomes of several rows of one person', { tags: ['long'] }, () => {
  // 240 people with one to three rows: a is 2 in each, and b is 1, 3 and 5.
  const people = Array.from({ length: 240 }, (_, i) =>
    Array.from({ length: 1 + (i % 3) }, (_row, k) => `p${i},2,${1 + 2 * k}`)).flat();
  const rows = file('rows.csv', ['id,a,b', ...people].join('\n'));
  // Totals: 2 * 480, and 240 + 160 * 3 + 80 * 5.
  const right = 960 / 1_120;
  const study = (more = ''): string => file('ratio.yaml', `study: ratio
columns: { a: number, b: number }
cohort: 240
${shared}${more}
estimator: ratio
parameters: { cap: [20, 40] }
`);
  const questions = file('questions.yaml', `study: ratio
columns: [a, b]
cohort: 240
${shared}questions:
  ratio: { estimator: ratio, columns: [a, b], parameters: { cap: [20, 40] } }
`);
  const flags = ['ratio', rows, '--contributor', 'id', '--columns', 'a,b',
    '--cohort', '240', '--participation', 'secret',
    '--set', 'cap=20,40', ...privacy];

  it.each([
    ['flags', () => flags],
    ['flags with a test that all rows pass', () => [...flags, '--where', 'a>=0']],
    ['a study file', () => ['--study', study(), rows, '--contributor', 'id']],
    ['a study file with a list of questions',
      () => ['--study', questions, rows, '--contributor', 'id']],
    ['a study file for the types alone', () => [...flags, '--study', study()]],
  ] as const)('are added up for a ratio that is asked by %s', async (_name, words) => {
    const [ratio] = await numbersOf(['estimate', ...words()]);
    expect(Math.abs(ratio! - right)).toBeLessThan(0.05);
  });

  it('become what the study file says, and one that no estimator makes is refused', async () => {
    const words = ['estimate', 'mean', rows, '--contributor', 'id', '--columns', 'a,b', '--cohort',
      '240', '--participation', 'secret', '--set', 'range=0..40', ...privacy];
    const near = (estimate: readonly (number | null)[], means: readonly number[]): void =>
      means.forEach((mean, i) => expect(Math.abs(estimate[i]! - mean)).toBeLessThan(0.3));
    const averaged = await json(words);
    // The means of a person's b are 1, 2 and 3, and their sums 1, 4 and 9.
    near(averaged.estimate, [2, 2]);
    expect(averaged.notes!.join()).toContain('the rows of each contributor become their mean');
    const added = [...words, '--study', study('contribution: { reduce: sum }')];
    const summed = await json(added);
    near(summed.estimate, [4, 14 / 3]);
    expect(summed.notes!.join()).toContain('the rows of each contributor become their sum');
    const only = added.map((word) => (word === 'a,b' ? 'b' : word));
    near(await numbersOf([...only, '--where', 'a>=0']), [14 / 3]);
    const one = await keelson([...words, '--study', study('contribution: { reduce: one }')]);
    expect([one.status, one.stdout]).toEqual([2, '']);
    expect(one.stderr).toContain('keeps one row of each person (reduce: one)');
    expect(one.stderr).toContain('give --reduce mean or sum');
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
  places: { estimator: count, by: { column: place, groupsMax: 2 } }
  years: { estimator: count, by: { column: year, groupsMax: 21 } }
`);
  const pairs = 'A person counts under at most 2 groups, chosen at random: pairs of a person and a '
    + 'group beyond 2 a person are left out, so counts are low where people have more. The '
    + 'intervals are about the pairs that count, and about all pairs where the answer says how '
    + 'many people have more groups.';
  const years = 'A year outside 2000..2019 counts as other.';

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
      '--groups-max', '3', '--cohort', '200', '--participation', 'secret', ...privacy];
    const few = await json([...asked, '--groups', 'discover:2']);
    expect(few.questions['count']!.estimate).toHaveLength(2);
    expect(few.questions['count']!.leftOut[1]).toEqual('At most 2 groups are shown, and none that '
      + 'fewer than 2 people have, or so few that noise hides them.');
    const usual = await json([...asked, '--groups', 'discover']);
    expect(usual.questions['count']!.estimate).toHaveLength(3);
    expect(usual.questions['count']!.leftOut[1]).toContain('At most 100 groups');
  });
});

it('gives null for a group without an answer', { tags: ['long'] }, async () => {
  const rows = file('groups.csv', ['g,x', ...Array.from({ length: 300 }, () => 'a,1')].join('\n'));
  const { questions } = await json(['estimate', 'mean', rows, '--columns', 'x', '--group-by', 'g',
    '--groups', 'a,b', '--groups-max', '1',
      '--cohort', '300', '--participation', 'secret', '--set', 'range=0..2', ...privacy]);
  expect(questions['mean']!.estimate[0]).toBeCloseTo(1, 1);
  expect(questions['mean']!.estimate[1]).toBeNull();
});
