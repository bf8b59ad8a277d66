import { basename, extname } from 'node:path';
import { durationForm, epochLength, parseDuration } from '../../server/study-file/durations.js';
import { columnLimits, isColumnType, otherName } from '../../src/base/columns.js';
import { factsLimits, isLine, isName, nameRule } from '../../src/base/facts-limits.js';
import { protocolLimits } from '../../src/base/limits.js';
import { lineRule, wordLimits } from '../../src/base/study-words.js';
import { didYouMean, questionWordsFor } from '../../src/base/suggest.js';
import { epsilonRange } from '../../src/privacy/accounting/target.js';
import { questionLimits } from '../../src/base/questions.js';
import { UsageError } from '../base/errors.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import { cohortFlag, usualDelta } from '../base/privacy-flags.js';
import { readCsvNames } from '../input/csv-names.js';
import type { Asker } from './asker.js';
import { checkOptional, readFacts, type FactFlags } from './facts.js';
import {
  isKeyed, keyedQuestions, questions, type Answers, type Question, type Range,
} from './questions.js';

/** The values on the command line. Everything else is asked, or has a default. */
export interface InitFlags extends FactFlags {
  readonly title?: string | undefined;
  readonly question?: string | undefined;
  readonly columns?: string | undefined;
  readonly csv?: string | undefined;
  /** Each is `low..high` or `column=low..high`. */
  readonly ranges: readonly string[];
  readonly threshold?: string | undefined;
  readonly 'group-by'?: string | undefined;
  /** Each is `a,b` or `column=a,b`. */
  readonly groups: readonly string[];
  readonly cohort?: string | undefined;
  readonly epsilon?: string | undefined;
  readonly delta?: string | undefined;
  readonly budget?: string | undefined;
  readonly releases?: string | undefined;
  readonly every?: string | undefined;
}

/** Values that a plan may refuse as too small, so that a person is asked again. */
export type Size = Pick<Answers, 'cohort' | 'epsilon' | 'delta' | 'budget' | 'releases'>;

/** Columns that a message names at most. */
const columnsShown = 8;
/** Numbers that a row can hold. */
const valueRule = { atLeast: -factsLimits.valueMax, atMost: factsLimits.valueMax };

const ofOneColumn: ReadonlySet<Question> = new Set<Question>([
  'share', 'histogram', 'percentile', 'distribution', 'mean-by-group', 'median-by-group',
  'several',
]);
/** They count people, so no column of numbers is needed. */
const ofNoColumn: ReadonlySet<Question> = new Set<Question>([
  'count-by-group', 'running-total', 'unknown-groups',
]);
/** The others need no public range. */
const needRanges: ReadonlySet<Question> = new Set<Question>([
  ...[...ofOneColumn].filter((each) => each !== 'percentile'), 'skewed-mean', 'total',
]);

/**
 * Asks for everything about a study except its size.
 * @param file - its name becomes the study's name.
 * @throws UsageError for a flag that is wrong or missing; InvalidInputError if the CSV file has no
 *   column names.
 */
export async function askStudy(
  flags: InitFlags, file: string, asker: Asker,
): Promise<Omit<Answers, keyof Size>> {
  const study = studyName(file);
  const { csv } = flags;
  const listed = csv === undefined ? undefined : checkedNames(readCsvNames(csv), csv);
  const question = await asker.ask({
    flag: 'question', given: flags.question, parse: parseQuestion,
    question: 'What do you want to know?',
  });
  refuseFlagsOfOthers(flags, question);
  const facts = readFacts(flags, question);
  const columns = ofNoColumn.has(question)
    ? [] : await askColumns(flags, listed, question, asker);
  const ranges = question === 'share' ? null : await askRanges(flags, columns, question, asker);
  const threshold = question !== 'share' ? null : await asker.ask({
    flag: 'threshold', given: flags.threshold,
    question: `From which value of ${columns[0]!} on does a person count?`,
    parse: (text) => numberFlag(text, '--threshold', valueRule),
  });
  const by = isKeyed(question) ? await askBy(flags, listed, columns, asker) : [];
  checkOptional(facts, columns, by);
  const keys = by.length === 0 || question === 'unknown-groups' ? null
    : await askKeys(flags.groups, by, asker);
  const every = await asker.ask({
    flag: 'every', given: flags.every, fallback: '1d', parse: parseEvery,
    question: 'How long does an epoch last?',
  });
  return {
    study, title: titleOf(flags), question, columns, by, keys, ranges, threshold, every, ...facts,
  };
}

