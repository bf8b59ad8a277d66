import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadFlights } from '../../cli/data/flights.js';
import { keelson } from '../support/command.js';
import { npyBytes } from '../support/npy.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('estimate');

const place = (name: string, contents: string | Buffer): string => {
  const path = join(scratch, name);
  writeFileSync(path, contents);
  return path;
};

/** 2,000 contributors around (3, -200), exactly representable in every format. */
const rows = Array.from({ length: 2_000 }, (_, i) =>
  [3 + ((i * 37) % 65 - 32) / 32, -200 + ((i * 53) % 129 - 64)]);
const truth = [0, 1].map((column) =>
  rows.reduce((sum, row) => sum + row[column]!, 0) / rows.length);
const csv = `x,y\n${rows.map((row) => row.join(',')).join('\n')}\n`;
const csvPath = place('rows.csv', csv);

const privacy = ['--epsilon', '4', '--delta', '1e-6', '--set', 'spread=1,40'];
const seeded = { environment: { KEELSON_INSECURE_SEED: 'a test' } };
const run = (
  input: string, extra: readonly string[] = [], options: Parameters<typeof keelson>[1] = seeded,
) =>
  keelson(['estimate', 'mean', input, ...privacy, ...extra, '--json'], options);

const onRows = ['estimate', 'mean', csvPath];

interface Result {
  estimate: number[];
  [name: string]: unknown;
}

const parsed = (text: string): Result => JSON.parse(text) as Result;
const answer = ({ stdout }: { stdout: string }): unknown => parsed(stdout);

