import { cellOf } from '../../src/base/columns.js';
import { didYouMean } from '../../src/base/suggest.js';
import { textForm } from '../../src/base/text-form.js';
import { isIndex, namedColumns, selectColumns, type Selection } from './columns.js';
import { isOfNames } from './ids.js';
import { cutLine, FormLines } from './ndjson-lines.js';
import { cellRole, points } from './plain-numbers.js';
import {
  BatchBuilder, badCellRemedy, isOfNumbers, missingRemedy, noRows, plainNumber, refusedAt,
  type Place, type RowBatch, type RowOptions,
} from './rows.js';
import { TimeCells } from './time-cells.js';

const lineBytesMax = 4 * 1024 * 1024;
const newline = 10;

/**
 * Reads one JSON array or object per line. The first line decides which of the two, and the
 * columns: an object's keys, or an array's indexes. Keys that the first line lacks are ignored,
 * except those of optional columns. An absent key, `null` and, in a column of texts, an empty text
 * are empty cells. Blank lines are skipped. A number that stands for an id, a group, a text or a
 * name of a category is the text of its digits, as in a CSV file.
 * @throws InvalidInputError with line and column, never with a value.
 */
export async function* readNdjson(
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
): AsyncGenerator<RowBatch, void, undefined> {
  const rows = new NdjsonRows(options);
  const lines = new Lines(rows, options.source);
  for await (const chunk of chunks) {
    lines.take(chunk);
    yield* rows.batches(false);
  }
  lines.end();
  rows.end();
  yield* rows.batches(true);
}

/** Lines of a file, without their line feeds. */
class Lines {
  #rest: Uint8Array = new Uint8Array(0);
  /** From 1. */
  #line = 1;

  constructor(private readonly rows: NdjsonRows, private readonly source: string) {}

