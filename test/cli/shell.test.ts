import type { ArgsDef } from 'citty';
import { describe, expect, it } from 'vitest';
import { checkArguments } from '../../cli/base/arguments.js';
import { commandGroups, commandTable } from '../../cli/commands/table.js';
import { errorText, exitStatusOf, UsageError } from '../../cli/base/errors.js';
import { commandHelp } from '../../cli/base/help.js';
import { toJson } from '../../cli/base/output.js';
import { renderTable } from '../../cli/base/text-table.js';
import { nearest } from '../../src/base/suggest.js';
import { InvalidInputError, InvariantError, KeelsonError } from '../../src/base/errors.js';
import { keelson } from '../support/command.js';

const commands = Object.entries(commandTable);

describe('the command line', () => {
  it('lists its commands', async () => {
    const { status, stdout } = await keelson(['--help']);
    expect(status).toBe(0);
    for (const [name] of commands) expect(stdout).toContain(`  ${name.split(' ', 1)[0]!}`);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await keelson(['-h'])).toEqual(await keelson(['help']));
  });

  it('prints its version', async () => {
    expect((await keelson(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('refuses no command, an unknown one and a flag in its place', async () => {
    expect(await keelson([])).toMatchObject({ status: 2, stdout: '' });
    const wrong = await keelson(['verfiy']);
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toContain('unknown command "verfiy": did you mean "verify"?');
    for (const [typed, remedy] of [
      ['estimat', ': did you mean "estimate"?'], ['list', ': write "studies"'],
      ['status', ': write "studies"'], ['version', ': write "--version"'],
      ['restore', 'docs/operating/operations.md'], ['keygen', ': write "keys new"'],
      ['backup', ': write "store backup"'],
    ] as const) expect((await keelson([typed])).stderr).toContain(remedy);
    expect((await keelson(['estimate', 'auto', 'x.csv', '--question', 'quantile'])).stderr)
      .toContain('not "quantile": write percentile');
    for (const command of ['plan', 'init']) {
      const { status, stderr } = await keelson([command, 'auto', '--question', 'quantile']);
      expect([status, stderr]).toEqual([2, expect.stringContaining(': write percentile')]);
    }
    expect((await keelson(['--jsn'])).stderr).toContain('unknown flag --jsn before the command');
    expect((await keelson(['constructor'])).status).toBe(2);
  });

  it.each(commands)('%s: help has its summary, flags and an example, within 80 '
    + 'columns', { tags: ['long'] }, async (name, entry) => {
    const command = await entry.load();
    expect([command.name, command.summary]).toEqual([name, entry.summary]);
    const { status, stdout } = await keelson([...name.split(' '), '--help']);
    expect(status).toBe(0);
    expect(stdout).toBe(commandHelp(command));
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) expect(example).toContain(`keelson ${name}`);
    const prose = stdout.split('\n').filter((line) => !line.includes(`keelson ${name} `));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await keelson(['help', ...name.split(' ')])).stdout).toBe(stdout);
  });

  it.each(commands)('%s: refuses an unknown flag', async (name) => {
    const { status, stdout, stderr } = await keelson([...name.split(' '), '--debgu']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('unknown flag --debgu: did you mean --debug?');
    expect(stderr).toContain(`keelson ${name} --help`);
    expect(stderr).not.toContain('    at ');
  });

  it.each(Object.entries(commandGroups))('%s: lists its commands', async (name, summary) => {
    const listed = await keelson([name, '--help']);
    expect([listed.status, listed.stdout.split('\n')[0]]).toEqual([0, summary]);
    expect(await keelson(['help', name])).toEqual(listed);
    const own = commands.filter(([each]) => each.startsWith(`${name} `));
    expect(own.length).toBeGreaterThan(1);
    for (const [each] of own) {
      expect(listed.stdout).toContain(`\n  ${each.slice(name.length + 1)} `);
    }
    const bare = await keelson([name]);
    expect([bare.status, bare.stdout]).toEqual([2, '']);
    expect(bare.stderr).toContain(`"keelson ${name}" needs a word more: `);
    expect((await keelson([name, 'nothing'])).stderr).toContain(`unknown command "${name} nothing"`);
  });

  it('never repeats the password of an address', { tags: ['long'] }, async () => {
    const address = 'postgres://keelson:hunter2@db.example.org/keelson';
    const tries = [
      ['store', 'backup', address, 'copy'], ['doctor', address], ['ledger', address],
      ['studies', address],
      ['serve', address], ['serve', 'examples/commute/study.yaml', '--data', address],
      ['verify', address], ['watch', address], ['plan', address], ['conform', address],
      ['estimate', 'count', address, '--epsilon', '1', '--delta', '0'],
      ['contribute', address, '--study', 'commute'], ['simulate', address, '--study', 'commute'],
    ];
    for (const words of tries) {
      for (const extra of [[], ['--debug']]) {
        const { status, stdout, stderr } = await keelson([...words, ...extra]);
        expect(`${stdout}${stderr}`, words.join(' ')).not.toContain('hunter2');
        expect([status, stderr.length > 0], words.join(' ')).toEqual([2, true]);
      }
    }
  });

  it('shows stacks with --debug only', async () => {
    expect((await keelson(['verify', '--wrong'])).stderr).not.toContain('    at ');
    expect((await keelson(['verify', '--wrong', '--debug'])).stderr).toContain('    at ');
  });
});

describe('arguments', () => {
  const definitions = {
    file: { type: 'positional', required: true, description: 'the file' },
    rate: { type: 'string', valueHint: 'r' },
    set: { type: 'string' },
    mode: { type: 'enum', options: ['fast', 'slow'] },
    json: { type: 'boolean', alias: 'j' },
  } satisfies ArgsDef;
  const check = (...words: string[]) => checkArguments(words, definitions, ['set']);
  const refusal = (...words: string[]): string => {
    try {
      check(...words);
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      return (error as Error).message;
    }
    throw new Error('it was accepted');
  };

  it('takes flags in any place, with = or a space, negative numbers and a lone dash', () => {
    const { words } = check('--rate', '-1.5', '-', '-j', '--mode=fast');
    expect(words).toEqual(['--rate=-1.5', '--json', '--mode=fast', '--', '-']);
    expect(check('--', '--rate').words).toEqual(['--', '--rate']);
    expect(check('f', '--set', 'a=1', '--set=b=2').repeated).toEqual({ set: ['a=1', 'b=2'] });
  });

  it('names the flag that a former one has become', async () => {
    for (const [command, old, now] of [
      ['plan', 'dimension', 'columns'], ['audit', 'dimension', 'columns'],
      ['estimate', 'keys-max', 'groups-max'], ['init', 'by', 'group-by'],
      ['init', 'keys', 'groups'], ['lab', 'promise', 'corruption'], ['lab', 'hostile', 'liars'],
      ['demo', 'hostile', 'liars'], ['simulate', 'hostile', 'liars'],
      ['estimate', 'header', 'csv'], ['contribute', 'header', 'csv'],
      ['estimate', 'missing', 'csv'], ['estimate', 'rho', 'epsilon'], ['plan', 'rho', 'epsilon'],
      ['audit', 'rho', 'epsilon'], ['estimate', 'timing', 'debug'],
      ['serve', 'row-keys', 'encryption-keys'], ['store status', 'row-keys', 'encryption-keys'],
    ] as const) {
      const { status, stderr } = await keelson([...command.split(' '), `--${old}`, '1']);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`--${old}: write --${now}`)]);
    }
  });

  it('names the place in the settings file that a former flag has become', async () => {
    for (const [command, old, key] of [
      ['serve', 'alerts', 'alerts'], ['serve', 'release-tick', 'releaseTick'],
      ['serve', 'frame-ancestors', 'frameAncestors'], ['serve', 'traces', 'traces'],
      ['serve', 'store-pool', 'store.connections'], ['serve', 'store-direct', 'store.direct'],
      ['serve', 'store-lease', 'store.lease'], ['serve', 'store-schema', 'store.schema'],
      ['store init', 'store-schema', 'store.schema'], ['ledger', 'store-schema', 'store.schema'],
    ] as const) {
      const { status, stderr } = await keelson([...command.split(' '), `--${old}`, '1']);
      const text = `--${old}: write ${key} in the file of --settings`;
      expect([status, stderr]).toEqual([2, expect.stringContaining(text)]);
    }
  });

  it('says where the input of estimate and its format went', async () => {
    expect((await keelson(['estimate', 'mean', '--input', 'rows.csv'])).stderr)
      .toContain('--input: write the file itself, without a flag');
    for (const command of ['estimate', 'contribute']) {
      expect((await keelson([command, '--format', 'csv'])).stderr)
        .toContain('--format: write nothing in its place: the first bytes');
    }
  });

  it.each([
    ['serve', 22], ['estimate', 18],
  ])('gives %s no more than %d flags', async (name, most) => {
    const { args } = await commandTable[name]!.load();
    const flags = Object.values(args).filter(({ type }) => type !== 'positional');
    expect(flags.length).toBeLessThanOrEqual(most);
  });

  it('refuses everything that is not declared', () => {
    expect(refusal('f', '--rat', '1')).toContain('did you mean --rate?');
    expect(refusal('f', '-x')).toContain('unknown flag -x');
    expect(refusal('f', '-rate', '1')).toContain('unknown flag -rate');
    expect(refusal('f', '--file', 'g')).toContain('unknown flag --file');
    expect(refusal('f', '--no-json')).toContain('unknown flag --no-json');
    expect(refusal('f', 'g')).toContain('unexpected argument "g"');
    expect(refusal()).toContain('FILE is missing: the file');
    expect(refusal('f', '--rate')).toContain('--rate needs a value: write --rate=R');
    expect(refusal('f', '--rate', '--json')).toContain('--rate needs a value');
    expect(refusal('f', '--rate=')).toContain('--rate has an empty value');
    expect(refusal('f', '--rate', '1', '--rate', '2')).toContain('--rate is given 2 times');
    expect(refusal('f', '--json=true')).toContain('--json takes no value');
    expect(refusal('f', '--mode', 'fsat'))
      .toContain('--mode is one of fast, slow: did you mean "fast"?');
  });
});

