import { answerKeys, describeNumbers, type Described } from '../../src/answers/describe.js';
import {
  columnLimits, isColumnType, namesOfType, type ColumnType,
} from '../../src/base/columns.js';
import { valueMaxText } from '../../src/base/facts-limits.js';
import { textLimits } from '../../src/base/text-form.js';
import { canonicalJson } from '../../src/base/canonical-json.js';
import type { ParameterValues } from '../../src/base/facts.js';
import type { Question } from '../../src/base/questions.js';
import { columnWordsFault, wordsOfColumns, type ColumnWords } from '../../src/base/study-words.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { FileColumn, StudyFile } from './schema.js';

/** Refuses a file: the path, the rule that is broken, the remedy. */
export type Refuse = (path: string, rule: string, remedy: string) => Error;

type Given = Readonly<Record<string, unknown>>;

/**
 * The facts about an estimator that are needed here. Commands that only read columns load no
 * estimators.
 */
interface Asked {
  readonly name: string;
  readonly parameters: readonly { readonly name: string }[];
}

/** Keys of a column besides `type`, and the types that have them. */
const keysOfTypes: Readonly<Record<string, readonly string[]>> = {
  low: ['number', 'integer'], high: ['number', 'integer'], of: ['category'], other: ['category'],
  bytes: ['text'],
};

const keysOfAll: readonly string[] = ['type', 'optional', 'label', 'unit', 'format'];

/**
 * The columns of a file, and their types where it states any.
 * @throws the error of `refuse`, for a type that cannot be used.
 */
export function readColumns(
  { columns }: Pick<StudyFile, 'columns'>, refuse: Refuse,
): Pick<StudyDocument, 'version' | 'columns' | 'types' | 'columnWords'> {
  if (Array.isArray(columns)) return { version: 1, columns };
  const map = Object.entries(columns as Readonly<Record<string, FileColumn>>);
  const types = map.map(([name, column]) => typeOf(`columns.${name}`, column, refuse));
  const words = map.map(([name, column], i) =>
    wordsOf(`columns.${name}`, column, types[i]!, refuse));
  if (canonicalJson(map).length > columnLimits.factsBytes) {
    throw refuse('columns', `have more than ${columnLimits.factsBytes} characters in all`,
      'give fewer or shorter names');
  }
  return {
    version: 2, columns: map.map(([name]) => name), types,
    ...wordsOfColumns(words),
  };
}

/** The words for a column that pages show. */
function wordsOf(
  path: string, given: FileColumn, type: ColumnType, refuse: Refuse,
): ColumnWords {
  if (typeof given === 'string') return {};
  const { label, unit, format } = given;
  const words = {
    ...(label !== undefined && { label }), ...(unit !== undefined && { unit }),
    ...(format !== undefined && { format }),
  };
  const fault = columnWordsFault(words, type);
  if (fault === null) return words;
  throw refuse(`${path}.${fault[0]}`, `is ${fault[1]}`, 'leave it out');
}

