import { describe, expect, it } from 'vitest';
import { findEstimator, plan as planRelease } from '../../../src/index.js';
import { certifiedQuantile } from '../../../src/estimators/counts/quantile/certified.js';
import { Candidates } from '../../../src/estimators/counts/quantile/candidates.js';
import {
  shortAt, shortBelow, shortCount,
} from '../../../src/estimators/counts/quantile/decimals.js';
import { nextAbove, nextBelow } from '../../../src/estimators/counts/quantile/doubles.js';
import {
  countsBetween, edgesAbout, edgesOf, type Chosen,
} from '../../../src/estimators/counts/quantile/edges.js';
import {
  ladderEdges, ladderStep, ladderTop, ladderValue, shortestOnStep,
} from '../../../src/estimators/counts/quantile/ladder.js';
import { valuesSummary } from '../../../src/estimators/counts/quantile/values-summary.js';
import { countNoise } from '../../../src/estimators/counts/tables/count-noise.js';
import { rankRuns, rankScores } from '../../../src/estimators/counts/tables/rank-scores.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import { dataSource, type DataSource } from '../../support/data.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { releaseOf } from '../../support/offline.js';

describe('the ladder', () => {
  it('has 2^40 steps in each octave, in the order of the values, of both signs', () => {
    expect([0, 2 ** -65, -(2 ** -65)].map(ladderStep)).toEqual([0, 0, 0]);
    expect(ladderStep(2 ** -64)).toBe(1);
    expect(ladderStep(1)).toBe(64 * 2 ** 40 + 1);
    expect(ladderStep(2) - ladderStep(1)).toBe(2 ** 40);
    expect([2 ** 64, 1e300].map(ladderStep)).toEqual([ladderTop, ladderTop]);
    expect(ladderStep(2 ** 64 * (1 - 2 ** -53))).toBe(ladderTop);
    const data = dataSource('ladder');
    let before = -Infinity;
    for (const value of Array.from({ length: 5_000 }, () =>
      (data.uniform() - 0.5) * 2 ** (140 * (data.uniform() - 0.5))).sort((a, b) => a - b)) {
      const step = ladderStep(value);
      expect(ladderStep(-value) + step).toBe(0);
      expect(step).toBeGreaterThanOrEqual(before);
      expect(ladderStep(ladderValue(step))).toBe(step);
      expect(Math.abs(ladderValue(step))).toBeLessThanOrEqual(Math.abs(value));
      const [from, below] = ladderEdges(step);
      expect([from, nextBelow(below)].map(ladderStep)).toEqual([step, step]);
      if (Math.abs(step) !== ladderTop) {
        expect([nextBelow(from), below].map(ladderStep)).toEqual([step - 1, step + 1]);
      }
      before = step;
    }
  });

  it('names a step by its shortest value', () => {
    for (const value of [0.1, -0.3, 99.5, 1e9, 1700000000, 123456.789, 0]) {
      expect(shortestOnStep(ladderStep(value))).toBe(value);
    }
  });
});

describe('the candidates', () => {
  it('are of each kind alike: the ladder, equal steps of a range, and short numbers', () => {
    for (const range of [
      [0, 4], [0, 1e9], [-5, 5], [100, 200], [1e6, 1e6 + 1], [-3, -1],
    ] as const) {
      const candidates = new Candidates(range);
      const { lengths } = candidates.runs(new Float64Array(0), { probability: 0.5, reach: 0 });
      const own = lengths.filter((length) => length > 0);
      expect(own.length).toBe(candidates.kinds);
      for (const length of own) {
        expect(length / lengths[0]!).toBeGreaterThan(0.7);
        expect(length / lengths[0]!).toBeLessThan(1.5);
      }
      expect(lengths.reduce((sum, length) => sum + length)).toBe(candidates.count);
      expect(candidates.count).toBeLessThan(2 ** 53);
      expect(candidates.valueAt(0)).toBeCloseTo(range[0], 12);
      const top = candidates.valueAt(own[0]! + own[1]! - 1);
      expect(Math.abs(top - range[1])).toBeLessThan(1e-9 * (range[1] - range[0]));
    }
  });

  it('have the scores of cells, as runs', () => {
    const data = dataSource('rank runs');
    for (let round = 0; round < 300; round++) {
      const places = 1 + data.below(9);
      const taken = Float64Array.from({ length: data.below(7) }, () => data.below(places)).sort();
      const counts = new Float64Array(places);
      for (const place of taken) counts[place]! += 1;
      const probability = 0.001 + 0.998 * data.uniform();
      for (const reach of [1, 2, 3, 9]) {
        const runs = rankRuns(taken, {
          places, times: 3, placeOf: (value) => value, probability, reach,
        });
        expect(runs.lengths).toHaveLength(4 * reach + 11);
        const listed = Array.from(runs.lengths, (length, i) =>
          new Array<number>(length).fill(runs.scores[i]!)).flat();
        const cells = Array.from(rankScores(counts, probability), (score) => {
          const kept = Math.max(score, -reach * 2 ** 20);
          return [kept, kept, kept];
        });
        expect(listed).toEqual(cells.flat());
      }
    }
  });
});

