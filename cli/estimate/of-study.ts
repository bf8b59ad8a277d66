import { availableParallelism } from 'node:os';
import { createComputePool } from '../../server/compute/pool.js';
import { defineStudy } from '../../server/studies/definition.js';
import { epochLength } from '../../server/study-file/durations.js';
import { describedQuestion, describedQuestions } from '../../src/answers/describe.js';
import type { Question } from '../../src/base/questions.js';
import type { Infeasible } from '../../src/estimators/contract/estimator.js';
import type { Ledger } from '../../src/ledger.js';
import { printNotes, type AnswerContext } from '../base/answers.js';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';
import { listFlag } from '../base/numbers.js';
import { cohortFlag, participationOf, rhoIn, targetOfFlags } from '../base/privacy-flags.js';
import { openRandomness } from '../base/noise.js';
import type { Output } from '../base/output.js';
import { whileReading } from '../base/progress.js';
import { readStudies } from '../base/study-files.js';
import { csvFlag } from '../input/csv-flag.js';
import type { TypedColumns } from '../input/study-columns.js';
import { readTypes } from '../input/typed-columns.js';
import { askedQuestion, rowsOfFile, type AskedFlags } from './asked.js';
import { autoName, estimatorAsked, printChosen, resolveEstimator } from './chosen.js';
import { printLedger, printRefusal } from './paying.js';
import { inputFlags, inputPath, type InputFlags } from './request.js';
import { checkTimes, notesOnTimes, rangeOfTimes, timeTexts } from './times.js';
import { checkThreshold, parametersOfTypes, typesOfTable } from './types.js';
import { writePage } from './html.js';
import { titleOf } from './page.js';
import { estimateStudy, printStudy, studyJson, studyPage, type StudyEstimate } from './study.js';

/** The study's file has everything about it, so flags that could contradict it are refused. */
const flagsOfEstimators = [
  'epsilon', 'delta', 'cohort', 'participation', 'columns', 'reduce', 'group-by', 'groups',
  'groups-max',
] as const;

/** Answers the questions of a study file. */
export async function answerFile(
  file: string,
  args: InputFlags & { readonly [name in (typeof flagsOfEstimators)[number] | 'name' | 'question'
    ]?: string | boolean | undefined },
  { repeated, io, output, ledger }: {
    readonly ledger: Ledger | undefined;
    readonly repeated: Readonly<Record<string, readonly string[]>>;
    readonly io: Io;
    readonly output: Output;
  },
): Promise<0 | 1> {
  const extra = ['set', 'where'].find((name) => (repeated[name] ?? []).length > 0)
    ?? flagsOfEstimators.find((name) => args[name] !== undefined);
  if (extra !== undefined) {
    throw new UsageError(`--${extra} is given with a study file and no estimator: change the file `
      + 'instead, or name an estimator');
  }
  const { document } = readStudies([file], undefined)[0]!;
  const definition = defineStudy({
    ...document,
    // Nobody waits for the release of an epoch, so none must fit half of it.
    epoch: { everyMs: epochLength.mostMs },
    contribution: { ...document.contribution, rowsMax: rowsOfFile(args.contributor) },
  });
  const path = inputPath({ ...args, file: args.file ?? (args.name as string | undefined) });
  return answerStudy({
    name: document.study, title: document.title ?? document.study, html: args.html, ledger,
    definition, only: args.question as string | undefined,
    input: {
      path, flags: ['missing', 'csv', 'contributor'],
      ...await readTypes(undefined, file, repeated['type'] ?? [], '--study'),
      ...inputFlags(args, output),
    },
  }, io, output);
}

/** The part of the people that is taken to have rows that pass `--where`, where `auto` chooses. */
const partThatCounts = 1 / 4;

/** Answers the one question that flags ask. */
export async function answerFlags(
  name: string,
  args: InputFlags & AskedFlags & { readonly question?: string | undefined },
  { where, types, given, io, output, ledger }: {
    readonly ledger: Ledger | undefined;
    readonly where: readonly string[];
    readonly types: readonly string[];
    readonly given: Readonly<Record<string, unknown>>;
    readonly io: Io;
    readonly output: Output;
  },
): Promise<0 | 1> {
  if (rhoIn(args.epsilon) !== undefined) {
    throw new UsageError('--epsilon rho=R is not for --where and --groups-max: give epsilon');
  }
  const path = inputPath(args);
  const typed = await readTypes(undefined, args.study, types, '--study');
  const asked = { question: args.question, given: rangeOfTimes(given, {
    ...csvFlag(args.csv), ...typed,
  }) };
  const chosen = await chosenFor(name, args, { ...asked, where }, { ...typed, ledger });
  if (chosen.kind === 'infeasible') return printRefusal(autoName, chosen, undefined, output);
  const { definition, input } =
    askedQuestion(chosen.name, args, where, chosen.parameters, { ...typed, ledger });
  if (name === autoName) printChosen(chosen.name, args.question, output);
  return answerStudy({
    name: chosen.name, html: args.html, ledger, definition, only: undefined,
    title: titleOf(chosen.name, definition.document.questions[0]!.columns, args['group-by']),
    input: { path, ...input, ...inputFlags(args, output) },
  }, io, output);
}

