import { ln } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Interval95, Uncertainty } from '../../../base/outcome.js';
import { deviations95, normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, LaplaceEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { PrivacyTarget } from '../../contract/estimator.js';
import { intervalAbout } from '../../contract/outcomes.js';
import { cohortName } from './counts.js';

/** Which counts get noise, and what it may cost. */
export interface CountNoiseOptions {
  readonly name: string;
  /** Number of counts. */
  readonly counts: number;
  /** L1 and L2 distance that one contributor moves the vector of counts, at most. */
  readonly l1: number;
  readonly l2: number;
  readonly target: PrivacyTarget;
  /** Part of the target's cost. Default: all of it. */
  readonly share?: number;
  /**
   * A power of two of which all entries are whole multiples. Default: one for whole numbers.
   */
  readonly grid?: number;
}

/** Noise for whole counts, or for other vectors on the grid of its event. */
export interface CountNoise {
  readonly event: GaussianEvent | LaplaceEvent;
  /** Standard deviation of the noise on one count. */
  readonly standardDeviation: number;
  /** As a plan states it: one standard deviation per count. */
  readonly stated: readonly number[];
  readonly uncertainty: Uncertainty;
  draw(mechanisms: Mechanisms, counts: Sensitive<Float64Array>): Released<Float64Array>;
  /** Covers 95 % of the noise of each count. */
  interval95(estimate: readonly number[]): Interval95;
  /** The noise of one count is above this with about the given probability, below one half. */
  upperQuantile(probability: number): number;
}

/**
 * Noise for counts: the discrete Gaussian, or the discrete Laplace under a target of pure privacy.
 *
 * Claim. The counts cost rho zCDP, or the target's pure epsilon, or the given share of it.
 * Neighbours: one contributor is replaced, leaves or joins, which moves the counts by at most `l2`
 * and `l1` in those norms.
 * Why: counts are whole numbers, so they are on the grid, or the caller says on which grid its
 * entries are. They pass once through the mechanism of the event (mechanisms/gaussian,
 * mechanisms/laplace). A share is taken of epsilon itself, since pure costs add up.
 *
 * Laplace noise of whole counts is on the grid 1: the geometric mechanism. At one epsilon no
 * coarser or finer grid has less noise for a count (Ghosh, Roughgarden, Sundararajan 2009).
 */
export function countNoise(options: CountNoiseOptions): CountNoise {
  const { name, counts, l1, l2, target, share = 1 } = options;
  const place = { name, cohort: cohortName, dimension: counts };
  const about = (half: number) => (estimate: readonly number[]): Interval95 =>
    intervalAbout(estimate, () => half);
  if (target.isPure === true) {
    const epsilon = share === 1 ? target.epsilon : shareOf(target.epsilon, share);
    const event = laplaceEvent({ ...place, sensitivity: l1, epsilon, grid: options.grid ?? 1 });
    const standardDeviation = laplaceDeviation(event);
    const upperQuantile = (probability: number): number => laplaceQuantile(event, probability);
    return {
      event,
      standardDeviation,
      stated: new Array<number>(counts).fill(standardDeviation),
      uncertainty: { kind: 'laplace', scale: new Array<number>(counts).fill(event.scale) },
      draw: (mechanisms, values) => mechanisms.laplace(name, values),
      interval95: about(upperQuantile(0.025)),
      upperQuantile,
    };
  }
  const rho = share === 1 ? target.rho : shareOf(target.rho, share);
  const grid = options.grid ?? countGrid(l2 / Math.sqrt(2 * rho));
  const event = gaussianEvent({ ...place, sensitivity: l2, rho, grid });
  const stated = new Array<number>(counts).fill(event.sigma);
  return {
    event,
    standardDeviation: event.sigma,
    stated,
    uncertainty: { kind: 'gaussian', standardDeviation: stated },
    draw: (mechanisms, values) => mechanisms.gaussian(name, values),
    interval95: about(deviations95 * event.sigma),
    upperQuantile: (probability) => event.sigma * normalUpperQuantile(probability),
  };
}

/**
 * The standard deviation of discrete Laplace noise. With q = exp(-grid / scale) its variance is
 * 2 q / (1 - q)^2 steps squared, and sqrt(2 q) / (1 - q) is 1 / (sqrt 2 sinh(grid / (2 scale))).
 */
function laplaceDeviation({ scale, grid }: LaplaceEvent): number {
  return grid / (Math.SQRT2 * Math.sinh(grid / (2 * scale)));
}

/**
 * The smallest multiple of the grid, at least 0, that discrete Laplace noise is above with at most
 * this probability, below one half.
 *
 * Why: P(z > m steps) = q^(m+1) / (1 + q) for m >= 0, so m + 1 is at least -ln(p (1 + q)) scale /
 * grid. On a coarse grid this is more than the continuous law says: at scale = grid = 1 the noise
 * is within 3 in 97 of 100 cases, and within 2.996, where 95 % of Laplace noise is, in 93.
 */
function laplaceQuantile({ scale, grid }: LaplaceEvent, probability: number): number {
  const q = Math.exp(-grid / scale);
  const steps = -ln(probability * (1 + q)) * (scale / grid) * (1 + 2 ** -40);
  return Math.max(0, Math.ceil(steps) - 1) * grid;
}
