import { describe, expect, it } from 'vitest';
import {
  averageMatrix, matrixAgreement, type GroupMatrices,
} from '../../../../src/estimators/covariance/subsample-covariance/agreement.js';
import {
  averageLogDistance, maskDesign, type MaskFacts,
} from '../../../../src/estimators/covariance/subsample-covariance/mask-design.js';
import {
  distanceQuantile, rootLaw,
} from '../../../../src/estimators/covariance/subsample-covariance/deviation.js';
import { agreeingPairs } from '../../../../src/estimators/mean/populous-mean/agreement.js';
import { pairsFloor } from '../../../../src/estimators/mean/populous-mean/design.js';
import { thresholdChoices } from '../../../../src/estimators/mean/populous-mean/stability.js';
import { createKernels } from '../../../../src/numerics/kernels/index.js';
import { costOfEvents } from '../../../../src/privacy/accounting/composition.js';
import { passingValue } from '../../../../src/privacy/mechanisms/bounds.js';
import { amountToNumber } from '../../../../src/privacy/accounting/amount.js';
import { renyiAllowance } from '../../../../src/privacy/accounting/target.js';
import { robustScatter } from '../../../../src/robust/robust-scatter.js';
import { findEstimator } from '../../../../src/estimators/registry.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { cloudOf, relativeError, rowOf } from '../covariance/data.js';

const kernels = createKernels();
const masked = { mask: 'wishart' };

/** log of the largest factor between two positive definite matrices of two columns, either way. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  // Eigenvalues of a^-1 b from trace and determinant.
  const determinant = (m: ArrayLike<number>): number => m[0]! * m[3]! - m[1]! * m[2]!;
  const trace = (a[3]! * b[0]! - 2 * a[1]! * b[1]! + a[0]! * b[3]!) / determinant(a);
  const product = determinant(b) / determinant(a);
  const high = (trace + Math.sqrt(Math.max(0, trace * trace - 4 * product))) / 2;
  return Math.max(Math.log(high), Math.log(high / product));
}

/** Exponential of a random symmetric matrix: two columns. */
function randomMatrix(data: DataSource, size: number): Float64Array {
  const [a, b, c] = [data.normal(), data.normal(), data.normal()].map((entry) => size * entry);
  return kernels.exponentialSymmetric(Float64Array.of(a!, b!, b!, c!), 2);
}

const gathered = (matrices: readonly Float64Array[]): GroupMatrices => ({
  groups: matrices.length, dimension: 2, present: new Uint8Array(matrices.length).fill(1),
  values: Float64Array.from(matrices.flatMap((matrix) => [...matrix])),
});

describe('agreement of group covariances', () => {
  it('is within the radius of Thompson’s metric, and no linear map changes it', () => {
    const data = dataSource('thompson');
    const matrices = Array.from({ length: 40 }, () => randomMatrix(data, 0.4));
    const counts = matrixAgreement(gathered(matrices), 0.9);
    const expected = matrices.map((a) => matrices.filter((b) => distance(a, b) <= 0.9).length);
    expect([...counts]).toEqual(expected);
    expect(Math.min(...counts)).toBeLessThan(20);
    const [p, q, r, s] = [1e5, 3e4, 1, -2e-3];
    const mapped = matrices.map(([a, b, , c]) => Float64Array.of(
      p * p * a! + 2 * p * q * b! + q * q * c!, p * r * a! + (p * s + q * r) * b! + q * s * c!,
      p * r * a! + (p * s + q * r) * b! + q * s * c!, r * r * a! + 2 * r * s * b! + s * s * c!,
    ));
    expect([...matrixAgreement(gathered(mapped), 0.9)]).toEqual(expected);
  });

  it.each([0.5, 1.8])('keeps the average within the stated distance when one group changes, '
    + 'wherever groups stand, at radius %d', { tags: ['long'] }, (radius) => {
    const data = dataSource('moved');
    const groups = 60;
    let worst = 0;
    let tried = 0;
    for (let round = 0; round < 400; round++) {
      const thresholds = thresholdChoices(groups)[round % 8]!;
      const stated = averageLogDistance(groups, thresholds, radius);
      // A cluster, and some that are on the edge of agreeing with it, on one side or both.
      const edge = randomMatrix(data, 0.1)
        .map((entry, at) => (at % 3 === 0 ? Math.exp(0.9 * radius) : 1) * entry);
      const share = 0.3 * data.uniform();
      const matrices = Array.from({ length: groups }, () =>
        (data.uniform() < share ? edge.map((entry) => entry * Math.exp(0.02 * data.normal()))
          : randomMatrix(data, 0.08)));
      const changed = [...matrices];
      changed[0] = [
        edge.map((entry) => entry * 1.02), randomMatrix(data, 0.05),
        Float64Array.of(1, 0, 0, 1).map((entry) => entry * Math.exp(-0.86 * radius)),
        Float64Array.of(1e9, 0, 0, 1e9),
      ][round % 4]!;
      const both = [matrices, changed].map((list) => {
        const set = gathered(list);
        const counts = matrixAgreement(set, radius);
        return { pairs: agreeingPairs(counts), average: averageMatrix(set, counts, thresholds) };
      });
      if (both.some(({ pairs }) => pairs < pairsFloor(groups, thresholds.agreement))) continue;
      tried += 1;
      const moved = distance(both[0]!.average, both[1]!.average);
      expect(moved).toBeLessThanOrEqual(stated);
      worst = Math.max(worst, moved / stated);
    }
    expect(tried).toBeGreaterThan(100);
    // The adversary here comes within a factor 10 of the bound.
    expect(worst).toBeGreaterThan(0.1);
  });

  it('is spread as planned', () => {
    const data = dataSource('spread');
    const matrix = (freedom: number): Float64Array => {
      const rows = new Float64Array(2 * freedom).map(() => data.normal());
      const sum = new Float64Array(4);
      kernels.gram(rows, 2, freedom, {}, sum);
      return sum;
    };
    const law = rootLaw(2, 60);
    const distances = Array.from({ length: 600 }, () => distance(matrix(60), matrix(60)))
      .sort((a, b) => a - b);
    for (const share of [0.5, 0.8, 0.95]) {
      expect(Math.abs(distances[Math.round(600 * share)]! / distanceQuantile(law, share) - 1))
        .toBeLessThan(0.1);
    }
  });
});

