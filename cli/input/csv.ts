import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { utf8 } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';
import { textForm } from '../../src/base/text-form.js';
import { headOf, rejoin } from './chunks.js';
import { isIndex, namedColumns, selectColumns, type Selection } from './columns.js';
import {
  headerNote, isHeader, judgeFirst, recordsBelow, type FirstRecord,
} from './csv-header.js';
import { PlainLines, rolesOf, textIn, type Records } from './csv-lines.js';
import { findForm, formBytes, marksIn, type FoundForm } from './csv-find-form.js';
import { FormNumbers, type CsvForm } from './csv-form.js';
import { cutSign, withoutSign } from './csv-signs.js';
import { KnownTexts } from './known-texts.js';
import { points, type NumberRows } from './plain-numbers.js';
import {
  adviceOn, BatchBuilder, badCellRemedy, isOfNumbers, missingRemedy, noRows, numberInText,
  plainNumber, refusedAt, type RowBatch, type RowOptions,
} from './rows.js';
import { TimeCells } from './time-cells.js';
import { hasTime } from './times.js';

/** Words that mean an empty cell in a column of numbers, in any case of letters. */
const emptyWords = ['NA', 'N/A', 'null', '-'];
const mixedSigns = 'the number has another sign of a currency or of percent than those before it, '
  + 'or only one of them has a sign, so that they may be of different units: write all numbers of '
  + 'the column alike';
/** Longer than any row of numbers. An unclosed quote must not load the whole file into memory. */
const recordBytesMax = 4 * 1024 * 1024;

/**
 * Reads RFC 4180 CSV (quotes, CRLF, a byte order mark) as a stream. The first record is a header if
 * none of its data cells is a number, or if it has the columns that were requested by name. Where
 * it holds whole numbers alone, `isHeader` compares it with those below, and `onNote` reports the
 * decision.
 *
 * Lines without quotes are read from their bytes, four times as fast as by the parser, which reads
 * all that comes after them.
 * @throws InvalidInputError with line and column, never with a cell's text.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
): AsyncGenerator<RowBatch, void, undefined> {
  const rest = chunks[Symbol.asyncIterator]();
  const { bytes: head, isWhole } = await headOf(rest, ({ length }) => length > formBytes);
  let found: FoundForm;
  try {
    found = findForm(head.subarray(0, formBytes), isWhole, options);
  } catch (error) {
    await rest.return?.();
    throw error;
  }
  const { form, skipped } = found;
  const { separator } = form;
  const rows = new CsvRows(options, found);
  // A line that states the separator is a line.
  if (skipped > 0) rows.passLine();
  const lines = new PlainLines(rows, separator);
  let parsed: ParsedRecords | null = null;
  for await (const chunk of rejoin(head.subarray(skipped), rest)) {
    const left = parsed === null ? lines.take(chunk) : chunk;
    if (left !== null) {
      parsed ??= new ParsedRecords(rows, options.source, separator, lines.delimiter);
      await parsed.take(left);
    }
    yield* rows.batches(false);
  }
  const left = parsed === null ? lines.end() : null;
  if (left !== null) {
    parsed = new ParsedRecords(rows, options.source, separator, lines.delimiter);
    await parsed.take(left);
  }
  await parsed?.end();
  rows.end();
  yield* rows.batches(true);
}

/** Records that a parser finds. */
class ParsedRecords {
  readonly #parser;
  readonly #linesBefore: number;
  #failure: unknown;

  /** @param delimiter - how lines end; undefined: the parser finds out. */
  constructor(
    private readonly rows: CsvRows, private readonly source: string,
    separator: CsvForm['separator'], delimiter: string | undefined,
  ) {
    this.#linesBefore = rows.nextLine - 1;
    this.#parser = parse({
      delimiter: separator,
      // If a line was read, any byte order mark of the file is before it.
      bom: delimiter === undefined, relax_column_count: true, max_record_size: recordBytesMax,
      ...(delimiter !== undefined && { record_delimiter: delimiter }),
    });
    this.#parser.on('data', (record: string[]) => {
      if (this.#failure !== undefined) return;
      try {
        rows.take(record);
      } catch (error) {
        // Throwing here would end the process; the caller would not get the error.
        this.#failure = error;
      }
    });
    this.#parser.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** Resolves once the chunk is parsed. The parser's own event reports errors. */
  async take(chunk: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#parser.write(chunk, () => resolve());
    });
    this.#check();
  }

  async end(): Promise<void> {
    this.#parser.end();
    await finished(this.#parser).catch((error: unknown) => {
      this.#failure ??= error;
    });
    this.#check();
  }

  #check(): void {
    if (this.#failure === undefined) return;
    throw explained(this.#failure, this.source, this.rows.nextLine, this.#linesBefore);
  }
}

