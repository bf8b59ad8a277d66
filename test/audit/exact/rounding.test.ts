import { describe, expect, it } from 'vitest';
import {
  add, divide, expOf, fraction, logOf, multiply, negative, ofDouble, rootOf, subtract, surelyAtMost,
  unit, type Interval,
} from '../../../src/audit/exact/interval.js';
import { ofAmount } from '../../../src/audit/exact/claims.js';
import { utf8 } from '../../../src/base/bytes.js';
import {
  amountOf, capOf, ratioOfDouble, type Amount, type Ratio,
} from '../../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../../src/privacy/accounting/composition.js';
import {
  deltaOfZcdp, epsilonOfApproximateZcdp, epsilonOfZcdp, exponentialForRho, pureForRho,
  rhoForApproximateZcdp, rhoForZcdp, rhoOfPure,
} from '../../../src/privacy/accounting/conversion.js';
import { rhoOfLaplace } from '../../../src/privacy/accounting/laplace-rho.js';
import { epsilonOfSpent } from '../../../src/privacy/accounting/spent.js';
import { seededRandom } from '../../../src/random/work.js';

const random = seededRandom(utf8('rounding'));
/** Log-uniform. */
const between = (low: number, high: number): number =>
  low * Math.exp(random.uniform() * Math.log(high / low));
const often = (count: number, check: () => void): void => {
  for (let i = 0; i < count; i++) check();
};

const sum = (...terms: readonly Interval[]): Interval => terms.reduce(add);

/** ln(1 / delta) where events of total probability `events` may fail. */
function surpriseOf(delta: number, events = 0): Interval {
  const [whole, own] = [ofDouble(delta), ofDouble(events)];
  return negative(logOf(divide(subtract(whole, own), subtract(unit, own))));
}

/** What order 1 + b gives for epsilon: (1 + b) rho + (surprise - (1 + b) ln(1 + b)) / b + ln b. */
function epsilonAt(b: number, rho: number, surprise: Interval): Interval {
  const order = add(unit, ofDouble(b));
  const rest = subtract(surprise, multiply(order, logOf(order)));
  return sum(multiply(order, ofDouble(rho)), divide(rest, ofDouble(b)), logOf(ofDouble(b)));
}

/** For delta: exp(b ((1 + b) rho - epsilon) + b ln b - (1 + b) ln(1 + b)). */
function deltaAt(b: number, rho: number, epsilon: number): Interval {
  const [own, order] = [ofDouble(b), add(unit, ofDouble(b))];
  const rate = subtract(multiply(order, ofDouble(rho)), ofDouble(epsilon));
  return expOf(sum(
    multiply(own, rate), multiply(own, logOf(own)), negative(multiply(order, logOf(order))),
  ));
}

/** The place of the smallest value, in doubles: every order gives a bound, so near is enough. */
function lowest(valueAt: (b: number) => number): number {
  let [low, high] = [Math.log(1e-9), Math.log(1e12)];
  for (let round = 0; round < 200; round++) {
    const third = (high - low) / 3;
    if (valueAt(Math.exp(low + third)) < valueAt(Math.exp(high - third))) high -= third;
    else low += third;
  }
  return Math.exp((low + high) / 2);
}

const bestForEpsilon = (rho: number, delta: number): number => lowest((b) =>
  (1 + b) * rho + (-Math.log(delta) - (1 + b) * Math.log1p(b)) / b + Math.log(b));

