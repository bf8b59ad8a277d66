/** The questions about the contributors that an estimator can be chosen for. */
export const questionNames = [
  'mean', 'count', 'sum', 'share', 'ratio', 'median', 'quantile', 'histogram', 'covariance',
  'distribution',
] as const;
/** One of `questionNames`. */
export type QuestionName = (typeof questionNames)[number];
