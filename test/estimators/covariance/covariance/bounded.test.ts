import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../../src/base/brands.js';
import { inlineCompute } from '../../../../src/estimators/contract/compute.js';
import type { StudyFacts } from '../../../../src/estimators/contract/estimator.js';
import { pairsOf } from '../../../../src/estimators/covariance/moments/pairs.js';
import {
  noiseNorm, preconditionerDesign, privatePreconditioner,
} from '../../../../src/estimators/covariance/moments/preconditioner.js';
import {
  privateSecondMoments, secondMomentsEvent,
} from '../../../../src/estimators/covariance/moments/second-moments.js';
import { createMechanisms } from '../../../../src/privacy/mechanisms/index.js';
import type { Mechanisms } from '../../../../src/privacy/mechanisms/contract.js';
import { clipBall } from '../../../../src/privacy/stages/clip.js';
import { slotsFor } from '../../../../src/privacy/stages/spread.js';
import { seededNoise } from '../../../../src/random/insecure.js';
import { dataSource } from '../../../support/data.js';
import { opened } from '../../../support/opened.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { cloudOf, relativeError, rowOf, type Cloud } from './data.js';

const bounds = { 'variance-low': 1e-4, 'variance-high': 1e4 };
const cohort = 30_000;

/** A target of rho alone, for which pairs are taken. */
function withoutDelta(facts: StudyFacts): StudyFacts {
  return { ...facts, target: { ...facts.target, delta: 0 } };
}

async function answerFor(
  cloud: Cloud, seed: string, parameters: Readonly<Record<string, unknown>> = bounds,
) {
  const facts = withoutDelta(factsOf(cloud.dimension, cohort, 2));
  const plan = planOf('covariance', parameters, facts);
  const data = dataSource(seed);
  const rows = Array.from({ length: cohort }, () => rowOf(cloud, data, 1e3));
  const outcome = await releaseOf(plan, cloud.dimension, rows, seed);
  if (outcome.kind !== 'value') throw new Error(outcome.text);
  return { plan, outcome, error: relativeError(cloud, outcome.estimate) };
}

describe('covariance from pairs of rows, within bounds', () => {
  it('is as good after any linear map within the bounds', { tags: ['long'] }, async () => {
    const errors: number[] = [];
    for (const variances of [[1, 1, 1], [1e4, 1, 1e-4], [1e-4, 1e-4, 1e-4], [1e4, 1e4, 1e-4]]) {
      const { plan, error } = await answerFor(
        cloudOf(dataSource(`axes ${variances.join()}`), variances), `rows ${variances.join()}`,
      );
      const { total } = plan.expectedError(0);
      expect(error.frobenius).toBeLessThan(2 * total);
      errors.push(error.frobenius / total);
    }
    expect(Math.hypot(...errors) / 2).toBeGreaterThan(0.6);
    expect(Math.hypot(...errors) / 2).toBeLessThan(1.5);
  });

  it('covers the entries with its intervals, and states its '
    + 'noise', { tags: ['slow'] }, async () => {
    const cloud = cloudOf(dataSource('interval'), [100, 1]);
    const truth = [0, 1, 2, 3].map((at) => [0, 1].reduce((sum, k) =>
      sum + cloud.deviations[k]! ** 2 * cloud.axes[2 * k
        + (at >> 1)]! * cloud.axes[2 * k + (at & 1)]!, 0));
    let covered = 0;
    for (let round = 0; round < 20; round++) {
      const { outcome, error } =
        await answerFor(cloud, `interval ${round}`, { 'variance-low': 0.5, 'variance-high': 200 });
      covered += truth.filter((entry, at) =>
        outcome.interval95!.low[at]! <= entry && entry <= outcome.interval95!.high[at]!).length;
      if (outcome.uncertainty.kind !== 'relative') throw new Error('another uncertainty');
      expect(outcome.uncertainty.operator).toBeGreaterThan(error.spectral / 20);
      expect(outcome.parts).toEqual([{ name: 'covariance', shape: [2, 2] }]);
    }
    expect(covered).toBeGreaterThanOrEqual(68);
  });

  it('stays positive definite where a direction has no variance, and says that it does not know '
    + 'it', async () => {
    const { outcome } = await answerFor(cloudOf(dataSource('flat'), [1, 1, 0]), 'flat');
    const cloud = cloudOf(dataSource('flat'), [1, 1, 1e-4]);
    if (outcome.uncertainty.kind !== 'relative') throw new Error('another uncertainty');
    expect(outcome.uncertainty.operator).toBeGreaterThan(0.5);
    // Its third variance, in units of the lower bound: positive, and not far above it.
    const third = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) =>
      cloud.axes[6 + i]! * outcome.estimate[3 * i + j]! * cloud.axes[6 + j]!))
        .reduce((sum, entry) => sum + entry, 0);
    expect(third / 1e-4).toBeGreaterThan(0);
    expect(third / 1e-4).toBeLessThan(3);
  });

  it('names the cohort that would do, and that cohort does', () => {
    const facts = withoutDelta(factsOf(10, 20_000, 1));
    const wide = { 'variance-low': 1e-12, 'variance-high': 1e12 };
    expect(() => planOf('covariance', wide, facts)).toThrow(/infeasible/);
    expect(() => planOf('covariance', {}, facts)).toThrow(/nothing finds how wide/);
    expect(() => planOf('covariance', { 'variance-low': 2, 'variance-high': 1 }, facts))
      .toThrow(/must not be above/);
    expect(() => planOf('covariance', {}, factsOf(201, 1e6))).toThrow(/at most 200 columns/);
    const enough = planOf('covariance', wide, withoutDelta(factsOf(10, 200_000, 1)));
    expect(enough.facts['pairsNeeded']).toBeLessThan(0.8 * 59_400);
  });

  it('refuses when fewer pairs come than the rounds need', async () => {
    const facts = withoutDelta(factsOf(2, 4_000, 2));
    const plan = planOf('covariance', { 'variance-low': 0.1, 'variance-high': 10 }, facts);
    const data = dataSource('few');
    const outcome =
      await releaseOf(plan, 2, Array.from({ length: 900 }, () => data.normals(2)), 'few');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
  });
});

