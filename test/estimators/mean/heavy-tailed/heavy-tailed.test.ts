import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../../src/base/brands.js';
import { openSensitive } from '../../../../src/base/wrappers.js';
import { InvalidParameterError } from '../../../../src/base/errors.js';
import {
  countedSum, releaseCountedSum, type Beyond, type Shape,
} from '../../../../src/estimators/mean/heavy-tails/counted-sum.js';
import {
  balancedRadius, truncationBias,
} from '../../../../src/estimators/mean/heavy-tails/truncation.js';
import { findEstimator } from '../../../../src/estimators/registry.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { amountToNumber } from '../../../../src/privacy/accounting/amount.js';
import type { Mechanisms } from '../../../../src/privacy/mechanisms/contract.js';
import { resolvePureTarget } from '../../../../src/privacy/accounting/target.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

/** What a counted sum would release without its noise. */
function exact(
  spec: ReturnType<typeof countedSum>, rows: readonly Float64Array[], beyond: Beyond,
): Float64Array {
  let seen: Sensitive<Float64Array> | null = null;
  const keep = (_: string, value: Sensitive<Float64Array>): never => {
    seen = value;
    throw new Error('seen');
  };
  const mechanisms = { gaussian: keep, laplace: keep } as unknown as Mechanisms;
  const values = Float64Array.from(rows.flatMap((row) => [...row]));
  const block = { count: rows.length, dimension: spec.dimension, values };
  const centre = new Float64Array(spec.dimension).fill(0.25);
  expect(() => releaseCountedSum(mechanisms, spec, Sensitive.of(block), centre, beyond))
    .toThrow('seen');
  return openSensitive(seen!);
}

const student = (data: DataSource): number =>
  data.normal() / Math.sqrt((data.normal() ** 2 + data.normal() ** 2 + data.normal() ** 2) / 3);

describe('counted sums', () => {
  const cases: readonly (readonly [Shape, 'rho' | 'epsilon', Beyond, number])[] = [
    ['ball', 'rho', 'clip', 3], ['ball', 'rho', 'drop', 3], ['cube', 'rho', 'clip', 3],
    ['cube', 'epsilon', 'clip', 3], ['cube', 'epsilon', 'clip', 1],
  ];
  it.each(cases)('%s, %s, %s: no neighbour moves the vector by more than its sensitivity, and some '
    + 'come close', (
    shape, cost, beyond, dimension,
  ) => {
    const spec = countedSum({
      name: 'sum', cohort: 'all', dimension, radius: 1.7, shape,
      cost: cost === 'rho' ? { rho: 0.1 } : { epsilon: 0.5 },
    });
    const data = dataSource(`counted ${shape} ${cost} ${beyond} ${dimension}`);
    const rows = Array.from({ length: 6 }, () => data.normals(dimension));
    const before = exact(spec, rows, beyond);
    let largest = 0;
    const hostile = (): Float64Array[] => {
      const corner = new Float64Array(dimension)
        .fill(0.25 + 1.7 / (shape === 'ball' ? Math.sqrt(dimension) * (1 + 1e-5) : 1));
      return [
        corner, corner.map((entry) => 0.5 - entry), new Float64Array(dimension).fill(NaN),
        data.normals(dimension),
      ];
    };
    const measure = (other: readonly Float64Array[], from: Float64Array): void => {
      const moved = exact(spec, other, beyond).map((entry, j) => entry - from[j]!);
      const size = cost === 'rho'
        ? Math.hypot(...moved) : moved.reduce((sum, entry) => sum + Math.abs(entry), 0);
      expect(size).toBeLessThanOrEqual(spec.event.sensitivity);
      largest = Math.max(largest, size / spec.event.sensitivity);
    };
    for (const row of hostile()) {
      const replaced = [row, ...rows.slice(1)];
      measure(replaced, before);
      measure([...rows, row], before);
      for (const again of hostile()) {
        measure([again, ...rows.slice(1)], exact(spec, replaced, beyond));
      }
      measure(rows.slice(1), exact(spec, replaced, beyond));
    }
    expect(largest).toBeGreaterThan(0.999);
  });
});