/** Asks for the number of people, for the privacy, and for how long the budget must last. */
export async function askSize(
  flags: Pick<InitFlags, keyof Size>, asker: Asker,
): Promise<Size> {
  const cohort = await asker.ask({
    flag: 'cohort', given: flags.cohort,
    question: 'About how many people take part in each epoch?',
    parse: (text) => cohortFlag(text)!,
  });
  const epsilon = await asker.ask({
    flag: 'epsilon', given: flags.epsilon, fallback: '1',
    question: 'How much may a release reveal about a person, as epsilon? Less is more private.',
    parse: (text) => numberFlag(text, '--epsilon', epsilonRange),
  });
  const delta = await asker.ask({
    flag: 'delta', given: flags.delta, fallback: usualDelta(cohort).toExponential(),
    question: 'With which probability may that bound fail, as delta? Keep it far below one in '
      + `${cohort}, the number of people.`,
    parse: (text) => numberFlag(text, '--delta', { atLeast: 1e-100, below: 0.05 }),
  });
  const budget = await asker.ask({
    flag: 'budget', given: flags.budget,
    fallback: String(Number(Math.min(8 * epsilon, epsilonRange.atMost).toPrecision(6))),
    question: 'How much may all releases together reveal about a person, as epsilon? The study '
      + 'ends when that is used up.',
    parse: (text) => numberFlag(text, '--budget', { ...epsilonRange, atLeast: epsilon }),
  });
  const many = { atLeast: 1, atMost: protocolLimits.budgetReleasesMax, whole: true };
  const releases = await asker.ask({
    flag: 'releases', given: flags.releases, fallback: '',
    question: 'For how many answers must the budget last? Fewer have less noise each. Leave it '
      + 'empty for as many as it can pay.',
    parse: (text) => (text === '' ? null : numberFlag(text, '--releases', many)),
  });
  return { cohort, epsilon, delta, budget, releases };
}

function titleOf({ title }: InitFlags): string | null {
  if (title === undefined || isLine(title, wordLimits.title)) return title ?? null;
  throw new UsageError(`--title takes ${lineRule(wordLimits.title)}`);
}

function studyName(file: string): string {
  const extension = extname(file);
  if (!/^\.ya?ml$/i.test(extension)) {
    throw new UsageError(`a study file ends in .yaml: write ${file}.yaml`);
  }
  const name = basename(file, extension);
  if (isName(name)) return name;
  throw new UsageError(
    `the study has the name of its file, and a study takes ${nameRule}: choose another file`,
  );
}

function parseQuestion(text: string): Question {
  const found = questions.find((question) => question === text.toLowerCase());
  if (found !== undefined) return found;
  const near = didYouMean(text, questions, questionWordsFor(questions));
  throw new UsageError(`the question is one of ${questions.join(', ')}${near}`);
}

