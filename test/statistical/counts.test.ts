// @module-tag slow
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { rankScores } from '../../src/estimators/counts/tables/rank-scores.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { distanceLimit, distanceToCdf, distanceToMass, massOf } from '../support/goodness.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';

/** Matches at the claimed scale and not 10 % beside it. */
function expectScale(distance: (factor: number) => number, limit: number): void {
  expect(distance(1)).toBeLessThan(limit);
  expect(distance(1.1)).toBeGreaterThan(limit);
  expect(distance(0.9)).toBeGreaterThan(limit);
}

describe('counting queries err as much as they are charged for (DKW, false failure 1e-6 per '
  + 'test)', () => {
  it('histogram: sqrt 2 / sqrt(2 rho) on every bin, empty ones too', async () => {
    const facts = factsOf(1, 1_000);
    const plan = planOf('histogram', { edges: Array.from({ length: 999 }, (_, i) => i) }, facts);
    const rows = Array.from({ length: 1_000 }, () => Float64Array.of(500));
    const noise: number[] = [];
    for (let round = 0; round < 25; round++) {
      const outcome = await releaseOf(plan, 1, rows, `histogram ${round}`);
      if (outcome.kind === 'value') {
        noise.push(...outcome.estimate.map((count, bin) => count - (bin === 501 ? 1_000 : 0)));
      }
    }
    expect(noise).toHaveLength(25_000);
    const deviation = 1 / Math.sqrt(facts.target.rho);
    expectScale(
      (factor) => distanceToCdf(noise, (x) => normalCdf(x / (deviation * factor))),
      distanceLimit(noise.length),
    );
  });

  it('count: 1 / sqrt(2 rho)', { tags: ['long'] }, async () => {
    const facts = factsOf(1, 100);
    const plan = planOf('count', {}, facts);
    const noise: number[] = [];
    for (let round = 0; round < 20_000; round++) {
      const outcome =
        await releaseOf(plan, 1, [Float64Array.of(0), Float64Array.of(1)], `count ${round}`);
      if (outcome.kind === 'value') noise.push(outcome.estimate[0]! - 2);
    }
    const deviation = 1 / Math.sqrt(2 * facts.target.rho);
    expectScale(
      (factor) => distanceToCdf(noise, (x) => normalCdf(x / (deviation * factor))),
      distanceLimit(noise.length),
    );
  });

  it('quantile: odds of exp(epsilon / 2) for every contributor to move, epsilon^2 / 8 of rho '
    + 'each', () => {
    const draws = 60_000;
    const facts = factsOf(1, 2_000);
    const plan =
      planOf('quantile', { range: '0..4', probabilities: [0.25, 0.5] }, facts);
    const choice = plan.events.find((event) => event.kind === 'exponential')!;
    // Four choices, two for each interval, share two thirds of rho.
    const epsilon = Math.sqrt((8 * 2 / 3 * facts.target.rho) / 4);
    expect(choice.epsilon).toBeCloseTo(epsilon, 9);
    // The quartile of 40 is in the upper cell; the lower one is five contributors short.
    const counts = Float64Array.of(5, 35);
    const missing = [5, 0];
    const mechanisms = createMechanisms(
      [{ ...choice, candidates: 2, times: draws }], seededNoise('quantile'),
    );
    const scores = Sensitive.of(rankScores(counts, 0.25));
    const drawn =
      Array.from({ length: draws }, () => mechanisms.exponential('choice', scores).value);
    const mass = (factor: number) =>
      massOf(0, 1, (cell) => Math.exp((-epsilon * factor * missing[cell]!) / 2));
    expectScale((factor) => distanceToMass(drawn, mass(factor)), distanceLimit(draws));
  });
});
