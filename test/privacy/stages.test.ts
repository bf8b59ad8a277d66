import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import { centreEvents, privateCentre, type Centre } from '../../src/privacy/stages/centre.js';
import { clipBall, clipToBall } from '../../src/privacy/stages/clip.js';
import {
  clippedMeanEvents, clippedSum, privateClippedMean,
} from '../../src/privacy/stages/clipped-mean.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

const asked = { cohort: 'all', dimension: 2, rho: 0.05, delta: 1e-6 };

function block(rows: readonly (readonly number[])[], dimension = 2): RowBlock {
  return { count: rows.length, dimension, values: Float64Array.from(rows.flat()) };
}

function gaussianRows(count: number, centre: readonly number[], seed: string): number[][] {
  const work = seededRandom(new TextEncoder().encode(seed));
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - work.uniform())) * Math.cos(2 * Math.PI * work.uniform());
  return Array.from({ length: count }, () => centre.map((middle) => middle + normal()));
}

function drawCentre(
  rows: RowBlock, spread: number | readonly number[] = 1, seed = 'centre',
): Centre {
  const events = centreEvents({ ...asked, dimension: rows.dimension });
  return privateCentre(
    createMechanisms(events, seededNoise(seed)), Sensitive.of(rows), rows.dimension, spread,
  ).value;
}

function found(centre: Centre): number[] {
  expect(centre.kind).toBe('centre');
  return centre.kind === 'centre' ? [...centre.centre] : [];
}

describe('the private centre', () => {
  it('costs what it was given', () => {
    const cost = costOfEvents(centreEvents(asked), { disjoint: [] });
    expect(cost.rho <= amountOf(0.05)).toBe(true);
    expect(Number(cost.rho) / 2 ** 64).toBeGreaterThan(0.05 * (1 - 1e-5));
    expect(cost.delta).toBe(amountOf(1e-6));
  });

  it.each([[[0, 0]], [[1e6, -1e6]], [[3e15, 0.5]]])('finds Gaussian rows around %j', (middle) => {
    const centre = found(drawCentre(block(gaussianRows(2000, middle, 'find'))));
    centre.forEach((entry, j) => expect(Math.abs(entry - middle[j]!)).toBeLessThan(0.6));
  });

  it('works in the spread of each column', () => {
    const rows = gaussianRows(2000, [5, -3], 'scale').map(([x, y]) => [x! * 1000, y! / 1000]);
    const centre = found(drawCentre(block(rows), [1000, 0.001]));
    expect(Math.abs(centre[0]! / 1000 - 5)).toBeLessThan(0.3);
    expect(Math.abs(centre[1]! * 1000 + 3)).toBeLessThan(0.3);
  });

  it('finds a column whose values all coincide', () => {
    const rows = gaussianRows(2000, [0, 0], 'constant').map(([x]) => [x!, 7.77]);
    expect(Math.abs(found(drawCentre(block(rows)))[1]! - 7.77)).toBeLessThan(0.06);
  });

  it('stays when a tenth of the rows is elsewhere, near or at the end of the doubles', () => {
    for (const elsewhere of [8, 1e300, -1.7e308, NaN, Infinity]) {
      const rows = gaussianRows(3000, [1, 2], 'outliers')
        .map((row, i) => (i % 10 === 0 ? [elsewhere, elsewhere] : row));
      found(drawCentre(block(rows)))
        .forEach((entry, j) => expect(Math.abs(entry - (j + 1))).toBeLessThan(0.4));
    }
  });

  it('finds nothing in too few rows, none, rows that share no bin, or rows too far for '
    + 'bins', () => {
    expect(drawCentre(block(gaussianRows(20, [0, 0], 'few'))))
      .toEqual({ kind: 'failed', coordinates: [0, 1] });
    expect(drawCentre(block([])).kind).toBe('failed');
    expect(drawCentre(block(Array.from({ length: 2000 }, (_, i) => [i * 10, 0])))).toEqual({
      kind: 'failed', coordinates: [0],
    });
    expect(drawCentre(block(Array.from({ length: 2000 }, () => [1e17, 0])))).toEqual({
      kind: 'failed', coordinates: [0],
    });
  });

  it('gives its mechanisms values of the sensitivity they are charged '
    + 'for', { tags: ['long'] }, () => {
    const entry = fc.oneof(
      fc.integer({ min: -30, max: 30 }).map((x) => x / 4),
      fc.constantFrom(NaN, 1e300, -1e16, 1e17, 0, -0),
    );
    const row = fc.tuple(entry, entry);
    const base = [...gaussianRows(700, [0.3, -2], 'neighbours')];
    const change =
      fc.record({ extra: fc.array(row, { maxLength: 20 }), old: row, next: fc.option(row) });
    fc.assert(fc.property(change, ({ extra, old, next }) => {
      const common = [...base, ...extra];
      const [left, right] = [[...common, old], next === null
        ? common : [...common, next]].map((rows) => {
        const { mechanisms, recorded } = recordingMechanisms(centreEvents(asked));
        const centre = privateCentre(mechanisms, Sensitive.of(block(rows)), 2, 1);
        return { centre: centre.value, recorded };
      });
      const [binsLeft, binsRight] = [left!, right!].map(
        ({ recorded }) => recorded[0]!.content as ReadonlyMap<number, number>[],
      );
      binsLeft!.forEach((bins, j) => {
        const others = binsRight![j]!;
        const changes = [...new Set([
          ...bins.keys(), ...others.keys(),
        ])].map((bin) => (bins.get(bin) ?? 0) - (others.get(bin) ?? 0));
        expect(changes.reduce((sum, step) => sum + Math.abs(step), 0)).toBeLessThanOrEqual(2);
        // A bin that one side lacks holds a single row on the other.
        for (const [bin, count] of bins) if (!others.has(bin)) expect(count).toBe(1);
      });
      // The window follows from the noisy counts, which may differ; with equal windows scores are
      // comparable.
      const windows = [left!, right!].map(({ recorded }) => recorded.length);
      expect(windows).toEqual([3, 3]);
      for (const step of [1, 2]) {
        const [scores, others] = [left!, right!].map(({ recorded }) =>
          recorded[step]!.content as Float64Array);
        const most = next === null ? 0.5 : 1;
        scores!.forEach((score, cell) =>
          expect(Math.abs(score - others![cell]!)).toBeLessThanOrEqual(most));
      }
    }), { seed: 5, numRuns: 60 });
  });
});

