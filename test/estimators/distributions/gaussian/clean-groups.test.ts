// @module-tag long
import { describe, expect, it } from 'vitest';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

describe('gaussian from robust groups', () => {
  const cohort = 20_000;
  const answer = (local: string, unit: number, seed: string) => {
    const data = dataSource(seed);
    const rows = Array.from({ length: cohort }, () => Float64Array.of(unit * data.normal()));
    const plan = planOf('gaussian', { local, cohorts: 'split' }, factsOf(1, cohort, 8));
    return releaseOf(plan, 1, rows, seed);
  };

  it('cuts no group of clean normal rows, so that its interval holds their variance', async () => {
    for (const seed of ['one', 'two']) {
      const outcome = await answer('robust', 1, seed);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      expect(outcome.estimate[1]).toBeGreaterThan(0.93);
      expect(outcome.interval95!.low[1]).toBeLessThan(1);
      expect(outcome.interval95!.high[1]).toBeGreaterThan(1);
    }
  });

  it('is right or refuses where the variance is beyond the bounds', async () => {
    for (const local of ['robust', 'empirical']) {
      for (const unit of [1e9, 1e-12]) {
        const outcome = await answer(local, unit, 'unit');
        if (outcome.kind === 'refused') {
          expect(outcome).toMatchObject({ reason: 'rows-too-wide' });
          continue;
        }
        expect(outcome.interval95!.low[1]! / unit ** 2).toBeLessThan(1);
        expect(outcome.interval95!.high[1]! / unit ** 2).toBeGreaterThan(1);
      }
    }
  });
});
