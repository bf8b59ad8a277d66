import type { StudyDefinition } from '../../server/studies/definition.js';
import { epochLength } from '../../server/study-file/durations.js';
import { parseStudyText } from '../../server/study-file/index.js';
import type { ColumnType } from '../../src/base/columns.js';
import { KeelsonError } from '../../src/base/errors.js';
import { questionLimits } from '../../src/base/questions.js';
import { textLimits } from '../../src/base/text-form.js';
import type { Ledger } from '../../src/ledger.js';
import { byFlags, UsageError } from '../base/errors.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import {
  cohortFlag, participationOf, targetOfFlags, type PrivacyFlags,
} from '../base/privacy-flags.js';
import { csvFlag } from '../input/csv-flag.js';
import type { RowOptions } from '../input/rows.js';
import type { TypedColumns } from '../input/study-columns.js';
import { binExamples } from '../input/typed-columns.js';
import { checkBins, timeTest } from './times.js';
import { checkThreshold } from './types.js';

/** The flags that make one question, as a study file asks it. */
export interface AskedFlags extends PrivacyFlags {
  readonly participation?: string | undefined;
  readonly columns?: string | undefined;
  readonly csv?: string | undefined;
  readonly cohort?: string | undefined;
  readonly contributor?: string | undefined;
  readonly reduce?: string | undefined;
  readonly 'group-by'?: string | undefined;
  readonly groups?: string | undefined;
  readonly 'groups-max'?: string | undefined;
}

/** One question, planned, and how its file is read. */
export interface AskedQuestion {
  readonly definition: StudyDefinition;
  readonly input: Pick<RowOptions, 'columns' | 'types' | 'times'>;
}

const typeUsual: ColumnType = { type: 'number' };

/**
 * The question that flags ask, as a study of one release. Who is in which group, and whose rows
 * pass the tests, is as secret as the values in the rows.
 * @param name of the estimator.
 * @param where - the texts of `--where`.
 * @param typed - the types of the columns that a study file or `--type` names; others hold numbers.
 *   A study file may also state how a person's rows are reduced. A ledger, if one pays, gives the
 *   question its budget.
 * @throws UsageError for flags that make no question; KeelsonError('plan-infeasible') where there
 *   is no plan.
 */
export function askedQuestion(
  name: string, flags: AskedFlags, where: readonly string[],
  parameters: Readonly<Record<string, unknown>>,
  typed: TypedColumns & { readonly ledger?: Ledger | undefined },
): AskedQuestion {
  const { types = new Map<string, ColumnType>(), reduce, times, ledger } = typed;
  const cohort = cohortFlag(flags.cohort);
  if (cohort === undefined) {
    throw new UsageError('--cohort is missing: with --where and --groups-max it is secret which '
      + 'rows count, so give the public number of contributors');
  }
  const participation = participationOf(flags.participation, true, 'secret');
  const tests = where.map((text) => testOf(text, typed, csvFlag(flags.csv)));
  const by = byOf(flags);
  const instant = by?.columns.find((column) => times?.get(column) === 'time');
  if (instant !== undefined) throw timesOfGroup(instant);
  const own = listFlag(flags.columns, '--columns') ?? [];
  checkBins(name, { ...typed, columns: own });
  checkThreshold(name, parameters, own, types);
  const names = [...new Set([
    ...own, ...tests.map(({ column }) => column), ...by?.columns ?? [],
  ])];
  const typeOf = (column: string): ColumnType => types.get(column)
    ?? (by?.columns.includes(column) === true ? { type: 'text', bytes: textLimits.bytes }
      : typeUsual);
  // It refuses flags that are missing or wrong.
  const { epsilon, deltaTotal: delta } = targetOfFlags(flags, cohort, ledger);
  const privacy = { epsilon, delta };
  const budget = ledger === undefined || delta === 0 ? privacy
    : {
      epsilon: Math.max(ledger.terms.epsilon, epsilon), delta: ledger.terms.delta, rule: 'zcdp',
    };
  const definition = planned({
    study: 'these flags', cohort, participation, peopleMax: cohort,
    epoch: { every: epochLength.most }, privacy,
    columns: Object.fromEntries(names.map((column) => [column, typeOf(column)])),
    contribution: { rowsMax: rowsOfFile(flags.contributor) },
    budget: { ...budget, scope: 'study', ...(delta === 0 ? { rule: 'pure' } : { releases: 1 }) },
    questions: { [name]: {
      estimator: name, columns: own, parameters,
      where: whereOf(tests),
      ...(by !== null && { by }), reduce: flags.reduce ?? reduce,
    } },
  });
  return {
    definition,
    input: {
      columns: names, types: new Map(names.map((column) => [column, typeOf(column)])),
      ...(times && { times }),
    },
  };
}

/** The most rows of one person in a file: one if no column names the person. */
export function rowsOfFile(contributor: string | undefined): number {
  return contributor === undefined ? 1 : 1_000_000_000;
}

interface By {
  readonly columns: readonly string[];
  readonly groupsMax: number;
  readonly discover?: true;
  /** The most keys that are shown. */
  readonly top?: number;
  readonly groups?: readonly string[];
}

