import { availableParallelism } from 'node:os';
import type { ArgsDef } from 'citty';
import { createComputePool, type ComputePool } from '../../server/compute/pool.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { protocolLimits } from '../../src/base/limits.js';
import type {
  Infeasible, Participation, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import { isEstimator } from '../../src/estimators/by-name.js';
import type { LedgerState } from '../../src/ledger.js';
import { questionNames } from '../../src/question-names.js';
import { printNotes, type AnswerContext } from '../base/answers.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import {
  autoName, checkName, choiceFacts, estimatorAsked, makesPasses, printChoice, resolveEstimator,
  withQuestion, type Resolved,
} from '../estimate/chosen.js';
import { estimateRows, type EstimateResult, type TimedResult } from '../estimate/estimation.js';
import { checkPagePath, pageOf, writePage } from '../estimate/html.js';
import { pageAnswers, titleOf } from '../estimate/page.js';
import {
  payForTables, printLedger, printRefusal, withLedger, type PaidPlans,
} from '../estimate/paying.js';
import { printResults, privacyOf } from '../estimate/print.js';
import { notesOn, readsCells, tableRequest, type InputFlags } from '../estimate/request.js';
import { csvArgument } from '../input/csv-flag.js';
import { dimensionOf, readTables, type RowTable, type TableRequest } from '../input/table.js';
import {
  checkBins, checkTimes, notesOnTimes, rangeOfTimes, timeTexts,
} from '../estimate/times.js';
import { checkThreshold, parametersOfTypes, typesOfTable } from '../estimate/types.js';
import type { Io } from '../base/io.js';
import { openRandomness, type Randomness } from '../base/noise.js';
import { settingsFlag } from '../base/settings.js';
import type { Output } from '../base/output.js';
import {
  cohortFlag, participationArgument, participationOf, privacyArguments, targetOfFlags,
} from '../base/privacy-flags.js';
import { whileReading } from '../base/progress.js';

const inputArguments = {
  ...csvArgument,
  columns: {
    type: 'string',
    valueHint: 'a,b',
    description: 'columns to use, by name or by index from 0 (default all)',
  },
  contributor: {
    type: 'string',
    valueHint: 'column',
    description: 'holds the contributor id: rows of one id become one row',
  },
  reduce: {
    type: 'enum', options: ['mean', 'sum'],
    description: 'with --contributor: what the rows of one id become (default: as --study '
      + 'says; else sum for sum and ratio, mean for others)',
  },
  'group-by': {
    type: 'string', valueHint: 'column',
    description: 'run once per group of this column; with --groups-max of several, with commas '
      + 'between',
  },
  groups: {
    type: 'string', valueHint: 'a,b',
    description: 'the groups, a public list; rows of others are left out; with --groups-max also '
      + 'discover, which finds those that enough people have and shows 100 at most; discover:500 '
      + 'shows 500',
  },
  'groups-max': {
    type: 'string', valueHint: 'n',
    description: 'with --group-by: in how many groups a person counts at most; who is in which '
      + 'group is then secret too, and needs --cohort',
  },
  where: {
    type: 'string', valueHint: 'test',
    description: 'rows that count: column=value, column!=value, column>=number or a date, and '
      + '>, < or <=; may be repeated; needs --cohort. auto chooses for a quarter of these people, '
      + 'since the others may have no such rows',
  },
} satisfies ArgsDef;

/** Loaded when needed, so that estimators that are named start fast. */
const ofStudy = () => import('../estimate/of-study.js');

