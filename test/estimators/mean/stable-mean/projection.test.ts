import { describe, expect, it } from 'vitest';
import { inlineCompute } from '../../../../src/estimators/contract/compute.js';
import type { Compute } from '../../../../src/estimators/contract/estimator.js';
import type { StepRows } from '../../../../src/estimators/mean/stable-mean/dual-rows.js';
import {
  gapMax, sensitivitiesOf,
} from '../../../../src/estimators/mean/stable-mean/reference-design.js';
import { weightedSums } from '../../../../src/estimators/mean/stable-mean/reference.js';
import {
  overstep, passesAtMost, projectOnBound, roundingGap, softness, type PassesOptions,
  type Projection,
} from '../../../../src/estimators/mean/stable-mean/projection.js';
import { createKernels } from '../../../../src/numerics/kernels/index.js';
import { dataSource, type DataSource } from '../../../support/data.js';

/** Rows in whole steps of 2^-10. */
const unit = 2 ** -10;
/** No row of these tests is longer. */
const radius = 10;

function stepsOf(rows: readonly ArrayLike<number>[], dimension: number): StepRows {
  const steps =
    Float64Array.from(rows.flatMap((row) => Array.from(row, (entry) => Math.trunc(entry / unit))));
  return { count: rows.length, dimension, steps, present: new Uint8Array(rows.length).fill(1) };
}

function askedOf(
  rows: StepRows, bound: number, fastSteps?: number,
): PassesOptions & { readonly unit: number } {
  const asked = { unit, bound, rowsMax: 2 * rows.count, radius, gap: gapMax };
  return fastSteps === undefined ? asked : { ...asked, fastSteps };
}

function project(
  rows: StepRows, bound: number, fastSteps?: number, compute = inlineCompute(),
): Promise<Projection> {
  return projectOnBound(compute, rows, askedOf(rows, bound, fastSteps));
}

/** Normal rows, a share of which stand together. */
function cluster(
  data: DataSource, count: number, dimension: number, share: number, distance: number,
): Float64Array[] {
  return Array.from({ length: count }, (_, i) => {
    const row = data.normals(dimension);
    return i < share * count
      ? row.map((entry) => distance / Math.sqrt(dimension) + 0.1 * entry) : row;
  });
}

const distanceOf = (left: Float64Array, right: Float64Array, leftOut = -1): number =>
  Math.hypot(...left.map((entry, i) => (i === leftOut ? 0 : entry - right[i]!)));

