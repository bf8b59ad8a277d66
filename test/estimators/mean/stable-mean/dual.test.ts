import { describe, expect, it } from 'vitest';
import type { ValueOutcome } from '../../../../src/base/outcome.js';
import {
  ascend, semidefinitePart, startOfAscent,
} from '../../../../src/estimators/mean/stable-mean/dual-ascent.js';
import {
  stepRows, weightedMoments, weightSteps,
} from '../../../../src/estimators/mean/stable-mean/dual-rows.js';
import { stableMean } from '../../../../src/estimators/mean/stable-mean/stable-mean.js';
import { inlineCompute } from '../../../../src/estimators/contract/compute.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { clipBall } from '../../../../src/privacy/stages/clip.js';
import { makeRows } from '../../../../bench/accuracy/data.js';
import { dataSource, listOf } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

async function errorUnder(attack: string, corruption: number, bound = 1): Promise<number> {
  const shape = { dimension: 5, contributors: 40_000, corruption, seed: 3 };
  const { values, truth } = makeRows(attack, shape);
  const plan = planOf('stable-mean', { spread: 1, bound }, factsOf(5, 40_000, 2));
  const outcome = await releaseOf(plan, 5, listOf(values, 5), `dual ${attack}`);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return Math.hypot(...outcome.estimate.map((entry, j) => entry - truth[j]!));
}

describe('stable-mean by default', () => {
  it('stays near the truth under every kind of attack, and nearer than the clipped '
    + 'mean', { tags: ['long'] }, async () => {
    // The clipped mean is off by a twentieth of the radius 6, about .2 to .3, under each of these.
    expect(await errorUnder('none', 0)).toBeLessThan(0.025);
    expect(await errorUnder('ones', 0.05)).toBeLessThan(0.1);
    expect(await errorUnder('cluster', 0.05)).toBeLessThan(0.13);
    expect(await errorUnder('far', 0.1)).toBeLessThan(0.04);
  });

  it('does not stop where its steps have just swung back to far rows', async () => {
    for (const share of [0.03, 0.04, 0.05, 0.07]) {
      expect(await errorUnder('far', share)).toBeLessThan(0.05);
    }
  });

  it('bounds what hostile rows that stay may move', async () => {
    for (const attack of ['none', 'cluster', 'subtle']) {
      const shape = { dimension: 2, contributors: 20_000, corruption: 0.05, seed: 7 };
      const { values, truth } = makeRows(attack, shape);
      const facts = factsOf(2, 20_000, 2);
      const plan = planOf('stable-mean', { spread: 1, corruption: 0.05 }, facts);
      const outcome = await releaseOf(plan, 2, listOf(values, 2), `dual bound ${attack}`);
      const { estimate, interval95, intervalIfFalse95: ifFalse, radiusIfFalse95: radius } =
        outcome as ValueOutcome;
      const errors = estimate.map((entry, j) => entry - truth[j]!);
      expect(Math.hypot(...errors), attack).toBeLessThan(radius!);
      expect(radius).toBeLessThan(1);
      truth.forEach((mean, j) => {
        expect(ifFalse!.low[j], attack).toBeLessThan(Math.min(mean, interval95!.low[j]! - 0.1));
        expect(ifFalse!.high[j], attack)
          .toBeGreaterThan(Math.max(mean, interval95!.high[j]! + 0.1));
      });
    }
  });

  it('resists better with a bound below the rows’ own spread', async () => {
    expect(await errorUnder('cluster', 0.05, 0.8))
      .toBeLessThan(0.85 * await errorUnder('cluster', 0.05));
  });

  it('refuses a fifth of the cohort', async () => {
    const plan = planOf('stable-mean', { spread: 1 }, factsOf(2, 20_000));
    const data = dataSource('few');
    const rows = Array.from({ length: 4_000 }, () => Float64Array.of(data.normal(), data.normal()));
    expect(await releaseOf(plan, 2, rows, 'few'))
      .toMatchObject({ reason: 'participation-below-plan' });
  });

  it('says what would make a plan feasible', () => {
    const facts = factsOf(5, 50);
    const parameters = parseParameters(stableMean.parameters, { spread: 1 }, facts);
    const plan = stableMean.plan(parameters, facts);
    expect(plan).toMatchObject({ kind: 'infeasible' });
    const enough = plan.kind === 'infeasible' ? plan.cohortNeeded! : 0;
    expect(stableMean.plan(parameters, factsOf(5, enough)).kind).toBe('plan');
    expect(stableMean.plan(parameters, factsOf(5, enough - 1)).kind).toBe('infeasible');
  });

  it('charges for the worst that one row can do to every sum', () => {
    const plan = planOf('stable-mean', { spread: 1, radius: 6 }, factsOf(3, 10_000));
    const of = (name: string) =>
      plan.events.find((event) => event.name === name) as { sensitivity: number };
    const radius = plan.facts['clipRadiusInSpreads'] as number;
    for (const stage of ['near', 'mean']) {
      expect(of(`${stage}/sum`).sensitivity).toBe(2 * radius);
      for (let t = 1; t <= 6; t++) {
        expect(of(`${stage}/gradient-${t}`).sensitivity / (Math.SQRT2 * radius ** 2))
          .toBeCloseTo(1, 12);
        expect(of(`${stage}/gradient-${t}`).sensitivity)
          .toBeGreaterThanOrEqual(Math.SQRT2 * radius ** 2);
      }
      expect(of(`${stage}/weight`).sensitivity).toBe(1);
    }
    expect(of('present').sensitivity).toBe(1);
  });
});