function typeOf(path: string, given: FileColumn, refuse: Refuse): ColumnType {
  const column = typeof given === 'string' ? { type: given } : given;
  const { type, low, high, of, other, bytes = textLimits.bytes, optional } = column;
  const wrong = Object.keys(column)
    .find((key) => !keysOfAll.includes(key) && !keysOfTypes[key]?.includes(type));
  if (wrong !== undefined) {
    throw refuse(`${path}.${wrong}`, `is not for type: ${type}`, 'leave it out');
  }
  if (type === 'category' && of === undefined) {
    throw refuse(path, 'is a category without names', 'give of: a list of its names');
  }
  const own: ColumnType = type === 'boolean' ? { type } : type === 'text' ? { type, bytes }
    : type === 'category' ? { type, of: of!, ...(other === true && { other }) }
      : { type, ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
  const read = { ...own, ...(optional === true && { optional }) };
  if (isColumnType(read)) return read;
  throw refuse(path, 'cannot be used', type === 'category'
    ? `of has 1 to ${columnLimits.names} different names, not other beside other: true`
    : `low is below high, both are at most ${valueMaxText} in size, and whole for an integer`);
}

/**
 * The parameters of a file, with what follows from its columns: the index of a column that is given
 * by name; for a histogram of a category or boolean a bin for each name; for a sum, a quantile, a
 * distribution and a mean that is split by keys the range of the columns.
 * @param isKeyed whether the answer is split by keys.
 * @throws the error of `refuse`, if the estimator cannot answer about these columns.
 */
export function parametersFor(
  given: Given, estimator: Asked,
  { columns, types }: Pick<StudyDocument, 'columns' | 'types'>, refuse: Refuse, isKeyed = false,
): Given {
  const placed = withIndex(given, columns);
  if (types === undefined) return placed;
  const asked = askedColumn(placed, estimator, columns);
  const names = asked === null ? null : namesOfType(types[asked]!);
  const edges = names?.slice(1).map((_, i) => i + 1) ?? [];
  const question = { estimator: estimator.name, columns, types };
  // With these edges its bins are the names.
  const named = { ...placed, edges } as unknown as ParameterValues;
  if (names !== null && answerKeys({ ...question, parameters: named }) !== null) {
    const wrong = ['edges', 'width'].find((name) => name in placed);
    if (wrong !== undefined) {
      throw refuse(`parameters.${wrong}`, `is not for ${columns[asked!]}, which has names`,
        'leave it out: each name has a bin');
    }
    if (names.length < 2) {
      throw refuse(`columns.${columns[asked!]}`, 'has one name, so that all people are in one bin',
        'list more names, or add other: true');
    }
    return { ...placed, edges };
  }
  refuseCategories(placed, estimator, { columns, types }, refuse);
  return { ...rangeOf(placed, estimator, isKeyed, types, asked), ...placed };
}

/** `column` may be the name of a column. */
function withIndex(given: Given, columns: readonly string[]): Given {
  const index = columns.indexOf(given['column'] as string);
  return index < 0 ? given : { ...given, column: index };
}

/** The column that an estimator of one column is asked about; null for other estimators. */
function askedColumn(
  given: Given, { parameters }: Asked, columns: readonly string[],
): number | null {
  if (!parameters.some(({ name }) => name === 'column')) return null;
  const index = given['column'] === undefined && columns.length === 1 ? 0 : Number(given['column']);
  return Number.isInteger(index) && index >= 0 && index < columns.length ? index : null;
}

/** As a number, the place of a name or a text means nothing. */
function refuseCategories(
  given: Given, estimator: Asked,
  { columns, types = [] }: Pick<StudyDocument, 'columns' | 'types'>, refuse: Refuse,
): void {
  const isAboutOne = estimator.parameters.some(({ name }) => name === 'column');
  const numbers = describeNumbers({
    estimator: estimator.name, columns, parameters: given as ParameterValues,
  });
  const usesNone = numbers.every((number) =>
    number.kind === 'groups' || (number.kind === 'count' && number.side === undefined));
  if (usesNone) return;
  const asked = isAboutOne ? [askedColumn(given, estimator, columns) ?? -1] : columns.keys();
  for (const index of asked) {
    const path = `columns.${columns[index]}`;
    if (types[index]?.type === 'text') {
      throw refuse(path, `is a text, and ${estimator.name} works out numbers`,
        'leave the column out: a question uses texts in by and where');
    }
    if (types[index]?.type !== 'category') continue;
    throw refuse(path,
      `is a category, and ${estimator.name} works out numbers`,
      'choose the estimator histogram with parameters: { column: '
      + `${columns[index]} }, or leave the column out`);
  }
}

/**
 * The default range of a sum, a quantile, a distribution or a mean by keys, where every column that
 * it needs states one. A mean by keys finds no spread, so it has no plan without a range.
 */
function rangeOf(
  given: Given, { parameters }: Asked, isKeyed: boolean, types: readonly ColumnType[],
  asked: number | null,
): Given {
  const takes = (name: string): boolean => parameters.some((spec) => spec.name === name);
  const ends = (type: ColumnType | undefined): readonly [number, number] | null =>
    (type !== undefined && 'low' in type && type.low !== undefined && type.high !== undefined
      ? [type.low, type.high] : null);
  if (takes('range') && takes('column')) {
    const found = given['edges'] === undefined ? ends(types[asked ?? -1]) : null;
    return found === null ? {} : { range: `${found[0]}..${found[1]}` };
  }
  const needsRange = takes('spread') ? isKeyed && given['spread'] === undefined
    : given['cap'] === undefined;
  if (!takes('range') || !needsRange) return {};
  const found = types.map((type) => (type.type === 'boolean' ? [0, 1] as const : ends(type)));
  if (found.some((each) => each === null)) return {};
  return { range: found.map((each) => `${each![0]}..${each![1]}`) };
}

/** The default way to reduce the rows of one person, where the file states none. */
export function defaultReduce(
  asked: Described, isOfNames: boolean,
): Question['reduce'] {
  const { types = [] } = asked;
  if (isOfNames || types.some(({ type }) => type === 'category')) return 'one';
  // A total of people's averages would be no total.
  return describeNumbers(asked).some(({ kind }) => kind === 'total' || kind === 'ratio')
    ? 'sum' : 'mean';
}
