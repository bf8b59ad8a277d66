import {
  chmodSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { atLeast, type Finding } from '../../cli/doctor/finding.js';
import { budgetFinding } from '../../cli/doctor/budgets.js';
import { filesFinding, memoryFinding, nodeFinding } from '../../cli/doctor/machine.js';
import { servedIn } from '../../cli/doctor/ask.js';
import { serverFindings } from '../../cli/doctor/server.js';
import { wayFinding } from '../../cli/doctor/way.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { systemClock } from '../../server/base/clock.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { startRig } from '../listener/harness.js';
import { keelson } from '../support/command.js';
import { startRefusingProxy } from '../support/refusing-proxy.js';
import { balanceOf } from '../support/served-metrics.js';
import { tlsIdentity } from '../support/tls/identity.js';

let folder: string;

/** Names and times of the files in the folder, but for those that SQLite opens a database with. */
const files = (): unknown => readdirSync(folder).filter((name) => !/-(shm|wal)$/.test(name))
  .map((name) => [name, statSync(join(folder, name)).mtimeMs]);

async function doctor(...words: string[]): Promise<{
  readonly status: number; readonly findings: readonly Finding[];
}> {
  const { status, stdout } = await keelson(['doctor', ...words, '--json']);
  return { status, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
}

const stateOf = (findings: readonly Finding[], check: string): string | undefined =>
  findings.find((finding) => finding.check.endsWith(check))?.state;

describe('doctor, of a data folder', () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-doctor-'));
    const store = await openInlineSqliteStore({ directory: folder, clock: systemClock });
    openServerKeys(folder);
    await store.close();
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('finds nothing wrong with a new one, and changes nothing', async () => {
    const before = files();
    const { status, findings } = await doctor(folder);
    const own = findings.filter(({ check }) => !['disk space', 'free memory'].includes(check));
    expect(own.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(own.map(({ check }) => check.split('/').at(-1))).toEqual([
      'Node', 'open files', 'clock', 'data folder', 'owner', 'server.key', 'operator.token',
      'database', 'high-water mark',
    ]);
    expect(status).toBe(findings.some(({ state }) => state === 'fail') ? 1 : 0);
    expect(files()).toEqual(before);
  });

  it('says what to do about modes that let others in', async () => {
    chmodSync(join(folder, 'server.key'), 0o640);
    chmodSync(folder, 0o770);
    const { status, findings } = await doctor(folder);
    expect(status).toBe(1);
    expect([stateOf(findings, 'server.key'), stateOf(findings, 'data folder')])
      .toEqual(['fail', 'fail']);
    expect(findings.find(({ check }) => check.endsWith('server.key'))!.remedy)
      .toContain(`chmod 600 ${join(folder, 'server.key')}`);
  });

  it('finds a database of which a page was overwritten', async () => {
    const file = openSync(join(folder, 'keelson.db'), 'r+');
    writeSync(file, new Uint8Array(4096).fill(7), 0, 4096, 4096 * 3);
    const { status, findings } = await doctor(folder);
    expect([status, stateOf(findings, 'database')]).toEqual([1, 'fail']);
  });

  it('times durable writes when asked, and leaves no file', async () => {
    const before = files();
    const { findings } = await doctor(folder, '--disk');
    expect(findings.find(({ check }) => check === 'disk')!.found).toMatch(/^\d+\.\d ms/);
    expect(files()).toEqual(before);
  });

  it('refuses a folder without a store', async () => {
    const { status, stderr } = await keelson(['doctor', tmpdir()]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('there is no store')]);
  });

  it('says so of a budget that is nearly spent, and of limits that are low', () => {
    expect(budgetFinding(balanceOf(0.5)).state).toBe('ok');
    expect(budgetFinding(balanceOf(0.95))).toMatchObject({ state: 'warn', found: /^9[45] %/ });
    expect(['18.20.1', '20.18.0', '20.19.0', '22.15.1', '22.16.0', '24.1.0']
      .map((version) => nodeFinding(version).state))
      .toEqual(['fail', 'fail', 'warn', 'warn', 'ok', 'ok']);
    expect([256, 4096, 65_536].map((limit) => filesFinding(limit).state))
      .toEqual(['fail', 'warn', 'ok']);
    expect([64, 256, 4096].map((size) => memoryFinding(size * 2 ** 20).state))
      .toEqual(['fail', 'warn', 'ok']);
    expect(atLeast('x', 'y', 2, { warnBelow: 2, failBelow: 1, remedy: '' }).remedy).toBeUndefined();
  });
});

describe('doctor, of a server', () => {
  it('asks what everybody may ask', async () => {
    const rig = await startRig();
    const findings = await serverFindings(new URL(rig.listener.address), Date.now);
    expect(findings.map(({ check, state }) => [check, state])).toEqual([
      ['server', 'ok'], ['clock', 'ok'], ['TLS', 'ok'], ['dashboard', expect.anything()],
      ['metrics', 'ok'], ['rows from here', 'ok'],
      ['study flight-delays', 'ok'], ['study other-study', 'ok'],
    ]);
  });

  it('says how rows travel through a proxy before it', async () => {
    const rig = await startRig();
    const hiding = await MeddlingProxy.to(rig.listener.port);
    hiding.offers = () => ['keelson.v1'];
    const refusing = await startRefusingProxy(rig.listener.port);
    onTestFinished(async () => { await Promise.all([hiding.close(), refusing.close()]); });
    const told = async (url: string): Promise<string> => {
      const { state, found, remedy = '' } = await wayFinding(new URL(url));
      return [state, found, remedy].join('; ');
    };
    expect(await told(rig.listener.address)).toMatch(/^ok; go encrypted/);
    expect(await told(hiding.url)).toMatch(/^warn; go signed: .*Sec-WebSocket-Protocol on/);
    expect(await told(refusing.url)).toMatch(/^warn; go signed, .*HTTP status 403.*Upgrade/);
    expect(rig.metrics.totals.channels).toBe(0);
  });

  it('reads a list of studies, and nothing else that answers in its place', async () => {
    const served = { serverKey: 'ab', studies: [{ id: '1', name: 'commute', state: 'open' }] };
    const answer = { status: 200, dateMs: 0, text: JSON.stringify(served) };
    expect(servedIn(answer)).toEqual(served);
    expect(servedIn({ ...answer, status: 502 })).toBe('answers 502');
    for (const text of ['<html>', '', 'null', '{}', '{"studies":3}', '[]']) {
      expect(servedIn({ ...answer, text }), text).toMatch(/not from Keelson/);
    }
  });

  it('compares clocks, and says by how much they differ', async () => {
    const rig = await startRig();
    const shifted = (ms: number) => async (): Promise<string | undefined> =>
      stateOf(await serverFindings(new URL(rig.listener.address), () => Date.now() + ms), 'clock');
    expect([await shifted(30_000)(), await shifted(-600_000)()]).toEqual(['warn', 'fail']);
  });

  it('sees when the certificate ends, and whether it is trusted', async () => {
    const rig = await startRig({ tls: tlsIdentity('first') });
    const tls = async (nowMs: number): Promise<Finding> =>
      (await serverFindings(new URL(rig.listener.address), () => nowMs))
        .find(({ check }) => check === 'TLS')!;
    expect(await tls(Date.now())).toMatchObject({ state: 'fail', found: /not trusted here/ });
    expect(await tls(Date.UTC(2400, 0))).toMatchObject({ state: 'fail', found: /ends in -\d+ days/ });
  });

  it('is told of a server that does not answer, or is not well', async () => {
    expect(await serverFindings(new URL('http://127.0.0.1:9'), Date.now))
      .toMatchObject([{ check: 'server', state: 'fail' }]);
    let status = 'stopping';
    const ill = createServer((_, response) =>
      response.writeHead(503).end(JSON.stringify({ status })));
    await new Promise<void>((resolve) => ill.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void ill.close());
    const { port } = ill.address() as AddressInfo;
    for (const [named, found, remedy] of [
      ['stopping', /stopping/, /start it again/],
      ['database-away', /does not answer/, /can be reached/],
      ['database-full', /disk of its database is full/, /free space on that disk/],
      ['encryption-key-missing', /lacks an encryption key/, /--encryption-keys/],
      ['__proto__', /answers 503/, /start it again/],
    ] as const) {
      status = named;
      const told = await doctor(`ws://127.0.0.1:${port}`);
      expect([told.status, told.findings[0]!.state]).toEqual([1, 'fail']);
      expect(told.findings[0]).toMatchObject({
        found: expect.stringMatching(found) as string,
        remedy: expect.stringMatching(remedy) as string,
      });
    }
  });
});

describe('doctor, of a study file', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'keelson-doctor-')), 'rides.yaml');
  const study = 'study: rides\ncolumns: [minutes]   # of a ride\ncohort: 3000\n'
    + 'epoch: { every: 1h }\nprivacy: { epsilon: 1, delta: 1e-6 }\n'
    + 'budget: { epsilon: 8, delta: 1e-5 }\n';

  it('lists old names, writes new ones if it may, and then plans the study', async () => {
    writeFileSync(path, `${study}estimator: spectral-filter\n`);
    const found = await doctor(path);
    expect(found).toMatchObject({ status: 0, findings: [{ check: 'names', state: 'warn' },
      { check: 'names', state: 'warn' }] });
    expect(found.findings[0]!.found)
      .toBe('line 7: spectral-filter is now prime with directions: one');
    expect(readFileSync(path, 'utf8')).toBe(`${study}estimator: spectral-filter\n`);
    expect((await doctor(path, '--write')).findings.at(-1)).toMatchObject({
      check: 'study', state: 'ok',
    });
    expect(readFileSync(path, 'utf8'))
      .toBe(`${study}estimator: prime\nparameters: { directions: one }\n`);
    expect((await doctor(path)).findings.map(({ state }) => state)).toEqual(['ok', 'ok']);
  });

  it('names the questions, and whose answer rows are compared with', async () => {
    writeFileSync(path, study.replace('[minutes]   # of a ride', 'MAP')
      .replace('MAP', '{ minutes: { type: number, optional: true }, app: { type: text } }')
      + 'questions:\n'
      + '  apps: { estimator: count, by: { column: app, groupsMax: 1, discover: true } }\n'
      + '  minutes: { estimator: robust-mean, columns: [minutes], parameters: { spread: 9 } }\n'
      + 'quarantine: { beyond: 20 }\n');
    expect((await doctor(path)).findings.slice(1)).toEqual([
      { check: 'study', state: 'ok',
        found: 'rides can be planned: apps (count by app), minutes (robust-mean)' },
      { check: 'quarantine', state: 'ok', found: 'keys whose rows are more than 20 spreads from '
        + 'the question minutes are shown' },
    ]);
    const { status, stderr } = await keelson(['doctor', path, '--servers']);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/--servers is for a sealed study/)]);
  });

  it('fails for one that is no study, and takes --write for a study file alone', async () => {
    writeFileSync(path, `${study}estimator: meen\n`);
    const { status, findings } = await doctor(path);
    expect([status, findings.at(-1)!.found]).toEqual([1, expect.stringMatching(/did you mean/)]);
    const { status: refused, stderr } = await keelson(['doctor', '/nowhere', '--write']);
    expect([refused, stderr]).toEqual([2, expect.stringMatching(/--write is for a study file/)]);
  });
});
