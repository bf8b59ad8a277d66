import { describe, expect, it } from 'vitest';
import { makeRows } from '../../../../bench/accuracy/data.js';
import type { Infeasible, Plan } from '../../../../src/estimators/contract/estimator.js';
import { planHeavyReference } from '../../../../src/estimators/mean/prime-heavy/reference.js';
import { primeHeavy } from '../../../../src/estimators/mean/prime-heavy/prime-heavy.js';
import {
  markedSurvivors, type Removal, type SurvivorsForm,
} from '../../../../src/estimators/mean/filters/survivors.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { amountToNumber } from '../../../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../../../src/privacy/accounting/composition.js';
import { listOf } from '../../../support/data.js';
import { noting, replayedSurvivors } from '../../../support/noted-removals.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { searchedFaults } from '../../../support/sensitivity-check.js';

const raw = { spread: 1, variant: 'reference' } as const;

function planned(
  dimension: number, cohort: number, epsilon: number, extra: object, form?: SurvivorsForm,
): Plan | Infeasible {
  const parameters = parseParameters(primeHeavy.parameters, { ...raw, ...extra }, { dimension });
  return planHeavyReference(parameters, factsOf(dimension, cohort, epsilon), form);
}

describe('prime-heavy as printed', () => {
  it.each([[1, 0.1], [2, 0.1], [4, 0.05]])(
    'releases the same bits from the removals so far as from the rows that are left: %i columns',
    async (dimension, corruption) => {
      const cohort = 6_000;
      const { values } = makeRows(
        'far', { rows: 'student', dimension, contributors: cohort, corruption, seed: 'forms' },
      );
      const rows = listOf(values, dimension);
      const [central, interactive]: [Removal[], Removal[]] = [[], []];
      const [left, right] = ([
        [markedSurvivors, central], [replayedSurvivors, interactive],
      ] as const).map(([form, removals]) =>
        planned(dimension, cohort, 40, { corruption, rounds: 4 }, noting(form, removals)) as Plan);
      const kinds = new Set<string>();
      for (const seed of ['a', 'b', 'c']) {
        const first = await releaseOf(left!, dimension, rows, seed);
        // A random threshold near 0 takes nearly all rows, and the size that is asked for next says
        // so.
        kinds.add(first.kind);
        if (first.kind === 'refused') {
          expect(first.text).toContain('three quarters of what 6000 contributors');
        }
        expect(await releaseOf(right!, dimension, rows, seed)).toEqual(first);
      }
      expect(kinds).toContain('value');
      if (dimension === 2) expect(kinds).toContain('refused');
      expect(interactive).toEqual(central);
      expect(central.length).toBeGreaterThan(0);
      expect(central.every(({ shareMax }) => shareMax === null)).toBe(true);
    });

  it('asks queries that neighbours change by no more than was charged, each in one '
    + 'cohort', { tags: ['long'] }, async () => {
    const dimension = 2;
    const facts = factsOf(dimension, 1_500, 100);
    const parameters =
      parseParameters(primeHeavy.parameters, { ...raw, subsamples: 3, corruption: 0.2 },
        { dimension });
    const { faults, pairs } =
      await searchedFaults(planHeavyReference(parameters, facts), facts, parameters, ['one']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(3);
  });

  it('charges a contributor for its own group or for the rows, and nothing twice', () => {
    const plan = planOf('prime-heavy', { ...raw, subsamples: 5 }, factsOf(4, 200_000, 1));
    expect(plan.arms.map(({ name }) => name))
      .toEqual(['centre-1', 'centre-2', 'centre-3', 'centre-4', 'centre-5', 'rows']);
    const costs = plan.arms.map(({ name }) =>
      costOfEvents(plan.events.filter(({ cohort }) => cohort === name), { disjoint: [] }));
    const rho = amountToNumber(plan.cost.rho);
    for (const cost of costs) {
      expect(amountToNumber(cost.rho)).toBeLessThanOrEqual(rho);
      expect(amountToNumber(cost.rho)).toBeGreaterThan(0.99 * rho);
    }
    // Rows pay no delta, their queries are Gaussian and Laplace.
    expect(amountToNumber(costs.at(-1)!.delta)).toBe(0);
  });

  it('says so where its noise hides everything, and with how many it would not', () => {
    for (const [dimension, cohort, epsilon] of [
      [1, 100, 1], [2, 5_000, 1], [10, 20_000, 1], [5, 2_500, 20],
    ] as const) {
      const refused = planned(dimension, cohort, epsilon, {});
      if (refused.kind === 'plan') throw new Error('there is a plan');
      expect(refused.remedy).toContain(`a cohort of ${refused.cohortNeeded}`);
      for (const times of [1, 1.5, 3]) {
        expect(planned(dimension, Math.ceil(refused.cohortNeeded! * times), epsilon, {}).kind)
          .toBe('plan');
      }
    }
  });

  it('sees far rows among heavy tails, as far as its plan says', async () => {
    const [dimension, contributors, corruption] = [5, 20_000, 0.05];
    const { values, truth } =
      makeRows('far', { rows: 'student', dimension, contributors, corruption, seed: 'accuracy' });
    const plan =
      planOf('prime-heavy', { ...raw, corruption }, factsOf(dimension, contributors, 20));
    const outcome = await releaseOf(plan, dimension, listOf(values, dimension), 'paper');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    // Left alone, they would move the mean by .05 times half a side, 13.4, in each column: 1.5.
    expect(Math.hypot(...outcome.estimate.map((entry, j) => entry - truth[j]!))).toBeLessThan(0.1);
    expect(plan.expectedError(corruption).total).toBeLessThan(1);
    expect(plan.expectedError(0.06).total).toBe(Infinity);
  });
});
