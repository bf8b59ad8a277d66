import {
  columnLimits, isColumnType, otherName, type ColumnType,
} from '../../src/base/columns.js';
import { textForm, textLimits } from '../../src/base/text-form.js';
import type { Cell } from '../../client/index.js';
import { UsageError } from '../base/errors.js';
import { listFlag, pairsFlag } from '../base/numbers.js';
import { parseNumber } from './decimals.js';
import { isOfNames } from './ids.js';
import { isOfNumbers, type RowBatch } from './rows.js';
import type { TypedColumns } from './study-columns.js';
import { binsBetween, timeUnits, type TimeBin, type TimeUnit } from './times.js';

/** Options that set the types of an input's columns. */
export const typeArguments = {
  types: {
    type: 'string', valueHint: 'file',
    description: 'study file that gives the columns of the input their types',
  },
  type: {
    type: 'string', valueHint: 'column=type',
    description: 'instead of a study file: number, integer, boolean, text or category:a,b (its '
      + 'names); also with one, for dates and times: time, hour, day, week or month; may be '
      + 'repeated',
  },
} as const;

/**
 * The types of `--type column=type`, for columns that no study file describes: `number` and
 * `integer`, also with the values that are expected, as in `integer:0..9`, `boolean`, `text`,
 * `text:64` with its most bytes, or `category:a,b` with its names.
 * @param columns - those of `--columns`; undefined: all columns of the file.
 * @throws UsageError for another type, and for a column that is not among `columns`.
 */
function columnsOfFlags(
  texts: readonly string[], columns: readonly string[] | undefined,
): TypedColumns {
  if (texts.length === 0) return columns === undefined ? {} : { columns };
  const found = Object.entries(pairsFlag(texts, '--type')).map(([name, text]):
  readonly [string, { readonly type: ColumnType; readonly unit?: TimeUnit }] => {
    if (columns?.includes(name) === false) {
      throw new UsageError(`--type gives ${name} a type, and --columns leaves it out: name it in `
        + 'both, or in neither');
    }
    return [name, timeOfFlag(name, text) ?? { type: typeOfFlag(name, text) }] as const;
  });
  return {
    types: new Map(found.map(([name, { type }]) => [name, type])),
    ...timesOf(found), ...(columns !== undefined && { columns }),
  };
}

/** The words of `--type` about a column of dates and times. */
export interface TimeType {
  readonly unit: TimeUnit;
  readonly type: ColumnType;
}

function timesOf(
  found: readonly (readonly [string, { readonly unit?: TimeUnit }])[],
): Pick<TypedColumns, 'times'> {
  const times = found.flatMap(([name, { unit }]) =>
    (unit === undefined ? [] : [[name, unit] as const]));
  return times.length === 0 ? {} : { times: new Map(times) };
}

/**
 * The meaning of `--type column=time`, or of `hour`, `day`, `week` and `month`, also with the first
 * and the last, as in `day:2026-12-01..2026-12-31`: a category that has their names, with `other`
 * for times beyond. Null for another type.
 * @throws UsageError for a first or last one that is none.
 */
export function timeOfFlag(name: string, text: string): TimeType | null {
  const { word, rest } = cutType(text);
  const unit = timeUnits.find((each) => each === word);
  if (unit === undefined) return null;
  if (rest === undefined) {
    return { unit, type: unit === 'time' ? { type: 'number' }
      : { type: 'text', bytes: textLimits.bytes } };
  }
  const [first = '', last = '', ...others] = rest.split('..');
  const names = unit === 'time' || others.length > 0 ? undefined
    : binsBetween(first, last, unit, columnLimits.names);
  const example = unit === 'time' ? '' : `:${binExamples[unit]}`;
  if (names === undefined) {
    throw new UsageError(`--type ${name}=${text} is no type: write ${name}=${unit}${example}`);
  }
  if (names.length > columnLimits.names) {
    throw new UsageError(`--type ${name}=${text} lists more than ${columnLimits.names} of them: `
      + 'list fewer, or take longer ones: hour, day, week or month');
  }
  return { unit, type: { type: 'category', of: names, other: true } };
}

/** The first and the last bin of a list. */
export const binExamples: Readonly<Record<TimeBin, string>> = {
  hour: '2026-12-31T00..2026-12-31T23', day: '2026-12-01..2026-12-31',
  week: '2026-W01..2026-W53', month: '2026-01..2026-12',
};

