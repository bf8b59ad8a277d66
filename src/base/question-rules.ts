import { utf8 } from './bytes.js';
import { cellFault, namesOfType, otherName, type ColumnType } from './columns.js';
import { factsLimits, valueMaxText } from './facts-limits.js';
import {
  questionLimits as limits, type GroupBy, type Question, type RowTest, type TestValue,
} from './questions.js';
import { nearest } from './suggest.js';

/** A fault of a question: its place, the rule that it breaks, and the remedy. */
export interface QuestionFault {
  /** Like `questions.delays.part`. */
  readonly path: string;
  readonly rule: string;
  readonly remedy: string;
}

/** The columns of a study, each with its type. */
export interface TypedColumns {
  readonly columns: readonly string[];
  readonly types: readonly ColumnType[];
}

/** True if a text may name a question. */
export function isQuestionName(text: string): boolean {
  return text.length <= limits.nameLength && /^[a-z][a-z0-9-]*$/.test(text);
}

/**
 * The first rule that the questions of a study break; null if they break none. Study files and
 * facts are held to the same rules. The needs of an estimator are not checked here.
 */
export function questionsFault(
  questions: readonly Question[], columns: TypedColumns,
): QuestionFault | null {
  for (const fault of faultsOf(questions, columns)) return fault;
  return null;
}

function* faultsOf(
  questions: readonly Question[], columns: TypedColumns,
): Generator<QuestionFault> {
  const { length } = questions;
  if (length < 1 || length > limits.questions) {
    yield {
      path: 'questions', rule: `has ${length} questions`,
      remedy: `give 1 to ${limits.questions}`,
    };
  }
  const names = new Set<string>();
  for (const question of questions) {
    const path = `questions.${question.name}`;
    if (!isQuestionName(question.name)) {
      yield {
        path, rule: 'has a name that cannot be used',
        remedy: `a name is a to z, digits and hyphens, at most ${limits.nameLength}, and begins `
          + 'with a letter',
      };
    }
    if (names.has(question.name)) {
      yield { path, rule: 'has the name of an earlier question', remedy: 'choose another name' };
    }
    names.add(question.name);
    yield* faultsOfOne(path, question, columns);
  }
  yield* faultsOfAll(questions, columns);
}

/** The bounds that all questions share. */
function* faultsOfAll(
  questions: readonly Question[], columns: TypedColumns,
): Generator<QuestionFault> {
  let [parts, keys] = [0, 0];
  for (const { name, part, by } of questions) {
    parts += part;
    if (parts > 100) {
      const all = questions.reduce((sum, each) => sum + each.part, 0);
      yield {
        path: `questions.${name}.part`, rule: `parts add up to ${all}`,
        remedy: 'make them at most 100 in all',
      };
    }
    const own = by === undefined ? 0 : keysOf(by, columns);
    keys += own;
    if (keys > limits.keys) {
      const most = `${limits.keys.toLocaleString('en')} groups at most`;
      yield {
        path: `questions.${name}.by`,
        rule: own > limits.keys
          ? `has ${own.toLocaleString('en')} groups: ${most}`
          : `brings the groups of all questions to ${keys.toLocaleString('en')}: ${most}`,
        remedy: 'name fewer columns or groups',
      };
    }
  }
}

/** How many keys an answer has at most. */
function keysOf({ columns: by, groups: keys, discover }: GroupBy, columns: TypedColumns): number {
  if (discover !== undefined) return discover.top;
  return keys?.length ?? by.reduce((product, name) =>
    product * (publicParts(typeIn(columns, name)!)?.length ?? 1), 1);
}

/**
 * The public values of a column that can be part of a key, as texts in their order. Those of an
 * integer end with `other`: all numbers outside its range. Null if there is no public list: texts,
 * numbers, and integers without a range of at most 1,024 values.
 */
export function publicParts(type: ColumnType): readonly string[] | null {
  if (type.type !== 'integer') return namesOfType(type);
  const { low, high } = type;
  if (low === undefined || high === undefined) return null;
  const count = high - low + 1;
  return count > limits.integerValues
    ? null : [...Array.from({ length: count }, (_, i) => String(low + i)), otherName];
}

