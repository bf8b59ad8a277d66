import { cellFault, type ColumnType } from '../../src/base/columns.js';
import { factsLimits } from '../../src/base/facts-limits.js';
import { textForm } from '../../src/base/text-form.js';
import { selectColumns, type Selection } from './columns.js';
import { floatIdFault, isFloatId, isOfNames } from './ids.js';
import {
  BatchBuilder, badCellRemedy, isOfNumbers, missingRemedy, numberInText, plainNumber, refusedAt,
  type Place, type RowBatch, type RowOptions,
} from './rows.js';
import { TimeCells } from './time-cells.js';

/** A cell of a file whose columns have types of their own. Null: it is empty. */
export type TypedCell = string | number | bigint | boolean | null;

/** One column of some consecutive rows. */
export type CellColumn = ArrayLike<TypedCell> & {
  /**
   * Where no cell is empty: its texts, of which a cell is the one at its place. A column that
   * `CellRows.isCounted` may have these and its length alone.
   */
  readonly coded?: { readonly texts: readonly string[]; readonly places: Float64Array };
};

/** Texts that are remembered. */
const formsMax = 4096;

/**
 * Makes batches from columns of cells. A cell means what its text would mean in a CSV file, so both
 * files of the same rows give the same batches.
 */
export class CellRows {
  readonly selection: Selection;
  private readonly builder: BatchBuilder;
  private readonly types: readonly (ColumnType | undefined)[];
  private row = 0;
  private readonly forms = new Map<string, string>();
  private readonly times: TimeCells;

  /**
   * @param names - of all columns of the file, in its order.
   * @param floatBytes - of the floats in the column at an index; undefined if it has none.
   */
  constructor(
    private readonly options: RowOptions, names: readonly string[],
    private readonly floatBytes: (column: number) => number | undefined,
  ) {
    this.selection = selectColumns(options, names.length, names.map((name) => name.trim()));
    this.types = this.selection.names.map((name) => options.types?.get(name));
    this.times = new TimeCells(options);
    this.builder = new BatchBuilder(this.selection.names, {
      contributors: this.selection.contributor >= 0,
      groups: this.selection.group >= 0,
      types: options.types,
    });
  }

  /** The columns of the file that are read, each once. */
  get used(): readonly number[] {
    const { data, contributor, group } = this.selection;
    return [...new Set([...data, contributor, group])].filter((column) => column >= 0);
  }

  /** True if nothing but the number in each cell of a column is asked. */
  isNumber(column: number): boolean {
    const { data, contributor, group } = this.selection;
    if (column === contributor || column === group) return false;
    const place = data.indexOf(column);
    return isOfNumbers(this.types[place]) && !this.isTime(place);
  }

  /** True for a column of which only the number of rows with each text is asked. */
  isCounted(column: number): boolean {
    const { data, contributor, group } = this.selection;
    return column === group && column !== contributor && data.length === 0 && contributor < 0
      && this.options.times?.has(this.options.group!) !== true;
  }

  private isTime(place: number): boolean {
    return this.options.times?.has(this.selection.names[place]!) === true;
  }

  /**
   * Adds rows.
   * @param columns - by the column's index in the file; each has at least `count` cells.
   */
  add(columns: ReadonlyMap<number, CellColumn>, count: number): void {
    const { data, contributor, group } = this.selection;
    const cells = data.map((column) => columns.get(column)!);
    const contributors = columns.get(contributor);
    const groups = columns.get(group);
    if (groups?.coded !== undefined && this.isCounted(group)) {
      this.countGroups(groups.coded, count);
      return;
    }
    for (let from = 0; from < count;) {
      const to = Math.min(count, from + this.builder.room);
      const isFilled = this.fillColumns(cells, from, to);
      if (isFilled && contributors === undefined && groups === undefined) {
        this.builder.endRows(to - from);
        this.row += to - from;
        from = to;
        continue;
      }
      for (let i = from; i < to; i++) {
        this.row += 1;
        if (!isFilled) this.fill(cells, i);
        this.builder.endRow(
          this.row,
          contributors === undefined ? '' : this.idOf(contributors[i]!),
          groups === undefined ? '' : this.formOf(this.groupOf(groups[i]!, group)),
        );
      }
      from = to;
    }
  }

  /** Ends rows of which only the group is asked, each group at once. */
  private countGroups(
    { texts, places }: NonNullable<CellColumn['coded']>, count: number,
  ): void {
    const rows = new Uint32Array(texts.length);
    for (let i = 0; i < count; i++) rows[places[i]!]! += 1;
    this.row += count;
    for (let place = 0; place < rows.length; place++) {
      if (rows[place]! > 0) this.builder.endGroup(this.formOf(texts[place]!), rows[place]!);
    }
  }

