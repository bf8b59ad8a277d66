import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../../src/base/errors.js';
import type { Outcome } from '../../../src/base/outcome.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { chiSquareCdf } from '../../../src/numerics/chi-square.js';
import {
  AgreementModel, robustLocal, sizeFactor,
} from '../../../src/estimators/mean/populous-mean/deviation.js';
import { contaminated, dataSource, type DataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { searchedFaults } from '../../support/sensitivity-check.js';

const populous = findEstimator('populous-mean');

/** Root mean square error in spreads over seeded rounds; every round must answer. */
async function errorOver(
  rounds: number,
  cohort: number,
  corruption: number,
  rows: (data: DataSource) => Float64Array[],
): Promise<number> {
  const plan = planOf('populous-mean', { spread: 1, corruption }, factsOf(2, cohort));
  let squares = 0;
  for (let round = 0; round < rounds; round++) {
    const seed = `small groups ${cohort} ${round}`;
    const outcome = await releaseOf(plan, 2, rows(dataSource(seed)), seed);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    squares += outcome.estimate.reduce((sum, value) => sum + value * value, 0);
  }
  return Math.sqrt(squares / rounds);
}

function studentOfThree(data: DataSource): Float64Array {
  const spread = Math.sqrt((data.normal() ** 2 + data.normal() ** 2 + data.normal() ** 2) / 3);
  return data.normals(2).map((entry) => entry / spread);
}

describe('populous-mean in small groups', () => {
  // The plain mean is off by .1 * 4 * sqrt 2 = .57 spreads, the private clipped mean by .49.
  it.each([[3_000, 0.32], [6_000, 0.16], [10_000, 0.09]])(
    'withstands a tenth moved by four spreads, with %i contributors', { tags: ['long'] },
    async (cohort, limit) => {
      const error =
        await errorOver(6, cohort, 0.1, (data) => contaminated(data, cohort, 2, 0.1, 4));
      expect(error).toBeLessThan(limit);
    },
  );

  it('has about half of the noise that its average alone has', async () => {
    // The average alone was planned with .051 and .075, and measured with .047 and .059.
    const parameters = { spread: 1, corruption: 0.05 };
    expect(planOf('populous-mean', parameters, factsOf(10, 100_000, 1)).expectedError(0).total)
      .toBeLessThan(0.025);
    const plan = planOf('populous-mean', parameters, factsOf(2, 10_000, 1));
    expect(plan.expectedError(0).total).toBeLessThan(0.04);
    let squares = 0;
    for (let round = 0; round < 3; round++) {
      const data = dataSource(`noise ${round}`);
      const rows = Array.from({ length: 10_000 }, () => data.normals(2));
      const outcome = await releaseOf(plan, 2, rows, `noise ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      squares += outcome.estimate.reduce((sum, value) => sum + value * value, 0) / 3;
    }
    expect(Math.sqrt(squares)).toBeLessThan(0.05);
  });

  it('queries no more than its events say on neighbours', { tags: ['slow'] }, async () => {
    const facts = factsOf(2, 2_000, 8);
    const parameters = parseParameters(populous.parameters, { spread: 1 }, facts);
    const { faults, pairs } =
      await searchedFaults(populous.plan(parameters, facts), facts, parameters, ['one']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(3);
  });

  it('withstands a tenth that is as far as doubles go', async () => {
    const error = await errorOver(4, 6_000, 0.1, (data) =>
      contaminated(data, 6_000, 2, 0, 0)
        .map((row, i) => (i < 600 ? Float64Array.of(1e300 * (-1) ** i, 1e300) : row)));
    expect(error).toBeLessThan(0.16);
  });

  it('answers on heavy tails whose deviation is 1.7 times the spread', async () => {
    const error = await errorOver(4, 6_000, 0.1, (data) =>
      Array.from({ length: 6_000 }, (_, i) =>
        studentOfThree(data).map((entry) => entry + (i < 600 ? 4 : 0))));
    expect(error).toBeLessThan(0.25);
  });

  it('answers on skewed and on collinear rows, with the bias that trimming has on skewed '
    + 'ones', { tags: ['long'] }, async () => {
    const exponential = (data: DataSource): number => -Math.log(1 - data.uniform()) - 1;
    const skewed = await errorOver(4, 6_000, 0.1, (data) =>
      Array.from({ length: 6_000 }, () => Float64Array.of(exponential(data), exponential(data))));
    expect(skewed).toBeLessThan(0.33);
    const collinear = await errorOver(4, 6_000, 0.1, (data) =>
      Array.from({ length: 6_000 }, () => new Float64Array(2).fill(data.normal())));
    expect(collinear).toBeLessThan(0.2);
  });

  // The interval of a given spread held the mean in none of these: the answer is .15 off.
  it('has an interval of skewed rows that holds their mean, or none and says why', async () => {
    const data = dataSource('skewed');
    const rows = Array.from({ length: 10_000 }, () =>
      Float64Array.from({ length: 2 }, () => -Math.log(1 - data.uniform()) - 1));
    for (const local of ['robust', 'mean'] as const) {
      const parameters = { local, corruption: local === 'mean' ? 0 : 0.05 };
      for (const spread of [1, 'auto'] as const) {
        const plan = planOf('populous-mean', { ...parameters, spread }, factsOf(2, 10_000, 1));
        const outcome = await releaseOf(plan, 2, rows, `skewed ${local}`);
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        const { interval95, findings } = outcome;
        if (spread === 1) {
          expect(interval95).toBeUndefined();
          expect(findings).toEqual([{ reason: 'rows-trimmed', columns: [], amounts: [] }]);
        } else {
          for (const low of interval95!.low) expect(low).toBeLessThan(0);
          for (const high of interval95!.high) expect(high).toBeGreaterThan(0);
        }
      }
    }
  });

  it('refuses when spread is far too small, and says what to check', async () => {
    const plan = planOf('populous-mean', { spread: 0.1 }, factsOf(2, 6_000));
    const outcome =
      await releaseOf(plan, 2, contaminated(dataSource('narrow'), 6_000, 2, 0, 0), 'narrow');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
    expect(outcome.kind === 'refused' && outcome.text)
      .toMatch(/6000 contributors.*raise corruption or spread/);
  });

  it('answers far from zero, and names the distance beyond which it does not', async () => {
    const plan = planOf('populous-mean', { spread: 1 }, factsOf(1, 3_000));
    const data = dataSource('far');
    const honest = Array.from({ length: 3_000 }, () => data.normal());
    const at = (centre: number): Promise<Outcome> =>
      releaseOf(plan, 1, honest.map((value) => [centre + value]), 'far');
    const refused = await at(1e200);
    const limit = Number(/at most ([\d.e+]+) spreads from zero/.exec(
      refused.kind === 'refused' ? refused.text : '')![1]);
    expect(limit).toBeGreaterThan(1e9);
    for (const [centre, kind] of [[limit * 0.9, 'value'], [limit * 1.1, 'refused']] as const) {
      expect((await at(centre)).kind).toBe(kind);
    }
  });

  it('names the cohort among the causes where a third of the people came', async () => {
    const plan = planOf('populous-mean', { spread: 1 }, factsOf(2, 18_000));
    const outcome =
      await releaseOf(plan, 2, contaminated(dataSource('few'), 6_000, 2, 0, 0), 'few');
    expect(outcome.kind === 'refused' && outcome.text).toMatch(/18000 contributors.*lower cohort/);
  });

  it('does not take groups that nobody joined, or that are out of range, for agreement at '
    + 'zero', async () => {
    const plan = planOf('populous-mean', { spread: 1 }, factsOf(2, 6_000));
    for (const rows of [[], Array.from({ length: 6_000 }, () => [1e200, 1e200])]) {
      expect(await releaseOf(plan, 2, rows, 'absent'))
        .toMatchObject({ kind: 'refused', reason: 'subsamples-disagree' });
    }
  });
});

describe('populous-mean plan', () => {
  const planned = (
    raw: Readonly<Record<string, unknown>>, cohort = 6_000,
  ): ReturnType<typeof populous.plan> =>
    populous.plan(parseParameters(populous.parameters, raw, { dimension: 2 }), factsOf(2, cohort));

  it('takes fixed groups, radius, test share and thresholds as they are', () => {
    const plan = planOf(
      'populous-mean',
      {
        spread: 1, subsamples: 600, radius: 2.5, 'test-part': 0.4, agreement: 0.8, weightless: 0.55,
        'full-weight': 0.75,
      },
      factsOf(2, 6_000),
    );
    expect(plan.facts).toMatchObject({
      groups: 600, radiusInSpreads: 2.5, testPartOfRho: 0.4, agreementWanted: 0.8,
    });
    expect(plan.arms[0]!.groups).toBe(600);
  });

  it('refuses thresholds that are given in part or do not ascend', () => {
    expect(() => planned({ spread: 1, agreement: 0.8 })).toThrow(InvalidParameterError);
    expect(() => planned({ spread: 1, agreement: 0.8, weightless: 0.75, 'full-weight': 0.7 }))
      .toThrow(/all three or none/);
  });

  it('does not tolerate hostile rows with plain group means, and says so', () => {
    expect(planned({ spread: 1, local: 'mean' })).toMatchObject({ kind: 'infeasible' });
    const clean = planned({ spread: 1, local: 'mean', corruption: 0 });
    expect(clean.kind === 'plan' && clean.guarantee.corruptionMax).toBeLessThan(0.03);
  });

  it('loses noise with the cohort, and with epsilon', () => {
    const noise = (cohort: number, epsilon: number): number =>
      planOf('populous-mean', { spread: 1 }, factsOf(2, cohort, epsilon)).noise[0]!;
    expect(noise(12_000, 2)).toBeLessThan(noise(4_000, 2));
    expect(noise(4_000, 4)).toBeLessThan(noise(4_000, 2));
  });

  it('needs a delta', () => {
    const facts = factsOf(2, 6_000);
    const plan = populous.plan(parseParameters(populous.parameters, { spread: 1 }, facts), {
      ...facts, target: { ...facts.target, delta: 0 },
    });
    expect(plan)
      .toMatchObject({ kind: 'infeasible', remedy: expect.stringContaining('delta') as string });
  });

  it('measures the noise in the units of each column', () => {
    const one = planOf('populous-mean', { spread: 1 }, factsOf(2, 6_000));
    const two = planOf('populous-mean', { spread: [2, 500] }, factsOf(2, 6_000));
    expect(two.noise[0]).toBeCloseTo(2 * one.noise[0]!, 12);
    expect(two.noise[1]).toBeCloseTo(500 * one.noise[0]!, 9);
  });
});

describe('agreement model', () => {
  it('knows the distribution of squared norms', () => {
    for (const [value, dimension, expected] of [
      [3.841459, 1, 0.95], [5.991465, 2, 0.95], [18.307038, 10, 0.95], [9.341818, 10, 0.5],
    ] as const) expect(chiSquareCdf(value, dimension)).toBeCloseTo(expected, 2);
    expect(chiSquareCdf(-1, 3)).toBe(0);
  });

  it('foresees how often points of honest groups agree', () => {
    const data = dataSource('model');
    const groups = 400;
    const size = 8;
    const points = Array.from({ length: groups }, () => {
      let rows = 0;
      for (let product = data.uniform();
          product > Math.exp(-size); product *= data.uniform()) rows += 1;
      const deviation = Math.sqrt(robustLocal.varianceFactor(size, 2) / Math.max(rows, 1e-9));
      return rows === 0 ? null : data.normals(2).map((entry) => deviation * entry);
    });
    let agreeing = 0;
    points.forEach((first, i) => points.forEach((second, j) => {
      if (i < j && first !== null && second !== null
          && Math.hypot(first[0]! - second[0]!, first[1]! - second[1]!) <= 1.5) {
        agreeing += 1;
      }
    }));
    const share = agreeing / ((groups * (groups - 1)) / 2);
    // The model takes the worse of independent and of collinear columns, so it may foresee a little
    // less.
    const foreseen = new AgreementModel(size, 0, 2, robustLocal).at(1.5).share;
    expect(foreseen).toBeLessThan(share + 0.02);
    expect(foreseen).toBeGreaterThan(share - 0.08);
  });

  it('foresees less agreement with more hostile rows, and more with a larger radius', () => {
    const at = (corruption: number, radius: number): number =>
      new AgreementModel(9, corruption, 2, robustLocal).at(radius).share;
    expect(at(0.1, 1.5)).toBeLessThan(at(0, 1.5));
    expect(at(0.1, 2)).toBeGreaterThan(at(0.1, 1.5));
    expect(new AgreementModel(9, 0.2, 2, robustLocal).spoiled)
      .toBeGreaterThan(new AgreementModel(9, 0.1, 2, robustLocal).spoiled);
    expect(new AgreementModel(100, 0.1, 2, robustLocal).at(5).share).toBeGreaterThan(0.99);
  });

  it('knows what uneven groups cost', () => {
    expect(sizeFactor(59)).toBeCloseTo(1 + 1 / 59, 2);
    expect(sizeFactor(8)).toBeGreaterThan(1.1);
    expect(sizeFactor(8)).toBeLessThan(1.3);
  });
});
