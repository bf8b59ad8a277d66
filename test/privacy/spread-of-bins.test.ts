import { describe, expect, it } from 'vitest';
import { randomOf } from '../../bench/accuracy/data.js';
import { zeroBin } from '../../src/numerics/kernels/column-counts.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { columnSpreadOf, deviationOf } from '../../src/privacy/stages/spread-of-bins.js';

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

  it('is widened for rows with heavy tails on one side, by no cluster among normal rows', () => {
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
    for (const cluster of [
      () => 1.7, () => 1.5 + normal(), () => 4.7 + normal(), () => 3, () => Math.abs(normal()),
    ]) {
      // A tenth of the rows spoils 19 pairs in 100; the honest quantile is then 1.29 times as far.
      const found = deviationOf(countsOf(() => (uniform() < 0.1 ? cluster() : normal())));
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

/** What the pairs of such rows tell when `threshold` of them keep a bin. */
function spreadOfRows(
  row: (random: ReturnType<typeof randomOf>) => number, pairs = 15_000, threshold = 300,
): { readonly spread: number; readonly medianSpread: number; readonly isDiscrete: boolean } {
  const random = randomOf('spread of rows');
  const counts = new Map<number, number>();
  for (let pair = 0; pair < pairs; pair++) {
    const difference = Math.abs(row(random) - row(random));
    const bin = difference === 0 ? zeroBin : Math.floor(Math.log2(difference));
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  const kept = [...counts].map(([bin, noisyCount]) => ({ bin, noisyCount }))
    .filter(({ noisyCount }) => noisyCount > threshold);
  return columnSpreadOf(kept, { pairs, threshold, corruption: 0.05 })!;
}

describe('the spread of a column', () => {
  it.each<[string, number, (random: ReturnType<typeof randomOf>) => number]>([
    ['normal', 1, ({ normal }) => normal()],
    ['exponential', 1, ({ uniform }) => -Math.log(uniform())],
    ['lognormal', 2.16, ({ normal }) => Math.exp(normal())],
    ['Student t, 3 degrees of freedom', 1.73, ({ normal }) =>
      normal() / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3)],
    ['70/30 in two places', 3.8, ({ uniform, normal }) => (uniform() < 0.7 ? 0 : 8) + normal()],
    ['zero in 70 of 100', 0.71, ({ uniform }) => (uniform() < 0.7 ? 0 : -Math.log(uniform()))],
    ['yes or no, 5 in 100', 0.218, ({ uniform }) => Number(uniform() < 0.05)],
    ['yes or no', 0.5, ({ uniform }) => Number(uniform() < 0.5)],
    ['1 to 5', 1.41, ({ uniform }) => Math.ceil(5 * uniform())],
  ])('is about the standard deviation: %s', (_, deviation, row) => {
    const { spread } = spreadOfRows(row);
    expect(spread / deviation).toBeGreaterThan(0.8);
    expect(spread / deviation).toBeLessThan(1.5);
  });

  it('counts pairs of equal values as pairs, and says that the column is discrete', () => {
    const rare = spreadOfRows(({ uniform }) => Number(uniform() < 0.05));
    const often = spreadOfRows(({ uniform }) => Number(uniform() < 0.5));
    expect(often.spread / rare.spread).toBeCloseTo(0.5 / 0.218, 0);
    expect([rare.isDiscrete, often.isDiscrete]).toEqual([true, true]);
    expect(spreadOfRows(({ normal }) => normal()).isDiscrete).toBe(false);
  });

  it('leaves out a cluster behind an empty doubling, if hostile rows can be it', () => {
    const cluster = (share: number): number => spreadOfRows(({ uniform, normal }) =>
      (uniform() < share ? 1_000 : normal())).spread;
    expect(cluster(0.05)).toBeLessThan(1.5);
    expect(cluster(0.3)).toBeGreaterThan(3);
  });

  // The pairs and the threshold of 100,000 rows of 10 columns.
  it('goes on half as far past a doubling that a cluster may be all of', () => {
    const spreadOf = (row: (random: ReturnType<typeof randomOf>) => number): number =>
      spreadOfRows(row, 26_491, 379).spread;
    const cluster = spreadOf(({ uniform, normal }) =>
      normal() + (uniform() < 0.05 ? 1.5 * Math.sqrt(10) : 0));
    expect(cluster).toBeLessThan(1.8);
    expect(cluster).toBeGreaterThan(1.44);
    const lognormal = spreadOf(({ normal }) => Math.exp(normal()));
    expect(lognormal / 2.16).toBeGreaterThan(0.8);
  });

  it('is right when half of the planned people come', () => {
    const kept = binsOf(1, 5_000, 300);
    const facts = { threshold: 300, corruption: 0.05 };
    const all = columnSpreadOf(kept, { ...facts, pairs: 5_000 })!;
    const half = columnSpreadOf(kept, { ...facts, pairs: 11_000 })!;
    expect(half.spread / all.spread).toBeGreaterThan(0.9);
  });

  it('is unknown when no pair that differs was seen', () => {
    const facts = { pairs: 15_000, threshold: 300, corruption: 0.05 };
    expect(columnSpreadOf([{ bin: zeroBin, noisyCount: 14_000 }], facts)).toBeNull();
    expect(columnSpreadOf([], facts)).toBeNull();
  });
});
