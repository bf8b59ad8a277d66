import { describe, expect, it } from 'vitest';
import { findEstimator } from '../../../src/estimators/registry.js';
import { contaminated, dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

const estimator = findEstimator('mean');

describe('mean', () => {
  it('is moved by coordinated outliers by about their share times the radius: it is the '
    + 'baseline', async () => {
    const plan = planOf('mean', { scale: 1 }, factsOf(2, 3_000));
    let squares = 0;
    for (let round = 0; round < 6; round++) {
      const rows = contaminated(dataSource(`mean ${round}`), 3_000, 2, 0.1, 40);
      const outcome = await releaseOf(plan, 2, rows, `mean ${round}`);
      if (outcome.kind === 'value') {
        squares += outcome.estimate.reduce((sum, value) => sum + value * value, 0);
      }
    }
    const measured = Math.sqrt(squares / 6);
    const { total, bias } = plan.expectedError(0.1);
    expect(bias).toBeCloseTo(0.1 * (1.35 * Math.SQRT2 + 3), 2);
    expect(measured / total).toBeGreaterThan(1 / 1.5);
    expect(measured / total).toBeLessThan(1.5);
    expect(plan.guarantee.corruptionMax).toBe(0);
  });

  it('keeps the interval that it states: 19 of 20 coordinates', async () => {
    const plan = planOf('mean', { scale: [1, 20] }, factsOf(2, 2_000));
    let covered = 0;
    for (let round = 0; round < 50; round++) {
      const data = dataSource(`interval ${round}`);
      const rows = Array.from({ length: 2_000 }, () =>
        Float64Array.of(5 + data.normal(), -3 + 20 * data.normal()));
      const outcome = await releaseOf(plan, 2, rows, `interval ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      [5, -3].forEach((truth, j) => {
        if (outcome.interval95!.low[j]! <= truth && truth <= outcome.interval95!.high[j]!) {
          covered += 1;
        }
      });
    }
    // Binomial(100, .95) is below 80 with probability under 1e-6 and at 100 with probability .006.
    expect(covered).toBeGreaterThan(80);
    expect(covered).toBeLessThan(100);
  });

  it('refuses a fifth of the cohort, and a spread far beyond the scale, each with its '
    + 'reason', async () => {
    const plan = planOf('mean', { scale: 1 }, factsOf(2, 8_000));
    const few = await releaseOf(plan, 2, contaminated(dataSource('few'), 1_600, 2, 0, 0), 'few');
    expect(few).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    const wide = contaminated(dataSource('wide'), 8_000, 2, 0, 0)
      .map((row) => row.map((entry, j) => (j === 1 ? 1e6 * entry : entry)));
    const outcome = await releaseOf(plan, 2, wide, 'wide');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'centre-not-found' });
    // An empty epoch looks the same as a scale that is too small, so the text gives both causes.
    expect(outcome.kind === 'refused' && outcome.text)
      .toMatch(/column 2 \(counted from 1\).*fewer contributors came.*raise scale/);
  });

  it('needs more contributors for more columns', () => {
    const needed = (dimension: number): number => {
      const plan = estimator.plan(
        { scale: new Array<number>(dimension).fill(1), corruption: 0.05, 'centre-share': 0.2 },
        factsOf(dimension, 10),
      );
      return plan.kind === 'infeasible' ? plan.cohortNeeded! : 0;
    };
    expect(needed(2)).toBeGreaterThan(100);
    expect(needed(50)).toBeGreaterThan(3 * needed(2));
  });
});
