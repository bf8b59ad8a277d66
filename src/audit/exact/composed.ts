import { chargeUnder } from '../../privacy/accounting/budget.js';
import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { BudgetRule } from '../../privacy/accounting/cost.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { nearestSteps } from '../../privacy/accounting/grid.js';
import { lossOfReleases } from '../../privacy/accounting/loss-distribution/index.js';
import { epsilonOfSpent } from '../../privacy/accounting/spent.js';
import {
  add, fraction, multiply, ofDouble, surelyAbove, toNumber, zero, type Interval,
} from './interval.js';
import { hockeyStick, mapped, product, type Law, type Outcome } from './law.js';
import { lawOfCall, noiseOf, type Content } from './mechanism-laws.js';

/** Equal draws of one event, each with new noise. */
export interface Draws {
  readonly event: MechanismEvent;
  readonly times: number;
}

/** Draws whose laws are composed exactly. */
export interface ComposedCase {
  readonly name: string;
  readonly draws: readonly Draws[];
  /** The draws that are charged. Default: `draws`. */
  readonly charged?: readonly Draws[];
}

/** The exact epsilon of composed draws, and the epsilon that each rule states for them. */
export interface ComposedResult {
  readonly name: string;
  readonly exact: number;
  /** The stated epsilon of each rule; null where the rule cannot express the cost. */
  readonly stated: Readonly<Record<ComposedRule, number | null>>;
  readonly faults: readonly string[];
}

/** `rho`, `gaussian`, `order 8` and `pure`: as the ledger states it. `losses`: as reports do. */
export type ComposedRule = typeof rules[number];

/** The laws of neighbours. */
interface Pair<T = number> {
  readonly left: Law<T>;
  readonly right: Law<T>;
}

const rules = ['rho', 'gaussian', 'losses', 'order 8', 'pure'] as const;
/** Every epsilon is stated for this delta. */
export const composedDelta = 1e-6;
/** Outcomes that are less likely are cut. */
const minimum = fraction(1n, 1n << 300n);

/**
 * A sum of numbers that reveals as much as the draws themselves: the ratio of the likelihoods of
 * equal, independent draws depends on the sum alone.
 * - Gaussian noise and a shift: log(P / Q) is linear in the value.
 * - Laplace noise and a shift by one step: log(P / Q) has two values, by the side of the shift.
 * - A test, where one side is below the floor: a pass tells which side it is, since what comes
 *   after it may tell everything. Infinity stays what it is under addition.
 * - A choice between two: an outcome is 0 or 1.
 */
function pairOf(event: MechanismEvent): Pair {
  switch (event.kind) {
    case 'gaussian': {
      const [left] = noiseOf(event) as readonly Law<number>[];
      const shift = Number(nearestSteps(event.sensitivity, event.grid));
      return { left: left!, right: summed(left!, (value) => Number(value) + shift) };
    }
    case 'laplace': {
      const [noise] = noiseOf(event);
      const side = (shift: number): Law<number> =>
        summed(noise!, (value) => Number(Number(value) + shift > 0));
      return { left: side(0), right: side(1) };
    }
    case 'gaussian-threshold': {
      const passOf = (content: Content, told: number): Law<number> =>
        summed(lawOfCall(event, content, noiseOf(event)), (passes) => (passes === true ? told : 0));
      // The left value is the largest below the floor, and the right one the next that it may be.
      return {
        left: passOf(event.floor - event.grid, Infinity),
        right: passOf(event.floor - event.grid + event.sensitivity, -Infinity),
      };
    }
    case 'exponential': {
      const lawOf = (scores: readonly number[]): Law<number> =>
        summed(lawOfCall(event, Float64Array.from(scores), []), Number);
      return { left: lawOf([0, event.sensitivity]), right: lawOf([event.sensitivity, 0]) };
    }
    default:
      throw new Error(`draws of ${event.kind} have no sum that tells as much as they do`);
  }
}

const summed = <T>(law: Law<T>, number: (value: T) => number): Law<number> =>
  mapped(law, number, String);

/** The law of the sum of `times` independent draws. */
function timesOf(law: Law<number>, times: number): Law<number> {
  if (times === 1) return law;
  const half = timesOf(law, Math.floor(times / 2));
  const even = sumOf(half, half);
  return times % 2 === 0 ? even : sumOf(even, law);
}

function sumOf(one: Law<number>, other: Law<number>): Law<number> {
  const outcomes = new Map<number, Interval>();
  for (const { value, probability } of one.outcomes.values()) {
    for (const second of other.outcomes.values()) {
      const sum = value + second.value;
      const found = outcomes.get(sum) ?? zero;
      outcomes.set(sum, add(found, multiply(probability, second.probability)));
    }
  }
  const kept = new Map<string, Outcome<number>>();
  let cut = add(one.cut, other.cut);
  for (const [value, probability] of outcomes) {
    if (probability.high < minimum.low) cut = add(cut, { low: 0n, high: probability.high });
    else kept.set(String(value), { value, probability });
  }
  return { outcomes: kept, cut };
}