/** What was handed to the mechanisms, instead of noise. */
function seenBy(): { readonly seen: Float64Array[]; readonly mechanisms: Mechanisms } {
  const seen: Float64Array[] = [];
  const real = createMechanisms([], seededNoise('unused'));
  const mechanisms = new Proxy(real, {
    get: (_, name) => (event: string, value: Sensitive<Float64Array>) => {
      const content = opened(new Map([[event, value as never]]))
        .get(event) as unknown as Float64Array;
      seen.push(content);
      return name === 'symmetricGaussian' ? { value: content } : null;
    },
  });
  return { seen, mechanisms };
}

describe('what one contributor changes', () => {
  const dimension = 3;
  const pool = (rows: readonly { tag: bigint; row: readonly number[] }[]) => {
    const sorted = [...rows].sort((a, b) => (a.tag < b.tag ? -1 : 1));
    return {
      count: rows.length, dimension, values: Float64Array.from(sorted.flatMap(({ row }) => row)),
      tags: BigUint64Array.from(sorted, ({ tag }) => tag),
    };
  };
  const tagOf = (data: ReturnType<typeof dataSource>): bigint => BigInt(data.below(2 ** 50)) << 14n;

  it('is one pair, whatever it does', () => {
    const data = dataSource('pairs');
    const rows =
      Array.from({ length: 400 }, () => ({ tag: tagOf(data), row: [...data.normals(dimension)] }));
    const slots = slotsFor(400);
    const listOf = (list: typeof rows): string[] => {
      const { count, values } = pairsOf(pool(list), slots);
      return Array.from({ length: count }, (_, i) =>
        values.subarray(i * dimension, (i + 1) * dimension).join());
    };
    const before = listOf(rows);
    expect(before.length / slots).toBeGreaterThan(0.5);
    for (let round = 0; round < 200; round++) {
      const at = data.below(rows.length);
      const replaced =
        rows.map((entry, i) => (i === at ? { ...entry, row: [1e308, -1e308, 0] } : entry));
      for (const neighbour of [
        replaced, rows.filter((_, i) => i !== at), [...rows, { tag: tagOf(data), row: [1, 2, 3] }],
      ]) {
        const after = listOf(neighbour);
        expect(before.filter((pair) => !after.includes(pair)).length).toBeLessThanOrEqual(1);
        expect(after.filter((pair) => !before.includes(pair)).length).toBeLessThanOrEqual(1);
      }
    }
  });

  it('moves the sum of second moments by no more than its event says, exactly on the '
    + 'grid', async () => {
    const data = dataSource('moments');
    const ball = clipBall(4, { products: true, rowsMax: 100 });
    const event = secondMomentsEvent({ name: 'm', cohort: 'c', dimension, ball, rho: 0.1 });
    const matrix = data.normals(9).map((entry) => 1e3 * entry);
    let largest = 0;
    for (let round = 0; round < 60; round++) {
      const values = data.normals(30);
      const corner = [
        [1e9, 0, 0], [0, 1e9, 0], [-1e9, 1e9, 1e-9], [1e305, 1e305, 1e305], [0, 0, 0],
      ];
      const changed = values.slice();
      changed.set(corner[round % 5]!, 3 * data.below(10));
      const { seen, mechanisms } = seenBy();
      for (const rows of [values, changed]) {
        const block = Sensitive.of({ count: 10, dimension, values: rows });
        await privateSecondMoments(mechanisms, inlineCompute(), block, matrix, ball, 'm');
      }
      const difference = seen[0]!.map((entry, i) => entry - seen[1]![i]!);
      difference.forEach((entry) => expect(Number.isInteger(entry / event.grid)).toBe(true));
      largest = Math.max(largest, Math.hypot(...difference));
    }
    expect(largest).toBeLessThanOrEqual(event.sensitivity);
    expect(largest).toBeGreaterThan(0.6 * event.sensitivity);
  });

  it('is clipped row by row: a row’s image does not depend on the rows beside it', async () => {
    const data = dataSource('alone');
    const ball = clipBall(4, { products: true, rowsMax: 100 });
    const matrix = data.normals(9);
    const momentsOf = async (values: Float64Array): Promise<Float64Array> => {
      const { seen, mechanisms } = seenBy();
      const block = Sensitive.of({ count: values.length / dimension, dimension, values });
      await privateSecondMoments(mechanisms, inlineCompute(), block, matrix, ball, 'm');
      return seen[0]!;
    };
    const rows = data.normals(3 * 7);
    const whole = await momentsOf(rows);
    const sum = new Float64Array(9);
    for (let i = 0; i < 7; i++) (await momentsOf(rows.subarray(3 * i, 3 * i + 3)))
      .forEach((entry, at) => { sum[at]! += entry; });
    expect(whole).toEqual(sum);
  });
});

