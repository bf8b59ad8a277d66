import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  bool, columnFromArray, dictionary, float32, float64, int32, int64, tableFromColumns, tableToIPC,
  utf8, type DataType,
} from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { TypedCell } from '../../cli/input/cells.js';

/** A column of a file that a test makes. */
export interface TestColumn {
  readonly name: string;
  readonly type: 'double' | 'float' | 'int32' | 'int64' | 'boolean' | 'text' | 'dictionary';
  readonly values: readonly TypedCell[];
}

const parquetTypes = {
  double: 'DOUBLE', float: 'FLOAT', int32: 'INT32', int64: 'INT64', boolean: 'BOOLEAN',
  text: 'STRING', dictionary: 'STRING',
} as const;

export interface ParquetTestOptions {
  readonly codec?: 'UNCOMPRESSED' | 'SNAPPY' | 'GZIP' | 'BROTLI';
  readonly rowGroupSize?: number;
  readonly pageSize?: number;
}

/** The bytes of a Parquet file. */
export function parquetBytes(
  columns: readonly TestColumn[], options: ParquetTestOptions = {},
): Uint8Array {
  return new Uint8Array(parquetWriteBuffer({
    columnData: columns.map(({ name, type, values }) => ({
      name, type: parquetTypes[type], nullable: true,
      data: values.map((value) => (type === 'int64' && value !== null ? BigInt(value) : value)),
    })),
    compressors: { GZIP: (input) => gzipSync(input), BROTLI: (input) => brotliCompressSync(input) },
    ...options,
  }));
}

const arrowTypes: Readonly<Record<TestColumn['type'], () => DataType>> = {
  double: float64, float: float32, int32, int64, boolean: bool, text: utf8,
  dictionary: () => dictionary(utf8()),
};

/** The bytes of an Arrow file or stream. */
export function arrowBytes(
  columns: readonly TestColumn[],
  options: { readonly format?: 'file' | 'stream'; readonly batchRows?: number } = {},
): Uint8Array {
  const { format = 'file', batchRows } = options;
  return tableToIPC(tableFromColumns(columns.map(({ name, type, values }) => [
    name,
    columnFromArray(
      values as unknown[], arrowTypes[type](),
      batchRows === undefined ? {} : { maxBatchRows: batchRows },
    ),
  ] as const) as never), { format })!;
}

/** The CSV of the same rows. */
export function csvText(columns: readonly TestColumn[]): string {
  const cell = (value: TypedCell): string => {
    const text = value === null ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = columns[0]!.values.map((_, i) =>
    columns.map(({ values }) => cell(values[i]!)).join(','));
  return `${[columns.map(({ name }) => name).join(','), ...rows].join('\n')}\n`;
}
