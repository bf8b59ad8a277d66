import { ln } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Interval95, Uncertainty } from '../../../base/outcome.js';
import { deviations95, normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
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
  /** Of the noise on one count. */
  readonly standardDeviation: number;
  /** As a plan states it: one standard deviation per count when Gaussian, else nothing. */
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
 * Claim. The counts cost rho zCDP, or a pure epsilon, or the given share of it.
 * Neighbours: one contributor is replaced, leaves or joins, which moves the counts by at most `l2`
 * and `l1` in those norms.
 * Why: counts are whole numbers, so they are on the grid, or the caller says on which grid its
 * entries are. They pass once through the mechanism of
 * the event (mechanisms/gaussian, mechanisms/laplace). The pure epsilon is the one of
 * rho = epsilon^2 / 2 (pureForRho). A share is taken of epsilon itself, since pure costs add up.
 */
export function countNoise(options: CountNoiseOptions): CountNoise {
  const { name, counts, l1, l2, target, share = 1 } = options;
  const place = { name, cohort: cohortName, dimension: counts };
  const about = (half: number) => (estimate: readonly number[]): Interval95 =>
    intervalAbout(estimate, () => half);
  if (target.isPure === true) {
    const epsilon = pureForRho(target.rho) * share;
    const event = laplaceEvent({
      ...place, sensitivity: l1, epsilon, grid: options.grid ?? countGrid(l1 / epsilon),
    });
    return {
      event,
      standardDeviation: event.scale * Math.SQRT2,
      stated: [],
      uncertainty: { kind: 'none' },
      draw: (mechanisms, values) => mechanisms.laplace(name, values),
      interval95: about(event.scale * ln(20)),
      upperQuantile: (probability) => event.scale * ln(0.5 / probability),
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