class CsvRows implements Records {
  readonly texts = new KnownTexts(textIn);
  private selection: Selection | null = null;
  /** The columns that are read. */
  private used: readonly number[] = [];
  private builder: BatchBuilder | null = null;
  private width = 0;
  private first: FirstRecord = 'row';
  /** Records from the first on, until the kind of the first is known. */
  private held: { readonly record: readonly string[]; readonly line: number }[] = [];
  /** Last line of the last record, from 1. */
  private line = 0;
  private blankLines: number[] = [];
  private numberRows: NumberRows | null = null;
  /** By place in a row: what the points of its numbers can be. */
  private points = new Uint8Array(0);

  private readonly form: FormNumbers;
  private readonly times: TimeCells;
  /** By place in a row: the sign of its numbers; empty: none; undefined: there is no number yet. */
  private readonly signs: string[] = [];

  constructor(private readonly options: RowOptions, private readonly found: FoundForm) {
    this.form = new FormNumbers(found.form);
    this.times = new TimeCells(options, found.dates);
  }

  /** The first line of the record after the last one that is complete. */
  get nextLine(): number {
    return this.line + 1;
  }

  get numbers(): NumberRows | null {
    return this.blankLines.length > 0 ? null : this.numberRows;
  }

  passLine(): void {
    this.line += 1;
  }

  take(record: readonly string[]): void {
    // Counted here, because the parser would copy its whole state for each record.
    this.line += 1 + record.reduce((breaks, cell) => breaks + lineBreaks(cell), 0);
    const line = this.line;
    if (record.length === 1 && record[0]!.trim() === '') {
      // Blank lines at the end of a file are normal. Anywhere else, a row could be lost unnoticed.
      this.blankLines.push(line);
      if (this.blankLines.length > 10_000) {
        throw refusedAt(this.options.source, { line }, 'more than 10000 blank lines');
      }
      return;
    }
    if (this.blankLines.length > 0) this.takeBlankLines();
    this.addRecord(record, line);
  }

  end(): void {
    if (this.held.length > 0) this.start();
    if (this.builder === null) {
      throw noRows(this.options.source);
    }
    this.checkPoints();
  }

  /**
   * A wrong guess would be wrong by a thousand. The check can turn an answer into a refusal, and
   * changes no number.
   */
  private checkPoints(): void {
    const column = this.points.indexOf(points.either);
    if (column < 0) return;
    const name = this.selection!.names[column]!;
    throw new InvalidInputError(`${this.options.source}: each number with a point in the column `
      + `"${name}" has three digits behind it, so the point may stand before decimals or between `
      + 'thousands: ' + (adviceOn(this.options, 'csv', 'pass --csv decimal=point or --csv '
        + 'thousands=point') || 'write one of them with another number of decimals'),
    { source: this.options.source, column: name });
  }

  *batches(all: boolean): Generator<RowBatch> {
    if (this.builder !== null) yield* this.builder.take(all);
  }

  private takeBlankLines(): void {
    const lines = this.blankLines;
    this.blankLines = [];
    if (this.width === 0) return;
    for (const line of lines) {
      if (this.width !== 1) {
        throw refusedAt(this.options.source, { line }, 'the line is blank: remove it');
      }
      this.addRecord([''], line);
    }
  }

  private addRecord(record: readonly string[], line: number): void {
    if (this.selection !== null) {
      this.addRow(record, line);
      return;
    }
    if (this.held.length === 0) {
      this.width = record.length;
      this.first = judgeFirst(record.map((cell) => cell.trim()), this.options, line, this.form);
    }
    this.held.push({ record, line });
    const isKnown = this.first === 'header' || this.first === 'row';
    if (isKnown || this.held.length > recordsBelow) this.start();
  }

  /** Finds the columns from the records that are held, and adds those that are rows. */
  private start(): void {
    const { held, first } = this;
    this.held = [];
    const [record, ...below] = held.map((each) => each.record);
    const names = record!.map((cell) => cell.trim());
    const hasNames = first === 'likely' || first === 'unlikely'
      ? isHeader(first, names, below, this.options, this.form) : first === 'header';
    if (hasNames) this.checkHeader(names);
    this.selection = selectColumns(this.options, names.length, hasNames ? names : null);
    // A single column of whole numbers is common, and a single name that is a number is not.
    if (first === 'likely' || (first === 'unlikely' && names.length > 1)) {
      this.options.onNote?.(headerNote(hasNames, this.options));
    }
    const { data, contributor, group } = this.selection;
    this.used = [...data, contributor, group].filter((index) => index >= 0);
    this.builder = new BatchBuilder(this.selection.names, {
      contributors: this.selection.contributor >= 0,
      groups: this.selection.group >= 0,
      types: this.options.types,
    });
    const { decimal, thousands } = this.options.form ?? {};
    const isStated = decimal !== undefined || thousands !== undefined
      || this.form.form.separator !== ',';
    // A point in a name is no mark of a number.
    this.points = Uint8Array.from(this.selection.names, (name) =>
      (isStated || !isOfNumbers(this.options.types?.get(name)) ? points.decimal : points.none));
    this.numberRows = this.numbersOnly(this.selection, this.builder);
    for (const row of hasNames ? held.slice(1) : held) this.addRow(row.record, row.line);
  }

