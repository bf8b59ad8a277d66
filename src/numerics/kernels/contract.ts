/** Rows side by side, `count * dimension` numbers or more. Single precision is widened block by block. */
export type Rows = Float64Array | Float32Array;

/** What a pass over rows may leave out, weigh or move. */
export interface PassOptions {
  /** One entry per row; rows with 0 are left out. */
  readonly mask?: Uint8Array;
  /** One weight per row. */
  readonly weights?: Float64Array;
  /** Taken away from every row first. */
  readonly centre?: Float64Array;
}

/** A ball of `steps` grid steps, as src/privacy/stages/clip.ts makes them, about a point. */
export interface StepBall {
  readonly grid: number;
  readonly steps: number;
  readonly centre: Float64Array;
  /** Width of each column; default 1. */
  readonly unit?: Float64Array;
}

/** What clipped rows add up to. */
export interface AddedMoments {
  /** One per column, in steps. */
  readonly sums: Float64Array;
  /** Of products, d x d, in steps squared. */
  readonly products: Float64Array;
}

/** How rows are scored: (x - centre)^T matrix (x - centre). */
export interface ScoreForm {
  readonly centre: Float64Array;
  readonly matrix: Float64Array;
}

export interface SymmetricEigen {
  /** Ascending. All NaN when the matrix was not finite. */
  readonly values: Float64Array;
  /** Row-major: row i, of `dimension` numbers, is the unit vector of values[i]; the sign is arbitrary but repeatable. */
  readonly vectors: Float64Array;
}

/**
 * Dense numeric kernels. Results are the same bits on every machine and for every split of the memory: sums run over
 * rows in their order, in blocks that depend on the dimension alone, without fused multiply-adds.
 *
 * Rows of whole numbers: while count * (largest squared norm of a row) < 2^53, `gram`, `columnSums` and `squaredNorms`
 * of unweighted rows are exact, since every partial sum is an integer that a double holds; then any order, any shard
 * and any number of workers give the same bits. `clipBall(radius, { products: true, rowsMax })` makes such steps.
 *
 * Non-finite numbers: nothing throws and nothing hangs. They spread as in IEEE 754, `clipRows` makes such rows null,
 * and decompositions of non-finite matrices are NaN. A masked row never spreads.
 * Sizes that do not fit are an InvariantError. Not for several threads at once: one set of kernels per thread.
 */
export interface Kernels {
  /**
   * Adds X^T X (with weights X^T W X), all d x d entries, exactly symmetric, to `into`; n d^2 operations. Adds the
   * columns' sums, as `columnSums` does and for next to nothing, to `sums`.
   */
  gram(
    rows: Rows, dimension: number, count: number, options: PassOptions, into: Float64Array, sums?: Float64Array,
  ): void;
  /** Adds the (weighted) sum of each column to `into`. */
  columnSums(rows: Rows, dimension: number, count: number, options: PassOptions, into: Float64Array): void;
  /** The (weighted) mean, in two passes so that it holds far from the origin; zeros when nothing weighs. */
  means(rows: Rows, dimension: number, count: number, options: PassOptions): Float64Array;
  /** Writes (x - centre)^T matrix (x - centre) of each row; a row's result does not depend on the other rows. */
  quadraticForms(
    rows: Rows, dimension: number, count: number, centre: Float64Array, matrix: Float64Array, into: Float64Array,
  ): void;
  /**
   * How many of the rows that `alive` does not mask have a score in each bin [edges[j], edges[j + 1]), the last one
   * open-ended; scores are not kept.
   * @param edges - ascending, 1 to 254.
   * @param bins - gets j + 1 for a row in bin j, and 0 for one that is masked or below every edge.
   */
  scoreBins(
    rows: Rows, dimension: number, count: number, form: ScoreForm, alive: Uint8Array, edges: Float64Array,
    bins: Uint8Array,
  ): Float64Array;
  /** Takes the rows from `alive` whose entry in `bins` is at least `least`, 1 or more, and below `below`; lists them. */
  takeBinned(bins: Uint8Array, alive: Uint8Array, least: number, below: number): Uint32Array;
  /** Writes |x - centre|^2 of each row, summed over columns in order. */
  squaredNorms(rows: Rows, dimension: number, count: number, centre: Float64Array, into: Float64Array): void;
  /**
   * Writes each row's whole grid steps inside the ball, bit for bit those of `clipToBall` of src/privacy/stages/clip.ts, whose
   * proof therefore holds. `into` may be the rows themselves, or single precision when ball.steps <= 2^24.
   * @param present - gets 0 for a null row (an entry that is not finite), which becomes zeros, and 1 otherwise.
   * @param added - gets what `gram` would add for the steps, with its sums.
   */
  clipRows(
    rows: Rows, dimension: number, count: number, ball: StepBall, into: Rows, present?: Uint8Array, added?: AddedMoments,
  ): void;
  /** The n x m product of row-major a (n x k) and b (k x m). Both are copied: for matrices, not for data. */
  product(a: Float64Array, b: Float64Array, n: number, k: number, m: number): Float64Array;
  /** Of the symmetric part. Residual and orthogonality within a few d * 2^-53 of the norm, repeated values included. */
  eigenSymmetric(matrix: Float64Array, dimension: number): SymmetricEigen;
  /**
   * exp of the symmetric part; exactly symmetric, positive semidefinite up to rounding.
   * @param scaling - `unitTrace` divides by the trace, without overflow whatever the matrix: the density matrix of
   *   multiplicative weights. Default `none`.
   */
  exponentialSymmetric(matrix: Float64Array, dimension: number, scaling?: 'none' | 'unitTrace'): Float64Array;
}