describe('keelson estimate', () => {
  it('gives the documented JSON and nothing else on standard '
    + 'output', { tags: ['long'] }, async () => {
    const { status, stdout, stderr } = await run(csvPath, [
      '--cohort', '2000', '--participation', 'secret']);
    expect(status).toBe(0);
    expect(stderr).toContain('warning: KEELSON_INSECURE_SEED is set');
    const result = parsed(stdout);
    expect(result).toMatchObject({
      estimator: 'mean', outcome: 'value', charged: true, shape: [2], rows: 2_000, dimension: 2,
      columns: ['x', 'y'], privacy: { epsilon: 4, delta: 1e-6 }, uncertainty: { kind: 'gaussian' },
      parameters: { spread: [1, 40] }, insecure: true,
    });
    expect(Object.keys(result['privacy'] as object))
      .toEqual(['epsilon', 'delta', 'rho', 'neighbours']);
    expect(result['notes']).toBeUndefined();
  });

  it('says how long it took with --debug only, and never on standard output', async () => {
    const words = [...onRows, ...privacy, '--cohort', '2000', '--participation', 'secret'];
    const untimed = await keelson(words, {});
    expect(untimed.stderr).toBe('');
    expect(untimed.stdout).not.toMatch(/second|\d m?s\b/i);
    const forPeople = await keelson([...words, '--debug'], {});
    expect(forPeople.stdout).not.toMatch(/second|\d m?s\b/i);
    expect(forPeople.stderr)
      .toMatch(/^timing \(not private\): [\d.]+ s in all, [\d.]+ s in the estimator\n$/);

    const silent = await run(csvPath, ['--cohort', '2000', '--participation', 'secret'], {});
    expect([silent.stderr, silent.stdout.toLowerCase().includes('second')]).toEqual(['', false]);
    const timed = await run(csvPath, [
      '--cohort', '2000', '--participation', 'secret', '--debug'], {});
    expect(Object.keys(parsed(timed.stdout))).toEqual(Object.keys(parsed(silent.stdout)));
    const times =
      JSON.parse(timed.stderr) as { timing: string; seconds: number; estimatorSeconds: number[] };
    expect(times.timing).toBe('not private');
    expect([times.seconds > 0, times.estimatorSeconds.length]).toEqual([true, 1]);
  });

  it('comes near the truth', async () => {
    const { estimate } = parsed((await run(csvPath, [
      '--cohort', '2000', '--participation', 'secret'])).stdout);
    expect(Math.abs(estimate[0]! - truth[0]!)).toBeLessThan(0.2);
    expect(Math.abs(estimate[1]! - truth[1]!)).toBeLessThan(8);
  });

  it('gives the same seeded answer for every format and for standard input', async () => {
    const expected = answer(await run(csvPath, ['--cohort', '2000', '--participation', 'secret']));
    const named = rows.map(([x, y]) => JSON.stringify({ x, y })).join('\n');
    expect(answer(await run(place('rows.ndjson', named), [
      '--cohort', '2000', '--participation', 'secret']))).toEqual(expected);
    expect(answer(await run('-', [
      '--cohort', '2000', '--participation', 'secret'], { ...seeded, stdin: csv })))
      .toEqual(expected);
    expect(answer(await run('-', [
      '--cohort', '2000', '--participation', 'secret'], { ...seeded, stdin: named })))
      .toEqual(expected);
    const unnamed = { ...(expected as Result), columns: ['0', '1'] };
    expect(answer(await run(place('rows.npy', npyBytes(rows)), [
      '--cohort', '2000', '--participation', 'secret'])))
      .toEqual(unnamed);
    expect(answer(await run('-', [
      '--cohort', '2000', '--participation', 'secret'], { ...seeded, stdin: npyBytes(rows) })))
      .toEqual(unnamed);
  });

  it('draws fresh noise without the seed, and another with another seed', async () => {
    const secure = await Promise.all([0, 1].map(() => run(csvPath, [
      '--cohort', '2000', '--participation', 'secret'], {})));
    expect(parsed(secure[0]!.stdout).estimate).not.toEqual(parsed(secure[1]!.stdout).estimate);
    expect(secure[0]!.stderr).toBe('');
    expect(parsed(secure[0]!.stdout)).not.toHaveProperty('insecure');
    const other = await run(
      csvPath, ['--cohort', '2000', '--participation', 'secret'],
      { environment: { KEELSON_INSECURE_SEED: 'another' } },
    );
    expect(answer(other)).not.toEqual(answer(await run(csvPath, [
      '--cohort', '2000', '--participation', 'secret'])));
  });

  it('says for how many people it plans when no cohort is given', async () => {
    const withCohort = parsed((await run(csvPath, [
      '--cohort', '2000', '--participation', 'secret'])).stdout);
    const without = parsed((await run(csvPath)).stdout);
    expect(without['rows']).toBe(2_000);
    expect(JSON.stringify(without['notes'])).toContain('as many people as there are rows');
    const neighbours = (result: Result): unknown =>
      (result['privacy'] as { neighbours: string }).neighbours;
    expect(neighbours(without)).not.toBe(neighbours(withCohort));
  });

  it('never prints the number of rows when a cohort is given', async () => {
    const { stdout } = await run(csvPath, ['--cohort', '1900', '--participation', 'secret']);
    expect(parsed(stdout)['rows']).toBe(1_900);
    expect(stdout).not.toContain('2000');
  });

  it('reduces the rows of a contributor to one', async () => {
    const lines =
      rows.flatMap(([x, y], i) => [`c${i},${x! - 1},${y! - 8}`, `c${i},${x! + 1},${y! + 8}`]);
    const twice = `id,x,y\n${lines.join('\n')}\n`;
    const reduced =
      await run(place('twice.csv', twice), ['--contributor', 'id',
        '--cohort', '2000', '--participation', 'secret']);
    const note = 'the rows of each contributor become their mean: --reduce says otherwise';
    expect(answer(reduced))
      .toEqual({ ...answer(await run(csvPath, [
        '--cohort', '2000', '--participation', 'secret'])) as object, notes: [note] });
  });

  it('counts rows with empty cells without their values', async () => {
    const holes = csv.replace(/^x,y\n[^\n]*\n/, 'x,y\n,5\n');
    expect((await run(place('holes.csv', holes))).stderr)
      .toContain('line 2, column 1 ("x"): the cell is empty');
    const kept = await run(place('holes.csv', holes), ['--csv', 'missing=null']);
    expect(kept.status).toBe(0);
    expect(parsed(kept.stdout)['rows']).toBe(2_000);
  });

  it('runs once per group of a public list', async () => {
    const lines =
      rows.map(([x, y], i) => `${i % 2 === 0 ? 'even' : 'odd'},${x},${y! + (i % 2) * 1000}`);
    const grouped = `g,x,y\n${lines.join('\n')}\n`;
    const path = place('grouped.csv', grouped);
    const { status, stdout } =
      await run(path, ['--group-by', 'g', '--groups', 'odd,even',
        '--cohort', '1000', '--participation', 'secret']);
    expect(status).toBe(0);
    const { groups, notes } =
      JSON.parse(stdout) as { groups: (Result & { group: string })[]; notes: string[] };
    expect(groups.map(({ group }) => group)).toEqual(['odd', 'even']);
    expect(groups[0]!.estimate[1]! - groups[1]!.estimate[1]!).toBeGreaterThan(900);
    expect(notes.join()).toContain('the group of a contributor is treated as public');
    expect(JSON.stringify(groups[0]!['privacy']))
      .toContain('each contributor always in the same group');
    const missing = await run(path, ['--group-by', 'g']);
    expect(missing).toMatchObject({ status: 2, stdout: '' });
    expect(missing.stderr).toContain('--groups, a public list');
  });

  it('prints a table for people', async () => {
    const byRho = ['--epsilon', 'rho=0.1', '--delta', '1e-6', '--set', 'spread=1,40'];
    const { status, stdout } =
      await keelson(['estimate', 'mean', csvPath, ...byRho], seeded);
    expect(status).toBe(0);
    expect(stdout).toMatch(/x +-?\d/);
    expect(stdout).toContain('privacy: epsilon');
    expect(stdout).toContain('rho 0.1');
    expect(stdout).toContain('note: no --cohort was given');
  });
});

