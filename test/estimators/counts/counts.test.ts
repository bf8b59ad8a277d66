import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../../src/answers/words.js';
import { utf8 } from '../../../src/base/bytes.js';
import { InvalidParameterError } from '../../../src/base/errors.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import type { MechanismEvent } from '../../../src/privacy/accounting/events.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import {
  cellOf, cellWidth, midpointOf, presenceOfRanks, rankScores, rankUnit,
} from '../../../src/estimators/counts/tables/rank-scores.js';
import { Candidates } from '../../../src/estimators/counts/quantile/candidates.js';
import type { ScoreRuns } from '../../../src/random/samplers/choice.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource, type DataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const rowsOf = (values: readonly number[]): Float64Array[] =>
  values.map((value) => Float64Array.of(value));

async function answerOf(
  plan: Plan, values: readonly number[], seed = 'everyday',
): Promise<ValueOutcome> {
  const outcome = await releaseOf(plan, 1, rowsOf(values), seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** What the mechanisms were given, before noise, by event; several calls of one event in a row. */
async function givenTo(plan: Plan, values: readonly number[]): Promise<Map<string, unknown[]>> {
  const data = dataSource('tickets');
  const groups = createGroups(plan, 1);
  for (const row of rowsOf(values)) groups.add(data.assignmentHash(), row);
  const { mechanisms, recorded } = recordingMechanisms(plan.events);
  await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
  const calls = new Map<string, unknown[]>();
  for (const { event, content } of recorded) {
    calls.set(event, [...(calls.get(event) ?? []), content]);
  }
  return calls;
}

const numbersFrom = async (
  plan: Plan, event: string, values: readonly number[],
): Promise<number[][]> =>
  (await givenTo(plan, values)).get(event)!.map((content) =>
    (content instanceof Float64Array ? [...content] : scoresAt(content as ScoreRuns)));

/** Scores near every value of the test, and between them: those of all other candidates are one. */
function scoresAt(runs: ScoreRuns): number[] {
  const ends: number[] = [];
  let end = 0;
  runs.lengths.forEach((length) => ends.push(end += length));
  const ladder = new Candidates([0, 4]);
  const total = ends.at(-1)!;
  expect(total).toBe(ladder.count);
  const steps = Array.from({ length: 4_001 }, (_, i) => Math.floor(i * (total - 1) / 4_000));
  return steps.map((index) => runs.scores[ends.findIndex((upTo) => index < upTo)]!);
}

const plans = {
  count: planOf('count', { threshold: 2 }, factsOf(1, 50)),
  everybody: planOf('count', {}, factsOf(1, 50)),
  histogram: planOf('histogram', { edges: [0, 1, 2, 3] }, factsOf(1, 50)),
  open: planOf('histogram', { width: 2, top: 3 }, factsOf(1, 400)),
  quantile: planOf(
    'quantile', { range: '0..4', probabilities: [0.3, 0.5, 0.75] }, factsOf(1, 240),
  ),
};

describe('a neighbour changes what mechanisms are given by at most the charged sensitivity, and '
  + 'sometimes by all of it', () => {
  const distance: Record<
    'l2' | 'maximum', (left: readonly number[], right: readonly number[]) => number
  > = {
    l2: (left, right) => Math.hypot(...left.map((value, i) => value - right[i]!)),
    maximum: (left, right) => Math.max(...left.map((value, i) => Math.abs(value - right[i]!))),
  };
  const sensitivityOf = (event: MechanismEvent): number =>
    ('sensitivity' in event ? event.sensitivity : NaN);

  it.each([
    ['count', plans.count, 'count', 'l2'],
    ['count of everybody', plans.everybody, 'count', 'l2'],
    ['histogram', plans.histogram, 'bins', 'l2'],
    ['quantile, choices', plans.quantile, 'choice', 'maximum'],
    ['quantile, presence', plans.quantile, 'present', 'l2'],
  ] as const)('%s', async (_, plan, name, norm) => {
    const allowed = sensitivityOf(plan.events.find((event) => event.name === name)!);
    const data = dataSource(`neighbours ${name}`);
    // Everything that matters is near a bin's edge, far outside, or a tie.
    const value = (): number =>
      [-1e12, 0, 0.5, 1, 1, 1.9999, 2, 2.5, 3.9, 4, 1e12][data.below(11)]!;
    let worst = 0;
    for (let round = 0; round < 60; round++) {
      const values = Array.from({ length: 60 + data.below(8) }, value);
      const before = await numbersFrom(plan, name, values);
      const changed = data.below(values.length);
      const neighbours = [
        values.filter((_value, i) => i !== changed),
        values.map((old, i) => (i === changed ? value() : old)),
      ];
      for (const neighbour of neighbours) {
        const after = await numbersFrom(plan, name, neighbour);
        before.forEach(
          (numbers, call) => { worst = Math.max(worst, distance[norm](numbers, after[call]!)); },
        );
      }
    }
    expect(worst).toBeLessThanOrEqual(allowed);
    expect(worst).toBeGreaterThan(0.999 * allowed);
  });
});

describe('rank scores', () => {
  const data = dataSource('rank scores');
  const some = (count: number): Float64Array =>
    Float64Array.from({ length: 7 }, () => (data.below(3) === 0 ? 0 : data.below(count)));

  it('are minus the number of contributors to move, exactly', () => {
    for (let round = 0; round < 200; round++) {
      const counts = some(9);
      const probability = 0.001 + 0.998 * data.uniform();
      const share = Math.round(probability * rankUnit) / rankUnit;
      const present = counts.reduce((sum, count) => sum + count, 0);
      rankScores(counts, probability).forEach((score, cell) => {
        const lower = counts.slice(0, cell).reduce((sum, count) => sum + count, 0);
        const higher = counts.slice(cell + 1).reduce((sum, count) => sum + count, 0);
        expect(Number.isSafeInteger(score)).toBe(true);
        expect(score / rankUnit)
          .toBeCloseTo(-Math.max(0, lower - share * present, higher - (1 - share) * present), 9);
      });
    }
  });

  it('are 0 where the quantile is, whatever the data, and below elsewhere', () => {
    for (let round = 0; round < 100; round++) {
      const counts = some(round % 3 === 0 ? 2 : 50);
      expect(Math.max(...rankScores(counts, data.uniform()))).toBe(0);
    }
    expect([...rankScores(Float64Array.of(3, 4, 3), 0.5)])
      .toEqual([-2, 0, -2].map((score) => score * rankUnit));
    expect([...rankScores(new Float64Array(3), 0.5)]).toEqual([0, 0, 0]);
  });

  it('change by at most one contributor when one comes, goes or moves', () => {
    for (let round = 0; round < 400; round++) {
      const counts = some(6);
      const probability = 0.001 + 0.998 * data.uniform();
      const before = rankScores(counts, probability);
      const [from, to] = [data.below(7), data.below(7)];
      const after = counts.slice();
      if (round % 2 === 0 && after[from]! > 0) after[from]! -= 1;
      if (round % 3 > 0) after[to]! += 1;
      if (after.reduce((sum, count, cell) => sum + Math.abs(count - counts[cell]!), 0) > 2) {
        continue;
      }
      rankScores(after, probability).forEach((score, cell) =>
        expect(Math.abs(score - before[cell]!)).toBeLessThanOrEqual(rankUnit));
    }
  });

  it('change by at most presenceOfRanks when one only comes or goes', () => {
    for (const probability of [0.001, 0.1, 0.5, 0.75]) {
      let most = 0;
      for (let table = 0; table < 5 ** 3; table++) {
        const counts = Float64Array.from([1, 5, 25], (unit) => Math.floor(table / unit) % 5);
        const before = rankScores(counts, probability);
        for (let cell = 0; cell < 3; cell++) {
          const more = counts.slice();
          more[cell]! += 1;
          rankScores(more, probability).forEach((score, at) => {
            most = Math.max(most, Math.abs(score - before[at]!));
          });
        }
      }
      expect(most).toBe(presenceOfRanks([probability]) * rankUnit);
    }
    expect(presenceOfRanks([0.25, 0.5])).toBe(0.75);
  });

  it('have cells that cover the line', () => {
    const cells = { low: -3, high: 7, cells: 40 };
    expect([-1e300, -3, -2.75001, 6.9999, 7, 1e300].map((value) => cellOf(value, cells)))
      .toEqual([0, 0, 0, 39, 39, 39]);
    for (let cell = 0; cell < 40; cell++) expect(cellOf(midpointOf(cell, cells), cells)).toBe(cell);
    expect(cellWidth(cells)).toBe(0.25);
  });
});

describe('count', () => {
  it('counts everybody, or one side of a threshold, which belongs to at-least', async () => {
    const values = [1, 2, 2, 3, -1e30, 1e30];
    const given = async (raw: Record<string, unknown>): Promise<number[][]> =>
      numbersFrom(planOf('count', raw, factsOf(1, 50)), 'count', values);
    expect(await given({})).toEqual([[6]]);
    expect(await given({ threshold: 2 })).toEqual([[4]]);
    expect(await given({ threshold: 2, side: 'below' })).toEqual([[2]]);
  });

  it('is not cut at zero, so that nobody is answered by noise around it', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, async (_, i) =>
      (await answerOf(plans.everybody, [], `nobody ${i}`)).estimate[0]!));
    expect(answers.some((answer) => answer < 0) && answers.some((answer) => answer > 0)).toBe(true);
  });

  it('refuses a column that asks nothing, one that is not there, and a missing one', () => {
    const refusal = (raw: Record<string, unknown>, dimension: number): (() => unknown) =>
      () => planOf('count', raw, factsOf(dimension, 50));
    expect(refusal({ column: 0 }, 1)).toThrow(/without parameters.threshold/);
    expect(refusal({ column: 2, threshold: 1 }, 2)).toThrow(/parameters.column is 2.*from 0 to 1/);
    expect(refusal({ threshold: 1 }, 2)).toThrow(/parameters.column is missing/);
    expect(() => refusal({ column: 2, threshold: 1 }, 2)()).toThrow(InvalidParameterError);
    expect(refusal({}, 5)).not.toThrow();
  });
});

