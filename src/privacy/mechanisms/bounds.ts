import { normalUpperQuantile } from '../../numerics/normal.js';
import type {
  GaussianHistogramEvent, GaussianThresholdEvent, GroupHistogramEvent, GroupSumsEvent,
  GroupWeightsEvent,
  MechanismEvent,
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

/** An event that shows keys that nobody listed. */
export type KeysEvent = GroupHistogramEvent | GroupWeightsEvent | GroupSumsEvent;

/** True if an event shows keys that nobody listed. */
export function showsKeys(event: MechanismEvent): event is KeysEvent {
  return event.kind === 'group-histogram' || event.kind === 'group-weights'
    || event.kind === 'group-sums';
}

/** A key with a smaller count, or weight, gets no noise and is not shown. */
export function leastOfKey(event: KeysEvent): number {
  return event.kind === 'group-weights' ? event.grid : event.prefilter;
}

/**
 * A key whose noisy count is strictly above this many steps is kept: t + sigma z(d0), rounded up to
 * a step, and one step more. Here t is the prefilter and d0 = 1 - (1 - delta)^(1 / groupsMax).
 * For weights it is the largest of 1 / sqrt(k) + sigma z(d(k)) with d(k) = 1 - (1 - delta)^(1 / k),
 * over k from 1 to groupsMax, rounded in the same way.
 */
export function keyKeepingSteps(event: KeysEvent): Steps {
  const { groupsMax, sigma, delta, grid } = event;
  const stepsFor = (keys: number, least: number): Steps => {
    const each = -Math.expm1(Math.log1p(-delta) / keys);
    const margin = sigma * Math.max(0, normalUpperQuantile(each)) * upwards;
    return addSteps(addSteps(stepsAbove(least, grid), stepsAbove(margin, grid)), 1);
  };
  if (event.kind !== 'group-weights') return stepsFor(groupsMax, event.prefilter);
  let most = stepsFor(1, 1);
  for (let keys = 2; keys <= groupsMax; keys++) {
    const steps = stepsFor(keys, 1 / Math.sqrt(keys));
    if (steps > most) most = steps;
  }
  return most;
}

/**
 * The weight that a contributor with so many keys adds to each, in steps: the largest w with
 * keys w^2 <= (1 / grid)^2. So its weights have L2 norm at most 1, and each is at most
 * 1 / sqrt(keys). Exact where (1 / grid)^2 is below 2^53.
 */
export function groupWeightSteps(keys: number, grid: number): number {
  const whole = 1 / grid;
  let steps = Math.floor(whole / Math.sqrt(keys));
  while (keys * steps * steps > whole * whole) steps -= 1;
  while (keys * (steps + 1) * (steps + 1) <= whole * whole) steps += 1;
  return steps;
}

/** The noisy count, or weight, above which a key is kept, for planning. */
export function keyKeepingCount(event: KeysEvent): number {
  return valueOfSteps(keyKeepingSteps(event), event.grid);
}
