import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { meanStudy } from '../support/study-files.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-refusals-'));
const at = (name: string): string => join(folder, name);
const write = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};
let good: string;

beforeAll(() => {
  good = write('good.yaml', meanStudy('good', { epoch: '{ every: 1h }' }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * A command that must end with status 2 and say why on standard error, in a few lines without a
 * stack. A refusal that comes too late would start a thread, which no unit test may.
 */
async function refused(
  words: readonly string[], ...texts: readonly (string | RegExp)[]
): Promise<void> {
  const { status, stdout, stderr } = await keelson(words);
  expect([status, stdout], stderr).toEqual([2, '']);
  for (const text of texts) expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(stderr.split('\n').length).toBeLessThanOrEqual(5);
}

describe('serve refuses, with status 2 and the remedy,', () => {
  it.each([
    [['--host', '192.0.2.1'], '--host 192.0.2.1 is no address of this machine'],
    [['--allow-origin', 'shop.example'], '"shop.example" is not the origin of a page'],
    [['--allow-origin', 'https://shop.example/'], 'without a path'],
    [['--allow-host', 'Shop.example:80'], '"Shop.example:80" is not a host name'],
    [['--trust-proxy', 'here'], '"here" is no address of a proxy'],
  ])('%j, before anything is made', async (flags, text) => {
    const words = ['serve', good, '--data', at('untouched'), '--port', '0', ...flags];
    await refused(words, text);
    expect(existsSync(at('untouched'))).toBe(false);
  });

  it('a file that is not a certificate, before anything is made', async () => {
    const words = ['serve', good, '--data', at('untouched'), '--port', '0'];
    await refused([...words, '--tls-cert', good, '--tls-key', good], 'TLS certificate and key');
    expect(existsSync(at('untouched'))).toBe(false);
  });

  it.each<[string, Record<string, string>, RegExp[]]>([
    ['an unknown key', { epsilonn: '3' }, [/line 12: epsilonn is not a key that is known here/]],
    ['a wrong value', { cohort: '-5' }, [/line 3: cohort is -5/, /whole number from/]],
    [
      'an unknown estimator', { estimator: 'meen' },
      [/line 6: estimator/, /no estimator "meen": did you mean "mean"/],
    ],
    [
      'a budget below one release', { budget: '{ epsilon: 1, delta: 1e-5 }' },
      [/does not pay for one release/],
    ],
    ['a budget beyond any meaning', { budget: '{ epsilon: 900, delta: 1e-5 }' }, [/at most 100/]],
  ])('a study file with %s', async (_, facts, texts) => {
    const path = write('bad.yaml', meanStudy('bad', facts));
    await refused(
      ['serve', path, '--data', at('data'), '--port', '0'], 'bad.yaml', ...texts,
    );
  });

  it('a plan without an answer: status 1', async () => {
    const path = write('few.yaml', meanStudy('few', { cohort: '10' }));
    const { status, stderr } =
      await keelson(['serve', path, '--data', at('data'), '--port', '0']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/cohort of \d+/);
  });

  it('files that do not exist', async () => {
    await refused(['serve', at('none.yaml')], 'none.yaml', 'no such file');
    await refused(['ledger', at('nowhere')], 'there is no store in');
  });
});

describe('every command refuses', () => {
  it.each([
    ['serve', [], 'STUDIES is missing'],
    ['serve', ['x.yaml', '--prot', '1'], 'did you mean --port?'],
    [
      'simulate', ['ws://127.0.0.1:1', '--study', 's', '--contributors', '1.5'],
      '--contributors is a whole number',
    ],
    [
      'simulate', ['ws://127.0.0.1:1', '--study', 's', '--contributors', '5', '--attack', 'x'],
      '--attack is one of',
    ],
    ['contribute', ['ws://127.0.0.1:1', '--study', 's', '--key', 'k'], '--input is missing'],
    ['watch', ['not a url', '--study', 's'], 'write it like ws://'],
    ['demo', ['--cluster', '--keep'], '--keep has no meaning with --cluster'],
    ['demo', ['--liars', '0.6'], '--liars is a number from 0 below 0.5'],
    ['demo', ['--epsilon', '20', '--epochs', '900'], 'largest budget'],
    ['demo', ['--contributors', '200', '--epsilon', '0.1'], 'cohort'],
  ] as const)('%s %j', async (command, words, text) => {
    const { status, stdout, stderr } = await keelson([command, ...words]);
    expect([status === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});
