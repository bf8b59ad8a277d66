import { Matrix, inverse } from 'ml-matrix';
import { describe, expect, it } from 'vitest';
import { LocalLevel, smoothedLevels, type Measured } from '../../src/series/local-level.js';
import { dataSource } from '../support/data.js';

/** A random walk with steps of this variance, seen with noise of deviation 1. */
function walk(seed: number, releases: number, step: number): {
  readonly exact: readonly number[]; readonly series: readonly Measured[];
} {
  const data = dataSource(`walk ${seed}`);
  const exact: number[] = [];
  const series: Measured[] = [];
  let value = 40;
  for (let epoch = 1; epoch <= releases; epoch++) {
    value += Math.sqrt(step) * data.normal();
    exact.push(value);
    series.push({ epoch, value: value + data.normal(), deviation: 1 });
  }
  return { exact, series };
}

const rms = (errors: readonly number[]): number => Math.hypot(...errors) / Math.sqrt(errors.length);

describe('a local level', () => {
  // Standard deviations in units of that of one release, in the steady state.
  it.each([
    { step: 1, then: 0.786, all: 0.669 }, { step: 0.1, then: 0.52, all: 0.395 },
    { step: 0.01, then: 0.308, all: 0.223 }, { step: 0.001, then: 0.176, all: 0.126 },
  ])('knows the exact value to $then and $all where steps have variance $step', (row) => {
    const { exact, series } = walk(11, 4_000, row.step);
    const steps = Float64Array.of(row.step);
    const filter = new LocalLevel(steps);
    const then = series.map((each) => filter.take(each)!);
    const all = smoothedLevels(series, steps);
    expect(then.at(-1)!.deviation).toBeCloseTo(row.then, 2);
    expect(all[2_000]!.deviation).toBeCloseTo(row.all, 2);
    // The errors are as large as it says. Near ones are alike, so 3,600 count as about 60.
    const inside = Array.from({ length: 3_600 }, (_, i) => i + 200);
    const error = (level: { readonly value: number }, i: number): number => level.value - exact[i]!;
    for (const [levels, deviation] of [[then, row.then], [all, row.all]] as const) {
      const ratio = rms(inside.map((i) => error(levels[i]!, i))) / deviation;
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
    }
  });

  it('equals the dense normal posterior, with gaps, skipped epochs and unequal noise', () => {
    const data = dataSource('gaps');
    const step = 0.3;
    const series = [1, 2, 4, 5, 9, 10, 11, 15].map((epoch, i): Measured => (i === 3 || i === 5
      ? { epoch, value: null, deviation: 0 }
      : { epoch, value: 100 + 3 * data.normal(), deviation: 0.5 + i / 4 }));
    const unit = series[0]!.deviation ** 2;
    // A flat prior of the first value, the steps' precisions, then those of the answers.
    const n = series.length;
    const precision = Matrix.zeros(n, n);
    const right = Matrix.zeros(n, 1);
    const add = (i: number, j: number, amount: number): void => {
      precision.set(i, j, precision.get(i, j) + amount);
    };
    series.forEach(({ epoch, value, deviation }, i) => {
      if (i > 0) {
        const amount = 1 / (step * unit * (epoch - series[i - 1]!.epoch));
        add(i, i, amount);
        add(i - 1, i - 1, amount);
        add(i, i - 1, -amount);
        add(i - 1, i, -amount);
      }
      if (value === null) return;
      add(i, i, 1 / deviation ** 2);
      right.set(i, 0, value / deviation ** 2);
    });
    const covariance = inverse(precision);
    const means = covariance.mmul(right);
    const found = smoothedLevels(series, Float64Array.of(step));
    found.forEach((level, i) => {
      expect(level!.value).toBeCloseTo(means.get(i, 0), 8);
      expect(level!.deviation).toBeCloseTo(Math.sqrt(covariance.get(i, i)), 8);
    });
    const filter = new LocalLevel(Float64Array.of(step));
    const last = series.map((each) => filter.take(each)).at(-1)!;
    expect(last.value).toBeCloseTo(means.get(n - 1, 0), 8);
    expect(last.deviation).toBeCloseTo(Math.sqrt(covariance.get(n - 1, n - 1)), 8);
  });

  it.each([
    { step: 0.01, releases: 40 }, { step: 1, releases: 40 }, { step: 30, releases: 20 },
    { step: 0.001, releases: 10 }, { step: 0.1, releases: 10 }, { step: 1, releases: 10 },
  ])('covers 95 % without knowing that steps have variance $step, $releases releases', (row) => {
    const runs = 300;
    const counts = { then: 0, all: 0 };
    for (let run = 0; run < runs; run++) {
      const { exact, series } = walk(1_000 + run, row.releases, row.step);
      const levels = smoothedLevels(series);
      const middle = row.releases >> 1;
      // The last one has no releases after it.
      const [all, then] = [levels[middle]!, levels.at(-1)!];
      if (Math.abs(then.value - exact.at(-1)!) < 1.96 * then.deviation) counts.then += 1;
      if (Math.abs(all.value - exact[middle]!) < 1.96 * all.deviation) counts.all += 1;
    }
    // 90 % of 300 is four deviations below 95 %.
    expect(counts.then).toBeGreaterThan(0.9 * runs);
    expect(counts.all).toBeGreaterThan(0.9 * runs);
  });

  it('finds the size of steps', () => {
    for (const step of [0.04, 1, 25]) {
      const { series } = walk(3, 400, step);
      const filter = new LocalLevel();
      series.forEach((each) => filter.take(each));
      expect(filter.stepDeviation! / Math.sqrt(step)).toBeGreaterThan(0.75);
      expect(filter.stepDeviation! / Math.sqrt(step)).toBeLessThan(1.33);
    }
  });

  it('does not depend on units or on the origin', () => {
    const { series } = walk(4, 20, 0.1);
    const plain = smoothedLevels(series);
    const scaled = smoothedLevels(series.map(({ epoch, value, deviation }) =>
      ({ epoch, value: 1e9 + 1e-3 * value!, deviation: 1e-3 * deviation })));
    scaled.forEach((level, i) => {
      expect(level!.deviation / 1e-3).toBeCloseTo(plain[i]!.deviation, 3);
      expect((level!.value - 1e9) / 1e-3).toBeCloseTo(plain[i]!.value, 3);
    });
  });

  it('knows nothing before the first answer', () => {
    const gap = (epoch: number): Measured => ({ epoch, value: null, deviation: 0 });
    const series = [gap(1), gap(2), { epoch: 3, value: 5, deviation: 2 }, gap(4)];
    const filter = new LocalLevel();
    expect(filter.stepDeviation).toBeNull();
    const then = series.map((each) => filter.take(each));
    const all = smoothedLevels(series);
    for (const levels of [then, all]) {
      expect(levels.slice(0, 2)).toEqual([null, null]);
      expect(levels[2]).toEqual({ value: 5, deviation: 2 });
      expect(levels[3]!.value).toBe(5);
      expect(levels[3]!.deviation).toBeGreaterThan(2);
    }
    expect(smoothedLevels([])).toEqual([]);
  });
});
