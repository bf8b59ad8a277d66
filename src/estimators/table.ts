/** One line of the table of estimators. */
export interface EstimatorEntry {
  /** Stable: study files and logs hold it. */
  readonly name: string;
  /** The estimator is exported by `FOLDER/NAME/NAME.ts`, under its name in camel case. */
  readonly folder: string;
  /**
   * The function of `contract/describe.ts` that describes the answers. Absent: the estimator has
   * one of its own, such as `describeCount` in `counts/count/describe.ts`.
   */
  readonly describe?: string;
  /**
   * Estimators of one part are loaded together by name, and without those of other parts. Absent:
   * with all estimators. A part is a file more for programs that load all.
   */
  readonly part?: 'counts' | 'mean';
}

/**
 * Every estimator, in the order in which commands and pages list them: the recommended ones first.
 * `scripts/generate-estimators.js` makes the exports, the descriptions and the types of parameters
 * from this table, so a new estimator is a folder and a line here.
 */
export const table = [
  { name: 'mean', folder: 'mean', describe: 'describeMeans', part: 'mean' },
  { name: 'robust-mean', folder: 'mean', describe: 'describeMeans' },
  { name: 'prime-heavy', folder: 'mean', describe: 'describeMeans' },
  { name: 'count', folder: 'counts', part: 'counts' },
  { name: 'sum', folder: 'counts', part: 'counts' },
  { name: 'share', folder: 'counts', part: 'counts' },
  { name: 'ratio', folder: 'counts', part: 'counts' },
  { name: 'histogram', folder: 'counts', part: 'counts' },
  { name: 'median', folder: 'counts', part: 'counts' },
  { name: 'quantile', folder: 'counts', part: 'counts' },
  { name: 'distribution', folder: 'counts', part: 'counts' },
  { name: 'stable-covariance', folder: 'covariance', describe: 'describeCovariance' },
  { name: 'covariance', folder: 'covariance', describe: 'describeCovariance' },
  { name: 'gaussian', folder: 'distributions' },
  { name: 'prime', folder: 'mean', describe: 'describeMeans' },
  { name: 'stable-mean', folder: 'mean', describe: 'describeMeans' },
  { name: 'populous-mean', folder: 'mean', describe: 'describeMeans' },
  { name: 'resilience', folder: 'mean', describe: 'describeMeans' },
  { name: 'tukey-median', folder: 'mean' },
  { name: 'heavy-tailed', folder: 'mean', describe: 'describeMeans' },
  { name: 'subsample-covariance', folder: 'covariance', describe: 'describeCovariance' },
  { name: 'stable-moments', folder: 'covariance' },
  { name: 'subspace', folder: 'covariance' },
  { name: 'select', folder: 'distributions' },
  { name: 'mixture-1d', folder: 'distributions' },
  { name: 'mixture', folder: 'distributions' },
] as const satisfies readonly EstimatorEntry[];
