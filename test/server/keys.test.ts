import {
  chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { createLogger } from '../../server/base/logger.js';

let directory: string;
beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'keelson-keys-')); });
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the secrets of a data folder', () => {
  it('are made once, readable by their owner only, and found again', () => {
    const first = openServerKeys(join(directory, 'new'));
    expect(first.created).toEqual([first.paths.serverKey, first.paths.operatorToken]);
    expect(first.seed).toHaveLength(32);
    expect(first.operatorToken.length).toBeGreaterThanOrEqual(43);
    for (const path of first.created) expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = openServerKeys(join(directory, 'new'));
    expect(second).toEqual({ ...first, created: [] });
    expect(readdirSync(join(directory, 'new')).sort()).toEqual(['operator.token', 'server.key']);
  });

  it('differ between folders', () => {
    const [one, two] = ['a', 'b'].map((name) => openServerKeys(join(directory, name)));
    expect(one!.seed).not.toEqual(two!.seed);
    expect(one!.operatorToken).not.toBe(two!.operatorToken);
  });

  it.each(
    [['server.key', 0o640], ['operator.token', 0o604], ['server.key', 0o666]],
  )('are refused when others can read %s', (name, mode) => {
    openServerKeys(directory);
    chmodSync(join(directory, name), mode);
    expect(() => openServerKeys(directory)).toThrow(`chmod 600 ${join(directory, name)}`);
  });

  it.each(
    [
      ['server.key', 'abc'], ['server.key', ''], ['operator.token', 'short'],
      ['operator.token', 'x'.repeat(2_000)],
    ],
  )(
    'are refused when %s holds something else, without showing it', (name, text) => {
      openServerKeys(directory);
      writeFileSync(join(directory, name), text);
      let message = '';
      try { openServerKeys(directory); } catch (error) { message = (error as Error).message; }
      expect(message).toContain(name);
      if (text !== '') expect(message).not.toContain(`${text}\n`);
      expect(readFileSync(join(directory, name), 'utf8')).toBe(text);
    });
});

describe('the logger', () => {
  it('writes one line of JSON for each record, with bigint as text', () => {
    const lines: string[] = [];
    const logger =
      createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    logger.debug({ a: 1 }, 'not this');
    logger.info({ epoch: 7n, err: new Error('why') }, 'a release failed');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!))
      .toMatchObject({ epoch: '7', msg: 'a release failed', err: { message: 'why' } });
  });
});
