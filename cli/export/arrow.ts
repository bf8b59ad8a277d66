import {
  columnFromArray, float64, int64, tableFromColumns, tableToIPC, utf8,
} from '@uwdata/flechette';
import { releaseColumns, type ReleaseTable } from './release-table.js';

const types = { integer: int64, number: float64, text: utf8 } as const;

/** A table of releases as a file of Arrow. */
export function arrowBytes(table: ReleaseTable): Uint8Array {
  const columns = releaseColumns.map(({ name, type }, i) =>
    [name, columnFromArray(table[i] as unknown[], types[type]())] as const);
  return tableToIPC(tableFromColumns(columns as never), { format: 'file' })!;
}