  /** Null where a column is no number. */
  private numbersOnly(selection: Selection, builder: BatchBuilder): NumberRows | null {
    const types = selection.names.map((name) => this.options.types?.get(name) ?? plainNumber);
    const isPlain = this.options.times === undefined && !this.found.hasSigns;
    if (!types.every(isOfNumbers) || !isPlain) return null;
    if (selection.contributor >= 0 && selection.contributor === selection.group) return null;
    // Where a line has one cell, an empty one is a blank line.
    const isOneCell = this.width === 1;
    if (isOneCell && types.length === 0) return null;
    const { decimal, thousands, separator } = this.form.form;
    // Lines without quotes have no mark between cells inside a cell.
    const grouping = thousands === separator ? '' : thousands;
    return {
      builder,
      marks: { decimal: decimal.charCodeAt(0), thousands: utf8(grouping) },
      roles: rolesOf(selection, this.width),
      points: this.points,
      isWhole: Uint8Array.from(types, ({ type }) => Number(type === 'integer')),
      mayBeEmpty: Uint8Array.from(types, ({ optional }) =>
        Number(!isOneCell && (optional === true || this.options.missing === 'null'))),
    };
  }

  /** If none of the wanted names is there, the first line may be data, which no message shows. */
  private checkHeader(names: readonly string[]): void {
    const asked = namedColumns(this.options).filter((name) => !isIndex(name));
    const [first] = asked;
    if (first === undefined || names.some((name) => asked.includes(name))) return;
    const remedy = didYouMean(first, names);
    throw new InvalidInputError(`${this.options.source}: there is no column "${first}"`
      + (remedy || ': put the names of the columns into the first line'));
  }

  /** The parser puts U+FFFD where bytes are not UTF-8: two names would then become one. */
  private checkBytes(record: readonly string[], line: number): void {
    for (const index of this.used) {
      if (!record[index]!.includes('\ufffd')) continue;
      throw refusedAt(this.options.source, { line, column: index + 1 }, 'the cell has bytes that '
        + 'are not UTF-8, or the sign for such bytes (U+FFFD): save the file as UTF-8'
        + adviceOn(this.options, 'csv', ', or pass --csv encoding=latin1'));
    }
  }

  private lookAtPoint(cell: string, place: number): void {
    const { decimal } = marksIn(cell.trim());
    if (decimal === '.') this.points[place] = points.decimal;
    else if (cell.includes('.')) this.points[place] = points.either;
  }

  private isEmpty(cell: string, type: ColumnType | undefined): boolean {
    const text = cell.trim();
    if (text === '' || type?.type === 'text' || type?.type === 'category') return text === '';
    const { empty = emptyWords } = this.options;
    return empty.some((word) => word.toLowerCase() === text.toLowerCase());
  }

