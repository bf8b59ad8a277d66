import { ln, pow } from '../../base/elementary.js';
import { ownKernels } from '../../numerics/kernels/index.js';
import { normalUpperTail } from '../../numerics/normal.js';
import { congruence, withEigenvalues } from '../../estimators/covariance/moments/matrices.js';
import { ratioOfDouble } from '../../privacy/accounting/amount.js';
import type { GaussianThresholdEvent, MechanismEvent } from '../../privacy/accounting/events.js';
import {
  addSteps, nearestSteps, ratioInSteps, stepsBelow,
} from '../../privacy/accounting/grid.js';
import {
  keepingSteps, keyKeepingSteps, leastOfKey, thresholdSteps,
} from '../../privacy/mechanisms/bounds.js';
import type { FoundKeys, PlaceTable, Scores } from '../../privacy/mechanisms/contract.js';
import { leadOf } from '../../privacy/mechanisms/mode.js';
import type { ObservedCall } from '../../privacy/mechanisms/observed.js';
import type { Rational, Steps } from '../../random/samplers/discrete-laplace.js';
import { sharedRuns } from '../../privacy/mechanisms/score-runs.js';
import {
  add, divide, expOf, fraction, multiply, negative, ofDouble, subtract, unit, zero, type Interval,
} from './interval.js';

/**
 * The exact cost of one call for two contents: not what its event allows, but what these two
 * contents use.
 */
export interface CallCost {
  readonly rho: Interval;
  /** An upper bound on the probability of outputs that only one side can release. */
  readonly delta: number;
  /** Pure epsilon; null if the noise is not pure. */
  readonly epsilon: Interval | null;
  /** Something that no cost covers; null if there is nothing. */
  readonly fault: string | null;
}

const free: CallCost = { rho: zero, delta: 0, epsilon: null, fault: null };
const eighth = fraction(1n, 8n);

/**
 * The cost of a call for the contents of two neighbours.
 *
 * Claim: (rho, delta) and epsilon are what the event would have to charge if these were all
 * neighbours, and no less, up to 1e-9 of delta.
 * Why: shifts are counted in whole steps of the grid, as the mechanisms round them. A shift of v
 * costs |v|^2 / (2 sigma^2), which the divergences of discrete Gaussian noise attain wherever order
 * times shift is a whole number of steps (src/audit/exact/mechanism-cases lists them all for small
 * noise). What only one side can release is charged to delta, as the mechanisms' proofs do.
 * An exponential mechanism with score changes in an interval of length r has log-ratios in an
 * interval of length epsilon r / (2 sensitivity).
 */
export function callCost(event: MechanismEvent, left: ObservedCall, right: ObservedCall): CallCost {
  const [one, other] = [left.contents[0], right.contents[0]];
  switch (event.kind) {
    case 'gaussian':
    case 'symmetric-gaussian':
      return gaussianCost(event, one as Float64Array, other as Float64Array);
    case 'laplace': {
      const moved = shifts(one as Float64Array, other as Float64Array, event.grid)
        .reduce((sum, shift) => sum + (shift < 0n ? -shift : shift), 0n);
      const scale = ratioInSteps(event.scale, event.grid);
      const epsilon = fraction(moved * scale.denominator, scale.numerator);
      const step = fraction(scale.denominator, scale.numerator);
      return { ...free, epsilon, rho: meanLossOf(epsilon, step) };
    }
    case 'gaussian-threshold':
      return left.method === 'mode'
        ? modeCost(event, one as readonly string[], other as readonly string[])
        : thresholdCost(event, one as number, other as number);
    case 'gaussian-histogram':
      return histogramCost(event, one as Bins, other as Bins);
    case 'group-histogram':
    case 'group-weights':
      return otherKnown(left, right)
        ?? countsCost(event, leastOfKey(event), keyKeepingSteps(event), [
          byKey(one as ArrayLike<number>, left.contents[1] as FoundKeys),
          byKey(other as ArrayLike<number>, right.contents[1] as FoundKeys),
        ], knownOf(left));
    case 'group-sums':
      return otherKnown(left, right) ?? groupSumsCost(event, left, right);
    case 'exponential':
      return exponentialCost(event, one as Scores, other as Scores);
    case 'wishart-mask':
    case 'affine-mask': {
      const apart = logDistance(one as Float64Array, other as Float64Array, event.dimension);
      return apart <= event.logDistance * (1 + 1e-9) + 1e-9 ? free : {
        ...free, fault: `matrices are a factor of e^${apart} apart, and e^${event.logDistance} was `
          + 'charged',
      };
    }
  }
}

