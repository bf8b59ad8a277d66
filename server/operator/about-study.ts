import { describeNumbers } from '../../src/answers/describe.js';
import { areOfColumns, labelsOf } from '../../src/answers/words.js';
import { typesOfColumns, type ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import { estimators } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/index.js';

/** Most names that a page shows; a covariance of 200 columns would have 40,000. */
const labelsMax = 128;

/** A page's words about a question and the numbers of its answers. */
export interface QuestionWords {
  /** One line; the estimator's name when this server's registry does not have it. */
  readonly title: string;
  /** Words for each parameter that the question states. */
  readonly parameterWords: Readonly<Record<string, string>>;
  /**
   * A name for every entry of an estimate, or of one key's estimate where it is split. Absent when
   * there are more than 128, or the columns are their names.
   */
  readonly labels?: readonly string[];
}

/** A page's words about a study. */
export interface StudyWords {
  /** The title of its only question, or the names of its questions. */
  readonly title: string;
  /** The words about each question, in the study's order. */
  readonly questions: readonly QuestionWords[];
}

/**
 * Uses public facts only. Never throws: a running study is listed even if nothing is known of its
 * estimators.
 */
export function aboutStudy(document: StudyDocument): StudyWords {
  const questions = document.questions.map((question) =>
    aboutQuestion(question, typesOfColumns(document, question.columns)));
  const names = document.questions.map(({ name }) => name);
  const title = questions.length === 1 ? questions[0]!.title
    : `${names.length} questions: ${names.join(', ')}`;
  return { title, questions };
}

/** @param types those of the question's columns. */
function aboutQuestion(
  { estimator: name, parameters, columns }: Question, types: readonly ColumnType[] | undefined,
): QuestionWords {
  const estimator = estimators.find((candidate) => candidate.name === name);
  if (estimator === undefined) return { title: name, parameterWords: {} };
  const words = estimator.parameters
    .filter((spec) => Object.hasOwn(parameters, spec.name))
    .map((spec) => [
      spec.name, spec.unit === undefined ? spec.description : `${spec.description} (${spec.unit})`,
    ]);
  const about = {
    title: estimator.title, parameterWords: Object.fromEntries(words) as Record<string, string>,
  };
  const numbers = describeNumbers({ estimator: name, parameters, columns, types });
  return numbers.length > labelsMax || areOfColumns(numbers, columns)
    ? about : { ...about, labels: labelsOf(numbers) };
}
