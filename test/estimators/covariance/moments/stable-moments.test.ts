import { describe, expect, it } from 'vitest';
import { entriesOf } from '../../../../src/base/parts.js';
import { InvalidParameterError } from '../../../../src/base/errors.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { shapeAlong } from '../../../../src/estimators/covariance/stable-moments/along.js';
import {
  stableMoments,
} from '../../../../src/estimators/covariance/stable-moments/stable-moments.js';
import {
  centralMoments, mappedTensor, powerFeatures, tensorOf, tensorSpace,
} from '../../../../src/estimators/covariance/stable-moments/tensors.js';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const data = dataSource('moments');

describe('symmetric tensors as vectors', () => {
  const power = (z: readonly number[], order: number): number[] =>
    (order === 0 ? [1] : power(z, order - 1).flatMap((entry) => z.map((other) => entry * other)));

  it('keep norm and inner product, whatever the number of permutations', () => {
    for (const [dimension, order] of [[3, 3], [2, 4], [4, 4], [1, 3]] as const) {
      const space = tensorSpace(dimension, order);
      const rows = [0, 1].map(() => Array.from({ length: dimension }, () => data.normal()));
      const features = powerFeatures({
        count: 2, dimension, steps: Float64Array.from(rows.flat()), alive: Uint8Array.of(1, 1),
      }, space);
      const size = space.indices.length;
      const [left, right] = [features.subarray(0, size), features.subarray(size)];
      const inner = rows[0]!.reduce((sum, entry, j) => sum + entry * rows[1]![j]!, 0);
      expect(left.reduce((sum, entry, i) => sum + entry * right[i]!, 0))
        .toBeCloseTo(inner ** order, 9);
      expect(Math.hypot(...left)).toBeCloseTo(Math.hypot(...rows[0]!) ** order, 9);
      [...tensorOf(left, space)]
        .forEach((entry, at) => { expect(entry).toBeCloseTo(power(rows[0]!, order)[at]!, 9); });
    }
  });

  it('are mapped index by index, and central moments are those of centred rows', () => {
    const rows = Array.from({ length: 40 }, () => [data.normal() ** 2, data.normal() + 3]);
    const map = Float64Array.of(1, 2, 0, -1, 0.5, 4);
    const mean = (of: readonly (readonly number[])[], order: number): Float64Array =>
      Float64Array.from(
        power(of[0]!, order)
          .map((_, at) => of.reduce((sum, row) => sum + power(row, order)[at]!, 0) / of.length));
    const mapped = rows.map(([x, y]) => [x! + 2 * y!, -y!, 0.5 * x! + 4 * y!]);
    const middle = mean(mapped, 1);
    const centred = mapped.map((row) => row.map((entry, j) => entry - middle[j]!));
    const central = centralMoments(mean(rows, 1), mean(rows, 2), mean(rows, 3), mean(rows, 4));
    for (const [tensor, order] of [
      [central.second, 2], [central.third, 3], [central.fourth!, 4],
    ] as const) {
      const right = mean(centred, order);
      mappedTensor(tensor, order, map, 3, 2).forEach((entry, at) => {
        expect(Math.abs(entry - right[at]!))
          .toBeLessThan(1e-9 * (1 + Math.max(...right.map(Math.abs))));
      });
    }
  });
});

