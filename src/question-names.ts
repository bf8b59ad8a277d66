/**
 * The questions about the contributors that an estimator can be chosen for, and the estimator whose
 * answer has just the numbers of the question.
 */
export const plainAnswers = {
  mean: 'mean', count: 'count', total: 'sum', share: 'share', ratio: 'ratio', median: 'median',
  percentile: 'quantile', histogram: 'histogram', covariance: 'covariance',
  distribution: 'distribution',
} as const;
/** One of `questionNames`. */
export type QuestionName = keyof typeof plainAnswers;
/** The questions that an estimator can be chosen for. */
export const questionNames = Object.keys(plainAnswers) as readonly QuestionName[];
