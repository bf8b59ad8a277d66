// @module-tag slow
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

let stage: Stage;
beforeEach(() => { stage = new Stage(); });
afterEach(() => stage.end());

const mode = (path: string): number => statSync(path).mode & 0o777;

describe('backup', () => {
  it('copies beside a running server, and a server goes on from the copy with the same '
    + 'chain', async () => {
    const study = stage.write('mean.yaml', meanStudy('copied'));
    const first = await stage.serve([study]);
    const simulated = stage.start(
      [
        'simulate', first.url, '--study', 'copied', '--contributors', '100', '--server-key',
        first.serverKey, '--json',
      ]);
    const watched = stage.start(['watch', first.url, '--study', 'copied', '--json']);
    await watched.line(({ type, index }) => type === 'release' && index === 1);

    const made =
      await keelson(['store', 'backup', stage.path('data'), stage.path('copy'), '--json']);
    expect(made.status).toBe(0);
    const copied = JSON.parse(made.stdout) as {
      file: string; studies: readonly { study: string; releases: number }[];
    };
    expect(copied.studies).toMatchObject([{ study: 'copied' }]);
    const held = copied.studies[0]!.releases;
    expect(held).toBeGreaterThanOrEqual(2);
    expect(readdirSync(stage.path('copy'))).toEqual(['keelson.db']);
    expect([mode(copied.file), mode(stage.path('copy'))]).toEqual([0o600, 0o700]);
    const again = await keelson(['store', 'backup', stage.path('data'), stage.path('copy')]);
    expect([again.status, again.stderr])
      .toEqual([2, expect.stringContaining('is not overwritten')]);

    await Promise.all([first.command.kill(), simulated.kill()]);
    mkdirSync(stage.path('restored'), { mode: 0o700 });
    copyFileSync(stage.path('data/server.key'), stage.path('restored/server.key'));
    const restore = ['store', 'restore', stage.path('copy'), stage.path('restored')];
    // SQLite would apply the log of the lost database to the copy.
    writeFileSync(stage.path('restored/keelson.db-wal'), 'of another database');
    const beside = await keelson(restore);
    expect([beside.status, beside.stderr])
      .toEqual([2, expect.stringContaining('keelson.db-wal exists and is not overwritten')]);
    rmSync(stage.path('restored/keelson.db-wal'));
    const restored = await keelson([...restore, '--json']);
    expect([restored.status, JSON.parse(restored.stdout)]).toMatchObject([
      0, { file: stage.path('restored/keelson.db'), missing: ['operator.token', 'keelson.mark'] },
    ]);
    expect((await keelson(restore)).stderr).toContain('keelson.db exists and is not overwritten');
    copyFileSync(stage.path('data/operator.token'), stage.path('restored/operator.token'));
    // A copy is older than the truth, and says so: the operator must have read what that means.
    const old = await stage.run(['serve', study, '--data', stage.path('restored'), '--port', '0']);
    expect([old.status, old.stderr]).toEqual([2, expect.stringContaining('--accept-rollback')]);
    // Only the key that signed what is in the copy goes on with it: another's releases would verify
    // with nobody.
    const place = ['--data', stage.path('restored'), '--port', '0', '--accept-rollback'];
    for (const [spoil, says] of [
      [
        () => writeFileSync(stage.path('restored/server.key'), `${'ab'.repeat(32)}\n`),
        'does not hold the key that signed',
      ],
      [() => rmSync(stage.path('restored/server.key')), 'server.key is missing'],
    ] as const) {
      spoil();
      const refused = await stage.run(['serve', study, ...place]);
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining(says)]);
      expect(refused.stderr).not.toContain('a defect');
    }
    copyFileSync(stage.path('data/server.key'), stage.path('restored/server.key'));
    const second = await stage.serve([study], { data: 'restored' });
    expect(second.serverKey).toBe(first.serverKey);
    const follower = stage.start([
      'watch', second.url, '--study', 'copied', '--server-key', second.serverKey, '--json',
    ]);
    // The command verifies each: signature, and the digest of the one before.
    await follower.line(({ type, index }) => type === 'release' && Number(index) > held);
    const log = await (await fetch(`${second.address}/v1/releases?study=copied`)).text();
    const verified = await keelson([
      'verify', stage.write('releases.log', log), '--server-key', second.serverKey, '--json',
    ]);
    expect([verified.status, JSON.parse(verified.stdout)])
      .toMatchObject([0, { authentic: true, firstFault: null }]);
  });

  it('says what is wrong with a folder, and leaves nothing behind', async () => {
    const none = await keelson(['store', 'backup', stage.path('nothing'), stage.path('copy')]);
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('there is no store')]);
    expect(readdirSync(stage.folder)).toEqual([]);
  });
});
