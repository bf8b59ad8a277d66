import {
  chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOperatorRecords } from '../../server/base/operator-records.js';
import { systemClock } from '../../server/base/clock.js';
import { EncryptionKeys } from '../../server/store/postgres/encryption-keys.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { keelson } from '../support/command.js';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('not root: owners of files are not tested\n');
/** Of the service; nobody on this machine needs to have it. */
const user = 4321;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-owner-'));
  if (isRoot) chownSync(folder, user, user);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Names of files that are not the user's, in a folder and its folders. */
const others = (): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => {
    const { uid, gid } = lstatSync(join(folder, name));
    return uid !== user || gid !== user;
  });

async function ended(...words: string[]): Promise<void> {
  const { status, stderr } = await keelson(words);
  expect(status, stderr).toBe(0);
}

describe.runIf(isRoot)('root, in the data folder of a service', () => {
  it('leaves each file to the owner of the folder', async () => {
    await ended('keys', 'server', '--data', folder);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(
      ['keelson.db', 'keelson.lock', 'keelson.mark', 'operator.token', 'server.key'],
    ));
    expect(others()).toEqual([]);
    await ended('keys', 'rotate', '--data', folder);
    expect(others()).toEqual([]);
    mkdirSync(join(folder, 'copy'));
    chownSync(join(folder, 'copy'), user, user);
    await ended('store', 'backup', folder, join(folder, 'copy'));
    await ended('ledger', folder);
    await keelson(['doctor', folder, '--disk']);
    expect(readdirSync(join(folder, 'copy'))).toEqual(['keelson.db']);
    expect(others()).toEqual([]);
  });

  it('does so when it serves, pauses, or keeps encryption keys there', async () => {
    const store = await openInlineSqliteStore({ directory: folder, clock: systemClock });
    openServerKeys(folder);
    await store.close();
    openOperatorRecords(folder).paused.set('a'.repeat(64), true);
    EncryptionKeys.open(join(folder, 'row-keys')).make('2030-01-31');
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['operator.json', 'row-keys']));
    expect(others()).toEqual([]);
  });

  it('makes an issuer whose keys and codes its owner can read', async () => {
    await ended('keys', 'issuer', folder, '--new', '--name', 'issuer.example.org',
      '--per', '1h', '--periods', '1');
    await ended('keys', 'issuer', folder, '--codes', '1');
    expect(others()).toEqual([]);
  });

  it('gives nothing away that the owner has linked there', async () => {
    const precious = mkdtempSync(join(tmpdir(), 'keelson-precious-'));
    try {
      const secret = join(precious, 'secret');
      writeFileSync(secret, 'precious');
      for (const name of ['keelson.mark.draft', 'operator.json.new']) {
        symlinkSync(secret, join(folder, name));
      }
      await ended('keys', 'server', '--data', folder);
      openOperatorRecords(folder).paused.set('a'.repeat(64), true);
      expect([readFileSync(secret, 'utf8'), lstatSync(secret).uid]).toEqual(['precious', 0]);
    } finally {
      rmSync(precious, { recursive: true });
    }
  });

  it('is told by doctor which files are of somebody else', async () => {
    await ended('keys', 'server', '--data', folder);
    chownSync(join(folder, 'server.key'), 0, 0);
    const { status, stdout } = await keelson(['doctor', folder]);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /fail +owner: the folder belongs to user 4321, and to others: server\.key\n.*chown -R USER/);
  });
});
