import { writeFileSync } from 'node:fs';
import { csvText } from '../../src/base/shown-text.js';
import { asInputError, UsageError } from '../base/errors.js';
import { releaseColumns, type ExportCell, type ReleaseTable } from './release-table.js';

const writers = {
  '.csv': (table: ReleaseTable) => Promise.resolve(csvBytes(table)),
  // Loaded when needed, so that other commands start fast.
  '.parquet': async (table: ReleaseTable) => (await import('./parquet.js')).parquetBytes(table),
  '.arrow': async (table: ReleaseTable) => (await import('./arrow.js')).arrowBytes(table),
} as const;

type Ending = keyof typeof writers;
const endings = Object.keys(writers) as Ending[];

/**
 * The format of an export, by the ending of its file.
 * @throws UsageError for any other ending.
 */
export function exportEnding(path: string): Ending {
  const ending = endings.find((each) => path.toLowerCase().endsWith(each));
  if (ending !== undefined) return ending;
  throw new UsageError(`--export ${path}: the ending says the format: use ${endings.join(', ')}`);
}

/**
 * Writes a table of releases to a new file.
 * @throws InvalidInputError if the file exists already or cannot be written.
 */
export async function writeExport(path: string, table: ReleaseTable): Promise<void> {
  const bytes = await writers[exportEnding(path)](table);
  try {
    writeFileSync(path, bytes, { flag: 'wx' });
  } catch (error) {
    throw asInputError(error, path);
  }
}

function csvBytes(table: ReleaseTable): Buffer {
  const cell = (value: ExportCell): string =>
    (value === null ? '' : typeof value === 'number' ? String(value) : csvText(value));
  const lines = [releaseColumns.map(({ name }) => name).join(',')];
  for (let row = 0; row < table[0]!.length; row++) {
    lines.push(table.map((column) => cell(column[row]!)).join(','));
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}
