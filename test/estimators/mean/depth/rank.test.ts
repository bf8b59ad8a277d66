import { describe, expect, it } from 'vitest';
import { attacks, makeRows } from '../../../../bench/accuracy/data.js';
import { rankUnit } from '../../../../src/estimators/counts/tables/rank-scores.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../../src/estimators/registry.js';
import { passingValue } from '../../../../src/privacy/mechanisms/bounds.js';
import { resolvePureTarget } from '../../../../src/privacy/accounting/target.js';
import type { StudyFacts } from '../../../../src/estimators/contract/estimator.js';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const corruption = 0.05;
/** In three columns a release takes its time: those that differ most. */
const few = ['none', 'ones', 'far', 'two-clusters'];

function* rowsOf(values: Float64Array, dimension: number): Generator<Float64Array> {
  for (let at = 0; at < values.length; at += dimension) yield values.subarray(at, at + dimension);
}

describe.each(['resilience', 'tukey-median'])('%s', (name) => {
  it.each([1, 2, 3])('stays within twice what it promises under every attack, in %d '
    + 'columns', { tags: ['long'] }, async (dimension) => {
    const contributors = 4_000;
    const plan = planOf(name, { spread: 1, corruption }, factsOf(dimension, contributors));
    for (const attack of dimension === 3 ? few : Object.keys(attacks)) {
      const { values, truth } = makeRows(attack, { dimension, contributors, corruption, seed: 1 });
      const outcome =
        await releaseOf(plan, dimension, rowsOf(values, dimension), `${name} ${attack}`);
      if (outcome.kind !== 'value') throw new Error(`${attack}: ${outcome.text}`);
      const error = Math.hypot(...outcome.estimate.map((entry, j) => entry - truth[j]!));
      expect(error / plan.expectedError(attack === 'none' ? 0 : corruption).total).toBeLessThan(2);
    }
  });

  it('says that more than three columns are too many', () => {
    const estimator = findEstimator(name);
    const facts = factsOf(4, 100_000);
    expect(estimator.plan(parseParameters(estimator.parameters, { spread: 1 }, facts), facts))
      .toMatchObject({
        kind: 'infeasible', reason: expect.stringContaining('4 columns') as string,
      });
  });
});

describe('events', () => {
  it('are calibrated to what the proofs say one contributor changes', () => {
    const [contributors, width] = [4_000, 2 * (1.0364333894937896 + 0.5)];
    const events = planOf('resilience', { spread: 1, corruption }, factsOf(2, contributors)).events;
    expect(events.find(({ name }) => name === 'test')).toMatchObject({ sensitivity: 1, floor: 1 });
    expect(events.find(({ name }) => name === 'present')).toMatchObject({ sensitivity: 1 });
    const point = events.find(({ name }) => name === 'point');
    if (point?.kind !== 'gaussian') throw new Error('no point');
    // 600 are trimmed at each end; the fit of directions in the plane is the root of 2 times as
    // long at most.
    const exact = (Math.SQRT2 * width) / (contributors - 1_200);
    expect(point.sensitivity / exact).toBeGreaterThan(0.9999);
    expect(point.sensitivity / exact).toBeLessThan(1.001);
    for (const radius of [{}, { radius: 9 }]) {
      const chosen =
        planOf('tukey-median', { spread: 1, ...radius }, factsOf(2, contributors)).events;
      expect(chosen.find(({ name }) => name === 'choice')).toMatchObject({ sensitivity: 1 });
      expect(chosen.find(({ name }) => name === 'present')).toMatchObject({ sensitivity: 1 });
      const start = chosen.find(({ name }) => name === 'start');
      if ('radius' in radius) expect(start).toMatchObject({ sensitivity: rankUnit, times: 2 });
    }
  });
});

