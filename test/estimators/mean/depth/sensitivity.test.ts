import { describe, expect, it } from 'vitest';
import { depthScores } from '../../../../src/estimators/mean/tukey-median/depth.js';
import { halfSphere, placesAlong } from '../../../../src/estimators/mean/depth/directions.js';
import {
  distanceToWide, fitFor, fitted, offsetsAround, placeGrid, trimmedSum, trimmedViews,
} from '../../../../src/estimators/mean/resilience/trimming.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { exhaustiveResilience } from '../../../support/exhaustive-resilience.js';

const cases = 20_000;

/** Whole numbers of a short range, so that ties are the rule, and now and then one far away. */
function lattice(data: DataSource, length: number): number[] {
  return Array.from({ length }, () =>
    (data.uniform() < 0.1 ? 50 * (data.below(3) - 1) : data.below(6)));
}

function sorted(values: readonly number[]): Int32Array {
  return Int32Array.from(values).sort();
}

/** Values and the same with one of them replaced. */
function neighbours(data: DataSource, length: number): [number[], number[]] {
  const left = lattice(data, length);
  const right = [...left];
  right[data.below(length)] = lattice(data, 1)[0]!;
  return [left, right];
}

/** From the definition. */
function distanceByTrying(values: Int32Array, trimmed: number, limit: number): number {
  const at = (place: number): number =>
    place < 1 ? -Infinity : place > values.length ? Infinity : values[place - 1]!;
  let least = Infinity;
  for (let a = 0; a <= trimmed; a++) {
    for (let b = 0; b <= trimmed; b++) {
      const gap = at(values.length - trimmed + 1 + a) - at(trimmed - b);
      if (gap > limit) least = Math.min(least, a + b);
    }
  }
  return least;
}

describe('distanceToWide', () => {
  it('changes by at most 1 with one value, and is what its definition says', () => {
    const data = dataSource('distance');
    let changed = 0;
    for (let round = 0; round < cases; round++) {
      const length = 3 + data.below(12);
      const trimmed = 1 + data.below(Math.floor((length - 1) / 2));
      const limit = data.below(6);
      const [left, right] = neighbours(data, length).map(sorted) as [Int32Array, Int32Array];
      const [before, after] = [left, right].map((list) =>
        distanceToWide(list, trimmed, limit)) as [number, number];
      if (before !== after) changed += 1;
      if (Math.abs(before - after) > 1 || before !== distanceByTrying(left, trimmed, limit)) {
        expect({ left, right, trimmed, limit, before, after }).toBe('no counterexample');
      }
    }
    expect(changed).toBeGreaterThan(cases / 50);
  });
});

describe('trimmedSum', () => {
  it('moves with one value by no more than the gap between the ends, which is reached', () => {
    const data = dataSource('trimmed');
    let reached = 0;
    for (let round = 0; round < cases; round++) {
      const length = 3 + data.below(12);
      const trimmed = 1 + data.below(Math.floor((length - 1) / 2));
      const [left, right] = neighbours(data, length).map(sorted) as [Int32Array, Int32Array];
      const gap = left[length - trimmed]! - left[trimmed - 1]!;
      const moved = Math.abs(trimmedSum(left, trimmed) - trimmedSum(right, trimmed));
      if (moved > gap) expect({ left, right, trimmed, gap, moved }).toBe('no counterexample');
      if (moved === gap && gap > 0) reached += 1;
    }
    expect(reached).toBeGreaterThan(20);
  });

  it('of a set at distance 1 or more bounds what exhaustive search calls resilience', () => {
    const data = dataSource('exhaustive');
    let compared = 0;
    for (let round = 0; round < 1_500; round++) {
      const values = lattice(data, 9);
      const limit = 1 + data.below(4);
      if (distanceToWide(sorted(values), 2, limit) < 1) continue;
      compared += 1;
      // The five in the middle are within the limit of each other; one of them less moves a mean by
      // a quarter of it.
      expect(exhaustiveResilience(values, 5, 4)).toBeLessThanOrEqual(limit / 4 + 1e-9);
    }
    expect(compared).toBeGreaterThan(100);
  });
});

