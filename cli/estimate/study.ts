import type { Readable } from 'node:stream';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { InvalidInputError } from '../../src/base/errors.js';
import type { Question } from '../../src/base/questions.js';
import { leftOutText } from '../../src/answers/left-out.js';
import type { Outcome } from '../../src/base/outcome.js';
import { answeredNumbers } from '../../src/base/parts.js';
import type { Compute, Infeasible } from '../../src/estimators/contract/estimator.js';
import type { Ledger, LedgerState } from '../../src/ledger.js';
import { assignmentHashBytes } from '../../src/estimators/run.js';
import { statementOf, type PrivacyStatement } from '../../src/privacy-statement.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import { keyRoomBytes, keyRoomOf } from '../../src/questions/key-table.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';
import { StudyReduction, type Contribution } from '../../src/questions/reduction.js';
import { failedOutcome, QuestionsRun } from '../../src/questions/run.js';
import type { NoiseSource } from '../../src/random/source.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { printAnswer, printNotes, type AnswerContext } from '../base/answers.js';
import { UsageError } from '../base/errors.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import { describedQuestion } from '../../src/answers/describe.js';
import { labelsOfEach } from '../base/labels.js';
import { printKeys } from '../base/questions.js';
import type { Randomness } from '../base/noise.js';
import type { Output } from '../base/output.js';
import { readRows } from '../input/open.js';
import type { InputRequest } from '../input/rows.js';
import { pageOf } from './html.js';
import { pageAnswerOf } from './page.js';
import { printPrivacy } from './print.js';
import { described, ownLabelsOf, type EstimateResult } from './estimation.js';
import { payForStudy } from './study-payment.js';

/** The answer to one question of a study. */
export interface QuestionAnswer extends Omit<EstimateResult, 'privacy'> {
  /** The groups of a split answer, its first axis; with several columns each group is a list. */
  readonly groups?: readonly (string | readonly string[])[];
  /** True if each group has an answer; absent: all have. */
  readonly answered?: readonly boolean[];
  /** The rows and keys that do not count, in sentences. */
  readonly leftOut: readonly string[];
  /** This question's part of the release's cost. */
  readonly privacy: { readonly rho: number; readonly delta: number };
}

/** The answers to the questions of a study, by name, and their total cost. */
export interface StudyAnswers {
  readonly questions: Readonly<Record<string, QuestionAnswer>>;
  readonly privacy: PrivacyStatement;
  /** The ledger's state after the charge, read before anything was drawn. */
  readonly ledger?: LedgerState;
  /** Why the ledger did not pay. There are no answers then. */
  readonly refused?: Infeasible;
}

/** The answers in the form of --json: a key without an answer has no number. */
export function studyJson({ questions, privacy }: StudyAnswers): object {
  const named = Object.entries(questions).map(([name, answer]) =>
    [name, { ...answer, estimate: answeredNumbers(answer) }]);
  return { questions: Object.fromEntries(named) as object, privacy };
}

/** Options of `estimateStudy`. */
export interface StudyEstimate {
  readonly definition: StudyDefinition;
  /** Only this question; undefined: all. */
  readonly only: string | undefined;
  /** Pays before anything is drawn. */
  readonly ledger?: Ledger | undefined;
  readonly input: InputRequest;
  readonly stdin: Readable;
  readonly randomness: Randomness;
  readonly compute: Compute;
}

/**
 * Reads a file and releases the answers to a study's questions, as the aggregator does at the end
 * of an epoch. It spends their cost, which a ledger pays or refuses after the rows were read. All
 * rows of a person count, however many there are.
 * @throws UsageError for a question that the study does not have, InvalidInputError for rows that
 *   do not fit, and for more people than there is room for where keys are discovered.
 */
export async function estimateStudy(
  { definition, only, ledger, input, stdin, randomness, compute }: StudyEstimate,
): Promise<StudyAnswers> {
  const planned = chosen(definition, only);
  const noise = randomness.noise('study/release');
  const run = new QuestionsRun(planned, randomness.work('study'), noise);
  const secrets = randomness.noise('study/rows');
  await addRows(run, planned, { definition, input, stdin, secrets });
  const privacy = privacyOf(definition, planned);
  const paid: Pick<StudyAnswers, 'ledger' | 'refused'> =
    ledger === undefined ? {} : payForStudy(ledger, definition, planned);
  if (paid.refused !== undefined) return { questions: {}, privacy, ...paid };
  const results = await run.release(compute);
  const questions = planned.map((each, i): [string, QuestionAnswer] => {
    const result = results[i]!;
    const outcome = result.kind === 'answered' ? result.outcome : failedOutcome;
    const anyMissing = input.missing === 'null';
    return [each.question.name, {
      ...answerOf(each, outcome, definition.document),
      leftOut: leftOutText(each.question, definition.document, anyMissing),
    }];
  });
  return { questions: Object.fromEntries(questions), privacy, ...paid };
}