describe('the projection', () => {
  it('is all ones where the rows are within the bound', async () => {
    const { weights, gap, passes } =
      await project(stepsOf([[0.5, 0], [0, 0.5], [-0.5, 0], [0, -0.5]], 2), 4);
    expect(Array.from(weights)).toEqual([1, 1, 1, 1]);
    expect(gap).toBe(0);
    expect(passes).toBe(2);
  });

  it('is what can be worked out for rows on the axes', async () => {
    // Two rows at +-2 on one axis and two inside on the other: the axes do not touch. With w = 1 -
    // 4 U on the first, 8 w = 4 + k U, and k = softness 4^2 / 8.
    const concavity = (softness * 16) / 8;
    const dual = 4 / (32 + concavity);
    const { weights } = await project(stepsOf([[2, 0], [-2, 0], [0, 1], [0, -1]], 2), 4);
    const tolerance = Math.sqrt(2 * gapMax);
    expect(Math.abs(weights[0]! - (1 - 4 * dual))).toBeLessThan(tolerance);
    expect(weights[2]!).toBeGreaterThan(1 - tolerance);
  });

  it('is the same on one column, by bisection, as on two of which one is empty', async () => {
    const data = dataSource('line');
    const line = Array.from({ length: 300 }, (_, i) => [i < 20 ? 4 : data.normal()]);
    const one = await project(stepsOf(line, 1), 200);
    const two = await project(stepsOf(line.map(([entry]) => [entry!, 0]), 2), 200);
    expect(distanceOf(one.weights, two.weights)).toBeLessThan(2 * Math.sqrt(2 * gapMax));
    expect(one.weights[0]!).toBeLessThan(0.9);
  });

  it('is reached by both phases, to the gap and within the bound', async () => {
    const data = dataSource('phases');
    for (const [share, distance, bound] of [[0.1, 6, 1], [0.05, 4, 0.7], [0.4, 3, 0.3]] as const) {
      const rows = stepsOf(cluster(data, 400, 3, share, distance), 3);
      const fast = await project(rows, bound * 400);
      const sure = await project(rows, bound * 400, 1);
      for (const { weights, gap } of [fast, sure]) {
        expect(gap).toBeLessThanOrEqual(gapMax);
        expect(Math.min(...weights)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...weights)).toBeLessThanOrEqual(1);
      }
      expect(sure.passes).toBeGreaterThan(fast.passes);
      expect(distanceOf(fast.weights, sure.weights)).toBeLessThanOrEqual(2 * Math.sqrt(2 * gapMax));
    }
  });

  it('gives weight to no null row', async () => {
    const rows = stepsOf([[3, 0], [0, 0], [1, 1]], 2);
    rows.present[1] = 0;
    expect((await project(rows, 1)).weights[1]).toBe(0);
  });

  it('ends soon also on rows made to slow it: many widths at once, nearly all of them on the '
    + 'edge', async () => {
    const data = dataSource('slow');
    const dimension = 4;
    const rows = Array.from({ length: 600 }, (_, i) => {
      const row = new Float64Array(dimension);
      row[i % dimension] = (data.below(2) === 0 ? -1 : 1) * 10 * 4 ** -Math.floor(data.below(6));
      row[(i + 1) % dimension] = 1e-3 * data.normal();
      return row;
    });
    for (const bound of [0.5, 1, 10]) {
      const { gap, passes } = await project(stepsOf(rows, dimension), bound * 600);
      expect(gap).toBeLessThanOrEqual(gapMax);
      expect(passes).toBeLessThan(2_000);
    }
  });
});

/** Rows that differ in the first one at most, or make the ascent slow all together. */
function slowSets(data: DataSource, count: number, dimension: number): readonly Float64Array[][] {
  const along = (length: number): Float64Array => {
    const row = new Float64Array(dimension);
    row[0] = length;
    return row;
  };
  const rows =
    Array.from({ length: count }, () => data.normals(dimension).map((entry) => entry / 2));
  const replaced = (first: Float64Array): Float64Array[] => [first, ...rows.slice(1)];
  return [
    rows, replaced(along(radius)), replaced(along(1e-9)), replaced(rows[1]!),
    rows.map(() => along(radius)), rows.map(() => along(0)),
    rows.map((row, i) => (i < count / 5 ? along(radius) : row)),
    rows.map((_, i) => along(radius * 4 ** -(i % 6))),
  ];
}

/** The weighted second moments along their widest direction, over the bound. */
function widthOf(
  { count, dimension, steps }: StepRows, weights: Float64Array, bound: number,
): number {
  const moments = new Float64Array(dimension ** 2);
  for (let i = 0; i < count; i++) {
    for (let at = 0; at < moments.length; at++) {
      const [j, k] = [Math.floor(at / dimension), at % dimension];
      moments[at]! +=
        weights[i]! * steps[i * dimension + j]! * steps[i * dimension + k]! * unit ** 2;
    }
  }
  return createKernels().eigenSymmetric(moments, dimension).values.at(-1)! / bound;
}

