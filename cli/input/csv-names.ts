import { readSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { InvalidInputError } from '../../src/base/errors.js';
import { withFile } from '../base/text-files.js';
import { separatorOfNames } from './csv-find-form.js';
import { parseNumber } from './decimals.js';

/** Longer than any line of names. */
const bytesMax = 64 * 1024;

/**
 * The column names in the first line of a CSV file. It reads nothing after that line. Errors show
 * no cell, because a cell may be private.
 * @throws InvalidInputError if the file cannot be read, or its first line holds anything but names.
 */
export function readCsvNames(path: string): readonly string[] {
  const line = firstLine(path);
  let record: readonly string[] | undefined;
  try {
    // TextDecoder has removed a byte order mark.
    [record] = parse(line, { relax_column_count: true, delimiter: separatorOfNames(line) });
  } catch {
    throw refused(path, 'is not CSV');
  }
  const names = (record ?? []).map((cell) => cell.trim());
  if (names.length === 0) throw refused(path, 'is empty');
  const wrong = names.findIndex((name) => name === '' || parseNumber(name) !== undefined);
  if (wrong >= 0) throw refused(path, `has no name in column ${wrong + 1}`);
  return names;
}

function refused(path: string, what: string): InvalidInputError {
  const remedy = 'put the names of the columns there, or leave out --csv and give --columns';
  return new InvalidInputError(`${path}: the first line ${what}; ${remedy}`, { path });
}

/** A name has no line break, so the line ends at the first one, even inside quotes. */
function firstLine(path: string): string {
  const bytes = withFile(path, (descriptor, size) => {
    const first = new Uint8Array(Math.min(size, bytesMax + 1));
    return first.subarray(0, readSync(descriptor, first));
  });
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  if (end < 0 && bytes.length > bytesMax) throw refused(path, `is longer than ${bytesMax} bytes`);
  const line = end < 0 ? bytes : bytes.subarray(0, end);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    throw refused(path, 'is not UTF-8 text');
  }
}