function chosen(
  { questions, document }: StudyDefinition, only: string | undefined,
): readonly PlannedQuestion[] {
  if (only === undefined) return questions;
  const found = questions.filter(({ question: { name } }) => name === only);
  if (found.length > 0) return found;
  const names = questions.map(({ question: { name } }) => name).join(', ');
  throw new UsageError(
    `--question names ${only}, and ${document.study} has no such question: it has ${names}`,
  );
}

interface RowsContext extends Pick<StudyEstimate, 'definition' | 'input' | 'stdin'> {
  readonly secrets: NoiseSource;
}

/** Reduces the rows of each person and adds them to the run, in the order of their first row. */
async function addRows(
  run: QuestionsRun, planned: readonly PlannedQuestion[],
  { definition: { document }, input, stdin, secrets }: RowsContext,
): Promise<void> {
  const reduction = new StudyReduction(planned.map(({ question }) => question), document);
  const width = document.columns.length;
  const open = new Map<string, Contribution>();
  const keySecrets = new Map<Contribution, Uint8Array>();
  const hash = new Uint8Array(assignmentHashBytes);
  const admit = keyRoom(planned, input.path);
  const finish = (contribution: Contribution): void => {
    admit();
    secrets.fill(hash);
    run.add(hash, reduction.rowsOf(contribution, run.tables), reduction.cutsOf(contribution));
  };
  for await (const batch of readRows(input, stdin)) {
    const { values, texts, count, contributors } = batch;
    for (let row = 0; row < count; row++) {
      const cells = values.subarray(row * width, (row + 1) * width);
      const person = personOf(contributors?.[row], open, reduction);
      const ranks = reduction.needsRanks ? Float64Array.of(rankFrom(secrets)) : null;
      reduction.add(person, { values: cells, texts, rows: 1, ranks }, {
        keySecret: () => secretOf(person, keySecrets, secrets),
      });
      if (contributors === null) finish(person);
    }
  }
  for (const [id, person] of open) {
    finish(person);
    open.delete(id);
  }
}

/**
 * Call the returned function before each person. A table of discovered keys is then never full,
 * whatever the keys are: a full one would fail the release, so that one person's keys decide about
 * it. It throws InvalidInputError, which depends on the number of people alone.
 */
function keyRoom(planned: readonly PlannedQuestion[], path: string): () => void {
  const each = keyRoomOf(planned.flatMap(({ discovered = [] }) => discovered), Infinity);
  const people = each === 0 ? Infinity : Math.floor(keyRoomBytes / each);
  let count = 0;
  return () => {
    count += 1;
    if (count <= people) return;
    throw new InvalidInputError(
      `${path}: the groups of all its people may not find room, and there is room for those of `
        + `${people} people: give a smaller groupsMax, or fewer bytes for the texts of by`,
      { path, people },
    );
  };
}

function personOf(
  id: string | undefined, open: Map<string, Contribution>, reduction: StudyReduction,
): Contribution {
  const found = id === undefined ? undefined : open.get(id);
  if (found !== undefined) return found;
  const person = reduction.empty();
  if (id !== undefined) open.set(id, person);
  return person;
}

/** Decides which keys count where a person has too many. Few people need one. */
function secretOf(
  person: Contribution, known: Map<Contribution, Uint8Array>, secrets: NoiseSource,
): Uint8Array {
  let secret = known.get(person);
  if (secret === undefined) known.set(person, secret = bytesFrom(secrets));
  return secret;
}

function bytesFrom(noise: NoiseSource): Uint8Array {
  const bytes = new Uint8Array(16);
  noise.fill(bytes);
  return bytes;
}

/** Uniform in [0, 1), with 32 bits. Equal ranks keep the earlier row. */
function rankFrom(noise: NoiseSource): number {
  return new DataView(bytesFrom(noise).buffer).getUint32(0) / 2 ** 32;
}

