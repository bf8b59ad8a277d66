import { namesOfType, typesOfColumns, type ColumnType } from '../base/columns.js';
import { KeelsonError } from '../base/errors.js';
import { checkList, checkObject } from '../base/given.js';
import type { ParameterValues } from '../base/facts.js';
import type { ColumnInfo, NumberInfo } from '../base/number-info.js';
import type { Outcome, ValueOutcome } from '../base/outcome.js';
import { entriesOf, type NamedPart } from '../base/parts.js';
import type { Question } from '../base/questions.js';
import type { ColumnWords } from '../base/study-words.js';
import { descriptions } from '../estimators/generated/descriptions.js';

/** The question to describe, with the types and words of its columns in their order. */
export interface Described {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  readonly columns: readonly string[];
  /** How several rows of a contributor become one. Default: `mean`. */
  readonly reduce?: 'mean' | 'sum' | 'one';
  /** Absent: all columns are numbers. */
  readonly types?: readonly ColumnType[] | undefined;
  readonly columnWords?: readonly ColumnWords[] | undefined;
}

/**
 * Describes each number of the answer to a question, in the order of the estimate; of an answer
 * that is split, all numbers of each group in turn. The question may come from a server, which may
 * be wrong or newer: numbers that nothing explains are of the kind `other`.
 * @param outcome - the answer. Without it, a split question is described as one group, and what a
 *   release finds is absent.
 * @throws InvalidParameterError for something that is not a question, or not an answer.
 * @example
 * import { describeAnswer } from 'keelson/client/words';
 *
 * const parameters = { threshold: 18, side: 'below' };
 * const asked = { estimator: 'count', columns: ['age'], parameters };
 * console.log(describeAnswer(asked));
 * // [{ kind: 'count', column: 'age', side: { below: 18 }, least: 0 }]
 */
export function describeAnswer(asked: Described, outcome?: ValueOutcome): readonly NumberInfo[] {
  checkObject(asked, 'a question has an estimator, columns and parameters');
  checkList(asked.columns, 'the columns of a question are a list of names');
  if (outcome !== undefined) {
    checkObject(outcome, 'an answer has an estimate');
    checkList(outcome.estimate, 'the estimate of an answer is a list of numbers');
  }
  const own = describeNumbers(asked, outcome);
  return outcome?.groups === undefined ? own
    : outcome.groups.flatMap((group) => own.map((number) => ({ ...number, group })));
}

/**
 * The same for the numbers of one group, whose names do not depend on the group. A released answer
 * describes its own numbers. That description is used as it is: readers who have the facts of the
 * study compared the two when they verified the release.
 */
export function describeNumbers(asked: Described, outcome?: ValueOutcome): readonly NumberInfo[] {
  const { numbers = [] } = outcome ?? {};
  return numbers.length > 0 ? numbers : numbersByFacts(asked, outcome);
}

/** The description that a release states, worked out from the facts of its study. */
export function numbersByFacts(asked: Described, outcome?: ValueOutcome): readonly NumberInfo[] {
  const groups = outcome?.groups?.length ?? 1;
  // No group was found, or there is no answer yet.
  const size = outcome === undefined || groups === 0
    ? undefined : outcome.estimate.length / groups;
  const own = describedBy(asked, outcome?.groups === undefined ? outcome : undefined);
  if (own !== null && (size === undefined || own.length === size)) return own;
  return unexplained(asked.columns, size ?? asked.columns.length, outcome?.parts);
}

/** A study as its questions are described. */
export type DescribedStudy = {
  readonly questions: readonly Question[];
  readonly columns: readonly string[];
  readonly types?: readonly ColumnType[];
  readonly columnWords?: readonly ColumnWords[];
};

/** A question of a study, with the study's facts about its columns. */
export function describedQuestion(
  question: Question, study: Omit<DescribedStudy, 'questions'>,
): Described {
  const { columns, columnWords } = study;
  return {
    ...question, types: typesOfColumns(study, question.columns),
    columnWords: columnWords && question.columns.map((name) => columnWords[columns.indexOf(name)]!),
  };
}

/** The questions of a study, in its order. */
export function describedQuestions(study: DescribedStudy): readonly Described[] {
  return study.questions.map((question) => describedQuestion(question, study));
}

/** An answer with descriptions of its numbers, as a release has them. */
export function describedOutcome(asked: Described, outcome: Outcome): Outcome {
  // Where no group was found there are no numbers.
  if (outcome.kind === 'refused' || outcome.groups?.length === 0) return outcome;
  return { ...outcome, numbers: numbersByFacts(asked, outcome) };
}

/**
 * The name of each number of an answer that counts the names of one column: a histogram of a
 * category or boolean. Null for any other answer.
 * @example
 * import { createContributor } from 'keelson/client';
 * import { answerKeys } from 'keelson/client/words';
 *
 * const seed = new Uint8Array(32);   // use openSeed: this one everybody knows
 * const url = 'ws://127.0.0.1:8787';
 * const contributor = createContributor({ url, study: 'rides-by-region', seed });
 * console.log(answerKeys(await contributor.study()));   // ['north', 'south', 'other']
 */
export function answerKeys(asked: Described): readonly string[] | null {
  const names = describeNumbers(asked).map((number) =>
    (number.kind === 'bin' ? number.bin.name : undefined));
  return names.length > 0 && names.every((name) => name !== undefined) ? names : null;
}

/** Null for an estimator that this version does not know, or parameters that it cannot have. */
function describedBy(
  asked: Described, outcome: ValueOutcome | undefined,
): readonly NumberInfo[] | null {
  const { estimator, parameters } = asked;
  if (!Object.hasOwn(descriptions, estimator)) return null;
  try {
    return descriptions[estimator]!(parameters, columnsOf(asked), outcome);
  } catch (error) {
    if (error instanceof KeelsonError) return null;
    throw error;
  }
}

function columnsOf({ columns, types, columnWords, reduce }: Described): readonly ColumnInfo[] {
  return columns.map((name, i): ColumnInfo => {
    const [type, unit] = [types?.[i], columnWords?.[i]?.unit];
    const names = type === undefined ? null : namesOfType(type);
    const isBoolean = type?.type === 'boolean';
    return {
      name, ...(unit !== undefined && { unit }), ...(names !== null && { names }),
      // With several rows per person, the sum counts those in which the answer is yes.
      ...(isBoolean && { isBoolean, least: 0, ...(reduce !== 'sum' && { most: 1 }) }),
    };
  });
}

/** Describes by columns where there is one number for each, else by parts, else by place. */
function unexplained(
  columns: readonly string[], size: number, parts: readonly NamedPart[] = [],
): readonly NumberInfo[] {
  if (size === columns.length) {
    return columns.map((column, i) => ({ kind: 'other', column, place: i + 1, of: size }));
  }
  const ofParts = parts.flatMap(({ name: part, shape }): readonly NumberInfo[] => {
    const of = entriesOf(shape);
    const isByColumn = shape.length === 1 && of === columns.length;
    return Array.from({ length: of }, (_, i) => ({
      kind: 'other', part, place: i + 1, of, ...(isByColumn && { column: columns[i]! }),
    }));
  });
  return ofParts.length === size ? ofParts
    : Array.from({ length: size }, (_, i) => ({ kind: 'other', place: i + 1, of: size }));
}
