import { describe, expect, it } from 'vitest';
import { axisEdge, coreOf, mayHideCore } from '../../../src/estimators/pooled/core-fit.js';
import { isSmooth } from '../../../src/estimators/pooled/smooth-shape.js';
import { axisBins } from '../../../src/estimators/pooled/valleys.js';
import { normalCdf } from '../../../src/numerics/normal.js';
import { dataSource } from '../../support/data.js';

type Share = (x: number) => number;
const normal = (mean: number, width: number): Share => (x) => normalCdf((x - mean) / width);

/** Expected counts of rows whose share below x is this. */
function countsOf(rows: number, ...parts: readonly (readonly [number, Share])[]): Float64Array {
  const below = (bin: number): number => {
    const x = axisEdge(bin);
    return parts.reduce((sum, [share, of]) =>
      sum + share * (x === Infinity ? 1 : x === -Infinity ? 0 : of(x)), 0);
  };
  return Float64Array.from({ length: axisBins }, (_, bin) =>
    rows * (below(bin + 1) - below(bin)));
}

const seen = (counts: Float64Array, noise = 40, corruption = 0.05) =>
  ({ counts, noise, corruption });

describe('the core along an axis', () => {
  const mixed = countsOf(100_000, [0.95, normal(0.3, 0.9)], [0.05, normal(3.3, 0.9)]);

  it.each([100_000, 400_000])('stands where the honest rows of %d are, beside a crowd', (rows) => {
    const counts = countsOf(rows, [0.95, normal(0.3, 0.9)], [0.05, normal(4.2, 0.9)]);
    const core = coreOf(seen(counts))!;
    expect(Math.abs(core.mean - 0.3)).toBeLessThan(0.002);
    expect(core.low).toBe(0);
    // Between the two, nearer to the crowd: densities cross at 2.6.
    expect(axisEdge(core.high)).toBeGreaterThan(1.5);
    expect(axisEdge(core.high)).toBeLessThan(3);
    const left = coreOf(seen(counts.slice().reverse()))!;
    expect(left.mean).toBeCloseTo(-core.mean, 9);
    expect([left.low, left.high]).toEqual([axisBins - core.high, axisBins]);
  });

  it('is not split where no crowd stands, or one of more rows than may be hostile', () => {
    expect(coreOf(seen(countsOf(100_000, [1, normal(0.1, 1)])))).toBeNull();
    expect(coreOf(seen(mixed))).not.toBeNull();
    expect(coreOf(seen(mixed, 40, 0.02))).toBeNull();
  });

  it('is not split by noise: at most 1 of 300 histograms of one normal shape', () => {
    const data = dataSource('normal cores');
    const expected = countsOf(20_000, [1, normal(-0.1, 0.8)]);
    const found = Array.from({ length: 300 }, () => coreOf(seen(expected.map((count) =>
      count + Math.sqrt(40 ** 2 + count) * data.normal()))));
    // The chance of two or more is below 1e-6 if 1 of 200,000 is split.
    expect(found.filter((core) => core !== null).length).toBeLessThanOrEqual(1);
  });

  it('is found beside a cluster in a few bins, whatever the noise of the empty bins is', () => {
    const data = dataSource('touching clusters');
    // As a twentieth of 20,000 people, 4.7 deviations off, in a generous spread.
    const expected = countsOf(20_000, [0.95, normal(-0.1, 0.64)], [0.05, normal(2.8, 0.7)]);
    const found = Array.from({ length: 60 }, () => coreOf(seen(expected.map((count) =>
      count + Math.sqrt(40 ** 2 + count) * data.normal()))));
    // With the noise of all bins to the last one, 42 of the 60 were found.
    expect(found.filter((core) => core !== null).length).toBeGreaterThanOrEqual(54);
  });

  it('is left alone where noise hides it, and a second look may tell', () => {
    const few = countsOf(5_000, [0.95, normal(0, 0.8)], [0.05, normal(4, 0.8)]);
    expect(coreOf(seen(few))).toBeNull();
    const nearly = countsOf(20_000, [0.95, normal(0, 0.8)], [0.05, normal(3.5, 0.8)]);
    expect(coreOf(seen(nearly, 75))).toBeNull();
    expect(mayHideCore(seen(nearly, 75))).toBe(true);
    expect(coreOf(seen(nearly, 28))).not.toBeNull();
    expect(mayHideCore(seen(countsOf(20_000, [1, normal(0, 0.8)])))).toBe(false);
  });
});

describe('one smooth shape', () => {
  const gumbel: Share = (x) => Math.exp(-Math.exp(-(x + 0.45) / 0.78));
  const logistic: Share = (x) => 1 / (1 + Math.exp(-x / 0.45));
  const lognormal: Share = (x) => (x <= -3 ? 0 : normalCdf((Math.log(x + 3) - 1.05) / 0.3));

  it.each([
    ['normal', normal(0.2, 0.9)], ['gumbel', gumbel], ['logistic', logistic],
    ['lognormal', lognormal],
  ])('explains skewed and long tails: %s', (_, share) => {
    for (const rows of [20_000, 100_000]) {
      expect(isSmooth(seen(countsOf(rows, [1, share])))).toBe(true);
    }
  });

  it('does not explain a crowd beside a normal shape', () => {
    for (const at of [3, 4, 6]) {
      const counts = countsOf(100_000, [0.95, normal(0, 0.9)], [0.05, normal(at, 0.9)]);
      expect(isSmooth(seen(counts))).toBe(false);
    }
  });
});