function answerOf(
  { question, plan, keys: listed }: PlannedQuestion, outcome: Outcome,
  document: StudyDocument,
): Omit<QuestionAnswer, 'leftOut'> {
  const { columns } = question;
  const isSplit = listed !== undefined || plan.findsKeys === true;
  const cost = { rho: amountToNumber(plan.cost.rho), delta: amountToNumber(plan.cost.delta) };
  const size = {
    rows: document.cohort, dimension: columns.length, columns,
    ...(!isSplit && ownLabelsOf(describedQuestion(question, document))),
  };
  const answer = {
    ...described(outcome, { ...cost, epsilon: 0, neighbours: '' }, size), privacy: cost,
  };
  if (outcome.kind === 'refused' || outcome.groups === undefined) return answer;
  const { groups, answered } = outcome;
  return {
    ...answer, groups: groups.map((group) => (group.length === 1 ? group[0]! : group)),
    ...(answered !== undefined && { answered }),
  };
}

/**
 * The cost of the questions together. Where every event is Gaussian, so is their composition, and
 * its exact curve states a smaller epsilon than rho does.
 */
function privacyOf(
  { cost: whole, target, questions }: StudyDefinition, planned: readonly PlannedQuestion[],
): PrivacyStatement {
  const [{ plan }] = planned as [PlannedQuestion];
  const areAll = planned.length === questions.length;
  const cost = areAll ? whole : plan.cost;
  const stated = statementOf({ cost, guarantee: plan.guarantee }, target);
  if (stated.delta === 0) return stated;
  const { rho, delta, gaussian } = cost;
  const bySum = areAll ? stated.epsilon
    : epsilonOfSpent({ rule: 'zcdp' }, rho, delta, target.deltaTotal);
  return {
    ...stated, epsilon: gaussian === null || delta > 0n ? bySum
      : Math.min(bySum, epsilonOfSpent({ rule: 'gaussian' }, gaussian, delta, target.deltaTotal)),
  };
}

/**
 * The answers in words and tables.
 * @param textsOf - how the numbers of the answer to a question are written.
 */
export function printStudy(
  { questions, privacy }: StudyAnswers, definition: StudyDefinition, output: Output,
  textsOf: (question: Question) => AnswerContext['texts'],
): void {
  const labelsOf = labelsOfEach(definition.document);
  Object.entries(questions).forEach(([name, answer], i) => {
    if (i > 0) output.text();
    const { question } = definition.questions.find((each) => each.question.name === name)!;
    if (name !== question.estimator) output.text(`${name}: ${question.estimator}`);
    if (answer.outcome === 'refused') {
      wrap(`refused: ${answer.reason}: ${answer.text}`, terminalColumns)
        .forEach((line) => output.text(line));
    } else if (answer.groups !== undefined) {
      const keys = answer.groups.map((key) => [key].flat());
      printKeys({ ...answer, keys }, {
        labels: labelsOf(name), columns: answer.columns, texts: textsOf(question),
        parameters: question.parameters,
      }, output);
    } else {
      const { labels, columns } = answer;
      const { parameters } = question;
      printAnswer(answer, { labels, columns, parameters, texts: textsOf(question) }, output);
    }
    printNotes(answer.leftOut, output);
  });
  output.text();
  printPrivacy(privacy, output);
}

/** The answers as a page: a section for each question. */
export function studyPage(
  { questions, privacy }: StudyAnswers, { document, questions: planned }: StudyDefinition,
  { title, textsOf, notes }: {
    readonly title: string;
    readonly textsOf: (question: Question) => AnswerContext['texts'];
    readonly notes: readonly string[];
  },
): string {
  const asked = new Map(planned.map(({ question }) => [question.name, question]));
  const labelsOf = labelsOfEach(document);
  return pageOf({
    title, privacy, notes,
    answers: Object.entries(questions).map(([name, answer]) => {
      const question = asked.get(name)!;
      const { parameters, estimator } = question;
      const labels = answer.groups === undefined ? {} : { labels: labelsOf(name) };
      return pageAnswerOf(
        name === estimator ? name : `${name}: ${estimator}`, { ...answer, ...labels },
        { parameters, texts: textsOf(question) }, answer.leftOut,
      );
    }),
  });
}