describe('histogram of public bins', () => {
  it('puts a value on an edge into the bin above it, and everything in exactly one', async () => {
    const values = [-1e300, -0.001, -0, 0, 0.5, 1, 1.999, 2, 3, 1e300];
    expect(await numbersFrom(plans.histogram, 'bins', values)).toEqual([[2, 3, 2, 1, 2]]);
    expect(await numbersFrom(planOf('histogram', { edges: 0 }, factsOf(1, 50)), 'bins', values))
      .toEqual([[2, 8]]);
  });

  it('answers with one number and one noise for every bin', async () => {
    const { estimate, shape, uncertainty } = await answerOf(plans.histogram, [0.5, 0.5, 2.5]);
    expect([estimate.length, shape]).toEqual([5, [5]]);
    expect(uncertainty).toEqual({ kind: 'gaussian', standardDeviation: plans.histogram.noise });
    // sqrt 2 / sqrt (2 rho): the noise of a vector of counts, whatever its length.
    const { rho } = factsOf(1, 50).target;
    for (const deviation of plans.histogram.noise) {
      expect(deviation).toBeCloseTo(1 / Math.sqrt(rho), 4);
    }
  });

  it('takes edges or a width, not both and not neither', () => {
    for (const raw of [{}, { edges: [1], width: 2 }]) {
      expect(() => planOf('histogram', raw, factsOf(1, 50)))
        .toThrow(/give edges=first,second,\.\.\. for public bins, or width/);
    }
  });
});

