import { questionsOf } from '../../src/base/questions.js';
import { estimators } from '../../src/estimators/registry.js';
import { answerKeys, type StudyDocument } from '../../src/wire/index.js';

/** Most names that a page shows; a covariance of 200 columns would have 40,000. */
const labelsMax = 128;

/** A page's words about a study's estimator and its numbers. */
export interface EstimatorWords {
  /** One line; the estimator's name when this server's registry does not have it. */
  readonly title: string;
  /** Words for each parameter that the study gives. */
  readonly parameterWords: Readonly<Record<string, string>>;
  /**
   * A name for every entry of an estimate; absent when there are more than 128, or the estimator
   * has no names.
   */
  readonly labels?: readonly string[];
}

/**
 * Uses public facts only. Never throws: a running study is listed even if nothing is known of its
 * estimator.
 */
export function aboutEstimator(
  document: StudyDocument,
): EstimatorWords {
  const { estimator: name, parameters } = questionsOf(document)[0]!;
  const { columns, types } = document;
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
  try {
    const labels = answerKeys({ estimator: name, parameters, types })
      ?? estimator.outputLabels?.(parameters, columns);
    return labels === undefined || labels.length > labelsMax ? about : { ...about, labels };
  } catch {
    return about;
  }
}
