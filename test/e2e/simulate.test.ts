import { readFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../cli/demo/free-port.js';
import type { Question } from '../../cli/init/questions.js';
import { Stage, type Ended, type JsonLine } from '../support/live-command.js';
import { sampleStudies, sampleStudy } from '../support/sample-studies.js';
import { root } from '../support/sources.js';

const stage = new Stage();
afterEach(() => stage.endCommands());
afterAll(() => stage.end());

const linesOf = ({ stdout }: Ended): JsonLine[] =>
  stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as JsonLine);
const few = ['--contributors', '30', '--json'];

/**
 * A shipped sample, with epochs that are short, or close on the whole fleet. @returns the path of
 * the copy.
 */
function sample(name: string, every: string): string {
  const text = sampleStudy(root, name)
    .replace(/every: \w+/, `every: ${every}`)
    .replace(/\{ contributors: \d+ \}/, '{ contributors: 30 }');
  return stage.write(`${name}.yaml`, text);
}

const nameIn = (path: string): string => /^study: (\S+)/m.exec(readFileSync(path, 'utf8'))![1]!;

/**
 * A summary in which everything was taken. Studies with running totals take nobody in two
 * successive epochs, and a busy machine may still send when the first one closes.
 */
function expectTaken(summary: JsonLine, atLeast: number): void {
  const { sent, accepted, refused } =
    summary as unknown as { sent: number; accepted: number; refused: Record<string, number> };
  const { 'contributor-budget-exhausted': twice = 0, ...others } = refused;
  expect(others).toEqual({});
  expect([accepted + twice, accepted >= atLeast]).toEqual([sent, true]);
}

