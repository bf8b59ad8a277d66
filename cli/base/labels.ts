import { KeelsonError } from '../../src/base/errors.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { answerKeys } from '../../src/wire/answer-keys.js';
import { questionsOf } from '../../src/base/questions.js';
import type { OneQuestion, StudyDocument } from '../../src/wire/study-document.js';
import { askedColumns } from './questions.js';

type Labelled = Pick<OneQuestion, 'estimator' | 'parameters' | 'columns' | 'types'>;

/**
 * The name of each number in a study's releases: the names of a category or boolean that it counts,
 * else from its estimator, else from the columns. The document comes from a server. It may be
 * wrong, or name an estimator that this version does not know; the columns are used then.
 */
export function labelsOf(document: Labelled): readonly string[] {
  const { estimator: name, parameters, columns } = document;
  const keys = answerKeys(document);
  if (keys !== null) return keys;
  const estimator = estimators.find((known) => known.name === name);
  if (estimator?.outputLabels === undefined) return columns;
  try {
    const dimension = Math.max(1, columns.length);
    const parsed = parseParameters(estimator.parameters, parameters, { dimension });
    return estimator.outputLabels(parsed, columns);
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'invalid-parameter') return columns;
    throw error;
  }
}

/** The names of the numbers of each question's answer, or of each key of a split one. */
export function labelsOfEach(document: StudyDocument): (question: string) => readonly string[] {
  const labels = new Map(questionsOf(document).map((question) =>
    [question.name, labelsOf(askedColumns(question, document))]));
  return (question) => labels.get(question) ?? [];
}
