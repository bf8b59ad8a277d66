import { describe, expect, it } from 'vitest';
import { inlineCompute } from '../../../../src/estimators/contract/compute.js';
import { gapMax } from '../../../../src/estimators/mean/stable-mean/reference-design.js';
import { weightedSums } from '../../../../src/estimators/mean/stable-mean/reference.js';
import { projectOnBound } from '../../../../src/estimators/mean/stable-mean/projection.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import {
  changeOf, potentialOf, scoreOf, selectedMean, stepsOf, unit,
} from './outlier-rates.js';

const apart = (left: Float64Array, right: Float64Array): number =>
  Math.hypot(...left.subarray(1).map((entry, i) => entry - right[i + 1]!));

function neighbours(data: DataSource): {
  readonly rows: number[]; readonly other: number[]; readonly bound: number;
} {
  const count = 6 + data.below(7);
  const rows = Array.from({ length: count }, () => (data.below(5) === 0 ? 5 : 1) * data.normal());
  const other = [[0, 1, 30][data.below(3)]! * data.normal(), ...rows.slice(1)];
  return { rows, other, bound: count * (0.3 + data.uniform()) };
}

describe('weights with a least sum', () => {
  it('are what can be worked out', () => {
    // No bound in the way: equal weights. Then one that lets the wide row have nothing, and one
    // that lets nobody in.
    expect(potentialOf([1, 1, 1, 1], 2, 100).value).toBeCloseTo(1, 9);
    expect(Array.from(potentialOf([0, 0, 0, 10], 1, 1e-9).weights)
      .map((weight) => Math.round(weight))).toEqual([1, 1, 1, 0]);
    expect(potentialOf([3, 3, 3], 1, 17).value).toBe(Infinity);
    expect(potentialOf([3, 3, 3], 3, 0).value).toBe(0);
  });

  it('have a score that one row changes by at most 1, and by nearly as '
    + 'much', { tags: ['long'] }, () => {
    const data = dataSource('scores');
    let worst = 0;
    for (let pair = 0; pair < 60; pair++) {
      const { rows, other, bound } = neighbours(data);
      for (const outliers of [1, 3, 5]) {
        // Setting a weight to 0 costs one outlier and no norm.
        expect(potentialOf(other, outliers + 1, bound).value)
          .toBeLessThanOrEqual(potentialOf(rows, outliers, bound).value + 1e-6);
        const [one, two] = [rows, other].map((side) => scoreOf(side, outliers, { bound, room: 6 }));
        worst = Math.max(worst, Math.abs(one! - two!));
      }
    }
    expect(worst).toBeLessThanOrEqual(1 + 1e-6);
    expect(worst).toBeGreaterThan(0.9);
  });

  it('are stable where the minimum is', () => {
    const data = dataSource('stable rates');
    let compared = 0;
    for (let pair = 0; pair < 60; pair++) {
      const { rows, other, bound } = neighbours(data);
      for (const outliers of [1, 3, 5]) {
        const [one, two] = [rows, other].map((side) => changeOf(side, outliers, 1, bound));
        if (one === Infinity || two === Infinity) continue;
        compared += 1;
        const [w, v] = [rows, other].map((side) => potentialOf(side, outliers, bound).weights);
        expect(apart(w!, v!)).toBeLessThanOrEqual(Math.sqrt(one!) + Math.sqrt(two!) + 1e-3);
      }
    }
    expect(compared).toBeGreaterThan(50);
  });

  it('and are not where it is not, when weights without a least sum are', async () => {
    // Six rows at 1, six just outside, and one that goes from the middle to far out: the sum of 6
    // then fits only with all weight on the first six, where before everybody had the same.
    const others = [...new Array<number>(6).fill(1), ...new Array<number>(6).fill(1.05)];
    const [rows, other] = [[0, ...others], [100, ...others]];
    const [w, v] = [rows, other].map((side) => potentialOf(side, 7, 6).weights);
    expect(apart(w!, v!)).toBeGreaterThan(1.7);
    const asked = { unit, bound: 6, rowsMax: 26, radius: 100, gap: gapMax };
    const [near, far] = [await projectOnBound(inlineCompute(), stepsOf(rows), asked),
      await projectOnBound(inlineCompute(), stepsOf(other), asked)];
    expect(apart(near.weights, far.weights)).toBeLessThan(Math.SQRT1_2);
  });
});

describe('a private choice of how many outliers there are', () => {
  const data = dataSource('choice');
  const honest = Array.from({ length: 30 }, () => data.normal());
  const asked = { room: 24, outliersMax: 10, epsilon: 30, seed: 'choice' };

  it('answers about as the shipped weights do where some number is '
    + 'stable', { tags: ['long'] }, async () => {
    const rows = [...honest, 40, 40, 40];
    const chosen = selectedMean(rows, { ...asked, bound: 1.5 * rows.length });
    const { total, kept } = await weightedSums(inlineCompute(), stepsOf(rows), {
      unit, bound: 1.5 * rows.length, rowsMax: 2 * rows.length, radius: 50, gap: gapMax,
    });
    const honestMean = honest.reduce((sum, entry) => sum + entry, 0) / honest.length;
    expect(chosen).not.toBeNull();
    expect(Math.abs(chosen! - honestMean)).toBeLessThan(0.25);
    expect(Math.abs(total[0]! / kept - honestMean)).toBeLessThan(0.25);
  });

  it('has no answer where none is, when the shipped weights always have one', async () => {
    const rows = [...honest.map((entry) => entry + 20), ...honest.map((entry) => entry - 20)];
    expect(selectedMean(rows, { ...asked, bound: rows.length })).toBeNull();
    const asFor = { unit, bound: rows.length, rowsMax: 2 * rows.length, radius: 50, gap: gapMax };
    expect(Number.isFinite((await weightedSums(inlineCompute(), stepsOf(rows), asFor)).total[0]))
      .toBe(true);
  });
});
