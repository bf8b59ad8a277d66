import { factsLimits, isName, valueMaxText } from './facts-limits.js';
import { textForm, textLimits } from './text-form.js';

/**
 * The type of one column of a study, as its facts state it. The facts, the wire, the client and
 * files share it.
 *
 * Estimators see numbers: a `boolean` is 0 or 1, a `category` is the place of its name in
 * `namesOfType`, from 0. `low` and `high` are public and only say what is expected; values beyond
 * them are taken. A `text` has 1 to `bytes` bytes of UTF-8 in the form of `textFault`. No estimator
 * sees it: it is for `by` and `where` of a question. In an `optional` column a row may have no
 * value, which is NaN where rows are numbers.
 */
export type ColumnType = { readonly optional?: true } & (
  | { readonly type: 'number'; readonly low?: number; readonly high?: number }
  | { readonly type: 'integer'; readonly low?: number; readonly high?: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'category'; readonly of: readonly string[]; readonly other?: true }
  | { readonly type: 'text'; readonly bytes: number });

/** Limits of typed columns. */
export const columnLimits = {
  /** Names of one category: all of them are public, and each has a number in a histogram. */
  names: 1_024,
  /** Canonical JSON of all columns together. */
  factsBytes: 256 * 1024,
} as const;

/** The name of the values of a category that are none of its listed names. */
export const otherName = 'other';

/**
 * True if a type can be used. A category has 1 to 1,024 different names, without `other` beside
 * `other: true`. `low` is below `high`, and both are finite, and whole for an integer. A text has 1
 * to 255 bytes.
 */
export function isColumnType(type: ColumnType): boolean {
  if (type.type === 'boolean') return true;
  if (type.type === 'text') {
    return Number.isInteger(type.bytes) && type.bytes >= 1 && type.bytes <= textLimits.bytesMax;
  }
  if (type.type === 'category') {
    const names = namesOfType(type)!;
    return type.of.length > 0 && type.of.length <= columnLimits.names && names.every(isName)
      && new Set(names).size === names.length;
  }
  const { low, high } = type;
  return [low, high].every((end) => end === undefined || cellFault(type, end) === null)
    && (low === undefined || high === undefined || low < high);
}

/**
 * The names of the values 0, 1, 2 ... of a column: of a category, with `other` last, or of a
 * boolean. Null for numbers and texts.
 */
export function namesOfType(type: ColumnType): readonly string[] | null {
  if (type.type === 'boolean') return ['false', 'true'];
  if (type.type !== 'category') return null;
  return type.other === true ? [...type.of, otherName] : type.of;
}

/**
 * True if the facts of a study with these columns list its questions. Readers of facts without a
 * list take a number from every column of every row.
 */
export function needsQuestions(types: readonly ColumnType[] | undefined): boolean {
  return types?.some(({ type, optional }) => type === 'text' || optional === true) === true;
}

/** The types of some of a study's columns; undefined where all columns are numbers. */
export function typesOfColumns(
  { columns, types }: {
    readonly columns: readonly string[]; readonly types?: readonly ColumnType[] | undefined;
  },
  names: readonly string[],
): readonly ColumnType[] | undefined {
  return types && names.map((name) => types[columns.indexOf(name)]!);
}

/**
 * Why a number cannot be a value of a column; null when it can. A row without a value is judged
 * elsewhere: NaN is `not-finite` also where the column is optional.
 * - `not-finite`: NaN or infinite.
 * - `wrong-type`: beyond `valueMax` in size; not whole, outside +-(2^53 - 1), not 0 or 1, or not
 *   the place of a name or text.
 */
export function cellFault(type: ColumnType, value: number): 'not-finite' | 'wrong-type' | null {
  if (!Number.isFinite(value)) return 'not-finite';
  switch (type.type) {
    case 'number': return Math.abs(value) <= factsLimits.valueMax ? null : 'wrong-type';
    case 'integer': return Number.isSafeInteger(value) ? null : 'wrong-type';
    case 'boolean': return value === 0 || value === 1 ? null : 'wrong-type';
    case 'text': return Number.isInteger(value) && value >= 0 ? null : 'wrong-type';
    case 'category': {
      const names = type.of.length + (type.other === true ? 1 : 0);
      return Number.isInteger(value) && value >= 0 && value < names ? null : 'wrong-type';
    }
  }
}

/** The rule that a number breaks, for messages: they never hold the number. */
export function cellRule({ type }: ColumnType, fault: 'not-finite' | 'wrong-type'): string {
  if (fault === 'not-finite') return 'the value is NaN or infinite';
  if (type === 'number') return `the value is beyond ${valueMaxText} in size`;
  return type === 'integer' ? 'the value is not a whole number of at most 2^53 - 1 in size'
    : 'the code is not the place of a name of the category';
}

/**
 * The number of a value that a person or program gives; null when the column cannot hold it, and
 * for a text, which has no number of its own. A name of a category is compared in the one form of a
 * text; any other name is `other`, where the category has that.
 */
export function cellOf(type: ColumnType, cell: unknown): number | null {
  if (type.type === 'category') {
    if (typeof cell !== 'string') return null;
    const place = type.of.indexOf(textForm(cell));
    return place >= 0 ? place : type.other === true ? type.of.length : null;
  }
  if (type.type === 'boolean') return typeof cell === 'boolean' ? Number(cell) : null;
  if (type.type === 'text') return null;
  return typeof cell === 'number' && cellFault(type, cell) === null ? cell : null;
}
