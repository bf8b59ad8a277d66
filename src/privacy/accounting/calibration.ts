import { InvalidParameterError } from '../../base/errors.js';
import { ratioOfDouble } from './amount.js';
import { exponentialForRho } from './conversion.js';
import { checkEvent } from './event-check.js';
import type {
  ExponentialEvent,
  GaussianEvent,
  GaussianHistogramEvent,
  GaussianThresholdEvent,
  LaplaceEvent,
  LaplaceHistogramEvent,
  LaplaceThresholdEvent,
  MechanismEvent,
  SymmetricGaussianEvent,
  TruncatedLaplaceEvent,
} from './events.js';
import { powerOfTwoBelow } from './grid.js';

/**
 * Builders of events from what a plan wants to spend. Each rounds its noise up, to a whole number of grid steps, until
 * the exact cost of the event is within what was asked.
 *
 * Grid. `grid` given: the value lies on it by construction, and the sensitivity is taken as it is. Absent: a power of
 * two at about sigma / 2^20 is chosen, so that the steps add nothing visible to the noise, and never below
 * magnitude / 2^50, where a double could not hold the value to half a step. The value may then be off the grid:
 * computed to half a step per coordinate and rounded to the nearest multiple it moves by at most one step on either
 * side, so the sensitivity grows by 2 grid sqrt(dimension) in L2 and 2 grid dimension in L1.
 */
interface Place {
  readonly name: string;
  readonly cohort: string;
}

interface Gridded {
  /** A power of two of which the value is a multiple by construction. */
  readonly grid?: number;
  /** Without `grid`: an upper bound on the value's absolute entries. Default 0: no entry is far larger than sigma. */
  readonly magnitude?: number;
}

const stepsPerDeviation = 2 ** 20;

function checkSpending(name: string, spending: Readonly<Record<string, number>>): void {
  for (const [quantity, value] of Object.entries(spending)) {
    if (!(value > 0 && Number.isFinite(value))) {
      throw new InvalidParameterError(`event ${name}: ${quantity} must be a finite number above 0`, { value });
    }
  }
}

function chosenGrid(noise: number, { grid, magnitude = 0 }: Gridded): number {
  if (grid !== undefined) return grid;
  return powerOfTwoBelow(Math.max(noise / stepsPerDeviation, magnitude / 2 ** 49, 2 ** -300));
}

function checked<E extends MechanismEvent>(event: E): E {
  checkEvent(event);
  return event;
}

/** The smallest whole number of steps s with (sensitivity / (s grid))^2 / 2 <= rho exactly; returned as s grid. */
function deviationFor(sensitivity: number, rho: number, grid: number): number {
  let steps = Math.max(1, Math.ceil(sensitivity / Math.sqrt(2 * rho) / grid));
  // Past 2^53 steps a double is no longer exact in steps; such a grid is far too fine for its noise anyway.
  if (steps > 2 ** 53) return Math.ceil(steps) * (1 + 2 ** -50) * grid;
  while (!deviationSuffices(sensitivity, rho, steps * grid)) steps += Math.max(1, steps * 2 ** -52);
  return steps * grid;
}

function deviationSuffices(sensitivity: number, rho: number, sigma: number): boolean {
  const over = ratioOfDouble(sensitivity);
  const under = ratioOfDouble(sigma);
  const allowed = ratioOfDouble(rho);
  const numerator = (over.numerator * under.denominator) ** 2n * allowed.denominator;
  return numerator <= 2n * allowed.numerator * (over.denominator * under.numerator) ** 2n;
}

interface GaussianAsked extends Place, Gridded {
  readonly dimension: number;
  /** L2; for a symmetric matrix Frobenius. Without `grid`, before rounding. */
  readonly sensitivity: number;
  /** What the event may cost. */
  readonly rho: number;
}

/** P1. sigma = sensitivity / sqrt(2 rho), rounded up. @throws InvalidParameterError on numbers not above 0. */
export function gaussianEvent(asked: GaussianAsked): GaussianEvent {
  return { kind: 'gaussian', ...gaussianMembers(asked, Math.sqrt(asked.dimension)) };
}

/** GOE noise on a symmetric matrix; `dimension` is d of a d x d matrix, which rounding moves by d steps. */
export function symmetricGaussianEvent(asked: GaussianAsked): SymmetricGaussianEvent {
  return { kind: 'symmetric-gaussian', ...gaussianMembers(asked, asked.dimension) };
}

function gaussianMembers(asked: GaussianAsked, roundingNorm: number): Omit<GaussianEvent, 'kind'> {
  const { name, cohort, dimension, rho } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, rho, dimension });
  const grid = chosenGrid(asked.sensitivity / Math.sqrt(2 * rho), asked);
  const sensitivity = widened(asked, 2 * grid * roundingNorm);
  const members = { name, cohort, dimension, sensitivity, sigma: deviationFor(sensitivity, rho, grid), grid };
  checkEvent({ kind: 'gaussian', ...members });
  return members;
}

