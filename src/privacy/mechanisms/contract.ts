import type { Released, Sensitive } from '../../base/brands.js';

/** A bin that a stable histogram kept, with its noisy count. */
export interface KeptBin {
  readonly bin: number;
  readonly noisyCount: number;
}

/**
 * The only way from Sensitive to Released. Built from a plan's events; each call names its event
 * and each event may be called once (`exponential`: `times` calls). An unknown, repeated or
 * mismatched call is an InvariantError, because the charge was computed from the events.
 *
 * Values: finite doubles. A gaussian or laplace value is rounded to the nearest multiple of the
 * event's grid, which changes nothing for a value that is on the grid by construction.
 */
export interface Mechanisms {
  /** P1, P12. `value` has the event's dimension. */
  gaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** d x d symmetric, row-major, length d*d; only i <= j is read. */
  symmetricGaussian(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** P2. */
  laplace(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** P3. */
  truncatedLaplace(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** P4(a) or P4(b), by the event's kind. */
  threshold(event: string, value: Sensitive<number>): Released<boolean>;
  /** P5(a) or P5(b). One map (bin -> count) per coordinate; occupied bins only. Kept bins, largest noisy count first. */
  histogram(
    event: string,
    counts: Sensitive<readonly ReadonlyMap<number, number>[]>,
  ): Released<readonly (readonly KeptBin[])[]>;
  /**
   * The most frequent of the groups' labels when it leads by enough, else null; a threshold event of sensitivity and
   * floor 2, see mechanisms/mode.
   */
  mode(event: string, labels: Sensitive<readonly string[]>): Released<string | null>;
  /** A positive definite matrix behind a wishart-mask or an affine-mask; d x d, row-major. See privacy/masking. */
  mask(event: string, value: Sensitive<Float64Array>): Released<Float64Array>;
  /** P6, P7. Returns the index of the chosen candidate. `scores` has the event's number of candidates. */
  exponential(event: string, scores: Sensitive<Float64Array>): Released<number>;
}
