import { cellFault, cellOf, type ColumnType } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { valueMaxText } from '../../src/base/facts-limits.js';
import { textFault, textFaultWords, textForm } from '../../src/base/text-form.js';
import type { CsvForm, FormNumbers } from './csv-form.js';
import { parseNumber } from './decimals.js';
import { hasTime, type DateForm, type TimeUnit } from './times.js';

export type InputFormat = 'csv' | 'ndjson' | 'npy' | 'parquet' | 'arrow' | 'sqlite' | 'duckdb';

/** Flags of a command that a message about its input may suggest. */
export type InputFlag = 'columns' | 'missing' | 'csv' | 'type' | 'contributor';

/** The part of a file to read. Columns are names, or indexes counted from 0. */
export interface RowOptions {
  /** Default: all columns except the contributor's and the group's. Empty: rows without cells. */
  readonly columns?: readonly string[];
  readonly contributor?: string;
  readonly group?: string;
  /**
   * Which empty cells mean that the row has no value there; for others the file is refused. `null`:
   * all. `cells`: the nulls of Parquet and Arrow. `refuse`: none. In an optional column all do.
   */
  readonly missing: 'refuse' | 'cells' | 'null';
  /** Yes: the first line of a CSV file holds names. Default: it is judged by its contents. */
  readonly header?: 'yes' | 'no';
  /** The parts of a CSV file's form that are known. The others are found from its first lines. */
  readonly form?: Partial<CsvForm>;
  /** The encoding of a CSV file. Default: UTF-8, or UTF-16 if it begins with the mark of that. */
  readonly encoding?: 'latin1';
  /** Words that say the same as an empty cell, in columns of numbers of a CSV file. */
  readonly empty?: readonly string[];
  /** Called with a line about a decision on how the input was read. It may depend on the rows. */
  readonly onNote?: (text: string) => void;
  /** For messages: the path, or "standard input". */
  readonly source: string;
  /**
   * Types by column. Others are numbers. A boolean becomes 0 or 1, a category its place, a text its
   * place in the texts of the batch.
   */
  readonly types?: ReadonlyMap<string, ColumnType>;
  /**
   * The columns whose cells are dates and times, and what becomes of a cell before its type is
   * looked at: milliseconds since 1970, or the name of the bin that holds it. Of the group, too.
   */
  readonly times?: ReadonlyMap<string, TimeUnit>;
  /** How dates are written. Default: as each can be read in one way only. */
  readonly dates?: DateForm;
  /** The table of a database. Default: the only one. */
  readonly table?: string;
  /** The time zone of times without an offset, and of bins. */
  readonly zone?: string;
  /** The flags that the command has. Messages suggest no others. Default: all. */
  readonly flags?: readonly InputFlag[];
}

/** A file of rows, and the part of it to read. */
export interface InputRequest extends Omit<RowOptions, 'source'> {
  /** A path, `-` for standard input, `flights`, or `sql:` and a query. */
  readonly path: string;
  /** Called with the bytes read so far, and with the total if it is known. */
  readonly onProgress?: (bytes: number, total: number | undefined) => void;
}

/** Consecutive rows of a file. Arrays hold `count` rows. The receiver owns the values. */
export interface RowBatch {
  readonly columns: readonly string[];
  readonly count: number;
  /** Row-major, count * columns.length: finite, or NaN where a cell is empty. */
  readonly values: Float64Array;
  /** For each column its texts; null for other types. Undefined if no column is a text. */
  readonly texts?: readonly (readonly string[] | null)[];
  /**
   * Lines from 1 (CSV, NDJSON), or rows from 1 (Parquet, Arrow); null without contributors, whom
   * alone messages about two rows concern.
   */
  readonly positions: Float64Array | null;
  /** One per row; null if no such column was requested. */
  readonly contributors: readonly string[] | null;
  readonly groups: readonly string[] | null;
  /** How many rows each group has, in place of `groups`, where nothing else is asked of a row. */
  readonly groupCounts?: ReadonlyMap<string, number>;
}

const rowsPerBatch = 4096;

/** The type of a column that has none. */
export const plainNumber: ColumnType = { type: 'number' };

/** True for a column whose cells are numbers as they stand, also if it has no type. */
export const isOfNumbers = ({ type }: ColumnType = plainNumber): boolean =>
  type === 'number' || type === 'integer';

