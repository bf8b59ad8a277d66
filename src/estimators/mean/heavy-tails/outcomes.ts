import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { centreNotFound } from '../../pooled/centred-mean.js';

/** The refusal of a release that found no place with enough rows. */
export function placeNotFound(facts: StudyFacts, columns: readonly number[]): Outcome {
  return centreNotFound(facts, columns, ['standard deviations', 'scale times moment-bound']);
}

/** An answer in units of scale, with the parts of its error per coordinate. */
export interface Answer {
  readonly means: Float64Array;
  readonly noise: Float64Array;
  readonly sampling: Float64Array;
  /** Planned bound on what clipping moved, in units of scale. */
  readonly bias: number;
  /** Whether the noise is Gaussian, or close enough to be shown by its standard deviation. */
  readonly isGaussian: boolean;
}

/**
 * The answer in data units. The interval adds the bound on the bias to both sides, in every column.
 */
export function valueOf(
  { means, noise, sampling, bias, isGaussian }: Answer, scale: Float64Array,
): Outcome {
  const estimate = Array.from(means, (entry, j) => entry * scale[j]!);
  const half = (j: number): number =>
    scale[j]! * (bias + deviations95 * Math.hypot(noise[j]!, sampling[j]!));
  const standardDeviation = Array.from(noise, (sigma, j) => sigma * scale[j]!);
  return finiteValue({
    estimate,
    shape: [estimate.length],
    uncertainty: isGaussian ? { kind: 'gaussian', standardDeviation } : { kind: 'none' },
    interval95: intervalAbout(estimate, half),
  }, 'the noisy mean times scale is');
}