describe('histogram of bins without bounds', () => {
  const values = [...Array<number>(300)
    .fill(-0.5), ...Array<number>(200).fill(1e9), ...Array<number>(5).fill(70), 1e300];

  it('shows the fullest bins, largest first, and zeros for those that are not there', async () => {
    const { estimate, shape, uncertainty, interval95 } = await answerOf(plans.open, values);
    expect(shape).toEqual([3, 2]);
    expect([estimate[0], estimate[2], estimate[4], estimate[5]]).toEqual([-2, 1e9, 0, 0]);
    expect(Math.abs(estimate[1]! - 300)).toBeLessThan(40);
    expect(Math.abs(estimate[3]! - 200)).toBeLessThan(40);
    const sigma = plans.open.noise[1]!;
    expect(uncertainty)
      .toEqual({ kind: 'gaussian', standardDeviation: [0, sigma, 0, sigma, 0, 0] });
    expect(interval95!.low[1]).toBeLessThan(estimate[1]!);
    expect([interval95!.low[2], interval95!.high[5]]).toEqual([1e9, 0]);
  });

  it('drops bins past the last row of the answer', async () => {
    const one = planOf('histogram', { width: 2, top: 1 }, factsOf(1, 400));
    expect((await answerOf(one, values)).estimate.slice(0, 1)).toEqual([-2]);
    expect((await answerOf(one, values)).shape).toEqual([1, 2]);
  });

  it('says nothing about nobody, and nothing of a bin with one contributor', async () => {
    expect((await answerOf(plans.open, [])).estimate).toEqual([0, 0, 0, 0, 0, 0]);
    expect((await answerOf(plans.open, [5])).estimate).toEqual([0, 0, 0, 0, 0, 0]);
    const [counts] = (await givenTo(plans.open, values)).get('bins')! as [Map<number, number>[]];
    expect([...counts[0]!]).toEqual([[-1, 300], [35, 5], [5e8, 200], [5e299, 1]]);
  });

  it('shows bins where doubles no longer hold every whole number', async () => {
    const far = [...Array<number>(300).fill(3e18), ...Array<number>(200).fill(-7e16)];
    const { estimate } = await answerOf(plans.open, far);
    expect([estimate[0], estimate[2], estimate[4]]).toEqual([3e18, -7e16, 0]);
    expect(Math.abs(estimate[1]! - 300)).toBeLessThan(40);
  });

  it('has no plan when the whole cohort in one bin may not show, and needs no more than it '
    + 'says', () => {
    const estimator = findEstimator('histogram');
    const parsed = parseParameters(estimator.parameters, { width: 1 }, { dimension: 1 });
    const found = estimator.plan(parsed, factsOf(1, 10));
    if (found.kind === 'plan' || found.cohortNeeded === undefined) throw new Error('it has a plan');
    expect(estimator.plan(parsed, factsOf(1, found.cohortNeeded)).kind).toBe('plan');
    expect(estimator.plan(parsed, factsOf(1, found.cohortNeeded - 1)).kind).toBe('infeasible');
  });
});

