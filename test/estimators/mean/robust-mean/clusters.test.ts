import { describe, expect, it } from 'vitest';
import {
  clusterAbove, clusterBelow, clusterInColumn, mayHideAbove, type ClusterLimits,
} from '../../../../src/estimators/mean/robust-mean/clusters.js';
import { axisBins } from '../../../../src/estimators/pooled/valleys.js';
import { dataSource } from '../../../support/data.js';

const rows = 100_000;
const limits: ClusterLimits = {
  noise: 35, most: 0.075 * rows, least: 0.00625 * rows, openAfter: axisBins / 4,
};

/** Noisy counts along an axis of rows that `draw` makes. */
function countsOf(draw: (i: number) => number, data: ReturnType<typeof dataSource>): Float64Array {
  const counts = new Float64Array(axisBins);
  for (let i = 0; i < rows; i++) {
    const bin = Math.floor((draw(i) + 8) * 4);
    counts[Math.min(axisBins - 1, Math.max(0, bin))]! += 1;
  }
  return counts.map((count) => count + limits.noise * data.normal());
}

describe('a cluster in a histogram', () => {
  it('is not seen in a tail without a valley, however heavy it is', () => {
    const data = dataSource('tails');
    const uniform = (): number => (data.below(2 ** 30) + 0.5) / 2 ** 30;
    const tails = [
      () => data.normal(),
      () => -Math.log(uniform()) - 1,
      () => Math.exp(data.normal()) / 2 - 0.8,
      () => uniform() ** (-1 / 2.1) - 1.9,
      // A third of the rows is no cluster.
      (i: number) => (i % 3 === 0 ? 4 : 0) + 0.5 * data.normal(),
    ];
    for (const tail of tails) {
      for (let time = 0; time < 4; time++) {
        const counts = countsOf(tail, data);
        expect([clusterAbove(counts, limits), clusterBelow(counts, limits)]).toEqual([null, null]);
      }
    }
  });

  it('begins in the valley, on either side', () => {
    const data = dataSource('crowds');
    const counts = countsOf((i) => (i % 20 === 0 ? 4 : 0) + 0.7 * data.normal(), data);
    const high = clusterAbove(counts, limits)!;
    // Bins of .25 from -8 on: the densities cross at 2.4.
    expect(high).toBeGreaterThanOrEqual(40);
    expect(high).toBeLessThanOrEqual(43);
    expect(clusterBelow(counts, limits)).toBeNull();
    expect(clusterBelow(counts.slice().reverse(), limits)).toBe(axisBins - high);
  });

  it('is seen where it is nearly as wide as its distance, and cut where densities cross', () => {
    const data = dataSource('wide crowds');
    const loud = { ...limits, noise: 40 };
    for (let time = 0; time < 12; time++) {
      const counts = countsOf((i) => (i % 20 === 0 ? 3.55 : 0) + 0.78 * data.normal(), data);
      const high = clusterAbove(counts, loud);
      expect(high, `draw ${time}`).not.toBeNull();
      // The densities cross at 2.3, in bin 41.
      expect(Math.abs(high! - 41)).toBeLessThanOrEqual(2);
    }
  });

  it('is not seen in a weak shoulder, with any number of rows', () => {
    const data = dataSource('shoulders');
    // From 2 on 30 rows in a bin where there were 24: a chance of small tables.
    const counts = new Float64Array(axisBins).map((_, bin) => {
      const at = Math.abs(bin + 0.5 - axisBins / 2) / 4;
      const share = at < 2 ? Math.exp(-(at ** 2) / 1.6) : at < 3 ? 0.11 : at < 4 ? 0.14 : 0;
      return 1e6 * share + 40 * data.normal();
    });
    expect(clusterAbove(counts, { ...limits, most: 1e7, least: 1e4 })).toBeNull();
  });

  it('shows in blurred counts of one column, and a lattice does not', () => {
    // Released counts of exponential values in steps of .2, in bins of .34.
    const lattice = new Float64Array(axisBins);
    lattice.set([
      60_591, 25_336, 37_359, 25_366, 16_944, 6_178, 9_188, 6_192, 2_166, 3_426, 2_361, 891, 1_256,
      924, 193, 532, 302, 89, 180, 164, 16, 37, 31, 42, 35,
    ], 29);
    const many = { ...limits, most: 15_000, least: 1_250 };
    expect(clusterAbove(lattice, many)).not.toBeNull();
    expect(clusterInColumn(lattice, many)).toBeNull();
    const data = dataSource('narrow clusters');
    const counts = countsOf((i) =>
      (i % 20 === 0 ? 2.2 + 0.07 * data.normal() : 0.74 * data.normal()), data);
    expect(clusterInColumn(counts, limits)).toBe(clusterAbove(counts, limits));
    expect(clusterInColumn(counts, limits)).not.toBeNull();
    expect(clusterBelow(lattice.toReversed(), many, clusterInColumn)).toBeNull();
  });

  it('may be there before it is sure, and a second look tells', () => {
    const counts = new Float64Array(45);
    // Distances of a twentieth of 20,000 rows in two bins, behind a valley of 140.
    counts.set([18_790, 200, 140, 330, 290, 20]);
    const hiding: ClusterLimits = { noise: 43, most: 1_500, least: 125, openAfter: 0 };
    expect(clusterAbove(counts, hiding)).toBeNull();
    expect(mayHideAbove(counts, hiding)).toBe(true);
    expect(mayHideAbove(counts, { ...hiding, noise: 20 })).toBe(false);
    expect(clusterAbove(counts, { ...hiding, noise: 20 })).toBe(3);
    counts.set([18_790, 300, 250, 200, 100, 20]);
    expect(mayHideAbove(counts, hiding)).toBe(false);
  });

  it('is not the peak of all rows behind its own flank, with any number of rows', () => {
    const data = dataSource('flanks');
    for (let time = 0; time < 12; time++) {
      const counts =
        countsOf((i) => (i % 10 === 0 ? 2.2 : -0.08) + 0.34 * data.normal(), data);
      expect(clusterAbove(counts, { ...limits, most: 0.15 * rows })).toBeGreaterThan(34);
      expect(clusterAbove(counts, { ...limits, most: rows / 2 })).toBeGreaterThan(34);
    }
  });

  it('is too few or too many outside the stated shares', () => {
    const data = dataSource('shares');
    const shared = (every: number): Float64Array =>
      countsOf((i) => (i % every === 0 ? 5 : 0.7 * data.normal()), data);
    expect(clusterAbove(shared(10), limits)).toBeNull();
    expect(clusterAbove(shared(20), limits)).not.toBeNull();
    expect(clusterAbove(shared(500), limits)).toBeNull();
  });

  it('counts past the end only if it is more than a tail with a variance leaves there', () => {
    const data = dataSource('open');
    const uniform = (): number => (data.below(2 ** 30) + 0.5) / 2 ** 30;
    // Eight in a hundred reach past 4, and 1.9 of these past 8: a third of the rest.
    const tail = countsOf(() => uniform() ** (-1 / 2.05) - 1, data);
    expect(clusterAbove(tail, limits)).toBeNull();
    const far = countsOf((i) => (i % 20 === 0 ? 900 : data.normal()), data);
    expect(clusterAbove(far, limits)).not.toBeNull();
  });
});