describe('the preconditioner', () => {
  it('leaves every direction between 1 - 3 b and about 1 at the number of pairs that it '
    + 'names', async () => {
    const pairs = 20_000;
    const design = preconditionerDesign({
      cohort: 'c', dimension: 4, range: 1e6, rho: 0.02, pairs, pairsMax: pairs,
    })!;
    expect(design.pairsNeeded).toBeLessThanOrEqual(pairs);
    expect(noiseNorm(4) * design.events[0]!.sigma / pairs).toBeCloseTo(design.shift, 12);
    const data = dataSource('whitened');
    for (const variances of [[1e3, 1e3, 1, 1e-3], [1e-3, 1e-3, 1e-3, 1e-3]]) {
      const cloud = cloudOf(data, variances);
      const values = new Float64Array(4 * pairs);
      for (let i = 0; i < pairs; i++) values.set(rowOf(cloud, data), 4 * i);
      const { matrix, inverse } = await privatePreconditioner(
        createMechanisms(design.events, seededNoise(`w ${variances.join()}`)), inlineCompute(),
        Sensitive.of({ count: pairs, dimension: 4, values }), design, { varianceHigh: 1e3, pairs },
      );
      // Rows of cov = matrix S matrix^T: as a covariance of the unit cloud.
      const image = new Float64Array(16);
      for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) {
        const along = (row: number): number => [0, 1, 2, 3].reduce((sum, c) =>
          sum + matrix[4 * row + c]! * cloud.axes[4 * k + c]! * cloud.deviations[k]!, 0);
        image[4 * i + j]! += along(i) * along(j);
      }
      const unit = { dimension: 4, axes: cloud.axes, deviations: new Float64Array(4).fill(1) };
      expect(relativeError(unit, [...image]).spectral).toBeLessThan(3 * design.shift + 0.05);
      const identity = [0, 1, 2, 3].map((i) =>
        [0, 1, 2, 3].reduce((sum, k) => sum + matrix[4 * i + k]! * inverse[4 * k + i]!, 0));
      identity.forEach((entry) => expect(entry).toBeCloseTo(1, 9));
    }
  });

  it('is planned with fewer rounds for closer bounds, and not at all where noise hides '
    + 'everything', () => {
    const asked = { cohort: 'c', dimension: 4, rho: 0.02, pairs: 20_000, pairsMax: 20_000 };
    const rounds = [1, 10, 1e6].map((range) =>
      preconditionerDesign({ ...asked, range })?.rounds ?? 0);
    expect(rounds[0]).toBe(1);
    expect(rounds[1]).toBeLessThan(rounds[2]!);
    expect(preconditionerDesign({ ...asked, range: 1e6, pairs: 1_000 })).toBeNull();
  });
});
