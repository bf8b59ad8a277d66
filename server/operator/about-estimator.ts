import { estimators } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/index.js';

/** A page cannot show more names than this; a covariance of 200 columns would have 40,000. */
const labelsMax = 128;

/** What a page says of a study's estimator and of its numbers, in words. */
export interface EstimatorWords {
  /** One line; the estimator's name when this server's registry does not have it. */
  readonly title: string;
  /** Of each parameter that the study gives. */
  readonly parameterWords: Readonly<Record<string, string>>;
  /** A name for every entry of an estimate; absent when there are more than 128, or the estimator names none. */
  readonly labels?: readonly string[];
}

/** From public facts only. Never throws: a study that runs is listed, whatever can be said of its estimator. */
export function aboutEstimator({ estimator: name, parameters, columns }: StudyDocument): EstimatorWords {
  const estimator = estimators.find((candidate) => candidate.name === name);
  if (estimator === undefined) return { title: name, parameterWords: {} };
  const words = estimator.parameters
    .filter((spec) => Object.hasOwn(parameters, spec.name))
    .map((spec) => [spec.name, spec.unit === undefined ? spec.description : `${spec.description} (${spec.unit})`]);
  const about = { title: estimator.title, parameterWords: Object.fromEntries(words) as Record<string, string> };
  try {
    const labels = estimator.outputLabels?.(parameters, columns);
    return labels === undefined || labels.length > labelsMax ? about : { ...about, labels };
  } catch {
    return about;
  }
}