/**
 * The mean loss of discrete Laplace noise that moves by epsilon scales, with steps of l scales:
 * epsilon - (1 - e^-epsilon) 2 l / (e^l - e^-l). No rho below it holds of orders near 1.
 */
function meanLossOf(epsilon: Interval, l: Interval): Interval {
  const apart = subtract(expOf(l), expOf(negative(l)));
  const share = divide(multiply(fraction(2n), l), apart);
  const moved = subtract(unit, expOf(negative(epsilon)));
  return subtract(epsilon, multiply(moved, share));
}

/** Differences in whole steps of the grid. */
function shifts(left: Float64Array, right: Float64Array, grid: number): readonly bigint[] {
  return Array.from(left, (entry, i) =>
    BigInt(nearestSteps(entry, grid)) - BigInt(nearestSteps(right[i]!, grid)));
}

/** squares / (2 sigma^2), where both are in steps. */
function rhoOf(squares: bigint, { numerator, denominator }: Rational): Interval {
  return fraction(squares * denominator * denominator, 2n * numerator * numerator);
}

function gaussianCost(
  event: Extract<MechanismEvent, { readonly kind: 'gaussian' | 'symmetric-gaussian' }>,
  left: Float64Array, right: Float64Array,
): CallCost {
  const { kind, dimension, sigma, grid } = event;
  let squares = 0n;
  shifts(left, right, grid).forEach((shift, at) => {
    // Entries off the diagonal have half the variance, and only one of each two is noised.
    const [row, column] = [Math.floor(at / dimension), at % dimension];
    const weight = kind === 'gaussian' || row === column ? 1n : row < column ? 2n : 0n;
    squares += weight * shift * shift;
  });
  return { ...free, rho: rhoOf(squares, ratioInSteps(sigma, grid)) };
}

/**
 * P(noise >= m), at most: the tail of a discrete Gaussian from m on is below the continuous one
 * from m - 1 on (mechanisms/threshold).
 */
function tailFrom(steps: Steps, sigma: number, grid: number): number {
  return normalUpperTail(((Number(steps) - 1) * grid) / sigma) * (1 + 1e-12);
}

function minus(left: Steps, right: Steps): Steps {
  return addSteps(left, -right);
}

function thresholdCost(event: GaussianThresholdEvent, left: number, right: number): CallCost {
  const { sigma, grid, floor } = event;
  const [one, other] = [stepsBelow(left, grid), stepsBelow(right, grid)];
  if (Math.min(left, right) >= floor) {
    const shift = BigInt(one) - BigInt(other);
    return { ...free, rho: rhoOf(shift * shift, ratioInSteps(sigma, grid)) };
  }
  const most = one > other ? one : other;
  return { ...free, delta: tailFrom(minus(thresholdSteps(event), most), sigma, grid) };
}

function modeCost(
  event: GaussianThresholdEvent, left: readonly string[], right: readonly string[],
): CallCost {
  const [one, other] = [leadOf(left), leadOf(right)];
  // Where both would name the same label, a pass reveals no more than its bit.
  if (one.label === other.label) {
    return thresholdCost({ ...event, floor: 0 }, one.lead, other.lead);
  }
  const { sigma, grid } = event;
  const most = stepsBelow(Math.max(one.lead, other.lead), grid);
  return { ...free, delta: tailFrom(minus(thresholdSteps(event), most), sigma, grid) };
}

type Bins = readonly ReadonlyMap<number, number>[];

function histogramCost(
  event: Extract<MechanismEvent, { readonly kind: 'gaussian-histogram' }>, left: Bins, right: Bins,
): CallCost {
  const parts = left.map((bins, i) => countsCost(event, 1, keepingSteps(event), [bins, right[i]!]));
  return {
    ...free,
    rho: parts.reduce((sum, { rho }) => add(sum, rho), zero),
    delta: parts.reduce((sum, { delta }) => sum + delta, 0),
  };
}

/**
 * The cost of counts that are shown if above `keeping` after noise, and hidden below `least`.
 * @param known - keys that are shown whatever their counts are.
 */