describe('passes of the projection', () => {
  it('are at most the public number, with a certificate, also from the phase with a proof '
    + 'alone', { tags: ['slow'] }, async () => {
    const data = dataSource('passes');
    for (const dimension of [2, 3]) {
      for (const rows of slowSets(data, 60, dimension)) {
        for (const bound of [6, 60]) {
          for (const fastSteps of [undefined, 1]) {
            const set = stepsOf(rows, dimension);
            let counted = 0;
            const compute: Compute = {
              ...inlineCompute(), onPass: (kernel) => { if (kernel === 'scores') counted += 1; },
            };
            const { weights, gap, passes } = await project(set, bound, fastSteps, compute);
            expect(passes).toBe(counted);
            expect(passes)
              .toBeLessThanOrEqual(passesAtMost(dimension, askedOf(set, bound, fastSteps)));
            expect(gap).toBeLessThanOrEqual(gapMax);
            expect(Math.max(...weights)).toBeGreaterThan(0);
            expect(widthOf(set, weights, bound)).toBeLessThanOrEqual(1 + overstep);
          }
        }
      }
    }
  });

  it('are the same number for all rows of one column', async () => {
    const data = dataSource('passes on a line');
    for (const bound of [6, 60]) {
      for (const rows of slowSets(data, 60, 1)) {
        const set = stepsOf(rows, 1);
        const { weights, passes } = await project(set, bound);
        expect(passes).toBe(passesAtMost(1, askedOf(set, bound)));
        expect(Math.max(...weights)).toBeGreaterThan(0);
      }
    }
  });
});

/**
 * Where one row may stand that changes most: by chance, far out, against the cluster, on the edge
 * of the weights.
 */
function somewhere(data: DataSource, dimension: number, radius: number): Float64Array {
  const row = data.normals(dimension);
  const length = Math.hypot(...row);
  const wanted = [0, 0.5, 1, 2, radius][data.below(5)]!;
  return row.map((entry) => (entry * wanted) / length);
}

describe('weights of neighbours', () => {
  it('differ by no more than the lemma says, and move the sums by no more than is '
    + 'charged', { tags: ['slow'] }, async () => {
    const data = dataSource('pairs');
    const reach = 6;
    let worst = 0;
    for (let pair = 0; pair < 300; pair++) {
      const dimension = 1 + data.below(3);
      const count = 4 + data.below(20);
      const bound = count * [0.2, 0.5, 1, 2][data.below(4)]!;
      const rows =
        cluster(data, count, dimension, [0, 0.2, 0.5][data.below(3)]!, 1 + 5 * data.uniform());
      const other = rows.slice();
      other[0] = somewhere(data, dimension, reach);
      const [left, right] = [stepsOf(rows, dimension), stepsOf(other, dimension)];
      // Sometimes the row is absent on one side.
      if (data.below(4) === 0) {
        right.present[0] = 0;
        right.steps.fill(0, 0, dimension);
      }
      const [one, two] = [await project(left, bound), await project(right, bound)];
      const error = Math.sqrt(2 * (gapMax + roundingGap(2 * count, dimension)));
      const change = distanceOf(one.weights, two.weights, 0);
      const [own, others] = [one.weights[0]!, two.weights[0]!];
      // The lemma, for weights each of which is off by `error`.
      const allowed = Math.sqrt(own * (1 - own) + others * (1 - others) + 2 * error) + 2 * error;
      expect(change).toBeLessThanOrEqual(allowed);
      worst = Math.max(worst, change);
      const asked = { unit, bound, rowsMax: 2 * count, radius, gap: gapMax };
      const [here, there] = [
        await weightedSums(inlineCompute(), left, asked),
        await weightedSums(inlineCompute(), right, asked),
      ];
      const charged = sensitivitiesOf({ bound, radius: reach, rowsMax: 2 * count, dimension });
      expect(distanceOf(here.total, there.total)).toBeLessThanOrEqual(charged.sum);
      expect(Math.abs(here.kept - there.kept)).toBeLessThanOrEqual(charged.weight);
    }
    // The pairs do strain the bound of .707.
    expect(worst).toBeGreaterThan(0.25);
  });
});
