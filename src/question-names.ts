/** The questions about the contributors that an estimator can be chosen for. */
export const questionNames = [
  'mean', 'count', 'total', 'share', 'ratio', 'median', 'percentile', 'histogram', 'covariance',
  'distribution',
] as const;
/** One of `questionNames`. */
export type QuestionName = (typeof questionNames)[number];
