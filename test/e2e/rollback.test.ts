import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { Stage, type JsonLine } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

let stage: Stage;
beforeEach(() => { stage = new Stage(); });
afterEach(() => stage.end());

interface Ledger {
  readonly budgets: readonly {
    readonly rho: { readonly spent: number; readonly cap: number };
    readonly entries: readonly {
      readonly kind: string; readonly rho: number; readonly epoch: number;
    }[];
  }[];
  readonly rollbacks: readonly {
    readonly releases: { readonly found: number; readonly marked: number };
  }[];
}

const ledger = async (): Promise<Ledger> =>
  JSON.parse(
    (await keelson(['ledger', stage.path('data'), '--entries', '1000', '--json'])).stdout,
  ) as Ledger;

it('refuses an older copy of the database unless --accept-rollback is '
  + 'given', { tags: ['slow'], timeout: 240_000 }, async () => {
  const study = stage.write('mean.yaml', meanStudy('older'));
  const first = await stage.serve([study]);
  const reader = stage.start(['watch', first.url, '--study', 'older', '--json']);
  await reader.line(({ type, index }) => type === 'release' && index === 0);
  const copied = await keelson(['store', 'backup', stage.path('data'), stage.path('copy')]);
  expect(copied.status).toBe(0);
  const held = (await ledger()).budgets[0]!.entries.length;
  // The ledger has an entry for each release, so the copy has no release of this place.
  const newest = await reader.line(
    ({ type, index }) => type === 'release' && Number(index) >= held,
  );
  await first.command.kill();
  const before = (await ledger()).budgets[0]!;
  expect(before.entries.length).toBeGreaterThan(held);

  for (const name of ['keelson.db-wal', 'keelson.db-shm']) {
    rmSync(stage.path(`data/${name}`), { force: true });
  }
  copyFileSync(stage.path('copy/keelson.db'), stage.path('data/keelson.db'));
  const place = ['--data', stage.path('data'), '--port', String(first.port)];
  const refused = await stage.run(['serve', study, ...place]);
  expect([refused.status, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr)
    .toMatch(/is older than .*keelson\.mark.* entries and its logs .* releases, the mark knows/);
  expect(refused.stderr).toContain('start once with --accept-rollback');

  const second = await stage.serve([study], { port: first.port, flags: ['--accept-rollback'] });
  const after = await ledger();
  expect(after.rollbacks).toMatchObject([{ releases: { marked: expect.any(Number) as number } }]);
  const [charged] = after.budgets[0]!.entries.filter(({ kind }) => kind === 'rollback');
  expect(charged!.rho).toBeGreaterThan(0);
  expect(after.budgets[0]!.rho.spent).toBeGreaterThanOrEqual(before.rho.spent);
  expect((await keelson(['ledger', stage.path('data')])).stdout)
    .toMatch(/rollback accepted .*\n[^]* rollback /);
  const open =
    await (await fetch(`${second.address}/v1/ledger`)).json() as { rollbacks: unknown[] };
  expect(open.rollbacks).toHaveLength(1);

  // A reader that had read further is told. A new reader gets a log whose epochs are all new.
  const told = await reader.ended;
  expect([told.status, told.stderr]).toEqual([1, expect.stringMatching(/release|head/)]);
  const again = stage.start([
    'watch', second.url, '--study', 'older', '--server-key', first.serverKey, '--json',
  ]);
  await again.line(({ type, epoch }) =>
    type === 'release' && Number(epoch) > Number(newest['epoch']));
  const seen = new Map(
    reader.lines.filter(isRelease).map((line) => [line['epoch'], JSON.stringify(line['estimate'])]),
  );
  for (const line of again.lines.filter(isRelease)) {
    if (seen.has(line['epoch'])) {
      expect(JSON.stringify(line['estimate'])).toBe(seen.get(line['epoch']));
    }
  }
  expect((await second.command.interrupt()).status).toBe(0);
  // The flag is for one start.
  const third = await stage.serve([study]);
  await third.command.interrupt();
});

it('refuses an empty database beside a key, and a copy without its mark', {
  tags: ['slow'], timeout: 120_000,
}, async () => {
  const study = stage.write('mean.yaml', meanStudy('emptied'));
  const first = await stage.serve([study]);
  await first.command.interrupt();
  const place = ['--data', stage.path('data'), '--port', '0'];
  renameSync(stage.path('data/keelson.mark'), stage.path('mark'));
  const unmarked = await stage.run(['serve', study, ...place]);
  expect([unmarked.status, unmarked.stderr])
    .toEqual([2, expect.stringContaining('keelson.mark is missing')]);
  for (const name of ['keelson.db', 'keelson.db-wal', 'keelson.db-shm']) {
    if (existsSync(stage.path(`data/${name}`))) rmSync(stage.path(`data/${name}`));
  }
  const emptied = await stage.run(['serve', study, ...place]);
  expect([emptied.status, emptied.stderr])
    .toEqual([2, expect.stringContaining('there is a server.key from before')]);
});

function isRelease({ type }: JsonLine): boolean {
  return type === 'release';
}
