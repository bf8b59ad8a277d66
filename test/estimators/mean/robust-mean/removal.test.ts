import { expect, it } from 'vitest';
import { Sensitive } from '../../../../src/base/brands.js';
import { Clusters } from '../../../../src/estimators/mean/robust-mean/removal.js';

it('takes all rows back where clusters are too many, and forgets their cores', () => {
  const rows = {
    count: 2, dimension: 1, entries: Float64Array.of(0, 5), present: Uint8Array.of(1, 1),
    alive: Uint8Array.of(1, 0),
  };
  const clusters = new Clusters(0.05, Sensitive.of(rows));
  const core = { axis: Float64Array.of(1), mean: -0.1, unsure: 0.01, low: 0, high: 40 };
  expect(clusters.allows(Float64Array.of(500), 1, 10_000, core)).toBe(true);
  expect(clusters.cores).toEqual([core]);
  expect(clusters.isOfCores).toBe(true);
  expect(clusters.roomIn(10_000)).toBeCloseTo(250, 9);
  expect(clusters.allows(Float64Array.of(200), 1, 10_000)).toBe(true);
  expect(clusters.isOfCores).toBe(false);
  // 1.5 times the stated share are 750 rows, and noise adds no 50.
  expect(clusters.allows(Float64Array.of(100), 1, 10_000)).toBe(false);
  expect(clusters.cores).toEqual([]);
  expect([clusters.isApart, clusters.hasUndone]).toEqual([false, true]);
  expect(Array.from(rows.alive)).toEqual([1, 1]);
});
