import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { readParquetBytes } from '../../cli/input/parquet.js';
import { groupsOf } from '../../cli/input/parquet-columns.js';
import { NumberPages, PageRoom } from '../../cli/input/parquet-numbers.js';
import { readRuns } from '../../cli/input/parquet-runs.js';
import { InvalidInputError } from '../../src/base/errors.js';
import type { ColumnType } from '../../src/base/columns.js';
import { textForm } from '../../src/base/text-form.js';
import { dataSource, type DataSource } from '../support/data.js';

const kinds = ['DOUBLE', 'FLOAT', 'INT32', 'INT64'] as const;
type Kind = (typeof kinds)[number];
type Cell = number | bigint | null;

function cellOf(data: DataSource, kind: Kind, different: number): number | bigint {
  const place = data.below(different);
  if (kind === 'INT32') return place * 7_919 - 2 ** 20;
  // Beyond 2^53 a double has to be rounded.
  if (kind === 'INT64') return BigInt(place - different / 2) * 1_000_000_007_777n;
  const value = (place - different / 2) / 7;
  return kind === 'FLOAT' ? Math.fround(value) : value;
}

/** A file of one column, whose pages are of every kind that its writer has. */
function fileOf(data: DataSource, kind: Kind): ArrayBuffer {
  const count = 1 + data.below(4_000);
  const different = 2 * (1 + data.below([2, 300, 70_000][data.below(3)]!));
  const nulls = [0, 0, 2, 40][data.below(4)]!;
  const cells = Array.from({ length: count }, (): Cell =>
    (nulls > 0 && data.below(nulls) === 0 ? null : cellOf(data, kind, different)));
  return parquetWriteBuffer({
    columnData: [{
      name: 'a', type: kind, data: cells, nullable: nulls > 0 || data.below(2) === 0,
    }],
    codec: (['UNCOMPRESSED', 'SNAPPY'] as const)[data.below(2)]!,
    rowGroupSize: 1 + data.below(5_000), pageSize: 64 + data.below(9_000),
  });
}

/** A file of one column of texts, in a dictionary or not. */
function textFileOf(data: DataSource): ArrayBuffer {
  const count = 1 + data.below(4_000);
  const different = 1 + data.below([3, 300, 70_000][data.below(3)]!);
  const nulls = [0, 0, 2, 40][data.below(4)]!;
  const words = ['', ' a ', 'e\u0301', '\ufeffx', 'Łódź', '\u{1f30d}'];
  const cells = Array.from({ length: count }, () => {
    const place = data.below(different);
    return nulls > 0 && data.below(nulls) === 0 ? null : `${words[place % 6]!}${place}`;
  });
  return parquetWriteBuffer({
    columnData: [{
      name: 'a', type: 'STRING', data: cells, nullable: nulls > 0 || data.below(2) === 0,
    }, { name: 'n', type: 'INT32', data: cells.map((_, row) => row) }],
    codec: (['UNCOMPRESSED', 'SNAPPY'] as const)[data.below(2)]!,
    rowGroupSize: 1 + data.below(5_000), pageSize: 64 + data.below(9_000),
  });
}

async function groupsIn(file: ArrayBuffer): Promise<readonly string[]> {
  const groups: string[] = [];
  const bytes = {
    byteLength: file.byteLength,
    slice: (start: number, end?: number) => Promise.resolve(file.slice(start, end)),
  };
  const request = { missing: 'null' as const, columns: ['n'], group: 'a' };
  for await (const batch of readParquetBytes(bytes, request, 'f')) groups.push(...batch.groups!);
  const counts = new Map<string, number>();
  for await (const batch of readParquetBytes(bytes, { ...request, columns: [] }, 'f')) {
    expect(batch.groups).toBeNull();
    for (const [group, count] of batch.groupCounts!) {
      counts.set(group, (counts.get(group) ?? 0) + count);
    }
  }
  for (const group of groups) counts.set(group, counts.get(group)! - 1);
  expect([...counts.values()].every((count) => count === 0)).toBe(true);
  return groups;
}

async function valuesOf(file: ArrayBuffer, type?: ColumnType): Promise<readonly number[]> {
  const values: number[] = [];
  const bytes = {
    byteLength: file.byteLength,
    slice: (start: number, end?: number) => Promise.resolve(file.slice(start, end)),
  };
  const request = {
    missing: 'null' as const, ...(type !== undefined && { types: new Map([['a', type]]) }),
  };
  for await (const batch of readParquetBytes(bytes, request, 'f')) values.push(...batch.values);
  return values;
}

