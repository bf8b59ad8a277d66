import { describe, expect, it } from 'vitest';
import { normalCdf } from '../../../src/numerics/normal.js';
import { widestAxes } from '../../../src/estimators/mean/robust-mean/axes.js';
import {
  binOf, leastThresholdAlongAxes, histogramBins, fitHistogram,
} from '../../../src/estimators/pooled/projected-histogram.js';
import { dataSource } from '../../support/data.js';

const width = 12 / histogramBins;
const edge = (bin: number): number =>
  (bin === 0 ? -Infinity : bin === histogramBins ? Infinity : bin * width - 6);

/** Expected counts of parts { rows, at, deviation }, noise on top. */
function countsOf(
  parts: readonly { rows: number; at: number; deviation: number }[], noise = 0, seed = 'noise',
): Float64Array {
  const data = dataSource(seed);
  return Float64Array.from({ length: histogramBins }, (_, bin) =>
    parts.reduce((sum, { rows, at, deviation }) =>
      sum + rows * (normalCdf((edge(bin + 1) - at) / deviation)
        - normalCdf((edge(bin) - at) / deviation)), 0)
    + noise * data.normal());
}

const fit = (counts: Float64Array, noise: number) =>
  fitHistogram(counts, noise, leastThresholdAlongAxes)!;

describe('a projected histogram', () => {
  it('fits a normal shape wherever it stands, and trims nothing of it', () => {
    for (const [at, deviation] of [[0, 1], [0.7, 0.8], [-1.3, 1.4]] as const) {
      const found = fit(countsOf([{ rows: 1e5, at, deviation }], 50, `${at}`), 50);
      expect(Math.abs(found.median - at)).toBeLessThan(0.02);
      expect(Math.abs(found.spread / deviation - 1)).toBeLessThan(0.03);
      expect([found.low, found.high, found.shift]).toEqual([-Infinity, Infinity, 0]);
    }
  });

  it('trims a twentieth that stands apart, and finds the median as if it were not there', () => {
    for (const [hostile, deviation] of [[2.5, 0.1], [3.6, 0.1], [4.7, 1], [-3, 0.5]] as const) {
      const counts = countsOf(
        [{ rows: 95_000, at: 0, deviation: 1 }, { rows: 5_000, at: hostile, deviation }], 50,
        `${hostile}`,
      );
      const found = fit(counts, 50);
      // Untrimmed, the median is at .066.
      expect(Math.abs(found.median)).toBeLessThan(0.02);
      if (hostile > 0) expect(found.high).toBeLessThan(hostile);
      else expect(found.low).toBeGreaterThan(hostile);
      // Normal rows lose a tail on the hostile side.
      expect(Math.sign(found.shift)).toBe(-Math.sign(hostile));
    }
  });

  it('trims both sides, and says how far that moves the mean of normal rows', () => {
    const parts = [
      { rows: 94_000, at: 0.2, deviation: 1 }, { rows: 4_000, at: 4, deviation: 0.1 },
      { rows: 2_000, at: -4, deviation: 0.1 },
    ];
    const { low, high, shift, median } = fit(countsOf(parts, 50), 50);
    expect([low > -4, high < 4, Math.abs(median - 0.2) < 0.02]).toEqual([true, true, true]);
    const data = dataSource('normal rows');
    const left = Array.from({ length: 200_000 }, () => 0.2 + data.normal())
      .filter((x) => x >= low && x < high);
    expect(Math.abs(left.reduce((sum, x) => sum + x, 0) / left.length - 0.2 - shift))
      .toBeLessThan(0.015);
  });

  it('finds a small group in few bins that the noise of all bins farther out would hide', () => {
    // 330 rows at 3.28 are 7 standard deviations of one bin's noise, and 1.6 of all bins from
    // there.
    let found = 0;
    for (let seed = 0; seed < 40; seed++) {
      const parts =
        [{ rows: 19_670, at: 0, deviation: 1 }, { rows: 330, at: -3.28, deviation: 0.1 }];
      found += fit(countsOf(parts, 48, `crowd ${seed}`), 48).low > -3.5 ? 1 : 0;
    }
    expect(found).toBeGreaterThanOrEqual(34);
  });

  it('seldom takes noise for a group', () => {
    let cut = 0;
    for (let seed = 0; seed < 200; seed++) {
      const { low, high } =
        fit(countsOf([{ rows: 20_000, at: 0, deviation: 1 }], 48, `no crowd ${seed}`), 48);
      cut += low > -Infinity || high < Infinity ? 1 : 0;
    }
    // About 200 overlapping runs at 3.3 standard deviations: 2 of 100 histograms, and some rows
    // more.
    expect(cut).toBeLessThan(20);
  });

  it('states the standard deviation that medians have', () => {
    const noise = 400;
    const medians = Array.from({ length: 400 }, (_, i) =>
      fit(countsOf([{ rows: 1e5, at: 0.1, deviation: 1 }], noise, `deviation ${i}`), noise));
    const mean = medians.reduce((sum, { median }) => sum + median, 0) / 400;
    const deviation =
      Math.sqrt(medians.reduce((sum, { median }) => sum + (median - mean) ** 2, 0) / 399);
    expect(Math.abs(mean - 0.1)).toBeLessThan(0.005);
    // The counts hold no sampling error here; fitting the spread adds some error.
    expect(deviation / medians[0]!.medianError).toBeGreaterThan(0.7);
    expect(deviation / medians[0]!.medianError).toBeLessThan(1.4);
  });

  it('has nothing to say about noise alone, and a bin for every number', () => {
    expect(fitHistogram(new Float64Array(histogramBins), 10, 1.75)).toBeNull();
    expect(fitHistogram(countsOf([], 1, 'nothing').map((count) => -Math.abs(count)), 10, 1.75))
      .toBeNull();
    expect([-1e300, -6, -5.9, 0, 5.99, 6, 1e300].map(binOf)).toEqual([0, 0, 0, 32, 63, 63, 63]);
  });
});

describe('the widest axes', () => {
  it('are unit, perpendicular to each other and to those taken, above the threshold, widest '
    + 'first', () => {
    const dimension = 4;
    const diagonal =
      Float64Array.from({ length: 16 }, (_, at) => (at % 5 === 0 ? [3, 5, 0.1, 2][at / 5]! : 0));
    const first = widestAxes(diagonal, dimension, [], 1, 4);
    expect(first.map((axis) => axis.map(Math.abs).indexOf(1))).toEqual([1, 0, 3]);
    const taken = [Float64Array.of(0.6, 0.8, 0, 0)];
    const [next, ...rest] = widestAxes(diagonal, dimension, taken, 1, 4);
    expect(next!.reduce((sum, entry, i) => sum + entry * taken[0]![i]!, 0)).toBeCloseTo(0, 12);
    expect(Math.hypot(...next!)).toBeCloseTo(1, 12);
    // 3 * .64 + 5 * .36 is left beside the axis taken, and 2.
    expect([next!.map(Math.abs)[0]!.toFixed(3), rest.length]).toEqual(['0.800', 1]);
    expect(widestAxes(
      diagonal, dimension,
      [0, 1, 2, 3].map((k) => diagonal.map((_, i) => (i === k ? 1 : 0)).slice(0, 4)), -9, 4,
    ))
      .toEqual([]);
  });
});
