import { answerKeys } from '../../src/answers/describe.js';
import type { ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { isText, questionsFault, type TypedColumns } from '../../src/base/question-rules.js';
import type { GroupBy, Question, RowTest, TestValue } from '../../src/base/questions.js';
import { textForm } from '../../src/base/text-form.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { defaultReduce, parametersFor, type Refuse } from './columns.js';
import type { FileQuestion, FileTest } from './questions-schema.js';

/** The context in which the questions of a file are read. */
export interface QuestionContext {
  readonly columns: TypedColumns;
  /** `contribution.reduce` of the file. */
  readonly reduce: Question['reduce'] | undefined;
  readonly refuse: Refuse;
  /** @throws InvalidParameterError for an estimator that does not exist. */
  readonly findEstimator: (name: string) => Estimator;
}

/** Estimators that count people, so that they need no columns. */
const ofPeople: ReadonlySet<string> = new Set(['count', 'distinct']);
const usualDiscovery = { top: 100, prefilter: 2 };

/**
 * The questions of a study file, in its order: defaults filled in, parts resolved, parameters
 * parsed.
 * @throws the error of `refuse`, for the first rule that they break.
 */
export function readQuestions(
  given: Readonly<Record<string, FileQuestion>>, context: QuestionContext,
): readonly Question[] {
  const entries = Object.entries(given);
  const parts = partsOf(entries, context.refuse);
  const drafts = entries.map(([name, question], i): Question =>
    draftOf(name, question, parts[i]!, context));
  // The parameters are parsed by the columns, so those are checked first.
  checked(drafts, context);
  const questions = drafts.map((draft) => withParameters(draft, given[draft.name]!, context));
  checked(questions, context);
  return questions;
}

function checked(questions: readonly Question[], { columns, refuse }: QuestionContext): void {
  const fault = questionsFault(questions, columns);
  if (fault !== null) throw refuse(fault.path, fault.rule, fault.remedy);
}

/** Questions without a part divide the rest evenly; the first of them get what is left over. */
function partsOf(
  entries: readonly (readonly [string, FileQuestion])[], refuse: Refuse,
): readonly number[] {
  const stated = entries.reduce((sum, [, { part = 0 }]) => sum + part, 0);
  const [last] = entries.filter(([, { part }]) => part !== undefined).at(-1) ?? [''];
  if (stated > 100) {
    throw refuse(`questions.${last}.part`, `parts add up to ${stated}`,
      'make them at most 100 in all');
  }
  const without = entries.filter(([, { part }]) => part === undefined);
  const rest = 100 - stated;
  if (rest < without.length) {
    throw refuse(`questions.${without[0]![0]}.part`,
      `is missing, and the other parts leave ${rest} per cent`, 'make the others smaller');
  }
  const even = Math.floor(rest / without.length);
  let over = rest - even * without.length;
  return entries.map(([, { part }]) => part ?? (over-- > 0 ? even + 1 : even));
}

/** A question whose parameters are not read. */
function draftOf(
  name: string, given: FileQuestion, part: number, { columns, refuse }: QuestionContext,
): Question {
  const path = `questions.${name}`;
  return {
    name, estimator: given.estimator, parameters: {}, columns: given.columns,
    where: Object.entries(given.where).flatMap(([column, test]) => testsOf(column, test)),
    ...(given.by !== undefined && { by: byOf(`${path}.by`, given.by, columns, refuse) }),
    reduce: 'one', part,
  };
}

function testsOf(column: string, given: FileTest): readonly RowTest[] {
  if (typeof given !== 'object') return [{ column, is: inForm(given) }];
  const { is, not, in: values, 'at-least': atLeast, below, present } = given;
  return [
    ...(is === undefined ? [] : [{ column, is: inForm(is) }]),
    ...(not === undefined ? [] : [{ column, not: inForm(not) }]),
    ...(values === undefined ? [] : [{ column, in: values.map(inForm) }]),
    ...(atLeast === undefined ? [] : [{ column, atLeast }]),
    ...(below === undefined ? [] : [{ column, below }]),
    ...(present === undefined ? [] : [{ column, present }]),
  ];
}

/** Rows have texts in this form, so a test in another one would pass none. */
function inForm(value: TestValue): TestValue {
  return typeof value === 'string' ? textForm(value) : value;
}

function byOf(
  path: string, given: NonNullable<FileQuestion['by']>, columns: TypedColumns, refuse: Refuse,
): GroupBy {
  const { column, columns: several, groupsMax, groups: keys, discover = false } = given;
  const names = several ?? [column!];
  const stray = discover ? undefined : (['answer', 'top', 'prefilter', 'remember'] as const)
    .find((each) => given[each] !== undefined);
  if (stray !== undefined) {
    throw refuse(`${path}.${stray}`, 'is for groups that are discovered',
      'leave it out, or write discover: true');
  }
  const { answer = 'counts', top = usualDiscovery.top, remember } = given;
  const isOfKeys = answer === 'groups';
  const { prefilter = isOfKeys ? 1 : usualDiscovery.prefilter } = given;
  return {
    columns: names, groupsMax,
    ...(keys !== undefined && {
      groups: keys.map((key, i) => (typeof key === 'object' ? key : [key]).map((part, j) =>
        partOf(`${path}.groups[${i}]`, part, typeIn(columns, names[j]), refuse))),
    }),
    ...(discover && {
      discover: {
        ...(isOfKeys && { answer }), top, prefilter, ...(remember !== undefined && { remember }),
      },
    }),
  };
}

/** A part of a key as text. The digits of a text need quotes: 1.0 would be another text than 1. */
function partOf(
  path: string, part: TestValue, type: ColumnType | undefined, refuse: Refuse,
): string {
  const isWord = type !== undefined && (type.type === 'category' || isText(type));
  if (!isWord) return String(part);
  if (typeof part === 'string') return textForm(part);
  throw refuse(path, `is ${String(part)}, which is no text`, 'write it in quotes');
}

function typeIn(
  { columns, types }: TypedColumns, name: string | undefined,
): ColumnType | undefined {
  return name === undefined ? undefined : types[columns.indexOf(name)];
}

/** The question with its parameters, and with the reduction that suits them. */
function withParameters(
  draft: Question, given: FileQuestion, context: QuestionContext,
): Question {
  const path = `questions.${draft.name}`;
  const estimator = placed(path, () => context.findEstimator(given.estimator));
  checkEstimator(path, draft, estimator, given, context.refuse);
  const columns = {
    columns: draft.columns, types: draft.columns.map((name) => typeIn(context.columns, name)!),
  };
  const refuse: Refuse = (place, rule, remedy) =>
    context.refuse(place.startsWith('parameters') ? `${path}.${place}` : place, rule, remedy);
  const raw = parametersFor(
    given.parameters, estimator, columns, refuse, draft.by !== undefined,
  );
  const dimension = Math.max(1, draft.columns.length);
  const facts = { dimension, estimator: estimator.name };
  const parameters = placed(path, () => parseParameters(estimator.parameters, raw, facts));
  const asked = { estimator: estimator.name, parameters, ...columns };
  const isOfNames = answerKeys(asked) !== null;
  const usual = draft.columns.length === 0
    ? 'one' : context.reduce ?? defaultReduce(asked, isOfNames);
  const reduce = given.reduce ?? usual;
  if (isOfNames && reduce !== 'one') {
    throw context.refuse(`${path}.reduce`, `is ${reduce}, and a person is counted under one name`,
      'write reduce: one, which chooses one of a person\'s rows at random');
  }
  return { ...draft, estimator: estimator.name, parameters, reduce };
}

/** The result of `work`. Its errors name places within the question. */
function placed<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    const place = error.details['path'];
    throw new InvalidParameterError(error.message, {
      ...error.details, path: typeof place === 'string' ? `${path}.${place}` : path,
    });
  }
}

/** Refuses an estimator that cannot be asked in this form. */
function checkEstimator(
  path: string, { columns, by }: Question, { name, keyed = [] }: Estimator,
  { parameters }: FileQuestion, refuse: Refuse,
): void {
  const isOfPeople = ofPeople.has(name) && parameters['threshold'] === undefined;
  if (columns.length === 0 && !isOfPeople) {
    throw refuse(`${path}.columns`, `are missing, and ${name} works out numbers`,
      'name the columns that it is about');
  }
  // Any estimator can answer for each key of a public list. The plan shows where it cannot.
  if (by?.discover === undefined || keyed.includes('discovered')) return;
  const others = estimators.filter((each) => each.keyed?.includes('discovered'));
  throw refuse(`${path}.by`, `${name} is not split by groups that are discovered`,
    `leave discover out, or choose one of ${others.map((each) => each.name).join(', ')}`);
}