describe('truncation', () => {
  it('is bounded by the moment, tightly for the worst two-point rows, for several orders', () => {
    for (const order of [2, 3, 5]) {
      const moment = { order, bound: 2 };
      const radius = 9;
      // All mass that is out stands at k R / (k - 1), as much of it as the moment allows.
      const place = (order * radius) / (order - 1);
      const moved = (2 / place) ** order * (place - radius);
      expect(moved / truncationBias(moment, 1, 0, radius)).toBeCloseTo(1, 9);
      const best = balancedRadius(moment, 1, 0, 1e-6);
      const error = (at: number): number =>
        (1e-6 * at) ** 2 + truncationBias(moment, 1, 0, at) ** 2;
      expect(error(best)).toBeLessThan(Math.min(error(best * 1.02), error(best / 1.02)));
    }
  });
});

/** The planned errors for 1e3 to 1e6 people in steps of 5 %, where there is a plan. */
function errorsByPeople(raw: Readonly<Record<string, unknown>>, isPure: boolean): number[] {
  const estimator = findEstimator('heavy-tailed');
  const values = parseParameters(estimator.parameters, raw, { dimension: 1 });
  const target = isPure ? { target: resolvePureTarget({ epsilon: 1, delta: 0 }) } : {};
  return Array.from({ length: 142 }, (__, step) => Math.round(1e3 * 1.05 ** step))
    .flatMap((cohort) => {
      const plan = estimator.plan(values, { ...factsOf(1, cohort, 1), ...target });
      return plan.kind === 'infeasible' ? [] : plan.expectedError(0).total;
    });
}