/** Null if the answer is not split. */
function byOf(flags: AskedFlags): By | null {
  const { 'group-by': named, groups, 'groups-max': text } = flags;
  const groupsMax = numberFlag(text, '--groups-max', { atLeast: 1, whole: true });
  if (named === undefined) {
    const stray = groupsMax !== undefined ? '--groups-max' : groups !== undefined ? '--groups'
      : null;
    if (stray === null) return null;
    throw new UsageError(`${stray} needs --group-by: name the column that holds the groups`);
  }
  if (groupsMax === undefined) {
    throw new UsageError('--where with --group-by needs --groups-max: say in how many groups a '
      + 'person counts at most');
  }
  const columns = listFlag(named, '--group-by')!;
  if (groups === undefined) return { columns, groupsMax };
  const [, discovers, most] = /^(discover)(?::(.*))?$/.exec(groups.trim()) ?? [];
  if (discovers !== undefined) {
    const top = numberFlag(most, '--groups discover:', {
      atLeast: 1, atMost: questionLimits.keys, whole: true,
    });
    return { columns, groupsMax, discover: true, ...(top !== undefined && { top }) };
  }
  if (columns.length > 1) {
    throw new UsageError('--groups lists the names of one column: with several give those of each '
      + `by its type, as in --type ${columns[0]!}=category:a,b, or --groups discover`);
  }
  return { columns, groupsMax, groups: listFlag(groups, '--groups')! };
}

interface Test {
  readonly column: string;
  readonly test: object;
}

const testKeys = {
  '=': 'is', '!=': 'not', '>=': 'at-least', '>': 'at-least', '<': 'below', '<=': 'below',
} as const;

function timesOfGroup(column: string): UsageError {
  return new UsageError(`--group-by ${column} would make a group of each time: say which bins, as `
    + `in --type ${column}=day:${binExamples.day}`);
}

/** `late=true`, `region!=north`, `minutes>=5`, `minutes<60` or `started<2026-12-31`. */
function testOf(
  text: string, { types = new Map(), times }: TypedColumns,
  form: Pick<RowOptions, 'zone' | 'dates'>,
): Test {
  const [, column, sign, value] = /^(.*?)\s*(!=|>=|<=|=|>|<)\s*(.*)$/.exec(text.trim()) ?? [];
  if (column === undefined || column === '' || value === '') {
    throw new UsageError(`--where ${text} is no test: write column=value, column!=value, or `
      + 'column and a number with >=, >, < or <= between');
  }
  if (times?.get(column) === 'time') {
    return { column, test: timeTest(column, sign!, value!, form) };
  }
  if (times?.has(column) === true && sign !== '=' && sign !== '!=') {
    throw new UsageError(`--where ${text}: ${column} is read as the name of its `
      + `${times.get(column)!}, and names have no order. Give --type ${column}=time, and --csv `
      + 'zone= for the time zone: then dates are compared');
  }
  const key = testKeys[sign as keyof typeof testKeys];
  const type = types.get(column);
  if (type === undefined && (key === 'is' || key === 'not') && Number.isNaN(Number(value))) {
    const likely = value === 'true' || value === 'false' ? 'boolean' : 'text';
    throw new UsageError(`--where takes ${column} for a number, and "${value}" is none: give the `
      + `column its type, as in --type ${column}=${likely}`);
  }
  const bound = valueOf(column, value!, type ?? typeUsual);
  const isNext = (sign === '>' || sign === '<=') && typeof bound === 'number';
  return { column, test: { [key]: isNext ? numberAfter(bound, type) : bound } };
}

/**
 * The next number that a column can hold: what is greater than a number is at least the next one,
 * and what is at most a number is below the next one.
 */
function numberAfter(bound: number, type: ColumnType | undefined): number {
  if (type?.type === 'integer') return Math.floor(bound) + 1;
  if (bound === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(1);
  const number = new Float64Array(bits.buffer);
  number[0] = bound;
  bits[0]! += bound > 0 ? 1n : -1n;
  return number[0];
}

/** The tests by column, as a study file has them. */
function whereOf(tests: readonly Test[]): Readonly<Record<string, object>> {
  const found = new Map<string, object>();
  for (const { column, test } of tests) {
    const before = found.get(column) ?? {};
    const twice = Object.keys(test).find((key) => key in before);
    if (twice !== undefined) {
      throw new UsageError(`--where tests twice what ${column} ${twice}: give one of them`);
    }
    found.set(column, { ...before, ...test });
  }
  return Object.fromEntries(found);
}

function valueOf(column: string, text: string, { type }: ColumnType): string | number | boolean {
  if (type === 'category' || type === 'text') return text;
  if (type === 'number' || type === 'integer') return numberFlag(text, `--where ${column}`, {});
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`--where ${column} is true or false, not "${text}"`);
}

/** The flags that state the same as a key of a study file. */
const flagOf: readonly (readonly [path: RegExp, flag: string])[] = [
  [/^columns/, '--type'], [/\.where/, '--where'], [/\.by/, '--group-by'],
  [/\.columns/, '--columns'], [/\.reduce/, '--reduce'],
  [/^privacy|^budget/, '--epsilon'],
];

function planned(file: object): StudyDefinition {
  try {
    return parseStudyText(JSON.stringify(file), { name: 'these flags' });
  } catch (error) {
    if (!(error instanceof KeelsonError)) throw error;
    const { code, details } = error;
    const text = error.message.replace(/^these flags(, line \d+)?: /, '')
      .replace('the study these flags', 'the question')
      .replace(/^questions\.[\w-]+\.columns are missing/, '--columns is missing')
      .replace('give the column low and high', 'give it one, as in --type year=integer:1990..2029');
    if (code === 'plan-infeasible') throw new KeelsonError(code, text, { details, cause: error });
    if (code !== 'invalid-study') throw error;
    const path = String(details['path']);
    if (path.includes('.parameters')) throw new UsageError(byFlags(text));
    const flag = flagOf.find(([pattern]) => pattern.test(path))?.[1];
    throw new UsageError(flag === undefined || text.startsWith(flag) ? text : `${flag}: ${text}`);
  }
}
