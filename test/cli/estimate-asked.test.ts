import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('asked');

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const people = 3_000;
const apps = ['maps', 'mail', 'music'];
/** Two rows of each person: of two apps, in one region. Minutes are 0 to 99. */
const lines = Array.from({ length: 2 * people }, (_, i) => {
  const person = Math.floor(i / 2);
  return [
    person, i % 100, person % 4 === 0, person % 3 === 0 ? 'north' : 'south', apps[i % 3],
  ].join();
});
const rows = file('rows.csv', ['id,minutes,late,region,app', ...lines].join('\n'));
const shared = ['--contributor', 'id', '--epsilon', '1', '--delta', '1e-6'];
const asked = [...shared, '--cohort', String(people), '--participation', 'secret'];

interface Answer {
  readonly estimate: readonly number[];
  readonly groups?: readonly string[];
  readonly uncertainty: object;
  readonly interval95: { readonly low: readonly number[]; readonly high: readonly number[] };
}

/** The only answer of a run with noise that is always the same. */
async function answer(words: readonly string[]): Promise<Answer> {
  const run = await keelson(['estimate', ...words, '--json'], {
    environment: { KEELSON_INSECURE_SEED: 'asked' },
  });
  expect(run.stderr).toContain('NOT private');
  expect(run.status, run.stderr).toBe(0);
  const { questions } = JSON.parse(run.stdout) as { questions: Readonly<Record<string, Answer>> };
  expect(Object.keys(questions)).toHaveLength(1);
  return Object.values(questions)[0]!;
}