/**
 * The columns that the flags of a command state, and their types.
 * @param columns - of `--columns`.
 * @param file - a study file, given with the flag `fileFlag`.
 * @param types - of `--type`.
 * @throws as `columnsOfStudy` and `columnsOfFlags`; UsageError if both a file and types are given.
 */
export async function readTypes(
  columns: string | undefined, file: string | undefined, types: readonly string[],
  fileFlag: '--study' | '--types',
): Promise<TypedColumns> {
  const asked = listFlag(columns, '--columns');
  if (file === undefined) return columnsOfFlags(types, asked);
  // Loaded when needed, so that other commands start fast.
  const found = Object.entries(pairsFlag(types, '--type')).map(([name, text]) =>
    [name, timeOfFlag(name, text)] as const);
  const stray = found.find(([, time]) => time === null || time.type.type === 'category');
  if (stray !== undefined) {
    throw new UsageError(`--type and ${fileFlag} both give columns their types: leave one out, or `
      + `say how dates and times are read, as in --type ${stray[0]}=day`);
  }
  const study = (await import('./study-columns.js')).columnsOfStudy(file, asked);
  for (const [name, time] of found) checkTimeType(name, time!, study, fileFlag);
  return { ...study, ...timesOf(found.map(([name, time]) => [name, time!])) };
}

/** @throws UsageError where a study has no column for what becomes of times. */
function checkTimeType(
  name: string, { unit }: TimeType, { columns, types }: TypedColumns, fileFlag: string,
): void {
  if (columns?.includes(name) !== true) {
    throw new UsageError(`--type names ${name}, which is no column of the file of ${fileFlag}: it `
      + `has ${columns!.join(', ')}`);
  }
  const type = types?.get(name);
  const isNumber = isOfNumbers(type);
  if (unit === 'time' ? isNumber : isOfNames(type)) return;
  throw new UsageError(unit === 'time'
    ? `--type ${name}=time makes numbers, and ${name} is of type ${type!.type}: write hour, day, `
      + 'week or month'
    : `--type ${name}=${unit} makes names, and ${name} is of type ${type?.type ?? 'number'}: write `
      + `${name}=time`);
}

function typeOfFlag(name: string, text: string): ColumnType {
  const { word, rest } = cutType(text);
  const type: ColumnType | undefined = word === 'category'
    ? { type: word, of: (rest ?? '').split(',').map(textForm) }
    : word === 'text' ? { type: word, bytes: rest === undefined ? textLimits.bytes : Number(rest) }
      : word === 'number' || word === 'integer' ? withRange(word, rest)
        : word === 'boolean' && rest === undefined ? { type: word } : undefined;
  if (type !== undefined && isColumnType(type)) return type;
  throw new UsageError(`--type ${name}=${text} is no type: write number, integer, integer:0..9 (the `
    + `values that you expect), boolean, text, text:64 (1 to ${textLimits.bytesMax} bytes), `
    + 'category:north,south (different names), or for dates and times: time, hour, day, week or '
    + `month, also with the first and last, as in day:${binExamples.day}`);
}

/** The word of a type, and what follows it after a colon. */
function cutType(text: string): { readonly word: string; readonly rest: string | undefined } {
  const colon = text.indexOf(':');
  return colon < 0 ? { word: text, rest: undefined }
    : { word: text.slice(0, colon), rest: text.slice(colon + 1) };
}

/** @param range - `low..high`, as a study file gives the column. */
function withRange(type: 'number' | 'integer', range: string | undefined): ColumnType | undefined {
  if (range === undefined) return { type };
  const [low, high, ...more] = range.split('..').map(parseNumber);
  if (low === undefined || high === undefined || more.length > 0) return undefined;
  return { type, low, high };
}

/**
 * A row of a batch with its values as people give them. The client checks the names of categories
 * against the list of the study that it sends to.
 */
export function typedRow(
  { columns, values, texts }: RowBatch, row: number, types: ReadonlyMap<string, ColumnType>,
): Record<string, Cell> {
  return Object.fromEntries(columns.map((name, i): [string, Cell] => {
    const type = types.get(name);
    const value = values[row * columns.length + i]!;
    if (Number.isNaN(value)) return [name, null];
    if (type?.type === 'text') return [name, texts![i]![value]!];
    if (type?.type === 'boolean') return [name, value === 1];
    return [name, type?.type === 'category' ? type.of[value] ?? otherName : value];
  }));
}
