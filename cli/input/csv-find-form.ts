import { parse } from 'csv-parse/sync';
import { InvalidInputError } from '../../src/base/errors.js';
import { isIndex, namedColumns } from './columns.js';
import {
  areApart, markWord, separators, thousandsMarks, usualForm, type CsvForm,
} from './csv-form.js';
import { cutSign, mayHaveSigns, withoutSign } from './csv-signs.js';
import { hasIdName, idAdvice } from './id-advice.js';
import { adviceOn, isOfNumbers, type RowOptions } from './rows.js';
import { orderIn, type DateForm } from './times.js';

/** The bytes at the start of a file that show its form. */
export const formBytes = 64 * 1024;

/** The form of a file, and where its first record begins. */
export interface FoundForm {
  readonly form: CsvForm;
  /** The bytes before the first record: a line `sep=;`, as Excel reads it. */
  readonly skipped: number;
  /** True where numbers of the first lines have the sign of a currency, or a percent sign. */
  readonly hasSigns: boolean;
  /** How dates are written; undefined: nothing states it. */
  readonly dates: DateForm | undefined;
}

type Separator = CsvForm['separator'];
type Decimal = CsvForm['decimal'];

/**
 * Finds the parts of a file's form that `options.form` does not state.
 *
 * The separator is the one that cuts the line of names: names are public. The marks in numbers are
 * taken from the cells, so a person's row must not decide how those of others are read. A decimal
 * mark counts as found only if the cells of two people show it, and a cell that contradicts it
 * refuses the file later. If one row is replaced, a cell of somebody else still shows the same
 * mark, so the file is read in the same form, or refused. A cell shows a mark if it can be a number
 * in one form only: `1,5`, but not `1,234`.
 * @param head - the first bytes of the file, at most `formBytes`.
 * @param isWhole - whether they are all of it.
 * @throws InvalidInputError where only a flag can decide.
 */
export function findForm(
  head: Uint8Array, isWhole: boolean, options: RowOptions,
): FoundForm {
  const text = new TextDecoder().decode(head);
  const stated = /^sep=([,;\t|])\r?\n/i.exec(text);
  const given = options.form ?? {};
  // The decoder has removed a byte order mark, which is part of what is skipped.
  const skipped = stated === null ? 0 : stated[0].length + (head[0] === 0xef ? 3 : 0);
  const rest = stated === null ? text : text.slice(stated[0].length);
  const cuts = cutsOf(rest);
  const separator = given.separator ?? (stated?.[1] as Separator | undefined)
    ?? separatorOf(cuts, given.decimal, options);
  const records = (): ReturnType<typeof recordsOf> =>
    recordsOf(isWhole ? rest : upToLastLine(rest), separator);
  const decimal = given.decimal ?? decimalBeside(given.thousands, separator);
  const isStated = decimal !== undefined || separator === usualForm.separator;
  const shown = isStated ? null : marksOf(cellsOf(records(), options));
  const form = {
    separator, decimal: decimal ?? shown?.decimal ?? usualForm.decimal,
    thousands: given.thousands ?? shown?.thousands ?? usualForm.thousands,
  };
  checkMarks(form, options);
  const isFound = given.separator === undefined || shown !== null;
  if (isFound && separator !== usualForm.separator) options.onNote?.(formNote(form, options));
  noteId(cuts.get(separator)!, records, options);
  const signs = mayHaveSigns(rest) ? signsOf(cellsOf(records(), options)) : [];
  if (signs.length > 0) options.onNote?.(signsNote(signs, options));
  return {
    form, skipped, dates: options.dates ?? datesOf(records, options), hasSigns: signs.length > 0,
  };
}

function signsOf(
  rows: readonly { readonly cells: readonly string[] }[],
): readonly string[] {
  const found = rows.flatMap(({ cells }) => cells.flatMap((cell) => cutSign(cell)?.sign ?? []));
  return [...new Set(found)].sort();
}

function signsNote(signs: readonly string[], { source }: RowOptions): string {
  const percent = signs.includes('%') ? '; 5 % is read as 5' : '';
  return `${source}: its first lines have numbers with ${signs.join(' and ')}, which are read `
    + `without that${percent}`;
}

/**
 * The order of day and month, which two people show, as they show marks. A date that contradicts it
 * refuses the file later.
 */