  /**
   * Writes the numbers of rows that end no batch but the present one, one column after the other.
   * False: some cell is not simply a number that its column can hold, so `fill` has to look.
   */
  private fillColumns(cells: readonly CellColumn[], from: number, to: number): boolean {
    const { target, offset } = this.builder;
    return cells.every((column, i) => {
      const type = this.types[i] ?? plainNumber;
      if (!isOfNumbers(type) || this.isTime(i)) return false;
      const isWhole = type.type === 'integer';
      if (column instanceof Float64Array) {
        return fillNumbers(column.subarray(from, to), isWhole, {
          target, at: offset + i, step: cells.length,
        });
      }
      const mayBeEmpty = type.optional === true || this.options.missing !== 'refuse';
      for (let row = from, at = offset + i; row < to; row++, at += cells.length) {
        const cell = column[row];
        const value = typeof cell === 'bigint' ? Number(cell) : cell;
        if (value === null && mayBeEmpty) {
          target[at] = NaN;
          continue;
        }
        if (typeof value !== 'number' || !(Math.abs(value) <= factsLimits.valueMax)) return false;
        if (isWhole && !Number.isSafeInteger(value)) return false;
        target[at] = value;
      }
      return true;
    });
  }

  *batches(all: boolean): Generator<RowBatch> {
    yield* this.builder.take(all);
  }

  /** Writes the numbers of one row. */
  private fill(cells: readonly CellColumn[], index: number): void {
    const { target, offset } = this.builder;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]![index]!;
      if (isEmpty(cell)) {
        target[offset + i] = NaN;
        const { missing } = this.options;
        const isMissing = missing === 'null' || (missing === 'cells' && cell === null);
        if (this.types[i]?.optional !== true && !isMissing) {
          throw refusedAt(this.options.source, this.place(i), missingRemedy(this.options));
        }
        continue;
      }
      target[offset + i] = this.numberOf(cell, i);
    }
  }

  private numberOf(cell: Exclude<TypedCell, null>, i: number): number {
    const type = this.types[i];
    let value: number | undefined;
    if (this.isTime(i)) cell = this.timeText(cell, i);
    if (isOfNames(type)) {
      const name = this.nameOf(cell, this.selection.data[i]!);
      value = type.type === 'text'
        ? this.builder.textPlace(i, name) : numberInText(name, type);
    } else if (typeof cell === 'number' || typeof cell === 'bigint') value = numberIn(cell, type);
    else value = numberInText(textOf(cell), type);
    if (value !== undefined) return value;
    throw refusedAt(
      this.options.source, this.place(i),
      badCellRemedy(this.options, type, textOf(cell), this.selection.names[i]!),
    );
  }

  /** The text that a cell of a column of times stands for. */
  private timeText(cell: TypedCell, i: number): string {
    const name = this.selection.names[i]!;
    return this.times.textOf(textOf(cell), name, () => this.place(i));
  }

  private groupOf(cell: TypedCell, column: number): string {
    const name = this.nameOf(cell, column);
    return this.times.textOf(name, this.options.group!, () =>
      ({ row: this.row, column: column + 1 }));
  }

  /** The text of a cell that is an id, a group, a text or a name of a category. */
  private nameOf(cell: TypedCell, column: number): string {
    if (typeof cell !== 'number' || isFloatId(cell, this.floatBytes(column))) return textOf(cell);
    throw refusedAt(
      this.options.source, { row: this.row, column: column + 1 }, floatIdFault,
    );
  }

  /** As `textForm`. Files have the texts of groups and ids again and again. */
  private formOf(text: string): string {
    const known = this.forms.get(text);
    if (known !== undefined) return known;
    const form = textForm(text);
    if (this.forms.size < formsMax) this.forms.set(text, form);
    return form;
  }

  private idOf(cell: TypedCell): string {
    const id = this.formOf(this.nameOf(cell, this.selection.contributor));
    if (id !== '') return id;
    throw refusedAt(
      this.options.source, { row: this.row, column: this.selection.contributor + 1 },
      'the contributor id is empty: fill it in',
    );
  }

  private place(i: number): Place {
    const { data, names } = this.selection;
    return { row: this.row, column: data[i]! + 1, name: names[i]! };
  }
}

/** As `fillColumns` for one column without empty cells. */
function fillNumbers(
  column: Float64Array, isWhole: boolean,
  { target, at, step }: { readonly target: Float64Array; at: number; readonly step: number },
): boolean {
  const { valueMax } = factsLimits;
  for (let row = 0; row < column.length; row++, at += step) {
    const value = column[row]!;
    if (!(Math.abs(value) <= valueMax) || (isWhole && !Number.isSafeInteger(value))) return false;
    target[at] = value;
  }
  return true;
}

function isEmpty(cell: TypedCell): cell is null | string {
  return cell === null || (typeof cell === 'string' && cell.trim() === '');
}

function textOf(cell: TypedCell): string {
  return cell === null ? '' : String(cell);
}

/** Numbers stay numbers, so that most cells need no text. */
function numberIn(cell: number | bigint, type: ColumnType | undefined): number | undefined {
  if (type?.type === 'boolean') {
    return numberInText(String(cell), type);
  }
  const value = Number(cell);
  return cellFault(type ?? plainNumber, value) === null ? value : undefined;
}
