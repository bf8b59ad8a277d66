import { describe, expect, it } from 'vitest';
import { normalCdf } from '../../../../src/numerics/normal.js';
import {
  binOfDistance, clusterStart, distanceBins, middleWidth, quantileOf, seenReach, tailCap,
} from '../../../../src/estimators/covariance/stable-moments/clusters.js';
import { axisBins, binAlongAxis, binWidth } from '../../../../src/estimators/pooled/valleys.js';

const rows = 100_000;
const judgement = { noise: 0, corruption: 0.05 };

/** Bins along an axis of rows with this distribution function. */
const binned = (cdf: (x: number) => number): Float64Array =>
  Float64Array.from({ length: axisBins }, (_, bin) => {
    const low = (bin - axisBins / 2) * binWidth;
    return rows * (cdf(low + binWidth) - cdf(low));
  });
const normal = binned(normalCdf);
/** From 1.2 deviations on. */
const from = axisBins / 2 + 5;

describe('bins', () => {
  it('hold every number once', () => {
    expect([-1e9, -8, -0.01, 0, 0.26, 7.9, 1e9].map(binAlongAxis)).toEqual(
      [0, 0, 31, 32, 33, 63, 63],
    );
    expect([0, 0.25, 7.9, 1e9].map(binOfDistance)).toEqual([0, 1, 31, distanceBins - 1]);
  });
});

describe('the middle of a histogram', () => {
  it('has the width of normal rows, and far rows hardly change it', () => {
    expect(middleWidth(normal)).toBeCloseTo(1, 2);
    expect(middleWidth(binned((x) => normalCdf(x / 2)))).toBeCloseTo(2, 2);
    const hostile = normal.slice();
    hostile[axisBins - 1]! += rows / 19;
    expect(middleWidth(hostile)).toBeLessThan(1.1);
    expect(quantileOf(normal, 0.5)).toBeCloseTo(axisBins / 2, 6);
  });
});

describe('a cluster that stands apart', () => {
  it('begins behind the valley', () => {
    for (const at of [3, 4, 6]) {
      const counts = normal.slice();
      const bin = axisBins / 2 + at / binWidth;
      for (let k = 0; k < 3; k++) counts[bin + k]! += rows / 60;
      expect(clusterStart(counts, from, judgement), `at ${at}`).toBe(bin);
    }
  });

  it('is not found in a tail that only falls, however heavy', () => {
    const tails = [
      normal,
      binned((x) => (x < 0 ? 0.5 * Math.exp(1.4 * x) : 1 - 0.5 * Math.exp(-1.4 * x))),
      binned((x) => 0.5 + Math.atan(x) / Math.PI),
    ];
    for (const counts of tails) {
      counts[axisBins - 1] = Math.min(counts[axisBins - 1]!, counts[axisBins - 2]!);
      expect(clusterStart(counts, from, judgement)).toBe(axisBins);
    }
  });

  it('is left when it is too large to be hostile, or too small to matter', () => {
    for (const share of [0.1, 0.004]) {
      const counts = normal.slice();
      counts[axisBins / 2 + 16]! += share * rows;
      expect(clusterStart(counts, from, judgement), `${share}`).toBe(axisBins);
    }
  });

  it('is not found where noise may have made it', () => {
    const counts = normal.slice();
    counts[axisBins / 2 + 16]! += 0.02 * rows;
    expect(clusterStart(counts, from, { noise: 100, corruption: 0.05 })).toBe(axisBins / 2 + 16);
    expect(clusterStart(counts, from, { noise: 800, corruption: 0.05 })).toBe(axisBins);
  });
});

describe('caps', () => {
  const outwards = normal.subarray(axisBins / 2);
  const limit = { order: 4, bound: 210, least: 2, most: 7 };
  const powers = (counts: Float64Array, cap: number): number =>
    counts.reduce((sum, count, bin) =>
      sum + count * Math.min(cap, (bin + 0.5) * binWidth) ** 8, 0)
    / counts.reduce((sum, count) => sum + count, 0);

  it('leave normal rows alone, and limit powers of a tail', () => {
    expect(tailCap(outwards, 0, limit)).toBe(7);
    const counts = outwards.slice();
    for (let bin = 10; bin < 26; bin++) counts[bin]! += rows / 600;
    const cap = tailCap(counts, 0, limit);
    expect(powers(counts, 7)).toBeGreaterThan(210);
    expect(powers(counts, cap)).toBeLessThanOrEqual(210);
    expect(powers(counts, cap + binWidth)).toBeGreaterThan(210);
    expect(tailCap(counts, 0, { ...limit, bound: 1e-6 })).toBe(2);
  });

  it('are not farther out than rows are seen', () => {
    const counts = new Float64Array(distanceBins);
    counts[4] = 1000;
    counts[12] = 300;
    counts[20] = 20;
    expect(seenReach(counts, 0)).toBe(23 * binWidth);
    expect(seenReach(counts, 20)).toBe(15 * binWidth);
  });
});
