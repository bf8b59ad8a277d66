import { InvalidInputError } from '../../src/base/errors.js';
import { isIndex, namedColumns, selectColumns } from './columns.js';
import type { FormNumbers } from './csv-form.js';
import { withoutSign } from './csv-signs.js';
import { adviceOn, badNumberRemedy, refusedAt, type RowOptions } from './rows.js';

/** How many records below the first are compared with it, and how many there must be. */
export const recordsBelow = 32;
const recordsBelowMin = 10;

/**
 * The verdict on the first record. `likely` and `unlikely`: it holds whole numbers alone, and may
 * be names such as years.
 */
export type FirstRecord = 'header' | 'row' | 'likely' | 'unlikely';

/**
 * Judges the first record by itself. It is a header if a name is asked for that
 * it has, or if all of its cells of interest are words.
 * @throws InvalidInputError if it has words and numbers, and no asked name.
 */
export function judgeFirst(
  names: readonly string[], options: RowOptions, line: number, numbers: FormNumbers,
): FirstRecord {
  const isWord = (cell: string): boolean =>
    cell !== '' && numbers.parse(withoutSign(cell)) === undefined;
  if (options.header !== undefined) return options.header === 'yes' ? 'header' : 'row';
  const asked = namedColumns(options);
  const isName = (text: string): boolean => !isIndex(text) || Number(text) >= names.length;
  if (asked.some((name) => isName(name) && names.includes(name))) return 'header';
  // If it has words, it is still a header: the names that are asked for are wrong.
  if (asked.some((name) => !isIndex(name))) return names.some(isWord) ? 'header' : 'row';
  const { data, others } = cellsOf(names, options);
  const words = data.filter((index) => isWord(names[index]!));
  if (words.length > 0) {
    if (words.length === data.length) return 'header';
    const remedy = adviceOn(options, 'csv', ', or pass --csv header=yes or --csv header=no');
    throw refusedAt(options.source, { line, column: words[0]! + 1 },
      `neither a row of numbers nor a header: ${badNumberRemedy(options)}${remedy}`);
  }
  if (areCounting([...data, ...others].sort((one, other) => one - other)
    .map((index) => names[index]!))) return 'likely';
  return areWhole(data.map((index) => names[index]!)) ? 'unlikely' : 'row';
}

/**
 * True if a first record of whole numbers is a header. Records below it can only turn an answer
 * into a refusal: `likely` becomes a header or is refused, and `unlikely` becomes a row or is
 * refused. So no row decides how many rows there are, or what they are called.
 * @param below - the cells of the records that follow, at most `recordsBelow` of them.
 * @throws InvalidInputError where it can be either.
 */
export function isHeader(
  first: 'likely' | 'unlikely', names: readonly string[], below: readonly (readonly string[])[],
  options: RowOptions, numbers: FormNumbers,
): boolean {
  const { data } = cellsOf(names, options);
  const isApart = data.every((index) => {
    const cells = below.map((record) => (record[index] ?? '').trim()).filter((cell) => cell !== '');
    return cells.length >= recordsBelowMin
      && (areOfOtherKind(cells, first, numbers) || isFarFrom(Number(names[index]), cells, numbers));
  });
  if (first === 'likely' ? isApart : !isApart) return first === 'likely';
  const advice = adviceOn(options, 'csv', 'pass --csv header=yes or --csv header=no')
    || 'give the columns names that are no numbers, or no names';
  throw new InvalidInputError(`${options.source}: the first line holds whole numbers alone, which `
    + `may be the names of the columns or a row: ${advice}`, { source: options.source });
}

/** A note about a first record that was judged by the records below it. */
export function headerNote(isNames: boolean, { source }: RowOptions): string {
  return `${source}: the first line holds whole numbers alone and was taken for `
    + (isNames ? 'the names of the columns; --csv header=no takes it for a row'
      : 'a row; --csv header=yes takes it for the names of the columns');
}

/**
 * The cells that are read as numbers, and the other cells that are not ids or groups. Of both, only
 * non-empty cells whose type is not one of words. If no cell is read, all of them decide.
 */
function cellsOf(
  names: readonly string[], options: RowOptions,
): { readonly data: readonly number[]; readonly others: readonly number[] } {
  const { data, contributor, group } = selectColumns(options, names.length, null);
  const filled = names.flatMap((name, index) => (name === '' || index === contributor
    || index === group || options.types?.has(String(index)) === true ? [] : [index]));
  if (data.length === 0) return { data: filled, others: [] };
  return {
    data: filled.filter((index) => data.includes(index)),
    others: filled.filter((index) => !data.includes(index)),
  };
}

/** Different whole numbers, without a sign. */
function areWhole(cells: readonly string[]): boolean {
  return cells.length > 0 && cells.every((cell) => /^(0|[1-9]\d*)$/.test(cell))
    && new Set(cells).size === cells.length;
}

/**
 * Two numbers that follow each other, or more with equal steps: years, or the 0, 1, 2 of programs
 * that number columns.
 */
function areCounting(cells: readonly string[]): boolean {
  if (cells.length < 2 || !areWhole(cells)) return false;
  const step = Number(cells[1]) - Number(cells[0]);
  return (step === 1 || (step > 1 && cells.length > 2))
    && cells.every((cell, i) => i === 0 || Number(cell) - Number(cells[i - 1]) === step);
}

/** Words or broken numbers: all of them, or of columns that count most of them. */
function areOfOtherKind(
  cells: readonly string[], first: 'likely' | 'unlikely', numbers: FormNumbers,
): boolean {
  const others = cells.filter((cell) => !/^[+-]?\d+$/.test(numbers.textOf(cell) ?? cell)).length;
  return first === 'likely' ? 2 * others > cells.length : others === cells.length;
}

/** True if a number is further from all cells than they are from each other. */
function isFarFrom(
  number: number, cells: readonly string[], numbers: FormNumbers,
): boolean {
  const found = cells.flatMap((cell) => numbers.parse(cell) ?? []);
  const [low, high] = [Math.min(...found), Math.max(...found)];
  return number > 2 * high - low || number < 2 * low - high;
}
