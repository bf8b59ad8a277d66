/**
 * Rows side by side, at least `count * dimension` numbers. Single precision is converted to doubles
 * block by block.
 */
export type Rows = Float64Array | Float32Array;

/** Rows that a pass leaves out, and how it weights and moves them. */
export interface PassOptions {
  /** One entry per row. A row with 0 is left out. */
  readonly mask?: Uint8Array;
  /** One weight per row. */
  readonly weights?: Float64Array;
  /** Subtracted from every row first. */
  readonly centre?: Float64Array;
}

/**
 * A ball around a point with a radius of `steps` grid steps, as src/privacy/stages/clip.ts makes
 * it.
 */
export interface StepBall {
  readonly grid: number;
  readonly steps: number;
  readonly centre: Float64Array;
  /** Width of each column; default 1. */
  readonly unit?: Float64Array;
}

/** Sums over clipped rows. */
export interface AddedMoments {
  /** One per column, in steps. */
  readonly sums: Float64Array;
  /** Sums of products, d x d, in squared steps. */
  readonly products: Float64Array;
}

/** Rows are scored by (x - centre)^T matrix (x - centre). */
export interface ScoreForm {
  readonly centre: Float64Array;
  readonly matrix: Float64Array;
}

export interface SymmetricEigen {
  /** Ascending. All NaN if the matrix was not finite. */
  readonly values: Float64Array;
  /**
   * Row-major. Row i, of `dimension` numbers, is the unit vector of values[i]. Its sign is
   * arbitrary but repeatable.
   */
  readonly vectors: Float64Array;
}

/**
 * Dense numeric kernels. Results have the same bits on every machine and for every split of the
 * memory: sums run over rows in order, in blocks that depend on the dimension alone, without fused
 * multiply-adds.
 *
 * Rows of integers: if count * (largest squared norm of a row) < 2^53, `gram`, `columnSums` and
 * `squaredNorms` of unweighted rows are exact, because a double holds every partial sum. Every
 * order, every split and every number of workers then give the same bits. `clipBall(radius, {
 * products: true, rowsMax })` makes such rows.
 *
 * Non-finite numbers: no kernel throws or runs forever. They spread as in IEEE 754, `clipRows`
 * makes such rows null, and decompositions of non-finite matrices are NaN. A masked row never has
 * an effect.
 * Sizes that do not fit are an InvariantError. A set of kernels belongs to one thread.
 */
export interface Kernels {
  /**
   * Adds X^T X (with weights X^T W X), all d x d entries, exactly symmetric, to `into`. n d^2
   * operations. Also adds the sums of the columns to `sums`, as `columnSums` does, at almost no
   * extra cost.
   */
  gram(
    rows: Rows, dimension: number, count: number, options: PassOptions, into: Float64Array,
    sums?: Float64Array,
  ): void;
  /** Adds the (weighted) sum of each column to `into`. */
  columnSums(
    rows: Rows, dimension: number, count: number, options: PassOptions, into: Float64Array,
  ): void;
  /**
   * The (weighted) mean, in two passes so that it is accurate far from the origin. Zeros if there
   * is no weight.
   */
  means(rows: Rows, dimension: number, count: number, options: PassOptions): Float64Array;
  /**
   * Writes (x - centre)^T matrix (x - centre) of each row. The result of a row does not depend on
   * other rows.
   */
  quadraticForms(
    rows: Rows, dimension: number, count: number, centre: Float64Array, matrix: Float64Array,
    into: Float64Array,
  ): void;
  /**
   * Counts the rows that `alive` does not mask by the bin of their score, [edges[j], edges[j + 1]).
   * The last bin has no upper end. Scores are not kept.
   * @param edges - ascending, 1 to 254.
   * @param bins - gets j + 1 for a row in bin j, and 0 for a row that is masked or below every
   *   edge.
   */
  scoreBins(
    rows: Rows, dimension: number, count: number, form: ScoreForm, alive: Uint8Array,
    edges: Float64Array, bins: Uint8Array,
  ): Float64Array;
  /**
   * Removes the rows with `least` <= bin < `below` from `alive` and lists them. `least` is 1 or
   * more.
   */
  takeBinned(bins: Uint8Array, alive: Uint8Array, least: number, below: number): Uint32Array;
  /** Writes |x - centre|^2 of each row. Sums run over columns in order. */
  squaredNorms(
    rows: Rows, dimension: number, count: number, centre: Float64Array, into: Float64Array,
  ): void;
  /**
   * Writes each row as integer multiples of the grid step inside the ball. The bits equal those of
   * `clipToBall` in src/privacy/stages/clip.ts, so its proof holds. `into` may be the rows
   * themselves, or single precision if ball.steps <= 2^24.
   * @param present - gets 0 for a null row (an entry is not finite), which becomes zeros, and 1 for
   *   every other.
   * @param added - gets what `gram` would add for the steps, with the sums of the columns.
   * @returns how many rows are not null.
   */
  clipRows(
    rows: Rows, dimension: number, count: number, ball: StepBall, into: Rows, present?: Uint8Array,
    added?: AddedMoments,
  ): number;
  /**
   * Adds the steps that `clipRows` would write, column by column, to `into`. Exact while the sums
   * are below 2^53.
   * @returns how many rows are not null.
   */
  addClipped(
    rows: Rows, dimension: number, count: number, ball: StepBall, into: Float64Array,
  ): number;
  /**
   * The n x m product of row-major a (n x k) and b (k x m). Copies both, so use it for matrices,
   * and for data in chunks.
   * @param into - gets the n * m numbers, and may be `a`. Default: a new array.
   */
  product(
    a: Float64Array, b: Float64Array, n: number, k: number, m: number, into?: Float64Array,
  ): Float64Array;
  /**
   * Decomposes the symmetric part. Residual and orthogonality are within a few d * 2^-53 of the
   * norm, also for repeated values.
   */
  eigenSymmetric(matrix: Float64Array, dimension: number): SymmetricEigen;
  /**
   * exp of the symmetric part. Exactly symmetric, and positive semidefinite up to rounding.
   * @param scaling - `unitTrace` divides by the trace and never overflows. The result is the
   *   density matrix of multiplicative weights. Default `none`.
   */
  exponentialSymmetric(
    matrix: Float64Array, dimension: number, scaling?: 'none' | 'unitTrace',
  ): Float64Array;
}
