// @module-tag long
import { describe, expect, it } from 'vitest';
import { gaussian } from '../../../../src/estimators/distributions/gaussian/gaussian.js';
import {
  areNormal, sumsBeyond,
} from '../../../../src/estimators/distributions/gaussian/normality.js';
import { normalOfRows } from '../../../../src/robust/normal-of-rows.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf } from '../../../support/offline.js';

const [groups, rowsPerGroup, corruption] = [400, 24, 0.02];

/** The released sums of groups, without their noise. */
function sumsOf(seed: string, second: (data: DataSource) => number): Float64Array {
  const data = dataSource(seed);
  const estimates = Array.from({ length: groups }, () => normalOfRows({
    count: rowsPerGroup, dimension: 2,
    values: Float64Array.from({ length: 2 * rowsPerGroup }, (_, at) =>
      (at % 2 === 0 ? data.normal() : second(data))),
  })!);
  return sumsBeyond(estimates, 2);
}

describe('the check that groups of rows are normal', () => {
  const plan = planOf(gaussian.name, { local: 'robust' }, factsOf(2, 24_000, 2));
  const event = plan.events.find(({ name }) => name === 'beyond')!;
  const planned = Number(plan.facts['groups']);
  const sigma = 'sigma' in event ? (event.sigma * groups) / planned : NaN;
  const looksNormal = (sums: Float64Array, deviations: number): boolean =>
    areNormal(sums.map((sum) => sum + deviations * sigma), {
      sigma, groups, rowsPerGroup, corruption,
    });

  it('leaves room for five deviations of noise where rows are normal', () => {
    const sums = sumsOf('normal', (data) => data.normal());
    for (const deviations of [-5, 0, 5]) expect(looksNormal(sums, deviations)).toBe(true);
  });

  it.each([
    ['a coin', (data: DataSource) => data.below(2)],
    ['five answers', (data: DataSource) => data.below(5)],
    ['uniform rows', (data: DataSource) => data.uniform()],
  ])('tells %s beside a normal column from it, at epsilon 2 with 24,000 people', (_, law) => {
    const sums = sumsOf('law', law);
    for (const deviations of [-2, 0, 2]) expect(looksNormal(sums, deviations)).toBe(false);
  });
});