describe('the input of keelson estimate', () => {
  it('may be the second word', async () => {
    const flags = [...privacy, '--cohort', '2000', '--participation', 'secret', '--json'];
    expect(answer(await keelson(['estimate', 'mean', csvPath, ...flags], seeded)))
      .toEqual(answer(await run(csvPath, ['--cohort', '2000', '--participation', 'secret'])));
  });

  it('is refused when it is given twice or not at all', async () => {
    const twice = await keelson(['estimate', 'mean', csvPath, csvPath, ...privacy], {});
    expect([twice.status, twice.stdout]).toEqual([2, '']);
    expect(twice.stderr).toMatch(/unexpected argument ".*rows.csv"/);
    const none = await keelson(['estimate', 'mean', ...privacy], {});
    expect([none.status, none.stdout]).toEqual([2, '']);
    expect(none.stderr).toContain('FILE is missing');
    expect(none.stderr).toContain('flights');
  });

  it('may be the flights of the package, in all columns or some, in either '
    + 'place', { tags: ['long'] }, async () => {
    const flags = ['--epsilon', '1', '--delta', '1e-6', '--set', 'spread=40,600', '--json'];
    const { status, stdout, stderr } =
      await keelson(['estimate', 'mean', 'flights', ...flags], seeded);
    expect(status, stderr).toBe(0);
    const both = parsed(stdout);
    expect(both).toMatchObject({ rows: 231_083, columns: ['delay_minutes', 'distance_miles'] });
    const { columns, count } = loadFlights();
    const meanOf = (column: Float64Array): number =>
      column.reduce((sum, entry) => sum + entry, 0) / count;
    expect(Math.abs(both.estimate[0]! - meanOf(columns.delay))).toBeLessThan(2);
    expect(Math.abs(both.estimate[1]! - meanOf(columns.distance))).toBeLessThan(20);
    const one = await keelson([
      'estimate', 'mean', 'flights', '--columns', 'distance_miles', '--epsilon', '1',
      '--delta', '1e-6', '--set', 'spread=600', '--json',
    ], seeded);
    expect(parsed(one.stdout)['columns']).toEqual(['distance_miles']);
    expect(Math.abs(parsed(one.stdout).estimate[0]! - meanOf(columns.distance))).toBeLessThan(20);
  });

  it('is refused when the flights lack a column, or are given a form', async () => {
    const words = ['estimate', 'mean', 'flights', '--epsilon', '1', '--delta', '1e-6'];
    expect((await keelson([...words, '--columns', 'delay'], {})).stderr)
      .toContain('flights: there is no column "delay"');
    expect((await keelson([...words, '--csv', 'header=no'], {})).stderr)
      .toContain('--csv is given with flights');
  });
});