/** The place of a number of such a column among its public values. */
export function placeOfPart(type: ColumnType, value: number): number {
  if (type.type !== 'integer') return value;
  const [low, high] = [type.low!, type.high!];
  return value >= low && value <= high ? value - low : high - low + 1;
}

function typeIn({ columns, types }: TypedColumns, name: string): ColumnType | undefined {
  return types[columns.indexOf(name)];
}

function* faultsOfOne(
  path: string, question: Question, columns: TypedColumns,
): Generator<QuestionFault> {
  const { columns: asked, where, by, part, reduce } = question;
  if (!Number.isInteger(part) || part < 1 || part > 100) {
    yield {
      path: `${path}.part`, rule: `is ${part}`,
      remedy: 'give a whole number of per cent from 1 to 100',
    };
  }
  yield* faultsOfNames(`${path}.columns`, asked, columns);
  for (const name of asked) {
    if (isText(typeIn(columns, name)!)) {
      yield {
        path: `${path}.columns`, rule: `has ${name}, which is a text and no number`,
        remedy: 'use it in where or by',
      };
    }
  }
  const isOfNames = asked.some((name) => typeIn(columns, name)!.type === 'category');
  if (reduce !== 'one' && (isOfNames || asked.length === 0)) {
    yield {
      path: `${path}.reduce`, rule: `is ${reduce}, and ${isOfNames
        ? 'a category has no sum and no mean' : 'the question has no columns'}`,
      remedy: 'write reduce: one, or leave it out',
    };
  }
  yield* faultsOfTests(`${path}.where`, question, columns);
  if (by !== undefined) yield* faultsOfBy(`${path}.by`, by, columns);
  const unused = [...asked, ...by?.columns ?? []].find((name) =>
    where.some((test) => test.column === name && 'present' in test && !test.present));
  if (unused !== undefined) {
    yield {
      path: `${path}.where.${unused}`, rule: 'must be absent, and the question uses it',
      remedy: 'leave the test out',
    };
  }
}

function* faultsOfNames(
  path: string, names: readonly string[], { columns }: TypedColumns,
): Generator<QuestionFault> {
  for (const [i, name] of names.entries()) {
    if (!columns.includes(name)) yield unknownColumn(path, name, columns);
    if (names.indexOf(name) < i) {
      yield { path, rule: `names ${name} twice`, remedy: 'name it once' };
    }
  }
}

function unknownColumn(path: string, name: string, columns: readonly string[]): QuestionFault {
  const near = nearest(name, columns);
  return {
    path, rule: `names ${name}, and the study has no such column`,
    remedy: near === undefined ? `the columns are ${columns.join(', ')}` : `did you mean ${near}?`,
  };
}

function* faultsOfTests(
  path: string, { where }: Question, columns: TypedColumns,
): Generator<QuestionFault> {
  if (where.length > limits.tests) {
    yield {
      path, rule: `has ${where.length} tests`, remedy: `give at most ${limits.tests}`,
    };
  }
  for (const test of where) {
    const type = typeIn(columns, test.column);
    if (type === undefined) yield unknownColumn(path, test.column, columns.columns);
    else yield* faultsOfTest(`${path}.${test.column}`, test, type);
  }
  for (const name of new Set(where.map(({ column }) => column))) {
    const tests = where.filter(({ column }) => column === name);
    if (canHold(typeIn(columns, name)!, tests)) continue;
    yield {
      path: `${path}.${name}`, rule: 'can never hold, so that no row would count',
      remedy: 'correct the test, or leave the question out',
    };
  }
}