describe('output', () => {
  it('writes typed arrays, big integers and maps as JSON', () => {
    const arrays = { row: Float64Array.of(1, 2.5), tags: BigUint64Array.of(3n) };
    const value = { ...arrays, small: 4n, big: 2n ** 64n, map: new Map([['a', 1]]) };
    expect(JSON.parse(toJson(value))).toEqual({
      row: [1, 2.5], tags: [3], small: 4, big: '18446744073709551616', map: { a: 1 },
    });
    expect(toJson({ error: Infinity })).toBe('{"error":null}');
  });

  it('keeps tables within 80 columns', () => {
    const table = renderTable(['name', 'text'], [['a', 'word '.repeat(40)], ['b', 'short']]);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toContain('short');
    expect(table.match(/word/g)).toHaveLength(40);
  });

  it('suggests only what is near', () => {
    expect(nearest('epsilno', ['epsilon', 'delta'])).toBe('epsilon');
    expect(nearest('pop', ['mean', 'populous-mean'])).toBe('populous-mean');
    expect(nearest('zzz', ['epsilon', 'delta'])).toBeUndefined();
  });
});

describe('errors', () => {
  it('end with the status of their kind', () => {
    expect(exitStatusOf(new KeelsonError('plan-infeasible', ''))).toBe(1);
    expect(exitStatusOf(new KeelsonError('log-invalid', ''))).toBe(1);
    expect(exitStatusOf(new InvalidInputError(''))).toBe(2);
    expect(exitStatusOf(new TypeError(''))).toBe(2);
  });

  it('say that a defect is one', () => {
    const defect = errorText(new InvariantError('groups do not add up'), 'keelson plan', false);
    expect(defect).toContain('a defect in Keelson: groups');
    expect(errorText(new TypeError('x'), 'keelson plan', false)).toContain('--debug');
    const system =
      Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open', path: 'here.csv' });
    const text = errorText(system, 'keelson plan', false);
    expect(text).toBe('keelson plan: here.csv: there is no such file: check the path\n');
    const chained = new KeelsonError('invalid-input', 'outer', { cause: new Error('inner') });
    expect(errorText(chained, 'keelson plan', true)).toMatch(/outer[^]*caused by Error: inner/);
  });
});
