import type { ColumnType } from '../../base/columns.js';
import { publicKeys } from '../../base/public-keys.js';
import type { Question } from '../../base/questions.js';
import { sharePlanOf, type SharedQuestion, type SharePlan } from './share-plan.js';

interface SharedColumns {
  readonly columns: readonly string[];
  readonly types?: readonly ColumnType[];
}

/** The public facts of a sealed study that say what contributors share. */
export interface SharedStudy extends SharedColumns {
  readonly questions: readonly Question[];
  readonly sealed: SharedQuestion['sealed'];
}

/** For each question of a study what a contributor shares. @throws as `sharePlanOf`. */
export function sharePlansOf(study: SharedStudy): readonly SharePlan[] {
  return study.questions.map((question) => sharePlanOf(sharedQuestionOf(question, study)));
}

/** A question as the program over its columns sees it. */
export function sharedQuestionOf(
  question: Question, study: Omit<SharedStudy, 'questions'>,
): SharedQuestion {
  const { estimator, parameters, columns, by } = question;
  const { bits } = study.sealed;
  const range = rangesOf(columns, study);
  const keys = by === undefined ? undefined : publicKeys(by, study)?.length ?? Infinity;
  return {
    estimator, parameters, columns: Math.max(1, columns.length),
    isPartial: isPartial(question, study), ...(keys !== undefined && { keys }),
    sealed: { bits, ...(range !== null && { range }) },
  };
}

/** True if rows of a contributor may all be left out of a question: a public fact of the study. */
function isPartial({ where, by, columns: names }: Question, study: SharedColumns): boolean {
  return where.length > 0 || by !== undefined || names.some((name) =>
    study.types?.[study.columns.indexOf(name)]?.optional === true);
}

type Range = readonly [low: number, high: number];

/** The public range of each column of a question; null where one has none. */
function rangesOf(
  names: readonly string[], { columns, types, sealed }: Omit<SharedStudy, 'questions'>,
): readonly Range[] | null {
  const ranges: Range[] = [];
  for (const name of names) {
    const place = columns.indexOf(name);
    const range = sealed.range === undefined ? rangeOf(types?.[place]) : sealed.range[place];
    if (range === undefined) return null;
    ranges.push(range);
  }
  return ranges;
}

/** The range that the type of a column states. */
function rangeOf(type: ColumnType | undefined): Range | undefined {
  if (type?.type === 'boolean') return [0, 1];
  if (type?.type !== 'number' && type?.type !== 'integer') return undefined;
  const { low, high } = type;
  return low === undefined || high === undefined || low >= high ? undefined : [low, high];
}