describe('resilience', () => {
  it('refuses rows wider than it was told', async () => {
    const data = dataSource('wide');
    const plan = planOf('resilience', { spread: 1 }, factsOf(2, 4_000));
    const rows = Array.from({ length: 4_000 }, () => data.normals(2).map((entry) => 1.6 * entry));
    expect(await releaseOf(plan, 2, rows, 'wide'))
      .toMatchObject({ kind: 'refused', reason: 'rows-too-wide' });
    const honest = rows.map((row) => row.map((entry) => entry / 1.6));
    expect(await releaseOf(plan, 2, honest, 'wide')).toMatchObject({ kind: 'value' });
  });

  it('tests at a distance that normal rows reach with the cohort that it asks for', () => {
    const estimator = findEstimator('resilience');
    const parameters = parseParameters(estimator.parameters, { spread: 1 }, { dimension: 2 });
    const hopeless = estimator.plan(parameters, factsOf(2, 60));
    if (hopeless.kind === 'plan') throw new Error('feasible');
    const plan = planOf('resilience', { spread: 1 }, factsOf(2, hopeless.cohortNeeded!));
    const test = plan.events.find(({ kind }) => kind === 'gaussian-threshold');
    if (test?.kind !== 'gaussian-threshold') throw new Error('no test');
    expect(passingValue(test)).toBeLessThan(0.13 * hopeless.cohortNeeded!);
  });
});

describe('tukey-median', () => {
  const facts: StudyFacts = {
    dimension: 2, cohort: 5_000, participation: 'secret',
    target: resolvePureTarget({ epsilon: 1, delta: 0 }),
  };

  it('is pure with a radius, and finds a middle far from the origin within it', async () => {
    const data = dataSource('pure');
    const plan = planOf('tukey-median', { spread: 2, radius: 1_000 }, facts);
    expect(plan.cost.delta).toBe(0n);
    expect(plan.events.map(({ kind }) => kind).sort())
      .toEqual(['exponential', 'exponential', 'laplace']);
    const rows = Array.from({ length: 5_000 }, () =>
      data.normals(2).map((entry, j) => 2 * entry + (j === 0 ? 900 : -700)));
    const outcome = await releaseOf(plan, 2, rows, 'pure');
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    const error = Math.hypot(outcome.estimate[0]! - 900, outcome.estimate[1]! + 700) / 2;
    expect(error).toBeLessThan(3 * plan.expectedError(0).total);
  });

  it('costs no delta with a radius, whatever the budget', () => {
    expect(planOf('tukey-median', { spread: 1, radius: 50 }, factsOf(2, 5_000)).cost.delta)
      .toBe(0n);
    expect(planOf('tukey-median', { spread: 1 }, factsOf(2, 5_000)).cost.delta).toBeGreaterThan(0n);
  });

  it('says what a pure budget needs', () => {
    const estimator = findEstimator('tukey-median');
    const parameters = parseParameters(estimator.parameters, { spread: 1 }, facts);
    expect(estimator.plan(parameters, facts))
      .toMatchObject({ kind: 'infeasible', remedy: expect.stringContaining('radius') as string });
    const wide = parseParameters(estimator.parameters, { spread: 1, radius: 1e9 }, facts);
    expect(estimator.plan(wide, facts))
      .toMatchObject({
        kind: 'infeasible', remedy: expect.stringContaining('smaller radius') as string,
      });
  });

  it('refuses a radius without a spread, however few contributors and whatever the budget', () => {
    const estimator = findEstimator('tukey-median');
    for (const each of [facts, factsOf(2, 10), factsOf(2, 50_000)]) {
      const parameters = parseParameters(estimator.parameters, { radius: 20 }, each);
      expect(() => estimator.plan(parameters, each)).toThrow(/give spread too/);
    }
  });

  it('answers exactly where rows coincide', async () => {
    const plan = planOf('tukey-median', { spread: 1 }, factsOf(2, 5_000));
    const outcome =
      await releaseOf(plan, 2, Array.from({ length: 5_000 }, () => [7.123, -3.5]), 'same');
    if (outcome.kind !== 'value' || outcome.uncertainty.kind !== 'grid') {
      throw new Error('no value');
    }
    const { spacing } = outcome.uncertainty;
    outcome.estimate.forEach((entry, j) => {
      expect(Math.abs(entry - [7.123, -3.5][j]!)).toBeLessThanOrEqual(spacing / 2 + 1e-9);
    });
  });
});
