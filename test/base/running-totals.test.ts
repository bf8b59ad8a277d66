import { Matrix, inverse } from 'ml-matrix';
import { describe, expect, it } from 'vitest';
import { factorStep, rootColumn } from '../../src/base/root-factor.js';
import { RunningTotals } from '../../src/base/running-totals.js';
import { dataSource } from '../support/data.js';

/** The banded C in units of 1. */
function dense(band: number, size: number): Matrix {
  const column = rootColumn(band);
  return Matrix.from1DArray(size, size, Array.from({ length: size * size }, (_, at) => {
    const k = Math.floor(at / size) - at % size;
    return k < 0 ? 0 : (column[k] ?? 0) * factorStep;
  }));
}

describe('running totals', () => {
  it.each([1, 2, 5, 12])('equal the dense inverse for band %i, windows as well', (band) => {
    const size = 12;
    const data = dataSource(`band ${band}`);
    const released = Array.from({ length: size }, () => 100 * data.normal());
    const back = inverse(dense(band, size));
    const totals = new RunningTotals(band);
    for (const each of released) totals.take(each);
    for (const [from, to] of [[0, size], [0, 1], [3, 7], [5, 6], [size - 4, size]] as const) {
      const weights = Matrix.zeros(1, size);
      for (let j = from; j < to; j++) weights.set(0, j, 1);
      const reach = weights.mmul(back).to1DArray();
      const { value, deviation } = totals.between(from, to);
      expect(value).toBeCloseTo(
        reach.reduce((sum, each, j) => sum + each * released[j]!, 0), 8);
      expect(deviation).toBeCloseTo(Math.hypot(...reach), 8);
    }
    expect(totals.total).toEqual(totals.between(0, size));
  });

  it('have no noise of their own over ten years of days', () => {
    const band = 364;
    const column = rootColumn(band);
    const values = Array.from({ length: 3_000 }, (_, p) => 1_000 + p % 17);
    const totals = new RunningTotals(band);
    values.forEach((_, p) => {
      let steps = 0;
      for (let k = 0; k < band && k <= p; k++) steps += column[k]! * values[p - k]!;
      totals.take(steps * factorStep);
    });
    const exact = values.reduce((sum, value) => sum + value, 0);
    expect(Math.abs(totals.total.value - exact)).toBeLessThan(1e-3);
  });
});