describe('trimmedViews', () => {
  it.each([
    [1, 500], [2, 500], [3, 500], [2, 100],
  ])('see places in the order of a plain sort, in %d columns of %d rows', (dimension, size) => {
    const data = dataSource(`views ${dimension}`);
    const directions = halfSphere(dimension);
    // Some beyond the reach of an entry, in corners, on the centre or equal; two hold no numbers.
    const odd = [1e300, -1e300, 64, -64, 0, -0, 2 ** -17, -(2 ** -17)];
    const values = data.normals(size * dimension).map((entry) =>
      (data.uniform() < 0.3 ? odd[data.below(odd.length)]! : entry));
    values[dimension] = Number.NaN;
    values[3 * dimension] = Infinity;
    values.fill(1e300, 5 * dimension, 6 * dimension);
    values.fill(-1e300, 6 * dimension, 7 * dimension);
    const offsets =
      offsetsAround({ count: size, dimension, values }, new Float64Array(dimension), size);
    const lists = Array.from({ length: directions.length / dimension }, (_, k) => sorted(Array.from(
      placesAlong(offsets, dimension, directions.subarray(k * dimension, (k + 1) * dimension)),
      (place) => Math.round(place / placeGrid),
    )));
    for (const trimmed of [1, 0.18 * size, size / 2 - 1]) {
      for (const limit of [0, 100_000, 9_000_000, 2 ** 24]) {
        expect(trimmedViews(offsets, dimension, directions, { trimmed, limit })).toEqual({
          distance: Math.min(...lists.map((list) => distanceToWide(list, trimmed, limit))),
          means: Float64Array.from(lists, (list) =>
            (trimmedSum(list, trimmed) / (size - 2 * trimmed)) * placeGrid),
        });
      }
    }
  });
});

describe('exhaustive resilience', () => {
  it('changes with one value by up to the diameter over the size of the subset, not over that of '
    + 'the set', () => {
    const data = dataSource('resilience');
    const [length, kept, diameter] = [7, 5, 10];
    let most = 0;
    const draw = (): number =>
      (data.uniform() < 0.6 ? diameter * data.below(2) : data.below(diameter + 1));
    for (let round = 0; round < 4_000; round++) {
      const left = Array.from({ length }, draw);
      const right = [...left];
      right[data.below(length)] = draw();
      most = Math.max(most, Math.abs(
        exhaustiveResilience(left, kept, 4) - exhaustiveResilience(right, kept, 4)));
    }
    expect(most).toBeLessThanOrEqual(diameter / kept + 1e-9);
    expect(most).toBeGreaterThan(diameter / length);
  });
});

describe('a fit of trimmed means', () => {
  it('is the point whose places they are, and moves by at most what it says', () => {
    const data = dataSource('fit');
    for (const dimension of [1, 2, 3]) {
      const directions = halfSphere(dimension);
      const fit = fitFor(directions, dimension);
      const point = data.normals(dimension);
      const count = directions.length / dimension;
      const places = Float64Array.from({ length: count }, (_, k) =>
        point.reduce((sum, entry, j) => sum + entry * directions[k * dimension + j]!, 0));
      fitted(fit, places).forEach((entry, j) => expect(entry).toBeCloseTo(point[j]!, 12));
      expect(fit.amplification).toBeLessThan(1.01 * Math.sqrt(dimension));
      let most = 0;
      for (let round = 0; round < 300; round++) {
        const axis = data.normals(dimension);
        // Signs of places along an axis are the worst changes; random ones come nowhere near.
        const signs = Float64Array.from({ length: count }, (_, k) =>
          Math.sign(
            axis.reduce((sum, entry, j) => sum + entry * directions[k * dimension + j]!, 0),
          ));
        most = Math.max(most, Math.hypot(...fitted(fit, signs)));
      }
      expect(most).toBeLessThanOrEqual(fit.amplification);
      expect(most).toBeGreaterThan(0.8 * fit.amplification);
    }
  });

  it('moves with one contributor by no more than its event is calibrated '
    + 'for', { tags: ['long'] }, () => {
    const data = dataSource('views');
    const directions = halfSphere(2);
    const fit = fitFor(directions, 2);
    const [size, trimmed] = [13, 3];
    const limit = Math.floor(4 / placeGrid);
    let compared = 0;
    for (let round = 0; round < 1_500; round++) {
      // More, fewer or as many as planned; one replaced, gone or new, in its place among the tags.
      const count = size - 2 + data.below(5);
      const rows = Array.from({ length: count }, () => lattice(data, 2));
      const other = [...rows];
      other.splice(
        data.below(count), data.below(2), ...(data.uniform() < 0.6 ? [lattice(data, 2)] : []),
      );
      const [left, right] = [rows, other].map((list) => trimmedViews(
        offsetsAround(
          { count: list.length, dimension: 2, values: Float64Array.from(list.flat()) },
          Float64Array.of(2, 2), size,
        ),
        2, directions, { trimmed, limit }));
      expect(Math.abs(left!.distance - right!.distance)).toBeLessThanOrEqual(1);
      if (left!.distance < 1 || right!.distance < 1) continue;
      compared += 1;
      const [a, b] = [fitted(fit, left!.means), fitted(fit, right!.means)];
      const allowed = (fit.amplification * limit * placeGrid) / (size - 2 * trimmed);
      expect(Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!)).toBeLessThanOrEqual(allowed);
    }
    expect(compared).toBeGreaterThan(200);
  });

  it('takes a row that is not a number for the centre, and cuts far ones', () => {
    const rows = { count: 3, dimension: 1, values: Float64Array.of(NaN, 1e300, 2) };
    expect([...offsetsAround(rows, Float64Array.of(1), 4)]).toEqual([0, 64, 1, 0]);
    expect([...offsetsAround(rows, Float64Array.of(1), 2)]).toEqual([0, 64]);
  });
});

