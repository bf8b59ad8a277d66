import { describe, expect, it } from 'vitest';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { rangeParameter } from '../../../src/estimators/contract/values.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { amountToNumber } from '../../../src/privacy/accounting/amount.js';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { searchedFaults } from '../../support/sensitivity-check.js';

const dimension = 10;
const facts = factsOf(dimension, 1_000, 1);

/** Yes or no, 5 in 100 yes in each column. */
function rowsOf(seed: string): Float64Array[] {
  const data = dataSource(seed);
  return Array.from({ length: facts.cohort }, () =>
    Float64Array.from({ length: dimension }, () => Number(data.below(20) === 0)));
}

describe('mean with a range', () => {
  const plan = planOf('mean', { range: '0..1' }, facts);

  it('spends all on the mean and on how many people are outside, and no delta', () => {
    expect(plan.events.map(({ name }) => name)).toEqual(['means', 'outside']);
    expect(amountToNumber(plan.cost.delta)).toBe(0);
    expect(amountToNumber(plan.cost.rho)).toBeGreaterThan(0.99 * facts.target.rho);
  });

  it('answers a small cohort: 1,000 rows, 10 columns of yes or no', async () => {
    let total = 0;
    const rounds = 8;
    for (let round = 0; round < rounds; round++) {
      const outcome = await releaseOf(plan, dimension, rowsOf(`yes ${round}`), `range ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      total += outcome.estimate.reduce((sum, entry) => sum + (entry - 0.05) ** 2, 0) / rounds;
    }
    // In standard deviations of a column; .1 is that of the rows themselves.
    expect(Math.sqrt(total / (0.05 * 0.95))).toBeLessThan(0.32);
  });

  it('moves rows beyond a bound to it', async () => {
    const rows = rowsOf('far').map((row, i) => (i < 100 ? row.fill(1e9) : row));
    const outcome = await releaseOf(plan, dimension, rows, 'far range');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    // A tenth of the rows at 1 in every column.
    for (const entry of outcome.estimate) expect(Math.abs(entry - 0.145)).toBeLessThan(0.12);
  });

  it('takes one range for each column', async () => {
    const two = planOf('mean', { range: ['0..1', '-300..-100'] }, factsOf(2, 4_000));
    const data = dataSource('two ranges');
    const rows = Array.from({ length: 4_000 }, () =>
      Float64Array.of(data.below(2), -200 + 50 * data.normals(1)[0]!));
    const outcome = await releaseOf(two, 2, rows, 'two ranges');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    expect(Math.abs(outcome.estimate[0]! - 0.5)).toBeLessThan(0.1);
    expect(Math.abs(outcome.estimate[1]! + 200)).toBeLessThan(15);
  });

  it('moves its sums by at most their sensitivities between neighbours', async () => {
    const small = factsOf(2, 60, 8);
    const { parameters } = findEstimator('mean');
    const values = parseParameters(parameters, { range: '0..1' }, { dimension: 2 });
    const { faults, pairs } =
      await searchedFaults(findEstimator('mean').plan(values, small), small, values, ['one']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(0);
  });

  it('takes no radius without a spread', () => {
    expect(() => planOf('mean', { range: '0..1', radius: 2 }, facts))
      .toThrow(/range and radius are both given/);
  });
});

describe('robust-mean with a range', () => {
  it('says what hostile rows inside the range may do', async () => {
    const rows = rowsOf('hostile').map((row, i) => (i < 50 ? row.fill(1) : row));
    const plan = planOf('robust-mean', { range: '0..1', corruption: 0.05 }, facts);
    expect(plan.guarantee.corruptionMax).toBe(0.05);
    expect(amountToNumber(plan.cost.delta)).toBe(0);
    const robust = await releaseOf(plan, dimension, rows, 'x');
    if (robust.kind === 'refused') throw new Error(robust.text);
    expect(robust.spread).toEqual(new Array(dimension).fill(0.5));
    const { low, high } = robust.intervalIfFalse95!;
    robust.estimate.forEach((entry, j) => {
      // 5 of 100 rows at 1 may be hostile, or honest; 5 of 100 at 0 may be hostile as well.
      expect(low[j]).toBeLessThan(0.05);
      expect(high[j]! - entry).toBeGreaterThan(0.05 * entry);
      expect(low[j]).toBeGreaterThanOrEqual(Math.min(0, entry));
    });
    const reach = robust.estimate.map((entry, j) =>
      Math.max(entry - low[j]!, high[j]! - entry) / 0.5);
    expect(robust.radiusIfFalse95).toBeCloseTo(Math.hypot(...reach), 12);
  });

  it.each(['radius', 'rounds', 'axes', 'final-part'])('takes no %s without a spread', (name) => {
    const value = name === 'final-part' ? 0.5 : 2;
    expect(() => planOf('robust-mean', { range: '0..1', [name]: value }, facts))
      .toThrow(new RegExp(`range and ${name} are both given`));
  });
});

describe('a range beside a spread', () => {
  const normals = (seed: string): Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: facts.cohort }, () =>
      data.normals(dimension).map((entry) => 2 + entry));
  };
  const told = { spread: 1, range: '-1000..1000' };

  // CoinPress with the best number of steps: .70. The rows' own mean is .1 off.
  it.each(['mean', 'robust-mean'])('%s answers 1,000 rows with 10 columns', async (name) => {
    const plan = planOf(name, told, facts);
    expect(amountToNumber(plan.cost.delta)).toBe(0);
    const rounds = 6;
    let total = 0;
    for (let round = 0; round < rounds; round++) {
      const outcome =
        await releaseOf(plan, dimension, normals(`told ${round}`), `told ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      total += outcome.estimate.reduce((sum, entry) => sum + (entry - 2) ** 2, 0) / rounds;
    }
    expect(Math.sqrt(total)).toBeLessThan(0.23);
  });

  it('is moved no farther than a centre is by hostile rows at a bound', async () => {
    const rows = normals('at a bound').map((row, i) => (i < 50 ? row.fill(1e9) : row));
    const outcome = await releaseOf(planOf('robust-mean', told, facts), dimension, rows, 'bound');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    expect(Math.hypot(...outcome.estimate.map((entry) => entry - 2))).toBeLessThan(0.6);
  });

  it.each([1e3, 1e-3])('answers alike in other units: %d', async (unit) => {
    const released = async (factor: number): Promise<readonly number[]> => {
      const plan = planOf('mean', {
        spread: factor, range: `${-1_000 * factor}..${1_000 * factor}`,
      }, facts);
      const rows = normals('units').map((row) => row.map((entry) => factor * entry));
      const outcome = await releaseOf(plan, dimension, rows, 'units');
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      return outcome.estimate;
    };
    const one = await released(1);
    (await released(unit)).forEach((entry, j) => expect(entry / unit).toBeCloseTo(one[j]!, 6));
  });

  it.each([['mean', {}], ['robust-mean', {}], ['robust-mean', { shape: 'light' }]])(
    '%s %j asks queries that neighbours change by no more than was charged', async (name, more) => {
      const small = factsOf(2, 400, 60);
      const { parameters } = findEstimator(name);
      const values = parseParameters(parameters, { spread: 1, range: '-9..40', ...more }, small);
      const { faults, pairs } =
        await searchedFaults(findEstimator(name).plan(values, small), small, values, ['one']);
      expect(faults).toEqual([]);
      expect(pairs).toBeGreaterThan(0);
    },
  );

  it('refuses more cells than counts can be drawn for', () => {
    expect(() => planOf('mean', { spread: 1e-9, range: '0..1' }, facts))
      .toThrow(/the range of column 1 .* spans more than 52428 spreads/);
  });

  it('names the cohort that finds where the rows are', () => {
    const few = factsOf(dimension, 100, 1);
    const estimator = findEstimator('mean');
    const made = estimator.plan(parseParameters(estimator.parameters, told, few), few);
    if (made.kind !== 'infeasible') throw new Error('100 rows are enough');
    expect(made.cohortNeeded).toBeGreaterThan(400);
    expect(made.cohortNeeded).toBeLessThan(1_000);
    expect(planOf('mean', told, { ...few, cohort: made.cohortNeeded! }).kind).toBe('plan');
    // The remedy that it names helps, with so few people.
    expect(made.remedy).toContain('range without a spread');
    expect(planOf('mean', { range: told.range }, few).kind).toBe('plan');
    expect(planOf('robust-mean', { range: told.range }, few).kind).toBe('plan');
  });
});

describe('a range', () => {
  const parse = (range: unknown): unknown =>
    parseParameters([rangeParameter], { range }, { dimension: 2 })['range'];

  it('is one for all columns, or one for each, as text or as a list', () => {
    expect(parse('0..1')).toEqual([0, 1, 0, 1]);
    expect(parse('-1.5..2,3..1e3')).toEqual([-1.5, 2, 3, 1_000]);
    expect(parse(['0..1', '-3..-2'])).toEqual([0, 1, -3, -2]);
    expect(parseParameters([rangeParameter], {}, { dimension: 2 })['range']).toBeUndefined();
  });

  it.each([
    '1..0', '1..1', '0..', '..1', '0', 0, '0..1..2', '0..1,0..1,0..1', 'a..b', [], [0, 1],
    '0..1e151', 'NaN..1', { low: 0 },
  ])('is refused: %j', (range) => {
    expect(() => parse(range)).toThrow(/parameters\.range is .*: give low\.\.high/);
  });
});
