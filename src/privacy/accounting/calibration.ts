import { InvalidParameterError } from '../../base/errors.js';
import { ratioOfDouble } from './amount.js';
import { exponentialForRho } from './conversion.js';
import { checkEvent } from './event-check.js';
import type {
  ExponentialEvent,
  GaussianEvent,
  GaussianHistogramEvent,
  GaussianThresholdEvent,
  GroupHistogramEvent,
  GroupSumsEvent,
  GroupWeightsEvent,
  LaplaceEvent,
  MechanismEvent,
  SymmetricGaussianEvent,
} from './events.js';
import { powerOfTwoBelow } from './grid.js';

/**
 * Builders of events from what a plan may spend. Each rounds its noise up to an integer number of
 * grid steps, until the exact cost of the event is within the limit.
 *
 * With `grid`: the value is on that grid by construction, and the sensitivity is used as given.
 * Without `grid`: the builder chooses a power of two near sigma / 2^20, so that the steps add
 * nothing visible to the noise. It is at least magnitude / 2^50, because a double cannot hold a
 * larger value to half a step. The value may then be off the grid. It is computed to half a step
 * per coordinate and rounded to the nearest multiple, so it moves by at most one step for each
 * neighbour. The sensitivity grows by 2 grid sqrt(dimension) in L2 and by 2 grid dimension in L1.
 */

/** Where an event is: its name, unique in a plan, and the arm whose contributors it is about. */
export interface Place {
  readonly name: string;
  readonly cohort: string;
}

/** The grid of an event's values. */
export interface Gridded {
  /** Grid step, a power of two. The value is a multiple of it by construction. */
  readonly grid?: number;
  /**
   * Without `grid`: an upper bound on the value's absolute entries. Default 0, for entries that are
   * not far larger than sigma.
   */
  readonly magnitude?: number;
}

const stepsPerDeviation = 2 ** 20;

function checkSpending(name: string, spending: Readonly<Record<string, number>>): void {
  for (const [quantity, value] of Object.entries(spending)) {
    if (!(value > 0 && Number.isFinite(value))) {
      throw new InvalidParameterError(
        `event ${name}: ${quantity} must be a finite number above 0`, { value },
      );
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

/** The smallest integer s with (sensitivity / (s grid))^2 / 2 <= rho exactly. Returns s grid. */
function deviationFor(sensitivity: number, rho: number, grid: number): number {
  let steps = Math.max(1, Math.ceil(sensitivity / Math.sqrt(2 * rho) / grid));
  // Past 2^53 steps a double cannot count the steps exactly. Such a grid is far too fine for its
  // noise anyway.
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

/** The facts that an event with Gaussian noise is made from. */
export interface GaussianOptions extends Place, Gridded {
  readonly dimension: number;
  /** L2; for a symmetric matrix, Frobenius. Without `grid`: the sensitivity before rounding. */
  readonly sensitivity: number;
  /** Most that the event may cost. */
  readonly rho: number;
}

/**
 * Discrete Gaussian noise: sigma = sensitivity / sqrt(2 rho), rounded up. @throws
 * InvalidParameterError on numbers not above 0.
 */
export function gaussianEvent(asked: GaussianOptions): GaussianEvent {
  return { kind: 'gaussian', ...gaussianMembers(asked, Math.sqrt(asked.dimension)) };
}

/**
 * Noise on a symmetric d x d matrix, as `gaussianEvent`. `dimension` is d. Rounding moves the
 * matrix by at most d steps.
 */
export function symmetricGaussianEvent(asked: GaussianOptions): SymmetricGaussianEvent {
  return { kind: 'symmetric-gaussian', ...gaussianMembers(asked, asked.dimension) };
}

function gaussianMembers(
  asked: GaussianOptions, roundingNorm: number,
): Omit<GaussianEvent, 'kind'> {
  const { name, cohort, dimension, rho } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, rho, dimension });
  const grid = chosenGrid(asked.sensitivity / Math.sqrt(2 * rho), asked);
  const sensitivity = widened(asked, 2 * grid * roundingNorm);
  const members = {
    name, cohort, dimension, sensitivity, sigma: deviationFor(sensitivity, rho, grid), grid,
  };
  checkEvent({ kind: 'gaussian', ...members });
  return members;
}

/**
 * The sensitivity, rounded up. Unless the value is on the grid, it includes what rounding may add.
 */
function widened(asked: Gridded & { readonly sensitivity: number }, rounding: number): number {
  return asked.grid === undefined
    ? (asked.sensitivity + rounding) * (1 + 2 ** -50) : asked.sensitivity;
}

/**
 * Discrete Laplace noise: scale = sensitivity / epsilon, rounded up to a whole number of steps, or
 * of 2^-20 of the scale where steps are coarser than that. `sensitivity` is L1.
 */
export function laplaceEvent(
  asked: Place & Gridded & {
    readonly dimension: number; readonly sensitivity: number; readonly epsilon: number;
  },
): LaplaceEvent {
  const { name, cohort, dimension, epsilon } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, epsilon, dimension });
  const grid = chosenGrid(asked.sensitivity / epsilon, asked);
  const sensitivity = widened(asked, 2 * grid * dimension);
  return checked({
    kind: 'laplace', name, cohort, dimension, sensitivity,
    scale: scaleFor(sensitivity, epsilon, grid), grid,
  });
}