export const estimate = defineCommand({
  name: 'estimate',
  summary: 'Run one estimator on a file and print the private result.',
  details: [
    'Each row is one contributor (person), unless --contributor names the column of their ids. '
    + 'Each run spends the privacy that you ask for; a second run spends it again. '
    + 'Exit status 1: the estimator refused, and says why.',
    'With --debug it also prints the running time on standard error. It is not private: never '
    + 'publish it.',
  ],
  args: {
    name: {
      type: 'positional', required: false,
      description: 'an estimator; "keelson estimators" lists them; auto chooses one from public '
        + 'facts: the question, the columns, the cohort, and what --set says; total and percentile '
        + 'are auto with that question; left out, --study says what is asked',
    },
    file: {
      type: 'positional', required: false,
      description: 'rows: .csv, .ndjson, .npy, .parquet or .arrow, also compressed by gzip or '
        + 'zstd, or a database of SQLite or DuckDB, as its first bytes show; "sql:SELECT ..." is a '
        + 'query of DuckDB; - is standard input; flights are those of the package (231,083 rows of '
        + 'delay_minutes and distance_miles)',
    },
    question: {
      type: 'string', valueHint: 'name',
      description: `with auto: what you want to know: ${questionNames.join(', ')} (default mean); `
        + 'with --study alone: one of its questions (default all)',
    },
    ...inputArguments,
    ...privacyArguments,
    study: {
      type: 'string', valueHint: 'file',
      description: 'study file: gives the columns of FILE their types, and without NAME says what '
        + 'is asked',
    },
    type: {
      type: 'string', valueHint: 'column=type',
      description: 'instead of a study file: number, integer, boolean, text, text:64 (its most '
        + 'bytes) or category:a,b (its names); for dates and times, also beside a study file: '
        + 'time, hour, day, week, month, or with a first and last, day:2026-12-01..2026-12-31; '
        + 'may be repeated',
    },
    cohort: {
      type: 'string',
      valueHint: 'n',
      description: 'public number of contributors; without it the number of rows is public, and '
        + 'so is who takes part',
    },
    ...participationArgument,
    ledger: {
      type: 'string', valueHint: 'file',
      description: 'budget of all answers about these people, which "keelson ledger" makes: pays '
        + 'before anything is drawn, and states participation and people',
    },
    set: {
      type: 'string', valueHint: 'key=value',
      description: 'a parameter of the estimator; may be repeated',
    },
    html: {
      type: 'string', valueHint: 'file',
      description: 'also write the answer as one page to send on: numbers, intervals, a picture '
        + 'and what is promised; no scripts, and nothing from elsewhere',
    },
  },
  repeatable: ['set', 'type', 'where'],
  examples: [
    'keelson estimate robust-mean flights --epsilon 1',
    'keelson estimate auto rows.csv --question mean --epsilon 1 --delta 1e-6 --set corruption=0.1',
    'keelson estimate mean rows.csv --epsilon 1 --delta 1e-6 --set spread=40',
    'keelson estimate --study rides.yaml rides.csv --contributor id',
    'keelson estimate count rows.csv --group-by app --groups discover --groups-max 2 \\\n'
    + '    --where "minutes>=60" --cohort 5000 --participation secret \\\n'
    + '    --epsilon 1 --delta 1e-6',
    'keelson estimate populous-mean rows.csv --contributor id --cohort 3000 \\\n'
    + '    --participation secret --epsilon 2 --delta 1e-6 --set spread=40,600 \\\n'
    + '    --columns delay,distance',
  ],
  async run({ args: typed, repeated, io, output, debug }) {
    const flags = withQuestion(typed);
    const startedMs = io.monotonicMs();
    if (flags.html !== undefined) checkPagePath(flags.html);
    const { ledger, args } = await withLedger(flags, isStudyAlone(flags));
    const noteTime = (timed: readonly TimedResult[]): void => {
      if (debug) noteTiming(timed, (io.monotonicMs() - startedMs) / 1_000, output);
    };
    if (args.study !== undefined && isStudyAlone(args)) {
      const status =
        await (await ofStudy()).answerFile(args.study, args, { repeated, io, output, ledger });
      noteTime([]);
      return status;
    }
    const name = nameOf(args);
    const cohort = cohortFlag(args.cohort);
    // Refused before the file is read, if it must be.
    targetOfFlags(args, cohort, ledger);
    const participation = presenceOf(args.participation, cohort);
    const typedSet = await settingsFlag(repeated['set'] ?? []);
    const { where = [], type: stated = [] } = repeated;
    if (where.length > 0 || args['groups-max'] !== undefined) {
      const status = await (await ofStudy()).answerFlags(
        name, args, { where, types: stated, given: typedSet, io, output, ledger });
      noteTime([]);
      return status;
    }
    const asked = estimatorAsked(name, args.question);
    const request = await tableRequest(args, stated, {
      asked, readsCells: readsCells(name, args.question, typedSet),
    }, output);
    checkBins(name, request);
    const given = rangeOfTimes(typedSet, request);
    const randomness = openRandomness(io);
    const pool = createComputePool(availableParallelism());
    const tables = await readRequested(request, makesPasses(name) ? pool : null, io, output);
    checkSizes(tables, cohort, request.path);
    const target = targetOfFlags(args, cohort ?? peopleIn(tables), ledger);
    checkThreshold(asked, given, tables[0]!.columns, request.types);
    const types = typesOfTable(tables[0]!.columns, request);
    const resolved = await resolvedFor(tables, types, given, {
      name, question: args.question, target, cohort, participation,
    });
    if (resolved.kind === 'infeasible') {
      await pool.close();
      return printRefusal(autoName, resolved, undefined, output);
    }
    const { estimator, parameters } = resolved;
    const about = { estimator: estimator.name, parameters, columns: tables[0]!.columns, types };
    checkTimes(about, request);
    const planned = { estimator, parameters, target, cohort, participation };
    const paid = ledger === undefined ? undefined : payForTables(ledger, tables, planned);
    if (paid?.refused) {
      await pool.close();
      return printRefusal(estimator.name, paid.refused, paid.state, output);
    }
    const timed = await answersTo(tables, {
      ...planned, randomness, types, monotonicMs: () => io.monotonicMs(),
    }, pool, paid?.plans);
    const results = timed.map(({ result }) => result);
    const notes = [...notesOn(cohort, request), ...notesOnTimes(about.columns, request)];
    report(results, {
      tables, resolved, request, notes, randomness, texts: timeTexts(about, request), args,
      state: paid?.state,
    }, output);
    noteTime(timed);
    // The noise is drawn. A failure from here on must not lose the answer.
    await pool.close();
    return results.every((result) => result.outcome === 'value') ? 0 : 1;
  },
});