/** An estimator by its name, and its parameters as they are given. */
interface Chosen {
  readonly kind: 'chosen';
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * The estimator of this name, or what `auto` chooses from public facts, as if all rows that count
 * were in one group. `askedQuestion` refuses flags that are missing. Where some rows do not count,
 * it is one that answers fewer people, if there is one: an answer that is refused, as too few have
 * rows that count, is charged all the same.
 */
async function chosenFor(
  name: string, args: AskedFlags,
  { question, given, where }: {
    readonly question: string | undefined; readonly given: Chosen['parameters'];
    readonly where: readonly string[];
  },
  { types = new Map(), ledger }: TypedColumns & { readonly ledger: Ledger | undefined },
): Promise<Chosen | Infeasible> {
  const plain: Chosen =
    { kind: 'chosen', name: estimatorAsked(name, question), parameters: given };
  const cohort = cohortFlag(args.cohort);
  if (name !== autoName || cohort === undefined) return plain;
  const columns = listFlag(args.columns, '--columns') ?? [];
  checkThreshold(plain.name, given, columns, types);
  const raw = await parametersOfTypes(name, given, columns, typesOfTable(columns, { types }));
  const resolvedFor = (counted: number): ReturnType<typeof resolveEstimator> =>
    resolveEstimator({ name, question }, raw, {
      dimension: Math.max(1, columns.length), cohort: counted,
      target: targetOfFlags(args, cohort, ledger),
      participation: participationOf(args.participation, true, 'secret'),
    });
  const few = where.length === 0 ? null : await resolvedFor(Math.ceil(cohort * partThatCounts));
  const found = few?.kind === 'estimator' ? few : await resolvedFor(cohort);
  if (found.kind === 'infeasible') return found;
  // A threshold that is not given follows from a column of yes and no.
  const chosen = Object.entries(found.parameters).filter(([each]) =>
    each in raw || each !== 'threshold');
  return {
    kind: 'chosen', name: found.estimator.name,
    parameters: Object.fromEntries(chosen.map(([each, value]): [string, unknown] =>
      [each, raw[each] ?? value])),
  };
}

async function answerStudy(
  { name, title, html, ...asked }: Pick<
    StudyEstimate, 'definition' | 'only' | 'input' | 'ledger'
  > & {
    /** The name of the estimator or the study, in a refusal. */
    readonly name: string;
    readonly title: string;
    readonly html: string | undefined;
  },
  io: Io, output: Output,
): Promise<0 | 1> {
  const { document } = asked.definition;
  const questions = describedQuestions(document);
  questions.forEach((question) => checkTimes(question, asked.input));
  const notes = notesOnTimes(document.columns, asked.input);
  const randomness = openRandomness(io);
  const compute = createComputePool(availableParallelism());
  try {
    const answers = await whileReading(io, output, (onProgress) => estimateStudy({
      ...asked, input: { ...asked.input, onProgress }, stdin: io.stdin, randomness, compute,
    }));
    const { refused, ledger } = answers;
    if (refused !== undefined) return printRefusal(name, refused, ledger, output);
    output.json({
      ...studyJson(answers), ...(notes.length === 0 ? {} : { notes }),
      ...(ledger === undefined ? {} : { ledger }),
      ...(randomness.insecure ? { insecure: true } : {}),
    });
    const textsOf = (question: Question): AnswerContext['texts'] =>
      timeTexts(describedQuestion(question, document), asked.input);
    printStudy(answers, asked.definition, output, textsOf);
    printLedger(ledger, output);
    printNotes(notes, output);
    if (html !== undefined) {
      writePage(html, studyPage(answers, asked.definition, { title, textsOf, notes }));
    }
    return Object.values(answers.questions).every(({ outcome }) => outcome === 'value') ? 0 : 1;
  } finally {
    await compute.close();
  }
}
