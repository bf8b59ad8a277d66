import { availableParallelism } from 'node:os';
import { createComputePool } from '../../server/compute/pool.js';
import { defineStudy } from '../../server/studies/definition.js';
import { epochLength } from '../../server/study-file/durations.js';
import { describedQuestion, describedQuestions } from '../../src/answers/describe.js';
import type { Question } from '../../src/base/questions.js';
import type { Ledger } from '../../src/ledger.js';
import { printNotes, type AnswerContext } from '../base/answers.js';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';
import { rhoIn } from '../base/privacy-flags.js';
import { openRandomness } from '../base/noise.js';
import type { Output } from '../base/output.js';
import { whileReading } from '../base/progress.js';
import { readStudies } from '../base/study-files.js';
import { readTypes } from '../input/typed-columns.js';
import { askedQuestion, rowsOfFile, type AskedFlags } from './asked.js';
import { autoName, estimatorAsked } from './chosen.js';
import { printLedger, printRefusal } from './paying.js';
import { inputFlags, inputPath, type InputFlags } from './request.js';
import { checkTimes, notesOnTimes, timeTexts } from './times.js';
import { writePage } from './html.js';
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
    ledger, definition, only: args.question as string | undefined,
    input: {
      path, flags: ['missing', 'csv', 'contributor'],
      ...await readTypes(undefined, file, repeated['type'] ?? [], '--study'),
      ...inputFlags(args, output),
    },
  }, args.html, io, output);
}

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
  if (name === autoName || rhoIn(args.epsilon) !== undefined) {
    const [what, remedy] = name === autoName
      ? [autoName, `name an estimator, such as ${estimatorAsked(name, args.question)}`]
      : ['--epsilon rho=R', 'give epsilon'];
    throw new UsageError(`${what} is not for --where and --groups-max: ${remedy}`);
  }
  const path = inputPath(args);
  const typed = await readTypes(undefined, args.study, types, '--study');
  const { definition, input } = askedQuestion(name, args, where, given, { ...typed, ledger });
  return answerStudy({
    ledger, definition, only: undefined, input: { path, ...input, ...inputFlags(args, output) },
  }, args.html, io, output);
}

async function answerStudy(
  asked: Pick<StudyEstimate, 'definition' | 'only' | 'input' | 'ledger'>, html: string | undefined,
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
    if (refused !== undefined) return printRefusal(document.study, refused, ledger, output);
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
    if (html !== undefined) writePage(html, studyPage(answers, asked.definition, textsOf, notes));
    return Object.values(answers.questions).every(({ outcome }) => outcome === 'value') ? 0 : 1;
  } finally {
    await compute.close();
  }
}
