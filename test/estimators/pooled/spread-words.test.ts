import { expect, it } from 'vitest';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

/** Each twice as far from zero as the one before, so that no two pairs have one distance. */
const apart = (count: number): readonly number[][] =>
  Array.from({ length: count }, (_, i) => [2 ** (i % 64 - 32) * (i % 2 === 0 ? 1 : -1)]);

it('says the same whether nobody came or their spread is not found', async () => {
  const plan = planOf('robust-mean', {}, factsOf(1, 4_000));
  const [nobody, few, many] = await Promise.all([[], apart(20), apart(64)].map((rows) =>
    releaseOf(plan, 1, rows, 'who came')));
  expect(nobody).toMatchObject({ kind: 'refused', reason: 'spread-not-found' });
  expect(nobody).toHaveProperty('text', expect.stringContaining('too few contributors came, or'));
  expect(few).toEqual(nobody);
  expect(many).toEqual(nobody);
});

it('has no answer of all the people of a cohort in other words than of nobody', async () => {
  const people = 4_000;
  const plan = planOf('robust-mean', {}, factsOf(1, people));
  // No two pairs are a similar distance apart: distances are spread over all sizes of numbers.
  const rows = Array.from({ length: people }, (_, i) =>
    [(i % 2 === 0 ? 1 : -1) * 2 ** (64 - (128 * i) / people)]);
  const [nobody, everybody] = await Promise.all([[], rows].map((each) =>
    releaseOf(plan, 1, each, 'all of them')));
  expect(nobody!.kind).toBe('refused');
  expect(everybody).toEqual(nobody);
});

it.each(['mean', 'robust-mean', 'covariance'])(
  'names what lets a plan of %s for two people be made', (name) => {
    const estimator = findEstimator(name);
    const planned = (cohort: number, raw: object) => {
      const facts = factsOf(1, cohort);
      return estimator.plan(parseParameters(estimator.parameters, { ...raw }, facts), facts);
    };
    const refused = planned(2, {});
    if (refused.kind !== 'infeasible') throw new Error('there is a plan for two people');
    const [, alone, withSpread] =
      /^a cohort of (\d+), .* or spread and a cohort of (\d+)$/.exec(refused.remedy) ?? [];
    expect([planned(Number(alone), {}).kind, planned(Number(withSpread), { spread: 1 }).kind])
      .toEqual([refused.remedy, 'plan'].map(() => 'plan'));
  });
