import type { Released, Sensitive } from '../../base/brands.js';
import type { ScoreRuns } from '../../random/samplers/choice.js';

/** A bin that a stable histogram kept, with its noisy count. */
export interface KeptBin {
  readonly bin: number;
  readonly noisyCount: number;
}

/**
 * Keys that contributors sent, by their places. A place is where a key is in memory: it follows
 * from the order of arrival, so nothing that is released may depend on it.
 */
export interface FoundKeys {
  /** Places are 0 to size - 1. */
  readonly size: number;
  /** Orders two places by their keys alone: below 0 if the left one comes first. */
  compare(left: number, right: number): number;
  /** The place of a key; -1 if nobody sent it. */
  find(parts: readonly string[]): number;
  /** The key at a place: a part for each column that the question is split by. */
  partsOf(place: number): readonly string[];
}

/** A key that a histogram of keys kept, with its noisy count of contributors. */
export interface KeptKey {
  /** A part for each column that the question is split by. */
  readonly key: readonly string[];
  readonly noisyCount: number;
  /** True if it was given as known, so that it is kept whatever its count is. */
  readonly isKnown: boolean;
}

/** The number of contributors of each place, and their sums. */
export interface PlaceTable {
  /** Contributors of each place; places from its length on have none. */
  readonly counts: ArrayLike<number>;
  /** The sums of a place, which has contributors. All are multiples of the event's `sumsGrid`. */
  readonly sumsOf: (place: number) => Float64Array;
}

/** A key that was kept, with its noisy count and its noisy sums. */
export interface KeptSums extends KeptKey {
  readonly noisySums: Float64Array;
}

/** One score for each candidate, or runs of candidates that have the same score. */
export type Scores = Float64Array | ScoreRuns;

/**
 * The only way from Sensitive to Released. The object is built from a plan's events. Each call
 * names its event, and each event is called once (`exponential`: `times` calls). An unknown,
 * repeated or mismatched call is an InvariantError, because the charge was computed from the
 * events.
 *
 * Values are finite doubles. A gaussian or laplace value is rounded to the nearest multiple of the
 * event's grid. Rounding changes nothing for a value that is on the grid by construction.
 */
export interface Mechanisms {
  /** Discrete Gaussian noise. `value` has the event's dimension. */
  gaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /**
   * Symmetric Gaussian noise on a d x d matrix, row-major, length d*d. Only entries i <= j are
   * read.
   */
  symmetricGaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** Discrete Laplace noise. `value` has the event's dimension. */
  laplace(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** Propose-test-release: whether the noisy value passes. */
  threshold(event: string, value: Sensitive<number>): Released<boolean>;
  /**
   * A stable histogram. `counts` has one map (bin -> count) for each coordinate, with occupied bins
   * only. Returns the kept bins of each coordinate, largest noisy count first.
   */
  histogram(
    event: string,
    counts: Sensitive<readonly ReadonlyMap<number, number>[]>,
  ): Released<readonly (readonly KeptBin[])[]>;
  /**
   * A histogram of keys that nobody listed. `counts` has the number of contributors of each place.
   * Returns the kept keys, largest noisy count first. See mechanisms/group-histogram. Of a
   * `group-weights` event they are weights, multiples of its grid: see mechanisms/group-weights.
   * @param known - public keys, which are kept whatever their counts are. Default: none.
   */
  groupHistogram(
    event: string, counts: Sensitive<ArrayLike<number>>, keys: Sensitive<FoundKeys>,
    known?: readonly (readonly string[])[],
  ): Released<readonly KeptKey[]>;
  /**
   * A histogram of keys that nobody listed, with sums beside the counts. Returns the kept keys,
   * largest noisy count first. See mechanisms/group-sums.
   * @param known - public keys, which are kept whatever their counts are. Default: none.
   */
  groupSums(
    event: string, table: Sensitive<PlaceTable>, keys: Sensitive<FoundKeys>,
    known?: readonly (readonly string[])[],
  ): Released<readonly KeptSums[]>;
  /**
   * The most frequent of the groups' labels if its lead is large enough, else null. The event is a
   * threshold event of sensitivity 2 and floor 2; see mechanisms/mode.
   */
  mode(event: string, labels: Sensitive<readonly string[]>): Released<string | null>;
  /**
   * A positive definite matrix under a wishart-mask or an affine-mask; d x d, row-major. See
   * privacy/accounting/masking.
   */
  mask(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /**
   * The exponential mechanism. `scores` has one score for each candidate of the event, or runs of
   * candidates that have the same score. Returns the index of the chosen candidate.
   */
  exponential(event: string, scores: Sensitive<Scores>): Released<number>;
}
