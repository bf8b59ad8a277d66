import { describe, expect, it } from 'vitest';
import {
  agreeingPairs, agreementCounts, weightedAverage, type GroupPoints,
} from '../../../src/estimators/mean/populous-mean/agreement.js';
import {
  averageSensitivity, pairsFloor,
} from '../../../src/estimators/mean/populous-mean/design.js';
import {
  stabilityConstant, thresholdChoices, weightOf, type Thresholds,
} from '../../../src/estimators/mean/populous-mean/stability.js';
import { dataSource, type DataSource } from '../../support/data.js';

const radius = 1;
const grid = 2 ** -30;

/** `null` is a group without a point. */
type Point = readonly number[] | null;

function pointsOf(list: readonly Point[], dimension: number): GroupPoints {
  const values = new Float64Array(list.length * dimension);
  list.forEach((point, i) => values.set(point ?? [], i * dimension));
  return {
    groups: list.length, dimension,
    present: Uint8Array.from(list, (point) => (point === null ? 0 : 1)), values,
  };
}

interface Measured {
  readonly pairs: number;
  readonly average: Float64Array;
}

function measure(list: readonly Point[], dimension: number, thresholds: Thresholds): Measured {
  const points = pointsOf(list, dimension);
  const counts = agreementCounts(points, radius);
  return {
    pairs: agreeingPairs(counts), average: weightedAverage(points, counts, thresholds, grid),
  };
}

/** Clusters whose agreement graph is near the thresholds: the worst cases live there. */
function adversarial(data: DataSource, groups: number, dimension: number): Point[] {
  const spread = data.below(3) === 0 ? 0.02 : 0;
  const places = [0, 0.5, 1, -1, 2, 1.5].map((at) => at * (1 - spread));
  const axes = dimension === 1 ? 1 : 1 + data.below(dimension);
  const list: Point[] = [];
  const sizes = [0.62 + 0.36 * data.uniform(), data.uniform(), data.uniform(), data.uniform()];
  const left = 1 - sizes[0]!;
  const rest = sizes[1]! + sizes[2]! + sizes[3]!;
  for (let i = 0; i < groups; i++) {
    let share = (i + 0.5) / groups;
    let cluster = 0;
    for (; cluster < 3; cluster++) {
      const size = cluster === 0 ? sizes[0]! : (left * sizes[cluster]!) / rest;
      if (share < size) break;
      share -= size;
    }
    const kind = data.below(40);
    if (kind === 0) list.push(null);
    else if (kind === 1) list.push(Array.from({ length: dimension }, () => 1e6 * data.normal()));
    else {
      const at = places[cluster === 0 ? 0 : (cluster + data.below(2)) % places.length]!;
      list.push(Array.from({ length: dimension }, (_, j) =>
        (j === cluster % axes ? at : 0) + spread * data.normal() * 0.01));
    }
  }
  return list;
}

function replacement(data: DataSource, list: readonly Point[], dimension: number): Point {
  switch (data.below(4)) {
    case 0: return null;
    case 1: return list[data.below(list.length)]!;
    case 2: return Array.from({ length: dimension }, () => 1e9);
    default: return Array.from({ length: dimension }, (_, j) =>
      (j === 0 ? [-1, 1, 2, -2][data.below(4)]! : 0));
  }
}

const cases: readonly { name: string; thresholds: Thresholds }[] = [
  { name: 'those of the paper', thresholds: { agreement: 0.8, none: 0.6, full: 0.7 } },
  { name: 'wide', thresholds: { agreement: 0.85, none: 0.55, full: 0.8 } },
  { name: 'lenient', thresholds: thresholdChoices(60)[8]! },
];

