// @module-tag slow
import { describe, expect, it } from 'vitest';
import { normalCdf } from '../../src/numerics/normal.js';
import { Coins } from '../../src/random/samplers/coins.js';
import { seededNoise } from '../../src/random/insecure.js';
import { chooseByLoss } from '../../src/random/samplers/choice.js';
import { chooseByRejection } from '../support/choice-by-rejection.js';
import { discreteLaplace } from '../../src/random/samplers/discrete-laplace.js';
import { gaussianSampler } from '../../src/random/samplers/discrete-gaussian.js';
import {
  distanceLimit, distanceToCdf, distanceToMass, gaussianMass, laplaceMass, massOf, type Mass,
} from '../support/goodness.js';

const draws = 60_000;
const limit = distanceLimit(draws);
/** Enough to tell 10 % of a scale, for what takes a millisecond to draw. */
const fewDraws = 20_000;

function sampled(
  seed: string, draw: (bits: Coins) => number | bigint, length = draws,
): number[] {
  const bits = new Coins(seededNoise(seed));
  return Array.from({ length }, () => Number(draw(bits)));
}

/** The draws match the distribution, and do not match it with its scale 10 % larger or smaller. */
function expectScale(values: readonly number[], mass: (factor: number) => Mass): void {
  const limit = distanceLimit(values.length);
  expect(distanceToMass(values, mass(1))).toBeLessThan(limit);
  expect(distanceToMass(values, mass(1.1))).toBeGreaterThan(limit);
  expect(distanceToMass(values, mass(0.9))).toBeGreaterThan(limit);
}

describe('samplers have their distributions (DKW, false failure 1e-6 per test)', () => {
  it.each([[1n, 1n], [4n, 1n], [9n, 4n], [7n, 3n], [400n, 1n], [12_345n, 10n]])(
    'discrete Gaussian of variance %s / %s',
    (numerator, denominator) => {
      const sigma = Math.sqrt(Number(numerator) / Number(denominator));
      const sample = gaussianSampler({ numerator, denominator });
      expectScale(sampled(`g${numerator}/${denominator}`, sample), (factor) =>
        gaussianMass(sigma * factor));
    },
  );

  it.each([[1n << 40n, 1n], [(1n << 39n) + 1n, 1n], [1n << 80n, 1n], [(1n << 81n) + 3n, 5n]])(
    'discrete Gaussian of variance %s / %s, against the continuous one',
    (numerator, denominator) => {
      const sigma = Math.sqrt(Number(numerator) / Number(denominator));
      const values = sampled(`c${numerator}`, gaussianSampler({ numerator, denominator }));
      const distance = (factor: number): number =>
        distanceToCdf(values, (x) => normalCdf(x / (sigma * factor)));
      expect(distance(1)).toBeLessThan(limit);
      expect(distance(1.1)).toBeGreaterThan(limit);
      expect(distance(0.9)).toBeGreaterThan(limit);
    },
  );

  it.each([[1n, 1n], [5n, 2n], [100n, 7n]])(
    'discrete Laplace of scale %s / %s', (numerator, denominator) => {
      const scale = Number(numerator) / Number(denominator);
      const values =
        sampled(`l${numerator}`, (bits) => discreteLaplace(bits, { numerator, denominator }));
      expectScale(values, (factor) => laplaceMass(scale * factor));
    },
  );

  it.each([
    [0n, 1n], [1n, 3n], [1n, 1n], [5n, 2n], [10n ** 25n, 10n ** 25n + 1n],
  ])('coin of exp(-%s/%s)', (top, bottom) => {
    const wins = sampled(`e${top}`, (bits) => (bits.bernoulliExpBig(top, bottom) ? 1 : 0));
    const p = Math.exp(-Number(top) / Number(bottom));
    expect(distanceToMass(wins, { low: 0, probabilities: Float64Array.of(1 - p, p) }))
      .toBeLessThan(limit);
  });

  it('coin of exp(-1)', () => {
    const wins = sampled('inverse', (bits) => (bits.bernoulliInverseE() ? 1 : 0));
    expect(Math.abs(wins.reduce((sum, win) => sum + win, 0) / draws - Math.exp(-1)))
      .toBeLessThan(limit);
  });

  it('uniform integers below an awkward bound', () => {
    const values = sampled('u', (bits) => bits.below(1_000_003));
    expect(distanceToCdf(values, (x) => (x + 0.5) / 1_000_003)).toBeLessThan(limit);
    const wide = sampled('w', (bits) => bits.belowBig(3n << 80n));
    expect(distanceToCdf(wide, (x) => x / (3 * 2 ** 80))).toBeLessThan(limit);
  });

  it('choice by loss', () => {
    // Two of each loss; the one without hope never wins.
    const losses = Array.from({ length: 40 }, (_, i) => (i === 39 ? 4000n : BigInt(i >> 1)));
    const runs = {
      lengths: new Float64Array(losses.length).fill(1), scores: Float64Array.from(losses, Number),
    };
    const values = sampled('choice', (bits) => chooseByLoss(
      () => bits.belowBig(1n << 128n), runs, {
        of: (score) => ({ numerator: BigInt(score), denominator: 4n }),
        near: (score) => score / 4,
      },
    ), fewDraws);
    expectScale(values, (factor) =>
      massOf(0, losses.length - 1, (i) => Math.exp((-Number(losses[i]) / 4) * factor)));
    expect(values).not.toContain(39);
    // An exact sampler that has nothing in common with it has the same law.
    const others = sampled('choice by rejection', (bits) => chooseByRejection(
      bits, losses.length, (i) => ({ numerator: losses[i]!, denominator: 4n }),
    ), fewDraws);
    const shareOf = (list: readonly number[], most: number): number =>
      list.filter((value) => value <= most).length / fewDraws;
    const apart = losses.map((_, i) => Math.abs(shareOf(values, i) - shareOf(others, i)));
    expect(Math.max(...apart)).toBeLessThan(Math.SQRT2 * distanceLimit(fewDraws));
  });
});