describe('clipping', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

  it('never leaves the ball, exactly, for rows of any size', () => {
    const size = fc.double({ min: 0.01, max: 1e6, noNaN: true });
    fc.assert(fc.property(fc.array(
      finite, { minLength: 1, maxLength: 40 },
    ), size, fc.boolean(), (row, radius, products) => {
      const ball = clipBall(radius, products ? { products: true, rowsMax: 1e5 } : { sums: true });
      const steps = new Float64Array(row.length);
      expect(clipToBall(Float64Array.from(row), 0, new Float64Array(row.length), ball, steps))
        .toBe(true);
      const square = steps.reduce((sum, entry) => sum + BigInt(entry) ** 2n, 0n);
      expect(square <= BigInt(ball.steps) ** 2n).toBe(true);
      expect(ball.radius).toBeLessThanOrEqual(radius);
      expect(ball.radius).toBeGreaterThan(radius * (1 - (products ? 1e-4 : 1e-6)));
    }), { seed: 6, numRuns: 400 });
  });

  it('keeps what is inside to a step, and the direction of what is outside', () => {
    const ball = clipBall(5, { sums: true });
    const steps = new Float64Array(2);
    clipToBall(Float64Array.of(9, 9, 4, 2.5), 2, Float64Array.of(1, 1), ball, steps);
    expect([...steps].map((entry) => entry * ball.grid)).toEqual([3, 1.5]);
    clipToBall(Float64Array.of(31, -39), 0, Float64Array.of(1, 1), ball, steps);
    expect(steps[0]! * ball.grid).toBeCloseTo(3, 5);
    expect(steps[1]! * ball.grid).toBeCloseTo(-4, 5);
    clipToBall(Float64Array.of(-0.3, 1e-9), 0, Float64Array.of(0, 0), ball, steps, [0.1, 1]);
    expect(steps[0]! * ball.grid).toBeCloseTo(-3, 5);
    expect(Object.is(steps[1], 0)).toBe(true);
  });

  it('takes rows that are not finite for null rows', () => {
    const ball = clipBall(5, { sums: true });
    const steps = Float64Array.of(3, 4);
    for (const bad of [NaN, Infinity, -Infinity]) {
      expect(clipToBall(Float64Array.of(1, bad), 0, Float64Array.of(0, 0), ball, steps))
        .toBe(false);
      expect([...steps]).toEqual([0, 0]);
    }
    expect(clipToBall(Float64Array.of(1e308, 1), 0, Float64Array.of(-1e308, 0), ball, steps))
      .toBe(true);
    expect(steps[0]).toBe(ball.steps);
  });

  it('leaves sums of products exact for the rows it was promised', () => {
    for (const rowsMax of [10, 3000, 1e7]) {
      const ball = clipBall(3.3, { products: true, rowsMax });
      expect(rowsMax * ball.steps ** 2).toBeLessThan(2 ** 53);
      expect(Number.isInteger(Math.log2(ball.grid))).toBe(true);
    }
    expect(() => clipBall(1, { products: true, rowsMax: 2 ** 50 })).toThrow(InvalidParameterError);
    for (const radius of [0, -1, NaN, Infinity]) {
      expect(() => clipBall(radius, { sums: true })).toThrow(InvalidParameterError);
    }
  });
});

