import { describe, expect, it } from 'vitest';
import {
  normalCdf, normalDensity, normalLogCdf, normalQuantile, normalUpperQuantile, normalUpperTail,
} from '../../src/numerics/normal.js';

/** x, P(Z <= x), its logarithm: computed with 40 digits. */
const values: readonly (readonly [number, number, number])[] = [
  [-37, 5.725571222524577e-300, -689.0305855768906],
  [-36.7123, 2.3240836301543558e-295, -678.4192766094648],
  [-30.71, 2.0927517984371935e-207, -475.8966343998443],
  [-20, 2.7536241186062337e-89, -203.91715537109727],
  [-8.25, 7.919726314642477e-17, -37.074589931901535],
  [-5, 2.866515718791939e-7, -15.064998393988725],
  [-2, 0.02275013194817921, -3.783184333682032],
  [-1.0001, 0.15863105806885877, -1.8411741625414106],
  [-1, 0.15865525393145705, -1.8410216450092636],
  [-0.9999, 0.1586794522137626, -1.8408691354861395],
  [-0.3, 0.3820885778110474, -0.9621028181688507],
  [-1e-10, 0.49999999996010575, -0.6931471806397338],
  [0.7, 0.758036347776927, -0.2770239422771313],
  [1.5, 0.9331927987311419, -0.06914345561223398],
  [6, 0.9999999990134123, -9.865876455243758e-10],
];
const quantiles: readonly (readonly [number, number])[] = [
  [1e-300, -37.0470962993612],
  [1e-100, -21.273453560965326],
  [1e-16, -8.222082216130435],
  [5e-7, -4.89163847569859],
  [0.01, -2.326347874040841],
  [0.19, -0.8778962950512286],
  [0.21, -0.8064212470182403],
  [0.4999999, -2.5066282747031063e-7],
  [0.75, 0.6744897501960817],
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
    expect([
      normalCdf(-Infinity), normalCdf(Infinity), normalLogCdf(-Infinity), normalLogCdf(Infinity),
    ])
      .toEqual([0, 1, -Infinity, -0]);
    expect([normalQuantile(0), normalQuantile(1), normalQuantile(0.5)])
      .toEqual([-Infinity, Infinity, 0]);
    for (const bad of [NaN, -0.1, 1.1]) expect(normalQuantile(bad)).toBeNaN();
    expect([normalCdf(NaN), normalLogCdf(NaN)]).toEqual([NaN, NaN]);
    expect(normalDensity(0)).toBeCloseTo(0.3989422804014327, 15);
  });
});