function refuseFlagsOfOthers(
  { columns, ranges, threshold, 'group-by': by, groups }: InitFlags, question: Question,
): void {
  if (threshold !== undefined && question !== 'share') {
    throw new UsageError(`--threshold is for --question share, not ${question}: leave it out`);
  }
  if (ranges.length > 0 && question === 'share') {
    throw new UsageError('--range is not for --question share: give --threshold instead');
  }
  if (by !== undefined && !isKeyed(question)) {
    throw new UsageError(`--group-by is not for --question ${question}: leave it out, or ask for `
      + `one of ${keyedQuestions.join(', ')}`);
  }
  if (groups.length > 0 && (!isKeyed(question) || question === 'unknown-groups')) {
    throw new UsageError(`--groups is not for --question ${question}: leave it out, or ask for one `
      + `of ${keyedQuestions.filter((each) => each !== 'unknown-groups').join(', ')}`);
  }
  if (ofNoColumn.has(question) && (columns !== undefined || ranges.length > 0)) {
    const flag = columns === undefined ? 'range' : 'columns';
    throw new UsageError(`--${flag} is not for --question ${question}, which counts people: `
      + 'name the column of names with --group-by');
  }
}

/** The columns by all of which an answer is split. */
async function askBy(
  { 'group-by': given }: InitFlags, listed: readonly string[] | undefined,
  columns: readonly string[], asker: Asker,
): Promise<readonly string[]> {
  return asker.ask({
    flag: 'group-by', given,
    question: 'Which column holds the names? Several, with commas between, make a group of each '
      + 'pair of their names.',
    parse: (text) => {
      const names = checkedNames(listFlag(text, '--group-by')!, '--group-by');
      if (names.length > questionLimits.byColumns) {
        throw new UsageError(`an answer is split by ${questionLimits.byColumns} columns at most: `
          + 'name fewer');
      }
      const unknown = listed && names.find((name) => !listed.includes(name));
      if (unknown !== undefined) {
        throw new UsageError(`the file has no column "${unknown}"${didYouMean(unknown, listed!)}`);
      }
      const number = names.find((name) => columns.includes(name));
      if (number === undefined) return names;
      throw new UsageError(`${number} holds numbers: name another column, which holds names`);
    },
  });
}

/** The names in each of these columns. */
async function askKeys(
  texts: readonly string[], by: readonly string[], asker: Asker,
): Promise<readonly (readonly string[])[]> {
  const given = new Map<string, string>();
  for (const text of texts) {
    const column = by.find((each) => text.startsWith(`${each}=`));
    if (column === undefined && by.length > 1) {
      throw new UsageError(`--groups ${text} does not say of which column these are the names: `
        + `write --groups ${by[0]!}=${text}, and --groups again for each other column`);
    }
    const named = column ?? by[0]!;
    if (given.has(named)) {
      throw new UsageError(`--groups is given twice for ${named}: give it once`);
    }
    given.set(named, column === undefined ? text : text.slice(column.length + 1));
  }
  const keys: (readonly string[])[] = [];
  for (const column of by) {
    keys.push(await asker.ask({
      flag: 'groups', given: given.get(column), parse: parseKeys,
      question: `Which names does ${column} hold, separated by commas? Others count as other.`,
    }));
  }
  return keys;
}

function parseKeys(text: string): readonly string[] {
  const names = listFlag(text.normalize(), '--groups')!;
  if (isColumnType({ type: 'category', of: names, other: true })) return names;
  throw new UsageError(`--groups is 1 to ${columnLimits.names} names, each ${nameRule}, and none is `
    + `${otherName}: any name that is not listed counts as ${otherName}`);
}

function parseEvery(text: string): string {
  const ms = parseDuration(text);
  const { leastMs, least, mostMs, most } = epochLength;
  if (ms !== undefined && ms >= leastMs && ms <= mostMs) return text;
  throw new UsageError(`--every is ${durationForm}, from ${least} to ${most}, not "${text}"`);
}

