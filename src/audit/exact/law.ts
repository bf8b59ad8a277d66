import { assert } from '../../base/assert.js';
import {
  add, divide, expOf, logOf, multiply, ofDouble, positivePart, rootOf, subtract, unit, zero,
  type Interval,
} from './interval.js';

/** One outcome of a random draw. */
export interface Outcome<T> {
  readonly value: T;
  readonly probability: Interval;
}

/**
 * The law of a random draw: outcomes by a text that tells them apart.
 * `cut`: an upper bound on the mass of what is not listed. The true probability of a listed outcome
 * may be larger than its `probability` by at most `cut`, because the same outcome may be in what
 * was cut.
 */
export interface Law<T = unknown> {
  readonly outcomes: ReadonlyMap<string, Outcome<T>>;
  readonly cut: Interval;
}

/** A law from weights that need not sum to 1. @param cut - weight that is not listed, at most. */
export function normalised<T>(
  weights: ReadonlyMap<string, Outcome<T>>, cut: Interval = zero,
): Law<T> {
  let total = zero;
  for (const { probability } of weights.values()) total = add(total, probability);
  const whole = { low: total.low, high: total.high + cut.high };
  const outcomes = new Map<string, Outcome<T>>();
  for (const [key, { value, probability }] of weights) {
    outcomes.set(key, { value, probability: divide(probability, whole) });
  }
  return { outcomes, cut: { low: 0n, high: divide(cut, whole).high } };
}

/** The law of a function of the draw. */
export function mapped<T, U>(
  law: Law<T>, image: (value: T) => U, keyOf: (value: U) => string,
): Law<U> {
  const outcomes = new Map<string, Outcome<U>>();
  for (const { value, probability } of law.outcomes.values()) {
    const moved = image(value);
    const key = keyOf(moved);
    const found = outcomes.get(key);
    outcomes.set(key, {
      value: moved, probability: found === undefined ? probability
        : add(found.probability, probability),
    });
  }
  return { outcomes, cut: law.cut };
}

/** The law of two independent draws, as pairs. */
export function product<T, U>(left: Law<T>, right: Law<U>): Law<readonly [T, U]> {
  const outcomes = new Map<string, Outcome<readonly [T, U]>>();
  for (const [one, { value: first, probability }] of left.outcomes) {
    for (const [other, second] of right.outcomes) {
      outcomes.set(`${one} ${other}`, {
        value: [first, second.value], probability: multiply(probability, second.probability),
      });
    }
  }
  return { outcomes, cut: add(left.cut, right.cut) };
}

/**
 * The hockey-stick divergence at epsilon: the largest P(S) - e^epsilon Q(S) over all events S. The
 * high end holds whatever was cut: all of it may be in S, and only where Q has nothing.
 */
export function hockeyStick(left: Law, right: Law, epsilon: Interval): Interval {
  const factor = expOf(epsilon);
  let sum = zero;
  for (const [key, { probability }] of left.outcomes) {
    const other = right.outcomes.get(key)?.probability ?? zero;
    const most = multiply(factor, {
      low: other.low, high: other.high + right.cut.high,
    });
    sum = add(sum, positivePart(subtract(probability, most)));
  }
  return { low: sum.low, high: sum.high + left.cut.high };
}

/** A Renyi divergence, and the mass of the left law that it leaves out. */
export interface Divergence {
  readonly divergence: Interval;
  /** Mass of the outcomes that were removed. */
  readonly removed: Interval;
  /** Mass that was cut, or that the right law may have cut: the tail. */
  readonly tail: Interval;
}

/**
 * The Renyi divergence of `left` from `right`, each given that its outcome is not removed and not
 * in the tail. With the outcomes that are removed it is one direction of delta-approximate zCDP
 * (Bun and Steinke 2016, definition 8.1), for a delta of removed + tail.
 * @param order - above 1, a multiple of 2^-7. Powers of ratios are then products and square roots.
 * @param isRemoved - by the text of the outcome.
 */
export function renyi(
  left: Law, right: Law, order: number, isRemoved: (key: string) => boolean = () => false,
): Divergence {
  assert(order > 1 && Number.isInteger(128 * order), 'an order is above 1, a multiple of 2^-7');
  const kept: { readonly p: Interval; readonly q: Interval }[] = [];
  let [massLeft, massRight, removed] = [zero, zero, zero];
  for (const [key, { probability: p }] of left.outcomes) {
    const q = right.outcomes.get(key)?.probability ?? zero;
    if (isRemoved(key)) {
      removed = add(removed, p);
    } else if (q.low > 0n && p.low > 0n) {
      kept.push({ p, q });
      massLeft = add(massLeft, p);
      massRight = add(massRight, q);
    }
  }
  assert(kept.length > 0, 'two laws have an outcome in common');
  let sum = zero;
  for (const { p, q } of kept) {
    const [given, other] = [divide(p, massLeft), divide(q, massRight)];
    sum = add(sum, multiply(given, power(divide(given, other), order - 1)));
  }
  return {
    divergence: divide(logOf(sum), ofDouble(order - 1)),
    removed,
    tail: positivePart(subtract(subtract(unit, massLeft), removed)),
  };
}

/** x to a power that is a multiple of 2^-7. */
function power(x: Interval, exponent: number): Interval {
  let result = unit;
  for (let i = 1; i <= exponent; i++) result = multiply(result, x);
  for (let rest = exponent % 1, root = x; rest > 0; rest = (2 * rest) % 1) {
    root = rootOf(root);
    if (rest >= 0.5) result = multiply(result, root);
  }
  return result;
}