/** The estimator of a name for some tables, with the parameters that the types of columns need. */
async function resolvedFor(
  tables: readonly RowTable[], types: ReturnType<typeof typesOfTable>,
  given: Readonly<Record<string, unknown>>,
  { name, question, target, cohort, participation }: {
    readonly name: string; readonly question: string | undefined; readonly target: PrivacyTarget;
    readonly cohort: number | undefined; readonly participation: Participation;
  },
): Promise<Resolved | Infeasible> {
  const raw = await parametersOfTypes(name, given, tables[0]!.columns, types);
  return resolveEstimator({ name, question }, raw, {
    dimension: dimensionOf(tables[0]!), target, cohort: cohort ?? smallestOf(tables),
    participation,
  });
}

/** One after the other, each on threads if its passes are worth them. */
async function answersTo(
  tables: readonly RowTable[], asked: Omit<Parameters<typeof estimateRows>[1], 'label' | 'compute'>,
  pool: ReturnType<typeof createComputePool>, plans: PaidPlans['plans'] = [],
): Promise<readonly TimedResult[]> {
  const timed: TimedResult[] = [];
  for (const [i, table] of tables.entries()) {
    const parallelism = areWorthThreads(table.count, dimensionOf(table)) ? pool.parallelism : 0;
    timed.push(await estimateRows(table, {
      ...asked, label: table.group ?? 'all', compute: { ...pool, parallelism },
    }, plans[i]));
  }
  return timed;
}

/** @throws UsageError where no estimator is named, or one that does not exist. */
function nameOf({ name, question }: {
  readonly name?: string | undefined; readonly question?: string | undefined;
}): string {
  if (name === undefined) {
    throw new UsageError('NAME is missing: give an estimator, or --study with a study file');
  }
  checkName(name, question);
  return name;
}

/** Without a cohort the number of rows is the size of the plan, so presence is public. */
function presenceOf(given: string | undefined, cohort: number | undefined): Participation {
  const participation = participationOf(given, cohort !== undefined, 'public');
  if (cohort !== undefined || participation === 'public') return participation;
  throw new UsageError('--participation secret needs --cohort: the number of rows is then '
    + 'protected too, so give the public number of contributors to plan for');
}