/** The sensitivity, plus what rounding may add unless the value is on the grid; the sum rounded up. */
function widened(asked: Gridded & { readonly sensitivity: number }, rounding: number): number {
  return asked.grid === undefined ? (asked.sensitivity + rounding) * (1 + 2 ** -50) : asked.sensitivity;
}

/** P2. scale = sensitivity / epsilon, rounded up to a whole number of steps. `sensitivity` is L1. */
export function laplaceEvent(
  asked: Place & Gridded & { readonly dimension: number; readonly sensitivity: number; readonly epsilon: number },
): LaplaceEvent {
  const { name, cohort, dimension, epsilon } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, epsilon, dimension });
  const grid = chosenGrid(asked.sensitivity / epsilon, asked);
  const sensitivity = widened(asked, 2 * grid * dimension);
  const steps = Math.max(1, Math.ceil((sensitivity / epsilon / grid) * (1 + 2 ** -50)));
  return checked({ kind: 'laplace', name, cohort, dimension, sensitivity, scale: steps * grid, grid });
}

/** P3. `sensitivity` is L1 over the whole vector. */
export function truncatedLaplaceEvent(
  asked: Place & Gridded & {
    readonly dimension: number;
    readonly sensitivity: number;
    readonly epsilon: number;
    readonly delta: number;
  },
): TruncatedLaplaceEvent {
  const { name, cohort, dimension, epsilon, delta } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, epsilon, dimension });
  const grid = chosenGrid(asked.sensitivity / epsilon, asked);
  const sensitivity = widened(asked, 2 * grid * dimension);
  return checked({ kind: 'truncated-laplace', name, cohort, dimension, sensitivity, epsilon, delta, grid });
}

interface ThresholdAsked extends Place, Gridded {
  readonly sensitivity: number;
  readonly delta: number;
  /** A pass promises that the value is at least this. */
  readonly floor: number;
}

/** P4 (a). The value is rounded down to the grid: a step, and half a step of computation, on either side. */
export function laplaceThresholdEvent(asked: ThresholdAsked & { readonly epsilon: number }): LaplaceThresholdEvent {
  const { name, cohort, epsilon, delta, floor } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, epsilon });
  const grid = chosenGrid(asked.sensitivity / epsilon, asked);
  const sensitivity = widened(asked, 2 * grid);
  return checked({ kind: 'laplace-threshold', name, cohort, sensitivity, epsilon, delta, floor, grid });
}

/** P4 (b). sigma from rho; `delta` sets the margin. */
export function gaussianThresholdEvent(asked: ThresholdAsked & { readonly rho: number }): GaussianThresholdEvent {
  const { name, cohort, rho, delta, floor } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, rho });
  const grid = chosenGrid(asked.sensitivity / Math.sqrt(2 * rho), asked);
  const sensitivity = widened(asked, 2 * grid);
  const sigma = deviationFor(sensitivity, rho, grid);
  return checked({ kind: 'gaussian-threshold', name, cohort, sensitivity, sigma, delta, floor, grid });
}

/** Grid of a count whose noise has this deviation. Any grid up to 1 holds whole counts; a fine one costs less. */
export function countGrid(noise: number): number {
  return Math.min(1, powerOfTwoBelow(Math.max(noise / stepsPerDeviation, 2 ** -300)));
}

/** P5 (b). sigma = sqrt(coordinates / rho), rounded up. */
export function gaussianHistogramEvent(
  asked: Place & { readonly coordinates: number; readonly rho: number; readonly delta: number },
): GaussianHistogramEvent {
  const { name, cohort, coordinates, rho, delta } = asked;
  checkSpending(name, { coordinates, rho });
  const grid = countGrid(Math.sqrt(coordinates / rho));
  // coordinates / sigma^2 <= rho is 1 / (2 sigma^2) <= rho / (2 coordinates); dividing may round, so it is lowered.
  const sigma = deviationFor(1, (rho / (2 * coordinates)) * (1 - 2 ** -50), grid);
  return checked({ kind: 'gaussian-histogram', name, cohort, coordinates, sigma, delta, grid });
}

/** P5 (a). */
export function laplaceHistogramEvent(
  asked: Place & { readonly epsilon: number; readonly delta: number },
): LaplaceHistogramEvent {
  const { name, cohort, epsilon, delta } = asked;
  checkSpending(name, { epsilon });
  return checked({ kind: 'laplace-histogram', name, cohort, epsilon, delta, grid: countGrid(2 / epsilon) });
}

/** P6, P7. `rho` for all `times` calls together, or `epsilon` for each. */
export function exponentialEvent(
  asked: Place & { readonly candidates: number; readonly sensitivity: number; readonly times?: number }
    & ({ readonly rho: number } | { readonly epsilon: number }),
): ExponentialEvent {
  const { name, cohort, candidates, sensitivity, times = 1 } = asked;
  checkSpending(name, { sensitivity, times, ...('rho' in asked ? { rho: asked.rho } : { epsilon: asked.epsilon }) });
  const epsilon = 'rho' in asked ? exponentialForRho(asked.rho / times) : asked.epsilon;
  return checked({ kind: 'exponential', name, cohort, candidates, sensitivity, epsilon, times });
}