/** Collects rows into batches, so that a million rows do not need an object each. */
export class BatchBuilder {
  private values: Float64Array;
  private positions: Float64Array | null;
  private contributors: string[] = [];
  private groups: string[] = [];
  private groupCounts = new Map<string, number>();
  private readonly countsGroups: boolean;
  private count = 0;
  private hasCut = false;
  private texts: readonly (BatchTexts | null)[];
  private readonly full: RowBatch[] = [];

  constructor(
    private readonly columns: readonly string[],
    private readonly keeps: {
      readonly contributors: boolean;
      readonly groups: boolean;
      readonly types?: RowOptions['types'] | undefined;
    },
  ) {
    this.countsGroups = keeps.groups && !keeps.contributors && columns.length === 0;
    this.values = new Float64Array(rowsPerBatch * columns.length);
    this.positions = keeps.contributors ? new Float64Array(rowsPerBatch) : null;
    this.texts = this.noTexts();
  }

  /** The place of the next row: columns.length numbers from `offset`. */
  get target(): Float64Array {
    return this.values;
  }

  get offset(): number {
    return this.count * this.columns.length;
  }

  /** Rows that still fit into the present batch: at least one. */
  get room(): number {
    return rowsPerBatch - this.count;
  }

  /**
   * The number for the cell of a text column in `target`. Undefined: the column cannot hold the
   * cell.
   */
  textPlace(column: number, cell: string): number | undefined {
    return this.texts[column]!.placeOf(cell);
  }

  /** Ends the row that was written at `target`. */
  endRow(position: number, contributor: string, group: string): void {
    if (this.countsGroups) return this.endGroup(group, 1);
    if (this.positions !== null) this.positions[this.count] = position;
    if (this.keeps.contributors) this.contributors.push(contributor);
    if (this.keeps.groups) this.groups.push(group);
    this.count += 1;
    if (this.count === rowsPerBatch) this.cut();
  }

  /** Ends rows of one group, any number of them, of which nothing else is asked. */
  endGroup(group: string, count: number): void {
    this.groupCounts.set(group, (this.groupCounts.get(group) ?? 0) + count);
    this.count += count;
    if (this.count >= rowsPerBatch) this.cut();
  }

  /** Ends rows that were written at `target`, at most `room`, which have neither ids nor groups. */
  endRows(count: number): void {
    this.count += count;
    if (this.count === rowsPerBatch) this.cut();
  }

  /**
   * Returns the full batches; with `all`, also the rest. A file with columns but no rows gives one
   * empty batch.
   */
  take(all: boolean): RowBatch[] {
    if (all && (this.count > 0 || !this.hasCut)) this.cut();
    return this.full.splice(0);
  }

  private cut(): void {
    this.hasCut = true;
    this.full.push({
      columns: this.columns,
      count: this.count,
      values: this.values.subarray(0, this.count * this.columns.length),
      positions: this.positions?.subarray(0, this.count) ?? null,
      contributors: this.keeps.contributors ? this.contributors : null,
      groups: this.keeps.groups && !this.countsGroups ? this.groups : null,
      ...(this.countsGroups && { groupCounts: this.groupCounts }),
      ...(this.texts.some((texts) => texts !== null)
        && { texts: this.texts.map((texts) => texts?.list ?? null) }),
    });
    this.texts = this.noTexts();
    this.values = new Float64Array(rowsPerBatch * this.columns.length);
    if (this.keeps.contributors) this.positions = new Float64Array(rowsPerBatch);
    this.contributors = [];
    this.groups = [];
    this.groupCounts = new Map();
    this.count = 0;
  }

  private noTexts(): readonly (BatchTexts | null)[] {
    return this.columns.map((name) => {
      const type = this.keeps.types?.get(name);
      return type?.type === 'text' ? new BatchTexts(type.bytes) : null;
    });
  }
}

/** The different texts of one column of a batch. */
class BatchTexts {
  readonly list: string[] = [];
  /** By the text, and by every cell that stands for it. */
  private readonly places = new Map<string, number>();

  constructor(private readonly bytesMax: number) {}

  placeOf(cell: string): number | undefined {
    const known = this.places.get(cell);
    if (known !== undefined) return known;
    const text = textForm(cell);
    if (textFault(text, this.bytesMax) !== null) return undefined;
    let place = this.places.get(text);
    if (place === undefined) {
      place = this.list.push(text) - 1;
      this.places.set(text, place);
    }
    this.places.set(cell, place);
    return place;
  }
}