describe('stable-moments', () => {
  const cohort = 40_000;
  const rowsWith = (far: number): Float64Array[] =>
    Array.from({ length: cohort }, (_, i) => (i < far * cohort
      ? Float64Array.of(1e6, 1e6)
      : Float64Array.of(
        Math.sqrt(12) * (data.uniform() - 0.5), 100 - 50 * Math.log(1 - data.uniform()),
      )));

  it.each([0, 0.02])(
    'tells a uniform from an exponential column with a share %d of far rows', async (far) => {
      const plan = planOf('stable-moments', { tails: 25 }, factsOf(2, cohort, 2));
      const outcome = await releaseOf(plan, 2, rowsWith(far), `far ${far}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      expect(outcome.parts).toEqual(plan.parts);
      const [skewness, kurtosis] = [outcome.estimate.slice(-4, -2), outcome.estimate.slice(-2)];
      // 0 and 2; -1.2 and 6, of which what lies beyond what is seen is lost.
      expect(Math.abs(skewness[0]!)).toBeLessThan(0.25);
      expect(skewness[1]!).toBeGreaterThan(1.4);
      expect(kurtosis[0]!).toBeLessThan(-0.8);
      expect(kurtosis[1]!).toBeGreaterThan(2);
      // In data units: the third moment of an exponential column of mean 50 is 2 * 50^3.
      expect(outcome.estimate[7]! / (2 * 50 ** 3)).toBeGreaterThan(0.6);
      expect(outcome.estimate[7]! / (2 * 50 ** 3)).toBeLessThan(1.1);
    },
  );

  // A twentieth is hostile. `corruption: 0` shows what they do where nothing guards against them.
  it.each([
    ['all at one point', () => [0, 4.5]],
    ['about one point', () => [0.4 * data.normal(), 4 + 0.4 * data.normal()]],
    ['on both sides', () => (data.uniform() < 0.5 ? [3.5, 0] : [-3.5, 0])],
    ['like a heavy tail', () => [0, 7 * (0.4 + 0.6 * data.uniform() ** 1.5)]],
  ] as const)('bears hostile rows %s', async (name, hostile) => {
    const rows = Array.from({ length: cohort }, (_, i) =>
      (i % 20 === 0 ? Float64Array.from(hostile()) : data.normals(2)));
    const errorOf = async (parameters: Readonly<Record<string, number>>): Promise<number> => {
      const plan = planOf('stable-moments', { spread: 1, ...parameters }, factsOf(2, cohort, 2));
      const outcome = await releaseOf(plan, 2, rows, name);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const truth = [
        ...new Array<number>(8).fill(0),
        3, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 3, 0, 0, 0, 0,
      ];
      return Math.hypot(...outcome.estimate.map((entry, at) => entry - truth[at]!));
    };
    const guarded = await errorOf({});
    const plan = planOf('stable-moments', { spread: 1 }, factsOf(2, cohort, 2));
    expect(guarded).toBeLessThan(plan.expectedError(0.05).total);
    expect(await errorOf({ corruption: 0 })).toBeGreaterThan(1.5 * guarded);
  });

  // Tails heavier than normal ones are pulled in by default: a share of a tenth here.
  it.each([[{}, 4_000], [{ corruption: 0, radius: 4 }, 1_200]] as const)(
    'says how many rows of too heavy tails were pulled in, with %o', async (set, people) => {
      const findingsOf = async (
        row: () => number, far: number,
      ): Promise<readonly (readonly [string, ...number[]])[]> => {
        const rows = Array.from({ length: cohort }, (_, i) =>
          (i < far * cohort ? Float64Array.of(1e6, 1e6) : Float64Array.of(row(), row())));
        const plan = planOf('stable-moments', { spread: 1, ...set }, factsOf(2, cohort, 2));
        const outcome = await releaseOf(plan, 2, rows, 'pulled in');
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        return outcome.findings?.map(({ reason, amounts }) => [reason, ...amounts] as const) ?? [];
      };
      const exponential = (): number => -Math.log(1 - data.uniform());
      const near = (number: number, share: number): unknown =>
        expect.closeTo(number, -Math.log10(2 * share * number));
      expect(await findingsOf(exponential, 0)).toEqual([['values-clipped', near(people, 0.3)]]);
      expect(await findingsOf(exponential, 0.02)).toEqual([
        ['cluster-apart', near(0.02, 0.2)], ['values-clipped', near(people, 0.3)],
      ]);
      expect(await findingsOf(() => data.uniform(), 0)).toEqual([]);
    },
  );

  it('promises an error in proportion to the root of the corruption', () => {
    const biasOf = (order: number, share: number, people = 1e7): number =>
      planOf('stable-moments', { order }, factsOf(3, people, 1)).expectedError(share).bias;
    expect(biasOf(4, 0.05)).toBeLessThan(8);
    expect(biasOf(3, 0.05)).toBeLessThan(3);
    // Fewer people are hidden by noise.
    expect(biasOf(4, 0.05, 1e5)).toBeLessThan(16);
    expect(biasOf(4, 0.05, 1e5)).toBeGreaterThan(1.2 * biasOf(4, 0.05));
    for (const order of [3, 4]) {
      expect(biasOf(order, 0)).toBe(0);
      expect(biasOf(order, 0.04) / biasOf(order, 0.01)).toBeGreaterThan(1.9);
      expect(biasOf(order, 0.04) / biasOf(order, 0.01)).toBeLessThan(3);
      expect(biasOf(order, 0.06)).toBe(Infinity);
    }
  });

  it('tells skewness along directions, and leaves out fourth moments when asked', async () => {
    const directions = '[[50,1],[-50,-1],[1,0]]';
    const parameters = { order: 3, directions, tails: 25 };
    const plan = planOf('stable-moments', parameters, factsOf(2, cohort, 2));
    const outcome = await releaseOf(plan, 2, rowsWith(0), 'directions');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    expect(outcome.parts)
      .toEqual([{ name: 'third', shape: [2, 2, 2] }, { name: 'skewness', shape: [3] }]);
    expect(outcome.estimate)
      .toHaveLength(outcome.parts!.reduce((sum, { shape }) => sum + entriesOf(shape), 0));
    const [along, against] = outcome.estimate.slice(-3) as [number, number, number];
    expect(along).toBeGreaterThan(0.4);
    expect(against).toBeCloseTo(-along, 9);
  });

  it('answers nothing along a direction in which noise hides how rows vary', async () => {
    const rows = (tilt: number): Float64Array[] => Array.from({ length: cohort }, () => {
      const along = data.normal();
      return Float64Array.of(along, along + tilt * data.normal());
    });
    const plan =
      planOf('stable-moments', { spread: 1, directions: '[[1,0],[1,-1]]' }, factsOf(2, cohort, 2));
    expect(await releaseOf(plan, 2, rows(0), 'collinear'))
      .toMatchObject({ kind: 'refused', reason: 'noise-too-large' });
    expect(await releaseOf(plan, 2, rows(0.1), 'tilted')).toMatchObject({ kind: 'value' });
  });

  it('answers no kurtosis that is impossible', () => {
    // Half of the rows at -1 and half at 1: a kurtosis of 1, which noise may take to .9.
    const of = (fourth: number, noise: number) => shapeAlong({
      dimension: 1, second: Float64Array.of(1), third: Float64Array.of(0),
      fourth: Float64Array.of(fourth), noises: [noise, noise, noise, noise],
    }, Float64Array.of(1));
    expect(of(0.9, 0.05)).toEqual({ skewness: 0, excess: -2 });
    expect(of(3.5, 0.05)).toEqual({ skewness: 0, excess: 0.5 });
    expect([of(0.9, 0.01), of(-8_013, 1_000)]).toEqual([null, null]);
  });

  it('refuses directions that are none, too many columns and too few contributors', () => {
    const facts = factsOf(2, cohort);
    for (const directions of ['[[1]]', '[[0,0]]', '[[1,"x"]]', '[3]']) {
      const raw = parseParameters(stableMoments.parameters, { directions }, facts);
      expect(() => stableMoments.plan(raw, facts)).toThrow(InvalidParameterError);
    }
    const plan = (dimension: number, people: number) =>
      stableMoments.plan(
        parseParameters(stableMoments.parameters, {}, { dimension }), factsOf(dimension, people, 1),
      );
    expect(plan(6, 1e6)).toMatchObject({ kind: 'infeasible', remedy: 'at most 5 columns' });
    const small = plan(3, 200);
    expect(small.kind).toBe('infeasible');
    expect(plan(3, small.kind === 'infeasible' ? small.cohortNeeded! : 0).kind).toBe('plan');
  });

  it('charges for the worst that one row can do to every order', () => {
    const plan = planOf('stable-moments', {}, factsOf(3, cohort));
    const radius = plan.facts['radius'] as number;
    const of = (k: number) => plan.events.find(({ name }) =>
      name === `order-${k}`) as { sensitivity: number; dimension: number };
    for (const k of [1, 2, 3, 4]) {
      const right = (k % 2 === 1 ? 2 : Math.SQRT2) * radius ** k;
      expect(of(k).sensitivity / right).toBeCloseTo(1, 3);
    }
    expect([1, 2, 3, 4].map((k) => of(k).dimension)).toEqual([3, 6, 10, 15]);
  });

  it('charges for one bin of every histogram that a row leaves, and one that it enters', () => {
    const of = (name: string) => planOf('stable-moments', {}, factsOf(3, cohort)).events
      .find((event) => event.name === name) as { sensitivity: number; dimension: number };
    for (const [name, axes, bins] of [
      ['widths', 9, 64], ['axes-1', 6, 64], ['axes-2', 6, 64], ['distance-1', 1, 32],
      ['left', 1, 2],
    ] as const) {
      expect(of(name).sensitivity ** 2 / (2 * axes)).toBeCloseTo(1, 9);
      expect(of(name).sensitivity ** 2).toBeGreaterThanOrEqual(2 * axes);
      expect(of(name).dimension).toBe(axes * bins);
    }
    const names = planOf('stable-moments', { corruption: 0 }, factsOf(3, cohort)).events
      .map(({ name }) => name);
    expect(names).not.toContain('widths');
    expect(names).toContain('left');
  });
});
