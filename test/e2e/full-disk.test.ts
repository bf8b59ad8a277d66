// @module-tag slow
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../cli/doctor/finding.js';
import { serverFindings } from '../../cli/doctor/server.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { signing } from '../../src/signing/node.js';
import { Load } from '../support/durability/load.js';
import { judgeFolder, judgeStore, type Verdict } from '../support/durability/verdict.js';
import { Stage, type Served } from '../support/live-command.js';
import { describePrivatePostgres, psql } from '../support/postgres.js';
import { meanStudy } from '../support/study-files.js';
import { requestPauseMs, until } from '../support/until.js';

const mount = (...words: string[]): boolean => spawnSync('mount', words).status === 0;

const tokenIn = (directory: string): string =>
  readFileSync(join(directory, 'operator.token'), 'utf8').trim();

/** Makes a folder on a disk of its own, which goes with the test. */
function smallDisk(path: string, size: string): void {
  mkdirSync(path);
  expect(mount('-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path)).toBe(true);
  mounted.push(path);
}

let stage: Stage;
const mounted: string[] = [];
beforeEach(() => { stage = new Stage(); });
afterEach(async () => {
  await stage.endCommands();
  for (const path of mounted.splice(0)) spawnSync('umount', ['--lazy', path]);
  await stage.end();
});

/** Only root may mount; elsewhere nothing here can be tried. */
const mountable = spawnSync('unshare', ['--mount', 'true']).status === 0
  && process.getuid?.() === 0;
const title = (name: string): string =>
  `${name}${mountable ? '' : ' (skipped: file systems cannot be mounted here)'}`;

const columns = 400;
const smallStudy = (): string => stage.write('small.yaml', meanStudy('small', {
  columns: `[${Array.from({ length: columns }, (_, i) => `c${i}`).join(', ')}]`,
  cohort: '100000', parameters: '{ spread: 1 }', epoch: '{ every: 2s }',
  privacy: '{ epsilon: 0.5, delta: 1e-7 }', contribution: '{ reduce: mean, rowsMax: 60000 }',
  retention: '30d',
}));
const loadOn = (served: Served): Load =>
  new Load({ ...served, study: 'small', people: 10, columns, pauseMs: 1 });

/** Starts a server on a shared store. */
async function serveOn(words: readonly string[], port = 0): Promise<Served> {
  const command = stage.start(
    ['serve', ...words, '--port', String(port), '--log-level', 'warn', '--json']);
  const listening = await command.line(({ type }) => type === 'listening');
  const address = String(listening['address']);
  return {
    command, address, url: address.replace('http', 'ws'), port: Number(new URL(address).port),
    serverKey: String(listening['serverKey']), listening,
  };
}

async function statusOf({ address }: Served): Promise<string> {
  const answer = await fetch(`${address}/healthz`);
  return `${answer.status} ${(await answer.json() as { status: string }).status}`;
}

async function studyOf({ address }: Served) {
  const answer = await fetch(`${address}/v1/studies`);
  const { studies } = await answer.json() as
    { studies: readonly { readonly releases: number; readonly closesAtMs: number }[] };
  return studies[0]!;
}

/** An epoch should have closed long ago, and does not find the room for it. */
async function expectOverdue(served: Served): Promise<void> {
  await until(async () => (await studyOf(served)).closesAtMs < Date.now() - 3_000,
    requestPauseMs);
}

/** The server runs, and everybody who may ask is told what is wrong and what to do. */
async function expectTold(served: Served, token: string): Promise<void> {
  const { command, address } = served;
  await command.says('free space on the disk');
  await until(async () => await statusOf(served) === '503 database-full', requestPauseMs);
  const headers = { Authorization: `Bearer ${token}` };
  await until(async () => (await (await fetch(`${address}/metrics`, { headers })).text())
    .includes('\nkeelson_store_full 1\n'), requestPauseMs);
  // A checkpoint makes a little room again, so it may be full, go on, and be full once more.
  await until(async () => {
    const [{ state, remedy = '' }] = await serverFindings(new URL(address), Date.now) as [Finding];
    return state === 'fail' && remedy.includes('free space on that disk');
  }, requestPauseMs);
  expect(command.child.exitCode).toBeNull();
}

/** By itself: more rows are acknowledged, and more epochs released, than when it was full. */
async function expectGoesOn(served: Served, load: Load): Promise<void> {
  const { releases } = await studyOf(served);
  const before = load.acknowledged.length;
  await until(() => load.acknowledged.length > before + 50);
  await until(async () => (await studyOf(served)).releases > releases, requestPauseMs);
  await until(async () => await statusOf(served) === '200 ok', requestPauseMs);
}

/** SIGTERM while a close waits for room. */
async function expectEnds({ command }: Served): Promise<void> {
  const beganMs = performance.now();
  command.child.kill('SIGTERM');
  expect((await command.ended).status).toBe(0);
  expect(performance.now() - beganMs).toBeLessThan(20_000);
}

describe.skipIf(!mountable)(title('a small disk'), () => {
  it('loses nothing when full, stays, continues with new room, and is refused if read-only',
    { timeout: 180_000 }, async () => {
      const folder = stage.path('data');
      smallDisk(folder, '1200k');
      const study = smallStudy();
      const served = await stage.serve([study]);
      const load = loadOn(served);
      await expectTold(served, tokenIn(folder));
      await expectOverdue(served);
      expect(load.acknowledged.length).toBeGreaterThan(20);
      // So much room that it is not full again before the next epoch has closed.
      expect(mount('-o', 'remount,size=16m', folder)).toBe(true);
      await expectGoesOn(served, load);

      await until(async () => await statusOf(served) === '503 database-full', requestPauseMs);
      await expectOverdue(served);
      await expectEnds(served);
      expect(mount('-o', 'remount,size=64m', folder)).toBe(true);
      const again = await stage.serve([study], { port: served.port });
      await expectGoesOn(again, load);
      await load.end();
      expect(load.failures).toEqual([]);
      expect((await again.command.interrupt()).status).toBe(0);

      expect(mount('-o', 'remount,ro', folder)).toBe(true);
      const refused = await stage.run(['serve', study, '--data', folder, '--port', '0', '--json']);
      expect(refused).toMatchObject({ status: 2 });
      expect(refused.stderr).toContain('EROFS');
      expect(mount('-o', 'remount,rw', folder)).toBe(true);

      const verdict = await judgeFolder(folder, load.acknowledged, load.published);
      expect(verdict).toMatchObject({ lost: [], twice: [], faults: [] });
    });
});

describePrivatePostgres(title('a small disk under PostgreSQL'), (server) => {
  const judged = async (url: string, loads: readonly Load[]): Promise<Verdict> => {
    const secrets = stage.path('secrets');
    const store = await openPostgresStore({ url, encryptionKeys: join(secrets, 'row-keys') });
    try {
      const { publicKey } = signing.createSigner(openServerKeys(secrets).seed);
      return await judgeStore(store, loads.flatMap(({ acknowledged }) => acknowledged),
        new Map(loads.flatMap(({ published }) => [...published])), {
          taken: new Set(), keys: async () => [signing.createVerifier(publicKey)],
        });
    } finally {
      await store.close();
    }
  };

  it.skipIf(!mountable)('ends no server, and all go on when there is room',
    { timeout: 300_000 }, async () => {
      const folder = join(server().folder, 'small');
      smallDisk(folder, '12m');
      const { uid, gid } = statSync(server().folder);
      chownSync(folder, uid, gid);
      const url = await server().createDatabase();
      const maintenance = server().url('postgres');
      await psql(maintenance, `create tablespace small location '${folder}'`);
      await psql(maintenance,
        `alter database ${new URL(url).pathname.slice(1)} set tablespace small`);
      expect((await stage.run(['store', 'init', url])).status).toBe(0);
      const words = [smallStudy(), '--store', url, '--secrets', stage.path('secrets')];
      const servers = [await serveOn(words), await serveOn(words)];
      const loads = servers.map(loadOn);
      const token = tokenIn(stage.path('secrets'));
      for (const served of servers) await expectTold(served, token);
      await expectOverdue(servers[0]!);
      expect(mount('-o', 'remount,size=20m', folder)).toBe(true);
      for (const [i, load] of loads.entries()) await expectGoesOn(servers[i]!, load);

      for (const served of servers) {
        await until(async () => await statusOf(served) === '503 database-full', requestPauseMs);
      }
      await expectOverdue(servers[0]!);
      const beganMs = performance.now();
      for (const { command } of servers) command.child.kill('SIGTERM');
      const ends = await Promise.all(servers.map(({ command }) => command.ended));
      expect(performance.now() - beganMs).toBeLessThan(20_000);
      expect(ends.map(({ status }) => status)).toEqual([0, 0]);
      expect(mount('-o', 'remount,size=96m', folder)).toBe(true);
      const again: Served[] = [];
      for (const { port } of servers) again.push(await serveOn(words, port));
      for (const [i, load] of loads.entries()) await expectGoesOn(again[i]!, load);
      for (const load of loads) {
        await load.end();
        expect(load.failures).toEqual([]);
      }
      for (const { command } of again) expect((await command.interrupt()).status).toBe(0);
      expect(await judged(url, loads)).toMatchObject({ lost: [], twice: [], faults: [] });
    });
});
