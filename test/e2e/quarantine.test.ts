// @module-tag slow
import { afterAll, expect, it } from 'vitest';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

interface Excluded {
  readonly study: string;
  readonly contributor: string;
  readonly fromEpoch: number | string;
  readonly distance: number;
  readonly beyond: number;
}

/** What `keelson ledger` says of who is left out. */
async function excluded(): Promise<readonly Excluded[]> {
  const { status, stdout } = await stage.run(['ledger', stage.path('data'), '--json']);
  expect(status).toBe(0);
  const { budgets } = JSON.parse(stdout) as {
    readonly budgets: readonly { readonly excluded?: readonly Excluded[] }[];
  };
  return budgets.flatMap((budget) => budget.excluded ?? []);
}

async function newKey(name: string): Promise<{
  readonly path: string; readonly publicKey: string;
}> {
  const path = stage.path(name);
  const { stdout } = await stage.run(['keys', 'new', path, '--json']);
  return {
    path, publicKey: String((JSON.parse(stdout) as { readonly publicKey: unknown }).publicKey),
  };
}

/**
 * One contribution of one row, sent again when its epoch closed on the way.
 * @returns the epoch that took it, or why none did
 */
async function contribute(served: Served, key: string, row: string): Promise<number | string> {
  for (;;) {
    const outcome = await contributeOnce(served, key, row);
    if (outcome !== 'stale-epoch') return outcome;
  }
}

async function contributeOnce(
  served: Served, key: string, row: string,
): Promise<number | string> {
  const input = stage.write(`${row}.csv`, `delay_minutes,distance_miles\n${row}\n`);
  const { stdout } = await stage.run([
    'contribute', served.url, '--study', 'watched', '--key', key, '--input', input, '--json',
  ]);
  const said = JSON.parse(stdout) as {
    readonly outcome: string; readonly epoch?: number; readonly code?: string;
  };
  return said.outcome === 'accepted' ? said.epoch! : String(said.code);
}

it('excludes a key with far rows from the next epochs, also after SIGKILL', async () => {
  const file = stage.write('watched.yaml', meanStudy('watched', {
    estimator: 'robust-mean', epoch: '{ every: 2s }', late: 'drop',
    quarantine: '{ beyond: 30, automatic: true }',
  }));
  const served = await stage.serve([file]);
  stage.start(['simulate', served.url, '--study', 'watched', '--contributors', '220']);
  const [liar, honest] = [await newKey('liar.key'), await newKey('honest.key')];
  // A refused answer is nothing to measure against; at a slow start too few may be there for one.
  await stage.start(['watch', served.url, '--study', 'watched', '--json'])
    .line(({ outcome }) => outcome === 'value');
  const [first, near] = [
    await contribute(served, liar.path, '4000,500'), await contribute(served, honest.path, '9,500'),
  ];
  expect([typeof first, typeof near]).toEqual(['number', 'number']);
  // Still taken by the epoch that is open when the release comes.
  let outcome = await contribute(served, liar.path, '4000,500');
  while (outcome !== 'quarantined') {
    if (typeof outcome === 'number') expect(outcome).toBeLessThanOrEqual(Number(first) + 1);
    else expect(outcome).toBe('contribution-full');
    outcome = await contribute(served, liar.path, '4000,500');
  }
  const entries = await excluded();
  expect(entries).toMatchObject([{ study: 'watched', contributor: liar.publicKey, beyond: 30 }]);
  expect(Number(entries[0]!.fromEpoch)).toBe(Number(first) + 2);
  // Its row, 200 spreads of 20 minutes from an answer near 9.
  expect(entries[0]!.distance).toBeGreaterThan(150);
  expect(entries[0]!.distance).toBeLessThan(250);

  await served.command.kill();
  const back = await stage.serve([file], { port: served.port });
  expect(await contribute(back, liar.path, '9,500')).toBe('quarantined');
  expect(await contribute(back, honest.path, '9,500')).toBeTypeOf('number');
  expect(await excluded()).toEqual(entries);
  // The log of what was published has nothing of it.
  const log = await (await fetch(`${back.address}/v1/releases?study=watched`)).text();
  expect(log).not.toContain(liar.publicKey);
});
