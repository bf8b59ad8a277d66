import { describe, expect, it } from 'vitest';
import { inlineCompute } from '../../../src/estimators/contract/compute.js';
import {
  chooseRadius, distanceBinOf, distanceBins, distanceCounts, distanceEdge, readDistances,
} from '../../../src/estimators/pooled/radius.js';

const dimension = 4;

/** A histogram with these rows in the bins that hold these distances. */
function histogram(rows: Readonly<Record<number, number>>): Float64Array {
  const counts = new Float64Array(distanceBins);
  const binOf = distanceBinOf(dimension);
  for (const [distance, count] of Object.entries(rows)) {
    counts[binOf(Number(distance) ** 2)]! += count;
  }
  return counts;
}

describe('distances from a centre', () => {
  it('counts each row once, by its distance, and rows that are not finite never', async () => {
    const values = Float64Array.of(
      1, 0, 0, 0, 3, 0, 0, 0, 1e300, 0, 0, 0, NaN, 0, 0, 0, Infinity, 0, 0, 0,
    );
    const block = { count: 5, dimension, values };
    const counts = await distanceCounts(inlineCompute(), block, new Float64Array(dimension));
    expect(Array.from(counts.keys()).filter((bin) => counts[bin]! > 0))
      .toEqual([0, 3, distanceBins - 1]);
    expect(distanceEdge(3, dimension)).toBeLessThan(3);
    expect(distanceEdge(4, dimension)).toBeGreaterThan(3);
  });

  it('takes tails into account only where they stand out from the noise', () => {
    const counts = histogram({ 1: 9_000, 3: 900, 40: 100, 300: 30 });
    const quiet = readDistances({ counts, sigma: 20, dimension, rows: 10_000 });
    // The rows at 40 stand out, and may be at the far end of their bin; those at 300 do not.
    expect(quiet.beyond(10)).toBeGreaterThanOrEqual((100 * 30) / 10_000);
    expect(quiet.beyond(10)).toBeLessThan((100 * 37) / 10_000);
    expect(quiet.beyond(60)).toBe(0);
    const loud = readDistances({ counts, sigma: 200, dimension, rows: 10_000 });
    expect(loud.beyond(10)).toBe(0);
    // The tail of the loud one ends where the rows at 3 do: few of the rows past it are beyond 10.
    expect(Math.min(loud.hidden(10), quiet.hidden(10))).toBeGreaterThan(0.1);
  });

  it('have no bound where a few rows may be in the open last bin', () => {
    const beyondWith = (open: number): number => readDistances({
      counts: histogram({ 1: 9_900, 3: 100, 1e9: open }), sigma: 20, dimension, rows: 10_000,
    }).beyond(10);
    expect(beyondWith(65)).toBe(Infinity);
    expect(beyondWith(55)).toBe(0);
  });

  it('let a part of what noise hides widen the ball, up to the radius that is trusted', () => {
    const counts = histogram({ 1: 900, 3: 100 });
    const distances = readDistances({ counts, sigma: 40, dimension, rows: 1_000 });
    const radiusOf = (hiddenPart: number, trusted: number): number => chooseRadius(distances, {
      dimension, least: 2, trusted, noise: 1e-4, corruption: 0.05, hiddenPart,
    });
    expect(radiusOf(0, 6)).toBe(2);
    expect(radiusOf(0.5, 6)).toBeGreaterThan(2.5);
    expect(radiusOf(0.5, 2.2)).toBeLessThan(2.3);
  });

  it('see a tail that is thin in every single bin, and not one bin of it', () => {
    const counts = histogram({ 1: 9_400, 3: 400 });
    const thin = [20, 24, 28, 33, 40, 47, 56, 66, 80, 94, 112, 133, 160, 190, 224, 267];
    const bins = thin.map((distance) => histogram({ [distance]: 1 }).indexOf(1));
    expect(new Set(bins).size).toBe(thin.length);
    for (const bin of bins) counts[bin]! += 30;
    const { beyond } = readDistances({ counts, sigma: 20, dimension, rows: 10_000 });
    expect(beyond(10) / (thin.reduce((sum, entry) => sum + 30 * (entry - 10), 0) / 10_000))
      .toBeCloseTo(1, 0);
    counts.fill(0, bins[1]);
    expect(readDistances({ counts, sigma: 20, dimension, rows: 10_000 }).beyond(10)).toBe(0);
  });

  it('allow for rows past a tail that falls slowly, and for few past one that ends', () => {
    const tailOf = (ratio: number): Float64Array => {
      const counts = histogram({ 1: 9_000 });
      for (let bin = 3, rows = 400; rows > 40; bin++, rows *= ratio) counts[bin]! += rows;
      return counts;
    };
    const [slow, fast] = [0.8, 0.3].map((ratio) =>
      readDistances({ counts: tailOf(ratio), sigma: 20, dimension, rows: 10_000 }).hidden(6));
    // Without the octaves past the first one that is not seen, the slow tail has .074.
    expect(slow).toBeGreaterThan(0.1);
    expect(fast).toBeLessThan(0.01);
  });

  it('allow for rows past the last bin that stands out, where counts make them likely', () => {
    const hiddenBeside = (rows: Readonly<Record<number, number>>): number => {
      const counts = histogram({ 1: 9_000, 3: 900 });
      for (const [bin, count] of Object.entries(rows)) counts[Number(bin)]! += count;
      return readDistances({ counts, sigma: 20, dimension, rows: 10_000 }).hidden(3);
    };
    const none = hiddenBeside({});
    expect(none).toBeLessThan(0.05);
    // 160 rows in the two octaves past it: their middle is 6.7 spreads from the centre.
    const near = Object.fromEntries(Array.from({ length: 8 }, (_, k) => [4 + k, 20]));
    expect(hiddenBeside(near)).toBeGreaterThan(160 * 3.7 / 10_000);
    // 84 rows in one bin, at 22.6 .. 26.9 spreads.
    expect(hiddenBeside({ 15: 84 })).toBeGreaterThan(84 * 19.6 / 10_000);
    // So few rows are noise.
    expect(hiddenBeside({ 15: 70 })).toBe(none);
  });

  it('allow for rows past the end of a tail that hardly falls, unless it has ended', () => {
    const hiddenPast = (last: number, rows: number, past: number): number => {
      const counts = histogram({ 1: 9_000 });
      counts.fill(rows, 1, last + 1);
      counts.fill(past, last + 1, last + 9);
      return readDistances({ counts, sigma: 20, dimension, rows: 10_000 }).hidden(30);
    };
    // Half of the next two octaves is 72 rows, at 64 spreads and more.
    expect(hiddenPast(16, 60, 12)).toBeGreaterThan(0.5);
    expect(hiddenPast(16, 400, 12)).toBeLessThan(0.3);
  });

  it('knows no bound for rows in the open last bin', () => {
    const counts = histogram({ 1: 9_000, 1e7: 1_000 });
    const distances = readDistances({ counts, sigma: 20, dimension, rows: 10_000 });
    expect(distances.beyond(100)).toBe(Infinity);
    expect(chooseRadius(distances, { dimension, least: 5, noise: 1e-3, corruption: 0.05 }))
      .toBeLessThan(20);
  });
});

