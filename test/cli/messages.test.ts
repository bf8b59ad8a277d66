import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregatorUrl } from '../../cli/base/address.js';
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
  await keelson(['keygen', at('own.key')]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('did you mean', () => {
  it('names what is near, whatever the case, and nothing for words that are too short', () => {
    expect(nearest('robust-meen', ['mean', 'robust-mean'])).toBe('robust-mean');
    expect(nearest('RADIUS', ['radius'])).toBe('radius');
    expect(nearest('z', ['x', 'y'])).toBeUndefined();
    expect(nearest('X', ['x', 'y'])).toBe('x');
    expect(nearest('a'.repeat(100), ['a'])).toBeUndefined();
    expect(didYouMean('dalta', ['epsilon', 'delta'])).toBe(': did you mean "delta"?');
    expect(didYouMean('zzz', ['epsilon', 'delta'])).toBe('');
  });

  it('is said of estimators and parameters by every command that takes them', async () => {
    const rows = write('rows.csv', 'x,y\n1,2\n');
    const asked = [
      ['estimators', 'robust-meen'],
      ['estimate', 'robust-meen', '--input', rows, ...target],
      ['plan', 'robust-meen', '--cohort', '10', '--dimension', '2', ...target],
      ['plan', 'robust-meen'],
      ['audit', 'robust-meen', ...target],
      ['lab', '--estimators', 'robust-meen', '--epochs', '1'],
    ];
    for (const words of asked) {
      expect(await refusal(...words))
        .toContain('no estimator "robust-meen": did you mean "robust-mean"?');
    }
    const misspelt =
      await refusal('estimate', 'mean', '--input', rows, ...target, '--set', 'scal=1');
    expect(misspelt)
      .toContain('parameters.scal is not a parameter of this estimator: did you mean "scale"?');
    expect(await refusal('estimators', 'zzz')).toContain('choose one of mean, robust-mean');
  });

  it('is said of attacks by every command that takes them', async () => {
    const simulate = ['simulate', 'ws://127.0.0.1:9', '--study', 's', '--contributors', '1'];
    const asked = [['lab', '--epochs', '1'], ['demo'], simulate];
    for (const words of asked) {
      expect(await refusal(...words, '--attack', 'shft')).toContain(': did you mean "shift"?');
    }
  });
});

describe('columns of a file', () => {
  const columns = (file: string, ...flags: string[]) =>
    refusal('estimate', 'mean', '--input', file, ...target, ...flags);

  it('a name that a header does not hold is told with the names that it holds', async () => {
    const file = write('named.csv', 'delay,distance\n1,2\n');
    expect(await columns(file, '--columns', 'height'))
      .toContain('no column "height": there are delay, distance');
    expect(await columns(file, '--columns', 'dealy'))
      .toContain('no column "dealy": did you mean "delay"?');
    expect(await columns(file, '--contributor', 'id'))
      .toContain('no column "id": there are delay, distance');
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
    const enrol = ['enrol', at('own.key'), '--keys', file, '--expires', '9d'];
    for (const words of [['plan', file], ['serve', file], enrol]) {
      expect(await refusal(...words)).toContain(`${file} is not UTF-8 text`);
    }
    const set =
      await refusal('estimate', 'mean', '--input', file, ...target, '--set', `scale=@${folder}`);
    expect(set).toContain(`${folder}: it is a folder`);
  });

  it('a folder in place of a key or an outbox is told as one', async () => {
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

  it('an operator token is checked before it is sent, and never shown', async () => {
    const words =
      ['studies', 'ws://127.0.0.1:9', '--token-file', write('token', 'secret\nwords\n')];
    expect(await refusal(...words)).toContain('--token-file is for --end');
    const wrong = await refusal(...words, '--end', 's');
    expect(wrong).toContain('holds no operator token');
    expect(wrong).not.toContain('secret');
  });
});

describe('demo', () => {
  it('refuses a file in place of the folder for its logs before it starts', async () => {
    const file = write('logs', 'x');
    expect(await refusal('demo', '--logs', file)).toContain(`--logs ${file} is a file`);
  });
});

describe('numbers', () => {
  it('the range of epsilon and rho is the whole range', async () => {
    const words = ['plan', 'mean', '--cohort', '10', '--dimension', '1', '--delta', '1e-6'];
    expect(await refusal(...words, '--epsilon', '1e-7'))
      .toContain('--epsilon is a number from 0.000001 up to 100');
    expect(await refusal(...words, '--rho', '1e-13'))
      .toContain('--rho is a number from 1e-12 up to 1000');
  });
});
