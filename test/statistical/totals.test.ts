// @module-tag slow
import { describe, expect, it } from 'vitest';
import { findEstimator } from '../../src/estimators/registry.js';
import { resolvePureTarget } from '../../src/privacy/accounting/target.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';

/** Share of intervals that hold, and the noise over what is stated; seeds are fixed. */
interface Seen {
  readonly covered: number;
  readonly spread: number;
}

const columns = 64;
const rounds = 200;
const row = Float64Array.from({ length: columns }, (_, j) => j / columns);

/** Every column is a draw: 12,800 in all, of which the spread is known to about .6 %. */
async function seenOf(plan: Plan, deviation: number): Promise<Seen> {
  let [covered, squares] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const rows = Array.from({ length: 3 }, () => row);
    const outcome = await releaseOf(plan, columns, rows, `totals ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const { estimate, interval95 } = outcome;
    row.forEach((value, j) => {
      const total = 3 * value;
      if (interval95!.low[j]! <= total && total <= interval95!.high[j]!) covered += 1;
      squares += ((estimate[j]! - total) / deviation) ** 2;
    });
  }
  const draws = rounds * columns;
  return { covered: covered / draws, spread: Math.sqrt(squares / draws) };
}

describe('totals over many releases', () => {
  it('have the noise that the plan states, and intervals that cover 95 %', async () => {
    const plan = planOf('sum', { cap: 1 }, factsOf(columns, 50));
    const { covered, spread } = await seenOf(plan, plan.noise[0]!);
    expect(Math.abs(spread - 1)).toBeLessThan(0.02);
    expect(Math.abs(covered - 0.95)).toBeLessThan(0.01);
  });

  it('have the same under pure epsilon', async () => {
    const estimator = findEstimator('sum');
    const target = resolvePureTarget({ epsilon: 2, delta: 0 });
    const parsed = parseParameters(estimator.parameters, { cap: 1 }, { dimension: columns });
    const plan = estimator.plan(parsed, { ...factsOf(columns, 50), target });
    if (plan.kind === 'infeasible') throw new Error(plan.reason);
    const { covered, spread } = await seenOf(plan, plan.facts['noiseInBounds'] as number);
    expect(Math.abs(spread - 1)).toBeLessThan(0.02);
    expect(Math.abs(covered - 0.95)).toBeLessThan(0.01);
  });

  it('have them for a found cap that nobody is above', async () => {
    const raw = { cap: 'auto', 'cap-max': 1 };
    const plan = planOf('sum', raw, factsOf(1, 500, 4));
    const values = Array.from({ length: 500 }, (_, i) => Float64Array.of(i % 50 < 9 ? 0.1 : 1));
    const total = values.reduce((sum, [value = 0]) => sum + value, 0);
    let [covered, squares] = [0, 0];
    const draws = 3_000;
    for (let round = 0; round < draws; round++) {
      const outcome = await releaseOf(plan, 1, values, `found ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { estimate: [estimate = NaN], interval95, spread: [cap = NaN] = [] } = outcome;
      expect(cap).toBe(1);
      if (interval95!.low[0]! <= total && total <= interval95!.high[0]!) covered += 1;
      squares += ((estimate - total) / cap / (plan.facts['noiseInBounds'] as number)) ** 2;
    }
    expect(Math.abs(Math.sqrt(squares / draws) - 1)).toBeLessThan(0.02);
    expect(Math.abs(covered / draws - 0.95)).toBeLessThan(0.01);
  });
});

describe('distribution over many releases', () => {
  it('has the noise that it states of all contributors, and a band that holds 95 %', async () => {
    const plan = planOf('distribution', { range: '0..16', cells: 15 }, factsOf(1, 60, 8));
    const values = Array.from({ length: 60 }, (_, i) => Float64Array.of(i % 16));
    const edges = Array.from({ length: 16 }, (_, i) => (16 * i) / 15);
    const below = (edge: number): number =>
      values.filter(([value = NaN]) => value < edge).length;
    const truth = [...edges.map(below), 60];
    const releases = 4_000;
    let [bands, squares] = [0, 0];
    for (let round = 0; round < releases; round++) {
      const outcome = await releaseOf(plan, 1, values, `distribution ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { estimate, interval95 } = outcome;
      if (truth.every((value, i) => interval95!.low[i + 5]! <= value
        && value <= interval95!.high[i + 5]!)) bands += 1;
      squares += ((estimate.at(-1)! - 60) / (plan.facts['noiseInContributors'] as number)) ** 2;
    }
    expect(bands / releases).toBeGreaterThanOrEqual(0.95);
    expect(Math.abs(Math.sqrt(squares / releases) - 1)).toBeLessThan(0.02);
  });

  it('states at 1,024 cells a noise of 2.98 over root rho', () => {
    const facts = factsOf(1, 10_000);
    const plan = planOf('distribution', { range: '0..1', cells: 1_022 }, facts);
    const noise = plan.facts['noiseInContributors'] as number;
    expect(Math.abs((noise * Math.sqrt(facts.target.rho)) / 2.98 - 1)).toBeLessThan(0.01);
  });
});
