import { chmodSync, existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Finding } from '../../cli/doctor/finding.js';
import { storeFindings } from '../../cli/doctor/store.js';
import { bindSecrets } from '../../server/keys/bound-secrets.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { ownVersion } from '../../server/store/postgres/migrations/index.js';
import { namePostgresStore } from '../../server/store/postgres/status.js';
import type { Store } from '../../server/store/contract.js';
import { keelson } from '../support/command.js';
import { Stage } from '../support/live-command.js';
import { describePostgres, psql } from '../support/postgres.js';
import { epochOf, registration } from '../support/store-fixtures.js';

describePostgres('keelson doctor --store', (server) => {
  let stage: Stage;
  let url: string;
  let store: Store | undefined;
  let secrets: string;

  beforeEach(async () => {
    stage = new Stage();
    url = await server().createDatabase();
    secrets = stage.path('secrets');
  });

  afterEach(async () => {
    await store?.close();
    store = undefined;
    await stage.end();
  });

  /** What the command finds wrong, beside the machine and the standby that no test has. */
  async function doctor(...words: string[]): Promise<{
    readonly status: number; readonly findings: readonly Finding[];
  }> {
    const { status, stdout, stderr } =
      await keelson(['doctor', '--store', url, '--secrets', secrets, ...words, '--json']);
    expect(stderr).toBe('');
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return { status, findings: findings.filter(({ check }) =>
      !['Node', 'open files', 'free memory', 'standby'].includes(check)) };
  }

  const wrong = (findings: readonly Finding[]): string[] => findings
    .filter(({ state }) => state !== 'ok').map(({ check, state }) => `${state} ${check}`);

  async function serveFor(): Promise<void> {
    await keelson(['store', 'init', url]);
    bindSecrets(secrets, await namePostgresStore({ url }));
    openServerKeys(secrets);
    store = await openPostgresStore({ url, encryptionKeys: stage.path('secrets/row-keys') });
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
  }

  it('finds nothing wrong with one in use, and lists its servers and budgets', async () => {
    await serveFor();
    const { findings } = await doctor();
    expect(wrong(findings)).toEqual([]);
    expect(findings.map(({ check }) => check.replace(/^server .*/, 'server')
      .replace(/^.*\//, ''))).toEqual([
      'secrets', 'owner', 'server.key', 'operator.token', 'store', 'database', 'clock',
      'connections', 'server', 'encryption keys', expect.stringMatching(/^budget /),
    ]);
    expect(findings.find(({ check }) => check === 'encryption keys')!.found)
      .toMatch(/^1 in use, all in .*row-keys$/);
  });

  it('names keys of another store, keys that others can read, and lost ones', async () => {
    await serveFor();
    const other = await server().createDatabase();
    await keelson(['store', 'init', other]);
    chmodSync(stage.path('secrets/server.key'), 0o644);
    const { status, findings } = await doctor('--encryption-keys', secrets);
    expect([status, wrong(findings)])
      .toEqual([1, [`fail ${stage.path('secrets/server.key')}`, 'fail encryption keys']]);
    const moved = await storeFindings({ url: other },
      { secrets, encryptionKeys: stage.path('none') }, () => Date.now());
    expect(wrong(moved)).toContain('fail store');
  });

  it('says what a start would refuse, and that a clock is wrong', async () => {
    const fresh = await doctor();
    expect([fresh.status, wrong(fresh.findings)]).toEqual([1, ['warn secrets', 'fail database']]);
    expect(fresh.findings.find(({ check }) => check === 'database')!.found)
      .toContain('run keelson store init');
    await keelson(['store', 'init', url]);
    const late = await storeFindings({ url },
      { secrets, encryptionKeys: secrets }, () => Date.now() + 60_000);
    expect(late.find(({ check }) => check === 'clock')).toMatchObject({
      state: 'warn', found: expect.stringMatching(/^the database is (59|60|61) s behind/) as string,
    });
    await psql(url, `update keelson.meta set value = ${ownVersion + 1} where name != 'store_id'`);
    expect(wrong((await doctor()).findings)).toContain('fail database');
    expect(existsSync(secrets)).toBe(false);
  });

  it('finds a database that nobody reaches, and never repeats a password', async () => {
    const address = new URL(url);
    address.password = 'not-this-secret';
    url = address.href;
    const { status, findings } = await doctor();
    expect([status, wrong(findings)]).toEqual([1, ['warn secrets', 'fail database']]);
    expect(JSON.stringify(findings)).not.toContain('not-this-secret');
  });

  it('takes no flag of another place', async () => {
    const refusal = async (...words: string[]): Promise<string> => {
      const { status, stderr } = await keelson(['doctor', ...words]);
      expect(status).toBe(2);
      return stderr;
    };
    expect(await refusal()).toMatch(/give a data folder.*--store/);
    expect(await refusal('data', '--store', url)).toMatch(/looked at alone/);
    expect(await refusal(url)).toMatch(/give it with --store/);
    expect(await refusal('data', '--secrets', 'x')).toMatch(/--secrets is for a store in PostgreSQL/);
    expect(await refusal('--store', url, '--disk')).toMatch(/--disk is for a data folder/);
  });
});