function* faultsOfTest(path: string, test: RowTest, type: ColumnType): Generator<QuestionFault> {
  if ('atLeast' in test || 'below' in test) {
    if (type.type !== 'number' && type.type !== 'integer') {
      yield {
        path, rule: `is a ${type.type}, which is not compared by size`,
        remedy: 'use is, not or in',
      };
      return;
    }
    const bound = 'below' in test ? test.below : test.atLeast;
    const most = type.type === 'integer' ? Number.MAX_SAFE_INTEGER : factsLimits.valueMax;
    if (Math.abs(bound) > most) {
      yield {
        path, rule: `is compared with ${bound}, beyond what the column can hold`,
        remedy: `give ${valuesInWords(type)}`,
      };
    }
  }
  const values = 'in' in test ? test.in
    : 'is' in test ? [test.is] : 'not' in test ? [test.not] : [];
  if ('in' in test && (values.length < 1 || values.length > limits.values
      || new Set(values).size < values.length)) {
    yield { path, rule: 'is no list to choose from',
      remedy: `give in: 1 to ${limits.values} different values` };
  }
  const wrong = values.find((value) => !isValueOf(type, value));
  if (wrong === undefined) return;
  yield {
    path, rule: `is compared with ${JSON.stringify(wrong)}, which it can never be`,
    remedy: `give ${valuesInWords(type)}`,
  };
}

function isValueOf(type: ColumnType, value: TestValue): boolean {
  if (type.type === 'boolean') return typeof value === 'boolean';
  if (typeof value === 'string') {
    return isText(type) ? isTextOf(type, value) : namesOfType(type)?.includes(value) ?? false;
  }
  return (type.type === 'number' || type.type === 'integer')
    && typeof value === 'number' && cellFault(type, value) === null;
}

/** Names shown in a message. */
const namesShown = 8;

function valuesInWords(type: ColumnType): string {
  if (type.type === 'boolean') return 'true or false';
  if (type.type === 'number') return `a number of at most ${valueMaxText} in size`;
  if (type.type === 'integer') return 'a whole number of at most 2^53 - 1 in size';
  const names = namesOfType(type);
  if (names === null) return 'a text that the column can hold';
  const more = names.length > namesShown ? ', ...' : '';
  return `one of ${names.slice(0, namesShown).join(', ')}${more}`;
}

/** True if some value, or an absent one, passes all tests of one column. */
function canHold(type: ColumnType, tests: readonly RowTest[]): boolean {
  const isAbsent = (test: RowTest): boolean => 'present' in test && !test.present;
  if (tests.some(isAbsent)) return isOptional(type) && tests.every(isAbsent);
  const listed = tests.find((test): test is ListTest => 'is' in test || 'in' in test);
  const candidates: readonly TestValue[] | null = type.type === 'boolean' ? [false, true]
    : namesOfType(type)
      ?? (listed === undefined ? null : 'in' in listed ? listed.in : [listed.is]);
  if (candidates !== null) {
    return candidates.some((value) => tests.every((test) => passes(test, value)));
  }
  let [low, high] = [-Infinity, Infinity];
  for (const test of tests) {
    if ('atLeast' in test) low = Math.max(low, test.atLeast);
    if ('below' in test) high = Math.min(high, test.below);
  }
  if (type.type !== 'integer') return low < high;
  const excluded = new Set(tests.map((test) => ('not' in test ? test.not : null)));
  let first = Math.max(Math.ceil(low), Number.MIN_SAFE_INTEGER);
  while (excluded.has(first)) first += 1;
  return first < high && first <= Number.MAX_SAFE_INTEGER;
}

/** A test that lists the values that it accepts. */
type ListTest =
  Extract<RowTest, { readonly is: TestValue } | { readonly in: readonly TestValue[] }>;

function passes(test: RowTest, value: TestValue): boolean {
  if ('is' in test) return value === test.is;
  if ('not' in test) return value !== test.not;
  if ('in' in test) return test.in.includes(value);
  if ('atLeast' in test) return (value as number) >= test.atLeast;
  if ('below' in test) return (value as number) < test.below;
  return test.present;
}

