// @module-tag long
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { normalCdf } from '../../src/numerics/normal.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { thresholdSteps } from '../../src/privacy/mechanisms/bounds.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { numberedKeys } from '../support/found-keys.js';
import {
  distanceLimit, distanceToCdf, distanceToMass, gaussianMass, laplaceMass, massOf,
} from '../support/goodness.js';

const draws = 60_000;
const limit = distanceLimit(draws);
/** Enough to tell 10 % of a scale, for what takes milliseconds to draw. */
const fewDraws = 20_000;
const place = { name: 'x', cohort: 'all', grid: 2 ** -12 };
const zeros = (length: number): Sensitive<Float64Array> => Sensitive.of(new Float64Array(length));
const mechanismsOf = (event: MechanismEvent, seed: string): ReturnType<typeof createMechanisms> =>
  createMechanisms([event], seededNoise(seed));

/** Matches at the claimed scale and not 10 % beside it. */
function expectScale(distance: (factor: number) => number, size = limit): void {
  expect(distance(1)).toBeLessThan(size);
  expect(distance(1.1)).toBeGreaterThan(size);
  expect(distance(0.9)).toBeGreaterThan(size);
}

describe('mechanisms draw the noise that was charged (DKW, false failure 1e-6 per test)', () => {
  it('gaussian: standard deviation sigma', () => {
    const event = {
      ...place, kind: 'gaussian', dimension: draws, sensitivity: 1, sigma: 2.5,
    } as const;
    const noise = [...mechanismsOf(event, 'gaussian').gaussian('x', zeros(draws)).value];
    expectScale((factor) => distanceToCdf(noise, (x) => normalCdf(x / (2.5 * factor))));
  });

  it('symmetric gaussian: sigma on the diagonal, sigma / sqrt 2 beside it', () => {
    const dimension = 400;
    const event = {
      ...place, kind: 'symmetric-gaussian', dimension, sensitivity: 1, sigma: 2.5,
    } as const;
    const noise = mechanismsOf(event, 'symmetric')
      .symmetricGaussian('x', zeros(dimension ** 2)).value;
    const beside: number[] = [];
    const diagonal: number[] = [];
    for (let i = 0; i < dimension; i++) {
      diagonal.push(noise[i * dimension + i]!);
      for (let j = i + 1; j < dimension; j++) beside.push(noise[i * dimension + j]!);
    }
    const sigma = 2.5 / Math.SQRT2;
    expectScale(
      (factor) => distanceToCdf(beside, (x) => normalCdf(x / (sigma * factor))),
      distanceLimit(beside.length),
    );
    // 400 draws tell sigma from sigma / sqrt 2 by their variance: its relative deviation is
    // sqrt(2/400) = .071.
    const variance = diagonal.reduce((sum, entry) => sum + entry * entry, 0) / dimension / 2.5 ** 2;
    expect(Math.abs(variance - 1)).toBeLessThan(5 * 0.071);
  });

  it('laplace: the charged scale', () => {
    const event = {
      ...place, kind: 'laplace', dimension: draws, sensitivity: 1, scale: 3, grid: 0.5,
    } as const;
    const noise = [...mechanismsOf(event, 'laplace').laplace('x', zeros(draws)).value]
      .map((entry) => entry / 0.5);
    expectScale((factor) => distanceToMass(noise, laplaceMass(6 * factor)));
  });

  it('exponential: weights exp(epsilon u / (2 sensitivity))', { tags: ['slow'] }, () => {
    const scores = Float64Array.from({ length: 60 }, (_, i) => -((i * 7) % 60) - 0.125);
    const event = {
      kind: 'exponential', name: 'x', cohort: 'all', candidates: 60, sensitivity: 2, epsilon: 0.5,
      times: fewDraws,
    } as const;
    const mechanisms = mechanismsOf(event, 'exponential');
    const chosen = Array.from({ length: fewDraws }, () =>
      (mechanisms.exponential('x', Sensitive.of(scores)).value * 7) % 60);
    expectScale((factor) =>
      distanceToMass(chosen, massOf(0, 59, (k) => Math.exp((-k / 8) * factor))),
    distanceLimit(fewDraws));
  });

  it('threshold: passes as often as its exact noise says', () => {
    const trials = 20_000;
    const value = 9.5;
    const events = Array.from({ length: trials }, (_, i) =>
      ({
        ...place, kind: 'gaussian-threshold', name: `${i}`, sensitivity: 1, sigma: 4, delta: 0.05,
        floor: 2, grid: 0.5,
      } as const));
    const mechanisms = createMechanisms(events, seededNoise('threshold'));
    const passes =
      events.map((event) => (mechanisms.threshold(event.name, Sensitive.of(value)).value ? 1 : 0));
    const needed = Number(thresholdSteps(events[0]!)) - value / 0.5;
    const { low, probabilities } = gaussianMass(8);
    const chance = probabilities.reduce((sum, p, i) => sum + (low + i >= needed ? p : 0), 0);
    const share = passes.reduce<number>((sum, pass) => sum + pass, 0) / trials;
    expect(Math.abs(share - chance)).toBeLessThan(distanceLimit(trials));
    expect(chance).toBeGreaterThan(0.2);
    expect(chance).toBeLessThan(0.8);
  });

  it('histogram: counts carry noise of deviation sigma', () => {
    const event = {
      ...place, kind: 'gaussian-histogram', coordinates: 1, sigma: 3, delta: 0.01,
    } as const;
    const bins = new Map(Array.from({ length: draws }, (_, i) => [i, 1000]));
    const kept = mechanismsOf(event, 'histogram').histogram('x', Sensitive.of([bins])).value[0]!;
    expect(kept.length).toBe(draws);
    const noise = kept.map(({ noisyCount }) => noisyCount - 1000);
    expectScale((factor) => distanceToCdf(noise, (x) => normalCdf(x / (3 * factor))));
  });

  it('key histogram: counts carry noise of deviation sigma', () => {
    const event = {
      ...place, kind: 'group-histogram', groupsMax: 2, prefilter: 2, sigma: 3, delta: 0.01,
    } as const;
    const counts = new Float64Array(draws).fill(1000);
    const kept = mechanismsOf(event, 'keys')
      .groupHistogram('x', Sensitive.of(counts), Sensitive.of(numberedKeys(draws))).value;
    expect(kept.length).toBe(draws);
    const noise = kept.map(({ noisyCount }) => noisyCount - 1000);
    expectScale((factor) => distanceToCdf(noise, (x) => normalCdf(x / (3 * factor))));
  });

  it('key sums: counts and sums carry noise of their own deviations', () => {
    const event = {
      ...place, kind: 'group-sums', groupsMax: 2, prefilter: 2, values: 1, sigma: 3, sumsSigma: 5,
      delta: 0.01, sumsGrid: 2 ** -10,
    } as const;
    const counts = new Float64Array(draws).fill(1000);
    const table = { counts, sumsOf: () => Float64Array.of(70) };
    const kept = mechanismsOf(event, 'sums')
      .groupSums('x', Sensitive.of(table), Sensitive.of(numberedKeys(draws))).value;
    expect(kept.length).toBe(draws);
    const [ofCounts, ofSums] = [kept.map(({ noisyCount }) => noisyCount - 1000),
      kept.map(({ noisySums }) => noisySums[0]! - 70)];
    expectScale((factor) => distanceToCdf(ofCounts, (x) => normalCdf(x / (3 * factor))));
    expectScale((factor) => distanceToCdf(ofSums, (x) => normalCdf(x / (5 * factor))));
  });
});
