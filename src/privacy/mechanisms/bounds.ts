import { normalUpperQuantile } from '../../numerics/normal.js';
import type { GaussianHistogramEvent, GaussianThresholdEvent } from '../accounting/events.js';
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
