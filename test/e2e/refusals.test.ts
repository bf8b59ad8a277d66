import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { connect, pragma } from '../../server/store/sqlite/driver.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
let good: string;

beforeAll(() => {
  good = stage.write('good.yaml', meanStudy('good', { epoch: '{ every: 1h }' }));
});

afterAll(() => stage.end());

/**
 * A command that must end with status 2 and say why on standard error, in a few lines without a
 * stack.
 */
async function refused(
  words: readonly string[], ...texts: readonly (string | RegExp)[]
): Promise<void> {
  const { status, stdout, stderr } = await stage.run(words);
  expect([status, stdout], stderr).toEqual([2, '']);
  for (const text of texts) expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(stderr.split('\n').length).toBeLessThanOrEqual(5);
}

describe('serve refuses, with status 2 and the remedy,', () => {
  it('a data folder that another server uses, or whose version is newer', async () => {
    const served = await stage.serve([good], { data: 'shared' });
    const words = ['serve', good, '--data', stage.path('shared'), '--port', '0'];
    await refused(words, 'is in use by another server', 'choose another');
    expect((await fetch(`${served.address}/healthz`)).status).toBe(200);
    await served.command.interrupt();
    const database = connect(stage.path('shared/keelson.db'));
    pragma(database, 'user_version = 999');
    database.close();
    await Promise.all([
      refused(words, 'schema 999', 'newer keelson'),
      refused(['ledger', stage.path('shared')], 'schema 999'),
    ]);
  });

  it('a port that is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const words = ['serve', good, '--data', stage.path('untouched'), '--port', String(port)];
    await refused(words, `port ${port}`, '--port');
    await new Promise((resolve) => other.close(resolve));
    expect(existsSync(stage.path('untouched'))).toBe(false);
  });
});
