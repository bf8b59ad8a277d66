import { defaultReduce } from '../../server/study-file/columns.js';
import { describeNumbers } from '../../src/answers/describe.js';
import { UsageError } from '../base/errors.js';
import { listFlag } from '../base/numbers.js';
import type { Output } from '../base/output.js';
import { flightsName } from '../data/flights.js';
import { csvFlag } from '../input/csv-flag.js';
import type { TableRequest } from '../input/table.js';
import type { TypedColumns } from '../input/study-columns.js';
import { readTypes, timeOfFlag, type TimeType } from '../input/typed-columns.js';
import { estimatorAsked } from './chosen.js';

const rowsArePublic = 'no --cohort was given, so the plan is for as many people as there are rows';
const rowsMayLack = 'a row counts only if it has a value in each column that is used';
const groupsArePublic = 'the group of a contributor is treated as public; every contributor is in '
  + 'one group at most, so all groups together cost what one does; rows of other groups are left '
  + 'out';

/** The flags that state which file is read, and how. */
export interface InputFlags {
  readonly study?: string | undefined;
  readonly file?: string | undefined;
  readonly csv?: string | undefined;
  readonly columns?: string | undefined;
  readonly contributor?: string | undefined;
  readonly reduce?: string | undefined;
  readonly 'group-by'?: string | undefined;
  readonly groups?: string | undefined;
  /** Where a page with the answer goes. */
  readonly html?: string | undefined;
}

/** @throws UsageError where no file is given. */
export function inputPath({ file }: InputFlags): string {
  if (file === undefined) {
    throw new UsageError('FILE is missing: give a .csv, .ndjson, .npy, .parquet, .arrow, SQLite or '
      + `DuckDB file, - for standard input, or ${flightsName} for the flights of the package`);
  }
  return file;
}

/** The settings for reading a file, without its columns. */
export function inputFlags({ contributor, csv }: InputFlags, output: Output) {
  return {
    onNote: (text: string): void => output.note(text),
    missing: 'cells' as const, ...csvFlag(csv),
    ...(contributor === undefined ? {} : { contributor }),
  };
}

/**
 * Which rows of a file an estimator gets, and how the rows of one person are reduced.
 * @param types - of `--type`.
 * @param about - `asked`: the estimator, or the question that one is chosen for. It decides how the
 *   rows of one person are reduced if no flag and no study file states it. `readsCells`: the answer
 *   depends on the values in the rows.
 * @throws UsageError for flags that contradict each other.
 */
export async function tableRequest(
  args: InputFlags, types: readonly string[],
  about: { readonly asked: string; readonly readsCells: boolean }, output: Output,
): Promise<TableRequest> {
  const { reduce: ofStudy, binned, ...typed } = await columnsOfValues(args, types);
  const groups = listFlag(args.groups, '--groups') ?? binned;
  const group = args['group-by'];
  if (/^\s*discover\s*(:|$)/.test(args.groups ?? '')) {
    throw new UsageError('--groups discover needs --groups-max and --cohort: say in how many '
      + 'groups a person counts at most, and for how many people to plan');
  }
  if ((group === undefined) !== (groups === undefined)) {
    throw new UsageError(
      group === undefined
        ? '--groups needs --group-by: name the column that holds the groups'
        : '--group-by needs --groups, a public list: which groups there are must not depend on the '
          + 'data',
    );
  }
  if (args.reduce !== undefined && args.contributor === undefined) {
    throw new UsageError('--reduce needs --contributor: without it every row is one person');
  }
  const isOfNames = [...typed.types?.values() ?? []].some(({ type }) =>
    type === 'category' || type === 'text');
  if (isOfNames && args.contributor !== undefined) {
    throw new UsageError('--contributor averages the rows of a person, and categories and texts '
      + 'have no mean: leave it out and give one row for each person');
  }
  const reduce = args.reduce ?? ofStudy ?? defaultReduce(
    { estimator: about.asked, parameters: {}, columns: ['first', 'second'] }, false,
  );
  if (reduce === 'one' && args.contributor !== undefined) {
    throw new UsageError(`${args.study} keeps one row of each person (reduce: one), which an `
      + 'estimator that is named here does not: give --reduce mean or sum, or leave its name out '
      + 'to ask what the file asks');
  }
  return {
    path: inputPath(args),
    ...(about.readsCells || args.columns !== undefined ? typed
      : { columns: [], ...(typed.times && { times: typed.times }) }),
    reduce: reduce === 'sum' ? 'sum' : 'mean',
    ...inputFlags(args, output),
    ...(group === undefined || groups === undefined ? {} : { group, groups }),
  };
}

