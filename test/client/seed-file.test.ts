import {
  chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSeed } from '../../client/index.js';
import { toHex } from '../../src/base/bytes.js';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'keelson-seed-')); });
afterEach(() => rmSync(folder, { recursive: true }));

describe('a seed in a file', () => {
  it('is created once, for its owner only, even by two simultaneous calls', async () => {
    const path = join(folder, 'alice.key');
    const seeds = await Promise.all(Array.from({ length: 5 }, () => openSeed(path)));
    expect(new Set(seeds.map(toHex)).size).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe(`${toHex(seeds[0]!)}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['alice.key']);
  });

  it('is refused when others may read it, or the file is something else', async () => {
    const path = join(folder, 'alice.key');
    await openSeed(path);
    chmodSync(path, 0o644);
    await expect(openSeed(path)).rejects.toThrow(/may be read by others/);
    writeFileSync(path, 'secret words', { mode: 0o600 });
    chmodSync(path, 0o600);
    await expect(openSeed(path)).rejects.toThrow(/not a key file/);
    await expect(openSeed(join(folder, 'missing', 'x'))).rejects
      .toMatchObject({ code: 'invalid-input' });
  });
});