/** Prints the answer for each table. */
function report(
  results: readonly EstimateResult[],
  {
    tables, resolved: { estimator, parameters, choice }, request, notes, randomness, texts, state,
    args: { html, question },
  }: {
    readonly state: LedgerState | undefined;
    readonly args: Pick<InputFlags, 'html'> & { readonly question?: string | undefined };
    readonly texts: AnswerContext['texts'];
    readonly tables: readonly RowTable[];
    readonly resolved: Resolved;
    readonly request: TableRequest;
    readonly notes: readonly string[];
    readonly randomness: Randomness;
  },
  output: Output,
): void {
  const groupOf = (i: number): string | null => tables[i]!.group;
  const answers = request.groups === undefined
    ? results[0]! : { groups: results.map((result, i) => ({ group: groupOf(i), ...result })) };
  output.json({
    estimator: estimator.name, ...(choice === null ? {} : choiceFacts(choice)), ...answers,
    parameters, ...(notes.length === 0 ? {} : { notes }),
    ...(state === undefined ? {} : { ledger: state }),
    ...(randomness.insecure ? { insecure: true } : {}),
  });
  if (choice !== null) printChoice(choice, question, output);
  const all = results.map((result, i) => ({ group: groupOf(i), result }));
  printResults(all, { parameters, texts }, output);
  printLedger(state, output);
  printNotes(notes, output);
  if (html === undefined) return;
  writePage(html, pageOf({
    title: titleOf(estimator.name, results[0]!.columns, request.group),
    answers: pageAnswers(all, 'The answer', { parameters, texts }),
    privacy: privacyOf(all),
    notes: [`assumed: ${estimator.assumption}`, ...notes],
  }));
}

function peopleIn(tables: readonly RowTable[]): number {
  return tables.reduce((people, { count }) => people + count, 0);
}

/** The rows of the smallest group that has some. */
function smallestOf(tables: readonly RowTable[]): number {
  return Math.min(...tables.map(({ count }) => count).filter((count) => count > 0));
}

/** True if a study file states the questions: no estimator is named. */
function isStudyAlone({ name, file }: InputFlags & {
  readonly name?: string | undefined;
}): boolean {
  if (name === undefined) return true;
  // The first word is then the file.
  return file === undefined && name !== autoName
    && !isEstimator(name);
}

/**
 * True where threads help. Their start costs .1 s of processor time, as much as dozens of passes
 * over a million rows of one column. A pass multiplies about `columns` squared numbers of each row.
 */
function areWorthThreads(rows: number, columns: number): boolean {
  return rows * columns ** 2 >= 2 ** 23;
}

/** Bytes of a row in a file and columns that are asked for, about, before it is read. */
const [rowBytes, usualColumns] = [20, 3];

function readRequested(
  request: TableRequest, pool: ComputePool | null, io: Io, output: Output,
): Promise<readonly RowTable[]> {
  return whileReading(io, output, (show) => readTables({
    ...request,
    onProgress(done, total) {
      const rows = (total ?? done) / rowBytes;
      if (areWorthThreads(rows, request.columns?.length ?? usualColumns)) pool?.start();
      show(done, total);
    },
  }, io.stdin));
}

/**
 * Without --cohort the number of rows is the cohort, and must be a size that can be planned for.
 * Some of the groups may have none.
 */
function checkSizes(tables: readonly RowTable[], cohort: number | undefined, path: string): void {
  if (cohort !== undefined) return;
  if (tables.every(({ count }) => count === 0)) {
    throw new InvalidInputError(`${path}: there are no rows${tables[0]!.group === null
      ? '' : ' of these groups: compare --groups with the column'}`);
  }
  for (const { count, group } of tables) {
    const where = group === null ? path : `${path}, group "${group}"`;
    if (count > protocolLimits.cohortMax) {
      throw new InvalidInputError(`${where}: ${count} rows, at most ${protocolLimits.cohortMax} `
        + 'contributors are supported');
    }
  }
}

/**
 * The duration of the run, on standard error only: it may depend on the rows, which a private
 * answer hides.
 */
function noteTiming(timed: readonly TimedResult[], seconds: number, output: Output): void {
  const inAll = Math.round(seconds * 100) / 100;
  const estimators = timed.map(({ estimatorSeconds }) => estimatorSeconds ?? 0);
  output.note(output.isJson
    ? JSON.stringify({ timing: 'not private', seconds: inAll, estimatorSeconds: estimators })
    : `timing (not private): ${inAll} s in all`
      + (timed.length === 0 ? '' : `, ${estimators.join(' + ')} s in the estimator`));
}