describe('the clip radius', () => {
  const options = { dimension, least: 5.7, noise: 1e-3, corruption: 0.05 };
  const radiusOf = (rows: Readonly<Record<number, number>>, more = {}): number => chooseRadius(
    readDistances({ counts: histogram(rows), sigma: 20, dimension, rows: 10_000 }),
    { ...options, ...more },
  );

  it('stays where nothing is beyond it, and rises for a tail', () => {
    expect(radiusOf({ 1: 6_000, 3: 4_000 })).toBe(5.7);
    const raised = radiusOf({ 1: 6_000, 3: 3_800, 12: 200 });
    expect(raised).toBeGreaterThan(10);
    expect(raised).toBeLessThan(15);
  });

  it('rises less when its noise costs more', () => {
    const rows = { 1: 6_000, 3: 3_800, 12: 200 };
    expect(radiusOf(rows, { noise: 0.1 })).toBe(5.7);
  });

  it('lets hostile rows add no more than width * sqrt(corruption)', () => {
    const far = { 1: 6_000, 3: 3_500, 1_000: 500 };
    const radius = radiusOf(far);
    // 500 of 10,000 rows, by at most 2.5 * sqrt(.05) on average over all.
    expect(0.05 * (radius - 5.7)).toBeLessThan(2.5 * Math.sqrt(0.05));
    expect(radius).toBeGreaterThan(5.7);
    expect(radiusOf(far, { corruption: 0 })).toBeGreaterThan(900);
  });
});
