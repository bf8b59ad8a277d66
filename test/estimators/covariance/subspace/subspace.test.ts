import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../../../src/base/errors.js';
import { utf8 } from '../../../../src/base/bytes.js';
import { chooseSubspaceDesign } from '../../../../src/estimators/covariance/subspace/design.js';
import { findEstimator } from '../../../../src/estimators/registry.js';
import { spanSummary } from '../../../../src/estimators/covariance/subspace/summary.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { seededRandom } from '../../../../src/random/work.js';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

/** Rows of a plane in four columns, every entry whole. */
function planeRow(data: DataSource, offset = 0): Float64Array {
  const a = data.below(201) - 100;
  const b = data.below(201) - 100;
  return Float64Array.of(a + offset, b, a + b, a - 2 * b);
}

const plane = [[1, 0, 1, 1], [0, 1, 1, -2]];
/** By hand: B^T (B B^T)^-1 B with B B^T = [[3, -1], [-1, 6]]. */
const planeProjector = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => {
  const [x, y] = [plane[0]!, plane[1]!];
  return (6 * x[i]! * x[j]! + x[i]! * y[j]! + y[i]! * x[j]! + 3 * y[i]! * y[j]!) / 17;
})).flat();

const cohort = 3_000;

async function answer(
  raw: Readonly<Record<string, unknown>>, rows: readonly Float64Array[], seed: string,
): Promise<readonly number[] | string> {
  const plan = planOf('subspace', raw, factsOf(4, cohort, 1));
  const outcome = await releaseOf(plan, 4, rows, seed);
  return outcome.kind === 'value' ? outcome.estimate : outcome.reason;
}