describe('the design of a mask', () => {
  const target = factsOf(2, 1).target;
  const facts: MaskFacts = {
    name: 'groups', dimension: 2, cohort: 20_000, delta: target.delta, kind: 'wishart',
    efficiency: 1, slack: 0, ...renyiAllowance(target),
  };

  it('costs what it may and no more, whatever the kind', () => {
    for (const kind of ['wishart', 'affine'] as const) {
      const { test, mask, thresholds, groups } = maskDesign({ ...facts, kind }, 4)!;
      const { renyi } = costOfEvents([test, mask], { disjoint: [] });
      expect(amountToNumber(renyi!.amount)).toBeLessThanOrEqual(facts.divergence);
      expect(amountToNumber(renyi!.amount)).toBeGreaterThan(0.9 * facts.divergence);
      expect(test.sensitivity).toBe(groups - 1);
      expect(test.floor).toBe(pairsFloor(groups, thresholds.agreement));
      expect(passingValue(test)).toBeLessThan((groups * (groups - 1)) / 2);
    }
  });

  it('does not exist where groups are too few or too small', () => {
    expect(maskDesign({ ...facts, cohort: 2_000 }, 4)).toBeNull();
    expect(maskDesign({ ...facts, groups: 60 }, 4)).toBeNull();
    expect(maskDesign({ ...facts, divergence: 1e-3 }, 4)).toBeNull();
  });
});

