import { describe, expect, it } from 'vitest';
import { attacks, makeRows } from '../../../../bench/accuracy/data.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import {
  stableCovariance,
} from '../../../../src/estimators/covariance/stable-covariance/stable-covariance.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const [dimension, contributors] = [3, 40_000];
/** Rows of covariance I become rows of covariance `map` `map`^T, of condition number 180 or so. */
const map = [[4, 0, 0], [3, 1, 0], [-2, 0.5, 0.8]];

function mapped(values: Float64Array, offset = 0): Float64Array[] {
  return Array.from({ length: values.length / dimension }, (_, i) => Float64Array.from(map, (row) =>
    offset + row.reduce((sum, entry, j) => sum + entry * values[i * dimension + j]!, 0)));
}

/** || map^-1 S map^-T - I ||: `map` is lower triangular. */
function relativeError(estimate: readonly number[]): number {
  const solve = (columns: number[][]): number[][] => columns.map((column) => {
    const solution: number[] = [];
    map.forEach((row, i) => {
      solution.push(
        (column[i]! - solution.reduce((sum, entry, j) => sum + row[j]! * entry, 0)) / row[i]!,
      );
    });
    return solution;
  });
  const rows = [0, 1, 2].map((i) => estimate.slice(3 * i, 3 * i + 3));
  const half = solve(rows);
  const whole = solve([0, 1, 2].map((i) => half.map((row) => row[i]!)));
  return Math.hypot(...whole.flatMap((row, i) => row.map((entry, j) => entry - (i === j ? 1 : 0))));
}

async function errorUnder(
  attack: string, corruption = 0.05, name = 'stable-covariance', raw = {},
): Promise<number> {
  const { values } = makeRows(attack, { dimension, contributors, corruption, seed: 5 });
  const plan = planOf(name, raw, factsOf(dimension, contributors, 2));
  const outcome = await releaseOf(plan, dimension, mapped(values), `covariance ${attack}`);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return relativeError(outcome.estimate);
}