describe.each(cases)('weighted average with thresholds $name', ({ thresholds }) => {
  it('moves by at most 2 r c_k / k when one group changes, and sometimes by a good part of '
    + 'it', { tags: ['long'] }, () => {
    const data = dataSource(`stability ${thresholds.agreement}`);
    let checked = 0;
    let worst = 0;
    for (let round = 0; round < 6_000; round++) {
      const groups = 50 + data.below(14);
      const dimension = 1 + data.below(3);
      const list = adversarial(data, groups, dimension);
      const index = data.below(groups);
      const changed =
        list.map((point, i) => (i === index ? replacement(data, list, dimension) : point));
      const floor = pairsFloor(groups, thresholds.agreement);
      const before = measure(list, dimension, thresholds);
      const after = measure(changed, dimension, thresholds);
      expect(Math.abs(before.pairs - after.pairs)).toBeLessThanOrEqual(groups - 1);
      if (before.pairs < floor || after.pairs < floor) continue;
      checked += 1;
      const bound =
        averageSensitivity(radius, stabilityConstant(groups, thresholds), groups) * (1 + 2 ** -40)
          + 2 * grid * Math.sqrt(dimension);
      const moved = Math.hypot(...before.average.map((entry, j) => entry - after.average[j]!));
      expect(moved).toBeLessThanOrEqual(bound);
      worst = Math.max(worst, moved / bound);
    }
    expect(checked).toBeGreaterThan(300);
    expect(worst).toBeGreaterThan(0.05);
  });

  it('holds for every way to place three clusters on a line', () => {
    const groups = 60;
    let worst = 0;
    const bound = averageSensitivity(radius, stabilityConstant(groups, thresholds), groups);
    const floor = pairsFloor(groups, thresholds.agreement);
    for (let middle = 20; middle < groups - 2; middle++) {
      for (let side = 0; side + middle < groups; side++) {
        const other = groups - middle - side;
        const list: Point[] = [
          ...Array.from({ length: middle }, () => [0]),
          ...Array.from({ length: side }, () => [radius]),
          ...Array.from({ length: other }, () => [-radius]),
        ];
        const before = measure(list, 1, thresholds);
        if (before.pairs < floor) continue;
        for (const to of [[radius], [-radius], null]) {
          const changed = list.map((point, i) => (i === 0 ? to : point));
          const after = measure(changed, 1, thresholds);
          if (after.pairs < floor) continue;
          const moved = Math.abs(before.average[0]! - after.average[0]!);
          expect(moved).toBeLessThanOrEqual(bound * (1 + 2 ** -40) + 2 * grid);
          worst = Math.max(worst, moved / bound);
        }
      }
    }
    expect(worst).toBeGreaterThan(0.15);
  });

  it('has a constant that the weights alone come near to', () => {
    // Some points just at full weight, the rest agreeing with all, at exactly the level the test
    // asks for.
    const groups = 4_000;
    let worst = 0;
    for (let ramp = thresholds.none + 1e-3; ramp <= thresholds.full; ramp += 0.001) {
      const count = Math.round(ramp * groups);
      const onRamp = Math.floor((groups * (1 - thresholds.agreement)) / (1 - count / groups));
      if (onRamp >= groups) continue;
      const weights = (lost: number): number[] => [
        ...Array.from({ length: onRamp }, () => weightOf(count - lost, groups, thresholds)),
        ...Array.from({ length: groups - onRamp - 1 }, () => 1),
      ];
      const before = weights(0);
      const after = weights(1);
      const totalBefore = before.reduce((sum, weight) => sum + weight, 0) + 1;
      const totalAfter = after.reduce((sum, weight) => sum + weight, 0) + 1;
      // The replaced point and its replacement are two atoms: the first weighs in one data set
      // only.
      let variation = 1 / totalBefore / 2 + 1 / totalAfter / 2;
      before.forEach((weight, i) => {
        variation += Math.abs(weight / totalBefore - after[i]! / totalAfter) / 2;
      });
      worst = Math.max(worst, (variation * groups) / stabilityConstant(groups, thresholds));
    }
    expect(worst).toBeLessThanOrEqual(1);
    expect(worst).toBeGreaterThan(0.3);
  });

  it('has a constant within a tenth of the linear program that it bounds, never below it', () => {
    // Largest (slope * share on the ramp + 1) / mean weight over all distributions of agreement
    // counts whose mean is at the level asked for or above. A ratio of linear forms is largest at a
    // corner: one count, or two with that mean.
    for (const groups of [60, 200]) {
      const { agreement, none, full } = thresholds;
      const slope = 1 / (full - none);
      const share = (count: number): number => count / groups;
      const onRamp = (count: number): number =>
        (share(count) > none && share(count) < full + 1 / groups ? slope : 0);
      const weight = (count: number): number => weightOf(count, groups, thresholds);
      let most = 0;
      for (let high = Math.ceil(agreement * groups); high <= groups; high++) {
        most = Math.max(most, (onRamp(high) + 1) / weight(high));
        for (let low = 1; low < agreement * groups; low++) {
          const part = (share(high) - agreement) / (share(high) - share(low));
          const ramp = part * onRamp(low) + (1 - part) * onRamp(high);
          most = Math.max(most, (ramp + 1) / (part * weight(low) + (1 - part) * weight(high)));
        }
      }
      const constant = stabilityConstant(groups, thresholds);
      expect(most).toBeLessThanOrEqual(constant * (1 + 1e-12));
      expect(most).toBeGreaterThan(0.9 * constant);
    }
  });

  it('satisfies the inequality that its proof rests on, for every count', () => {
    for (const groups of [50, 97, 400, 4_000]) {
      const { agreement, none, full } = thresholds;
      const constant = stabilityConstant(groups, thresholds);
      const slope = 1 / (full - none);
      const price = (constant - 1) / (1 - agreement);
      for (let count = 0; count <= groups; count++) {
        const share = count / groups;
        const onRamp = share > none && share < full + 1 / groups ? slope : 0;
        const left = onRamp - constant * weightOf(count, groups, thresholds)
          + price * (share - agreement);
        expect(left).toBeLessThanOrEqual(-1 + 1e-9);
      }
    }
  });
});

