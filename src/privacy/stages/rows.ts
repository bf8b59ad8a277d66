/**
 * Rows of one cohort as private functions read them: the estimator contract's pooled rows without
 * their tags.
 */
export interface RowBlock {
  readonly count: number;
  readonly dimension: number;
  /** Row-major, count * dimension. */
  readonly values: Float64Array;
}
