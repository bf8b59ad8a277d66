import { cellFault, cellOf, type ColumnType } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';

export const inputFormats = ['csv', 'ndjson', 'npy'] as const;
export type InputFormat = (typeof inputFormats)[number];

/** Flags of a command that a message about its input may suggest. */
export type InputFlag = 'columns' | 'missing';

/** What to take from a file. Columns are names, or indexes counted from 0. */
export interface RowOptions {
  /** Default: all columns except the contributor's and the group's. */
  readonly columns?: readonly string[];
  readonly contributor?: string;
  readonly group?: string;
  /** With an empty cell, the file is refused, or its whole row becomes the NULL row. */
  readonly missing: 'refuse' | 'null';
  /** For messages: the path, or "standard input". */
  readonly source: string;
  /** Types by column. Others are numbers. A boolean becomes 0 or 1, a category its place. */
  readonly types?: ReadonlyMap<string, ColumnType>;
  /** The flags that the command has. Messages suggest no others. Default: all. */
  readonly flags?: readonly InputFlag[];
}

/** Consecutive rows of a file. Arrays hold `count` rows. The receiver owns the values. */
export interface RowBatch {
  readonly columns: readonly string[];
  readonly count: number;
  /** Row-major, count * columns.length, finite where the row is not missing. */
  readonly values: Float64Array;
  /** 1 if a cell of the row was empty. */
  readonly missing: Uint8Array;
  /** Lines from 1 (CSV, NDJSON) or rows from 0 (npy). */
  readonly positions: Float64Array;
  /** One per row; null if no such column was requested. */
  readonly contributors: readonly string[] | null;
  readonly groups: readonly string[] | null;
}

const rowsPerBatch = 4096;

/** Collects rows into batches, so that a million rows do not need an object each. */
export class BatchBuilder {
  private values: Float64Array;
  private missing = new Uint8Array(rowsPerBatch);
  private positions = new Float64Array(rowsPerBatch);
  private contributors: string[] = [];
  private groups: string[] = [];
  private count = 0;
  private hasCut = false;
  private readonly full: RowBatch[] = [];

  constructor(
    private readonly columns: readonly string[],
    private readonly keeps: { readonly contributors: boolean; readonly groups: boolean },
  ) {
    this.values = new Float64Array(rowsPerBatch * columns.length);
  }

  /** Where to write the next row: columns.length numbers from `offset`. */
  get target(): Float64Array {
    return this.values;
  }

  get offset(): number {
    return this.count * this.columns.length;
  }

  /** Ends the row that was written at `target`. */
  endRow(position: number, isMissing: boolean, contributor: string, group: string): void {
    this.missing[this.count] = isMissing ? 1 : 0;
    this.positions[this.count] = position;
    if (this.keeps.contributors) this.contributors.push(contributor);
    if (this.keeps.groups) this.groups.push(group);
    this.count += 1;
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
      missing: this.missing.subarray(0, this.count),
      positions: this.positions.subarray(0, this.count),
      contributors: this.keeps.contributors ? this.contributors : null,
      groups: this.keeps.groups ? this.groups : null,
    });
    this.values = new Float64Array(rowsPerBatch * this.columns.length);
    this.missing = new Uint8Array(rowsPerBatch);
    this.positions = new Float64Array(rowsPerBatch);
    this.contributors = [];
    this.groups = [];
    this.count = 0;
  }
}

/** A position in a CSV or NDJSON file. */
export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, counted in the whole file; undefined if the position has no column. */
  readonly column?: number;
  readonly name?: string;
}

/** An error at a position of a text file. The message never holds the cell. */
export function refusedAt(source: string, place: Place, what: string): InvalidInputError {
  const column = place.column === undefined ? '' : `, column ${place.column}`;
  const name = place.name === undefined ? '' : ` ("${place.name}")`;
  return new InvalidInputError(
    `${source}, line ${place.line}${column}${name}: ${what}`, { source, ...place },
  );
}

/** `advice` if the command has the flag, else an empty text. */
export function adviceOn({ flags }: RowOptions, flag: InputFlag, advice: string): string {
  return flags === undefined || flags.includes(flag) ? advice : '';
}

export function missingRemedy(options: RowOptions): string {
  const nulls = ', or pass --missing null to count the row without its values';
  return `the cell is empty: fill it in, or remove the row${adviceOn(options, 'missing', nulls)}`;
}

/** The number that a cell of text stands for. Undefined: its column cannot hold this text. */
export function numberInText(
  cell: string, type: ColumnType | undefined, parse: (cell: string) => number | undefined,
): number | undefined {
  if (type?.type === 'category') {
    return cell.trim() === '' ? undefined : cellOf(type, cell) ?? undefined;
  }
  if (type?.type === 'boolean') {
    const place = ['false', 'true', '0', '1'].indexOf(cell.trim());
    return place < 0 ? undefined : place % 2;
  }
  const value = parse(cell);
  return value === undefined || type === undefined || cellFault(type, value) === null
    ? value : undefined;
}

/** What to do about a cell that its column cannot hold. The message never holds the cell. */
export function badCellRemedy(options: RowOptions, type: ColumnType | undefined): string {
  switch (type?.type) {
    case 'boolean': return 'not true, false, 1 or 0: correct the cell';
    case 'integer': return 'not a whole number: correct the cell';
    case 'category': return 'none of the names of this category: correct the cell, or give the '
      + 'category other: true';
    default: return badNumberRemedy(options);
  }
}

export function badNumberRemedy(options: RowOptions): string {
  const others = ', or leave the column out with --columns';
  return `not a finite decimal number: correct the cell${adviceOn(options, 'columns', others)}`;
}
