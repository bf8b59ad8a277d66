import { writeFileSync } from 'node:fs';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readNpyTable } from '../../cli/input/npy-table.js';
import { readTables } from '../../cli/input/table.js';
import { npyBytes } from '../support/npy.js';
import { scratchFolder } from '../support/scratch.js';

/** What one read gives at most, and after how many bytes of the file it gives nothing more. */
const disk = { most: Infinity, end: Infinity, reads: 0 };

const { open } = fileSystem;
beforeAll(() => {
  const opened = async (path: string) => {
    const file = await open(path);
    return {
      stat: () => file.stat(),
      close: () => file.close(),
      read: (into: Uint8Array, offset: number, length: number, position: number) => {
        disk.reads += 1;
        return file.read(
          into, offset, Math.max(0, Math.min(length, disk.most, disk.end - position)), position,
        );
      },
    };
  };
  Object.assign(fileSystem, { open: opened });
  syncBuiltinESMExports();
});
afterAll(() => {
  Object.assign(fileSystem, { open });
  syncBuiltinESMExports();
});

const folder = scratchFolder('npy');
beforeEach(() => Object.assign(disk, { most: Infinity, end: Infinity, reads: 0 }));

function place(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const [count, columns] = [101, 3];
const rows = Array.from({ length: count }, (_, i) =>
  Array.from({ length: columns }, (_entry, j) => i + j / 4));
const headerBytes = npyBytes(rows).length - count * columns * 8;

describe('a whole .npy file', () => {
  // In a row of 24 bytes: just one row, one that ends inside the second, many that end inside one.
  it.each(['<f8', '>f4'])(
    'comes out whole where every read ends inside a row, %s', async (type) => {
      const path = place('short.npy', npyBytes(rows, { type }));
      const rowBytes = columns * (type === '<f8' ? 8 : 4);
      for (const most of [headerBytes, headerBytes + 1, 5 * headerBytes + rowBytes - 1]) {
        Object.assign(disk, { most, reads: 0 });
        const table = await readNpyTable({ missing: 'refuse', path });
        expect([...table!.values]).toEqual(rows.flat());
        expect(table!.count).toBe(count);
        expect(disk.reads).toBeGreaterThan(2);
      }
    },
  );

  it('is read by rows where a mebibyte is no whole number of '
    + 'them', { tags: ['long'] }, async () => {
    // 24 bytes to a row: 43,690 of them are 16 bytes less than a mebibyte.
    const many = Array.from({ length: 100_000 }, (_, i) => [i, -i, i / 2]);
    const table =
      await readNpyTable({ missing: 'refuse', path: place('many.npy', npyBytes(many)) });
    expect(disk.reads).toBe(1 + 3);
    expect(table!.values.every((entry, at) => entry === many[Math.floor(at / 3)]![at % 3]))
      .toBe(true);
    const some = await readNpyTable({
      missing: 'refuse', path: place('many.npy', npyBytes(many)), columns: ['2', '0'],
    });
    expect(some!.values.every((entry, at) => entry === many[at >> 1]![at % 2 === 0 ? 2 : 0]))
      .toBe(true);
  });

  it('names the row of a bad value also after reads that ended inside rows', async () => {
    const bad = rows.map((row, i) => (i === 77 ? [0, Number.NaN, 0] : row));
    const path = place('bad.npy', npyBytes(bad));
    disk.most = headerBytes + 1;
    await expect(readNpyTable({ missing: 'refuse', path })).rejects
      .toThrow('row 77, column 1 (both from 0)');
  });

  it('is left to the stream, which says so, when it holds less or more than its header '
    + 'promises', async () => {
    const whole = npyBytes(rows);
    const promised = count * columns * 8;
    for (const extra of [-1, -24, -promised + 1, 1, 24]) {
      const path = place('wrong.npy', extra < 0
        ? whole.subarray(0, extra) : Buffer.concat([whole, Buffer.alloc(extra)]));
      expect(await readNpyTable({ missing: 'refuse', path })).toBeNull();
      await expect(readTables({ missing: 'refuse', path }, Readable.from([]))).rejects
        .toThrow(`promises ${promised} bytes of numbers and ${promised + extra} follow`);
    }
  });

  it('is no table when it gets shorter while it is read, or its header comes in '
    + 'parts', async () => {
    const path = place('shrinks.npy', npyBytes(rows));
    for (const end of [headerBytes, headerBytes + 23, headerBytes + 24 * 50 + 7]) {
      disk.end = end;
      expect(await readNpyTable({ missing: 'refuse', path })).toBeNull();
    }
    disk.end = Infinity;
    for (const most of [0, 5, 11, headerBytes - 1]) {
      disk.most = most;
      expect(await readNpyTable({ missing: 'refuse', path })).toBeNull();
      const [table] = await readTables({ missing: 'refuse', path }, Readable.from([]));
      expect([...table!.values]).toEqual(rows.flat());
    }
  });
});
