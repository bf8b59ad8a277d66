import { describe, expect, it } from 'vitest';
import { randomOf } from '../../../bench/accuracy/data.js';
import { likelyShare, reachOf } from '../../../src/estimators/pooled/expected-error.js';

describe('the length of a bias and noise together', () => {
  it.each([
    [1, 0.26, 0.1], [2, 0.26, 0.1], [10, 0.26, 0.003], [10, 0.26, 0.1], [10, 0, 1], [50, 1, 0.1],
  ])('is within reach 95 times in 100: %i columns, %f and %f', (dimension, bias, deviation) => {
    const { normal } = randomOf(`reach ${dimension}`);
    const reach = reachOf(bias, deviation, dimension);
    const tries = 4_000;
    let within = 0;
    for (let i = 0; i < tries; i++) {
      const noise = Array.from({ length: dimension }, () => deviation * normal());
      noise[0]! += bias;
      if (Math.hypot(...noise) <= reach) within += 1;
    }
    expect(within / tries).toBeGreaterThan(0.945);
    // Less than to add the two up.
    expect(reach).toBeLessThan(
      bias + deviation * Math.max(2, Math.sqrt(dimension) + 2.5),
    );
  });
});

describe('the share of rows that may be hostile', () => {
  it('is the stated one, with chance that falls with the number of rows', () => {
    expect(likelyShare(0.05, 1e3)).toBeCloseTo(0.0638, 4);
    expect(likelyShare(0.05, 1e8)).toBeCloseTo(0.05, 4);
    expect(likelyShare(0, 1e3)).toBe(0);
    expect(likelyShare(0.5, 10)).toBe(0.5);
  });
});