describe('numbers of three digits', () => {
  it('are in order, and every value is between two of them', () => {
    for (const value of [0, 3, -3, 0.25, 40, 999, -12.5, 1e-19, 9.99e18]) {
      expect(shortAt(shortBelow(value))).toBe(value);
    }
    for (const value of [3.001, -3.001, 1e30, 1234, -1e-25, 2 ** -64]) {
      const place = shortBelow(value);
      expect(shortAt(place)).toBeLessThan(value);
      if (place < shortCount - 1) expect(shortAt(place + 1)).toBeGreaterThan(value);
    }
    expect(shortBelow(-1e30)).toBe(-1);
  });

  it('have the score of their own place, wherever others are', () => {
    const data = dataSource('short');
    for (let round = 0; round < 100; round++) {
      const values = Float64Array.from({ length: data.below(8) }, () =>
        data.below(5) + [0, 0.0001, 0.5001][data.below(3)]! - 2).sort();
      const probability = 0.001 + 0.998 * data.uniform();
      const share = Math.round(probability * 2 ** 20);
      const runs = new Candidates([-2, 3]).runs(values, { probability, reach: 8 });
      // The third kind comes last: it ends with 3.
      const ends: number[] = [];
      runs.lengths.reduce((sum, length) => { ends.push(sum + length); return sum + length; }, 0);
      const lowest = shortBelow(-2);
      const count = shortBelow(3) - lowest + 1;
      const total = ends.at(-1)!;
      const times = Math.round(2 ** 48 / count);
      for (const number of [-2, -1.99, -1, 0, 1e-5, 0.5, 1, 2.5, 3]) {
        const index = total - (count - (shortBelow(number) - lowest)) * times;
        const run = ends.findIndex((end) => index < end);
        const lower = values.filter((value) => value < number).length;
        const higher = values.filter((value) => value > number).length;
        expect(runs.scores[run]! + 0).toBe(0 - Math.max(0, 2 ** 20 * lower - share * values.length,
          2 ** 20 * higher - (2 ** 20 - share) * values.length) + 0);
        expect(new Candidates([-2, 3]).valueAt(index)).toBe(number);
      }
    }
  });
});

describe('the summary of values', () => {
  it('does not know who came when, and reads what it wrote', () => {
    const summary = valuesSummary(2, [1]);
    const rows = Array.from({ length: 50 }, (_, i) => Float64Array.of(7, ((i * 17) % 50) - 20));
    const stateOf = (list: readonly Float64Array[]) =>
      list.reduce((state, row) => summary.add(state, row, 0n), summary.empty());
    const whole = summary.encode(stateOf(rows));
    expect(summary.encode(stateOf(rows.toReversed()))).toEqual(whole);
    expect(summary.encode(summary.merge(stateOf(rows.slice(0, 7)), stateOf(rows.slice(7)))))
      .toEqual(whole);
    const read = summary.add(summary.decode(whole), Float64Array.of(0, 99), 0n);
    expect(summary.finish(read, { uniform: () => 0 } as never)).toMatchObject({
      kind: 'group', statistic: { count: 51 },
    });
  });
});

function medianPlan(cohort: number, range?: string, epsilon = 1): Plan {
  const found = planRelease({
    estimator: findEstimator('quantile'), columns: 1, cohort, epsilon, delta: 1e-6,
    participation: 'secret', parameters: { probabilities: [0.5], ...range && { range } },
  });
  if (found.kind === 'infeasible') throw new Error(found.reason);
  return found;
}