  take(chunk: Uint8Array): void {
    const bytes = bufferOf(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]));
    const to = bytes.lastIndexOf(newline) + 1;
    for (let at = 0; at < to;) {
      const { form } = this.rows;
      if (form !== null) {
        at = form.read(bytes, at, to, this.#line);
        this.#line += form.lines;
        if (at === to) break;
      }
      const end = bytes.indexOf(newline, at);
      this.#takeLine(bytes.subarray(at, end));
      at = end + 1;
    }
    this.#rest = bytes.subarray(to);
    if (this.#rest.length > lineBytesMax) {
      throw refusedAt(
        this.source, { line: this.#line },
        `longer than ${lineBytesMax} bytes: write one row per line`,
      );
    }
  }

  end(): void {
    if (this.#rest.length > 0) this.#takeLine(this.#rest);
  }

  #takeLine(bytes: Uint8Array): void {
    const text = decode(bytes, this.#line, this.source);
    if (text.trim() !== '') this.rows.take(text, this.#line);
    this.#line += 1;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array, line: number, source: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refusedAt(source, { line }, 'not UTF-8 text');
  }
}

function parsed(text: string, line: number, source: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes the line. Only the position may be shown.
    throw refusedAt(source, { line }, 'not JSON: write one array or object per line');
  }
}

/** Texts, which may hold digits, and numbers. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*/g;

/**
 * The row of a line of JSON, with every number as the text that the line has for it. `JSON.parse`
 * makes one double of 9007199254740993 and 9007199254740992, and so would make one id of two.
 */
function asWritten(text: string): unknown {
  const quoted = text.replaceAll(tokens, (token) => (token.startsWith('"') ? token : `"${token}"`));
  return JSON.parse(quoted) as unknown;
}

class NdjsonRows {
  private selection: Selection | null = null;
  private builder: BatchBuilder | null = null;
  private keys: readonly string[] | null = null;
  private width = 0;
  /** Reads lines of the first one's form; null where only `take` can read them. */
  form: FormLines | null = null;
  /** The columns whose numbers are names: of people, groups, texts and categories. */
  private namings: readonly number[] = [];

  readonly #times: TimeCells;

  constructor(private readonly options: RowOptions) {
    this.#times = new TimeCells(options);
  }

  /** @param text - of one row, which is not blank. */
  take(text: string, line: number): void {
    const { source } = this.options;
    const value = parsed(text, line, source);
    if (typeof value !== 'object' || value === null) {
      throw refusedAt(source, { line }, 'neither an array nor an object: write one row per line');
    }
    if (this.selection === null) this.start(value, text, line);
    if (Array.isArray(value) !== (this.keys === null)) {
      throw refusedAt(
        source,
        { line },
        `${this.keys === null ? 'an object' : 'an array'} where the first line has another kind: `
        + 'write all lines alike',
      );
    }
    const cells = this.cellsOf(value);
    if (cells.length !== this.width) {
      throw refusedAt(source, { line }, `${cells.length} values where the first line has `
        + `${this.width}: give every line as many`);
    }
    if (this.namings.some((index) => typeof cells[index] === 'number')) {
      const written = this.cellsOf(asWritten(text) as object);
      for (const index of this.namings) {
        if (typeof cells[index] === 'number') cells[index] = written[index];
      }
    }
    this.addRow(cells, line);
  }

  end(): void {
    if (this.builder === null) {
      throw noRows(this.options.source);
    }
  }

  *batches(all: boolean): Generator<RowBatch> {
    if (this.builder !== null) yield* this.builder.take(all);
  }

  private start(value: object, text: string, line: number): void {
    if (Array.isArray(value) && value.some((cell) => typeof cell === 'object' && cell !== null)) {
      throw refusedAt(
        this.options.source,
        { line },
        'an array of rows: write one row per line (NDJSON), not one array for all',
      );
    }
    this.keys = Array.isArray(value) ? null : this.keysOf(value);
    this.width = Array.isArray(value) ? value.length : this.keys!.length;
    if (this.keys !== null) this.checkKeys(this.keys, line);
    this.selection = selectColumns(this.options, this.width, this.keys);
    const { data, names, contributor, group } = this.selection;
    const { types, times } = this.options;
    this.namings = [
      ...data.filter((_, i) => isOfNames(types?.get(names[i]!)) || times?.has(names[i]!) === true),
      contributor, group,
    ].filter((index) => index >= 0);
    this.builder = new BatchBuilder(names, {
      contributors: contributor >= 0, groups: group >= 0, types: this.options.types,
    });
    this.form = this.formOf(text, this.selection, this.builder);
  }

  /** Null where a column is no number, and where the line cannot be cut into the cells. */
  private formOf(
    text: string, { data, names, contributor, group }: Selection, builder: BatchBuilder,
  ): FormLines | null {
    const types = names.map((name) => this.options.types?.get(name) ?? plainNumber);
    if (!types.every(isOfNumbers) || this.options.times !== undefined) return null;
    if (contributor >= 0 && contributor === group) return null;
    const cut = cutLine(text);
    if (cut === null || cut.keys.length !== this.width) return null;
    const cells = cut.keys.map((key, i) => (this.keys === null ? i : this.keys.indexOf(key!)));
    // A key that comes twice would leave out another.
    if (new Set(cells).size !== cells.length) return null;
    const roles = Int32Array.from(cells, (cell) => (cell === contributor ? cellRole.contributor
      : cell === group ? cellRole.group : data.indexOf(cell)));
    return new FormLines({
      builder, between: cut.between, roles, marks: { decimal: 0x2e, thousands: new Uint8Array(0) },
      points: new Uint8Array(types.length).fill(points.decimal),
      isWhole: Uint8Array.from(types, ({ type }) => Number(type === 'integer')),
      mayBeEmpty: Uint8Array.from(types, ({ optional }) =>
        Number(optional === true || this.options.missing === 'null')),
    });
  }

  /** The first object has all columns, so a key that only later ones have is missed here. */
  private checkKeys(keys: readonly string[], line: number): void {
    const asked = [...namedColumns(this.options), ...this.options.types?.keys() ?? []];
    const lacking = asked.find((name) => !keys.includes(name) && !isIndex(name));
    if (lacking === undefined || didYouMean(lacking, keys) !== '') return;
    throw refusedAt(this.options.source, { line }, `the first object has no key "${lacking}": if `
      + 'later ones have it, give it to the first one too, with null where it has no value; it has '
      + keys.slice(0, 12).join(', '));
  }

  /** An object without a value in an optional column lacks its key, also in the first line. */
  private keysOf(value: object): readonly string[] {
    const optional = [...this.options.types ?? []].filter(([, type]) => type.optional === true);
    return [...new Set([...Object.keys(value), ...optional.map(([name]) => name)])];
  }

  private cellsOf(value: object): unknown[] {
    if (this.keys === null) return value as unknown[];
    const cells = value as Readonly<Record<string, unknown>>;
    return this.keys.map((key) => (Object.hasOwn(cells, key) ? cells[key] : null));
  }

  private addRow(cells: readonly unknown[], line: number): void {
    const { source, missing } = this.options;
    const selection = this.selection!;
    const builder = this.builder!;
    const { target, offset } = builder;
    for (const [i, index] of selection.data.entries()) {
      const name = selection.names[i]!;
      const place = { line, column: index + 1, name };
      const type = this.options.types?.get(name);
      const cell = this.timeIn(cells[index], name, place);
      const isText = type?.type === 'text' && typeof cell === 'string';
      if (cell === null || (isText && cell.trim() === '')) {
        target[offset + i] = NaN;
        if (type?.optional !== true && missing !== 'null') {
          throw refusedAt(source, place, missingRemedy(this.options));
        }
        continue;
      }
      const value = isText ? builder.textPlace(i, cell)
        : cellOf(type ?? plainNumber, cell) ?? undefined;
      if (value === undefined) {
        throw refusedAt(source, place, badCellRemedy(this.options, type, cell, place.name));
      }
      target[offset + i] = value;
    }
    const contributor = this.label(cells, selection.contributor, line);
    if (selection.contributor >= 0 && contributor === '') {
      throw refusedAt(source, { line, column: selection.contributor + 1 }, 'the contributor id is '
        + 'empty: fill it in');
    }
    builder.endRow(line, contributor, this.label(cells, selection.group, line));
  }

  /** A number, or the name of a bin, for the text of a time; other cells stay as they are. */
  private timeIn(cell: unknown, column: string, place: Place): unknown {
    const { times, types } = this.options;
    if (times?.has(column) !== true || typeof cell !== 'string') return cell;
    const text = this.#times.textOf(cell, column, () => place);
    return isOfNumbers(types?.get(column)) && text.trim() !== '' ? Number(text) : text;
  }

  /** The text of an id or a group. */
  private label(cells: readonly unknown[], index: number, line: number): string {
    if (index < 0) return '';
    const cell = cells[index];
    const place = { line, column: index + 1 };
    if (cell === null || typeof cell === 'string') {
      const { group } = this.options;
      const isGroup = index === this.selection!.group && group !== undefined;
      return textForm(isGroup ? this.#times.textOf(cell ?? '', group, () => place) : cell ?? '');
    }
    if (typeof cell === 'boolean') return String(cell);
    const text = 'an id or group is a text or a number: correct the cell';
    throw refusedAt(this.options.source, place, text);
  }
}