describe('subspace', () => {
  it('finds the plane exactly, among a share of hostile rows too, and refuses when there is '
    + 'none', async () => {
    const data = dataSource('plane');
    const rows = Array.from({ length: cohort }, () => planeRow(data));
    const honest = await answer({}, rows, 'plane');
    planeProjector.forEach((entry, i) =>
      expect((honest as readonly number[])[i]).toBeCloseTo(entry, 14));
    expect(honest).toHaveLength(17);
    expect(honest[16]).toBe(2);
    const hostile = rows.map((row, i) => (i < 0.01 * cohort ? Float64Array.of(5, 1, 1, 1) : row));
    expect(await answer({}, hostile, 'hostile')).toEqual(honest);
    // About half of the groups hold one of these, so that two subspaces are as frequent as each
    // other.
    const none = rows.map((row, i) => (i < 0.029 * cohort ? Float64Array.of(5, 1, 1, 1) : row));
    expect(await answer({ subsamples: 120, corruption: 0 }, none, 'none'))
      .toBe('subsamples-disagree');
  });

  it('finds the directions of a plane beside the origin in affine form only', async () => {
    const data = dataSource('affine');
    const rows = Array.from({ length: cohort }, () => planeRow(data, 1_000));
    const affine = await answer({ form: 'affine' }, rows, 'affine');
    planeProjector.forEach((entry, i) =>
      expect((affine as readonly number[])[i]).toBeCloseTo(entry, 14));
    const linear = await answer({}, rows, 'linear') as readonly number[];
    expect(linear[0]! + linear[5]! + linear[10]! + linear[15]!).toBeCloseTo(3, 12);
    expect(linear[16]).toBe(3);
  });

  it('takes whole numbers of any size that doubles hold', async () => {
    const data = dataSource('large');
    const rows = Array.from({ length: cohort }, () =>
      planeRow(data).map((entry) => entry * 10_000_000_000_000));
    const found = await answer({}, rows, 'large') as readonly number[];
    planeProjector.forEach((entry, i) => expect(found[i]).toBeCloseTo(entry, 14));
  });

  it('rounds to the public unit, and takes rows past its range for nothing', async () => {
    const data = dataSource('unit');
    const rows = Array.from({ length: cohort }, () =>
      planeRow(data).map((entry) => 0.25 * entry + 0.1 * (data.uniform() - 0.5)));
    const found = await answer({ unit: 0.25 }, rows, 'unit') as readonly number[];
    planeProjector.forEach((entry, i) => expect(found[i]).toBeCloseTo(entry, 14));
    const withFar = rows.map((row, i) => (i % 10 === 0 ? Float64Array.of(1e300, 2, 3, 4) : row));
    expect(await answer({ unit: 0.25 }, withFar, 'unit')).toEqual(found);
  });

  it('does not take nobody, or one row each, for an answer', async () => {
    expect(await answer({}, [], 'nobody')).toBe('subsamples-disagree');
    expect(await answer({ form: 'affine' }, [], 'nobody')).toBe('subsamples-disagree');
    expect(await answer({ form: 'affine' }, [planeRow(dataSource('one'))], 'one'))
      .toBe('subsamples-disagree');
  });

  it('answers zero when all rows are zero: a subspace like any other', async () => {
    expect(await answer({}, Array.from({ length: cohort }, () => new Float64Array(4)), 'zero'))
      .toEqual(new Array<number>(17).fill(0));
  });

  it('refuses more columns than its integers stay short for, and group numbers that leave too few '
    + 'rows', () => {
    const estimator = findEstimator('subspace');
    const plan = (
      raw: Readonly<Record<string, unknown>>, dimension: number,
    ): ReturnType<typeof estimator.plan> =>
      estimator.plan(
        parseParameters(estimator.parameters, raw, { dimension }), factsOf(dimension, cohort, 1),
      );
    expect(() => plan({}, 65)).toThrow(InvalidParameterError);
    expect(plan({ subsamples: 1_000 }, 4)).toMatchObject({ kind: 'infeasible' });
    expect(plan({ corruption: 0.2 }, 30)).toMatchObject({
      kind: 'infeasible', remedy: expect.stringContaining('corruption') as string,
    });
  });

  it('plans a share of hostile rows that it then withstands', async () => {
    const plan = planOf('subspace', { corruption: 0.02 }, factsOf(4, cohort, 1));
    expect(plan.guarantee.corruptionMax).toBeGreaterThanOrEqual(0.02);
    const data = dataSource('tolerated');
    let answered = 0;
    for (let round = 0; round < 10; round++) {
      // All hostile rows are the same: groups that hold one agree with each other.
      const rows = Array.from({ length: cohort }, (_, i) =>
        (i < plan.guarantee.corruptionMax * cohort ? Float64Array.of(5, 1, 1, 1) : planeRow(data)));
      const outcome = await releaseOf(plan, 4, rows, `tolerated ${round}`);
      if (outcome.kind === 'value') answered += 1;
    }
    expect(answered).toBeGreaterThanOrEqual(7);
  });

  it('needs no more groups than its test asks for', () => {
    const { rho, delta } = factsOf(4, cohort, 1).target;
    const design = chooseSubspaceDesign({ cohort: 1e5, rho, delta, corruption: 0, rowsWanted: 7 });
    expect(design!.groups).toBeLessThan(140);
    expect(design!.passProbability).toBeGreaterThan(0.999);
  });
});

describe('the span of a group', () => {
  const work = seededRandom(utf8('span'));

  it.each(['linear', 'affine'] as const)('is the same split, shipped and merged: %s', (form) => {
    const data = dataSource(`merge ${form}`);
    const summary = spanSummary(4, 1, form);
    for (let round = 0; round < 20; round++) {
      const rows = Array.from({ length: 1 + data.below(6) }, () => planeRow(data, 1_000));
      const whole =
        rows.reduce((state, row, i) => summary.add(state, row, BigInt(i)), summary.empty());
      const parts = [summary.empty(), summary.empty()];
      rows.forEach((row, i) => {
        const part = data.below(2);
        parts[part] = summary.add(parts[part]!, row, BigInt(i));
      });
      const [left, right] = parts.map((part) => summary.decode(summary.encode(part)));
      expect(summary.finish(summary.merge(right!, left!), work))
        .toEqual(summary.finish(whole, work));
    }
  });

  it('refuses bytes that it did not write', () => {
    const summary = spanSummary(4, 1, 'linear');
    const data = dataSource('bytes');
    const bytes = summary.encode([1, 2, 3].reduce(
      (state) => summary.add(state, planeRow(data), 0n), summary.empty(),
    ));
    for (let i = 0; i < bytes.length;
        i++) expect(() => summary.decode(bytes.subarray(0, i))).toThrow(InvalidParameterError);
    const odd = bytes.slice();
    odd[16] = 3;
    expect(() => summary.decode(odd)).toThrow(InvalidParameterError);
  });
});
