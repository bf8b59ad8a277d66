import { describe, expect, it } from 'vitest';
import { randomOf } from '../../bench/accuracy/data.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { deviationOf } from '../../src/privacy/stages/scale-of-bins.js';

/** Counts per doubling of the differences of normal rows, those above `least`. */
function binsOf(
  deviation: number, count: number, least = 0,
): { bin: number; noisyCount: number }[] {
  const within = (edge: number): number => 2 * normalCdf(edge / (Math.SQRT2 * deviation)) - 1;
  return Array.from({ length: 120 }, (_, i) => i - 60)
    .map((bin) => ({ bin, noisyCount: count * (within(2 ** (bin + 1)) - within(2 ** bin)) }))
    .filter(({ noisyCount }) => noisyCount > least);
}

describe('a deviation from counts per doubling', () => {
  const deviations = Array.from({ length: 16 }, (_, i) => 2 ** (i / 16));

  // The few in a thousand that are cut off take a quarter of a hundredth at most.
  it('is that of a normal shape, wherever it lies between two powers of two, in any order of '
    + 'bins', () => {
    for (const deviation of deviations) {
      expect(Math.abs(deviationOf(binsOf(deviation, 1e9, 1).reverse()) / deviation - 1))
        .toBeLessThan(4e-3);
    }
  });

  it('is correct to a tenth if small bins are lost', () => {
    for (const deviation of deviations) {
      for (const least of [30, 100]) {
        expect(Math.abs(deviationOf(binsOf(deviation, 1_000, least)) / deviation - 1))
          .toBeLessThan(0.12);
      }
    }
  });

  it('leaves out bins that no such rows could reach, however many are there', () => {
    for (const deviation of deviations) {
      const bins = [
        ...binsOf(deviation, 1_000, 1), { bin: 12, noisyCount: 300 }, { bin: 40, noisyCount: 300 },
      ];
      expect(Math.abs(deviationOf(bins) / deviation - 1)).toBeLessThan(0.02);
    }
  });

  it('is widened for rows with heavy tails on one side, and by no crowd among normal rows', () => {
    const { uniform, normal } = randomOf('tails');
    const countsOf = (row: () => number): { bin: number; noisyCount: number }[] => {
      const counts = new Map<number, number>();
      for (let pair = 0; pair < 60_000; pair++) {
        const bin = Math.floor(Math.log2(Math.abs(row() - row())));
        counts.set(bin, (counts.get(bin) ?? 0) + 1);
      }
      return [...counts].map(([bin, noisyCount]) => ({ bin, noisyCount }))
        .filter(({ noisyCount }) => noisyCount > 60);
    };
    // Index 3, deviation 1: half of the differences say .34, and honest tails would then seem
    // hostile.
    const tails = deviationOf(countsOf(() => (uniform() ** (-1 / 3) - 1.5) / Math.sqrt(0.75)));
    expect(tails).toBeGreaterThan(0.43);
    expect(tails).toBeLessThan(0.7);
    for (const crowd of [
      () => 1.7, () => 1.5 + normal(), () => 4.7 + normal(), () => 3, () => Math.abs(normal()),
    ]) {
      // A tenth of the rows spoils 19 pairs in 100; the honest quantile is then 1.29 times as far.
      const found = deviationOf(countsOf(() => (uniform() < 0.1 ? crowd() : normal())));
      expect(found).toBeGreaterThan(0.92);
      expect(found).toBeLessThan(1.32);
    }
  });

  it('stays within the bin of the median, also of one that is all there is', () => {
    const [lowest, highest] = [8, 16].map((edge) => edge / 0.9539);
    expect(deviationOf([{ bin: 3, noisyCount: 50 }])).toBeGreaterThanOrEqual(lowest! * 0.999);
    expect(deviationOf([{ bin: 2, noisyCount: 5 }, { bin: 3, noisyCount: 500 }]))
      .toBeLessThanOrEqual(highest! * 1.001);
    expect(deviationOf([{ bin: -200, noisyCount: 9 }])).toBeGreaterThan(0);
    expect(deviationOf([{ bin: 200, noisyCount: 9 }])).toBeLessThan(Infinity);
  });
});