/**
 * The smallest multiple s of a unit with sensitivity / s <= epsilon exactly. On a grid of 1 the
 * noise of counts would be much too large if its scale were a whole number.
 */
function scaleFor(sensitivity: number, epsilon: number, grid: number): number {
  const scale = sensitivity / epsilon;
  const unit = Math.min(
    grid, powerOfTwoBelow(Math.min(Math.max(scale / stepsPerDeviation, 2 ** -300), 2 ** 300)),
  );
  const [over, allowed] = [ratioOfDouble(sensitivity), ratioOfDouble(epsilon)];
  const suffices = (candidate: number): boolean => {
    const under = ratioOfDouble(candidate);
    return over.numerator * under.denominator * allowed.denominator
      <= allowed.numerator * over.denominator * under.numerator;
  };
  let units = Math.max(1, Math.ceil(scale / unit));
  if (units > 2 ** 53) return units * (1 + 2 ** -50) * unit;
  while (!suffices(units * unit)) units += Math.max(1, units * 2 ** -52);
  return units * unit;
}

interface ThresholdOptions extends Place, Gridded {
  readonly sensitivity: number;
  readonly delta: number;
  /** A pass promises that the value is at least this. */
  readonly floor: number;
}

/**
 * Propose-test-release with Gaussian noise: sigma follows from rho, the threshold from `delta`. The
 * sensitivity grows by 1.5 steps for each neighbour: one step for rounding down, half a step for
 * the computation.
 */
export function gaussianThresholdEvent(
  asked: ThresholdOptions & { readonly rho: number },
): GaussianThresholdEvent {
  const { name, cohort, rho, delta, floor } = asked;
  checkSpending(name, { sensitivity: asked.sensitivity, rho });
  const grid = chosenGrid(asked.sensitivity / Math.sqrt(2 * rho), asked);
  const sensitivity = widened(asked, 2 * grid);
  const sigma = deviationFor(sensitivity, rho, grid);
  return checked({
    kind: 'gaussian-threshold', name, cohort, sensitivity, sigma, delta, floor, grid,
  });
}

/**
 * Grid for a count with noise of this standard deviation. Every grid up to 1 holds integer counts.
 * A fine one costs less.
 */
export function countGrid(noise: number): number {
  return Math.min(1, powerOfTwoBelow(Math.max(noise / stepsPerDeviation, 2 ** -300)));
}

/** A stable histogram with Gaussian noise: sigma = sqrt(coordinates / rho), rounded up. */
export function gaussianHistogramEvent(
  asked: Place & { readonly coordinates: number; readonly rho: number; readonly delta: number },
): GaussianHistogramEvent {
  const { name, cohort, coordinates, rho, delta } = asked;
  checkSpending(name, { coordinates, rho });
  return checked({
    kind: 'gaussian-histogram', name, cohort, coordinates, ...pairedCounts(coordinates, rho), delta,
  });
}