describe('weighted rows', () => {
  const ball = clipBall(5, { products: true, rowsMax: weightSteps * 1_000 });
  const data = dataSource('weighted rows');
  const dimension = 3;
  const count = 400;
  const values = Float64Array.from({ length: count * dimension }, () => 3 * data.normal());
  const dual = Float64Array.of(0.2, 0.05, 0, 0.05, 0.1, 0, 0, 0, 0.02)
    .map((entry) => entry * ball.grid ** 2);
  const momentsOf = async (of: Float64Array) => {
    const size = of.length / dimension;
    const pool = { count: size, dimension, values: of, tags: new BigUint64Array(size) };
    const unit = new Float64Array(dimension).fill(1);
    const rows =
      await stepRows(inlineCompute(), pool, 1_000, ball, new Float64Array(dimension), unit);
    return weightedMoments(inlineCompute(), rows, dual);
  };

  it('differ between neighbours by the terms of one row, to the last bit, and within what is '
    + 'charged', async () => {
    const whole = await momentsOf(values);
    for (let round = 0; round < 50; round++) {
      const at = data.below(count) * dimension;
      const row = Float64Array.from({ length: dimension }, () => 40 * data.normal());
      const changed = values.slice();
      changed.set(row, at);
      const other = await momentsOf(changed);
      const before = await momentsOf(values.slice(at, at + dimension));
      const after = await momentsOf(row);
      const apart = (key: 'sums' | 'products') =>
        other[key].map((entry, i) => entry - whole[key][i]!);
      expect(apart('sums')).toEqual(after.sums.map((entry, i) => entry - before.sums[i]!));
      expect(apart('products'))
        .toEqual(after.products.map((entry, i) => entry - before.products[i]!));
      expect(Math.hypot(...apart('sums'))).toBeLessThanOrEqual(2 * weightSteps * ball.steps);
      expect(Math.hypot(...apart('products')))
        .toBeLessThanOrEqual(Math.SQRT2 * weightSteps * ball.steps ** 2);
    }
  });

  it('weigh what the formula says, rounded down, and null rows nothing', async () => {
    const row = Float64Array.of(1, 1, 1);
    // 1 - (.2 + .1 + .1 + .02) = .58, less what clipping to the grid and rounding take.
    expect((await momentsOf(row)).weight).toBe(Math.floor(0.58 * weightSteps));
    expect((await momentsOf(Float64Array.of(NaN, 0, 0))).weight).toBe(0);
    expect((await momentsOf(Float64Array.of(0, 0, 0))).weight).toBe(weightSteps);
  });
});

describe('the ascent', () => {
  it('finds the dual of a line: one direction too wide', () => {
    // Rows +-2 on one axis, bound 1: w = 1/4 is the largest weight allowed, so U = 3/16.
    let ascent = startOfAscent(1);
    for (let t = 0; t < 400; t++) {
      const weight = Math.max(0, 1 - 4 * ascent.ahead[0]!);
      ascent = ascend(ascent, Float64Array.of(4 * weight - 1));
    }
    expect(ascent.iterate[0]).toBeCloseTo(3 / 16, 3);
  });

  it('keeps the positive part of a matrix', () => {
    const part = semidefinitePart(Float64Array.of(0, 2, 2, 0), 2);
    for (const entry of part) expect(entry).toBeCloseTo(1, 12);
  });
});
