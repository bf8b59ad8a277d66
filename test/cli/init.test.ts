import Ajv from 'ajv';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../server/study-file/yaml-text.js';
import { toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

const folder = scratchFolder('init');

const at = (name: string): string => join(folder, name);
const schemaFile = resolve(root, 'docs/reference/study-file.schema.json');
const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as object;
const validate = new Ajv().compile(schema);

function csvFile(name: string, text: string | Uint8Array): string {
  writeFileSync(at(name), text);
  return at(name);
}

/** Runs `keelson init`, and gives what the file holds once `keelson plan` has accepted it. */
async function written(name: string, ...flags: string[]): Promise<Record<string, unknown>> {
  const run = await keelson(['init', at(name), ...flags]);
  expect(run.stderr).toBe('');
  expect(run.status).toBe(0);
  return accepted(name);
}

async function accepted(name: string): Promise<Record<string, unknown>> {
  expect(await keelson(['plan', at(name)])).toMatchObject({ status: 0, stderr: '' });
  const value = readYaml(readFileSync(at(name), 'utf8'), name).value as Record<string, unknown>;
  expect([validate(value), validate.errors]).toEqual([true, null]);
  return value;
}

/** The message of a run that must end with a status and write nothing. */
async function refused(flags: readonly string[], status = 2): Promise<string> {
  const before = readdirSync(folder);
  const run = await keelson(['init', ...flags]);
  expect(readdirSync(folder)).toEqual(before);
  expect([run.status, run.stdout]).toEqual([status, '']);
  expect(run.stderr).not.toMatch(/a defect| {4}at /);
  return run.stderr;
}

const people = ['--cohort', '5000'];

describe('keelson init', () => {
  it('makes a page with a field for each column, and refuses one that it cannot make', async () => {
    const flags = ['--app', '--question', 'several', '--columns', 'age', '--range', 'age=0..99',
      '--group-by', 'region', '--groups', 'north,"<b>"', '--optional', 'region', ...people];
    expect(await keelson(['init', at('asked'), ...flags])).toMatchObject({ status: 0, stderr: '' });
    expect(await keelson(['plan', at('asked/study.yaml')])).toMatchObject({ status: 0 });
    const page = readFileSync(at('asked/index.html'), 'utf8');
    expect(page).toContain('<input name="age" type="number" step="any" required>');
    expect(page).toMatch(/<select name="region"><option><\/option><option>north<\/option>/);
    expect(page).toContain('&lt;b&gt;');
    expect(page).toContain('<title>asked</title>');
    expect(page).not.toMatch(/sleep|coffee|radio/);
    expect(JSON.parse(readFileSync(at('asked/package.json'), 'utf8')))
      .toMatchObject({ name: 'asked', scripts: { start: 'node serve.js' } });
    expect(await refused([at('asked'), ...flags])).toContain('is not overwritten');
    expect(await refused([at('lunch.yaml'), ...flags])).toMatch(/FILE is a folder: write .*lunch\n/);
    expect(await refused([at('sealed'), ...flags, '--server', 'a=ws://b,c']))
      .toContain('not for a sealed study');
  });

  it('writes a title for people, if one is given', async () => {
    const flags = ['--question', 'mean', '--columns', 'minutes', ...people];
    const title = 'How long: "commutes"';
    expect(await written('titled.yaml', ...flags, '--title', title)).toMatchObject({ title });
    expect(await written('untitled.yaml', ...flags)).not.toHaveProperty('title');
    expect(await refused([at('wrong.yaml'), ...flags, '--title', 'x'.repeat(121)]))
      .toContain('--title takes a line of 1 to 120');
  });

  it('asks for a mean that false rows do not move', async () => {
    const flags = ['--question', 'mean', '--columns', 'minutes,kilometres', ...people];
    expect(await written('mean.yaml', ...flags)).toMatchObject({
      study: 'mean', columns: ['minutes', 'kilometres'], cohort: 5000, epoch: { every: '1d' },
      estimator: 'robust-mean', parameters: { spread: 'auto', corruption: 0.05 },
      privacy: { epsilon: 1, delta: 1e-6 }, budget: { epsilon: 8, delta: 1e-5, scope: 'study' },
    });
    const ranges = ['--range', 'minutes=0..120', '--range', 'kilometres=-6..60', '--epsilon', '2'];
    expect(await written('ranges.yaml', ...flags, ...ranges, '--every', '1h')).toMatchObject({
      epoch: { every: '1h' }, parameters: { spread: [40, 22] }, privacy: { epsilon: 2 },
    });
  });

  it('says for how many answers the budget must last, where that is said', async () => {
    const flags = ['--question', 'share', '--columns', 'minutes', '--threshold', '30', ...people];
    expect((await written('lasting.yaml', ...flags))['budget']).not.toHaveProperty('releases');
    expect(await written('few.yaml', ...flags, '--releases', '8'))
      .toMatchObject({ budget: { epsilon: 8, releases: 8 } });
    const run = await keelson(['init', at('printed.yaml'), ...flags, '--releases', '8']);
    expect(run.stdout).toContain('its budget of epsilon 8 pays for 8 releases');
    expect(await refused([at('wrong.yaml'), ...flags, '--releases', '0.5']))
      .toMatch(/--releases/);
  });

  it('asks for a mean of skewed columns', async () => {
    const flags = ['--question', 'skewed-mean', '--columns', 'income', '--range', '0..240000'];
    expect(await written('income.yaml', ...flags, '--cohort', '800')).toMatchObject({
      estimator: 'prime-heavy', parameters: { spread: [80000], corruption: 0.05 },
      contribution: { reduce: 'mean' },
    });
  });

  it('asks for a total of what people send, and adds up the rows of each', async () => {
    const flags = ['--question', 'total', '--columns', 'cost,hours', ...people];
    const ranges = ['--range', 'cost=-50..500', '--range', 'hours=0..80'];
    expect(await written('total.yaml', ...flags, ...ranges)).toMatchObject({
      estimator: 'sum', parameters: { range: ['-50..500', '0..80'] },
      contribution: { reduce: 'sum' },
    });
  });

  it('asks for a share, a histogram, quantiles and a covariance', async () => {
    const age = ['--columns', 'age', ...people];
    expect(await written('share.yaml', '--question', 'share', '--threshold', '65', ...age))
      .toMatchObject({ estimator: 'share', parameters: { threshold: 65 } });
    const bins = ['--question', 'histogram', '--range', '-20..80', ...age];
    expect(await written('bins.yaml', ...bins)).toMatchObject({
      estimator: 'histogram', parameters: { edges: [-20, -10, 0, 10, 20, 30, 40, 50, 60, 70, 80] },
    });
    const median = ['--question', 'percentile', '--range', 'age=0..120', ...age];
    expect(await written('median.yaml', ...median)).toMatchObject({
      estimator: 'quantile', parameters: { range: '0..120', probabilities: [0.25, 0.5, 0.75] },
    });
    const two = ['--columns', 'age,income', '--cohort', '2000'];
    expect(await written('two-medians.yaml', '--question', 'median', ...two)).toMatchObject({
      estimator: 'median', columns: ['age', 'income'], parameters: {},
    });
    const ranges = ['--range', 'age=0..120', '--range', 'income=0..1e6'];
    expect(await written('ranged-medians.yaml', '--question', 'median', ...ranges, ...two))
      .toMatchObject({ parameters: { range: ['0..120', '0..1000000'] } });
    const spread = ['--question', 'distribution', '--range', 'age=0..120', ...age];
    expect(await written('spread.yaml', ...spread)).toMatchObject({
      estimator: 'distribution', parameters: { range: '0..120', cells: 256 },
    });
    const vary = ['--question', 'covariance', '--columns', 'a,b', '--cohort', '20000'];
    expect(await written('vary.yaml', ...vary))
      .toMatchObject({ estimator: 'stable-covariance', parameters: { spread: 'auto' } });
    const many = Array.from({ length: 20 }, (_, i) => `c${i}`).join(',');
    const wide = ['--question', 'covariance', '--columns', many, '--cohort', '1000000'];
    expect(await written('wide.yaml', ...wide, '--range', '-2..2')).toMatchObject({
      estimator: 'covariance', parameters: { spread: Array.from({ length: 20 }, () => 1.33) },
    });
  });

  it('asks about names in a column, listed or not', async () => {
    const region = ['--group-by', 'region', '--groups', 'north, south,off', ...people];
    const of = ['north', 'south', 'off'];
    const totals = await written('weeks.yaml', '--question', 'running-total', ...region);
    expect(totals).toMatchObject({
      questions: { people: { estimator: 'count', by: { column: 'region', groupsMax: 1 } } },
      running: { separation: 30, questions: ['people'] }, budget: { scope: 'contributor' },
    });
    const counts = await written('regions.yaml', '--question', 'count-by-group', ...region);
    expect(counts).toMatchObject({
      columns: { region: { type: 'category', of, other: true } },
      questions: { people: { estimator: 'count', by: { column: 'region', groupsMax: 1 } } },
    });
    const minutes = ['--columns', 'minutes', '--range', '0..240'];
    const medians =
      await written('medians.yaml', '--question', 'median-by-group', ...minutes, ...region);
    expect(medians).toMatchObject({
      columns: { minutes: { type: 'number', low: 0, high: 240 }, region: { of } },
      questions: { medians: {
        estimator: 'quantile', by: { column: 'region' },
        parameters: { range: '0..240', probabilities: [0.5] },
      } },
    });
    const means = await written('means.yaml', '--question', 'mean-by-group', ...minutes,
      '--group-by', 'region,late', '--groups', 'region=north,south', '--groups', 'late=yes,no',
      '--delta', '1e-8', '--budget', '3', ...people);
    expect(means).toMatchObject({
      columns: { region: { of: ['north', 'south'] }, late: { of: ['yes', 'no'] } },
      questions: { means: {
        estimator: 'mean', by: { columns: ['region', 'late'], groupsMax: 1 },
        parameters: { range: '0..240' },
      } },
      privacy: { epsilon: 1, delta: 1e-8 }, budget: { epsilon: 3, delta: 1e-7 },
    });
    const apps = await written(
      'apps.yaml', '--question', 'unknown-groups', '--group-by', 'app', ...people);
    expect(apps).toMatchObject({
      columns: { app: { type: 'text', bytes: 64 } },
      questions: { people: { by: { column: 'app', discover: true, top: 50 } } },
    });
    const several = await written('several.yaml', '--question', 'several', ...minutes, ...region);
    expect(Object.keys(several['questions'] as object))
      .toEqual(['people', 'medians', 'mean', 'spread']);
  });

  it('writes names of keys so that YAML reads them as they are', async () => {
    const keys = ['no', '12', 'null', 'a: b', "it's", '#x'];
    const value = await written(
      'odd-keys.yaml', '--question', 'count-by-group', '--group-by', 'yes', '--groups',
      keys.join(), ...people);
    expect(value['columns']).toEqual({ yes: { type: 'category', of: keys, other: true } });
  });

  it('has a comment for each key, and names the schema in the first line for editors', async () => {
    mkdirSync(at('a place'), { recursive: true });
    for (const name of ['told.yaml', 'a place/told.yaml']) {
      await written(name, '--question', 'mean', '--columns', 'a', ...people);
      const [first, ...lines] = readFileSync(at(name), 'utf8').split('\n');
      const [, path] = /^# yaml-language-server: \$schema=(\S+)$/.exec(first!)!;
      expect(resolve(dirname(at(name)), path!)).toBe(schemaFile);
      const keys = lines.flatMap((line, i) => (/^\w+:/.test(line) ? [i] : []));
      expect(keys.length).toBe(10);
      for (const i of keys) expect(lines[i - 1]).toMatch(/^# |^estimator: /);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    }
  });

  it('keeps delta far below one divided by the cohort', async () => {
    const flags = ['--question', 'mean', '--columns', 'a', '--cohort', '3000000'];
    expect(await written('many.yaml', ...flags))
      .toMatchObject({ privacy: { delta: 1e-8 }, budget: { delta: 1e-7 } });
  });

  it('writes names so that YAML reads them as they are', async () => {
    const odd = [
      'true', 'no', 'null', '12', '1e3', 'a: b', '#x', 'délai', '"q"', "it's", '{a}', '- a', '~',
      'y', '&a', '%',
    ];
    const quoted = odd.map((name) => `"x ${name.replaceAll('"', '""')}"`);
    const csv = csvFile('odd.csv', `${quoted.join(',')}\n`);
    for (const name of odd) {
      const flags = ['--question', 'mean', `--columns=${name}`, ...people];
      const value = await written(`${name}.yaml`, ...flags);
      expect([value['study'], value['columns']]).toEqual([name, [name]]);
    }
    expect(await written('all.yaml', '--question', 'mean', '--csv', csv, '--cohort', '30000'))
      .toMatchObject({ columns: odd.map((name) => `x ${name}`) });
  });

  it('prints what it wrote as JSON too', async () => {
    const flags = ['--question', 'mean', '--columns', 'a', ...people, '--json'];
    const { stdout } = await keelson(['init', at('json.yaml'), ...flags]);
    expect(JSON.parse(stdout))
      .toMatchObject({
        file: at('json.yaml'), study: 'json',
        questions: [{ name: 'answer', estimator: 'robust-mean' }],
      });
    const keyed = ['--question', 'unknown-groups', '--group-by', 'a', ...people, '--json'];
    const { stdout: asked } = await keelson(['init', at('json-keys.yaml'), ...keyed]);
    expect(JSON.parse(asked))
      .toMatchObject({ study: 'json-keys', questions: [{ name: 'people' }] });
  });

  it('never changes a file that exists', async () => {
    writeFileSync(at('mine.yaml'), 'precious');
    const flags = [at('mine.yaml'), '--question', 'mean', '--columns', 'a', ...people];
    expect(await refused(flags)).toContain('mine.yaml exists and is not overwritten');
    const typed = await keelson(['init', at('mine.yaml')], { typed: true, stdin: 'mean\n' });
    expect(typed).toMatchObject({ status: 2, stdout: '' });
    expect(typed.stderr).not.toContain('What do you want to know');
    expect(readFileSync(at('mine.yaml'), 'utf8')).toBe('precious');
  });
});

describe('a study of which a person is not asked all facts', () => {
  const realKeys = [1, 2, 3].map((byte) =>
    toHex(signing.createSigner(new Uint8Array(32).fill(byte)).publicKey));
  const servers = ['north', 'east', 'west'].flatMap((name, i) =>
    ['--server', `${name}=wss://${name}.example,${realKeys[i]!}`]);
  const region = ['--group-by', 'region', '--groups', 'north,south'];
  const minutes = ['--columns', 'minutes', '--range', '0..240'];

  it('has three servers and several questions, some of optional columns', async () => {
    const flags = ['--question', 'several', ...minutes, ...region, '--cohort', '20000', ...servers];
    const study = await written('sealed.yaml', ...flags, '--optional', 'minutes,region');
    expect(study).toMatchObject({
      columns: {
        minutes: { low: 0, high: 240, optional: true },
        region: { type: 'category', optional: true },
      },
      contribution: { rowsMax: 1 },
      sealed: { against: 'reading', servers: realKeys.map((key) => ({ key })) },
    });
    expect(Object.keys(study['questions'] as object)).toEqual(['people', 'mean', 'quartiles']);
  });

  it.each([
    ['mean', ['--columns', 'a,b', '--range', 'a=0..9', '--range', 'b=1..2'],
      { estimator: 'mean', columns: { b: { type: 'number', low: 1, high: 2 } } }],
    ['histogram', minutes, { estimator: 'histogram' }],
    ['percentile', minutes, { estimator: 'quantile' }],
    ['count-by-group', region, { questions: { people: { estimator: 'count' } } }],
  ])('has three servers, and asks for a %s', async (question, flags, wanted) => {
    const study = ['--question', question, ...flags, '--cohort', '20000', ...servers];
    expect(await written(`sealed-${question}.yaml`, ...study)).toMatchObject(wanted);
  });

  it('compares rows with answers, of several questions and of an optional column', async () => {
    const quarantine = ['--quarantine', '20', ...people];
    expect(await written(
      'compared.yaml', '--question', 'several', ...minutes, ...region, ...quarantine,
    )).toMatchObject({ quarantine: { beyond: 20 } });
    expect(await written(
      'one-compared.yaml', '--question', 'mean', ...minutes, '--optional', 'minutes', ...quarantine,
    )).toMatchObject({ quarantine: { beyond: 20 }, columns: { minutes: { optional: true } } });
  });

  it.each([
    ['two servers', ['--question', 'mean', ...servers.slice(2)], '--server is given 2 times'],
    ['a question that no three servers answer', ['--question', 'share', ...servers],
      '--server is not for --question share'],
    ['a server without a key', ['--question', 'mean', '--server', 'north=wss://north.example',
      ...servers.slice(2)], '--server is NAME=URL,KEY'],
    ['an optional column that there is not', ['--question', 'mean', ...minutes, '--optional', 'b'],
      'has no such column; it has minutes'],
    ['no range of a sealed mean', ['--question', 'mean', '--columns', 'a', ...servers],
      '--range is missing'],
    ['servers and a quarantine',
      ['--question', 'mean', ...minutes, ...servers, '--quarantine', '20'],
      'no server sees the rows that it would compare'],
  ])('is refused for %s', async (_, flags, words) => {
    expect(await refused([at('wrong.yaml'), ...flags, ...people])).toContain(words);
  });
});

describe('the names of a CSV file', () => {
  const flags = ['--question', 'mean', ...people];

  it('are taken from its first line, whatever follows it', async () => {
    const rest = Buffer.from([0xff, 0xfe, 0x22, 0x0a, 0x22]);
    const line = Buffer.from('\ufeffage,"a, b", sécurité\r\n');
    const csv = csvFile('rows.csv', Buffer.concat([line, rest, Buffer.alloc(100_000)]));
    expect(await written('names.yaml', ...flags, '--csv', csv))
      .toMatchObject({ columns: ['age', 'a, b', 'sécurité'] });
    expect(await written('one.yaml', ...flags, '--csv', csv, '--columns', 'age'))
      .toMatchObject({ columns: ['age'] });
    expect(await written('bare.yaml', ...flags, '--csv', csvFile('bare.csv', 'age')))
      .toMatchObject({ columns: ['age'] });
  });

  it.each([
    ['numbers', '41,private\n1,2\n', 'has no name in column 1'],
    ['an empty cell', 'age,,x\n', 'has no name in column 2'],
    ['nothing', '', 'is empty'],
    ['nothing but what follows', '\nprivate', 'is empty'],
    ['what is no text', Buffer.from([0xff, 0x41]), 'is not UTF-8 text'],
    ['a name twice', 'private,private\n', 'column 2 has the name of an earlier one'],
    ['what cannot be a name', `age,${'private'.repeat(10)}\n`, 'name of column 2 is not a name of'],
    ['a quote without end', '"pri\nvate"', 'is not CSV'],
    ['a line without end', 'private,'.repeat(20_000), 'is longer than 65536 bytes'],
  ])('are refused where the first line has %s, and it is not shown', async (_what, text, words) => {
    const csv = csvFile('wrong.csv', text);
    const message = await refused([at('x.yaml'), ...flags, '--csv', csv]);
    expect(message).toContain(words);
    // The name of the folder is random.
    expect(message.replaceAll(csv, '')).not.toMatch(/private|41/);
  });

  it('are those that --columns may name', async () => {
    const csv = csvFile('two.csv', 'minutes,miles\n');
    const wrong = await refused([at('x.yaml'), ...flags, '--csv', csv, '--columns', 'minuts']);
    expect(wrong).toContain('the file has no column "minuts": did you mean "minutes"?');
    const one = ['--question', 'percentile', ...people, '--csv', csv, '--range', '0..1'];
    expect(await refused([at('x.yaml'), ...one])).toContain('--columns is missing');
    expect(await refused([at('x.yaml'), ...flags, '--csv', folder])).toContain('it is a folder');
    expect(await refused([at('x.yaml'), ...flags, '--csv', at('none.csv')]))
      .toContain('there is no such file');
  });
});

describe('wrong flags of keelson init', () => {
  const mean = ['--question', 'mean', '--columns', 'a,b', ...people];
  const share = ['--question', 'share', '--columns', 'a'];
  const skewed = ['--question', 'skewed-mean'];
  const keyed = ['--question', 'count-by-group', ...people];
  const several = ['--question', 'several', '--columns', 'a', '--range', '0..1', ...people];
  it.each([
    ['no question', [], '--question is missing: give it, or run the command in a terminal'],
    ['a wrong question', ['--question', 'meen'], 'did you mean "mean"?'],
    ['no columns', ['--question', 'mean'], '--columns is missing'],
    ['two columns for one', ['--question', 'share', '--columns', 'a,b'], 'is about one column'],
    ['no cohort', ['--question', 'mean', '--columns', 'a'], '--cohort is missing'],
    ['a wrong cohort', [...mean.slice(0, 4), '--cohort', 'many'], '--cohort is a whole number'],
    ['a wrong epsilon', [...mean, '--epsilon', '0'], 'is a number from 0.000001 up to 100'],
    ['no duration', [...mean, '--every', 'daily'], '--every is a number and a unit'],
    ['an epoch that is too short', [...mean, '--every', '1ms'], 'from 100ms to 366d'],
    ['a threshold of a mean', [...mean, '--threshold', '1'], '--threshold is for --question share'],
    ['a share without threshold', share, '--threshold is missing'],
    ['a huge threshold', [...share, '--threshold', '1e20'],
      '--threshold is a number from -2^64 up to 2^64 (1.8e19)'],
    ['a range of a share', [...share, '--range', '0..1'], 'give --threshold'],
    ['no range for a distribution', ['--question', 'distribution', '--columns', 'a'],
      '--range is missing'],
    ['no range for a total', ['--question', 'total', '--columns', 'a'], '--range is missing'],
    ['no range for a skewed mean', [...skewed, '--columns', 'a'], '--range is missing'],
    ['half a range', [...mean, '--range', '0..'], '--range is a number'],
    ['a range backwards', [...mean, '--range', '2..1'], 'from a number to a larger one'],
    ['no range at all', [...mean, '--range', 'a=b'], 'a range is two numbers like 0..120'],
    ['ranges of some columns', [...mean, '--range', 'a=0..1'], '--range is missing for b'],
    ['a range twice', [...mean, '--range', '0..1', '--range', 'a=0..1'], 'given twice for a'],
    ['a range of another column', [...mean, '--range', 'c=0..1'], 'no such column; it has a, b'],
    ['no column of names', keyed, '--group-by is missing'],
    ['no names', [...keyed, '--group-by', 'a'], '--groups is missing'],
    ['a name twice', [...keyed, '--group-by', 'a', '--groups', 'x,x'], 'names "x" twice'],
    [
      'names that say other', [...keyed, '--group-by', 'a', '--groups', 'x,other'],
      'counts as other',
    ],
    [
      'columns of a count', [...keyed, '--columns', 'a'],
      'name the column of names with --group-by',
    ],
    ['a range of a count', [...keyed, '--range', '0..1'], '--range is not for --question count-by'],
    ['one column twice', [...several, '--group-by', 'a', '--groups', 'x'], 'a holds numbers'],
    ['names of a mean', [...mean, '--groups', 'x'], '--groups is not for --question mean'],
    [
      'a column of names of a mean', [...mean, '--group-by', 'x'],
      '--group-by is not for --question mean',
    ],
  ])('%s', async (_name, flags, words) => {
    expect(await refused([at('x.yaml'), ...flags])).toContain(words);
  });

  it('a file that cannot be a study is refused', async () => {
    expect(await refused([at('x.txt'), ...mean])).toContain('a study file ends in .yaml');
    expect(await refused([at(`${'0f'.repeat(32)}.yaml`), ...mean]))
      .toContain('the study has the name of its file');
    expect(await refused([at('none/x.yaml'), ...mean])).toContain('there is no such folder');
  });

  it('too few people for a plan are refused with the number that is enough', async () => {
    const few = [at('x.yaml'), '--question', 'mean', '--columns', 'a', '--cohort', '20'];
    expect(await refused(few, 1))
      .toMatch(/cannot be planned.*a cohort of \d+.*; nothing is written/);
  });
});

describe('keelson init in a terminal', () => {
  it('asks for names where the question needs them', async () => {
    const answers = [
      'median-by-group', 'minutes', '0..240', 'minutes', 'region', 'north,other', 'north,south',
      '', '2000', '', '', '', '', '',
    ];
    const run = await keelson(['init', at('typed-keys.yaml')], {
      typed: true, stdin: answers.join('\n'),
    });
    expect(run.status).toBe(0);
    for (const words of [
      'Which column holds the names?', 'minutes holds numbers',
      'Which names does region hold, separated by commas?', 'counts as other',
    ]) expect(run.stderr).toContain(words);
    expect(await accepted('typed-keys.yaml')).toMatchObject({
      columns: { region: { of: ['north', 'south'] } }, cohort: 2000,
    });
  });

  it('asks for everything without a flag, and asks again after a wrong answer', async () => {
    const answers = [
      'meen', 'distribution', 'a,b', 'age', '', '120', '0..120', '', 'some', '500', '', '2',
      '1e-7', '0.5', '16', 'few', '8',
    ];
    const run = await keelson(['init', at('typed.yaml'), '--every', '1h'], {
      typed: true, stdin: answers.join('\n'),
    });
    expect(run.status).toBe(0);
    expect(await accepted('typed.yaml')).toMatchObject({
      estimator: 'distribution', columns: ['age'], cohort: 500,
      privacy: { epsilon: 1, delta: 1e-7 }, budget: { epsilon: 16, delta: 1e-6, releases: 8 },
      epoch: { every: '1h' },
    });
    for (const words of [
      'What do you want to know', 'did you mean "mean"?', 'a distribution is about one column',
      'an answer is needed', 'a range is two numbers', '--cohort is a whole number',
      'as epsilon? Less is more private. [1]', '--delta is a number', '--budget is a number',
      'far below one in 500, the number of people. [1e-6]', 'ends when that is used up. [8]',
      'skewed-mean      A mean of each column, where some',
      'For how many answers must the budget last?',
      '--releases is a whole number',
    ]) expect(run.stderr).toContain(words);
    expect(run.stderr).not.toContain('How long does an epoch last');
  });

  it('shows the columns of a file, and has defaults for empty answers', async () => {
    const csv = csvFile('typed.csv', 'minutes,"a, b"\n1,2\n');
    const run = await keelson(['init', at('default.yaml'), '--csv', csv], {
      typed: true, stdin: 'mean\n\n\n\n5000\n\n\n\n\n',
    });
    expect(run.stderr).toContain('columns of the file: minutes, a, b');
    expect(await accepted('default.yaml')).toMatchObject({
      columns: ['minutes', 'a, b'], parameters: { spread: 'auto' }, epoch: { every: '1d' },
    });
  });

  it('asks again for people and privacy where there is no plan', async () => {
    const flags = ['--question', 'mean', '--columns', 'a', '--every', '1d', '--range', '0..9'];
    const run = await keelson(['init', at('again.yaml'), ...flags, '--cohort', '20'], {
      typed: true, stdin: '\n\n\n\n5000\n2\n\n\n\n',
    });
    expect(run.stderr).toMatch(/cannot be planned[^]*So once more:/);
    expect(await accepted('again.yaml')).toMatchObject({ cohort: 5000, privacy: { epsilon: 2 } });
  });

  it('goes back by several questions, and keeps what was answered before', async () => {
    const answers = [
      'back', 'median', 'back', 'mean-by-group', 'minutes', '0..240', 'back', 'back', 'kilometres',
      '0..99', 'region,device', 'north,south', 'back', 'east,west', 'phone,web', '2d', '3000',
      'back', 'back', '1d', '4000', '', '', '', '', '',
    ];
    const run = await keelson(['init', at('back.yaml')], {
      typed: true, stdin: answers.join('\n'),
    });
    expect(run.status, run.stderr).toBe(0);
    expect(run.stderr).toContain('The answer "back" leads to the question before.');
    expect(await accepted('back.yaml')).toMatchObject({
      cohort: 4000, epoch: { every: '1d' },
      columns: {
        kilometres: { low: 0, high: 99 }, region: { of: ['east', 'west'] },
        device: { of: ['phone', 'web'] },
      },
      questions: { means: {
        estimator: 'mean', columns: ['kilometres'], parameters: { range: '0..99' },
        by: { columns: ['region', 'device'], groupsMax: 1 },
      } },
    });
  });

  it('writes nothing when the answers end', async () => {
    const run = await keelson(['init', at('ended.yaml')], { typed: true, stdin: 'mean\na\n' });
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toContain('the answers ended before the last question: nothing is written');
    expect(existsSync(at('ended.yaml'))).toBe(false);
  });
});
