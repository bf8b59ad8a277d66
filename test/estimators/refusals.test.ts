import { describe, expect, it } from 'vitest';
import type { Infeasible } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { resolvePureTarget } from '../../src/privacy/accounting/target.js';
import { dataSource } from '../support/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';

type Raw = Readonly<Record<string, unknown>>;

/**
 * Estimators in each of their forms. Those without a spread find it, which takes contributors too.
 */
const forms: readonly (readonly [name: string, raw: Raw, cohort: number])[] = [
  ['heavy-tailed', { spread: 1 }, 20_000],
  ['heavy-tailed', { spread: 1, arms: 'one' }, 20_000],
  ['heavy-tailed', { spread: 1, centre: 'subsample-means', subsamples: 1 }, 100_000],
  ['heavy-tailed', { spread: 1, variant: 'candidates', radius: 100 }, 20_000],
  ['populous-mean', { spread: 1, subsamples: 600 }, 50_000],
  ['populous-mean', { spread: 1, local: 'mean', corruption: 0 }, 50_000],
  ['subspace', { unit: 1 }, 20_000],
  ['subspace', { unit: 1, form: 'affine' }, 20_000],
  ['covariance', { 'variance-low': 0.1, 'variance-high': 10 }, 20_000],
  ['subsample-covariance', {}, 20_000],
  ['subsample-covariance', { local: 'robust' }, 40_000],
  ['subsample-covariance', { mask: 'wishart' }, 60_000],
  ['gaussian', { 'variance-low': 0.1, 'variance-high': 10 }, 20_000],
  ['gaussian', { 'variance-low': 0.1, 'variance-high': 10, arms: 'split' }, 40_000],
  ['gaussian', { 'variance-low': 0.1, 'variance-high': 10, local: 'robust' }, 60_000],
  ['gaussian', { 'variance-low': 0.1, 'variance-high': 10, subspace: 'affine' }, 40_000],
  ['mean', {}, 20_000],
  ['robust-mean', {}, 20_000],
  ['prime', {}, 20_000],
  ['prime', { variant: 'reference', corruption: 0.2 }, 60_000],
  ['prime', { variant: 'reference', corruption: 0.2, directions: 'one' }, 60_000],
  ['prime-heavy', { spread: 1 }, 20_000],
  ['stable-mean', {}, 20_000],
  ['stable-mean', { variant: 'reference' }, 20_000],
  ['stable-covariance', {}, 40_000],
  ['stable-moments', {}, 40_000],
  ['resilience', {}, 20_000],
  ['tukey-median', {}, 20_000],
];
const dimension = 2;

function infeasible(name: string, raw: Raw, facts: ReturnType<typeof factsOf>): Infeasible {
  const estimator = findEstimator(name);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
  if (plan.kind === 'plan') throw new Error(`${name} has a plan`);
  return plan;
}

function pureFacts(cohort: number): ReturnType<typeof factsOf> {
  return { ...factsOf(dimension, cohort, 1), target: resolvePureTarget({ epsilon: 1, delta: 0 }) };
}

/** Something to do about it, in words that stand in every remedy. */
const remedies =
  /a cohort of \d+|epsilon|corruption|radius|columns|delta|bounds|spread|arms: split/;
const advice = /plan for|wait|raise|lower|change|give|larger|smaller/;

describe('what would have been needed', () => {
  it.each(forms)('is named by the infeasible plans of %s %o', (name, raw) => {
    const { reason, remedy, cohortNeeded } = infeasible(name, raw, factsOf(dimension, 60, 1));
    expect(reason).toMatch(/60|delta/);
    expect(remedy).toMatch(remedies);
    if (cohortNeeded !== undefined) {
      expect(cohortNeeded).toBeGreaterThan(60);
      expect(remedy).toContain(`a cohort of ${cohortNeeded}`);
      expect(planOf(name, raw, factsOf(dimension, cohortNeeded, 1)).kind).toBe('plan');
    }
  });

  it.each(forms)('is named by the refusals of %s %o, which say the same whatever the rows '
    + 'were', async (name, raw, cohort) => {
    const plan = planOf(name, raw, factsOf(dimension, cohort, 2));
    const data = dataSource('refused');
    const sets = [
      [], [[1, 2]], Array.from({ length: 30 }, () => data.normals(dimension)),
      // Everybody somewhere else, each far from all others.
      Array.from({ length: 400 }, (_, i) => [1e9 * i ** 3, -1e7 * 3 ** (i % 300)]),
    ];
    const texts = new Map<string, Set<string>>();
    for (const [i, rows] of sets.entries()) {
      const outcome = await releaseOf(plan, dimension, rows, `${name} ${i}`);
      if (outcome.kind === 'value') continue;
      expect(outcome.text).toMatch(advice);
      expect(outcome.text).toContain(String(cohort));
      // Which columns have no place is released, and is all that may differ.
      const said = outcome.text.replace(/column [\d, ]+/, 'column ');
      texts.set(outcome.reason, (texts.get(outcome.reason) ?? new Set()).add(said));
    }
    expect(texts.size).toBeGreaterThan(0);
    for (const each of texts.values()) expect(each.size).toBe(1);
  });

  it('is named where privacy is pure, too', () => {
    const { reason, remedy, cohortNeeded } =
      infeasible('heavy-tailed', { spread: 1, radius: 10 }, pureFacts(60));
    expect(reason).toMatch(/60/);
    expect(cohortNeeded).toBeGreaterThan(60);
    expect(remedy).toContain(`a cohort of ${cohortNeeded}`);
    expect(planOf('heavy-tailed', { spread: 1, radius: 10 }, pureFacts(cohortNeeded!)).kind)
      .toBe('plan');
  });

  it('is delta where pure privacy is asked of what needs one, and a split where group means need '
    + 'it', () => {
    const pure = pureFacts(50_000);
    for (const name of ['heavy-tailed', 'populous-mean', 'subspace', 'gaussian']) {
      const raw = forms.find(([form]) => form === name)![1];
      expect(infeasible(name, raw, pure).remedy).toMatch(/delta/);
    }
    expect(
      infeasible(
        'heavy-tailed', { spread: 1, centre: 'subsample-means', arms: 'one' },
        factsOf(dimension, 50_000, 1),
      ).remedy,
    )
      .toMatch(/arms: split/);
  });
});
