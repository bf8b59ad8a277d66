import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { chargeUnder } from '../../src/privacy/accounting/budget.js';
import { costOfEvents, chargeFits } from '../../src/privacy/accounting/composition.js';
import { eventsFromJson, eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import type {
  AffineMaskEvent, GaussianEvent, WishartMaskEvent,
} from '../../src/privacy/accounting/events.js';
import { lossOfReleases } from '../../src/privacy/accounting/loss-distribution/index.js';
import {
  affineDivergence, drawDivergence, maskDivergence, varianceDivergence,
} from '../../src/privacy/accounting/masking.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import { renyiAllowance, privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';

const wishart: WishartMaskEvent = {
  kind: 'wishart-mask', name: 'mask', cohort: 'groups', dimension: 2, samples: 40,
  logDistance: 0.02, order: 20,
};
const affine: AffineMaskEvent = {
  kind: 'affine-mask', name: 'mask', cohort: 'groups', dimension: 2, spread: 0.2, logDistance: 0.02,
  order: 20,
};
const gaussian: GaussianEvent = {
  kind: 'gaussian', name: 'sum', cohort: 'rows', dimension: 1, sensitivity: 1, sigma: 8, grid: 1,
};

/** Simpson's rule on exp(f), f a logarithm of a density. */
function integral(logDensity: (x: number) => number, reach: number): number {
  const steps = 20_000;
  const width = (2 * reach) / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    sum +=
      (i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2) * Math.exp(logDensity(-reach + i * width));
  }
  return (sum * width) / 3;
}
const logNormal = (x: number, mean: number, variance: number): number =>
  -((x - mean) ** 2) / (2 * variance) - Math.log(2 * Math.PI * variance) / 2;
/** Renyi divergence of order a of N(m, u) from N(n, v), by quadrature. */
const quadrature = (
  a: number, [m, u]: readonly [number, number], [n, v]: readonly [number, number],
): number =>
  Math.log(integral((x) => a * logNormal(x, m, u) + (1 - a) * logNormal(x, n, v), 40)) / (a - 1);

describe('divergences of masks', () => {
  it('are those of Gaussians', () => {
    for (const order of [1.5, 4, 20]) for (const ratio of [0.9, 0.97, 1, 1.02, 1.04]) {
      expect(varianceDivergence(order, ratio))
        .toBeCloseTo(quadrature(order, [0, ratio], [0, 1]), 9);
    }
    expect(varianceDivergence(20, 1.06)).toBe(Infinity);
    // One draw of a wishart-mask: d directions, each at the worse end of the interval.
    const ends = [0.02, -0.02].map((l) => quadrature(20, [0, Math.exp(l)], [0, 1]));
    expect(drawDivergence(3, 20, 0.02)).toBeCloseTo(3 * Math.max(...ends), 9);
    expect(maskDivergence(wishart)).toBeGreaterThan(40 * 2 * Math.max(...ends) - 1e-9);
    expect(maskDivergence(wishart)).toBeLessThan(40 * 2 * Math.max(...ends) + 1e-7);
  });

  it('of an affine mask add up over entries of which one is moved, in the worse direction of the '
    + 'worse end', () => {
    const h = 0.2;
    const d = 3;
    const one = (s: number, isReversed: boolean): number => {
      const entry = (mean: number): number => {
        const [p, q] = [[mean, h * h], [mean * s, h * h * s * s]] as const;
        return isReversed ? quadrature(20, q, p) : quadrature(20, p, q);
      };
      return (d - 1) * entry(0) + entry(1);
    };
    const roots = [Math.exp(0.01), Math.exp(-0.01)];
    const worst = Math.max(...roots.flatMap((s) => [one(s, false), one(s, true)]));
    expect(affineDivergence(d, 20, 0.02, h)).toBeCloseTo(d * worst, 8);
    // Whatever lies inside the interval diverges less.
    for (const s of [0.993, 1.004, 1.008]) expect(one(s, false)).toBeLessThan(worst);
  });

  it('are charged at their order, and by no other rule', () => {
    const cost = costOfEvents([wishart, gaussian], { disjoint: [] });
    const expected = maskDivergence(wishart) + 20 / 128;
    expect(amountToNumber(cost.renyi!.amount)).toBeCloseTo(expected, 12);
    expect(cost.renyi!.order).toBe(20);
    expect(cost.epsilon).toBeNull();
    expect(chargeFits(cost, { rho: 1e6, delta: 0.5 })).toBe(false);
    expect(chargeUnder({ rule: 'renyi', order: 20 }, cost).rho).toBe(cost.renyi!.amount);
    for (const rule of [
      { rule: 'zcdp' }, { rule: 'pure' }, { rule: 'renyi', order: 19 },
    ] as const) {
      expect(() => chargeUnder(rule, cost)).toThrow(InvalidParameterError);
    }
    const parallel = costOfEvents([wishart, gaussian], { disjoint: ['groups', 'rows'] });
    expect(amountToNumber(parallel.renyi!.amount))
      .toBeCloseTo(Math.max(maskDivergence(wishart), 20 / 128), 12);
    expect(() => costOfEvents([wishart, { ...affine, name: 'other', order: 19 }], { disjoint: [] }))
      .toThrow(/one order/);
    expect(costOfEvents([gaussian], { disjoint: [] }).renyi).toBeUndefined();
    expect(lossOfReleases([{ events: [wishart] }])).toBeNull();
  });

  it('stay within the requested epsilon and delta', () => {
    const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
    const { order, divergence } = renyiAllowance(target);
    expect(order).toBeCloseTo(23.28, 1);
    const amount = costOfEvents([
      { ...gaussian, sigma: Math.sqrt(order / (2 * divergence)), grid: 2 ** -40 },
    ], { disjoint: [] }).rho;
    const spent = BigInt(Math.round(Number(amount) * order)) as typeof amount;
    const stated = epsilonOfSpent({ rule: 'renyi', order }, spent, amount, 1e-6);
    expect(stated).toBeLessThan(1 + 1e-6);
    expect(stated).toBeGreaterThan(1 - 1e-6);
    expect(renyiAllowance({ ...target, order: 8 })).toMatchObject({ order: 8 });
    expect(renyiAllowance({ ...target, order: 8 }).divergence).toBeLessThan(divergence);
    expect(renyiAllowance({ ...target, order: 2 }).divergence).toBeLessThan(0);
  });

  it('are events like others: checked, and kept in canonical JSON', () => {
    expect(eventsFromJson(eventsToJson([wishart, gaussian]))).toEqual([wishart, gaussian]);
    for (const bad of [
      { order: 1 }, { samples: 0 }, { logDistance: 0 }, { logDistance: 0.06 }, { spread: 1 },
    ]) {
      expect(() => eventsToJson([{ ...wishart, ...bad }])).toThrow(InvalidParameterError);
    }
  });
});

