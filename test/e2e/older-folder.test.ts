import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { root } from '../support/sources.js';

/**
 * A data folder of the version before quantiles were chosen among all numbers and before a ledger
 * kept two sums. That server answered one epoch of 300 people with a count, a median and a total,
 * and was killed while the second one, with their rows, was open.
 */
const older = `${root}test/e2e/older-folder/`;
const stage = new Stage();
afterAll(() => stage.end());

interface Ledger {
  readonly budgets: readonly { readonly entries: readonly {
    readonly kind: string; readonly epoch: number; readonly rho: number;
  }[] }[];
}

it('goes on with the folder of an older version: the open epoch, then the next', async () => {
  const data = stage.path('older');
  mkdirSync(data, { mode: 0o700 });
  for (const name of ['server.key', 'keelson.mark']) {
    copyFileSync(`${older}${name}`, `${data}/${name}`);
    chmodSync(`${data}/${name}`, 0o600);
  }
  const database = stage.write('older/keelson.db',
    brotliDecompressSync(readFileSync(`${older}keelson.db.br`)));
  chmodSync(database, 0o600);
  const { command, url } =
    await stage.serve([`${older}study.yaml`], { data: 'older', logLevel: 'info' });
  // The epoch that was open ends under its own plan, with the rows that it had.
  await command.says('"epoch":"2","release":1,"questions":{"people":{"outcome":"value"},'
    + '"usual":{"outcome":"value"},"sum":{"outcome":"value"}}');
  const { stdout } = await stage.run(['studies', url, '--json']);
  const { studies } = JSON.parse(stdout) as { readonly studies: readonly unknown[] };
  // The facts are the same, so the id is.
  expect(studies).toMatchObject([{
    id: '3ce1549c7c713a413ac0118d99f6317bf78443add0fed0f3ce9775e02d982a74',
    name: 'minutes', state: 'open',
  }]);
  await command.interrupt();
  const ledger = await stage.run(['ledger', data, '--json']);
  const entries = (JSON.parse(ledger.stdout) as Ledger).budgets.flatMap((each) => each.entries);
  const charged = entries.filter(({ kind }) => kind === 'charged');
  const [first, second] = [1, 2].map((at) => charged.find(({ epoch }) => epoch === at));
  expect(second!.rho).toBe(first!.rho);
  // The next one has the plan of this version, whose charges are closer.
  const next = entries.find(({ kind, epoch }) => kind === 'reserved' && epoch === 3);
  expect(next!.rho).toBeLessThan(second!.rho);
});