  /** Undefined: the cell is no number in any form. */
  private markRemedy(cell: string): string | undefined {
    const { separator, decimal } = this.form.form;
    const other = marksIn(cell.trim()).decimal;
    if (separator === ',' && /^[+-]?\d{1,3}(?:,\d{3})+$/.test(cell.trim())) {
      return 'a comma in a number may stand before its decimals or between thousands: '
        + (adviceOn(this.options, 'csv', 'pass --csv thousands=comma, or ') + 'write a point or '
          + 'nothing');
    }
    if (separator === ',' || hasTime(cell) || !/^[+-]?\d[\d.,' \u00a0\u202f\u2019]*$/.test(cell.trim())) {
      return undefined;
    }
    if (decimal === '') {
      return 'the first lines do not show whether a comma or a point stands before the decimals '
        + `of a number: ${adviceOn(this.options, 'csv', 'pass --csv decimal=comma or --csv '
          + 'decimal=point') || 'save the file with commas between cells and points in numbers'}`;
    }
    if (other === decimal || other === '') return undefined;
    return `the numbers of this file have ${decimal === ',' ? 'a comma' : 'a point'} before their `
      + `decimals, and this one has ${decimal === ',' ? 'a point' : 'a comma'}: correct it`
      + adviceOn(this.options, 'csv', ', or name the mark with --csv decimal=');
  }

  private addRow(record: readonly string[], line: number): void {
    const { source, missing } = this.options;
    const selection = this.selection!;
    const builder = this.builder!;
    if (record.length !== this.width) {
      throw refusedAt(
        source,
        { line },
        `${record.length} cells where the first line has ${this.width}: add or remove cells`,
      );
    }
    this.checkBytes(record, line);
    const { target, offset } = builder;
    for (const [i, index] of selection.data.entries()) {
      const name = selection.names[i]!;
      const type = this.options.types?.get(name);
      const timed = this.timeText(record[index]!, name, line, index);
      const cell = this.found.hasSigns && isOfNumbers(type)
        ? this.unsigned(timed, i, line, index) : timed;
      const value = type?.type === 'text'
        ? builder.textPlace(i, cell) : numberInText(cell, type, this.form);
      if (value !== undefined) {
        target[offset + i] = value;
        if (this.points[i] !== points.decimal) this.lookAtPoint(cell, i);
        continue;
      }
      const place = { line, column: index + 1, name };
      if (!this.isEmpty(cell, type)) {
        throw refusedAt(source, place, this.markRemedy(withoutSign(cell))
          ?? this.signRemedy(cell, type) ?? badCellRemedy(this.options, type, cell, place.name));
      }
      target[offset + i] = NaN;
      if (type?.optional !== true && missing !== 'null') {
        throw refusedAt(source, place, missingRemedy(this.options));
      }
    }
    const contributor = selection.contributor < 0 ? '' : textForm(record[selection.contributor]!);
    if (selection.contributor >= 0 && contributor === '') {
      throw refusedAt(source, { line, column: selection.contributor + 1 }, 'the contributor id is '
        + 'empty: fill it in');
    }
    builder.endRow(line, contributor, selection.group < 0 ? ''
      : textForm(this.timeText(
        record[selection.group]!, this.options.group!, line, selection.group,
      )));
  }

  /** The number in a cell without its sign, which all numbers of a column have, or none. */
  private unsigned(cell: string, place: number, line: number, index: number): string {
    const { text, sign } = cutSign(cell) ?? { text: cell, sign: '' };
    if (this.isEmpty(cell, undefined) || this.form.parse(text) === undefined) return cell;
    this.signs[place] ??= sign;
    if (this.signs[place] === sign) return text;
    const name = this.selection!.names[place]!;
    throw refusedAt(this.options.source, { line, column: index + 1, name }, mixedSigns);
  }

  private signRemedy(cell: string, type: ColumnType | undefined): string | undefined {
    const text = withoutSign(cell);
    return isOfNumbers(type) && text !== cell && this.form.parse(text) !== undefined
      ? mixedSigns : undefined;
  }

  /** Words for an empty cell are one, as in a column of numbers. */
  private timeText(cell: string, column: string, line: number, index: number): string {
    if (this.options.times?.has(column) !== true) return cell;
    return this.isEmpty(cell, undefined) ? ''
      : this.times.textOf(cell, column, () => ({ line, column: index + 1, name: column }));
  }
}

/** Line breaks inside a quoted cell: CRLF, LF or CR. */
function lineBreaks(cell: string): number {
  return cell.includes('\n') || cell.includes('\r') ? cell.split(/\r\n|\n|\r/).length - 1 : 0;
}

/**
 * csv-parse puts cells into its messages. Our messages hold positions only.
 * @param recordLine - where the record begins that cannot be read. An open quote swallows all lines
 *   below it, so the line at which the parser gives up means nothing.
 * @param linesBefore - lines of the file that the parser did not get.
 */
function explained(
  error: unknown, source: string, recordLine: number, linesBefore: number,
): unknown {
  if (!(error instanceof CsvError)) return error;
  const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE';
  const line = isOpen ? recordLine
    : linesBefore + Number((error as unknown as { lines?: number }).lines ?? 0);
  const what: Readonly<Record<string, string>> = {
    CSV_QUOTE_NOT_CLOSED: 'a quote in the row that begins here is never closed: close it',
    CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote: write "" for a quote inside quotes',
    INVALID_OPENING_QUOTE:
      'a quote stands inside a cell: put the whole cell in quotes and write "" for a quote',
    CSV_MAX_RECORD_SIZE: `a record is longer than ${recordBytesMax} bytes: is a quote left open?`,
  };
  return refusedAt(source, { line }, what[error.code] ?? `not valid CSV (${error.code})`);
}
