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

  it('spends all on the mean, and no delta', () => {
    expect(plan.events.map(({ name }) => name)).toEqual(['mean/sum', 'mean/count']);
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
    const small = factsOf(2, 8, 1);
    const { parameters } = findEstimator('mean');
    const values = parseParameters(parameters, { range: '0..1' }, { dimension: 2 });
    const { faults, pairs } =
      await searchedFaults(findEstimator('mean').plan(values, small), small, values, ['one']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(0);
  });

  it('is not given beside a scale', () => {
    expect(() => planOf('mean', { range: '0..1', scale: 2 }, facts)).toThrow(/range and scale/);
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
