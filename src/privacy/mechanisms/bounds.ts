import { normalUpperQuantile } from '../../numerics/normal.js';
import type {
  GaussianHistogramEvent, GaussianThresholdEvent, KeyHistogramEvent, KeySumsEvent,
} from '../accounting/events.js';
import { addSteps, stepsAbove, valueOfSteps } from '../accounting/grid.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';

/** Raises a bound that was computed in doubles by more than its rounding errors. */
const upwards = 1 + 2 ** -40;

/** The noisy value that passes the test, in steps: floor + D + sigma z(delta) + 1 step. */
export function thresholdSteps(event: GaussianThresholdEvent): Steps {
  const floor = stepsAbove(event.floor, event.grid);
  const margin =
    (event.sensitivity + event.sigma * Math.max(0, normalUpperQuantile(event.delta))) * upwards;
  return addSteps(addSteps(floor, stepsAbove(margin, event.grid)), 1);
}

/** The noisy value at which a threshold test passes, in data units, for planning. */
export function passingValue(event: GaussianThresholdEvent): number {
  return valueOfSteps(thresholdSteps(event), event.grid);
}

/** A noisy count strictly above this many steps is kept. */
export function keepingSteps(event: GaussianHistogramEvent): Steps {
  const margin = event.sigma * Math.max(0, normalUpperQuantile(event.delta / event.coordinates));
  return addSteps(addSteps(stepsAbove(1, event.grid), stepsAbove(margin * upwards, event.grid)), 1);
}

/** The noisy count above which a bin is kept, in contributors, for planning. */
export function keepingCount(event: GaussianHistogramEvent): number {
  return valueOfSteps(keepingSteps(event), event.grid);
}

/**
 * A key whose noisy count is strictly above this many steps is kept: t + sigma z(d0), rounded up to
 * a step, and one step more. Here t is the prefilter and d0 = 1 - (1 - delta)^(1 / keysMax).
 */
export function keyKeepingSteps(
  { keysMax, prefilter, sigma, delta, grid }: KeyHistogramEvent | KeySumsEvent,
): Steps {
  const each = -Math.expm1(Math.log1p(-delta) / keysMax);
  const margin = sigma * Math.max(0, normalUpperQuantile(each)) * upwards;
  return addSteps(addSteps(stepsAbove(prefilter, grid), stepsAbove(margin, grid)), 1);
}

/** The noisy count above which a key is kept, in contributors, for planning. */
export function keyKeepingCount(event: KeyHistogramEvent | KeySumsEvent): number {
  return valueOfSteps(keyKeepingSteps(event), event.grid);
}
