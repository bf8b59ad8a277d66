import { describe, expect, it } from 'vitest';
import {
  deviationsAsNormal, multipliedNoise, noiseDeviations,
} from '../../src/base/noise-deviations.js';
import { QuestionSeries } from '../../src/series/release-series.js';

const laplace = { kind: 'laplace', scale: [1, 3] } as const;
const gaussian = { kind: 'gaussian', standardDeviation: [2, 4] } as const;

describe('the noise that a release states', () => {
  it('has the deviations of its law, where that is known', () => {
    expect(noiseDeviations(gaussian)).toEqual([2, 4]);
    expect(noiseDeviations(laplace)).toEqual([Math.SQRT2, 3 * Math.SQRT2]);
    expect(noiseDeviations({ kind: 'grid', spacing: 1 })).toBeNull();
    expect(noiseDeviations({ kind: 'none' })).toBeNull();
  });

  it('holds 95 % within 1.96 of the deviations of normal noise as wide', () => {
    const [scale] = deviationsAsNormal(laplace)!;
    expect(Math.exp(-1.96 * scale!)).toBeLessThanOrEqual(0.05);
    expect(Math.exp(-1.96 * scale!)).toBeGreaterThan(0.0499);
    expect(deviationsAsNormal(gaussian)).toEqual([2, 4]);
  });

  it('grows with the numbers that it is in', () => {
    const by = (place: number): number => place + 2;
    expect(multipliedNoise(laplace, by)).toEqual({ kind: 'laplace', scale: [2, 9] });
    expect(multipliedNoise(gaussian, by)).toEqual({ kind: 'gaussian', standardDeviation: [4, 12] });
    expect(multipliedNoise({ kind: 'none' }, by)).toEqual({ kind: 'none' });
  });

  it('makes totals and smoothed lines of answers with Laplace noise', () => {
    const series = new QuestionSeries('trips', 10);
    for (const epoch of [0, 1, 2, 3]) {
      series.take(epoch, { kind: 'value', estimate: [10, 20], shape: [2], uncertainty: laplace });
    }
    expect(series.fault).toBeNull();
    expect(series.numbers[0]!.total).toMatchObject({ value: 40, answered: 4, missing: 0 });
    expect(series.numbers[0]!.total.deviation).toBeCloseTo(2 * 1.52844, 4);
  });
});