/**
 * The columns that hold values, and their types: without those of groups and contributors, which
 * are compared as they are written. A group may be a bin of a time: `binned` has the bins that the
 * type of its column lists.
 * @throws UsageError for another type of such a column, and as `readTypes`.
 */
async function columnsOfValues(
  args: InputFlags, types: readonly string[],
): Promise<TypedColumns & { readonly binned?: readonly string[] }> {
  const flags = (['group-by', 'contributor'] as const)
    .filter((flag) => args[flag] !== undefined);
  const typeOf = (flag: (typeof flags)[number]): string | undefined =>
    types.find((text) => text.startsWith(`${args[flag]}=`));
  const ofGroup = flags.includes('group-by') ? typeOf('group-by') : undefined;
  const bin = ofGroup === undefined ? null : binOfGroup(args['group-by']!, ofGroup);
  for (const flag of flags) {
    const type = typeOf(flag);
    if (type === undefined || (flag === 'group-by' && bin !== null)) continue;
    const bins = flag === 'group-by' ? ', or write hour, day, week or month for times' : '';
    throw new UsageError(`--type gives ${args[flag]} a type, and --${flag} takes its values as `
      + `they are written: leave --type ${type} out${bins}`);
  }
  const others = types.filter((text) => text !== ofGroup);
  const typed = await readTypes(args.columns, args.study, others, '--study');
  const times = bin === null ? typed.times
    : new Map([...typed.times ?? [], [args['group-by']!, bin.unit] as const]);
  const all = {
    ...typed, ...(times && { times }),
    ...(bin?.type.type === 'category' && { binned: bin.type.of }),
  };
  if (args.study === undefined || args.columns !== undefined) return all;
  const names = flags.map((flag) => args[flag]!);
  const columns = typed.columns!.filter((name) => !names.includes(name));
  return {
    ...all, columns,
    ...(typed.types && { types: new Map(columns.map((name) => [name, typed.types!.get(name)!])) }),
  };
}

/** The bins of times by which an answer is split; null for another type. */
function binOfGroup(column: string, text: string): TimeType | null {
  const found = timeOfFlag(column, text.slice(column.length + 1));
  return found?.unit === 'time' ? null : found;
}

/** True if the answer depends on the values in the rows. That of a plain count does not. */
export function readsCells(
  name: string, question: string | undefined, given: Readonly<Record<string, unknown>>,
): boolean {
  const estimator = estimatorAsked(name, question);
  const isCount = describeNumbers({ estimator, parameters: {}, columns: ['value'] })
    .every(({ kind }) => kind === 'count');
  return !isCount || given['threshold'] !== undefined || given['column'] !== undefined;
}

/**
 * Notes on which facts the guarantee takes as public and which rows count. All of them follow from
 * flags.
 */
export function notesOn(
  cohort: number | undefined, { groups, contributor, reduce, missing, types }: TableRequest,
): readonly string[] {
  return [
    ...(contributor === undefined ? [] : [
      `the rows of each contributor become their ${reduce!}: --reduce says otherwise`,
    ]),
    ...(cohort === undefined ? [rowsArePublic] : []),
    ...(groups === undefined ? [] : [groupsArePublic]),
    ...(missing === 'null' || [...types?.values() ?? []].some(({ optional }) => optional === true)
      ? [rowsMayLack] : []),
  ];
}
