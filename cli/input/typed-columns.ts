import { isColumnType, otherName, type ColumnType } from '../../src/base/columns.js';
import { textForm, textLimits } from '../../src/base/text-form.js';
import type { Cell } from '../../client/index.js';
import { UsageError } from '../base/errors.js';
import { listFlag, pairsFlag } from '../base/numbers.js';
import { parseNumber } from './decimals.js';
import type { RowBatch } from './rows.js';
import type { TypedColumns } from './study-columns.js';

/** Options that set the types of an input's columns. */
export const typeArguments = {
  types: {
    type: 'string', valueHint: 'file',
    description: 'study file that gives the columns of the input their types',
  },
  type: {
    type: 'string', valueHint: 'column=type',
    description: 'instead of a study file: number, integer, boolean, text or category:a,b (its '
      + 'names); may be repeated',
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
  const types = Object.entries(pairsFlag(texts, '--type')).map(([name, text]) => {
    if (columns?.includes(name) === false) {
      throw new UsageError(`--type gives ${name} a type, and --columns leaves it out: name it in `
        + 'both, or in neither');
    }
    return [name, typeOfFlag(name, text)] as const;
  });
  return { types: new Map(types), ...(columns !== undefined && { columns }) };
}

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
  if (types.length === 0) return (await import('./study-columns.js')).columnsOfStudy(file, asked);
  throw new UsageError(`--type and ${fileFlag} both give columns their types: leave one out`);
}

function typeOfFlag(name: string, text: string): ColumnType {
  const colon = text.indexOf(':');
  const word = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? undefined : text.slice(colon + 1);
  const type: ColumnType | undefined = word === 'category'
    ? { type: word, of: (rest ?? '').split(',').map(textForm) }
    : word === 'text' ? { type: word, bytes: rest === undefined ? textLimits.bytes : Number(rest) }
      : word === 'number' || word === 'integer' ? withRange(word, rest)
        : word === 'boolean' && rest === undefined ? { type: word } : undefined;
  if (type !== undefined && isColumnType(type)) return type;
  throw new UsageError(`--type ${name}=${text} is no type: write number, integer, integer:0..9 (the `
    + `values that you expect), boolean, text, text:64 (1 to ${textLimits.bytesMax} bytes) or `
    + 'category:north,south (different names)');
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
