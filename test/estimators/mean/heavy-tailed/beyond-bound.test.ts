// @module-tag long
import { describe, expect, it } from 'vitest';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const cohort = 20_000;
/** Every form, with the bound on the mean that it needs. */
const forms = [
  ['heavy-tailed', {}],
  ['heavy-tailed', { arms: 'one' }],
  ['heavy-tailed', { variant: 'groups' }],
  ['heavy-tailed', { variant: 'groups', radius: 1 }],
  ['heavy-tailed', { variant: 'candidates', radius: 1 }],
] as const;

async function answer(
  [name, raw]: typeof forms[number], of: (data: DataSource) => number,
): Promise<{ interval: readonly (number | undefined)[]; reasons: readonly string[] }> {
  const data = dataSource(`beyond ${name}`);
  const rows = Array.from({ length: cohort }, () => Float64Array.of(of(data)));
  const plan = planOf(name, { spread: 1, ...raw }, factsOf(1, cohort, 2));
  const outcome = await releaseOf(plan, 1, rows, `beyond ${name}`);
  if (outcome.kind === 'refused') return { interval: [-Infinity, Infinity], reasons: ['refused'] };
  const { low, high } = outcome.interval95!;
  return {
    interval: [low[0], high[0]], reasons: outcome.findings?.map(({ reason }) => reason) ?? [],
  };
}

describe('the bound of a heavy-tailed mean', () => {
  it('is held by rows of any law that has the moment, without a finding', async () => {
    for (const form of forms) {
      for (const of of [
        (data: DataSource) => data.normal(),
        // Pareto of index 2.5, mean 0 and less than a deviation of 1.
        (data: DataSource) => 0.4 * ((1 - data.uniform()) ** -0.4 - 5 / 3),
      ]) {
        const { interval, reasons } = await answer(form, of);
        expect(reasons).toEqual([]);
        expect(interval[0]).toBeLessThan(0);
        expect(interval[1]).toBeGreaterThan(0);
      }
    }
  });

  it('is said to be broken by rows that are wider, and the interval is open', async () => {
    for (const form of forms) {
      const { interval, reasons } = await answer(form, (data) => 50 * data.normal());
      expect(interval).toEqual([-Infinity, Infinity]);
      expect(['values-clipped', 'refused']).toContain(reasons[0]);
    }
  });

  it('is said to be broken by a mean beyond the public radius', async () => {
    for (const form of forms.slice(3)) {
      for (const of of [(data: DataSource) => 8 + data.normal(), () => 3e6]) {
        const { interval, reasons } = await answer(form, of);
        expect(interval).toEqual([-Infinity, Infinity]);
        expect(['values-clipped', 'refused']).toContain(reasons[0]);
      }
    }
  });
});