describe('quantile', () => {
  const skewed = (data: DataSource): number => -Math.log(1 - data.uniform());
  const probabilities = [0.1, 0.5, 0.9, 0.99];

  it.each([
    ['without an interval', probabilities], ['with one', probabilities.slice(0, 3)],
  ])('comes within the stated rank error of skewed data, in order: %s', async (_, asked) => {
    const plan =
      planOf('quantile', { range: '0..20', probabilities: asked }, factsOf(1, 8_000));
    const off95 = plan.facts['rankErrorShare95'] ?? plan.facts['intervalReachShare'];
    for (let round = 0; round < 5; round++) {
      const data = dataSource(`skewed ${round}`);
      const values = Array.from({ length: 8_000 }, () => skewed(data))
        .sort((left, right) => left - right);
      const { estimate, uncertainty, interval95 } = await answerOf(plan, values, `skewed ${round}`);
      expect([...estimate].sort((left, right) => left - right)).toEqual(estimate);
      expect(uncertainty).toEqual({ kind: 'none' });
      expect(interval95 === undefined).toBe(asked.length === 4);
      estimate.forEach((value, i) => {
        expect(interval95?.low[i] ?? -Infinity).toBeLessThanOrEqual(value);
        expect(interval95?.high[i] ?? Infinity).toBeGreaterThanOrEqual(value);
        const below = values.filter((entry) => entry < value).length / 8_000;
        const notAbove = values.filter((entry) => entry <= value).length / 8_000;
        const off = Math.max(0, below - asked[i]!, asked[i]! - notAbove);
        expect(off).toBeLessThan(2 * (off95 as number));
      });
    }
  });

  it('finds the one value that everybody has, and the end of the range for values beyond '
    + 'it', async () => {
    const plan = planOf('quantile', { range: '0..10' }, factsOf(1, 400));
    for (const value of (await answerOf(plan, Array<number>(400).fill(3.14))).estimate) {
      expect(value).toBeCloseTo(3.14, 9);
    }
    for (const value of (await answerOf(plan, Array<number>(400).fill(1e6))).estimate) {
      expect(value).toBeCloseTo(10, 9);
    }
  });

  it('keeps its answers sorted when noise would cross them', async () => {
    const near =
      planOf('quantile', { range: '0..1', probabilities: [0.49, 0.5, 0.51] }, factsOf(1, 600, 1));
    const data = dataSource('crossing');
    const values = Array.from({ length: 600 }, () => data.uniform());
    for (let round = 0; round < 10; round++) {
      const { estimate } = await answerOf(near, values, `crossing ${round}`);
      expect([...estimate].sort((left, right) => left - right)).toEqual(estimate);
    }
  });

  it('refuses when far fewer came than planned, without drawing an answer', async () => {
    const values = Array.from({ length: 300 }, (_, i) => (i % 40) / 10);
    const planAt = (probabilities: readonly number[]): Plan =>
      planOf('quantile', { range: '0..4', probabilities }, factsOf(1, 4_000));
    for (const [plan, drawn] of [
      [planAt([0.99]), ['present']], [planAt([0.25, 0.5]), ['choice', 'cells']],
    ] as const) {
      expect(await releaseOf(plan, 1, rowsOf(values), 'few'))
        .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
      expect([...(await givenTo(plan, values)).keys()]).toEqual(drawn);
    }
  });

  it('refuses ranges that make no cells', () => {
    const refusal = (raw: Record<string, unknown>): (() => unknown) =>
      () => planOf('quantile', raw, factsOf(1, 4_000));
    expect(refusal({ range: '1..1' })).toThrow(/parameters.range is "1..1": give low..high/);
    expect(refusal({ range: `1e15..${1e15 + 1}` })).toThrow(/too narrow/);
    expect(() => parseParameters(
      findEstimator('quantile').parameters, { range: '0..1', resolution: 0.1 },
      { dimension: 1, estimator: 'quantile' },
    )).toThrow(/resolution is gone: answers have 12 digits/);
    expect(refusal({ range: '0..1', probabilities: [0.5, 0.5] }))
      .toThrow(/each above the one before/);
    expect(refusal({ range: '0..1', probabilities: [0, 0.5] }))
      .toThrow(/numbers from 0.001 up to 0.999/);
    expect(refusal({})).not.toThrow();
    expect(refusal({ high: 1 })).toThrow(/high is now range \(low..high\)/);
  });

  it('has no plan for a quantile that noise may put beyond everybody, and needs no more than it '
    + 'says', () => {
    const estimator = findEstimator('quantile');
    const planWith = (probabilities: number[], cohort: number) =>
      estimator.plan(
        parseParameters(estimator.parameters, { range: '0..1', probabilities }, { dimension: 1 }),
        factsOf(1, cohort),
      );
    expect(planWith([0.5], 1_000).kind).toBe('plan');
    const found = planWith([0.99], 1_000);
    if (found.kind === 'plan' || found.cohortNeeded === undefined) throw new Error('it has a plan');
    expect(planWith([0.99], found.cohortNeeded).kind).toBe('plan');
    expect(planWith([0.99], found.cohortNeeded - 1).kind).toBe('infeasible');
  });

  it('moves no farther than it says under hostile contributors at one end', async () => {
    const plan = planOf('quantile', { range: '0..1', probabilities: [0.5] }, factsOf(1, 4_000));
    const data = dataSource('hostile');
    const values = Array.from({ length: 4_000 }, (_, i) => (i < 800 ? 1e12 : data.uniform()));
    const [median] = (await answerOf(plan, values)).estimate;
    expect(median).toBeGreaterThan(0.58);
    expect(median! - 0.5).toBeLessThan(1.3 * plan.expectedError(0.2).total);
    expect(plan.expectedError(0.51).total).toBe(Infinity);
  });
});

describe('labels', () => {
  const labels = (name: string, raw: Record<string, unknown>): readonly string[] => {
    const estimator = findEstimator(name);
    return labelsOf(estimator.describe(
      parseParameters(estimator.parameters, raw, { dimension: 2 }),
      [{ name: 'delay' }, { name: 'miles' }],
    ));
  };

  it('name every number of an answer', () => {
    expect(labels('count', {})).toEqual(['contributors']);
    expect(labels('count', { column: 0, threshold: 15, side: 'below' }))
      .toEqual(['delay below 15']);
    expect(labels('histogram', { column: 1, edges: [0, 100] }))
      .toEqual(['miles below 0', 'miles 0 to 100', 'miles from 100']);
    expect(labels('histogram', { column: 0, width: 5, top: 1 }))
      .toEqual(['delay, bin 1 from', 'delay, bin 1 count']);
    expect(labels('quantile', { column: 0, range: '0..1', probabilities: [0.5, 0.9] }))
      .toEqual(['median of delay', '90th percentile of delay']);
  });
});