describe('heavy-tailed from groups', () => {
  it('is near the mean with pure privacy, without being off to one side, and costs epsilon '
    + '1', async () => {
    const facts = { ...factsOf(1, 2_000), target: resolvePureTarget({ epsilon: 1, delta: 0 }) };
    const raw = { variant: 'groups', radius: 1e4, spread: Math.sqrt(3), subsamples: 1 };
    const plan = planOf('heavy-tailed', raw, facts);
    expect(amountToNumber(plan.cost.epsilon!)).toBeLessThanOrEqual(1 + 1e-12);
    expect(amountToNumber(plan.cost.epsilon!)).toBeGreaterThan(0.999);
    const errors: number[] = [];
    for (let run = 0; run < 40; run++) {
      const data = dataSource(`pure ${run}`);
      const rows = Array.from({ length: 2_000 }, () => [5_000 + student(data)]);
      const outcome = await releaseOf(plan, 1, rows, `pure ${run}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      errors.push(outcome.estimate[0]! - 5_000);
    }
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const root = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
    expect(Math.abs(mean)).toBeLessThan((4 * root) / Math.sqrt(errors.length));
    expect(root).toBeLessThan(1.5 * Math.sqrt(3) * plan.expectedError(0).total);
    expect(root).toBeGreaterThan((Math.sqrt(3) * plan.expectedError(0).total) / 2.5);
  });

  it.each(['zcdp', 'approx'])(
    '%s: costs no more in groups of their own, half as noisy parts with one cohort', (privacy) => {
      const bound = privacy === 'zcdp' ? { radius: 100 } : {};
      const raw = { variant: 'groups', ...bound, spread: 1, subsamples: 9 };
      const facts = factsOf(1, 40_000);
      for (const arms of ['split', 'one']) {
        const plan = planOf('heavy-tailed', { ...raw, arms }, facts);
        expect(plan.arms).toHaveLength(arms === 'split' ? 18 : 9);
        expect(amountToNumber(plan.cost.rho)).toBeLessThanOrEqual(facts.target.rho);
        expect(amountToNumber(plan.cost.rho)).toBeGreaterThan(0.99 * facts.target.rho);
        expect(plan.cost.delta === 0n).toBe(privacy === 'zcdp');
      }
    },
  );

  it.each([
    ['approx', {}, false], ['zcdp', { radius: 100 }, false], ['pure', { radius: 100 }, true],
  ] as const)('%s: errs less the more people there are, from 1e3 to 1e6', (_, bound, isPure) => {
    for (const form of [{ variant: 'groups' }, { variant: 'groups', arms: 'one' }, {}]) {
      const errors = errorsByPeople({ spread: 1, ...bound, ...form }, isPure);
      expect(errors.length).toBeGreaterThan(70);
      for (const [at, error] of errors.entries()) {
        expect(error, `${JSON.stringify(form)} at ${at}`).toBeLessThan(errors[at - 1] ?? Infinity);
      }
    }
  });

  it('asks for the public bound, an odd number of groups and enough contributors', () => {
    const estimator = findEstimator('heavy-tailed');
    const plan = (
      raw: Readonly<Record<string, unknown>>, cohort = 10_000, asked = {},
    ): ReturnType<typeof estimator.plan> =>
      estimator.plan(
        parseParameters(
          estimator.parameters, { spread: 1, variant: 'groups', ...raw }, { dimension: 1 },
        ), { ...factsOf(1, cohort), ...asked },
      );
    const pure = { target: resolvePureTarget({ epsilon: 1, delta: 0 }) };
    expect(plan({}, 10_000, pure)).toMatchObject({
      kind: 'infeasible', remedy: expect.stringMatching(/^give radius/) as string,
    });
    expect(() => plan({ subsamples: 4 })).toThrow(InvalidParameterError);
    expect(plan({ radius: 1e9 })).toMatchObject({
      kind: 'infeasible', remedy: expect.stringMatching(/smaller radius/) as string,
    });
    expect(plan({}, 100)).toMatchObject({
      kind: 'infeasible', remedy: expect.stringMatching(/a cohort of \d+/) as string,
    });
  });
});

describe('heavy-tailed', () => {
  it.each([
    // What errs least, by the errors of each form.
    ['clipped', {}, 20_000, false, 1], ['groups', { moment: 8, radius: 100 }, 1_000, false, 1],
    ['groups', { radius: 100 }, 20_000, true, 1],
    ['candidates', { radius: 100, subsamples: 9 }, 20_000, true, 1],
    ['candidates', { radius: 100 }, 200_000, true, 2], ['clipped', {}, 20_000, false, 5],
  ])('takes the form that errs least: %s with %o, %d people, pure %s, %d columns', (
    form, set, cohort, isPure, dimension,
  ) => {
    const facts = {
      ...factsOf(dimension, cohort, 1),
      ...(isPure && { target: resolvePureTarget({ epsilon: 1, delta: 0 }) }),
    };
    const chosen = planOf('heavy-tailed', { spread: 1, ...set }, facts);
    expect(chosen.facts['variant']).toBe(form);
    const estimator = findEstimator('heavy-tailed');
    for (const variant of ['clipped', 'groups', 'candidates']) {
      const raw = { spread: 1, ...set, variant };
      const alone = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
      if (alone.kind === 'infeasible') continue;
      expect(chosen.expectedError(0).total).toBeLessThanOrEqual(alone.expectedError(0).total);
    }
    if (!isPure) return;
    expect(amountToNumber(chosen.cost.epsilon!)).toBeLessThanOrEqual(1 + 1e-12);
    expect(chosen.cost.delta).toBe(0n);
  });

  const [dimension, cohort] = [5, 4_000];
  const rowsWith = (data: DataSource, hostile: number): Float64Array[] =>
    Array.from({ length: cohort }, (_, i) =>
      Float64Array.from({ length: dimension }, () =>
        7 + student(data) + (i < hostile * cohort ? 1e9 : 0)));

  it.each([
    { centre: 'median', beyond: 'clip' }, { centre: 'median', beyond: 'drop' },
    { centre: 'median', arms: 'one' },
      { centre: 'subsample-means', subsamples: 1, 'centre-part': 0.4 },
  ])('errs within 1.5 of its plan on t(3) rows, and within its bound with 5 %% far ones: '
    + '%o', async (parameters) => {
    const plan =
      planOf('heavy-tailed', { spread: Math.sqrt(3), ...parameters }, factsOf(dimension, cohort));
    for (const hostile of [0, 0.05]) {
      const said = Math.sqrt(3) * plan.expectedError(hostile).total;
      for (let round = 0; round < 3; round++) {
        const seed = `heavy ${hostile} ${round}`;
        const outcome = await releaseOf(plan, dimension, rowsWith(dataSource(seed), hostile), seed);
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        expect(Math.hypot(...outcome.estimate.map((entry) => entry - 7))).toBeLessThan(1.5 * said);
      }
    }
  });
});