function datesOf(
  records: () => readonly (readonly string[])[], options: RowOptions,
): DateForm | undefined {
  const { times = new Map() } = options;
  if (times.size === 0) return undefined;
  const rows = rowsOf(records(), options, (name) => times.has(name));
  const [dmy, mdy] = (['dmy', 'mdy'] as const).map((order) => new Set(rows.flatMap(
    ({ person, cells }) => (cells.some((cell) => orderIn(cell) === order) ? [person] : []),
  )).size) as [number, number];
  if (Math.max(dmy, mdy) < 2) return undefined;
  const order = dmy > mdy ? 'dmy' : 'mdy';
  options.onNote?.(`${options.source}: its first lines show that the `
    + `${order === 'dmy' ? 'day comes before the month' : 'month comes before the day'} `
    + `(dates=${order})${adviceOn(options, 'csv', '; --csv states another order')}`);
  return order;
}

/** The decimal mark beside points or commas between thousands; undefined: they say nothing. */
function decimalBeside(
  thousands: CsvForm['thousands'] | undefined, separator: Separator,
): Decimal | undefined {
  if (thousands === ',') return '.';
  if (thousands !== '.') return undefined;
  return separator === ',' ? '' : ',';
}

/** @throws InvalidInputError for one mark with two meanings. */
function checkMarks(form: CsvForm, { source }: RowOptions): void {
  if (areApart(form)) return;
  throw new InvalidInputError(`${source}: one mark would have two meanings: its cells are cut at `
    + `separator=${markWord('separator', form.separator)}, and --csv gives the decimals of numbers `
    + 'the same mark or one mark twice: name marks that differ', { source });
}

/** The rows are read only where a column has the name of an id. */
function noteId(
  names: readonly string[], records: () => readonly (readonly string[])[], options: RowOptions,
): void {
  if (options.onNote === undefined || !hasIdName(names, options)) return;
  const advice = idAdvice(names, records().slice(1), options);
  if (advice !== '') options.onNote(advice);
}

/** A line on how a file is read, for people. It may depend on the rows. */
function formNote({ separator, decimal, thousands }: CsvForm, options: RowOptions): string {
  const parts = [
    `separator=${markWord('separator', separator)}`,
    ...decimal === '' ? [] : [`decimal=${markWord('decimal', decimal)}`],
    ...thousands === '' ? [] : [`thousands=${markWord('thousands', thousands)}`],
  ];
  return `${options.source}: it is read with ${parts.join(',')}, as its first lines are `
    + `written${adviceOn(options, 'csv', '; --csv states another form')}`;
}

/** The first line under each separator: its cells. */
type Cuts = ReadonlyMap<Separator, readonly string[]>;

function cutsOf(text: string): Cuts {
  return new Map(separators.map((separator) =>
    [separator, (recordsOf(text, separator, 1)[0] ?? []).map((cell) => cell.trim())]));
}

/** The separator of the names in a first line. */
export function separatorOfNames(line: string): Separator {
  return best(separators, cutsOf(line), [])!;
}

/**
 * The separator, by the first line alone: the one that gives most of the names that are asked for,
 * else most cells.
 * @throws InvalidInputError where the line may be a person's row, which must not decide.
 */
function separatorOf(
  cuts: Cuts, decimal: Decimal | undefined, options: RowOptions,
): Separator {
  const asked = namedColumns(options);
  const others = separators.filter((each) =>
    each !== usualForm.separator && cuts.get(each)!.length > 1);
  if (decimal === ',') return best(others, cuts, asked) ?? ';';
  if (others.length === 0) return usualForm.separator;
  const separator = best(separators, cuts, asked)!;
  const cells = cuts.get(separator)!;
  const areNames = options.header !== 'no'
    && (cells.every((cell) => !/\d/.test(cell) || /\p{L}/u.test(cell))
      || asked.some((name) => !isIndex(name) && cells.includes(name)));
  if (separator === usualForm.separator || areNames) return separator;
  const words = [...others, usualForm.separator].map((each) => markWord('separator', each));
  throw new InvalidInputError(`${options.source}: its first line is not one of names, and `
    + `what stands between its cells may be ${words.join(' or ')}: `
    + (adviceOn(options, 'csv', 'say so with --csv separator=')
      || 'save it with commas between them'), { source: options.source });
}

function best(
  among: readonly Separator[], cuts: Cuts, asked: readonly string[],
): Separator | undefined {
  const merit = (separator: Separator): number => {
    const cells = cuts.get(separator)!;
    return 1000 * asked.filter((name) => cells.includes(name)).length + cells.length;
  };
  return among.reduce<Separator | undefined>((found, each) =>
    (found === undefined || merit(each) > merit(found) ? each : found), undefined);
}