describe('subsample-covariance under a mask', () => {
  const rowsOf = (
    cloud: ReturnType<typeof cloudOf>, count: number, seed: string, centre = 50,
  ): Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: count }, () => rowOf(cloud, data, centre));
  };

  it('is as good as planned, of data of any size, by either mask', { tags: ['long'] }, async () => {
    for (const [size, mask] of [[1e-40, 'wishart'], [1e40, 'affine']] as const) {
      const cohort = 40_000;
      const plan = planOf('subsample-covariance', { mask }, factsOf(2, cohort, 2));
      const cloud = cloudOf(dataSource(mask), [size, size / 400]);
      const outcome = await releaseOf(plan, 2, rowsOf(cloud, cohort, mask, 0), mask);
      if (outcome.kind !== 'value') throw new Error(outcome.text);
      expect(relativeError(cloud, outcome.estimate).frobenius)
        .toBeLessThan(2.2 * plan.expectedError(0).total);
      expect(outcome.parts).toEqual(plan.parts);
    }
  });

  it('charges disjoint cohorts the larger cost, at one order, within the statement', () => {
    const facts = factsOf(2, 60_000, 1);
    const plan = planOf('subsample-covariance', masked, facts);
    const { order, divergence } = renyiAllowance(facts.target);
    expect(plan.cost).toEqual(costOfEvents(plan.events, { disjoint: ['groups', 'rows'] }));
    expect(plan.cost.renyi!.order).toBe(order);
    expect(amountToNumber(plan.cost.renyi!.amount)).toBeLessThanOrEqual(divergence);
    expect(amountToNumber(plan.cost.delta)).toBeLessThanOrEqual(facts.target.delta * (1 + 1e-9));
    expect(plan.arms.map(({ mode }) => mode)).toEqual(['disjoint', 'pooled']);
  });

  it('with robust groups bears hostile rows that would spoil every '
    + 'group', { tags: ['slow'] }, async () => {
    const cohort = 60_000;
    const raw = { ...masked, local: 'robust', corruption: 0.02 };
    const plan = planOf('subsample-covariance', raw, factsOf(2, cohort, 6));
    const cloud = cloudOf(dataSource('robust'), [4, 1]);
    const honest = rowsOf(cloud, cohort, 'robust rows');
    const hostile = honest.map((row, i) => (i % 50 === 0 ? Float64Array.of(1e6, -1e6) : row));
    for (const [rows, share] of [[honest, 0], [hostile, 0.02]] as const) {
      const outcome = await releaseOf(plan, 2, rows, 'robust');
      if (outcome.kind !== 'value') throw new Error(outcome.text);
      expect(relativeError(cloud, outcome.estimate).frobenius)
        .toBeLessThan(2 * plan.expectedError(share).total);
    }
    expect(plan.expectedError(0.03).total).toBe(Infinity);
  });

  it('refuses when groups disagree', { tags: ['long'] }, async () => {
    const plan = planOf('subsample-covariance', masked, factsOf(2, 40_000, 2));
    const data = dataSource('garbage');
    const rows =
      Array.from({ length: 40_000 }, () => data.normals(2).map((entry) => Math.exp(6 * entry)));
    expect(await releaseOf(plan, 2, rows, 'garbage'))
      .toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
    const constant = rows.map(([x]) => Float64Array.of(x!, 7));
    expect(await releaseOf(plan, 2, constant, 'constant'))
      .toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
    expect(await releaseOf(plan, 2, [], 'nobody'))
      .toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
  });

  it('names the cohort that would do, and that one does', () => {
    const estimator = findEstimator('subsample-covariance');
    const plan = (cohort: number, epsilon: number) => estimator.plan(
      parseParameters(estimator.parameters, masked, { dimension: 2 }),
      factsOf(2, cohort, epsilon),
    );
    const small = plan(2_000, 2);
    if (small.kind !== 'infeasible') throw new Error('feasible');
    expect(small.remedy).toMatch(/a cohort of/);
    expect(plan(small.cohortNeeded!, 2).kind).toBe('plan');
    expect(plan(Math.floor(0.7 * small.cohortNeeded!), 2).kind).toBe('infeasible');
  });
});

describe('robustScatter', () => {
  const scatterOf = (rows: readonly Float64Array[]): Float64Array => robustScatter({
    count: rows.length, dimension: rows[0]!.length,
    values: Float64Array.from(rows.flatMap((row) => [...row])),
  });

  it('is the covariance of Gaussian rows, and of those among hostile '
    + 'ones', { tags: ['long'] }, () => {
    for (const variances of [[3], [4, 1], [9, 1, 1, 0.01, 1e-6]]) {
      const data = dataSource(`tyler ${variances.join()}`);
      const cloud = cloudOf(data, variances);
      const rows = Array.from({ length: 4_000 }, () => rowOf(cloud, data, 10));
      expect(relativeError(cloud, [...scatterOf(rows)]).spectral).toBeLessThan(0.12);
      const hostile = rows.map((row, i) => (i % 20 === 0 ? row.map((entry) => entry * 1e9) : row));
      expect(relativeError(cloud, [...scatterOf(hostile)]).spectral).toBeLessThan(0.5);
    }
  });

  it('is nothing where rows are too few or all in one plane', () => {
    const data = dataSource('plane');
    expect([...scatterOf([data.normals(3), data.normals(3)])]).toEqual(new Array(9).fill(0));
    expect([...scatterOf(Array.from({ length: 50 }, () => Float64Array.of(data.normal(), 1)))])
      .toEqual([0, 0, 0, 0]);
    expect([...scatterOf(Array.from({ length: 50 }, () => Float64Array.of(5, 5)))])
      .toEqual([0, 0, 0, 0]);
  });
});