describe('numbers of Parquet', () => {
  it.each(kinds)('are those of the library: %s', async (kind) => {
    const data = dataSource(`parquet ${kind}`);
    for (let i = 0; i < 120; i++) {
      const file = fileOf(data, kind);
      const rows = await parquetReadObjects({ file }) as { a: Cell }[];
      const oracle = rows.map(({ a }) => (a === null ? NaN : Number(a)));
      const found = await valuesOf(file);
      expect(found.length).toBe(oracle.length);
      const wrong = found.findIndex((value, row) => !Object.is(value, oracle[row]));
      expect(wrong, `file ${i}`).toBe(-1);
    }
  });

  it('are the same, however many rows are read at once', async () => {
    const data = dataSource('windows');
    for (let i = 0; i < 40; i++) {
      const file = fileOf(data, 'DOUBLE');
      const metadata = parquetMetadata(file);
      const [group] = groupsOf(metadata, parquetSchema(metadata).children, 'f');
      const [chunk] = group!.chunks;
      const pages = new NumberPages(
        file.slice(chunk!.start, chunk!.end), new PageRoom(), 'DOUBLE', chunk!, 'f', 'a',
      );
      const found: (number | null)[] = [];
      while (found.length < group!.rows) {
        found.push(...pages.read(Math.min(1 + data.below(200), group!.rows - found.length)));
      }
      const rows = await parquetReadObjects({ file, rowEnd: group!.rows });
      expect(found).toEqual(rows.map(({ a }) => a as unknown));
    }
  });

  it('are refused where one is not in its dictionary', async () => {
    const file = parquetWriteBuffer({
      columnData: [{
        name: 'a', type: 'DOUBLE', nullable: false,
        data: Array.from({ length: 900 }, (_, i) => (i * i) % 3 + i % 3),
      }],
      codec: 'UNCOMPRESSED',
    });
    const meta = parquetMetadata(file).row_groups[0]!.columns[0]!.meta_data!;
    expect(meta.encodings).toContain('RLE_DICTIONARY');
    const end = Number(meta.dictionary_page_offset) + Number(meta.total_compressed_size);
    new Uint8Array(file)[end - 2] = 0xff;
    await expect(valuesOf(file)).rejects
      .toThrow('row group 1 (from 1), column "a": a value is not in its dictionary');
  });

  it('of a column of whole numbers are refused where they are none', async () => {
    const file = parquetWriteBuffer({
      columnData: [{ name: 'a', type: 'DOUBLE', data: [1, 2.5, null] }],
    });
    await expect(valuesOf(file, { type: 'integer' })).rejects
      .toThrow('f, row 2, column 1 ("a"): not a whole number');
    const large = parquetWriteBuffer({
      columnData: [{ name: 'a', type: 'INT64', data: [1n, 2n ** 53n] }],
    });
    await expect(valuesOf(large, { type: 'integer' })).rejects.toThrow('f, row 2, column 1');
    const notFinite = parquetWriteBuffer({
      columnData: [{ name: 'a', type: 'DOUBLE', data: [1, NaN] }],
    });
    await expect(valuesOf(notFinite)).rejects.toThrow('f, row 2, column 1 ("a"): not a finite');
  });

  it('are refused or read where bytes are damaged, and nothing else is thrown', {
    tags: ['slow'],
  }, async () => {
    const data = dataSource('damaged numbers');
    let refused = 0;
    for (let i = 0; i < 400; i++) {
      const file = fileOf(data, kinds[i % kinds.length]!);
      const bytes = new Uint8Array(file);
      for (let changes = 1 + data.below(4); changes > 0; changes--) {
        bytes[4 + data.below(bytes.length - 4)] = data.below(256);
      }
      const error: unknown = await valuesOf(file).then(() => null, (reason: unknown) => reason);
      if (error === null) continue;
      expect(error).toBeInstanceOf(InvalidInputError);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(100);
  });
});

describe('texts of Parquet', () => {
  it('are those of the library', async () => {
    const data = dataSource('parquet texts');
    let [ofDictionary, others] = [0, 0];
    for (let i = 0; i < 120; i++) {
      const file = textFileOf(data);
      const rows = await parquetReadObjects({ file }) as { a: string | null }[];
      expect(await groupsIn(file), `file ${i}`).toEqual(rows.map(({ a }) => textForm(a ?? '')));
      const { encodings } = parquetMetadata(file).row_groups[0]!.columns[0]!.meta_data!;
      if (encodings.includes('RLE_DICTIONARY')) ofDictionary += 1;
      else others += 1;
    }
    expect(Math.min(ofDictionary, others)).toBeGreaterThan(10);
  });

  it('are refused or read where bytes are damaged, and nothing else is thrown', {
    tags: ['slow'],
  }, async () => {
    const data = dataSource('damaged texts');
    let refused = 0;
    for (let i = 0; i < 400; i++) {
      const file = textFileOf(data);
      const bytes = new Uint8Array(file);
      for (let changes = 1 + data.below(4); changes > 0; changes--) {
        bytes[4 + data.below(bytes.length - 4)] = data.below(256);
      }
      const error: unknown = await groupsIn(file).then(() => null, (reason: unknown) => reason);
      if (error === null) continue;
      expect(error).toBeInstanceOf(InvalidInputError);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(60);
  });
});

describe('runs of values', () => {
  it('are read at every width', () => {
    const data = dataSource('runs');
    for (let width = 1; width <= 32; width++) {
      const values = Array.from({ length: 24 }, () =>
        Math.floor((data.below(2 ** 26) / 2 ** 26) * 2 ** width));
      const bits = values.map((value) =>
        [...value.toString(2).padStart(width, '0')].reverse().join('')).join('');
      const packed = bits.match(/.{8}/g)!.map((byte) => parseInt([...byte].reverse().join(''), 2));
      const run = [0, 8, 16, 24].map((shift) => Math.floor(values[0]! / 2 ** shift) % 256);
      // Five times the first value, then three groups of eight.
      const bytes = Uint8Array.from([
        5 << 1, ...run.slice(0, Math.ceil(width / 8)), (3 << 1) | 1, ...packed,
      ]);
      const found = new Uint32Array(28);
      readRuns({ bytes, at: 0 }, width, found);
      expect([...found], `width ${width}`)
        .toEqual([...Array.from({ length: 5 }, () => values[0]), ...values.slice(0, 23)]);
    }
  });
});