/** The laws of everything that the draws show, where each moves by its whole sensitivity. */
function composedPair(draws: readonly Draws[]): Pair<unknown> {
  const pairs = draws.map(({ event, times }) => {
    const { left, right } = pairOf(event);
    return { left: timesOf(left, times), right: timesOf(right, times) };
  });
  const all = (side: 'left' | 'right'): Law =>
    pairs.map((pair): Law => pair[side]).reduce((law, own) => product(law, own));
  return { left: all('left'), right: all('right') };
}

/** The larger of both directions. */
function exactDelta({ left, right }: Pair<unknown>, epsilon: number): Interval {
  const [one, other] = [[left, right], [right, left]].map(([from, to]) =>
    hockeyStick(from!, to!, ofDouble(epsilon)));
  return one!.high > other!.high ? one! : other!;
}

/** The smallest epsilon of composed draws at this delta: at most 1e-9 too large. */
export function exactEpsilonOf(draws: readonly Draws[], delta: number): number {
  return exactEpsilon(composedPair(draws), delta);
}

function exactEpsilon(pair: Pair<unknown>, delta: number): number {
  const allowed = ofDouble(delta);
  const holds = (epsilon: number): boolean => exactDelta(pair, epsilon).high <= allowed.low;
  let [low, high] = [0, 1];
  while (!holds(high)) [low, high] = [high, 2 * high];
  while (high - low > 1e-9) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function statedBy(rule: ComposedRule, draws: readonly Draws[], delta: number): number | null {
  const events = eventsOf(draws);
  const cost = costOfEvents(events, { disjoint: [] });
  const ledger = (own: BudgetRule): number => {
    const charge = chargeUnder(own, cost);
    return epsilonOfSpent(own, charge.rho, charge.delta, delta);
  };
  switch (rule) {
    case 'rho': return ledger({ rule: 'zcdp' });
    case 'gaussian': return cost.gaussian === null ? null : ledger({ rule: 'gaussian' });
    case 'order 8': return ledger({ rule: 'renyi', order: 8 });
    case 'pure': return cost.epsilon === null ? null : ledger({ rule: 'pure' });
    case 'losses': return lossOfReleases([{ events }])?.epsilon(delta) ?? null;
  }
}

/** One event for each draw, with names of their own. */
const eventsOf = (draws: readonly Draws[]): readonly MechanismEvent[] =>
  draws.flatMap(({ event, times }, kind) =>
    Array.from({ length: times }, (_, i) => ({ ...event, name: `draw ${kind}.${i}` })));

/**
 * Compares the epsilon that each rule states for composed draws with the exact one. A statement is
 * a fault where the exact delta at the stated epsilon is surely above the delta that it is for.
 * Cost: some seconds for 26 draws of a deviation of 8 steps.
 */
export function checkComposed({ name, draws, charged = draws }: ComposedCase): ComposedResult {
  const pair = composedPair(draws);
  const stated = Object.fromEntries(rules.map((rule) =>
    [rule, statedBy(rule, charged, composedDelta)])) as ComposedResult['stated'];
  const faults = rules.flatMap((rule) => {
    const epsilon = stated[rule];
    if (epsilon === null) return [];
    const found = exactDelta(pair, epsilon);
    return surelyAbove(found, ofDouble(composedDelta))
      ? [`${rule} states epsilon ${epsilon}, where the exact delta is ${toNumber(found)}`] : [];
  });
  return { name, exact: exactEpsilon(pair, composedDelta), stated, faults };
}

const place = { name: 'draw', cohort: 'rows' } as const;
const gaussian = (sigma: number, grid = 1): MechanismEvent =>
  ({ ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma, grid });
const laplace = (scale: number): MechanismEvent =>
  ({ ...place, kind: 'laplace', dimension: 1, sensitivity: 1, scale, grid: 1 });
const choice: MechanismEvent =
  { ...place, kind: 'exponential', candidates: 2, sensitivity: 1, epsilon: 0.5, times: 1 };
const test: MechanismEvent = {
  ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 8, delta: 4e-9, floor: 100, grid: 1,
};

export const composedCases: readonly ComposedCase[] = [
  { name: '1 Gaussian, sigma 2, grid 1', draws: [{ event: gaussian(2), times: 1 }] },
  { name: '1 Gaussian, sigma 2, grid 1/8', draws: [{ event: gaussian(2, 0.125), times: 1 }] },
  { name: '4 Gaussian, sigma 2, grid 1', draws: [{ event: gaussian(2), times: 4 }] },
  { name: '8 Gaussian, sigma 2, grid 1/2', draws: [{ event: gaussian(2, 0.5), times: 8 }] },
  { name: '26 Gaussian, sigma 8, grid 1', draws: [{ event: gaussian(8), times: 26 }] },
  { name: '8 Laplace, scale 4', draws: [{ event: laplace(4), times: 8 }] },
  { name: '64 Laplace, scale 16', draws: [{ event: laplace(16), times: 64 }] },
  {
    name: '4 Gaussian, sigma 4, and 8 Laplace, scale 8',
    draws: [{ event: gaussian(4), times: 4 }, { event: laplace(8), times: 8 }],
  },
  { name: '32 choices between two, epsilon .5', draws: [{ event: choice, times: 32 }] },
  {
    name: '26 tests, sigma 8, and 26 Gaussian, sigma 8',
    draws: [{ event: test, times: 26 }, { event: gaussian(8), times: 26 }],
  },
];
