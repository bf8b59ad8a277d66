import { describe, expect, it } from 'vitest';
import { pointSet } from '../../src/numerics/points.js';
import { geometricMedian } from '../../src/robust/geometric-median.js';
import { normalOfRows } from '../../src/robust/normal-of-rows.js';
import { robustScatter } from '../../src/robust/robust-scatter.js';
import { twoThresholdMean } from '../../src/robust/two-threshold-mean.js';
import { countingMath } from '../support/counted-work.js';
import { dataSource } from '../support/data.js';

/**
 * Estimates inside groups take the same number of rounds whatever the rows are: the time of a
 * private release is public, and a group may be large.
 */
const dimension = 3;
const count = 200;
const data = dataSource('rounds');

const estimates = {
  geometricMedian: (rows: readonly Float64Array[]) => geometricMedian(pointSet(rows, dimension)),
  normalOfRows: (rows: readonly Float64Array[]) => normalOfRows(pointSet(rows, dimension)),
  robustScatter: (rows: readonly Float64Array[]) => robustScatter(pointSet(rows, dimension)),
  twoThresholdMean: (rows: readonly Float64Array[]) =>
    twoThresholdMean(pointSet(rows, dimension), 1),
};

const normal = Array.from({ length: count }, () => data.normals(dimension));
/** Rows on which rounds settle sooner or later than on normal ones. */
const sets: Readonly<Record<string, readonly Float64Array[]>> = {
  'two lumps': normal.map((row, i) => row.map((entry) => (i % 2 === 0 ? entry : 0.01 * entry + 5))),
  'nearly flat': normal.map((row) => Float64Array.of(row[0]!, row[1]!, 1e-4 * row[2]!)),
  'one row far away': [new Float64Array(dimension).fill(1e6), ...normal.slice(1)],
  'heavy tails': normal.map((row) => row.map((entry) => entry ** 5)),
};

describe.each(Object.entries(estimates))('%s', (_, estimate) => {
  it.each(Object
    .entries(sets))('takes as many rounds on %s as on normal rows', async (__, rows) => {
    const usual = await countingMath(() => estimate(normal));
    const other = await countingMath(() => estimate(rows));
    // Medians and eigenvalues take a few steps more or less; a round takes hundreds.
    expect(Math.abs(other.calls['sqrt']! - usual.calls['sqrt']!))
      .toBeLessThanOrEqual(usual.calls['sqrt']! / 100);
    expect(Math.abs(other.calls['floor']! - usual.calls['floor']!)).toBeLessThanOrEqual(60);
  });
});