/** A position in a file, by its line (CSV, NDJSON) or its row (Parquet, Arrow), from 1. */
export type Place = ({ readonly line: number } | { readonly row: number }) & {
  /** From 1, counted in the whole file; undefined if the position has no column. */
  readonly column?: number;
  readonly name?: string;
};

/** An error at a position of a file. The message never holds the cell. */
export function refusedAt(source: string, place: Place, what: string): InvalidInputError {
  const at = 'line' in place ? `line ${place.line}` : `row ${place.row}`;
  const column = place.column === undefined ? '' : `, column ${place.column}`;
  const name = place.name === undefined ? '' : ` ("${place.name}")`;
  return new InvalidInputError(
    `${source}, ${at}${column}${name}: ${what}`, { source, ...place },
  );
}

/** `advice` if the command has the flag, else an empty text. */
export function adviceOn({ flags }: RowOptions, flag: InputFlag, advice: string): string {
  return flags === undefined || flags.includes(flag) ? advice : '';
}

export function missingRemedy(options: RowOptions): string {
  const nulls = ', or pass --csv missing=null, and the row counts where this column is not used';
  return `the cell is empty: fill it in, or remove the row${adviceOn(options, 'missing', nulls)}`;
}

/**
 * The number of a cell. Undefined: its column, not of texts, cannot hold it.
 * @param numbers - reads the numbers of its file. Default: with a point.
 */
export function numberInText(
  cell: string, type: ColumnType | undefined, numbers?: FormNumbers,
): number | undefined {
  if (type?.type === 'category') {
    return cell.trim() === '' ? undefined : cellOf(type, cell) ?? undefined;
  }
  if (type?.type === 'boolean') {
    const place = ['false', 'true', '0', '1'].indexOf(cell.trim());
    return place < 0 ? undefined : place % 2;
  }
  const value = numbers === undefined ? parseNumber(cell) : numbers.parse(cell);
  return value !== undefined && cellFault(type ?? plainNumber, value) === null ? value : undefined;
}

/** The error for a file in which nothing can be read. */
export function noRows(source: string): InvalidInputError {
  return new InvalidInputError(`${source}: there are no rows: add at least one`);
}

/**
 * The remedy for a cell that its column cannot hold. The message never contains the cell.
 * @param name - of the column.
 */
export function badCellRemedy(
  options: RowOptions, type: ColumnType | undefined, cell: unknown, name: string,
): string {
  switch (type?.type) {
    case 'text': return badTextRemedy(cell, type.bytes);
    case 'boolean': return 'not true, false, 1 or 0: correct the cell'
      + adviceOn(options, 'type', ', or give other words as names with --type NAME=category:...')
        .replace('NAME', name);
    case 'integer':
      return 'not a whole number of at most 2^53 - 1 in size: correct the cell';
    case 'category': return 'none of the names of this category: correct the cell, or give the '
      + 'category other: true';
    default: return badNumberRemedy(options, cell)
      + (typeof cell === 'string' ? typeAdvice(options, name, cell) : '');
  }
}

/** For a column of words or times: the way to declare it as one. */
function typeAdvice(options: RowOptions, name: string, cell: string): string {
  const isTime = hasTime(cell);
  const flag = `${name}=${isTime ? 'time' : 'category:...'}`;
  const quoted = /^[\p{L}\d_.-]+=/u.test(flag) ? flag : `'${flag}'`;
  const what = isTime ? 'or read dates and times' : 'or give its names';
  return adviceOn(options, 'type', `, ${what} with --type ${quoted}`);
}

function badTextRemedy(cell: unknown, bytesMax: number): string {
  if (typeof cell !== 'string') return 'not a text: write it in double quotes';
  const fault = textFault(textForm(cell), bytesMax)!;
  const limit = fault === 'too-long' ? ` (${bytesMax})` : '';
  return `the text ${textFaultWords[fault]}${limit}: correct the cell`;
}

/** @param cell - the refused cell. Where it is a word, the remedy says so. */
export function badNumberRemedy(options: RowOptions, cell: unknown = ''): string {
  const isWord = typeof cell === 'string' && /\p{L}/u.test(cell)
    && !/\d|^[-+]?(?:nan|inf)/i.test(cell);
  const what = isWord ? 'not a number'
    : `not a finite decimal number of at most ${valueMaxText} in size`;
  return `${what}: correct the cell`
    + adviceOn(options, 'columns', ', or leave the column out with --columns');
}
