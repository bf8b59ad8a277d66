import {
  chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signing } from '#signing';
import { publicKeyFlag, readKeyFile } from '../../cli/base/keys.js';
import { toHex } from '../../src/base/bytes.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('keys');

describe('keys new', () => {
  it('writes a key that only its owner reads and prints its public half', async () => {
    const path = join(scratch, 'a.key');
    const { status, stdout } = await keelson(['keys', 'new', path, '--json']);
    expect(status).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const publicKey = toHex(signing.createSigner(readKeyFile(path)).publicKey);
    expect(JSON.parse(stdout)).toEqual({ file: path, publicKey });
    expect(stdout).not.toContain(readFileSync(path, 'utf8').trim());
  });

  it('makes another key each time', async () => {
    const keys = await Promise.all(['b.key', 'c.key'].map(async (name) => {
      await keelson(['keys', 'new', join(scratch, name)]);
      return toHex(readKeyFile(join(scratch, name)));
    }));
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('never overwrites', async () => {
    const path = join(scratch, 'd.key');
    writeFileSync(path, 'precious');
    const { status, stdout, stderr } = await keelson(['keys', 'new', path]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${path} exists and is not overwritten`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('says when the folder is missing', async () => {
    expect((await keelson(['keys', 'new', join(scratch, 'none', 'e.key')])).stderr)
      .toContain('there is no such folder');
  });

  it('leaves nothing but the key', async () => {
    const folder = mkdtempSync(join(scratch, 'alone-'));
    await keelson(['keys', 'new', join(folder, 'h.key')]);
    expect(readdirSync(folder)).toEqual(['h.key']);
  });
});

describe('key files', () => {
  it('are refused when others may read them, or when they hold something else', async () => {
    const path = join(scratch, 'f.key');
    await keelson(['keys', 'new', path]);
    chmodSync(path, 0o640);
    expect(() => readKeyFile(path)).toThrow('chmod 600');
    const other = join(scratch, 'g.key');
    writeFileSync(other, 'not a key', { mode: 0o600 });
    expect(() => readKeyFile(other))
      .toThrow(`64 hexadecimal digits: make one with "keelson keys new ${other}"`);
    writeFileSync(other, 'ab'.repeat(1_000));
    expect(() => readKeyFile(other)).toThrow('too large');
    expect(() => readKeyFile(join(scratch, 'none.key'))).toThrow('there is no such file');
  });
});

describe('public keys on the command line', () => {
  it('are 64 hexadecimal digits of a usable key', () => {
    const key = toHex(signing.createSigner(new Uint8Array(32).fill(7)).publicKey);
    expect(toHex(publicKeyFlag(key.toUpperCase(), '--server-key'))).toBe(key);
    expect(() => publicKeyFlag(key.slice(2), '--server-key')).toThrow('64 hexadecimal digits');
    expect(() => publicKeyFlag(`01${'00'.repeat(31)}`, '--server-key')).toThrow('--server-key:');
  });
});
