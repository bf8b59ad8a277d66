import { parquetWriteBuffer } from 'hyparquet-writer';
import { releaseColumns, type ReleaseTable } from './release-table.js';

const types = { integer: 'INT64', number: 'DOUBLE', text: 'STRING' } as const;

/** A table of releases as a Parquet file. */
export function parquetBytes(table: ReleaseTable): Uint8Array {
  return new Uint8Array(parquetWriteBuffer({
    columnData: releaseColumns.map(({ name, type }, i) => ({
      name, type: types[type], nullable: true,
      data: type === 'integer' ? table[i]!.map((cell) => BigInt(cell!)) : [...table[i]!],
    })),
    createdBy: 'keelson',
  }));
}
