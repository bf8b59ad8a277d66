import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import {
  columnFromArray, dateDay, decimal, float64, list, tableFromColumns, tableToIPC, timestamp,
  type DataType,
} from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { describe, expect, it } from 'vitest';
import { lz4Block, lz4Frame } from '../../cli/input/lz4.js';
import { readRows } from '../../cli/input/open.js';
import { checkPages } from '../../cli/input/parquet-pages.js';
import { checkThrift } from '../../cli/input/parquet-thrift.js';
import { checkRuns } from '../../cli/input/parquet-runs.js';
import { unpack } from '../../cli/input/unpack.js';
import type { InputRequest } from '../../cli/input/rows.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { scratchFiles } from '../support/scratch.js';
import { arrowBytes, csvText, parquetBytes, type TestColumn } from '../support/table-files.js';

const place = scratchFiles('damaged');

async function valuesOf(
  path: string, options: Partial<InputRequest> = {}, stdin: readonly Uint8Array[] = [],
): Promise<number[]> {
  const values: number[] = [];
  const request = { path, missing: 'refuse' as const, ...options };
  for await (const batch of readRows(request, Readable.from(stdin))) values.push(...batch.values);
  return values;
}

async function refusal(path: string, options: Partial<InputRequest> = {}): Promise<string> {
  const error = await valuesOf(path, options).then(() => null, (thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  return (error as Error).message;
}

const numbers = Array.from({ length: 300 }, (_, i) => (i * 37) % 101);
const rows: readonly TestColumn[] = [{ name: 'x', type: 'double', values: numbers }];
const csv = csvText(rows);

describe('lists that a few bytes of a Parquet file claim', () => {
  // Each of these bytes begins a list of lists of about thirty million elements.
  const nested = Array.from({ length: 33 }, () => [0xf9, 0x80, 0x87, 0xa7, 0x0e]).flat();

  it('are refused before there is room for them, in the footer', async () => {
    const footer = [0x19, ...nested, 0];
    const length = new Uint8Array(Uint32Array.of(footer.length).buffer);
    const text = (word: string): number[] => [...Buffer.from(word)];
    const bytes = Uint8Array.from([...text('PAR1'), ...footer, ...length, ...text('PAR1')]);
    const before = process.memoryUsage().rss;
    expect(await refusal(place('.parquet', bytes))).toContain('footer: it cannot be decoded');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  });

  it('are refused in the header of a page', () => {
    const bytes = Uint8Array.from([0x19, ...nested, 0]).buffer;
    const chunk = {
      name: 'x', start: 4, end: 4 + bytes.byteLength, rows: 1, codec: 'UNCOMPRESSED',
      isOptional: false,
    } as const;
    expect(() => checkPages(bytes, chunk, 'rows.parquet', 'row group 1'))
      .toThrow('byte 4: there is no page');
  });

  it.each([
    ['as many as there are', [0x19, 0x24, 2, 4, 0], null],
    ['one more', [0x19, 0x44, 2, 4, 0], 'a list is too long'],
    ['a text', [0x18, 5, 65, 66, 0], 'a text is too long'],
    ['truths and a structure', [0x11, 0x19, 0x21, 1, 2, 0x1c, 0x15, 2, 0, 0], null],
    ['without an end', [0x15, 2], 'it is cut short'],
    ['of another type', [0x1b, 0], 'not a type of Parquet'],
    ['structures in structures', [...new Array<number>(40).fill(0x1c), 0], 'too deep'],
  ] as const)('%s', (_name, bytes, fault) => {
    const check = expect(() => checkThrift(Uint8Array.from(bytes), 0));
    if (fault === null) check.not.toThrow();
    else check.toThrow(fault);
  });
});

describe('files that are cut short', () => {
  it.each([
    ['.parquet', parquetBytes(rows, { rowGroupSize: 100 })],
    ['.arrow', arrowBytes(rows, { batchRows: 100 })],
    ['.arrows', arrowBytes(rows, { format: 'stream', batchRows: 100 })],
    ['.csv.gz', zlib.gzipSync(csv)],
  ] as const)('are refused wherever it is, in %s', async (ending, bytes) => {
    expect(await valuesOf(place(ending, bytes))).toEqual(numbers);
    for (let length = 2; length < bytes.length; length += Math.ceil(bytes.length / 50)) {
      expect(await refusal(place(ending, bytes.subarray(0, length))))
        .toMatch(/damaged|not a Parquet file/);
    }
  });

  it('are refused with the place', async () => {
    const parquet = parquetBytes(rows);
    expect(await refusal(place('.parquet', parquet.subarray(0, 500))))
      .toMatch(/, byte 500: it does not end with PAR1, so it is cut short/);
    const arrow = arrowBytes(rows, { format: 'stream' });
    expect(await refusal(place('.arrows', arrow.subarray(0, 400))))
      .toMatch(/, byte 400: it is cut short inside what begins at byte \d+/);
    const packed = zlib.gzipSync(csv);
    expect(await refusal(place('.csv.gz', packed.subarray(0, 100))))
      .toMatch(/, byte 100 of the compressed file: the gzip data is cut short/);
  });
});

describe('files that are damaged', () => {
  it('gzip checks what was unpacked', async () => {
    const packed = zlib.gzipSync(csv);
    packed[packed.length - 6]! ^= 1;
    expect(await refusal(place('.csv.gz', packed))).toMatch(/the gzip data is not valid/);
    const path = place('.csv.gz', csv);
    expect(await refusal(path)).toContain('does not begin as a gzip file does');
  });

  it('pages with a wrong checksum are refused, and right ones are read', () => {
    const content = new Uint8Array(Float64Array.of(1, 2).buffer);
    const page = (crc: number): ArrayBuffer => {
      const writer = new ByteWriter();
      serializeTCompactProtocol(writer, {
        field_1: 0, field_2: 16, field_3: 16, field_4: crc | 0,
        field_5: { field_1: 2, field_2: 0, field_3: 3, field_4: 3 },
      });
      return Uint8Array.from(Buffer.concat([new Uint8Array(writer.getBuffer()), content])).buffer;
    };
    const check = (crc: number): void => {
      const bytes = page(crc);
      const chunk = {
        name: 'x', rows: 2, start: 4, end: 4 + bytes.byteLength, isOptional: false,
        codec: 'UNCOMPRESSED',
      } as const;
      checkPages(bytes, chunk, 'rows.parquet', 'row group 1');
    };
    check(zlib.crc32(content));
    expect(() => check(zlib.crc32(content) + 1))
      .toThrow('rows.parquet, row group 1, byte 4: the checksum of a page is wrong');
  });

  it('a run that claims more values than its page is refused before memory is filled', () => {
    // Two bytes of header say that a value is repeated 2^30 times.
    const runs = Uint8Array.of(5, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x08, 1, 0, 0, 0, 0, 0, 0);
    const writer = new ByteWriter();
    serializeTCompactProtocol(writer, {
      field_1: 0, field_2: 16, field_3: 16,
      field_5: { field_1: 2, field_2: 0, field_3: 3, field_4: 3 },
    });
    const header = new Uint8Array(writer.getBuffer());
    const bytes = Uint8Array.from(Buffer.concat([header, runs])).buffer;
    expect(() => checkPages(bytes, {
      name: 'x', rows: 2, start: 4, end: 4 + bytes.byteLength, isOptional: true,
      codec: 'UNCOMPRESSED',
    }, 'rows.parquet', 'row group 1')).toThrow('the values of a page are not valid');
  });
});

describe('runs of Parquet', () => {
  const ones = (bytes: readonly number[], width: number, count: number): number =>
    checkRuns({ bytes: Uint8Array.from(bytes), at: 0 }, width, count);

  it('may be filled up by more than one group, as DuckDB does', () => {
    // Four groups of eight bits for three values, of which two are 1.
    expect(ones([9, 0b101, 0, 0, 0], 1, 3)).toBe(2);
    expect(ones([6, 1], 1, 3)).toBe(3);
  });

  it.each([
    ['longer than what is left', [8, 1], 1, 3], ['cut short', [9, 0b101], 1, 3],
    ['without an end', [0x80, 0x80], 1, 3], ['of no bits and 2^30 values', [0x80 | 1, 0x80, 0x80,
      0x80, 0x01], 0, 3], ['of 33 bits', [9], 33, 3],
  ] as const)('are refused: %s', (_, bytes, width, count) => {
    expect(() => ones(bytes, width, count)).toThrow(RangeError);
  });
});

describe('compressed files', () => {
  it('are read by their first bytes, whatever their name', async () => {
    const packed = zlib.gzipSync(csv);
    expect(await valuesOf(place('.csv.gz', packed))).toEqual(numbers);
    expect(await valuesOf(place('', packed))).toEqual(numbers);
    const lines = numbers.map((x) => JSON.stringify({ x })).join('\n');
    expect(await valuesOf(place('.ndjson.gz', zlib.gzipSync(lines)))).toEqual(numbers);
    expect(await valuesOf(place('.arrow.gz', zlib.gzipSync(arrowBytes(rows))))).toEqual(numbers);
    expect(await valuesOf('-', {}, [packed.subarray(0, 1), packed.subarray(1)])).toEqual(numbers);
    expect(await refusal(place('.parquet.gz', zlib.gzipSync(parquetBytes(rows)))))
      .toContain('Parquet is read from its end');
    const parts = Buffer.concat([zlib.gzipSync('x\n1\n'), zlib.gzipSync('2\n')]);
    expect(await valuesOf(place('.csv.gz', parts))).toEqual([1, 2]);
  });

  it('with Zstandard are read where Node can, else a message says what to do', async () => {
    // Made by the zstd program, from two rows.
    const packed = Buffer.from('KLUv/QRYMQAAeAoxCjIKzQax0Q==', 'base64');
    const { zstdCompressSync: compress, constants } = zlib as unknown as {
      readonly zstdCompressSync?: (text: string, options: object) => Buffer;
      readonly constants: { readonly ZSTD_c_checksumFlag: number };
    };
    if (compress === undefined) {
      expect(await refusal(place('.csv.zst', packed)))
        .toMatch(/need Node 22.15 or later: run it there, or unpack the file with "zstd -d"/);
      return;
    }
    expect(await valuesOf(place('.csv.zst', packed))).toEqual([1, 2]);
    const whole = compress(csv, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    expect(await valuesOf(place('.csv.zst', whole))).toEqual(numbers);
    expect(await refusal(place('.csv.zst', whole.subarray(0, 60)))).toContain('damaged');
    whole[whole.length - 20]! ^= 4;
    expect(await refusal(place('.csv.zst', whole))).toContain('damaged');
  });

  it('that unpack to more than 200 times their size are refused', { tags: ['long'] }, async () => {
    // Read at once, as a file is read ahead of what is unpacked.
    const member = zlib.gzipSync(Buffer.alloc(80 << 20, '0\n'));
    const bomb = Buffer.concat(Array.from({ length: 8 }, () => member));
    let unpacked = 0;
    const reading = async (): Promise<void> => {
      const bytes = Readable.from([bomb], { objectMode: false });
      for await (const { length } of unpack(bytes, '.gz', 'rows.csv.gz')) unpacked += length;
    };
    await expect(reading()).rejects.toThrow(
      'rows.csv.gz: it unpacks to more than 200 times its size: if you trust it, unpack it',
    );
    expect(unpacked).toBeLessThanOrEqual(64 << 20);
  });
});

describe('columns that have no one number or text for each row', () => {
  const arrow = (type: DataType, value: unknown): string =>
    place('.arrow', tableToIPC(tableFromColumns({
      x: columnFromArray([value], type), y: columnFromArray([1], float64()),
    }), { format: 'file' })!);

  it.each([
    ['lists, structures and maps', list(float64()), [1]],
    ['a date or time', dateDay(), new Date(0)],
    ['a date or time', timestamp(), 0],
    ['a decimal', decimal(10, 2), 1.5],
  ] as const)('are refused: %s', async (what, type, value) => {
    const path = arrow(type, value);
    const refused = await refusal(path);
    expect(refused).toMatch(new RegExp(`, column 1 \\("x"\\): ${what}.*--columns`));
    expect(refused.includes('--type x=time')).toBe(what === 'a date or time');
    expect(await valuesOf(path, { columns: ['y'] })).toEqual([1]);
  });

  it.each([
    ['a date or time', { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, [new Date(0)]],
    ['a date or time', { type: 'INT32', converted_type: 'DATE' }, [new Date(0)]],
    ['a decimal', { type: 'INT32', converted_type: 'DECIMAL', spread: 2, precision: 4 }, [1.5]],
    ['bytes that are not marked', { type: 'BYTE_ARRAY' }, [new Uint8Array(2)]],
    ['bytes that are not marked', { type: 'BYTE_ARRAY', converted_type: 'JSON' }, [{ a: 1 }]],
  ] as const)('are refused, in Parquet: %s', async (what, element, data) => {
    const path = place('.parquet', new Uint8Array(parquetWriteBuffer({
      columnData: [{ name: 'x', data: data as never }, { name: 'y', data: [1.5] }],
      schema: [
        { name: 'root', num_children: 2 }, { name: 'x', repetition_type: 'OPTIONAL', ...element },
        { name: 'y', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      ],
    })));
    expect(await refusal(path)).toMatch(new RegExp(`, column 1 \\("x"\\): ${what}.*--columns`));
    expect(await valuesOf(path, { columns: ['y'] })).toEqual([1.5]);
  });
});

describe('LZ4', () => {
  // Made by the lz4 program, from the texts below.
  const small = Buffer.from(
    'BCJNGGRApx4AAAA+YWJjAwAfeAEA/xnwAXRoZSBlbmQsIHRoZSBlbmQAAAAAI31PVg==', 'base64');
  const text = `${'abc'.repeat(7)}${'x'.repeat(300)}the end, the end`;

  it('gives the bytes that were compressed', () => {
    expect(Buffer.from(lz4Frame(small, text.length)).toString()).toBe(text);
  });

  it('reaches back into earlier blocks of a frame', () => {
    const linked = Buffer.from(
      'BCJNGERAXhwBAAD/AjAxMjM0NTY3ODlhYmNkZWYhEQD/////////////////////////////////////////'
      + '////////////////////////////////////////////////////////////////////////////////////'
      + '////////////////////////////////////////////////////////////////////////////////////'
      + '////////////////////////////////////////////////////////////////////////////////////'
      + '////////////////////////////////////////////////11BkZWYhMCAAAAAP////////////////////'
      + '////////////5lBjZGVmIQAAAADa8WXw', 'base64');
    const expected = Buffer.from('0123456789abcdef!'.repeat(4_200));
    expect(Buffer.from(lz4Frame(linked, expected.length)).equals(expected)).toBe(true);
  });

  it('refuses other lengths, and blocks that reach too far', () => {
    expect(() => lz4Frame(small, text.length - 1)).toThrow(RangeError);
    expect(() => lz4Frame(small, text.length + 1)).toThrow(RangeError);
    expect(() => lz4Frame(small.subarray(0, 30), text.length)).toThrow(RangeError);
    // One literal, then a match two bytes back.
    expect(() => lz4Block(Uint8Array.of(0x10, 65, 2, 0, 0x10, 65), 6)).toThrow(RangeError);
    expect([...lz4Block(Uint8Array.of(0x10, 65, 1, 0, 0x10, 66), 6)])
      .toEqual([65, 65, 65, 65, 65, 66]);
  });
});
