import { describe, expect, it } from 'vitest';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import {
  axisCounts, distanceCounts, mapRows, sumApart, sumBeyond, sumOfRows, thirdMoments,
  type MappedRows,
} from '../../../../src/estimators/mean/robust-mean/mapped.js';
import { robustMean } from '../../../../src/estimators/mean/robust-mean/robust-mean.js';
import { clipBall } from '../../../../src/privacy/stages/clip.js';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf } from '../../../support/offline.js';
import { searchedFaults } from '../../../support/sensitivity-check.js';

const dimension = 3;
const data = dataSource('pairs of rows');

/**
 * A row, mapped as a release maps it: near, on the ball, far, huge, on an axis, removed, or not
 * there.
 */
function mapped(): MappedRows {
  const size = [0.1, 1, 3, 1e3, 1e120, 1e308, Infinity][data.below(7)]!;
  const values = data.below(4) === 0
    ? Float64Array.from({ length: dimension }, (_, j) => (j === 1 ? size : 0))
    : data.normals(dimension).map((entry) => size * entry);
  const map = data.normals(dimension ** 2).map((entry) => 30 * entry);
  const pool = { values, dimension, count: 1, tags: new BigUint64Array(0) };
  const [entries, present] = [new Float64Array(dimension), new Uint8Array(1)];
  const one = new Float64Array(dimension).fill(1);
  const frame = { mean: data.normals(dimension), map: data.below(2) === 0 ? null : map };
  mapRows(pool, new Float64Array(dimension), one, { ...frame, inverse: null }, entries, present);
  return {
    count: 1, dimension, entries, present,
    alive: data.below(4) === 0 ? new Uint8Array(1) : present,
  };
}

const axis = Float64Array.of(0.6, 0, 0.8);
const ball = clipBall(4.2, { products: true, rowsMax: 10_000 });
const unitBall = clipBall(1, { products: true, rowsMax: 10_000 });
const twice = (steps: number): number => 2 * steps;

describe('a sum or histogram of mapped rows', () => {
  it.each([
    ['sum', (rows: MappedRows) => sumOfRows(rows, unitBall, 2.7), twice(unitBall.steps)],
    ['sum of rows left out', (rows: MappedRows) => sumApart(rows, unitBall, 2.7, null),
      twice(unitBall.steps)],
    ['sum of rows past an axis',
      (rows: MappedRows) => sumApart(rows, unitBall, 2.7, { axis, times: 11 }),
      twice(unitBall.steps)],
    ['third moments', (rows: MappedRows) => thirdMoments(rows, ball), twice(ball.steps)],
    ['sum beyond', (rows: MappedRows) => sumBeyond(rows, ball, axis, 1.3), twice(ball.steps)],
    ['axis', (rows: MappedRows) => axisCounts(rows, axis), Math.SQRT2],
    ['distance', distanceCounts, Math.SQRT2],
  ])('%s: one row for another changes it by no more than was charged', (_, sumsOf, bound) => {
    let largest = 0;
    for (let time = 0; time < 3_000; time++) {
      const [one, other] = [sumsOf(mapped()), sumsOf(mapped())];
      expect(one.every((entry) => Number.isSafeInteger(entry))).toBe(true);
      largest = Math.max(largest, Math.hypot(...one.map((entry, j) => entry - other[j]!)));
    }
    expect(largest).toBeLessThanOrEqual(bound * (1 + 1e-12));
    expect(largest).toBeGreaterThan(0.85 * bound);
  });
});

describe('where a row is mapped to', () => {
  it('does not depend on the other rows, to the last bit', () => {
    const count = 1_100;
    const values = data.normals(count * dimension);
    values[3] = NaN;
    const map = data.normals(dimension ** 2);
    const one = new Float64Array(dimension).fill(1);
    const frame = { mean: data.normals(dimension), map, inverse: null };
    const mappedFrom = (first: number, last: number): Float64Array => {
      const few = values.subarray(first * dimension, last * dimension);
      const into = new Float64Array(few.length);
      const pool = { values: few, dimension, count: last - first, tags: new BigUint64Array(0) };
      mapRows(pool, one, one, frame, into, new Uint8Array(last - first));
      return into;
    };
    const all = mappedFrom(0, count);
    for (const row of [0, 1, 2, 3, 1_023, 1_024, 1_027, 1_099]) {
      expect(mappedFrom(row, row + 1))
        .toEqual(all.subarray(row * dimension, (row + 1) * dimension));
    }
  });
});

describe('robust-mean of rows of any shape', () => {
  it('charges for the worst that one row can do to every release', () => {
    const plan = planOf('robust-mean', { spread: 1 }, factsOf(4, 50_000));
    const right = (name: string): number => {
      if (name.startsWith('mean/')) return name === 'mean/count' ? 1 : 2;
      if (name === 'present') return 1;
      if (name === 'equal') return Math.sqrt(4);
      if (name.startsWith('axis-') || name === 'distance') return Math.SQRT2;
      if (!name.startsWith('round-')) return 2 * (Math.sqrt(4) + 2.5);
      const radius = Math.sqrt(4) + (name.startsWith('round-1') ? 2.2 : 1.2);
      return name.endsWith('/sum') ? 2 * radius : Math.SQRT2 * radius ** 2;
    };
    const others = plan.events.filter(({ name }) => !name.startsWith('centre/'));
    expect(others).toHaveLength(1 + 6 + 2 + 4 + 1 + 1 + 3);
    for (const event of others) {
      const { name } = event;
      if (event.kind !== 'gaussian' && event.kind !== 'symmetric-gaussian') throw new Error(name);
      expect(event.sensitivity / right(name), name).toBeGreaterThan(1 - 1e-4);
      expect(event.sensitivity / right(name), name).toBeLessThan(1 + 1e-9);
    }
  });

  it.each([1, 2])('asks queries that neighbours change by no more than was charged: %i', async (
    columns,
  ) => {
    const facts = factsOf(columns, 400, 60);
    const parameters = parseParameters(robustMean.parameters, { spread: 1 }, facts);
    const { faults, pairs } =
      await searchedFaults(robustMean.plan(parameters, facts), facts, parameters, ['one', 'two']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(0);
  });
});