describe('masks', () => {
  const matrix = [9, 2, 2, 1];
  const draw = (
    event: WishartMaskEvent | AffineMaskEvent, value: readonly number[], seed: string,
  ): Float64Array =>
    createMechanisms([event], seededNoise(seed))
      .mask('mask', Sensitive.of(Float64Array.from(value))).value;

  /** Mean and variance of the first entry and the one beside it, over its own expectation. */
  function moments(event: WishartMaskEvent | AffineMaskEvent, rounds: number) {
    const sums = [0, 0, 0, 0];
    for (let round = 0; round < rounds; round++) {
      const drawn = draw(event, matrix, `mask ${round}`);
      const [first, beside] = [drawn[0]! / 9, drawn[1]!];
      expect(drawn[1]).toBe(drawn[2]);
      [first, first * first, beside, beside * beside]
        .forEach((value, i) => { sums[i]! += value / rounds; });
    }
    return { mean: sums[0]!, variance: sums[1]!
      - sums[0]! ** 2, beside: sums[2]!, varianceBeside: sums[3]! - sums[2]! ** 2 };
  }

  it('of draws are unbiased with the variance of second moments', () => {
    const { mean, variance, beside, varianceBeside } = moments({ ...wishart, samples: 40 }, 4_000);
    // Five deviations of each estimate; a deviation of normals that is 5 % off shows in the mean.
    expect(mean).toBeCloseTo(1, 1.5);
    expect(Math.abs(mean - 1)).toBeLessThan(5 * Math.sqrt(2 / 40 / 4_000));
    expect(Math.abs(beside - 2)).toBeLessThan(5 * Math.sqrt((9 + 4) / 40 / 4_000));
    expect(variance / (2 / 40)).toBeGreaterThan(0.88);
    expect(variance / (2 / 40)).toBeLessThan(1.14);
    expect(varianceBeside / (13 / 40)).toBeGreaterThan(0.88);
    expect(varianceBeside / (13 / 40)).toBeLessThan(1.14);
  });

  it('of the affine kind err as planned', () => {
    const { mean, variance } = moments({ ...affine, spread: 0.1 }, 4_000);
    expect(Math.abs(mean - (1 + 2 * 0.01))).toBeLessThan(5 * Math.sqrt(4 * 0.01 / 4_000));
    expect(variance / (4 * 0.01)).toBeGreaterThan(0.88);
    expect(variance / (4 * 0.01)).toBeLessThan(1.2);
  });

  it('are rounded far above the digits of doubles, on the spread of their own rows', () => {
    const drawn = draw(wishart, [1e12, 1e-3, 1e-3, 1e-12], 'round');
    for (const at of [0, 1, 3]) {
      const [i, j] = [at >> 1, at & 1];
      const exponents = [i, j].map((k) => Math.floor(Math.log2(drawn[3 * k]!) / 2));
      expect(Number.isInteger(drawn[at]! / 2 ** (exponents[0]! + exponents[1]! - 24))).toBe(true);
    }
  });

  it('treat a matrix that is not positive definite as the identity matrix', () => {
    expect(draw(wishart, [1, 2, 2, 1], 'unit')).toEqual(draw(wishart, [1, 0, 0, 1], 'unit'));
    expect(() => draw({ ...wishart, name: 'another' }, matrix, 'x')).toThrow(/no event/);
  });
});