/** The cells below the names that are read as numbers, row by row. */
function cellsOf(
  [names = [], ...rows]: readonly (readonly string[])[], options: RowOptions,
): ReturnType<typeof rowsOf> {
  const { columns, types, contributor, times } = options;
  const asked = columns ?? (types === undefined ? undefined : [...types.keys()]);
  return rowsOf([names, ...rows], options, (name, index) => {
    const isAsked = asked === undefined || asked.includes(name) || asked.includes(index);
    const isOther = name === contributor || name === options.group || times?.has(name) === true;
    return isAsked && isOfNumbers(types?.get(name)) && !isOther;
  });
}

/** The cells of some columns below the names, row by row. */
function rowsOf(
  [names = [], ...rows]: readonly (readonly string[])[], { contributor }: RowOptions,
  isUsed: (name: string, index: string) => boolean,
): { readonly person: string; readonly cells: readonly string[] }[] {
  const used = names.flatMap((name, index) => (isUsed(name.trim(), String(index)) ? [index] : []));
  const own = names.findIndex((name) => name.trim() === contributor);
  // A file without names has its first row here, too: the others are enough.
  return rows.map((record, row) => ({
    person: own < 0 ? String(row) : record[own] ?? '',
    cells: used.map((index) => (record[index] ?? '').trim()),
  }));
}

const inGroups = /^[+-]?\d{1,3}(?:([.,' \u00a0\u202f\u2019])\d{3})(?:\1\d{3})*(?:([.,])\d+)?$/u;
const plain = /^[+-]?(\d*)([.,])(\d*)(?:[eE][+-]?\d+)?$/;

/** The marks that a cell shows; a mark that it cannot show is empty. */
export function marksIn(cell: string): Pick<CsvForm, 'decimal' | 'thousands'> {
  const grouped = inGroups.exec(cell);
  if (grouped !== null) {
    const [text, thousands = '', decimal = ''] = grouped;
    if (decimal === thousands) return { decimal: '', thousands: '' };
    const isTwice = text.indexOf(thousands) !== text.lastIndexOf(thousands);
    const mark = thousands as CsvForm['thousands'];
    if (decimal !== '') return { decimal: decimal as Decimal, thousands: mark };
    if (mark !== '.' && mark !== ',') return { decimal: '', thousands: mark };
    if (isTwice) return { decimal: mark === '.' ? ',' : '.', thousands: mark };
    // `1.234` is a number either way. `0.234` is no number with thousands.
    return { decimal: /^[+-]?0/.test(text) ? mark : '', thousands: '' };
  }
  const found = plain.exec(cell);
  return { decimal: (found?.[2] ?? '') as Decimal, thousands: '' };
}

/** The decimal mark that two people show, and the mark between thousands beside it. */
function marksOf(
  rows: readonly { readonly person: string; readonly cells: readonly string[] }[],
): Pick<CsvForm, 'decimal' | 'thousands'> {
  const shown = rows.flatMap(({ person, cells }) =>
    cells.map((cell) => ({ person, ...marksIn(withoutSign(cell)) })));
  const peopleOf = (mark: Decimal): number =>
    new Set(shown.flatMap(({ person, decimal }) => (decimal === mark ? [person] : []))).size;
  const [points, commas] = [peopleOf('.'), peopleOf(',')];
  if (Math.max(points, commas) < 2) return { decimal: '', thousands: '' };
  const decimal = points > commas ? '.' : ',';
  const usual = decimal === '.' ? ',' : '.';
  const times = (mark: string): number =>
    shown.filter(({ thousands }) => thousands === mark).length;
  const thousands = thousandsMarks.filter((mark) => mark !== decimal)
    .reduce((most, mark) => (times(mark) > times(most) ? mark : most), usual);
  return { decimal, thousands };
}

function upToLastLine(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** Records up to the first one that cannot be read: the reader of the file reports that one. */
function recordsOf(
  text: string, separator: Separator, to = Infinity,
): readonly (readonly string[])[] {
  const records: (readonly string[])[] = [];
  try {
    parse(text, {
      delimiter: separator, bom: true, relax_column_count: true,
      ...(Number.isFinite(to) && { to }),
      on_record: (record: string[]) => {
        records.push(record);
        return null;
      },
    });
  } catch {
    return records;
  }
  return records;
}
