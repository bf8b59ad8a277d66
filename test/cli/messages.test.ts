import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregatorUrl } from '../../cli/base/address.js';
import { systemClock } from '../../server/base/clock.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { didYouMean, nearest } from '../../src/base/suggest.js';
import { keelson } from '../support/command.js';

let folder = '';
const target = ['--epsilon', '1', '--delta', '1e-6'];
const at = (name: string): string => join(folder, name);
const write = (name: string, bytes: string | Uint8Array): string => {
  writeFileSync(at(name), bytes);
  return at(name);
};

/** The message of a run that has to end with status 2 and nothing on standard output. */
async function refusal(...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await keelson(words);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).not.toContain('a defect in Keelson');
  expect(stderr).not.toContain('    at ');
  return stderr;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-messages-'));
  await keelson(['keys', 'new', at('own.key')]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('did you mean', () => {
  it('names similar words in upper or lower case, and nothing for words that are too short', () => {
    expect(nearest('robust-meen', ['mean', 'robust-mean'])).toBe('robust-mean');
    expect(nearest('RADIUS', ['radius'])).toBe('radius');
    expect(nearest('z', ['x', 'y'])).toBeUndefined();
    expect(nearest('X', ['x', 'y'])).toBe('x');
    expect(nearest('a'.repeat(100), ['a'])).toBeUndefined();
    expect(didYouMean('dalta', ['epsilon', 'delta'])).toBe(': did you mean "delta"?');
    expect(didYouMean('zzz', ['epsilon', 'delta'])).toBe('');
  });

  it('is in the message of every command that takes estimators and parameters', async () => {
    const rows = write('rows.csv', 'x,y\n1,2\n');
    const asked = [
      ['estimators', 'robust-meen'],
      ['estimate', 'robust-meen', rows, ...target],
      ['plan', 'robust-meen',
        '--cohort', '10', '--participation', 'secret', '--columns', '2', ...target],
      ['plan', 'robust-meen'],
      ['audit', 'robust-meen', ...target],
      ['lab', '--estimators', 'robust-meen', '--epochs', '1'],
    ];
    for (const words of asked) {
      expect(await refusal(...words))
        .toContain('no estimator "robust-meen": did you mean "robust-mean"?');
    }
    const misspelt =
      await refusal('estimate', 'mean', rows, ...target, '--set', 'spred=1');
    expect(misspelt)
      .toContain('--set spred is not a parameter of this estimator: did you mean "spread"?');
    expect(await refusal('estimators', 'zzz')).toContain('choose one of mean, robust-mean');
  });

  it('is in the message of every command that takes attacks', async () => {
    const simulate = ['simulate', 'ws://127.0.0.1:9', '--study', 's', '--contributors', '1'];
    const asked = [['lab', '--epochs', '1'], ['demo'], simulate];
    for (const words of asked) {
      expect(await refusal(...words, '--attack', 'shft')).toContain(': did you mean "shift"?');
    }
  });
});

describe('columns of a file', () => {
  const columns = (file: string, ...flags: string[]) =>
    refusal('estimate', 'mean', file, ...target, ...flags);

  it('a name that is not in the header is reported with the names that are', async () => {
    const file = write('named.csv', 'delay,distance\n1,2\n');
    expect(await columns(file, '--columns', 'delay,height'))
      .toContain('no column "height": there are delay, distance');
    // Without a known name the first line may be data.
    expect(await columns(file, '--columns', 'height'))
      .toContain('no column "height": put the names of the columns into the first line');
    expect(await columns(file, '--columns', 'dealy'))
      .toContain('no column "dealy": did you mean "delay"?');
    expect(await columns(file, '--contributor', 'id'))
      .toContain('no column "id": put the names of the columns into the first line');
    expect(await columns(file, '--columns', '7'))
      .toContain('no column "7": give an index from 0 to 1');
  });

  it('a file without a header says so', async () => {
    const file = write('bare.csv', '1,2\n3,4\n');
    expect(await columns(file, '--columns', 'height'))
      .toContain('it has no column names, give an index from 0 to 1');
  });
});

describe('commands advise only the flags that they have', () => {
  it('contribute has --columns and no --missing', async () => {
    const words =
      ['contribute', 'ws://127.0.0.1:9', '--study', 's', '--key', at('own.key'), '--input'];
    const empty = await refusal(...words, write('empty-cell.csv', 'x,y\n1,\n'));
    expect(empty).toContain('the cell is empty: fill it in, or remove the row');
    expect(empty).not.toContain('--missing');
    expect(await refusal(...words, write('word.csv', 'x,y\n1,b\n'))).toContain('with --columns');
  });

  it('simulate has neither', async () => {
    const words =
      ['simulate', 'ws://127.0.0.1:9', '--study', 's', '--contributors', '2', '--input'];
    for (const text of ['x,y\n1,\n', 'x,y\n1,b\n']) {
      const message = await refusal(...words, write('bad.csv', text));
      expect(message).toContain('bad.csv');
      expect(message).not.toMatch(/--missing|--columns/);
    }
  });
});

describe('addresses', () => {
  it('are taken with any scheme of the web, or none', () => {
    expect(aggregatorUrl('127.0.0.1:8787')).toBe('ws://127.0.0.1:8787/');
    expect(aggregatorUrl('localhost:8787')).toBe('ws://localhost:8787/');
    expect(aggregatorUrl('http://127.0.0.1:8787')).toBe('ws://127.0.0.1:8787/');
    expect(aggregatorUrl('https://a.example')).toBe('wss://a.example/');
    expect(aggregatorUrl('wss://a.example/k')).toBe('wss://a.example/k');
  });

  it('are refused by every command with what to write', async () => {
    const commands = [
      ['watch', '--study', 's'], ['studies'], ['simulate', '--study', 's', '--contributors', '1'],
      ['contribute', '--study', 's', '--key', at('own.key'), '--withdraw'],
    ] as const;
    for (const [name, ...flags] of commands) {
      expect(await refusal(name, '8787', ...flags))
        .toContain('a port needs its host, like 127.0.0.1:8787');
      for (const url of ['ftp://a.example', 'ws://a b', 'ws://']) {
        const text = await refusal(name, url, ...flags);
        expect(text).toContain(`URL is "${url}"`);
        expect(text)
          .toMatch(/write it like ws:\/\/127.0.0.1:8787|begins with ftp: use ws: or wss:/);
      }
    }
  });
});

describe('files that commands take', () => {
  it('a study, token or setting that is not UTF-8 is refused by name', async () => {
    const file =
      write('utf16.yaml', Uint8Array.of(0xff, 0xfe, 0x73, 0));
    const enrol = ['keys', 'enrol', at('own.key'), '--keys', file, '--expires', '9d'];
    for (const words of [['plan', file], ['serve', file], enrol]) {
      expect(await refusal(...words)).toContain(`${file} is not UTF-8 text`);
    }
    const set =
      await refusal('estimate', 'mean', file, ...target, '--set', `spread=@${folder}`);
    expect(set).toContain(`${folder}: it is a folder`);
  });

  it('a folder in place of a key or an outbox is reported as a folder', async () => {
    const words = ['contribute', 'ws://127.0.0.1:9', '--study', 's', '--withdraw', '--key'];
    expect(await refusal(...words, folder))
      .toContain(`${folder} is a folder or device: name a file`);
    expect(await refusal(...words, at('own.key'), '--outbox', folder))
      .toContain('it is a folder: name a file in it');
    const away = at('none/outbox');
    expect(await refusal(...words, at('own.key'), '--outbox', away))
      .toContain('its folder does not exist');
    const other = write('other', 'x'.repeat(300));
    expect(await refusal(...words, at('own.key'), '--outbox', other))
      .toContain(`${other}: this file is not an outbox`);
  });

  it('an empty file of a setting does not mean the default', async () => {
    const words = ['estimate', 'mean', write('four.csv', 'x\n1\n'), ...target, '--set'];
    const file = write('nothing', '');
    expect(await refusal(...words, `spread=@${file}`)).toContain('nothing holds no value for spread');
    expect(await refusal(...words, 'spread=@')).toContain('--set spread=@ names no file');
    expect(await refusal(...words, '__proto__=1'))
      .toContain('parameters.__proto__ is not a parameter');
    expect(await refusal('plan', write('nothing.yaml', ''))).toContain('the file is empty');
  });

  it('links in a circle and paths that are too long are reported', async () => {
    symlinkSync(at('circle'), at('circle'));
    const long = at('x'.repeat(300));
    for (const [path, why] of [[at('circle'), 'links lead back'], [long, 'path is too long']]) {
      expect(await refusal('estimate', 'mean', path!, ...target)).toContain(why);
      expect(await refusal('keys', 'enrol', path!)).toContain(why);
      expect(await refusal('keys', 'new', path!)).toContain(why);
    }
    expect(await refusal('keys', 'new', write('file', 'x') + '/key')).toContain('is not a folder');
  });

  it('an empty argument is refused', async () => {
    const asked = [
      ['verify', ''], ['ledger', ''], ['store', 'backup', folder, ''], ['keys', 'new', ''],
    ];
    for (const words of asked) expect(await refusal(...words)).toContain(' is empty: ');
  });

  it('a data folder is distinguished from other folders, files and databases', async () => {
    const held = (name: string, bytes: string): string => {
      mkdirSync(at(name));
      write(join(name, 'keelson.db'), bytes);
      return at(name);
    };
    const other = at('other-program');
    mkdirSync(other);
    const foreign = connect(join(other, 'keelson.db'));
    foreign.exec('CREATE TABLE notes (text TEXT)');
    foreign.close();
    for (const command of [['ledger'], ['store', 'backup']]) {
      const [, last = 'ledger'] = command;
      const rest = last === 'backup' ? [at('copy')] : [];
      expect(await refusal(...command, held(`${last}-text`, 'x'.repeat(5000)), ...rest))
        .toContain('is another file: check the folder, or restore a copy');
      expect(await refusal(...command, held(`${last}-empty`, ''), ...rest))
        .toContain('there is no store in');
      expect(await refusal(...command, other, ...rest)).toContain('belongs to another program');
    }
    expect(existsSync(at('copy'))).toBe(false);
  });

  it('a key is neither made nor changed before everything else was checked', async () => {
    const token = ['--key', 'ab'.repeat(32), '--expires', '9d'];
    const newKey = ['keys', 'enrol', at('new.key'), '--new', ...token];
    expect(await refusal(...newKey, '--study', 'x'.repeat(100)))
      .toContain('--study is a name of 1 to 64 visible characters');
    expect(existsSync(at('new.key'))).toBe(false);
    const rotate = ['keys', 'rotate', '--data', at('unkeyed')];
    mkdirSync(at('unkeyed'));
    writeFileSync(join(at('unkeyed'), 'server.key'), 'no key\n', { mode: 0o600 });
    expect(await refusal(...rotate)).toContain('keelson.db is missing');
    expect(readdirSync(at('unkeyed'))).toEqual(['server.key']);
    rmSync(join(at('unkeyed'), 'server.key'));
    await (await openSqliteStore({ directory: at('unkeyed'), clock: systemClock })).close();
    writeFileSync(join(at('unkeyed'), 'server.key'), 'no key\n', { mode: 0o600 });
    expect(await refusal(...rotate)).toContain('server.key does not hold a key');
    expect(readdirSync(at('unkeyed'))).not.toContain('server.key.next');
  });

  it('an operator token is checked before it is sent, and never shown', async () => {
    const words =
      ['studies', 'ws://127.0.0.1:9', '--token-file', write('token', 'secret\nwords\n')];
    expect(await refusal(...words)).toContain('--token-file is for --end');
    const wrong = await refusal(...words, '--end', 's');
    expect(wrong).toContain('holds no operator token');
    expect(wrong).not.toContain('secret');
  });

  it('says what goes with --resume', async () => {
    const words = ['studies', 'ws://127.0.0.1:9'];
    expect(await refusal(...words, '--resume', 's', '--end', 's')).toContain('give one of them');
    expect(await refusal(...words, '--epoch', '7')).toContain('goes with --resume');
    expect(await refusal(...words, '--resume', 's')).toContain('operator.token in the data folder');
  });
});

describe('demo', () => {
  it('refuses a file in place of the folder for its logs before it starts', async () => {
    const file = write('logs', 'x');
    expect(await refusal('demo', '--logs', file)).toContain(`--logs ${file} is a file`);
  });
});

describe('lab', () => {
  it('refuses the port of a page where no page is asked for', async () => {
    for (const without of [['--json'], ['--epochs', '1']]) {
      expect(await refusal('lab', '--page', '0', ...without)).toContain('leave it out');
    }
  });
});

describe('numbers', () => {
  it('a day that does not exist is refused', async () => {
    const words = ['keys', 'enrol', at('own.key'), '--key', 'ab'.repeat(32), '--expires'];
    for (const day of ['2040-02-31', '2041-02-29', '2040-04-31T12:00Z']) {
      expect(await refusal(...words, day)).toContain(`like 2030-01-31`);
    }
  });

  it('the range of epsilon and rho is the whole range', async () => {
    const words = ['plan', 'mean',
      '--cohort', '10', '--participation', 'secret', '--columns', '1', '--delta', '1e-6'];
    expect(await refusal(...words, '--epsilon', '1e-7'))
      .toContain('--epsilon is a number from 0.000001 up to 100');
    expect(await refusal(...words, '--epsilon', 'rho=1e-13'))
      .toContain('--epsilon rho is a number from 1e-12 up to 1000');
  });
});