describe('conversions round to the safe side, and by little', () => {
  it('epsilon of rho', () => often(60, () => {
    const [rho, delta] = [between(1e-8, 50), between(1e-30, 0.1)];
    const bound = epsilonAt(bestForEpsilon(rho, delta), rho, surpriseOf(delta));
    const stated = epsilonOfZcdp(rho, delta);
    if (stated === 0) return;
    expect(surelyAtMost(bound, ofDouble(stated))).toBe(true);
    expect(surelyAtMost(ofDouble(stated), add(bound, ofDouble(1e-9)))).toBe(true);
  }));

  it('delta of rho', () => often(60, () => {
    const rho = between(1e-6, 5);
    const epsilon = between(rho, 60 * Math.sqrt(rho));
    const best = lowest((b) =>
      b * ((1 + b) * rho - epsilon) + b * Math.log(b) - (1 + b) * Math.log1p(b));
    const bound = deltaAt(best, rho, epsilon);
    // Smaller ones are below what the intervals resolve.
    const stated = deltaOfZcdp(rho, epsilon);
    if (stated < 1e-90) return;
    expect(surelyAtMost(bound, ofDouble(stated))).toBe(true);
    expect(surelyAtMost(ofDouble(stated), multiply(bound, ofDouble(1 + 1e-6)))).toBe(true);
  }));

  it('rho that a guarantee allows', () => often(30, () => {
    const [epsilon, delta] = [between(1e-3, 20), between(1e-20, 1e-3)];
    const events = delta * random.uniform() * 0.9;
    const rho = rhoForZcdp(epsilon, delta);
    const bound = epsilonAt(bestForEpsilon(rho, delta), rho, surpriseOf(delta));
    expect(surelyAtMost(bound, ofDouble(epsilon))).toBe(true);
    const less = rhoForApproximateZcdp(epsilon, events, delta);
    const left = (delta - events) / (1 - events);
    const withEvents =
      epsilonAt(bestForEpsilon(less, left), less, surpriseOf(delta, events));
    expect(surelyAtMost(withEvents, ofDouble(epsilon))).toBe(true);
    const stated = epsilonOfApproximateZcdp(less, events, delta);
    expect(surelyAtMost(withEvents, ofDouble(stated))).toBe(true);
  }));

  it('epsilon of a divergence at one order', () => often(30, () => {
    const order = 1 + between(0.1, 200);
    const delta = between(1e-20, 1e-3);
    const spent = amountOf(between(0.5, 20));
    const b = ofDouble(order - 1);
    const own = add(unit, b);
    const half = divide(ofDouble(delta), fraction(2n));
    const gain = divide(
      add(logOf(multiply(b, half)), multiply(own, subtract(logOf(own), logOf(b)))), b,
    );
    const stated = epsilonOfSpent({ rule: 'renyi', order }, spent, 0n as Amount, delta);
    if (stated === 0) return;
    expect(surelyAtMost(subtract(ofAmount(spent), gain), ofDouble(stated))).toBe(true);
  }));

  it('pure epsilons and amounts', () => often(60, () => {
    const value = between(1e-9, 100);
    const exact = ofDouble(value);
    const half = (x: Interval, by: bigint): Interval => divide(multiply(x, x), fraction(by));
    expect(surelyAtMost(half(exact, 2n), ofDouble(rhoOfPure(value)))).toBe(true);
    expect(surelyAtMost(half(ofDouble(pureForRho(value)), 2n), exact)).toBe(true);
    expect(surelyAtMost(half(ofDouble(exponentialForRho(value)), 8n), exact)).toBe(true);
    expect(surelyAtMost(rootOf(multiply(exact, fraction(8n))),
      multiply(ofDouble(exponentialForRho(value)), ofDouble(1 + 1e-14)))).toBe(true);
    expect(surelyAtMost(exact, ofAmount(amountOf(value)))).toBe(true);
    expect(surelyAtMost(ofAmount(capOf(value)), exact)).toBe(true);
  }));
});

/** epsilon - (1 - e^-epsilon) l / sinh l. */
function laplaceRhoOf(epsilon: Interval, l: Interval): Interval {
  const sinh = divide(subtract(expOf(l), expOf(negative(l))), fraction(2n));
  const moved = subtract(unit, expOf(negative(epsilon)));
  return subtract(epsilon, divide(multiply(moved, l), sinh));
}

const inverse = ({ numerator, denominator }: Ratio): Ratio =>
  ({ numerator: denominator, denominator: numerator });
const intervalOf = ({ numerator, denominator }: Ratio): Interval =>
  fraction(numerator, denominator);

describe('the charge of events', () => {
  it('is the exact cost, rounded up by less than one unit', () => often(40, () => {
    const place = { cohort: 'rows', dimension: 1, grid: 1 / 1024 } as const;
    const [sensitivity, sigma] = [between(0.1, 9), between(0.5, 90)];
    const over = ratioOfDouble(sensitivity);
    const under = ratioOfDouble(sigma);
    const top = (over.numerator * under.denominator) ** 2n << 64n;
    const bottom = 2n * (over.denominator * under.numerator) ** 2n;
    const event = { ...place, kind: 'gaussian', name: 'one', sensitivity, sigma } as const;
    expect(costOfEvents([event], { disjoint: [] }).rho).toBe((top + bottom - 1n) / bottom);
  }));

  it('of Laplace noise is never below the exact one, and above it by hardly anything', () => {
    const check = (epsilon: Ratio, steps: Ratio): void => {
      const exact = laplaceRhoOf(intervalOf(epsilon), intervalOf(steps));
      const found = intervalOf(rhoOfLaplace(epsilon, steps));
      expect(surelyAtMost(exact, found)).toBe(true);
      expect(surelyAtMost(found, add(exact, fraction(1n, 1n << 180n)))).toBe(true);
    };
    often(200, () => {
      const steps = ratioOfDouble(between(1e-12, 60));
      check(ratioOfDouble(between(1e-9, 60)), steps);
      check(inverse(ratioOfDouble(between(1e-9, 1e9))), steps);
    });
    for (const steps of [2 ** -60, 2 ** -100, 1, 40, 800]) {
      for (const epsilon of [1e-9, 1, 700]) check(ratioOfDouble(epsilon), ratioOfDouble(steps));
    }
  });

  it('of Laplace noise that a row alone moves is that of its share of the shift', () => {
    const event = {
      kind: 'laplace', name: 'count@0/noise', cohort: 'rows', dimension: 1, sensitivity: 1,
      scale: 1, grid: 2 ** -20, keyed: { keys: 9, groupsMax: 1 },
    } as const;
    const { rho } = costOfEvents([{ ...event, presence: 0.75 }], { disjoint: [] });
    const moved = laplaceRhoOf(fraction(3n, 4n), fraction(1n, 1n << 20n));
    // One key is left, and another one entered.
    expect(surelyAtMost(add(moved, moved), ofAmount(rho))).toBe(true);
    expect(surelyAtMost(ofAmount(rho), add(add(moved, moved), fraction(1n, 1n << 62n)))).toBe(true);
  });
});
