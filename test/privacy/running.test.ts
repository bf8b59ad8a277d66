import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import { factorStep, rootColumn } from '../../src/base/root-factor.js';
import { bandFor, bandMaximum, runningFactor } from '../../src/privacy/running/running-factor.js';
import { RunningInputs } from '../../src/privacy/running/running-inputs.js';
import { RunningTotals, SeriesReader } from '../../src/base/running-totals.js';

const opened = (sensitive: Sensitive<Float64Array>): readonly number[] =>
  Array.from(openSensitive(sensitive));
const one = (value: number): Sensitive<Float64Array> => Sensitive.of(Float64Array.of(value));

/** |C x|^2 in steps^2, exactly. */
function squaredLength(column: Float64Array, values: readonly number[]): number {
  return values.reduce((sum, _, p) => {
    const row = values.slice(0, p + 1)
      .reduce((mixed, value, j) => mixed + (column[p - j] ?? 0) * value, 0);
    return sum + row * row;
  }, 0);
}

/** Every way to be in some of `length` positions, any two at least `apart` apart. */
function participations(length: number, apart: number): readonly (readonly number[])[] {
  if (length <= 0) return [[]];
  return [
    ...participations(length - 1, apart),
    ...participations(length - apart, apart).map((earlier) => [...earlier, length - 1]),
  ];
}

/** The most that values in -1, 0, 1 move C x, per participation, in units of 1. */
function mostPerParticipation(band: number, apart: number, length: number): number {
  const column = rootColumn(band);
  let most = 0;
  for (const positions of participations(length, apart)) {
    for (let signs = 0; signs < 2 ** positions.length; signs++) {
      const values = Array.from({ length }, () => 0);
      positions.forEach((p, i) => { values[p] = (signs >> i & 1) === 1 ? 1 : -1; });
      if (positions.length > 0) {
        most = Math.max(most, squaredLength(column, values) / positions.length);
      }
    }
  }
  return Math.sqrt(most) * factorStep;
}

describe('the factor of running totals', () => {
  it('moves by exactly its norm per participation, by brute force', () => {
    for (const band of [1, 2, 3, 4, 5]) {
      const { norm } = runningFactor(band);
      const most = mostPerParticipation(band, band, 10);
      expect(norm).toBeGreaterThanOrEqual(most);
      expect(norm).toBeLessThan(most * (1 + 1e-12));
    }
  });

  it('moves by more where participations are nearer than the band', () => {
    for (const band of [2, 3, 5]) {
      const excess = mostPerParticipation(band, band - 1, 9) / runningFactor(band).norm;
      expect(excess).toBeGreaterThan(1.02);
    }
  });

  // Each contributor at most once in `separation` epochs, 365 epochs, one total budget; in units of
  // the deviation of a single release at that budget.
  it.each([
    { separation: 365, independent: 19.1, running: 2.94 },
    { separation: 90, independent: 42.7, running: 7.91 },
    { separation: 30, independent: 68.9, running: 17.6 },
    { separation: 7, independent: 139.1, running: 62.1 },
  ])('gives totals of a year a deviation of $running once per $separation', (row) => {
    const band = bandFor(row.separation);
    const epochs = 365;
    const times = Math.ceil(epochs / row.separation);
    const totals = new RunningTotals(band);
    for (let p = 0; p < epochs; p++) totals.take(0);
    const deviation = totals.total.deviation * runningFactor(band).norm * Math.sqrt(times);
    expect(deviation).toBeCloseTo(row.running, row.running < 10 ? 2 : 1);
    expect(Math.sqrt(epochs * times)).toBeCloseTo(row.independent, 1);
    if (row.separation === 365) expect(deviation).toBeLessThan(2.95);
  });

  it('takes bands and separations within its limits', () => {
    expect(bandFor(2)).toBe(2);
    expect(() => bandFor(1)).toThrow('the separation of a running total is 1 epochs: give a whole');
    expect(() => runningFactor(0)).toThrow('the band of a running total is 0: give a whole number');
    expect(() => runningFactor(bandMaximum + 1)).toThrow('the band of a running total is 3654');
    // Sums of squares of a column stay exact.
    expect(runningFactor(bandMaximum).norm).toBeLessThan(2 ** 53 * factorStep ** 2);
  });
});

describe('the values of a running series', () => {
  it('are mixed exactly, and read back as they were', () => {
    fc.assert(fc.property(
      fc.integer({ min: 2, max: 9 }),
      fc.array(fc.integer({ min: -500, max: 500 }), { maxLength: 40 }),
      (separation, epochs) => {
        let inputs = new RunningInputs(separation, 1);
        const totals = new RunningTotals(separation);
        let reader = new SeriesReader(separation, 1);
        let expected = 0;
        for (const value of epochs) {
          // A restart between epochs changes nothing.
          inputs = new RunningInputs(separation, 1, inputs.recent);
          reader = new SeriesReader(separation, 1, reader.state);
          const [mixed] = opened(inputs.next(one(value)));
          expect(Number.isInteger(mixed! / factorStep)).toBe(true);
          totals.take(mixed!);
          inputs.released(one(value));
          expected += value;
          expect(totals.total.value).toBeCloseTo(expected, 6);
          const read = reader.take([mixed!]);
          expect(read.totals[0]).toBeCloseTo(expected, 6);
          expect(read.deviation).toBeCloseTo(totals.total.deviation, 12);
        }
      },
    ), { seed: 18, numRuns: 300 });
  });

  /** The distance by which one contributor moves all rows, squared, against what it was charged. */
  const excess = (
    separation: number, isReleased: readonly boolean[], at: readonly number[],
  ): number => {
    const rows = [0, 1].map((amount) => {
      let inputs = new RunningInputs(separation, 1);
      return isReleased.flatMap((answered, epoch) => {
        const value = one(at.includes(epoch) ? amount : 0);
        if (!answered) {
          inputs = new RunningInputs(separation, 1);
          return [];
        }
        const mixed = opened(inputs.next(value));
        inputs.released(value);
        return mixed;
      });
    });
    const { norm } = new RunningInputs(separation, 1).factor;
    const moved = rows[0]!.reduce((sum, value, i) => sum + (value - rows[1]![i]!) ** 2, 0);
    return moved / (at.length * norm ** 2);
  };

  it('move by no more than is charged, whatever is interrupted, by brute force', () => {
    const epochs = 8;
    let most = 0;
    for (const separation of [2, 3, 4]) {
      for (const at of participations(epochs, separation)) {
        if (at.length === 0) continue;
        for (let mask = 0; mask < 2 ** epochs; mask++) {
          const released = Array.from({ length: epochs }, (_, i) => (mask >> i & 1) === 1);
          most = Math.max(most, excess(separation, released, at));
        }
      }
    }
    expect(most).toBeLessThanOrEqual(1);
    expect(most).toBeGreaterThan(0.999);
  });

  it('move by more if a contributor comes again too early', () => {
    expect(excess(4, Array.from({ length: 8 }, () => true), [0, 3])).toBeGreaterThan(1.02);
  });

  it('never throw for large values', () => {
    const inputs = new RunningInputs(2, 2);
    const huge = Sensitive.of(Float64Array.of(1e300, -1e300));
    const { valueMax, column } = inputs.factor;
    inputs.released(huge);
    const whole = column[0]! + column[1]!;
    expect(opened(inputs.next(huge))).toEqual([valueMax, -valueMax].map((value) =>
      whole * value * factorStep));
    expect(whole * valueMax).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
  });
});