function countsCost(
  { sigma, grid }: { readonly sigma: number; readonly grid: number }, least: number,
  keeping: Steps, [left, right]: readonly ReadonlyMap<unknown, number>[],
  known: ReadonlySet<unknown> = new Set(),
): CallCost {
  let squares = 0n;
  const lone = [0, 0];
  for (const key of new Set([...left!.keys(), ...right!.keys()])) {
    const counts = [left!.get(key) ?? 0, right!.get(key) ?? 0];
    const [one, other] = counts.map((count) => nearestSteps(count, grid)) as [Steps, Steps];
    if (known.has(key) || counts.every((count) => count >= least)) {
      squares += (BigInt(one) - BigInt(other)) ** 2n;
      continue;
    }
    counts.forEach((count, side) => {
      if (count < least) return;
      const needed = addSteps(minus(keeping, nearestSteps(count, grid)), 1);
      lone[side]! += Math.log1p(-tailFrom(needed, sigma, grid));
    });
  }
  return {
    ...free, rho: rhoOf(squares, ratioInSteps(sigma, grid)),
    delta: Math.max(...lone.map((log) => -Math.expm1(log))),
  };
}

/** The cost of the counts, and of the sums of keys that both sides may show. */
function groupSumsCost(
  event: Extract<MechanismEvent, { readonly kind: 'group-sums' }>, left: ObservedCall,
  right: ObservedCall,
): CallCost {
  const { prefilter, values, sumsSigma, sumsGrid } = event;
  const sides = [left, right].map(({ contents: [table, keys] }) => ({
    table: table as PlaceTable, found: keys as FoundKeys,
    counts: byKey((table as PlaceTable).counts, keys as FoundKeys),
  }));
  const known = knownOf(left);
  const counts = countsCost(
    event, prefilter, keyKeepingSteps(event), sides.map((side) => side.counts), known,
  );
  let squares = 0n;
  for (const key of new Set(sides.flatMap((side) => [...side.counts.keys()]))) {
    const isShown = known.has(key)
      || sides.every((side) => (side.counts.get(key) ?? 0) >= prefilter);
    if (!isShown) continue;
    const [one, other] = sides.map(({ table, found }) => {
      const place = found.find(JSON.parse(key) as readonly string[]);
      return place < 0 ? new Float64Array(values) : table.sumsOf(place);
    });
    for (const shift of shifts(one!, other!, sumsGrid).slice(0, values)) squares += shift * shift;
  }
  const sums = rhoOf(squares, ratioInSteps(sumsSigma, sumsGrid));
  return { ...counts, rho: add(counts.rho, sums) };
}

/** The keys that a call shows whatever their counts are. */
export function knownOf({ contents }: Pick<ObservedCall, 'contents'>): ReadonlySet<string> {
  const keys = (contents[2] ?? []) as readonly (readonly string[])[];
  return new Set(keys.map((key) => JSON.stringify(key)));
}

/** Known keys are public, so they are the same for neighbours. Null if they are. */
function otherKnown(left: ObservedCall, right: ObservedCall): CallCost | null {
  const [one, other] = [left, right].map((call) => [...knownOf(call)].sort().join(' '));
  return one === other ? null
    : { ...free, fault: 'other keys are shown without a threshold on one side than on the other' };
}

function byKey(counts: ArrayLike<number>, keys: FoundKeys): ReadonlyMap<string, number> {
  return new Map(Array.from(counts, (count, place) =>
    [JSON.stringify(keys.partsOf(place)), count]));
}

function exponentialCost(
  event: Extract<MechanismEvent, { readonly kind: 'exponential' }>,
  one: Scores, other: Scores,
): CallCost {
  const gaps = sharedRuns(one, other).map(({ left, right }) =>
    ofDouble(left).low - ofDouble(right).low);
  const most = gaps.reduce((largest, gap) => (gap > largest ? gap : largest));
  const least = gaps.reduce((smallest, gap) => (gap < smallest ? gap : smallest));
  const { numerator, denominator } = ratioOfDouble(event.sensitivity);
  const range = { low: most - least, high: most - least };
  const epsilon = multiply(
    multiply(range, ofDouble(event.epsilon)), fraction(denominator, 2n * numerator),
  );
  return { ...free, epsilon, rho: multiply(eighth, multiply(epsilon, epsilon)) };
}

/** The largest logarithm of a factor between two positive definite matrices in any direction. */
function logDistance(left: Float64Array, right: Float64Array, dimension: number): number {
  const inverseRoot = withEigenvalues(left, dimension, (value) => pow(value, -0.5));
  const { values } = ownKernels()
    .eigenSymmetric(congruence(inverseRoot, right, dimension), dimension);
  return Math.max(...values.map((value) => Math.abs(ln(value))));
}
