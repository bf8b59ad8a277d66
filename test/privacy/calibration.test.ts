import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalUpperQuantile } from '../../src/numerics/normal.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import {
  exponentialEvent, gaussianEvent, gaussianHistogramEvent, gaussianThresholdEvent, laplaceEvent,
  symmetricGaussianEvent,
} from '../../src/privacy/accounting/calibration.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { keepingSteps, passingValue, thresholdSteps } from '../../src/privacy/mechanisms/bounds.js';
import { gaussianMass, type Mass } from '../support/goodness.js';

const place = { name: 'x', cohort: 'all' };
const costOf = (event: MechanismEvent): ReturnType<typeof costOfEvents> =>
  costOfEvents([event], { disjoint: [] });
const positive = (min: number, max: number): fc.Arbitrary<number> =>
  fc.double({ min: Math.log(min), max: Math.log(max), noNaN: true }).map(Math.exp);

/** P(noise >= from). */
function upperTail({ low, probabilities }: Mass, from: number): number {
  let sum = 0;
  for (let i = probabilities.length - 1; i >= 0 && low + i >= from; i--) sum += probabilities[i]!;
  return sum;
}

describe('builders', () => {
  it('never cost more than asked, and little less', () => {
    const dimensions = fc.integer({ min: 1, max: 200 });
    fc.assert(fc.property(positive(1e-6, 1e6), positive(1e-7, 20), dimensions, fc
      .boolean(), (D, rho, d, fixed) => {
      const grid = fixed ? { grid: 2 ** -20 } : {};
      const asked = { ...place, dimension: d, sensitivity: D, rho, ...grid };
      for (const event of [gaussianEvent(asked), symmetricGaussianEvent(asked)]) {
        const cost = costOf(event);
        expect(cost.rho <= amountOf(rho)).toBe(true);
        if (event.sigma / event.grid > 1000) {
          expect(Number(cost.rho) / 2 ** 64).toBeGreaterThan(rho * (1 - 0.003));
        }
        expect(Number.isInteger(event.sigma / event.grid)).toBe(true);
        expect(event.sensitivity).toBeGreaterThanOrEqual(D);
      }
      const test =
        gaussianThresholdEvent({ ...place, sensitivity: D, rho, delta: 1e-9, floor: 1, ...grid });
      const histogram = gaussianHistogramEvent({ ...place, coordinates: d, rho, delta: 1e-9 });
      const choice = exponentialEvent({ ...place, candidates: 3, sensitivity: D, rho, times: d });
      for (const event of [test, histogram, choice]) {
        expect(costOf(event).rho <= amountOf(rho), event.kind).toBe(true);
      }
      const epsilon = Math.min(rho, 20);
      const laplace = laplaceEvent({ ...place, dimension: d, sensitivity: D, epsilon, ...grid });
      expect(costOf(laplace).epsilon! <= amountOf(epsilon)).toBe(true);
    }), { seed: 4, numRuns: 150 });
  });

  it('widens the sensitivity of values off the grid, and only of those', () => {
    const on = gaussianEvent({ ...place, dimension: 4, sensitivity: 1, rho: 0.5, grid: 2 ** -10 });
    expect(on).toMatchObject({ sensitivity: 1, sigma: 1, grid: 2 ** -10 });
    const off = gaussianEvent({ ...place, dimension: 4, sensitivity: 1, rho: 0.5 });
    expect(off.grid).toBe(2 ** -20);
    expect(off.sensitivity).toBeGreaterThanOrEqual(1 + 4 * off.grid);
    expect(off.sensitivity).toBeLessThan(1 + 4.01 * off.grid);
    const matrix = symmetricGaussianEvent({ ...place, dimension: 4, sensitivity: 1, rho: 0.5 });
    expect(matrix.sensitivity).toBeGreaterThanOrEqual(1 + 8 * matrix.grid);
    const sparse = laplaceEvent({ ...place, dimension: 4, sensitivity: 1, epsilon: 1 });
    expect(sparse.sensitivity).toBeGreaterThanOrEqual(1 + 8 * sparse.grid);
  });

  it('takes a coarser grid for large values, so that doubles can hold them', () => {
    const event =
      gaussianEvent({ ...place, dimension: 1, sensitivity: 1e-6, rho: 0.5, magnitude: 1e12 });
    expect(event.grid).toBeGreaterThanOrEqual(1e12 / 2 ** 50);
    expect(event.grid).toBeLessThanOrEqual(1e12 / 2 ** 49);
  });

  it('refuses numbers that are not positive', () => {
    const asked = { ...place, dimension: 1, sensitivity: 1, rho: 1 };
    for (const change of [
      { rho: 0 }, { rho: NaN }, { sensitivity: -1 }, { sensitivity: Infinity }, { dimension: 0 },
    ]) {
      expect(() => gaussianEvent({ ...asked, ...change })).toThrow(InvalidParameterError);
    }
    expect(() => laplaceEvent({ ...place, dimension: 1, sensitivity: 1, epsilon: 0 }))
      .toThrow(InvalidParameterError);
    const test = { ...place, sensitivity: 1, rho: 1, floor: 1 };
    expect(() => gaussianThresholdEvent({ ...test, delta: 0 })).toThrow(InvalidParameterError);
    expect(() => gaussianHistogramEvent({ ...place, coordinates: 1, rho: 1, delta: 0 }))
      .toThrow(InvalidParameterError);
  });
});

describe('threshold tests just under the floor', () => {
  it.each([
    [20, 1e-6], [5, 1e-6], [1, 1e-6], [1, 0.3], [100, 1e-9],
  ])('Gaussian at sigma/grid %d, delta %d', (steps, delta) => {
    const built = gaussianThresholdEvent({
      ...place, sensitivity: 3, rho: 9 / (2 * steps * steps), delta, floor: -2, grid: 1,
    });
    // The double of rho may lie below the fraction, and then one more step is due.
    expect([steps, steps + 1]).toContain(built.sigma);
    const event = { ...built, sigma: steps };
    const chance = (value: number): number =>
      upperTail(gaussianMass(steps), Number(thresholdSteps(event)) - value);
    // The largest value that a neighbour of a data set below the floor can have.
    const edge = -2 - 1 + 3;
    expect(chance(edge)).toBeLessThanOrEqual(delta);
    if (steps >= 20) expect(chance(edge)).toBeGreaterThan(delta / 3);
    // Without the extra step the discrete tail would pass too often: the reason why it is there.
    if (steps === 5) expect(chance(edge + 2)).toBeGreaterThan(delta);
    expect(passingValue(event)).toBeGreaterThanOrEqual(-2 + 3 + steps * normalUpperQuantile(delta));
  });
});

describe('stable histograms', () => {
  it.each([
    [1, 1e-6, 0.5], [10, 1e-6, 0.01], [3, 0.1, 0.0001],
  ])('%d coordinates, delta %d: a lone count shows with at most '
    + 'delta', (coordinates, delta, rho) => {
    const event = {
      ...gaussianHistogramEvent({ ...place, coordinates, rho, delta }), grid: 2 ** -3,
    };
    const mass = gaussianMass(event.sigma / event.grid);
    const chance = coordinates * upperTail(mass, Number(keepingSteps(event)) + 1 - 1 / event.grid);
    expect(chance).toBeLessThanOrEqual(delta);
    expect(chance).toBeGreaterThan(delta / 10);
  });
});