async function answers(
  plan: Plan, valuesOf: (data: DataSource) => readonly number[], rounds: number, name: string,
): Promise<{ readonly value: number; readonly own: number }[]> {
  const all: { value: number; own: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const values = valuesOf(dataSource(`${name} ${round}`)).toSorted((a, b) => a - b);
    const rows = values.map((value) => Float64Array.of(value));
    const outcome = await releaseOf(plan, 1, rows, `${name} ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const [low, high] = [values[(values.length - 1) >> 1]!, values[values.length >> 1]!];
    all.push({ value: outcome.estimate[0]!, own: (low + high) / 2 });
  }
  return all;
}

const rms = (list: readonly { readonly value: number; readonly own: number }[]): number =>
  Math.sqrt(list.reduce((sum, { value, own }) => sum + (value - own) ** 2, 0) / list.length);
const many = (count: number, one: (data: DataSource) => number) => (data: DataSource) =>
  Array.from({ length: count }, () => one(data));

describe('a median without a range, or with a wide one', () => {
  it('is planned from 75 people on at epsilon 1', () => {
    expect(() => medianPlan(75)).not.toThrow();
    expect(() => medianPlan(75, '0..1e9')).not.toThrow();
    expect(() => medianPlan(60)).toThrow(/noise may move an answer beyond all values/);
  });

  const ages = (data: DataSource): number => 99 + 12 * data.normal();
  it.each([undefined, '0..1e9'])('finds 99 with 100 and with 5,000 people, range %s',
    { tags: ['long'] }, async (range) => {
      expect(rms(await answers(medianPlan(100, range), many(100, ages), 60, 'ages')))
        .toBeLessThan(6);
      expect(rms(await answers(medianPlan(5_000, range), many(5_000, ages), 20, 'ages')))
        .toBeLessThan(0.15);
    });

  // Noise of scale 2 / epsilon in the rank, twice over: the answer is within 14 ranks of the middle
  // in 99.9 of 100 releases.
  const shapes: Readonly<Record<string, (data: DataSource) => number>> = {
    'log-uniform over 12 decades': (data) => 10 ** (12 * data.uniform() - 6),
    'Weibull of shape 1/2': (data) => Math.log(1 - data.uniform()) ** 2,
    'beta (arcsine)': (data) => Math.sin(Math.PI / 2 * data.uniform()) ** 2,
    'Laplace about 3': (data) => 3 + Math.sign(data.uniform() - 0.5) * Math.log(data.uniform()),
    'negative gamma': (data) => 5 * Math.log(data.uniform() * data.uniform()),
    'Cauchy about 20': (data) => 20 + Math.tan(Math.PI * (data.uniform() - 0.5)),
    'geometric counts': (data) => Math.floor(Math.log(data.uniform()) / Math.log(0.8)),
    'prices that end in .99': (data) => Math.floor(Math.exp(3 + data.normal())) + 0.99,
  };
  it.each(Object.keys(shapes))('stays among the middle ranks: %s', { tags: ['long'] },
    async (name) => {
      const plan = medianPlan(100);
      const found = await Promise.all(Array.from({ length: 40 }, async (_, round) => {
        const data = dataSource(`${name} ${round}`);
        const values = many(100, shapes[name]!)(data);
        const outcome = await releaseOf(
          plan, 1, values.map((value) => Float64Array.of(value)), `${name} ${round}`,
        );
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        const [value] = outcome.estimate;
        const below = values.filter((entry) => entry < value!).length;
        const above = values.filter((entry) => entry > value!).length;
        return Math.max(0, below - 50, above - 50);
      }));
      expect(Math.max(...found)).toBeLessThanOrEqual(30);
      expect(found.filter((off) => off > 14).length).toBeLessThanOrEqual(3);
    });

  it.each([1, 5])('gives scores of 1 to %s points as they are, with 200 people', { tags: ['long'] },
    async (step) => {
      const plan = medianPlan(200);
      let whole = 0;
      for (let round = 0; round < 30; round++) {
        const values = many(200, (data) => step * [1, 2, 2, 3, 3, 3, 4, 4, 5, 5][data.below(10)]!)(
          dataSource(`scores ${round}`),
        );
        const outcome = await releaseOf(
          plan, 1, values.map((value) => Float64Array.of(value)), `scores ${round}`,
        );
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        if (outcome.estimate[0] === 3 * step) whole += 1;
      }
      expect(whole).toBeGreaterThan(22);
    });

  it('says when values are too near one another for their distance from zero', () => {
    expect(medianPlan(100).guarantee.assumptions[0]).toMatch(/years, need a range/);
  });
});

const placesOf = ([one, other]: readonly [number, number]): Chosen =>
  [[one, nextAbove(one)], [other, nextAbove(other)]];

describe('edges', () => {
  it('are as many for any values, in order, and tell a value from those beside it', () => {
    for (const value of [0, 1, -1, 1e-300, 3.14, -1e18]) {
      expect(nextAbove(value)).toBeGreaterThan(value);
      expect(nextBelow(nextAbove(value)) + 0).toBe(value);
    }
    for (const chosen of [
      [[3, 3]], [[4, 3]], [[0, 0]], [[-2, 5]], [[1, 1e12]], [[-1e19, -2]], [[1, 2], [2, 3], [0, 9]],
    ] as const) {
      for (const range of [undefined, [-1e19, 1e19]] as const) {
        const edges = edgesAbout(chosen.map(placesOf), range);
        expect(edges).toHaveLength(edgesOf(chosen.length));
        expect(edges).toEqual(edges.slice().sort());
        for (const value of chosen.flat()) expect(edges).toContain(value);
        for (const pair of chosen) expect(edges).toContain(nextAbove(Math.max(...pair)));
        if (range === undefined) continue;
        expect([edges[0], edges.at(-1)]).toEqual([range[0], nextAbove(range[1])]);
      }
    }
    expect(edgesAbout([placesOf([-2, 5])], undefined)).toContain(0);
  });

  it('have everybody in one cell, those at an edge above it', () => {
    const edges = Float64Array.of(1, 2, nextAbove(2), 5);
    expect(countsBetween(Float64Array.of(0, 1, 1.5, 2, 2, 3, 5, 9), edges))
      .toEqual(Float64Array.of(1, 2, 2, 1, 2));
    expect(countsBetween(new Float64Array(0), edges)).toEqual(new Float64Array(5));
  });
});

describe('certified ends', () => {
  const noise = countNoise({
    name: 'cells', counts: 14, l1: 2, l2: Math.SQRT2,
    target: resolvePureTarget({ epsilon: 100, delta: 0 }),
  });
  const found = (values: readonly number[], chosen: readonly [number, number], p = 0.5) => {
    const edges = edgesAbout([placesOf(chosen)], undefined);
    const sorted = Float64Array.from(values).sort();
    return certifiedQuantile(edges, countsBetween(sorted, edges), noise, p);
  };
  const scores = (counts: readonly number[]): number[] =>
    counts.flatMap((count, i) => new Array<number>(count).fill(i + 1));

  it('are a score itself where most people have it, at either chosen end', () => {
    const rows = scores([100, 200, 400, 200, 100]);
    for (const chosen of [[3, 3], [2, 3], [3, 4]] as const) {
      expect(found(rows, chosen)).toEqual({ estimate: 3, low: 3, high: 3 });
    }
  });

  it('are open where the chosen values do not enclose the quantile', () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => i);
    expect(found(rows, [1_200, 1_300]).low).toBe(-Infinity);
    expect(found(rows, [100, 140]).high).toBe(Infinity);
    const { low, high, estimate } = found(rows, [400, 600]);
    // 31 people are chance.
    expect([low, high]).toEqual([450, nextBelow(550)]);
    expect(estimate).toBeCloseTo(500, -1);
  });

  it('leave an edge out that is only beyond by chance', () => {
    // 470 of 1,000 below an edge are within 1.96 deviations of a half, 469 are not.
    const below = (count: number): number =>
      found([...scores([count]), ...new Array<number>(1_000 - count).fill(2)], [2, 2]).low;
    expect(below(470)).toBe(1);
    expect(below(469)).toBe(2);
  });
});

describe('the interval of a quantile', () => {
  const planFor = (cohort: number, probabilities: readonly number[], delta = 1e-6): Plan => {
    const found = planRelease({
      estimator: findEstimator('quantile'), columns: 1, cohort, epsilon: 1, delta,
      participation: 'secret', parameters: { probabilities },
    });
    if (found.kind === 'infeasible') throw new Error(found.reason);
    return found;
  };
  const eventsOf = (plan: Plan): readonly string[] => plan.events.map(({ name }) => name);

  it.each([[0.5, 345], [0.9, 1_663]])('is planned from the smallest cohort that it says: %s of %s',
    (probability, cohort) => {
      const points = planFor(cohort - 1, [probability]);
      expect(eventsOf(points)).not.toContain('cells');
      expect(points.facts['intervalFrom']).toBe(cohort);
      expect(points.facts['interval']).toMatch(new RegExp(`none with fewer than ${cohort} people`));
      const whole = planFor(cohort, [probability]);
      expect(eventsOf(whole)).toEqual(['choice', 'cells']);
      expect(whole.facts['intervalFrom']).toBeUndefined();
      expect(Number(whole.cost.epsilon) / 2 ** 64).toBeCloseTo(1, 6);
    });

  it('needs no more people with a delta than without', () => {
    for (const probabilities of [[0.5], [0.25, 0.5, 0.75]]) {
      for (let cohort = 700; cohort < 3_000; cohort += 100) {
        if (!eventsOf(planFor(cohort, probabilities, 0)).includes('cells')) continue;
        expect(eventsOf(planFor(cohort, probabilities))).toContain('cells');
      }
    }
  });

  // Each misses at most 5 % of the time: of 100, more than 20 miss once in 10^7.
  type Shape = readonly [one: (data: DataSource) => number, at: number];
  const shapes: Readonly<Record<string, Shape>> = {
    'scores of 1 to 5': [(data) => [1, 2, 2, 3, 3, 3, 4, 4, 4, 5][data.below(10)]!, 3],
    'two clusters of positive values': [(data) => (data.uniform() < 0.48 ? 20 : 50) + data.normal(),
      // 2 of 52 in the upper cluster.
      50 - 1.7689],
    'waiting times': [(data) => -30 * Math.log(1 - data.uniform()), 30 * Math.LN2],
    'log-normal': [(data) => Math.exp(4.6 + data.normal()), Math.exp(4.6)],
    'Cauchy about 20': [(data) => 20 + Math.tan(Math.PI * (data.uniform() - 0.5)), 20],
  };
  it.each(Object.keys(shapes).flatMap((name) => [[name, 1e-6], [name, 0]] as const))(
    'holds the median of %s at delta %s, and has two ends', { tags: ['long'] },
    async (name, delta) => {
      const [one, at] = shapes[name]!;
      const plan = planFor(500, [0.5], delta);
      let [held, closed] = [0, 0];
      for (let round = 0; round < 100; round++) {
        const data = dataSource(`${name} ${round}`);
        const rows = Array.from({ length: 500 }, () => Float64Array.of(one(data)));
        const outcome = await releaseOf(plan, 1, rows, `${name} ${delta} ${round}`);
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        const { low: [low], high: [high] } = outcome.interval95!;
        const isOpen = low === -Infinity || high === Infinity;
        expect(outcome.findings?.some(({ reason }) => reason === 'end-unseen') ?? false)
          .toBe(isOpen);
        if (!isOpen) closed += 1;
        if (low! <= at && at <= high!) held += 1;
      }
      expect(held).toBeGreaterThanOrEqual(80);
      expect(closed).toBeGreaterThanOrEqual(90);
    });

  it('is that of people beyond the range, too', async () => {
    const found = planRelease({
      estimator: findEstimator('quantile'), columns: 1, cohort: 2_000, epsilon: 1, delta: 1e-6,
      participation: 'secret', parameters: { probabilities: [0.5], range: '0..10' },
    });
    if (found.kind === 'infeasible') throw new Error(found.reason);
    const answer = async (beyond: number) => {
      const rows = Array.from({ length: 2_000 }, (_, i) =>
        Float64Array.of(i < beyond ? 1e6 : (i % 100) / 100));
      const outcome = await releaseOf(found, 1, rows, `beyond ${beyond}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      return outcome;
    };
    const few = await answer(100);
    expect(few.interval95!.high[0]).toBeLessThan(2);
    expect(few.findings).toBeUndefined();
    const most = await answer(1_500);
    expect(most.estimate[0]).toBeCloseTo(10, 9);
    expect(most.interval95!.high).toEqual([Infinity]);
    expect(most.findings!.map(({ reason }) => reason)).toEqual(['values-clipped', 'end-unseen']);
    // Nobody is beyond: the end of the range is the answer.
    const ones = Array.from({ length: 2_000 }, (_, i) => Float64Array.of(i < 300 ? 3 : 10));
    const outcome = await releaseOf(found, 1, ones, 'at the end');
    expect(outcome).toMatchObject({ estimate: [10], interval95: { low: [10], high: [10] } });
    expect(outcome).not.toHaveProperty('findings');
  });
});