describe('the clipped mean', () => {
  const calibrated = clippedMeanEvents({ cohort: 'all', dimension: 2, radius: 4, rho: 0.05 });
  const events = [calibrated.sum, calibrated.count];

  it('costs what it was given, split .95 to .05', () => {
    const cost = costOfEvents(events, { disjoint: [] });
    expect(cost.rho <= amountOf(0.05)).toBe(true);
    expect(Number(cost.rho) / 2 ** 64).toBeGreaterThan(0.05 * (1 - 1e-5));
    expect(cost.delta).toBe(0n);
    expect(calibrated.sum.sigma / (8 / Math.sqrt(2 * 0.95 * 0.05))).toBeCloseTo(1, 5);
    expect(calibrated.count.sigma / (1 / Math.sqrt(2 * 0.05 * 0.05))).toBeCloseTo(1, 5);
  });

  it('changes by what it is charged for when a row is replaced, gone or new', () => {
    const entry = fc.oneof(fc.double(), fc.double({ min: -10, max: 10, noNaN: true }));
    const row = fc.tuple(entry, entry);
    const far =
      fc.constantFrom<[number, number]>([1e300, 1e300], [-1e300, -1e300], [100, 0], [-100, 0]);
    const any = fc.oneof(row, far);
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), any, fc.option(any), (common, old, next) => {
        const centre = Float64Array.of(0.1, -7);
        const left = clippedSum(block([...common, old]), centre, calibrated.ball);
        const right =
          clippedSum(block(next === null ? common : [next, ...common]), centre, calibrated.ball);
        const square = left.sum.reduce(
          (sum, value, j) => sum + BigInt((value - right.sum[j]!) / calibrated.ball.grid) ** 2n, 0n,
        );
        expect(square <= BigInt(calibrated.sum.sensitivity / calibrated.ball.grid) ** 2n)
          .toBe(true);
        expect(Math.abs(left.count - right.count)).toBeLessThanOrEqual(1);
        expect(left.sum.every((value) => Number.isInteger(value / calibrated.sum.grid))).toBe(true);
      }), { seed: 7, numRuns: 300 },
    );
  });

  it('leaves null rows out of the sum and of the count', () => {
    const rows = block([[1, 1], [NaN, 1], [2, Infinity]]);
    const { sum, count } = clippedSum(rows, Float64Array.of(0, 0), calibrated.ball);
    expect({ sum: [...sum], count }).toEqual({ sum: [1, 1], count: 1 });
  });

  it('does not depend on the order of rows, to the last bit', () => {
    const rows = gaussianRows(500, [1e6, -3], 'order');
    const centre = Float64Array.of(1e6, -3);
    expect(clippedSum(block(rows), centre, calibrated.ball)).toEqual(clippedSum(
      block([...rows].reverse()), centre, calibrated.ball,
    ));
  });

  it.each([[0.5], [1], [1.5]])('finds the mean at %d of the nominal cohort', (share) => {
    const rows = gaussianRows(8000 * share, [1e6 + 0.2, -1e6], 'mean');
    const mean = privateClippedMean(
      createMechanisms(events, seededNoise('mean')),
      Sensitive.of(block(rows)),
      { centre: Float64Array.of(1e6, -1e6), ball: calibrated.ball, cohort: 8000 },
    ).value;
    expect(mean.kind).toBe('mean');
    if (mean.kind !== 'mean') return;
    expect(Math.abs(mean.mean[0]! - 1e6 - 0.2)).toBeLessThan(0.05);
    expect(Math.abs(mean.mean[1]! + 1e6)).toBeLessThan(0.05);
    expect(Math.abs(mean.present - 8000 * share)).toBeLessThan(80);
  });

  it('has no answer when the noisy count falls under a quarter of the cohort', () => {
    for (const rows of [[], gaussianRows(1500, [0, 0], 'absent')]) {
      const mean = privateClippedMean(
        createMechanisms(events, seededNoise('absent')),
        Sensitive.of(block(rows)),
        { centre: Float64Array.of(0, 0), ball: calibrated.ball, cohort: 8000 },
      ).value;
      expect(mean.kind).toBe('participation-below-plan');
    }
  });
});
