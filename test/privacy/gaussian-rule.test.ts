import { describe, expect, it } from 'vitest';
import { normalCdf } from '../../src/numerics/normal.js';
import { amountToNumber, zeroAmount } from '../../src/privacy/accounting/amount.js';
import { analyticGaussianDelta } from '../../src/privacy/accounting/analytic-gaussian.js';
import { chargeUnder } from '../../src/privacy/accounting/budget.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import {
  epsilonOfHalfSquare, halfSquareFor, halfSquareOf,
} from '../../src/privacy/accounting/gaussian-curve.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import { capsOf } from '../../src/privacy/accounting/target.js';

const place = { name: 'draw', cohort: 'rows' } as const;

function muOf(event: MechanismEvent, share?: number): number {
  const { numerator, denominator } = halfSquareOf(event, share)!;
  return Math.sqrt(2 * Number((numerator << 80n) / denominator) / 2 ** 80);
}

/** All sums of P over sets {loss above e} less e^e times those of Q, for two laws on one list. */
function excess(left: readonly number[], right: readonly number[], epsilon: number): number {
  return left.reduce((sum, mass, i) =>
    sum + Math.max(0, mass - Math.exp(epsilon) * right[i]!), 0);
}

/** Masses of noise on -reach..reach, moved by `shift` steps, beyond which 1e-15 is left. */
function lawOf(weight: (steps: number) => number, reach: number, shift: number): number[] {
  const masses = Array.from({ length: 2 * reach + 1 }, (_, i) => weight(i - reach - shift));
  const whole = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / whole);
}

const epsilons = [-2, -1, -0.4, 0, 0.1, 0.3, 0.7, 1, 1.6, 2.5, 4, 6];

/** The normal pair with this mu, also at an epsilon below 0. */
const normalExcess = (mu: number, epsilon: number): number =>
  normalCdf(mu / 2 - epsilon / mu) - Math.exp(epsilon) * normalCdf(-mu / 2 - epsilon / mu);

function isCovered(left: readonly number[], right: readonly number[], mu: number): void {
  for (const epsilon of epsilons) {
    expect(normalExcess(mu, epsilon), `${epsilon}`)
      .toBeGreaterThanOrEqual(excess(left, right, epsilon) * (1 - 1e-9) - 1e-12);
  }
}

describe('the mu of an event', () => {
  it.each([[0.5, 1], [0.7, 1], [1, 1], [1, 3], [2, 1], [4, 2], [7.3, 5]])(
    'covers discrete Gaussian noise of deviation %d that moves by %d steps', (sigma, shift) => {
      const event: MechanismEvent =
        { ...place, kind: 'gaussian', dimension: 1, sensitivity: shift, sigma, grid: 1 };
      const law = (by: number): number[] =>
        lawOf((z) => Math.exp(-z * z / (2 * sigma * sigma)), Math.ceil(12 * sigma) + shift, by);
      isCovered(law(0), law(shift), muOf(event));
    },
  );

  it.each([[0.3, 1], [1, 1], [2, 1], [2, 5], [16, 8], [40, 160]])(
    'covers discrete Laplace noise of scale %d that moves by %d steps, and is met', (scale, s) => {
      const event: MechanismEvent =
        { ...place, kind: 'laplace', dimension: 1, sensitivity: s, scale, grid: 1 };
      const law = (by: number): number[] =>
        lawOf((z) => Math.exp(-Math.abs(z) / scale), Math.ceil(36 * scale) + s, by);
      const mu = muOf(event);
      isCovered(law(0), law(s), mu);
      // An odd number of steps has a threshold in the middle, where the two curves meet.
      if (s % 2 === 1) {
        expect(normalExcess(mu, 0)).toBeLessThan(excess(law(0), law(s), 0) * (1 + 1e-9));
      }
    },
  );

  it.each([0.01, 0.2, 1, 3, 8])('covers every choice with log-ratios in a range of %d', (range) => {
    const event: MechanismEvent = {
      ...place, kind: 'exponential', candidates: 2, sensitivity: 1, epsilon: range, times: 1,
    };
    const mu = muOf(event);
    for (let part = 0.02; part < 1; part += 0.02) {
      const t = part * range;
      const p = -Math.expm1(t - range) / -Math.expm1(-range);
      const q = p * Math.exp(-t);
      isCovered([p, 1 - p], [q, 1 - q], mu);
    }
    const half = 1 / (1 + Math.exp(-range / 2));
    expect(normalExcess(mu, 0)).toBeLessThan((2 * half - 1) * (1 + 1e-9) + 1e-12);
  });

  it('is that of a part of the shift where a row only comes or goes', () => {
    const fine = { dimension: 4, grid: 2 ** -30 };
    for (const event of [
      { ...place, ...fine, kind: 'gaussian', sensitivity: 1, sigma: 3 },
      { ...place, ...fine, kind: 'laplace', sensitivity: 1, scale: 3 },
    ] as const) {
      expect(muOf(event, 0.5)).toBeCloseTo(muOf({ ...event, sensitivity: 0.5 }), 8);
    }
  });

  it('is none for noise with a delta, for masks and for noise below half a step', () => {
    const none: readonly MechanismEvent[] = [
      { ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma: 0.4, grid: 1 },
      {
        ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 4, delta: 1e-9, floor: 1,
        grid: 1,
      },
      { ...place, kind: 'gaussian-histogram', coordinates: 1, sigma: 4, delta: 1e-9, grid: 1 },
      { ...place, kind: 'wishart-mask', dimension: 1, samples: 9, logDistance: 0.1, order: 2 },
    ];
    for (const event of none) {
      expect(halfSquareOf(event)).toBeNull();
      const cost = costOfEvents([event], { disjoint: [] });
      expect(cost.gaussian).toBeNull();
      expect(() => chargeUnder({ rule: 'gaussian' }, cost)).toThrow(/rule "?zcdp|at order/);
    }
  });
});

describe('a budget by squares of mu', () => {
  it('has the cap at which one Gaussian number is (epsilon, delta), and says so', () => {
    for (const [epsilon, delta] of [[8, 1e-5], [1, 1e-6], [0.1, 1e-9], [20, 1e-3]] as const) {
      const half = halfSquareFor(epsilon, delta);
      expect(analyticGaussianDelta(epsilon, 1 / Math.sqrt(2 * half))).toBeLessThanOrEqual(delta);
      const stated = epsilonOfHalfSquare(half, delta);
      expect(stated).toBeLessThanOrEqual(epsilon);
      expect(stated).toBeGreaterThan(epsilon * (1 - 1e-8));
      const { rhoCap, deltaCap } = capsOf({ epsilon, delta, rule: 'gaussian' });
      expect(amountToNumber(rhoCap)).toBeCloseTo(half, 12);
      expect(deltaCap).toBe(zeroAmount);
      expect(epsilonOfSpent({ rule: 'gaussian' }, rhoCap, zeroAmount, delta))
        .toBeLessThanOrEqual(epsilon);
    }
  });
});
