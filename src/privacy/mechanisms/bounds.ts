import { normalUpperQuantile } from '../../numerics/normal.js';
import type {
  GaussianHistogramEvent,
  GaussianThresholdEvent,
  LaplaceHistogramEvent,
  LaplaceThresholdEvent,
  TruncatedLaplaceEvent,
} from '../accounting/events.js';
import { addSteps, stepsAbove, valueOfSteps } from '../accounting/grid.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';

/** Raises a bound that was computed in doubles by more than its rounding errors. */
const upwards = 1 + 2 ** -40;

type Truncation = Pick<TruncatedLaplaceEvent, 'sensitivity' | 'epsilon' | 'delta' | 'grid'>;

/**
 * A, the bound of truncated Laplace noise, in grid steps, rounded up:
 *   A = (D / epsilon) log(1 + (e^epsilon - 1) / (2 delta))   (Geng, Ding, Guo, Kumar 2018).
 */
export function truncationSteps({ sensitivity, epsilon, delta, grid }: Truncation): Steps {
  const scale = sensitivity / epsilon;
  return stepsAbove(scale * Math.log1p(Math.expm1(epsilon) / (2 * delta)) * upwards, grid);
}

/** A in data units, for planning. */
export function truncationBound(event: Truncation): number {
  return valueOfSteps(truncationSteps(event), event.grid);
}

/** The noise of one histogram. D = 2: two counts change by 1, or one changes by 1 on each side. */
export function histogramTruncation(event: LaplaceHistogramEvent): Truncation {
  return { sensitivity: 2, epsilon: event.epsilon, delta: event.delta, grid: event.grid };
}

/**
 * The noisy value that passes the test, in steps: floor + A, or floor + D + sigma z(delta) + 1
 * step.
 */
export function thresholdSteps(event: LaplaceThresholdEvent | GaussianThresholdEvent): Steps {
  const floor = stepsAbove(event.floor, event.grid);
  if (event.kind === 'laplace-threshold') return addSteps(floor, truncationSteps(event));
  const margin =
    (event.sensitivity + event.sigma * Math.max(0, normalUpperQuantile(event.delta))) * upwards;
  return addSteps(addSteps(floor, stepsAbove(margin, event.grid)), 1);
}

/** The noisy value at which a threshold test passes, in data units, for planning. */
export function passingValue(event: LaplaceThresholdEvent | GaussianThresholdEvent): number {
  return valueOfSteps(thresholdSteps(event), event.grid);
}

/** A noisy count strictly above this many steps is kept. */
export function keepingSteps(event: GaussianHistogramEvent | LaplaceHistogramEvent): Steps {
  if (event.kind === 'laplace-histogram') return truncationSteps(histogramTruncation(event));
  const margin = event.sigma * Math.max(0, normalUpperQuantile(event.delta / event.coordinates));
  return addSteps(addSteps(stepsAbove(1, event.grid), stepsAbove(margin * upwards, event.grid)), 1);
}

/** The noisy count above which a bin is kept, in contributors, for planning. */
export function keepingCount(event: GaussianHistogramEvent | LaplaceHistogramEvent): number {
  return valueOfSteps(keepingSteps(event), event.grid);
}