describe('agreement', () => {
  it('changes by at most 2 (k - 1) / k^2, and by all of it when a point leaves the cluster', () => {
    const cluster: Point[] = Array.from({ length: 50 }, () => [0]);
    const counts = agreementCounts(pointsOf(cluster, 1), radius);
    expect(agreeingPairs(counts)).toBe(1_225);
    const without = cluster.map((point, i) => (i === 7 ? null : point));
    expect(agreeingPairs(agreementCounts(pointsOf(without, 1), radius))).toBe(1_225 - 49);
  });

  it('counts a group without a point with itself only, even among its like', () => {
    const counts = agreementCounts(pointsOf([null, null, [0], [1], [2.5]], 1), radius);
    expect([...counts]).toEqual([1, 1, 2, 2, 1]);
  });

  it('measures distance over all coordinates', () => {
    expect([...agreementCounts(pointsOf([[0, 0], [0.8, 0.8], [0.6, 0.6]], 2), radius)])
      .toEqual([2, 2, 3]);
  });
});

describe('weightedAverage', () => {
  const thresholds: Thresholds = { agreement: 0.85, none: 0.55, full: 0.8 };

  it('is within one grid step of the exact average, far from the origin', () => {
    const data = dataSource('rounding');
    const coarse = 2 ** -10;
    const origin = 2 ** 40;
    const steps = Array.from({ length: 200 }, () => Math.round(data.uniform() * 1_000));
    const list = steps.map((step) => [origin + step * coarse]);
    const points = pointsOf(list, 1);
    const counts = agreementCounts(points, radius);
    expect(counts.every((count) => count === 200)).toBe(true);
    const exact = steps.reduce((sum, step) => sum + step, 0) / 200;
    const found = (weightedAverage(points, counts, thresholds, coarse)[0]! - origin) / coarse;
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.5 + 1e-6);
    expect(Number.isInteger(found)).toBe(true);
  });

  it('gives zeros when nobody weighs anything', () => {
    const points = pointsOf([[5], [50], [500]], 1);
    expect([...weightedAverage(points, agreementCounts(points, radius), thresholds, grid)])
      .toEqual([0]);
  });
});

describe('stabilityConstant', () => {
  it('has the values worked out by hand', () => {
    expect(stabilityConstant(40, { agreement: 0.8, none: 0.6, full: 0.7 })).toBeCloseTo(12, 9);
    expect(stabilityConstant(400, { agreement: 0.85, none: 0.55, full: 0.8 }))
      .toBeCloseTo(4.038, 3);
  });

  it('refuses thresholds and group numbers that its proof does not cover', () => {
    expect(() => stabilityConstant(100, { agreement: 0.8, none: 0.5, full: 0.7 }))
      .toThrow(/0.5 < none/);
    expect(() => stabilityConstant(100, { agreement: 0.6, none: 0.6, full: 0.7 }))
      .toThrow(/0.5 < none/);
    expect(() => stabilityConstant(40, { agreement: 0.8, none: 0.51, full: 0.7 }))
      .toThrow(/too few/);
    expect(() => stabilityConstant(45, { agreement: 0.99, none: 0.6, full: 0.98 }))
      .toThrow(/too few/);
  });

  it('falls as the level of agreement rises', () => {
    const constants = thresholdChoices(400).map((choice) => stabilityConstant(400, choice));
    expect([...constants].sort((a, b) => a - b)).toEqual(constants);
    expect(constants[0]).toBeLessThan(3.1);
  });
});
