import type { Finding, Outcome } from '../../../base/outcome.js';
import { deviations95, laplaceDeviations95 } from '../../../numerics/normal.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { centreNotFound } from '../../pooled/centred-mean.js';

/** The refusal of a release that found no place with enough rows. */
export function placeNotFound(facts: StudyFacts, columns: readonly number[]): Outcome {
  return centreNotFound(facts, columns, ['standard deviations', 'spread times moment-bound']);
}

/** An answer in units of spread, with the parts of its error per coordinate. */
export interface Answer {
  readonly means: Float64Array;
  readonly noise: Float64Array;
  readonly sampling: Float64Array;
  /** Planned bound on what clipping moved, in units of spread. */
  readonly bias: number;
  /** True if the noise is Gaussian, or close enough to be shown by its standard deviation. */
  readonly isGaussian: boolean;
  /** Released number of rows beyond the clip radius, and of those that the assumptions explain. */
  readonly outside: { readonly number: number; readonly explained: number };
  /** Public bound on the absolute value of the mean, in data units. */
  readonly radius?: number | undefined;
}

/**
 * The answer in data units. The interval adds the bound on the bias to both sides, in every column.
 * Where more rows are beyond the clip radius than the bound on the moment explains, or a mean is
 * beyond its own bound by more than its error, the assumptions do not hold: the intervals are open,
 * and the answer has a finding.
 */
export function valueOf(
  { means, noise, sampling, bias, isGaussian, outside, radius = Infinity }: Answer,
  spread: Float64Array,
): Outcome {
  const estimate = Array.from(means, (entry, j) => entry * spread[j]!);
  // 95 % of Laplace noise reach farther in deviations. The chance of who came is about normal.
  const reach = isGaussian ? 1 : laplaceDeviations95 / deviations95;
  const half = (j: number): number =>
    spread[j]! * (bias + deviations95 * Math.hypot(reach * noise[j]!, sampling[j]!));
  const standardDeviation = Array.from(noise, (sigma, j) => sigma * spread[j]!);
  const isFar = outside.number > outside.explained;
  const beyond = estimate.flatMap((entry, j) => (Math.abs(entry) > radius + half(j) ? [j] : []));
  const isBroken = isFar || beyond.length > 0;
  const finding: Finding = {
    reason: 'values-clipped', columns: isFar ? estimate.map((_, j) => j) : beyond,
    amounts: isFar ? [outside.number] : [],
  };
  return finiteValue({
    estimate,
    shape: [estimate.length],
    uncertainty: isGaussian ? { kind: 'gaussian', standardDeviation } : { kind: 'none' },
    interval95: intervalAbout(estimate, isBroken ? () => Infinity : half),
    ...(isBroken && { findings: [finding] }),
  }, 'the noisy mean times spread is');
}

/** Standard deviations of noise, or of chance, that rows beyond the radius must stand out of. */
const standsOut = 4;

/**
 * So many rows beyond the radius are no sign of a broken bound.
 * @param expected - at most, by the bound on the moment.
 * @param noise - standard deviation.
 */
export function explainedOutside(expected: number, noise: number): number {
  const chance = Math.sqrt(Math.max(0, expected));
  return expected + standsOut * Math.hypot(noise, chance);
}
