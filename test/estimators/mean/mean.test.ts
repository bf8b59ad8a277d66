import { describe, expect, it } from 'vitest';
import { loadFlights } from '../../../cli/data/flights.js';
import { findingText } from '../../../src/base/findings.js';
import type { Finding, ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { contaminated, dataSource, type DataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

const estimator = findEstimator('mean');

async function valueOf(
  plan: Plan, rows: readonly ArrayLike<number>[], seed: string,
): Promise<ValueOutcome> {
  const outcome = await releaseOf(plan, plan.outputShape[0]!, rows, seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** One column of each shape, with its mean and standard deviation. */
const skewedShapes = [
  {
    name: 'exponential', mean: 1, deviation: 1,
    entry: (data: DataSource) => -Math.log(1 - data.uniform()),
  },
  {
    name: 'lognormal', mean: Math.exp(0.5), deviation: Math.sqrt((Math.E - 1) * Math.E),
    entry: (data: DataSource) => Math.exp(data.normal()),
  },
  {
    name: 'zero-inflated', mean: 0.9, deviation: Math.sqrt(0.3 * 18 - 0.81),
    entry: (data: DataSource) => (data.uniform() < 0.7 ? 0 : -3 * Math.log(1 - data.uniform())),
  },
] as const;

describe('mean', () => {
  it('is moved by coordinated outliers by about their share times the radius: it is the '
    + 'baseline', async () => {
    const plan = planOf('mean', { spread: 1 }, factsOf(2, 3_000));
    let squares = 0;
    for (let round = 0; round < 6; round++) {
      const rows = contaminated(dataSource(`mean ${round}`), 3_000, 2, 0.1, 40);
      const outcome = await releaseOf(plan, 2, rows, `mean ${round}`);
      if (outcome.kind === 'value') {
        squares += outcome.estimate.reduce((sum, value) => sum + value * value, 0);
      }
    }
    const measured = Math.sqrt(squares / 6);
    const { total, bias } = plan.expectedError(0.1);
    // Far rows also raise the radius, until they add 2.5 sqrt(corruption) more.
    expect(bias).toBeCloseTo(0.1 * (1.35 * Math.SQRT2 + 3) + 2.5 * Math.sqrt(0.05), 2);
    expect(measured / total).toBeGreaterThan(1 / 1.5);
    expect(measured / total).toBeLessThan(1.5);
    expect(plan.guarantee.corruptionMax).toBe(0);
  });

  it('states an interval that is wide enough for normal rows, and no noise of the histogram '
    + 'makes it useless', async () => {
    const plan = planOf('mean', { spread: [1, 20] }, factsOf(2, 2_000));
    let covered = 0;
    let halves = 0;
    let squares = 0;
    for (let round = 0; round < 50; round++) {
      const data = dataSource(`interval ${round}`);
      const rows = Array.from({ length: 2_000 }, () =>
        Float64Array.of(5 + data.normal(), -3 + 20 * data.normal()));
      const outcome = await valueOf(plan, rows, `an interval ${round}`);
      expect(outcome.findings).toEqual([{
        reason: 'interval-assumes', columns: [],
        amounts: [plan.facts['clusterSeenFrom'], expect.any(Number)],
      }]);
      expect(outcome.spread).toEqual([1, 20]);
      [5, -3].forEach((truth, j) => {
        const { low, high } = outcome.interval95!;
        if (low[j]! <= truth && truth <= high[j]!) covered += 1;
        halves += (high[j]! - low[j]!) / 2 / [1, 20][j]! / 100;
        squares += ((outcome.estimate[j]! - truth) / [1, 20][j]!) ** 2 / 100;
      });
    }
    // Binomial(100, .95) is below 80 with probability under 1e-6.
    expect(covered).toBeGreaterThan(80);
    expect(halves / Math.sqrt(squares)).toBeLessThan(6);
  });

  it('refuses a fifth of the cohort, and rows far wider than the spread, each with its '
    + 'reason', async () => {
    const plan = planOf('mean', { spread: 1 }, factsOf(2, 8_000));
    const few = await releaseOf(plan, 2, contaminated(dataSource('few'), 1_600, 2, 0, 0), 'few');
    expect(few).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    const wide = contaminated(dataSource('wide'), 8_000, 2, 0, 0)
      .map((row) => row.map((entry, j) => (j === 1 ? 1e6 * entry : entry)));
    const outcome = await releaseOf(plan, 2, wide, 'wide');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'centre-not-found' });
    // An empty epoch looks the same as a spread that is too small, so the text gives both causes.
    expect(outcome.kind === 'refused' && outcome.text)
      .toMatch(/column 2 \(counted from 1\).*fewer contributors came.*raise spread/);
  });

  it('needs more contributors for more columns', () => {
    const needed = (dimension: number): number => {
      const plan = estimator.plan(
        { spread: new Array<number>(dimension).fill(1), corruption: 0.05, 'centre-part': 0.2 },
        factsOf(dimension, 10),
      );
      return plan.kind === 'infeasible' ? plan.cohortNeeded! : 0;
    };
    expect(needed(2)).toBeGreaterThan(100);
    expect(needed(50)).toBeGreaterThan(3 * needed(2));
  });
});

describe('the mean of several columns', () => {
  it('says which group it cannot see, and sees a larger one wherever it is', async () => {
    const plan = planOf('mean', { spread: 1 }, factsOf(2, 10_000, 1));
    const seenFrom = Number(plan.facts['clusterSeenFrom']);
    expect(seenFrom).toBe(102);
    expect(plan.facts['interval']).toMatch(/^stands on this: no group of fewer than 102 people is/);
    expect(plan.guarantee.assumptions.join()).toContain('no group of fewer than 102 people');
    let held = 0;
    for (let round = 0; round < 20; round++) {
      const at = [30, 100, 700, 1e4][round % 4]!;
      const data = dataSource(`groups ${round}`);
      const rows = Array.from({ length: 10_000 }, (_, i) =>
        (i < seenFrom ? Float64Array.of(at, 0) : data.normals(2)));
      const { interval95 } = await valueOf(plan, rows, `groups ${round}`);
      const truth = rows.reduce((sum, [first]) => sum + first!, 0) / rows.length;
      held += Number(interval95!.low[0]! <= truth && truth <= interval95!.high[0]!);
    }
    // At 95 % the chance of fewer is 3e-7.
    expect(held).toBeGreaterThanOrEqual(12);
  });
});

describe('the mean of skewed rows', () => {
  it.each(skewedShapes)('has an interval that allows for what clipping cuts off: $name', async ({
    mean, deviation, entry,
  }) => {
    // A spread below the deviation, so that the usual radius cuts off more.
    const plan = planOf('mean', { spread: 0.8 * deviation }, factsOf(2, 10_000, 1));
    let covered = 0;
    for (let round = 0; round < 10; round++) {
      const data = dataSource(`skewed ${round}`);
      const rows = Array.from({ length: 10_000 }, () =>
        Float64Array.of(entry(data), entry(data)));
      const outcome = await valueOf(plan, rows, `skewed ${round}`);
      expect(outcome.findings).toContainEqual({ reason: 'skewed', columns: [0, 1], amounts: [] });
      for (const j of [0, 1]) {
        const { low, high } = outcome.interval95!;
        if (low[j]! <= mean && mean <= high[j]!) covered += 1;
      }
    }
    // Without the allowance for what clipping cuts off, 8 of the lognormal ones.
    expect(covered).toBeGreaterThan(17);
  });

  it('is that of all flights, whatever the spread in a wide range', async () => {
    const { count, columns: { delay, distance } } = loadFlights();
    const rows = Array.from({ length: count }, (_, i) => Float64Array.of(delay[i]!, distance[i]!));
    for (const times of [0.8, 1.5]) {
      const spread = [24.67 * times, 360.6 * times];
      const outcome = await valueOf(
        planOf('mean', { spread }, factsOf(2, count, 1)), rows, `flights ${times}`,
      );
      expect(Math.abs(outcome.estimate[0]! - 7.9335)).toBeLessThan(0.1);
      expect(Math.abs(outcome.estimate[1]! - 506.80)).toBeLessThan(1);
      expect(outcome.interval95!.low[0]).toBeLessThan(7.9335);
      expect(outcome.interval95!.high[0]).toBeGreaterThan(7.9335);
      expect(outcome.findings!.map(({ reason }) => reason)).toEqual(
        ['skewed', 'long-tails', 'interval-assumes'],
      );
    }
  });

  it('states no interval where rows are farther out than its histogram reaches', async () => {
    const plan = planOf('mean', { spread: 1 }, factsOf(2, 3_000));
    const rows = contaminated(dataSource('very far'), 3_000, 2, 0.2, 1e9);
    const outcome = await valueOf(plan, rows, 'very far');
    expect(outcome.interval95)
      .toEqual({ low: [-Infinity, -Infinity], high: [Infinity, Infinity] });
    expect(outcome.intervalIfFalse95).toBeUndefined();
  });

  it('keeps a radius that was given, and counts what it cuts off', async () => {
    const data = dataSource('given radius');
    const rows = Array.from({ length: 20_000 }, () => Float64Array.of(-Math.log(data.uniform())));
    const outcome = await valueOf(
      planOf('mean', { spread: 1, radius: 1 }, factsOf(1, 20_000)), rows, 'given radius',
    );
    expect(outcome.estimate[0]).toBeLessThan(0.9);
    expect(outcome.interval95!.high[0]).toBeGreaterThan(1);
  });
});

describe('the mean of one column', () => {
  const oneColumn = (cohort: number): Plan => planOf('mean', { spread: 1 }, factsOf(1, cohort, 1));
  const normalWith = (
    cohort: number, far: number, at: number, seed: string,
  ): readonly Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: cohort }, (_, i) =>
      Float64Array.of(i < far ? at : 5 + data.normal()));
  };
  const meanOf = (rows: readonly Float64Array[]): number =>
    rows.reduce((sum, row) => sum + row[0]!, 0) / rows.length;

  it('says before there are data which group it cannot see, and from when on it has an interval',
    () => {
      const { facts, guarantee, events } = oneColumn(10_000);
      const { sigma } = events.find(({ name }) => name === 'distance') as { sigma: number };
      expect(facts['clusterSeenFrom']).toBe(Math.ceil((3.2905267 + 1.6448536) * sigma));
      expect(facts['clusterSeenFrom']).toBe(52);
      expect(facts['intervalFrom']).toBe(7_800);
      expect(facts['interval']).toMatch(/^from 7800 people on\. .*fewer than 52 people/);
      expect(guarantee.assumptions.join()).toMatch(/fewer than 52 people/);
      const bounded = planOf('mean', { range: '0..10' }, factsOf(1, 10_000, 1));
      expect(facts['rangeNoisePerWidth']).toBeCloseTo(bounded.noise[0]! * 10_000 / 10, 6);
    });

  it('has no interval of fewer people, and says how many noise hides', async () => {
    const outcome =
      await valueOf(oneColumn(7_000), normalWith(7_000, 0, 0, 'few people'), 'few people');
    expect(outcome.interval95).toEqual({ low: [-Infinity], high: [Infinity] });
    const [{ amounts, ...found }] = outcome.findings as [Finding];
    expect(found).toEqual({ reason: 'end-unseen', columns: [0] });
    expect(amounts.slice(0, 2)).toEqual([52, 0]);
    const [from, to, least, most] = amounts.slice(2) as [number, number, number, number];
    // The mean of rows that are pulled in has an interval, though.
    expect(from).toBeLessThan(3);
    expect(to).toBeGreaterThan(7);
    expect(least).toBeLessThan(5);
    expect(most).toBeGreaterThan(5);
    expect(most - least).toBeLessThan(0.12);
    expect(findingText(outcome.findings![0]!, ['delay'])).toMatch(new RegExp(
      '^Column delay has no interval: too few people came, and noise hides up to 52 people far out.'
      + ' With everybody below [\\d.]+ counted as [\\d.]+, and everybody above [\\d.]+ as '
      + '[\\d.]+, the mean is between 4[\\d.]+ and 5[\\d.]+ \\(95 % interval\\)\\. Give'));
    const rows = normalWith(7_000, 0, 0, 'few people');
    const bounded = planOf('mean', { spread: 1, range: '0..50' }, factsOf(1, 7_000, 1));
    const { interval95: { low: [low], high: [high] } } =
      await valueOf(bounded, rows, 'few people') as Required<ValueOutcome>;
    // Every group that noise may hide is allowed for at both ends of the range.
    expect(high! - 5).toBeGreaterThan(52 * 40 / 7_000);
    expect(high! - low!).toBeLessThan(1);
  });

  it('has an interval where few people far out count as at an edge', async () => {
    const { columns: { delay: delays } } = loadFlights();
    const columns: readonly (readonly [spread: number, entry: (data: DataSource) => number])[] = [
      ...skewedShapes.map(({ deviation, entry }) => [deviation, entry] as const),
      [1, (data) => data.normal() + (data.uniform() < 0.01 ? 400 : 0)],
      [20, (data) => delays[Math.floor(data.uniform() * delays.length)]!],
    ];
    let held = 0;
    for (const [spread, entry] of columns) {
      const plan = planOf('mean', { spread }, factsOf(1, 1_500, 1));
      const all = dataSource('pulled in');
      const many = Array.from({ length: 40_000 }, () => entry(all));
      for (let round = 0; round < 40; round++) {
        const data = dataSource(`pulled in ${round}`);
        const rows = Array.from({ length: 1_500 }, () => Float64Array.of(entry(data)));
        const { findings } = await valueOf(plan, rows, `pulled in ${round}`);
        const { amounts } = findings!.find(({ reason }) => reason === 'end-unseen')!;
        const [from, to, low, high] = amounts.slice(2) as [number, number, number, number];
        const truth = many.reduce((sum, each) =>
          sum + Math.min(to, Math.max(from, each)), 0) / many.length;
        held += Number(low <= truth && truth <= high);
      }
    }
    // At 95 % the chance of fewer is 1e-6.
    expect(held).toBeGreaterThanOrEqual(173);
  });

  it('names the group that its interval assumes away, and where it would be', async () => {
    const plan = oneColumn(10_000);
    const seen = (outcome: ValueOutcome): Finding =>
      outcome.findings!.find(({ reason }) => reason === 'interval-assumes')!;
    const clean = await valueOf(plan, normalWith(10_000, 0, 0, 'assumed'), 'assumed');
    const [people, side, low, high] = seen(clean).amounts as [number, number, number, number];
    expect([people, side]).toEqual([52, 0]);
    expect(low).toBeGreaterThan(-2);
    expect(low).toBeLessThan(3);
    expect(high).toBeGreaterThan(7);
    expect(high).toBeLessThan(12);
    expect(findingText(seen(clean), ['delay'])).toMatch(
      /^The interval in column delay assumes that no group of fewer than 52 people is so far below/);
    // Whoever is within the radius is in the answer, and the radius may reach a group that is seen.
    const far = await valueOf(plan, normalWith(10_000, 300, 200, 'assumed'), 'assumed');
    expect(seen(far).amounts[3]).toBeGreaterThan(200);
    // An open end assumes nothing.
    const open = await valueOf(plan, normalWith(10_000, 120, 1e7, 'assumed'), 'assumed');
    const [, openSide, below, ...none] = seen(open).amounts;
    expect([openSide, ...none]).toEqual([-1]);
    expect(below).toBeLessThan(3);
    const bounded = planOf('mean', { spread: 1, range: '0..50' }, factsOf(1, 7_000, 1));
    const { findings = [] } = await valueOf(bounded, normalWith(7_000, 0, 0, 'assumed'), 'assumed');
    expect(findings.map(({ reason }) => reason)).not.toContain('interval-assumes');
  });

  it('holds clusters far out, and says where they are', async () => {
    for (const [at, far] of [[105, 65], [10_005, 90], [-995, 90]] as const) {
      for (let round = 0; round < 4; round++) {
        const seed = `crowd ${at} ${round}`;
        const rows = normalWith(10_000, far, at, seed);
        const outcome = await valueOf(oneColumn(10_000), rows, seed);
        const { low: [low], high: [high] } = outcome.interval95!;
        expect(low).toBeLessThanOrEqual(meanOf(rows));
        expect(high).toBeGreaterThanOrEqual(meanOf(rows));
        const found = outcome.findings!.find(({ reason, amounts: [, from, to] }) =>
          reason === 'cluster-far' && from! <= at && at <= to!)!;
        const [people, , , sure] = found.amounts;
        expect(Math.abs(people! - far)).toBeLessThan(60);
        expect(findingText(found, ['delay'])).toMatch(sure === 1
          ? /^About \d+ people are from .* to .* in column delay, apart from the others\. They are/
          : /^Noise, or up to \d+ people, from .* The interval allows for them/);
      }
    }
  });

  it('is open on the side on which rows are past its cells', async () => {
    for (const sign of [1, -1]) {
      const rows = normalWith(10_000, 120, sign * 1e7, 'past');
      const { interval95, findings } = await valueOf(oneColumn(10_000), rows, 'past');
      const ends = [interval95!.low[0], interval95!.high[0]];
      expect(ends.map(Number.isFinite)).toEqual(sign === 1 ? [true, false] : [false, true]);
      const found = findings!.find(({ reason }) => reason === 'end-unseen')!;
      expect(found.amounts.slice(0, 2)).toEqual([52, sign]);
      expect(findingText(found, ['delay'])).toContain(
        `open on one side: people are ${sign === 1 ? 'above 131' : 'below -131'}`);
    }
  });
});