describe('keelson estimate auto', () => {
  const auto = async (path: string, extra: readonly string[] = []): Promise<Result> => {
    const words = ['--epsilon', '4', '--delta', '1e-6',
      '--cohort', '2000', '--participation', 'secret', ...extra, '--json'];
    return parsed((await keelson(['estimate', 'auto', path, ...words], seeded)).stdout);
  };

  it('runs what it chose, and says what and why', { tags: ['long'] }, async () => {
    const trusted = ['--set', 'corruption=0', '--set', 'range=-100..900'];
    const result = await auto(csvPath, trusted);
    expect(result).toMatchObject({ estimator: 'mean', outcome: 'value', charged: true });
    expect(result['choice']).toMatchObject({ why: expect.any(Array) as unknown });
    const named = await keelson([
      ...onRows, '--epsilon', '4', '--delta', '1e-6',
        '--cohort', '2000', '--participation', 'secret', ...trusted, '--json',
    ], seeded);
    expect(result.estimate).toEqual(parsed(named.stdout).estimate);
    const { stdout } =
      await keelson(['estimate', 'auto', csvPath, ...privacy,
        '--cohort', '2000', '--participation', 'secret'], seeded);
    expect(stdout).toMatch(/^chosen: robust-mean, for the question mean\n/);
    expect(stdout).toContain('not mean');
  });

  it('chooses the same for every set of rows', { tags: ['long'] }, async () => {
    const far = place('far.csv', `x,y\n${rows.map((_, i) => `${1e6 * i},7`).join('\n')}\n`);
    const flags = ['--set', 'spread=1,40'];
    const [one, other] = [await auto(csvPath, flags), await auto(far, flags)];
    expect([one['estimator'], one['choice']]).toEqual([other['estimator'], other['choice']]);
  });

  it('runs nothing where no estimator fits, and refuses --question with a name', async () => {
    const words = ['--epsilon', '1', '--delta', '1e-6',
      '--cohort', '50', '--participation', 'secret', '--json'];
    const none = await keelson(['estimate', 'auto', csvPath, ...words], {});
    expect(none.status).toBe(1);
    expect(parsed(none.stdout)).toMatchObject({ outcome: 'infeasible', charged: false });
    const named = await keelson([...onRows, ...privacy, '--question', 'mean'], {});
    expect([named.status, named.stdout]).toEqual([2, '']);
    expect(named.stderr).toContain('--question is for auto');
  });
});