/** Noisy counts of discovered keys: sigma = sqrt(groupsMax / rho), rounded up. */
export function groupHistogramEvent(
  asked: Place & {
    readonly groupsMax: number; readonly prefilter: number; readonly rho: number;
    readonly delta: number;
  },
): GroupHistogramEvent {
  const { name, cohort, groupsMax, prefilter, rho, delta } = asked;
  checkSpending(name, { groupsMax, rho });
  return checked({
    kind: 'group-histogram', name, cohort, groupsMax, prefilter, ...pairedCounts(groupsMax, rho),
      delta,
  });
}

/**
 * The grid of weights. The smallest weight of 4,096 keys is 64 steps, and the weights of 1e7
 * contributors add up exactly.
 */
const weightGrid = 2 ** -12;

/** Noisy weights of discovered keys: sigma = 1 / sqrt(rho), rounded up, whatever groupsMax is. */
export function groupWeightsEvent(
  asked: Place & { readonly groupsMax: number; readonly rho: number; readonly delta: number },
): GroupWeightsEvent {
  const { name, cohort, groupsMax, rho, delta } = asked;
  checkSpending(name, { groupsMax, rho });
  return checked({
    kind: 'group-weights', name, cohort, groupsMax, sigma: pairedDeviation(1, rho, weightGrid),
    delta,
    grid: weightGrid,
  });
}

/**
 * Noisy counts and sums of discovered keys. The counts have deviation sqrt(2 groupsMax / rho) and
 * the sums that times sqrt(values), both rounded up. The counts are free: in the cost of
 * `group-sums` the larger of the two terms is that of the sums.
 * @param asked.sumsGrid - a power of two of which all sums are whole multiples.
 */
export function groupSumsEvent(
  asked: Place & {
    readonly groupsMax: number; readonly prefilter: number; readonly values: number;
    readonly rho: number; readonly delta: number; readonly sumsGrid: number;
  },
): GroupSumsEvent {
  const { name, cohort, groupsMax, prefilter, values, rho, delta, sumsGrid } = asked;
  checkSpending(name, { groupsMax, values, rho });
  return checked({
    kind: 'group-sums', name, cohort, groupsMax, prefilter, values, delta, sumsGrid,
    ...pairedCounts(2 * groupsMax, rho),
    sumsSigma: pairedDeviation(2 * groupsMax * values, rho, sumsGrid),
  });
}

/** Noise for counts of which one contributor changes `pairs` pairs by 1 each. */
function pairedCounts(
  pairs: number, rho: number,
): { readonly sigma: number; readonly grid: number } {
  const grid = countGrid(Math.sqrt(pairs / rho));
  return { sigma: pairedDeviation(pairs, rho, grid), grid };
}

/** The smallest whole number of steps with pairs / sigma^2 <= rho. */
function pairedDeviation(pairs: number, rho: number, grid: number): number {
  // It means 1 / (2 sigma^2) <= rho / (2 pairs). The division may round up, so the quotient is
  // lowered.
  return deviationFor(1, (rho / (2 * pairs)) * (1 - 2 ** -50), grid);
}

/** The exponential mechanism. `rho` is for all `times` calls together, `epsilon` for each call. */
export function exponentialEvent(
  asked: Place & {
    readonly candidates: number; readonly sensitivity: number; readonly times?: number;
    readonly presence?: number;
  }
    & ({ readonly rho: number } | { readonly epsilon: number }),
): ExponentialEvent {
  const { name, cohort, candidates, sensitivity, times = 1, presence } = asked;
  checkSpending(name, {
    sensitivity, times, ...('rho' in asked ? { rho: asked.rho } : { epsilon: asked.epsilon }),
  });
  const epsilon = 'rho' in asked ? exponentialForRho(asked.rho / times) : asked.epsilon;
  return checked({
    kind: 'exponential', name, cohort, candidates, sensitivity, epsilon, times,
    ...(presence !== undefined && { presence }),
  });
}