describe('stable-covariance', () => {
  it('is accurate relative to the variance in every direction, where nobody lies', async () => {
    expect(await errorUnder('none', 0)).toBeLessThan(0.06);
  });

  it.each(Object.keys(attacks).filter((name) => name !== 'none' && name !== 'moved'))(
    'stays within its promise under %s', async (attack) => {
      const promise =
        planOf('stable-covariance', { corruption: 0.05 }, factsOf(dimension, contributors, 2));
      expect(promise.expectedError(0.05).total).toBeLessThan(0.36);
      expect(await errorUnder(attack)).toBeLessThan(0.25);
    });

  it('resists what the plain covariance does not', async () => {
    const raw = { 'variance-low': 0.01, 'variance-high': 100 };
    expect(await errorUnder('dense', 0.05, 'covariance', raw)).toBeGreaterThan(0.35);
    expect(await errorUnder('dense')).toBeLessThan(0.1);
  });

  it('answers far from the origin, and refuses where few came', async () => {
    const { values } = makeRows('ones', { dimension, contributors, corruption: 0.05, seed: 6 });
    const plan = planOf('stable-covariance', {}, factsOf(dimension, contributors, 2));
    const outcome = await releaseOf(plan, dimension, mapped(values, 1e6), 'far');
    expect(outcome.kind === 'value' && relativeError(outcome.estimate)).toBeLessThan(0.15);
    expect(outcome)
      .toMatchObject({ shape: [3, 3], parts: [{ name: 'covariance', shape: [3, 3] }] });
    const few = mapped(values.subarray(0, 3 * 8_000));
    expect(await releaseOf(plan, dimension, few, 'few')).toMatchObject({ kind: 'refused' });
  });

  it('says what would make a plan feasible', () => {
    const facts = factsOf(4, 200, 1);
    const parameters = parseParameters(stableCovariance.parameters, {}, facts);
    const plan = stableCovariance.plan(parameters, facts);
    expect(plan.kind).toBe('infeasible');
    const needed = plan.kind === 'infeasible' ? plan.cohortNeeded! : 0;
    expect(stableCovariance.plan(parameters, factsOf(4, needed, 1)).kind).toBe('plan');
    expect(stableCovariance.plan(parameters, factsOf(17, 1e6, 1)))
      .toMatchObject({
        kind: 'infeasible', remedy: expect.stringContaining('at most 16 columns') as string,
      });
  });

  it('charges for the worst that one row can do to every release', () => {
    const plan = planOf('stable-covariance', {}, factsOf(3, 20_000));
    const radius = plan.facts['clipRadiusAfterTheMap'] as number;
    const of = (name: string) =>
      (plan.events.find((event) => event.name === name) as { sensitivity: number }).sensitivity;
    const near = (value: number, right: number) => {
      expect(value / right).toBeCloseTo(1, 9);
      expect(value).toBeGreaterThanOrEqual(right);
    };
    near(of('answer/sum'), 2 * radius);
    near(of('answer/square'), Math.SQRT2 * radius ** 2);
    near(of('fourth/square'), (Math.SQRT2 * of('fourth/sum') ** 2) / 4);
    for (let k = 1; k <= 10; k++) near(of(`axis-${k}`), Math.SQRT2);
    near(of('present'), Math.SQRT2);
    expect(of('answer/count')).toBe(1);
    expect(plan.facts['axes']).toBe(10);
  });

  it('leaves the covariance of uniform rows as it is', async () => {
    const data = dataSource('uniform');
    const rows = Array.from({ length: contributors }, () =>
      Float64Array.from({ length: 2 }, () => Math.sqrt(12) * (data.uniform() - 0.5)));
    const outcome = await releaseOf(
      planOf('stable-covariance', {}, factsOf(2, contributors, 2)), 2, rows, 'uniform',
    );
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    expect(Math.hypot(...outcome.estimate.map((entry, at) => entry - (at % 3 === 0 ? 1 : 0))))
      .toBeLessThan(0.06);
  });

  const skewed: Readonly<Record<string, (data: DataSource) => number>> = {
    exponential: (data) => -10 * Math.log(1 - data.uniform()),
    lognormal: (data) => Math.exp(3 + 0.8 * data.normal()),
    Poisson: (data) => {
      let count = 0;
      for (let left = data.uniform(); left > Math.exp(-2); left *= data.uniform()) count += 1;
      return count;
    },
  };
  const clean = (of: (data: DataSource) => number, seed: string): Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: 30_000 }, () =>
      Float64Array.from({ length: 3 }, () => of(data)));
  };

  it.each(Object.keys(skewed))(
    'says nothing confident of clean %s rows', { tags: ['long'] }, async (name) => {
      const rows = clean(skewed[name]!, name);
      const truth = { exponential: 100, lognormal: 689, Poisson: 2 }[name]!;
      for (const epsilon of [1, 4]) {
        for (const seed of ['first', 'second', 'third']) {
          const plan = planOf('stable-covariance', {}, factsOf(3, 30_000, epsilon));
          const outcome = await releaseOf(plan, 3, rows, `${name} ${seed}`);
          if (outcome.kind === 'refused') {
            expect(outcome).toMatchObject({ reason: 'too-few-left' });
            continue;
          }
          const { low, high } = outcome.interval95!;
          for (const at of [0, 4, 8]) {
            expect(low[at]).toBeLessThan(truth);
            expect(high[at]).toBeGreaterThan(truth);
          }
          const found = outcome.findings?.map(({ reason }) => reason) ?? [];
          expect(found.includes('rows-trimmed')).toBe(low[0] === -Infinity);
        }
      }
    },
  );

  it('has a finding where liars are left out, and none for clean normal rows', async () => {
    const plan = planOf('stable-covariance', {}, factsOf(3, contributors, 2));
    const findingsOf = async (attack: string, corruption: number) => {
      const { values } = makeRows(attack, { dimension, contributors, corruption, seed: 7 });
      const outcome = await releaseOf(plan, dimension, mapped(values), attack);
      if (outcome.kind === 'refused') return outcome.reason;
      return outcome.findings?.map(({ reason, amounts }) => [reason, ...amounts]) ?? [];
    };
    expect(await findingsOf('none', 0)).toEqual([]);
    expect(await findingsOf('point', 0.05))
      .toEqual([['cluster-apart', expect.closeTo(0.06, 1.5) as number], ['rows-trimmed']]);
    // Rows out of reach in some column count among those that are gone.
    expect(await findingsOf('far', 0.3)).toBe('too-few-left');
  });
});