describe('exit status of keelson estimate', () => {
  it('is 1 and charges nothing when the plan is infeasible', async () => {
    const tiny = [
      '--epsilon', '0.01', '--delta', '1e-9', '--set', 'spread=1',
        '--cohort', '2', '--participation', 'secret', '--json',
    ];
    const { status, stdout } = await keelson(['estimate', 'mean', '-', ...tiny], {
      ...seeded,
      stdin: '5,2\n3,4\n',
    });
    expect(status).toBe(1);
    expect(parsed(stdout)).toMatchObject({
      outcome: 'refused', reason: 'infeasible', charged: false, estimate: [],
      privacy: { epsilon: 0, delta: 0, rho: 0 },
    });
  });

  it('is 1 and charges when the estimator refuses', async () => {
    const few = `x,y\n${rows.slice(0, 40).map((row) => row.join(',')).join('\n')}\n`;
    const { status, stdout } = await run('-', [
      '--cohort', '20000', '--participation', 'secret'], { ...seeded, stdin: few });
    expect(status).toBe(1);
    expect(parsed(stdout)).toMatchObject({ outcome: 'refused', charged: true, estimate: [] });
    expect(parsed(stdout)['reason']).toMatch(/^(participation-below-plan|centre-not-found)$/);
  });

  it.each([
    ['an unknown estimator', ['estimate', 'maen', csvPath, ...privacy], 'maen'],
    ['an unknown parameter', [...onRows, ...privacy, '--set', 'sclae=1'], 'sclae'],
    ['a parameter without value', [...onRows, ...privacy, '--set', 'x'], '--set takes key=value'],
    [
      'a spread that is neither a number nor auto',
      [...onRows, '--epsilon', '1', '--delta', '1e-6', '--set', 'spread=wide'],
      'auto, a positive number',
    ],
    [
      'a spread of another dimension',
      [...onRows, '--epsilon', '1', '--delta', '1e-6', '--set', 'spread=1,2,3'], 'spread',
    ],
    ['no epsilon', [...onRows, '--delta', '1e-6'], '--epsilon is missing'],
    ['epsilon and rho', [...onRows, ...privacy, '--epsilon', 'rho=1'], '--epsilon is given 2'],
    ['rho of pure privacy', [...onRows, '--epsilon', 'rho=1', '--delta', '0'], 'zCDP is not pure'],
    [
      'delta 1', [...onRows, '--epsilon', '1', '--delta', '1'],
      '--delta is a number from 1e-100 below 0.5',
    ],
    ['epsilon 0', [...onRows, '--epsilon', '0', '--delta', '1e-6'], '--epsilon is a number from 0'],
    [
      'a cohort of 0', [...onRows, ...privacy, '--cohort', '0', '--participation', 'secret'],
      '--cohort is a whole number from 1',
    ],
    ['no input', ['estimate', 'mean', ...privacy], 'FILE is missing'],
    [
      'a missing file', ['estimate', 'mean', join(scratch, 'none'), ...privacy],
      'there is no such file',
    ],
    [
      'groups without a column', [...onRows, ...privacy, '--groups', 'a'],
      '--groups needs --group-by',
    ],
    ['a column twice', [...onRows, ...privacy, '--columns', 'x,x'], 'names "x" twice'],
  ])('is 2 for %s', async (_what, words, text) => {
    const { status, stdout, stderr } = await keelson(words);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(text);
    expect(stderr).not.toContain('    at ');
  });

  it('is 2 for an input without rows', async () => {
    expect(await run('-', [], { ...seeded, stdin: 'x,y\n' }))
      .toMatchObject({ status: 2, stdout: '' });
  });
});

describe('progress', () => {
  it('is drawn on a terminal only, never beside JSON, and wiped', async () => {
    const words = ['estimate', 'mean', csvPath, ...privacy];
    const drawn = await keelson(words, { ...seeded, tty: true });
    expect(drawn.stderr).toMatch(/reading \[=* *\] \d+ % of/);
    expect(drawn.stderr.split('reading ').at(-1)).toContain('\r\u001b[2K');
    expect((await keelson(words, seeded)).stderr).not.toContain('reading');
    const json = await run(csvPath, [], { ...seeded, tty: true });
    expect(json.status).toBe(0);
    expect(json.stderr).not.toContain('reading');
  });
});