describe('depthScores', () => {
  it('change by at most 1 when one contributor is replaced, goes or '
    + 'comes', { tags: ['long'] }, () => {
    const data = dataSource('depth');
    const directions = Float64Array.of(
      1, 0, 0, 1, Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2, 0.6, 0.8,
    );
    const candidates = Float64Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? Math.floor(i / 2) % 5 : Math.floor(i / 10)));
    let changed = 0;
    for (let round = 0; round < cases; round++) {
      const count = 1 + data.below(8);
      const rows = Array.from({ length: count }, () => lattice(data, 2));
      const other = [...rows];
      other.splice(
        data.below(count), data.below(2), ...(data.uniform() < 0.6 ? [lattice(data, 2)] : []),
      );
      const [left, right] = [rows, other].map((list) => depthScores(
        { count: list.length, dimension: 2, values: Float64Array.from(list.flat()) }, candidates,
        directions, 0.5));
      for (let i = 0; i < left!.length; i++) {
        if (left![i] !== right![i]) changed += 1;
        if (Math.abs(left![i]! - right![i]!) > 1) {
          expect({ rows, other, i }).toBe('no counterexample');
        }
      }
    }
    expect(changed).toBeGreaterThan(cases);
  });

  it('are ranks in one column, and Tukey depths along the directions that matter in two', () => {
    const data = dataSource('oracle');
    const line = Float64Array.of(1, 2, 2, 3, 9);
    const depths = depthScores(
      { count: 5, dimension: 1, values: line }, Float64Array.of(0, 1, 2, 2.5, 9, 10), halfSphere(1),
      0,
    );
    expect([...depths]).toEqual([0, 1, 3, 2, 1, 0]);
    for (let round = 0; round < 200; round++) {
      const count = 4 + data.below(8);
      const values = Float64Array.from({ length: 2 * count }, () => data.below(5));
      const candidate = Float64Array.of(data.below(5), data.below(5) + 0.5);
      // A half-space can only lose a row when its edge turns over one: look to both sides of each
      // such turn.
      const turns = Array.from({ length: count }, (_, i) =>
        Math.atan2(values[2 * i + 1]! - candidate[1]!, values[2 * i]! - candidate[0]!)
          + Math.PI / 2);
      const directions = Float64Array.from(turns.flatMap((turn) =>
        [-1e-4, 1e-4].flatMap((aside) => [Math.cos(turn + aside), Math.sin(turn + aside)])));
      const counted =
        Math.min(...turns.flatMap((turn) => [-1e-4, 1e-4].flatMap((aside) => [1, -1].map((side) =>
          turns.filter((_, i) => side * ((values[2 * i]! - candidate[0]!) * Math.cos(turn + aside)
            + (values[2 * i + 1]! - candidate[1]!) * Math.sin(turn + aside)) >= 0).length))));
      const rows = { count, dimension: 2, values };
      expect(depthScores(rows, candidate, directions, 0)[0]).toBe(counted);
      expect(depthScores(rows, candidate, halfSphere(2), 0)[0]).toBeGreaterThanOrEqual(counted);
    }
  });

  it('count rows that are not numbers nowhere', () => {
    const rows = { count: 3, dimension: 2, values: Float64Array.of(0, 0, NaN, 0, 0, Infinity) };
    expect([...depthScores(rows, Float64Array.of(0, 0), halfSphere(2), 0)]).toEqual([1]);
    const line = { count: 3, dimension: 1, values: Float64Array.of(0, NaN, Infinity) };
    expect([...depthScores(line, Float64Array.of(-1, 0, 1), halfSphere(1), 0)]).toEqual([0, 1, 0]);
  });
});