function* faultsOfBy(path: string, by: GroupBy, columns: TypedColumns): Generator<QuestionFault> {
  const { columns: names, groupsMax, groups: keys, discover } = by;
  if (names.length < 1 || names.length > limits.byColumns) {
    yield {
      path, rule: `has ${names.length} columns`, remedy: `name 1 to ${limits.byColumns}`,
    };
  }
  yield* faultsOfNames(path, names, columns);
  const types = names.map((name) => typeIn(columns, name)!);
  for (const [i, type] of types.entries()) {
    if (isText(type) || publicParts(type) !== null) continue;
    yield {
      path, rule: type.type === 'integer'
        ? `needs a range of at most ${limits.integerValues} whole numbers for ${names[i]!}`
        : `cannot split by ${names[i]!}, which is a ${type.type}`,
      remedy: type.type === 'integer' ? 'give the column low and high'
        : 'name a boolean, category, text or integer column',
    };
  }
  if (!Number.isInteger(groupsMax) || groupsMax < 1 || groupsMax > limits.keys) {
    yield {
      path: `${path}.groupsMax`, rule: `is ${groupsMax}`,
      remedy: `give a whole number from 1 to ${limits.keys}`,
    };
  }
  if (keys !== undefined && discover !== undefined) {
    yield { path, rule: 'has both groups and discover', remedy: 'leave one of them out' };
  }
  if (keys === undefined && discover === undefined && types.some(isText)) {
    yield { path, rule: 'has a text', remedy: 'give discover: true, or a list in groups' };
  }
  if (discover !== undefined) yield* faultsOfDiscovery(path, discover);
  if (keys !== undefined) yield* faultsOfKeys(`${path}.groups`, keys, names, types);
}

function* faultsOfDiscovery(
  path: string, { top, prefilter, remember, answer }: NonNullable<GroupBy['discover']>,
): Generator<QuestionFault> {
  if (answer === 'groups' && prefilter !== 1) {
    yield {
      path: `${path}.prefilter`, rule: `is ${prefilter}, and answer: groups has no prefilter`,
      remedy: 'leave it out',
    };
  }
  if (remember !== undefined && !(Number.isInteger(remember) && remember >= 1 && remember < top)) {
    yield {
      path: `${path}.remember`, rule: `is ${remember}, and top is ${top}`,
      remedy: 'give a whole number from 1 that is smaller than top, so that new groups find room',
    };
  }
  for (const [name, value, most] of [
    ['top', top, limits.keys], ['prefilter', prefilter, limits.prefilter],
  ] as const) {
    if (Number.isInteger(value) && value >= 1 && value <= most) continue;
    yield {
      path: `${path}.${name}`, rule: `is ${value}`,
      remedy: `give a whole number from 1 to ${most}`,
    };
  }
}

function* faultsOfKeys(
  path: string, keys: NonNullable<GroupBy['groups']>, names: readonly string[],
  types: readonly ColumnType[],
): Generator<QuestionFault> {
  if (keys.length < 1) yield { path, rule: 'is empty', remedy: 'list the groups' };
  const parts = types.map((type) => (isText(type) ? null : new Set(publicParts(type))));
  const seen = new Set<string>();
  for (const [i, key] of keys.entries()) {
    const shown = JSON.stringify(key);
    if (key.length !== names.length) {
      yield { path: `${path}[${i}]`, rule: `is ${shown}`,
        remedy: `give one value for each of ${names.join(', ')}` };
    }
    const wrong = types.findIndex((type, j) =>
      !(parts[j] === null ? isTextOf(type, key[j]!) : parts[j]!.has(key[j]!)));
    if (wrong >= 0) {
      yield {
        path: `${path}[${i}]`, rule: `has ${JSON.stringify(key[wrong])} for ${names[wrong]!}, which `
          + 'it can never be',
        remedy: `give ${valuesInWords(types[wrong]!)}`,
      };
    }
    if (seen.has(shown)) {
      yield { path: `${path}[${i}]`, rule: 'stands in the list twice', remedy: 'list it once' };
    }
    seen.add(shown);
  }
}

/** Texts may be in where and by. They are no numbers. */
export function isText(type: ColumnType): boolean {
  return (type.type as string) === 'text';
}

function isOptional(type: ColumnType): boolean {
  return (type as { readonly optional?: true }).optional === true;
}

function isTextOf(type: ColumnType, text: string): boolean {
  const { bytes } = type as unknown as { readonly bytes: number };
  const { length } = utf8(text);
  return length >= 1 && length <= bytes && text === text.normalize().trim();
}