describe('keelson simulate', () => {
  it('says at once that nobody answers, and what to do', async () => {
    const url = `ws://127.0.0.1:${await freePort()}`;
    const { status, stdout, stderr } = await stage.run(['simulate', url, '--study', 'a', ...few]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`no aggregator answers at ${url}`);
    expect(stderr).toContain('--retry');
  });

  it('waits for an aggregator when it is asked to, and says so', async () => {
    const port = await freePort();
    const words = [
      'simulate', `ws://127.0.0.1:${port}`, '--study', 'flights-mean', '--retry', ...few,
    ];
    const run = stage.start(words);
    await run.says('trying again');
    await stage.serve([sample('flights-mean', '2s')], { port, data: 'waited-for' });
    await run.line(({ type }) => type === 'epoch');
    expect((await run.interrupt()).status).toBe(0);
  });

  it('takes part in every study that init offers', { tags: ['slow'] }, async () => {
    const one = ['--columns', 'minutes', '--range', '0..240'];
    const names = ['--group-by', 'region', '--groups', 'north,south'];
    const offered: Readonly<Record<Question, readonly string[]>> = {
      mean: one, 'skewed-mean': one, median: one, total: one, histogram: one, percentile: one,
      distribution: one,
      share: ['--columns', 'minutes', '--threshold', '60'],
      covariance: ['--columns', 'minutes,kilometres'],
      'count-by-group': names, 'running-total': names, 'mean-by-group': [...one, ...names],
      'median-by-group': [...one, ...names],
      'unknown-groups': ['--group-by', 'app'],
      several: [...one, ...names],
    };
    const paths = await Promise.all(Object.entries(offered).map(async ([question, flags]) => {
      const path = stage.path(`init-${question}.yaml`);
      const { status, stderr } = await stage.run([
        'init', path, '--question', question, '--cohort', '20000', '--every', '15s', ...flags,
      ]);
      expect(status, stderr).toBe(0);
      return path;
    }));
    const { url } = await stage.serve(paths, { data: 'offered' });
    const studies = paths.map(nameIn);
    const run = await stage.run(
      ['simulate', url, '--study', studies.join(), '--epochs', '1', ...few],
    );
    expect(run.status, run.stderr).toBe(0);
    expectTaken(linesOf(run).at(-1)!, 29 * studies.length);
  });

  it('takes part in every sample study with hostile people, honest ones refused '
    + 'nothing', { tags: ['slow'] }, async () => {
    const samples = sampleStudies(root).map(({ name }) => name)
      .filter((name) => !['members-survey', 'commute-questions'].includes(name));
    // Long enough for everybody to connect, also on a busy machine, and for the passes of one.
    const lengthOf = (name: string): string => (name === 'flights-stable-weights' ? '31s' : '15s');
    const paths = samples.map((name) => sample(name, lengthOf(name)));
    const names = paths.map(nameIn);
    const { url } = await stage.serve(paths, { data: 'samples' });
    const run = await stage.run([
      'simulate', url, '--study', names.join(), '--liars', '0.3', '--epochs', '1', ...few,
    ]);
    expect(run.status, run.stderr).toBe(0);
    const lines = linesOf(run);
    expect(lines.filter(({ type }) => type === 'summary')).toHaveLength(1);
    for (const name of names) expect(lines.some(({ study }) => study === name), name).toBe(true);
    expectTaken(lines.at(-1)!, 29 * names.length);
    // Flights go only where the columns are theirs; the rest is made up, and said to be.
    expect(run.stderr).toContain('flights-mean: real flights, 8 rows a contribution');
    expect(run.stderr).toContain('delay-histogram: real flights');
    expect(run.stderr).toContain('sensors-resilient: made-up rows that fit celsius, percent');
    expect(run.stderr)
      .toContain('movements-subspace: made-up rows that fit arrivals, departures, movements');
    expect(run.stderr).toMatch(/movements-subspace: .*, 1 row a contribution/);
  });

  it('sends the typed rows of a file', { tags: ['slow'] }, async () => {
    const study = stage.write('apps.yaml', [
      'study: apps',
      'columns:',
      '  app: { type: text, bytes: 16, optional: true }',
      '  region: { type: category, of: [north, south] }',
      'cohort: 60',
      'participation: public',
      'epoch: { contributors: 60 }',
      'contribution: { rowsMax: 1 }',
      'questions:',
      '  apps: { estimator: count, by: { column: app, groupsMax: 1, discover: true } }',
      '  regions: { estimator: count, by: { column: region, groupsMax: 1 } }',
      'privacy: { epsilon: 20, delta: 1e-3 }',
      'budget: { epsilon: 40, delta: 2e-3, scope: study }', '',
    ].join('\n'));
    const rows = Array.from({ length: 60 }, (_, i) =>
      (i % 3 === 0 ? ',south' : 'maps & more,north'));
    const input = stage.write('apps.csv', `app,region\n${rows.join('\n')}\n`);
    const { url } = await stage.serve([study], { data: 'typed' });
    const words = ['simulate', url, '--study', 'apps', '--contributors', '60', '--rows', '1'];
    const run = await stage.run([
      ...words, '--epochs', '1', '--json', '--input', input, '--types', study,
    ]);
    expect(run.status, run.stderr).toBe(0);
    expect(linesOf(run).at(-1)).toMatchObject({ accepted: 60, refused: {} });
    const seen = await stage.run(['watch', url, '--study', 'apps', '--count', '1', '--json']);
    // 40 people have it. It is hidden in fewer than 1 of 10^6 runs.
    expect(seen.stdout).toContain('maps & more');
    expect(seen.stderr).toBe('');
    const stray = await stage.run([...words, '--types', study]);
    expect([stray.status, stray.stderr]).toEqual([2, expect.stringContaining('--input')]);
  });

  it('says that people took part before, and that they wait for the next '
    + 'epoch', { tags: ['slow'] }, async () => {
    const { url } = await stage.serve([sample('flights-mean', '2s')], { data: 'again' });
    const words = ['simulate', url, '--study', 'flights-mean', '--epochs', '1', ...few];
    expect((await stage.run(words)).status).toBe(0);
    const again = await stage.run(words);
    // On a busy machine the next epoch may open meanwhile.
    expect(again.stderr).toMatch(/\d+ sessions? (are|is) of contributors that took part before/);
    expect(linesOf(again).at(-1)).toMatchObject({ type: 'summary', refused: {} });
  });

  it('reports a server that refuses everybody, too many rows, and wrong columns', {
    tags: ['slow'],
  }, async () => {
    const { url } = await stage.serve(
      [sample('members-survey', '1h'), sample('monthly-survey', '1h')],
      { data: 'refusing' });
    const turned =
      await stage.run(['simulate', url, '--study', 'members-survey', '--contributors', '5']);
    expect([turned.status, turned.stdout])
      .toEqual([1, expect.stringContaining('not-enrolled') as string]);
    const many =
      await stage.run(['simulate', url, '--study', 'monthly-survey', '--rows', '9', ...few]);
    expect([many.status, many.stdout]).toEqual([2, '']);
    expect(many.stderr).toContain('monthly-survey takes at most 8 rows');
    const input = stage.write('rows.csv', 'a,b\n1,2\n3,4\n');
    const wide =
      await stage.run(['simulate', url, '--study', 'monthly-survey', '--input', input, ...few]);
    expect([wide.status, wide.stdout]).toEqual([2, '']);
    expect(wide.stderr)
      .toMatch(/has 2 columns \(.*\), and monthly-survey has 1 \(minutes_per_day\)/);
    const unknown = await stage.run(['simulate', url, '--study', 'nobodys', ...few]);
    expect([unknown.status, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('members-survey');
  });
});
