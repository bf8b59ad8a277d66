import type { Released, Sensitive } from '../../../base/brands.js';
import type { Uncertainty } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
import type { GaussianEvent, LaplaceEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { PrivacyTarget } from '../../contract/estimator.js';
import { wholeCohort } from './counts.js';

/** What counts of contributors are to be noised for. */
export interface CountNoiseAsked {
  readonly name: string;
  /** How many counts there are, and how far one contributor moves all of them together. */
  readonly counts: number;
  readonly l1: number;
  readonly l2: number;
  readonly target: PrivacyTarget;
  /** Part of the target's cost; default all of it. */
  readonly share?: number;
}

/** Noise for whole counts, on the grid of its event. */
export interface CountNoise {
  readonly event: GaussianEvent | LaplaceEvent;
  /** Standard deviation of each count's noise. */
  readonly deviation: number;
  /** 95 % of the noise of a count lies within this. */
  readonly half95: number;
  /** As a plan states it: standard deviations when Gaussian, else nothing. */
  readonly stated: readonly number[];
  readonly uncertainty: Uncertainty;
  draw(mechanisms: Mechanisms, counts: Sensitive<Float64Array>): Released<Float64Array>;
}

/**
 * Noise for counts: the discrete Gaussian, or the discrete Laplace where the target asks for pure privacy.
 *
 * Claim: for counts that one contributor, replaced, gone or new, moves by at most `l2` and `l1` in those norms: rho zCDP,
 * or pure epsilon. rho = epsilon^2 / 2 says what epsilon is (conversion, pureForRho), and a share of it is taken of
 * epsilon itself, since pure costs add up as they are.
 * Why: counts are whole numbers, hence on the grid, and pass through the mechanism of the event once
 * (mechanisms/gaussian, mechanisms/laplace).
 */
export function countNoise({ name, counts, l1, l2, target, share = 1 }: CountNoiseAsked): CountNoise {
  const place = { name, cohort: wholeCohort.name, dimension: counts };
  if (target.isPure === true) {
    const epsilon = pureForRho(target.rho) * share;
    const event = laplaceEvent({ ...place, sensitivity: l1, epsilon, grid: countGrid(l1 / epsilon) });
    return {
      event,
      deviation: event.scale * Math.SQRT2,
      half95: event.scale * Math.log(20),
      stated: [],
      uncertainty: { kind: 'none' },
      draw: (mechanisms, values) => mechanisms.laplace(name, values),
    };
  }
  const rho = share === 1 ? target.rho : shareOf(target.rho, share);
  const event = gaussianEvent({ ...place, sensitivity: l2, rho, grid: countGrid(l2 / Math.sqrt(2 * rho)) });
  const stated = new Array<number>(counts).fill(event.sigma);
  return {
    event,
    deviation: event.sigma,
    half95: deviations95 * event.sigma,
    stated,
    uncertainty: { kind: 'gaussian', standardDeviation: stated },
    draw: (mechanisms, values) => mechanisms.gaussian(name, values),
  };
}

/** The interval that covers the noise of each count. */
export function countInterval(
  estimate: readonly number[],
  { half95 }: CountNoise,
): { readonly low: readonly number[]; readonly high: readonly number[] } {
  return { low: estimate.map((value) => value - half95), high: estimate.map((value) => value + half95) };
}