async function askColumns(
  { columns: given }: InitFlags, listed: readonly string[] | undefined, question: Question,
  asker: Asker,
): Promise<readonly string[]> {
  const isOne = ofOneColumn.has(question);
  const all = listed?.join(', ');
  const parse = (text: string): readonly string[] => {
    // Names in a CSV file may contain commas.
    const names = text === all ? listed! : checkedNames(listFlag(text, '--columns')!, '--columns');
    if (isOne && names.length > 1) {
      throw new UsageError(`a ${question} is about one column: name one, not ${names.length}`);
    }
    const unknown = listed === undefined ? undefined : names.find((name) => !listed.includes(name));
    if (unknown !== undefined) {
      throw new UsageError(`the file has no column "${unknown}"${didYouMean(unknown, listed!)}`);
    }
    return names;
  };
  if (all !== undefined && asker.isTerminal) asker.tell(`columns of the file: ${all}`);
  // If one of several columns is meant, there is no default.
  const hasDefault = listed !== undefined && (!isOne || listed.length === 1);
  return asker.ask({
    flag: 'columns', given, parse, ...(hasDefault && { fallback: all! }),
    question: isOne ? 'Which column is it about?'
      : 'Which columns is it about, separated by commas?',
  });
}

function checkedNames(names: readonly string[], whose: string): readonly string[] {
  if (names.length > protocolLimits.columns) {
    const most = `a study has at most ${protocolLimits.columns}`;
    throw new UsageError(`${whose}: ${names.length} columns, and ${most}: name fewer`);
  }
  const wrong = names.findIndex((name) => !isName(name)) + 1;
  if (wrong > 0) {
    throw new UsageError(`${whose}: the name of column ${wrong} is not ${nameRule}: rename it`);
  }
  const twice = names.findIndex((name, i) => names.indexOf(name) < i) + 1;
  if (twice > 0) {
    throw new UsageError(`${whose}: column ${twice} has the name of an earlier one: rename it`);
  }
  return names;
}

/** Null if the ranges are not known. See `needRanges`. */
async function askRanges(
  flags: InitFlags, columns: readonly string[], question: Question, asker: Asker,
): Promise<readonly Range[] | null> {
  const given = rangesGiven(flags.ranges, columns);
  const isNeeded = needRanges.has(question) || flags.servers.length > 0;
  const ranges: Range[] = [];
  for (const column of columns) {
    const range = await asker.ask<Range | null>({
      flag: 'range', given: given.get(column), parse: parseRange,
      ...(!isNeeded && { fallback: '' }),
      question: `Between which values does ${question === 'total' ? 'the sum of a person’s '
        : ''}${column} nearly always lie, like 0..120?`
        + (isNeeded ? '' : ' (Nothing: nobody knows.)'),
    });
    // If one range is unknown, all spreads are found privately.
    if (range === null) {
      if (given.size === 0) return null;
      throw new UsageError(`--range is missing for ${column}: give it for all columns or for none`);
    }
    ranges.push(range);
  }
  return ranges;
}

/** The text of each column's range. */
function rangesGiven(
  texts: readonly string[], columns: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    const equals = text.lastIndexOf('=');
    const named = equals < 0 ? columns : [text.slice(0, equals).trim()];
    for (const column of named) {
      if (!columns.includes(column)) {
        const near = didYouMean(column, columns);
        const some = columns.slice(0, columnsShown).join(', ');
        const more = columns.length > columnsShown ? ', ...' : '';
        throw new UsageError(`--range names "${column}", and the study has no such column${near}; `
          + `it has ${some}${more}`);
      }
      if (found.has(column)) {
        throw new UsageError(`--range is given twice for ${column}: give it once`);
      }
      found.set(column, text.slice(equals + 1).trim());
    }
  }
  return found;
}

function parseRange(text: string): Range | null {
  if (text === '') return null;
  const parts = text.split('..');
  if (parts.length !== 2) throw new UsageError(`a range is two numbers like 0..120, not "${text}"`);
  const [low, high] = parts.map((part) => numberFlag(part.trim(), '--range', valueRule));
  if (low! < high!) return { low: low!, high: high! };
  throw new UsageError(`a range goes from a number to a larger one, not "${text}"`);
}
