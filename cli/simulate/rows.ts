import { datasetSource, syntheticSource, type RowSource } from '../../simulation/index.js';
import { InvalidInputError, InvalidParameterError } from '../../src/base/errors.js';
import { seededRandom } from '../../src/random/work.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { numbersOf, type Cell } from '../../client/rows.js';
import { flightsColumns, loadFlights } from '../data/flights.js';
import { UsageError } from '../base/errors.js';
import { readRows } from '../input/open.js';
import type { TypedColumns } from '../input/study-columns.js';
import { typedRow } from '../input/typed-columns.js';
import type { Io } from '../base/io.js';

export interface RowsRequest {
  /** Undefined: flights or generated rows. */
  readonly file: RowsFile | undefined;
  /** Rows per contribution; undefined: 8, or fewer if the study accepts fewer. */
  readonly rows: number | undefined;
  readonly contributors: number;
  readonly seed: Uint8Array;
}

/** The rows of one study's contributors, and their origin. */
export interface StudyRows {
  readonly source: RowSource;
  readonly rows: number;
  /** The texts that the numbers of text columns are indexes into; absent: made-up texts. */
  readonly texts?: readonly string[];
  /** The origin of the rows, in words. */
  readonly origin: string;
}

interface Dataset {
  /** Row-major. */
  readonly values: Float64Array;
  readonly columns: number;
  readonly texts?: readonly string[];
}

/** The rows of a file. */
export interface RowsFile extends Dataset {
  readonly path: string;
  /** The rows as people enter them. Only if the columns of the file have types. */
  readonly typed?: readonly Readonly<Record<string, Cell>>[];
  /** Names of its columns, or their indexes where it has no names. */
  readonly names: readonly string[];
}

const rowsUsual = 8;

/**
 * The rows of every study, in the order of `documents`. They come from a file that has the
 * study's columns, else from the flights if they have all columns by name, else they are generated.
 * @throws UsageError for more rows than a study takes; InvalidInputError for a file that does not
 *   fit a study.
 */
export function rowsOfStudies(
  documents: readonly StudyDocument[], request: RowsRequest,
): readonly StudyRows[] {
  const { file } = request;
  return documents.map((document) => {
    const rows = rowsFor(document, request.rows);
    const { contributors } = request;
    // The order of the data must not follow the order of the keys.
    const seed = new Uint8Array(32);
    seededRandom(request.seed).fork('dataset').fill(seed);
    const deal = (data: Dataset): RowSource => datasetSource({ ...data, rows, contributors, seed });
    if (file !== undefined) {
      const data = columnsOf(file, document);
      const { texts } = data;
      return {
        source: deal(data), rows, origin: `rows of ${nameOf(file.path)}`,
        ...(texts !== undefined && { texts }),
      };
    }
    const flights = flightsFor(document);
    if (flights !== null) return { source: deal(flights), rows, origin: 'real flights' };
    return {
      source: syntheticSource(document, rows, seed), rows,
      origin: `made-up rows that fit ${document.columns.join(', ')} (--input deals out real ones)`,
    };
  });
}

function rowsFor(
  { study, contribution: { rowsMax } }: StudyDocument, asked: number | undefined,
): number {
  if (asked === undefined || asked <= rowsMax) return asked ?? Math.min(rowsUsual, rowsMax);
  throw new UsageError(`--rows is ${asked}, but ${study} takes at most ${rowsMax} rows of a `
    + `contributor in an epoch: give at most ${rowsMax}`);
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/**
 * The study's columns of a file: by name if it has them all, else by position.
 * @throws InvalidInputError for a file that has neither the names nor as many columns, or has a
 *   value that its column of the study cannot hold.
 */
function columnsOf(file: RowsFile, document: StudyDocument): Dataset {
  const { study, columns: wanted } = document;
  const { columns, names, path, values, typed } = file;
  const places = wanted.map((name) => names.indexOf(name));
  const isNamed = places.every((place) => place >= 0);
  if (typed !== undefined && (isNamed || columns === wanted.length)) {
    return typedColumns(path, typed, isNamed ? wanted : names, document);
  }
  if (places.every((place) => place >= 0)) {
    const rows = values.length / columns;
    const taken = new Float64Array(rows * wanted.length);
    for (let i = 0; i < rows; i++) {
      places.forEach((place, j) => {
        taken[i * wanted.length + j] = values[i * columns + place]!;
      });
    }
    return { values: taken, columns: wanted.length };
  }
  if (columns === wanted.length) return file;
  throw new InvalidInputError(
    `${nameOf(path)} has ${columns} column${columns === 1 ? '' : 's'} (${names.join(', ')}), and `
    + `${study} has ${wanted.length} (${wanted.join(', ')}): `
    + 'give a file that has the columns of the study by name, or these alone', { path },
  );
}

/** @param own - the names of the file for the columns of the study, in the study's order. */
function typedColumns(
  path: string, rows: NonNullable<RowsFile['typed']>, own: readonly string[],
  document: StudyDocument,
): Dataset {
  try {
    const cells = rows.map((row) => own.map((name) => row[name]));
    return { ...numbersOf(cells, document), columns: own.length };
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new InvalidInputError(
      `${nameOf(path)}, rows counted from 0: ${error.message}`, { ...error.details, path },
    );
  }
}

/** Null unless every column of the study is the name of a flights column. */
function flightsFor({ columns: names }: StudyDocument): Dataset | null {
  if (!names.every((name) => Object.hasOwn(flightsColumns, name))) return null;
  const { count, columns } = loadFlights();
  const found = names.map((name) => columns[flightsColumns[name]!]);
  const values = new Float64Array(count * names.length);
  for (let i = 0;
      i < count; i++) found.forEach((column, j) => { values[i * names.length + j] = column[i]!; });
  return { values, columns: names.length };
}

/**
 * @param columns - which to read, and their types.
 * @throws InvalidInputError for a file that cannot be read, or holds no rows.
 */
export async function readRowsFile(
  path: string, io: Io, columns: TypedColumns = {},
): Promise<RowsFile> {
  const parts: Float64Array[] = [];
  const typed: Readonly<Record<string, Cell>>[] = [];
  const { types } = columns;
  let names: readonly string[] = [];
  const request = { path, missing: 'refuse', flags: [], ...columns } as const;
  for await (const batch of readRows(request, io.stdin)) {
    names = batch.columns;
    if (batch.count > 0) parts.push(batch.values.slice(0, batch.count * names.length));
    if (types === undefined) continue;
    for (let row = 0; row < batch.count; row++) typed.push(typedRow(batch, row, types));
  }
  if (parts.length === 0) {
    throw new InvalidInputError(`${path} holds no rows: give one or more per person`, { path });
  }
  const values = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  if (values.length === 0) {
    throw new InvalidInputError(`${nameOf(path)} holds no rows: give at least one`, { path });
  }
  let offset = 0;
  for (const part of parts) {
    values.set(part, offset);
    offset += part.length;
  }
  return { values, columns: names.length, names, path, ...(types !== undefined && { typed }) };
}
