import { describe, expect, it } from 'vitest';
import { normalCdf, normalDensity, normalLogCdf, normalQuantile, normalUpperQuantile, normalUpperTail } from '../../src/numerics/normal.js';

/** x, P(Z <= x), its logarithm: computed with 40 digits. */
const values: readonly (readonly [number, number, number])[] = [
  [-37, 5.7255712225245768e-300, -689.03058557689059],
  [-20, 2.7536241186062337e-89, -203.91715537109726],
  [-8.25, 7.9197263146424773e-17, -37.074589931901533],
  [-5, 2.8665157187919391e-7, -15.064998393988726],
  [-2, 0.022750131948179207, -3.7831843336820319],
  [-1.0001, 0.15863105806885876, -1.8411741625414107],
  [-1, 0.15865525393145705, -1.8410216450092635],
  [-0.9999, 0.15867945221376258, -1.8408691354861396],
  [-0.3, 0.38208857781104737, -0.96210281816885066],
  [-1e-10, 0.49999999996010577, -0.69314718063973377],
  [0.7, 0.75803634777692697, -0.27702394227713126],
  [1.5, 0.93319279873114193, -0.069143455612233983],
  [6, 0.99999999901341235, -9.8658764552437573e-10],
];
const quantiles: readonly (readonly [number, number])[] = [
  [1e-300, -37.047096299361199],
  [1e-100, -21.273453560965324],
  [1e-16, -8.2220822161304356],
  [5e-7, -4.8916384756985904],
  [0.01, -2.3263478740408411],
  [0.19, -0.87789629505122859],
  [0.21, -0.80642124701824024],
  [0.4999999, -2.5066282747031065e-7],
  [0.75, 0.67448975019608174],
];

const relative = (value: number, truth: number): number => Math.abs(value / truth - 1);

describe('the normal distribution', () => {
  it.each(values)('has 15 digits at %d', (x, p, logarithm) => {
    expect(relative(normalCdf(x), p)).toBeLessThan(2e-15);
    expect(relative(normalUpperTail(-x), p)).toBeLessThan(2e-15);
    expect(relative(normalLogCdf(x), logarithm)).toBeLessThan(2e-15);
  });

  it.each(quantiles)('has the quantile of %d', (p, x) => {
    // Near the median the double p itself holds fewer digits of p - 1/2.
    expect(relative(normalQuantile(p), x)).toBeLessThan(p === 0.4999999 ? 1e-9 : 2e-15);
    expect(normalUpperQuantile(p)).toBe(-normalQuantile(p));
  });

  it('ends where doubles end', () => {
    expect(normalLogCdf(-1e100)).toBeCloseTo(-5e199, -190);
    expect([normalCdf(-Infinity), normalCdf(Infinity), normalLogCdf(-Infinity), normalLogCdf(Infinity)])
      .toEqual([0, 1, -Infinity, -0]);
    expect([normalQuantile(0), normalQuantile(1), normalQuantile(0.5)]).toEqual([-Infinity, Infinity, 0]);
    for (const bad of [NaN, -0.1, 1.1]) expect(normalQuantile(bad)).toBeNaN();
    expect([normalCdf(NaN), normalLogCdf(NaN)]).toEqual([NaN, NaN]);
    expect(normalDensity(0)).toBeCloseTo(0.3989422804014327, 15);
  });
});
