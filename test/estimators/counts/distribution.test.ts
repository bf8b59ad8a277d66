import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/base/bytes.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import { factorStep } from '../../../src/base/root-factor.js';
import { cellEdges, neverFalling, quantilesOfRunning } from '../../../src/base/running-counts.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import {
  factored, rootFactor, runningDeviations, runningSums, squaredSensitivity,
} from '../../../src/estimators/counts/distribution/factor.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource, type DataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

async function answerOf(
  plan: Plan, values: readonly number[], seed: string,
): Promise<ValueOutcome> {
  const outcome = await releaseOf(plan, 1, values.map((value) => Float64Array.of(value)), seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

async function givenTo(plan: Plan, values: readonly number[]): Promise<Float64Array> {
  const data = dataSource('tickets');
  const groups = createGroups(plan, 1);
  for (const value of values) groups.add(data.assignmentHash(), Float64Array.of(value));
  const { mechanisms, recorded } = recordingMechanisms(plan.events);
  await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
  return recorded[0]!.content as Float64Array;
}

/** Values that are below each edge, and how many there are. */
const runningOf = (values: readonly number[], edges: readonly number[]): number[] =>
  [...edges.map((edge) => values.filter((value) => value < edge).length), values.length];

describe('the square root of running sums', () => {
  it.each([2, 3, 7, 20])('of %d cells has the sensitivity of all pairs, exactly', (cells) => {
    const { column, sensitivity } = rootFactor(cells);
    const moved = (i: number, j: number): number => {
      const entry = (from: number, row: number): number => (row < from ? 0 : column[row - from]!);
      let sum = 0;
      for (let row = 0; row < cells; row++) {
        sum += (entry(i, row) - (j < cells ? entry(j, row) : 0)) ** 2;
      }
      return sum;
    };
    let most = 0;
    for (let i = 0; i < cells; i++) {
      for (let j = i + 1; j <= cells; j++) most = Math.max(most, moved(i, j));
    }
    expect(column.every(Number.isSafeInteger)).toBe(true);
    expect(squaredSensitivity(column)).toBe(most);
    expect((sensitivity / factorStep) ** 2).toBeGreaterThanOrEqual(most);
    expect((sensitivity / factorStep) ** 2).toBeLessThan(most * (1 + 1e-12));
  });

  it.each([[64, 2.09], [1_024, 2.98], [4_096, 3.42]])('of %d cells has at most %d deviations of '
    + 'noise over root rho', (cells, wanted) => {
    const factor = rootFactor(cells);
    const most = Math.max(...runningDeviations(factor).below);
    expect((factor.sensitivity / Math.SQRT2) * most / wanted).toBeCloseTo(1, 2);
  });

  it('gives back the running sums, and the deviations that it states', () => {
    const factor = rootFactor(12);
    const data = dataSource('running');
    const counts = Float64Array.from({ length: 12 }, () => data.below(1_000));
    let sum = 0;
    runningSums(factor, factored(factor, counts)).forEach((value, i) => {
      sum += counts[i]!;
      expect(value).toBeCloseTo(sum, 8);
    });
    const { below, above } = runningDeviations(factor);
    const unit = (k: number): Float64Array => Float64Array.from(counts, (_, i) => Number(i === k));
    const moves = Array.from({ length: 12 }, (_, k) => runningSums(factor, unit(k)));
    for (let i = 0; i < 12; i++) {
      expect(Math.hypot(...moves.map((move) => move[i]!))).toBeCloseTo(below[i]!, 9);
      expect(Math.hypot(...moves.map((move) => move[11]! - move[i]!))).toBeCloseTo(above[i]!, 9);
    }
  });
});

describe('quantiles of running counts', () => {
  it('are where the nearest rising list crosses, and at the outermost edge beyond', () => {
    expect(neverFalling([1, 3, 2, 2, 5])).toEqual([1, 7 / 3, 7 / 3, 7 / 3, 5]);
    const edges = [0, 10, 20];
    expect(quantilesOfRunning([2, 4, 8, 10], edges, [0.1, 0.3, 0.6, 0.9])).toEqual([0, 5, 15, 20]);
    expect(quantilesOfRunning([0, 0, 10, 10], edges, [0.5])).toEqual([15]);
  });

  it('have edges as the parameters say', () => {
    expect(cellEdges({ range: [0, 1], cells: 4 })).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(cellEdges({ range: [0, 1, 4, 6], column: 1, cells: 2 })).toEqual([4, 5, 6]);
    expect(cellEdges({ edges: [3, 5], cells: 4 })).toEqual([3, 5]);
    expect(cellEdges({ range: [0], cells: 4 })).toBeNull();
  });
});

describe('distribution', () => {
  const skewed = (data: DataSource): number => Math.exp(data.normal());
  const range = { range: '0..20', cells: 40 };

  it('moves by at most the charged sensitivity between neighbours, and by all of it', async () => {
    const plan = planOf('distribution', { range: '0..4', cells: 4 }, factsOf(1, 400));
    const [event] = plan.events;
    const allowed = event!.kind === 'gaussian' ? event.sensitivity : NaN;
    const rest = [0.5, 1.5, 3];
    const places = [-1, 0, 1, 2, 3, 4, 9];
    const all = await Promise.all([[], ...places.map((place) => [place])].map((own) =>
      givenTo(plan, [...own, ...rest])));
    const distances = all.flatMap((left) => all.map((right) =>
      Math.hypot(...left.map((value, i) => value - right[i]!))));
    expect(Math.max(...distances)).toBeLessThanOrEqual(allowed);
    expect(Math.max(...distances)).toBeGreaterThan(0.999_999 * allowed);
    for (const given of all) {
      expect(given.every((value) => Number.isInteger(value / factorStep))).toBe(true);
    }
  });

  it('has bands and intervals that hold, and noise of the stated size', async () => {
    const plan = planOf('distribution', range, factsOf(1, 1_000, 1));
    const data = dataSource('bands');
    const values = Array.from({ length: 1_000 }, () => skewed(data));
    const sorted = [...values].sort((left, right) => left - right);
    const edges = cellEdges({ range: [0, 20], cells: 40 })!;
    const truth = runningOf(values, edges);
    const probabilities = [0.05, 0.25, 0.5, 0.75, 0.95];
    const exact = probabilities.map((p) => sorted[Math.ceil(p * 1_000) - 1]!);
    const rounds = 300;
    let [bands, intervals, squares] = [0, 0, 0];
    for (let round = 0; round < rounds; round++) {
      const { estimate, interval95 } = await answerOf(plan, values, `bands ${round}`);
      const holds = (value: number, i: number): boolean =>
        interval95!.low[i]! <= value && value <= interval95!.high[i]!;
      if (truth.every((value, i) => holds(value, i + 5))) bands += 1;
      if (exact.every(holds)) intervals += 1;
      squares += (estimate.at(-1)! - 1_000) ** 2 / rounds;
    }
    expect(bands).toBeGreaterThanOrEqual(0.95 * rounds);
    expect(intervals).toBeGreaterThanOrEqual(0.95 * rounds);
    // Of 300 squares of normal numbers the root mean is within a quarter but once in a million.
    const spread = Math.sqrt(squares) / (plan.facts['noiseInContributors'] as number);
    expect(spread).toBeGreaterThan(0.78);
    expect(spread).toBeLessThan(1.22);
  });

  it('answers whole numbers and one constant, and reports people beyond the edges', async () => {
    const plan = planOf('distribution', { edges: [-0.5, 0.5, 1.5, 2.5] }, factsOf(1, 2_000, 4));
    const whole = Array.from({ length: 2_000 }, (_, i) => i % 3);
    expect((await answerOf(plan, whole, 'whole')).findings).toBeUndefined();
    const { estimate, interval95 } = await answerOf(plan, whole.map(() => 1), 'constant');
    estimate.slice(0, 5).forEach((value, i) => {
      expect(value).toBeGreaterThanOrEqual(0.4);
      expect(value).toBeLessThanOrEqual(1.6);
      expect(interval95!.low[i]).toBeLessThanOrEqual(value);
    });
    const far = await answerOf(plan, whole.map((value) => (value === 0 ? 1e9 : value)), 'far');
    expect(far.findings).toMatchObject([{ reason: 'values-clipped', columns: [0] }]);
    expect(Math.abs(far.findings![0]!.amounts[0]! - 667)).toBeLessThan(30);
    expect(far.estimate[4]).toBe(2.5);
    expect(far.interval95!.high[4]).toBe(Infinity);
  });

  it('refuses few people, a pure budget, and edges that are none', async () => {
    const plan = planOf('distribution', range, factsOf(1, 2_000));
    expect(await releaseOf(plan, 1, [], 'nobody'))
      .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    const estimator = findEstimator('distribution');
    const parsed = parseParameters(estimator.parameters, range, { dimension: 1 });
    const target = resolvePureTarget({ epsilon: 1, delta: 0 });
    expect(estimator.plan(parsed, { ...factsOf(1, 2_000), target }))
      .toMatchObject({ kind: 'infeasible', reason: expect.stringContaining('pure') as string });
    const refusal = (raw: Record<string, unknown>) => () =>
      planOf('distribution', raw, factsOf(1, 2_000));
    expect(refusal({})).toThrow(/give range=low..high/);
    expect(refusal({ low: 0 })).toThrow(/low is now range/);
    expect(refusal({ range: '0..1', edges: [1, 2] })).toThrow(/give one of them/);
    expect(refusal({ edges: [1] })).toThrow(/at least 2/);
    expect(refusal({ range: '1..1' })).toThrow(/give low..high with low < high/);
    expect(refusal({ range: `1e15..${1e15 + 1}` })).toThrow(/too narrow/);
  });
});