describe('keelson estimate with --where and --groups-max', () => {
  it('finds groups that nobody listed, of rows that pass the tests', async () => {
    const { groups: keys, estimate } = await answer([
      'count', rows, ...asked, '--group-by', 'app', '--groups', 'discover', '--groups-max', '2',
      '--where', 'minutes>=20', '--where', 'minutes < 70', '--where', 'region!=north',
      '--type', 'region=category:north,south',
    ]);
    const truth = (app: string): number => new Set(lines.map((line) => line.split(','))
      .filter(([, minutes, , region, own]) => own === app && region === 'south'
        && Number(minutes) >= 20 && Number(minutes) < 70).map(([id]) => id)).size;
    expect([...keys!].sort()).toEqual([...apps].sort());
    keys!.forEach((app, i) => expect(Math.abs(estimate[i]! - truth(app))).toBeLessThan(60));
  });

  it('has auto choose for fewer people, as not all may have rows that count', async () => {
    const mean = ['estimate', 'auto', rows, ...asked, '--columns', 'minutes'];
    const environment = { KEELSON_INSECURE_SEED: 'asked' };
    const all = await keelson(['plan', 'auto', '--columns', '1', '--cohort', String(people),
      '--participation', 'secret', '--epsilon', '1', '--delta', '1e-6']);
    expect(all.stdout).toMatch(/^chosen: robust-mean/);
    const some = await keelson([...mean, '--type', 'region=text', '--where', 'region=north'],
      { environment });
    expect(some.status, some.stdout + some.stderr).toBe(0);
    expect(some.stdout).toMatch(/^chosen: median/);
    // Of 1,000 people, each with the mean of two rows.
    const row = /^minutes +([\d.]+) /m.exec(some.stdout);
    expect(Math.abs(Number(row?.[1]) - 50)).toBeLessThan(10);
  });

  it('splits by several columns, listed by their types or not', async () => {
    const both = [...asked, '--group-by', 'region,app', '--groups-max', '2'];
    const listed = await answer(['count', rows, ...both,
      '--type', 'region=category:north,south', '--type', 'app=category:maps,mail,music']);
    const found = await answer(['count', rows, ...both, '--groups', 'discover']);
    expect(listed.groups).toHaveLength(6);
    const truth = ([region, app]: readonly string[]): number => new Set(lines
      .map((line) => line.split(','))
      .filter(([, , , one, other]) => one === region && other === app).map(([id]) => id)).size;
    const groups = listed.groups as unknown as readonly (readonly string[])[];
    groups.forEach((group, i) =>
      expect(Math.abs(listed.estimate[i]! - truth(group))).toBeLessThan(60));
    // Nobody in the north used music.
    expect(found.groups!.map(String).sort())
      .toEqual(groups.filter((group) => truth(group) > 0).map(String).sort());
  });

  it('adds up values by groups that nobody listed', async () => {
    const { groups: keys, estimate } = await answer([
      'sum', rows, ...asked, '--columns', 'minutes', '--set', 'cap=200', '--group-by', 'app',
      '--groups', 'discover', '--groups-max', '2',
    ]);
    const truth = (app: string): number => lines.map((line) => line.split(','))
      .filter(([, , , , own]) => own === app)
      .reduce((sum, [, minutes]) => sum + Number(minutes), 0);
    expect([...keys!].sort()).toEqual([...apps].sort());
    // Five deviations of cap sqrt(groupsMax / rho).
    keys!.forEach((app, i) => expect(Math.abs(estimate[i]! - truth(app))).toBeLessThan(10_000));
    expect(truth('maps')).toBeGreaterThan(90_000);
  });

  it('gives what a study file gives, bit for bit', async () => {
    const study = file('asked.yaml', `study: asked
columns:
  minutes: number
  late: boolean
  region: { type: text, bytes: 64 }
cohort: ${people}
epoch: { every: 1d }
questions:
  mean: { estimator: mean, columns: [minutes], where: { late: true },
          by: { column: region, groupsMax: 1, groups: [north, south] }, parameters: { range: 0..100 } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 1, delta: 1e-6, releases: 1 }
`);
    const fromFlags = await answer([
      'mean', rows, ...asked, '--columns', 'minutes', '--where', 'late=true', '--type',
      'late=boolean', '--group-by', 'region', '--groups', 'north,south', '--groups-max', '1',
      '--set', 'range=0..100',
    ]);
    const fromFile = await answer(['--study', study, rows, '--contributor', 'id']);
    expect(fromFlags).toEqual(fromFile);
    expect(fromFlags.groups).toEqual(['north', 'south']);
    expect(fromFlags.interval95.low[0]).toBeLessThan(49.5);
    expect(fromFlags.interval95.high[0]).toBeGreaterThan(49.5);
  });

  it('has as little noise as the same answer about everybody', async () => {
    const { uncertainty } = await answer(['count', rows, ...asked, '--where', 'minutes>=20']);
    expect(uncertainty).toEqual({ kind: 'laplace', scale: [1] });
  });

  it('takes the range of a mean by keys from low and high of the column', async () => {
    const types = file('types.yaml', `study: types
columns:
  minutes: { type: number, low: 0, high: 100 }
  region: { type: category, of: [north, south] }
cohort: 1000
epoch: { every: 1d }
questions: { people: { estimator: count } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`);
    const words = [
      'mean', rows, ...asked, '--columns', 'minutes', '--group-by', 'region', '--groups-max', '1',
    ];
    const usual = await answer([...words, '--study', types]);
    expect(usual).toEqual(await answer([...words, '--study', types, '--set', 'range=0..100']));
    const wider = await answer([...words, '--study', types, '--set', 'range=0..200']);
    expect(wider.estimate).not.toEqual(usual.estimate);
  });

  it.each([
    ['minutes>49', 'minutes>=50'], ['minutes<=49', 'minutes<50'], ['minutes > 49.5', 'minutes>=50'],
    ['minutes<=0', 'minutes<1'], ['minutes>-1', 'minutes>=0'],
  ])('counts the same rows with %s and %s', async (one, other) => {
    const counted = (test: string, ...more: string[]): Promise<Answer> =>
      answer(['count', rows, ...asked, '--where', test, ...more]);
    const whole = ['--type', 'minutes=integer'];
    expect((await counted(one)).estimate).toEqual((await counted(other)).estimate);
    expect((await counted(one, ...whole)).estimate)
      .toEqual((await counted(other, ...whole)).estimate);
  });

  const split = ['--group-by', 'region', '--groups', 'north,south'];
  it.each([
    ['no cohort', ['count', rows, ...shared, '--where', 'minutes>=5'], '--cohort is missing'],
    ['no test', ['count', rows, ...asked, '--where', 'minutes~5'], 'is no test: write column=valu'],
    ['half a test', ['count', rows, ...asked, '--where', 'minutes='], 'is no test'],
    ['a test twice', ['count', rows, ...asked, '--where', 'minutes<5', '--where', 'minutes<6'],
      'tests twice what minutes below'],
    ['a number that is none', ['count', rows, ...asked, '--where', 'minutes=five'],
      'as in --type minutes=text'],
    ['an order by a number that is none', ['count', rows, ...asked, '--where', 'minutes<five'],
      '--where minutes'],
    ['a boolean that is none', [
      'count', rows, ...asked, '--where', 'late=maybe', '--type', 'late=boolean',
    ], 'late is true or false'],
    ['an order of names', [
      'count', rows, ...asked, '--where', 'region>=a', '--type', 'region=text',
    ], '--where: questions.count.where'],
    ['groups without a bound', ['count', rows, ...asked, ...split, '--where', 'minutes<5'],
      '--where with --group-by needs --groups-max'],
    ['groups to be found without a bound', [
      'count', rows, ...asked, '--group-by', 'region', '--groups', 'discover:500',
    ], '--groups discover needs --groups-max and --cohort'],
    ['one list for several columns', [
      'count', rows, ...asked, '--group-by', 'region,app', '--groups', 'a,b', '--groups-max', '1',
    ], '--type region=category:a,b'],
    ['a bound without groups', ['count', rows, ...asked, '--groups-max', '2'], 'needs --group-by'],
    [
      'a bound that is none', ['count', rows, ...asked, ...split, '--groups-max', '0'],
      '--groups-max',
    ],
    ['no columns', ['mean', rows, ...asked, '--where', 'minutes<5'],
      '--columns is missing, and mean'],
    ['no columns for auto', ['auto', rows, ...asked, '--where', 'minutes<5'],
      '--columns is missing, and median'],
    ['rho', ['count', rows, ...asked.slice(0, 2),
      '--cohort', '9', '--participation', 'secret', '--epsilon', 'rho=1',
      '--delta', '1e-6', '--where', 'minutes<5'], '--epsilon rho=R is not for --where'],
    ['a study that asks', ['--study', 'x.yaml', rows, '--where', 'minutes<5'],
      '--where is given with a study file and no estimator'],
  ])('refuses %s', async (_what, words, message) => {
    const run = await keelson(['estimate', ...words]);
    expect([run.status, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain(message);
  });

  it('says which question has no plan', async () => {
    const run = await keelson([
      'estimate', 'count', rows,
        '--cohort', '3000', '--participation', 'secret', '--epsilon', '1', '--delta', '0',
      '--group-by', 'app', '--groups', 'discover', '--groups-max', '1',
    ]);
    expect([run.status, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain('the question cannot be planned: questions.count: showing');
  });
});

describe('keelson estimate by groups', () => {
  it('answers for the groups that have rows when a listed one has none', async () => {
    const run = await keelson(['estimate', 'count', rows, '--group-by', 'region', '--columns',
      'minutes', '--groups', 'north,nowhere', '--epsilon', '8', '--delta', '1e-6', '--json'], {
      environment: { KEELSON_INSECURE_SEED: 'empty' },
    });
    expect(run.status, run.stderr).toBe(0);
    const { groups } = JSON.parse(run.stdout) as { groups: readonly Answer[] };
    expect(groups[0]!.estimate[0]! - 2 * people / 3).toBeLessThan(30);
    expect(Math.abs(groups[1]!.estimate[0]!)).toBeLessThan(30);
    const none = await keelson(['estimate', 'count', rows, '--group-by', 'region', '--columns',
      'minutes', '--groups', 'nowhere', '--epsilon', '8', '--delta', '1e-6']);
    expect([none.status, none.stderr]).toEqual([
      2, expect.stringContaining('there are no rows of these groups: compare --groups') as string,
    ]);
  });

  const mean = ['mean', rows, '--group-by', 'region', '--groups', 'north,south', '--contributor',
    'id', '--epsilon', '8', '--delta', '1e-6', '--set', 'range=0..100'];
  const values = ['--columns', 'minutes'];

  it.each([
    ['beside columns', [...values, '--type', 'region=text'], 'region=text', '--group-by'],
    ['alone', ['--type', 'region=category:north,south'], 'region=category:north,south',
      '--group-by'],
    ['of contributors', [...values, '--type', 'id=integer'], 'id=integer', '--contributor'],
  ])('takes no type of a column of groups, and works without: %s', async (_, more, type, flag) => {
    const refused = await keelson(['estimate', ...mean, ...more]);
    expect([refused.status, refused.stderr]).toEqual([
      2, expect.stringContaining(`and ${flag} takes its values as they are written: leave --type `
        + `${type} out`) as string,
    ]);
    expect((await keelson(['estimate', ...mean, ...values])).status).toBe(0);
  });

  it('takes its columns from a study file, without the one of the groups', async () => {
    const types = file('groups.yaml', `study: groups
columns: { minutes: number, region: { type: category, of: [north, south] } }
cohort: 1000
epoch: { every: 1d }
questions: { people: { estimator: count } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`);
    const run = await keelson(['estimate', ...mean, '--study', types, '--json']);
    expect(run.status, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout))
      .toMatchObject({ groups: [{ group: 'north' }, { group: 'south' }] });
  });

  it.each([['region=north', 'region=text'], ['late=true', 'late=boolean']])(
    'names the type that the test %s needs', async (test, type) => {
      const words = ['count', rows, ...asked, '--where', test];
      const refused = await keelson(['estimate', ...words]);
      expect(refused.stderr).toContain(`give the column its type, as in --type ${type}\n`);
      await answer([...words, '--type', type]);
    });

  it('shows 100 groups that it finds, and more where --groups discover:N says so', async () => {
    const many = Array.from({ length: 9_000 }, (_, i) => `${i},app ${i % 150}`);
    const words = ['count', file('many.csv', ['id,app', ...many].join('\n')), '--contributor', 'id',
      '--cohort', '9000', '--participation', 'secret', '--epsilon', '8',
      '--delta', '1e-6', '--group-by', 'app', '--groups-max', '1'];
    expect((await answer([...words, '--groups', 'discover'])).groups).toHaveLength(100);
    expect((await answer([...words, '--groups', 'discover:500'])).groups).toHaveLength(150);
    const none = await keelson(['estimate', ...words, '--groups', 'discover:0']);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('discover:') as string]);
  });

  it('finds groups of whole numbers once it knows their range, as its remedy says', async () => {
    const words = (type: string) => ['count', rows, ...asked, '--type', `minutes=${type}`,
      '--group-by', 'minutes', '--groups', 'discover', '--groups-max', '2'];
    const refused = await keelson(['estimate', ...words('integer')]);
    expect(refused.stderr).toContain('give it one, as in --type year=integer:1990..2029');
    expect((await answer(words('integer:0..99'))).groups!.length).toBeGreaterThan(50);
  });
});

describe('a long read of rows that count', () => {
  it('has its bar on a terminal, and none beside JSON', async () => {
    const words = ['estimate', 'count', rows, ...asked, '--where', 'minutes>=50'];
    const drawn = await keelson(words, { tty: true });
    expect(drawn.status, drawn.stderr).toBe(0);
    expect(drawn.stderr).toMatch(/reading \[=* *\] \d+ % of/);
    expect((await keelson([...words, '--json'], { tty: true })).stderr).not.toContain('reading');
  });
});
