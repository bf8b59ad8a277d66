import { execFile } from 'node:child_process';
import {
  chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { Store } from '../../server/store/contract.js';
import { backupStore } from '../../server/store/sqlite/backup.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import { root } from '../support/sources.js';
import { batch, epochOf, idOf, registration, verdicts } from '../support/store-fixtures.js';

let parent: string;
let directory: string;
const path = (name: string): string => join(directory, name);
const open = (folder = directory): Promise<Store> =>
  openInlineSqliteStore({ directory: folder, clock: systemClock });
const inUse = { name: 'StorageError', code: 'data-folder-in-use' };

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'keelson-lock-'));
  directory = join(parent, 'data');
});
afterEach(() => { rmSync(parent, { recursive: true, force: true }); });

/** What another process answers that opens the folder. */
async function otherProcess(folder: string): Promise<string> {
  const script = `import { openSqliteStore } from './dist/server/store/sqlite/open.js';
    import { systemClock } from './dist/server/base/clock.js';
    try {
      const store = await openSqliteStore({ directory: process.argv[1], clock: systemClock });
      console.log('opened');
      await store.close();
    } catch (error) { console.log(error.code + ' ' + error.message); }`;
  const words = ['--input-type=module', '-e', script, folder];
  return (await promisify(execFile)(process.execPath, words, { cwd: root })).stdout.trim();
}

describe('a folder that is in use', () => {
  it('stays locked when the lock file is removed, and readers work beside its server', async () => {
    const store = await open();
    await store.registerStudy(registration());
    rmSync(path('keelson.lock'));
    await expect(open()).rejects
      .toMatchObject({ ...inUse, message: /lock file .* was removed or replaced/ });
    expect(await otherProcess(directory)).toMatch(/^data-folder-in-use the lock file/);
    const reader = await openSqliteReader(directory);
    expect(await reader.studies()).toHaveLength(1);
    await reader.close();
    expect(backupStore(directory, join(parent, 'copy')).bytes).toBeGreaterThan(0);
    await store.openEpoch(epochOf(1));
    await store.close();
    expect(await otherProcess(directory)).toBe('opened');
    await (await open()).close();
  });

  it('starts beside a reader when its lock file is the one that there was', async () => {
    await (await open()).close();
    const reader = await openSqliteReader(directory);
    expect(await reader.studies()).toEqual([]);
    await (await open()).close();
    await reader.close();
  });

  it('is found under another path, and through a link to its database', async () => {
    const store = await open();
    symlinkSync(directory, join(parent, 'link'));
    await expect(open(join(parent, 'link'))).rejects.toMatchObject(inUse);
    mkdirSync(join(parent, 'second'), { mode: 0o700 });
    symlinkSync(path('keelson.db'), join(parent, 'second/keelson.db'));
    await expect(open(join(parent, 'second'))).rejects.toMatchObject(inUse);
    await store.close();
  });
});

describe('a database that is replaced under a running server', () => {
  const replaced = [
    ['removed', (): void => rmSync(path('keelson.db'))],
    ['replaced', (): void => {
      copyFileSync(path('keelson.db'), path('other'));
      renameSync(path('other'), path('keelson.db'));
    }],
  ] as const;
  it.each(replaced)('acknowledges nothing once it is %s, and stops', async (word, replace) => {
    const store = await open();
    await store.registerStudy(registration());
    await store.openEpoch(epochOf(1));
    expect(await verdicts(store, [batch('a', 1, 1)])).toEqual(['accepted@1']);
    replace();
    const refusal = {
      code: 'storage-failed', message: expect.stringContaining(`was ${word} while`) as string,
    };
    await expect(store.admit([batch('a', 2, 1)])).rejects.toMatchObject(refusal);
    await expect(store.study(idOf('s'))).rejects.toMatchObject(refusal);
    await store.close();
  });
});

describe('a folder that others may write', () => {
  it.each([
    ['data', 0o777], ['data', 0o720], ['data/keelson.db', 0o622], ['data/keelson.mark', 0o602],
  ] as const)(
    'is refused: %s with mode %o', async (name, mode) => {
      await (await open()).close();
      chmodSync(join(parent, name), mode);
      const text = mode.toString(8).padStart(4, '0');
      await expect(open()).rejects.toMatchObject({
        code: 'storage-failed', details: { path: join(parent, name), mode: text },
        message: expect.stringContaining(`chmod go-w ${join(parent, name)}`) as string,
      });
      chmodSync(join(parent, name), 0o755);
      await (await open()).close();
    });

  it('is judged at its first start as well', async () => {
    mkdirSync(directory);
    chmodSync(directory, 0o777);
    await expect(open()).rejects.toMatchObject({ message: /others on this machine/ });
    chmodSync(directory, 0o700);
    writeFileSync(path('keelson.db'), '', { mode: 0o600 });
    await (await open()).close();
  });
});
