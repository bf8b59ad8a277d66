// @module-tag slow
import { existsSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { connect } from '../../server/store/sqlite/driver.js';
import { root } from '../support/sources.js';
import { Stage, type JsonLine, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

const dayMs = 86_400_000;
const shifted = (byMs: number) => ({
  KEELSON_TEST_CLOCK_SHIFT_MS: String(byMs),
  NODE_OPTIONS: `--import ${root}test/support/children/shifted-clock.js`,
});
const study = stage.write('study.yaml', meanStudy('study', {
  budget: '{ epsilon: 50, delta: 1e-5, per: 1h }', participation: 'secret',
}));
const words = (data: string) =>
  ['serve', study, '--data', stage.path(data), '--port', '0', '--json'];

/** `keelson serve` by a wrong clock, which must refuse to start. */
async function refused(data: string, byMs: number, flags: readonly string[] = []): Promise<string> {
  const { status, stdout, stderr } =
    await stage.start([...words(data), ...flags], { environment: shifted(byMs) }).ended;
  expect([status, stdout], stderr).toEqual([2, '']);
  expect(stderr).not.toMatch(/^ +at /m);
  return stderr;
}

async function released(served: Served): Promise<JsonLine> {
  const watched = stage.start([
    'watch', served.url, '--study', 'study', '--server-key', served.serverKey, '--json',
  ]);
  const release = await watched.line(({ type }) => type === 'release');
  await watched.interrupt();
  return release;
}

const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`;

it('refuses a clock that cannot be right, and a new folder stays usable', async () => {
  expect(await refused('new', -60 * 365 * dayMs))
    .toMatch(/no server ran before 2020-01-01.*set the clock/);
  expect(existsSync(stage.path('new/server.key'))).toBe(false);
  const served = await stage.serve([study], { data: 'new' });
  await released(served);
  await served.command.interrupt();
  expect(await refused('new', -3 * 3_600_000))
    .toMatch(/more than an hour behind the newest time stamp.*--confirm-clock/);
  expect(await refused('new', 400 * dayMs))
    .toMatch(/more than 366 days ahead of the newest time stamp/);
  // Said by somebody who did not look at the clock.
  expect(await refused('new', 400 * dayMs, ['--confirm-clock', utc(Date.now())]))
    .toMatch(/more than an hour from/);
  const again = await stage.serve([study], { data: 'new' });
  expect((await again.command.interrupt()).status).toBe(0);
});

it('continues with a folder that saw a clock ahead if the operator confirms', async () => {
  const wrong = stage.start(words('ahead'), { environment: shifted(400 * dayMs) });
  const { address, serverKey } =
    await wrong.line(({ type }) => type === 'listening') as Record<string, string>;
  const watched = stage.start([
    'watch', address!.replace('http', 'ws'), '--study', 'study', '--server-key', serverKey!,
    '--json',
  ]);
  await watched.line(({ type }) => type === 'release');
  await wrong.kill();
  expect(await refused('ahead', 0)).toMatch(/behind the newest time stamp/);
  const served =
    await stage.serve([study], { data: 'ahead', flags: ['--confirm-clock', utc(Date.now())] });
  await served.command.says('time stamps of a wrong clock were set to the present');
  expect((await served.command.interrupt()).status).toBe(0);
  const { stdout } = await stage.run(['ledger', stage.path('ahead'), '--entries', '100', '--json']);
  const [budget] = (JSON.parse(stdout) as { budgets: { entries: { at: string }[] }[] }).budgets;
  for (const { at } of budget!.entries) expect(Date.parse(at)).toBeLessThan(Date.now() + 5_000);
  const plain = await stage.serve([study], { data: 'ahead' });
  expect((await plain.command.interrupt()).status).toBe(0);
});

it('continues with a folder in which an earlier version stored times before 1970', async () => {
  const first = await stage.serve([study], { data: 'old' });
  await released(first);
  await first.command.kill();
  const database = connect(stage.path('old/keelson.db'));
  const back = 100 * 365 * dayMs;
  database.exec(
    `UPDATE epochs SET opens_at_ms = opens_at_ms - ${back}, closes_at_ms = closes_at_ms - ${back};
    UPDATE ledger SET at_ms = at_ms - ${back}; UPDATE budget_windows SET renewed_through_ms = 0;
    UPDATE releases SET stored_at_ms = stored_at_ms - ${back}; UPDATE studies SET registered_at_ms = -1`,
  );
  const open = database.prepare("SELECT count(*) AS open FROM epochs WHERE state = 'open'").get();
  const charged = database.prepare("SELECT max(epoch) AS epoch FROM ledger WHERE kind = 'charged'")
    .get() as { epoch: bigint };
  expect(open).toEqual({ open: 1n });
  // Such charges counted in no window.
  database.exec(`UPDATE budgets SET rho_spent = '0', delta_spent = '0', pure_spent = '0'`);
  database.close();
  const served = await stage.serve([study], { data: 'old' });
  const watched = stage.start([
    'watch', served.url, '--study', 'study', '--server-key', served.serverKey, '--json',
  ]);
  await watched.line(({ type, epoch }) => type === 'release' && Number(epoch) > charged.epoch);
  await watched.interrupt();
  expect((await served.command.interrupt()).status).toBe(0);
});
