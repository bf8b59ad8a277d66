import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../../src/answers/words.js';
import { utf8 } from '../../../src/base/bytes.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { stepsOf } from '../../../src/estimators/counts/sum/bounds.js';
import {
  capLadder, capScores, capsTried, ladderAdder, ladderEntries, sumsUnder,
} from '../../../src/estimators/counts/sum/cap-ladder.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { amountToNumber } from '../../../src/privacy/accounting/amount.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

async function answerOf(
  plan: Plan, values: Iterable<number>, seed: string,
): Promise<ValueOutcome> {
  const rows = Array.from(values, (value) => Float64Array.of(value));
  const outcome = await releaseOf(plan, 1, rows, seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

const ladders = [capLadder(8), capLadder(1e6)];
const add = ladderAdder(ladders);
const entriesOf = (rows: readonly (readonly number[])[]): Float64Array => {
  const entries = new Float64Array(2 * ladderEntries);
  for (const row of rows) add(row, entries);
  return entries;
};

describe('the caps that are tried', () => {
  it('each have the sum and the number of clipped values that bounds give, exactly', () => {
    const data = dataSource('ladder');
    const caps = ladders[0]!.map(({ high }) => high);
    const values = [...caps, ...caps.map((cap) => cap * 1.01), 0, -0, -3, 9, 1e300, -1e300];
    const rows = values.map((value) => [value, Math.exp(5 * data.normal())]);
    const entries = entriesOf(rows);
    for (let i = 0; i < capsTried; i++) {
      const { sums, outside } = sumsUnder(entries, [i, capsTried - 1 - i]);
      [i, capsTried - 1 - i].forEach((cap, j) => {
        const bounds = ladders[j]![cap]!;
        expect(sums[j]).toBe(rows.reduce((sum, row) => sum + stepsOf(row[j]!, bounds), 0));
        expect(Array.from(outside.subarray(2 * j, 2 * j + 2))).toEqual([
          rows.filter((row) => row[j]! < 0).length,
          rows.filter((row) => row[j]! > bounds.high).length,
        ]);
      });
    }
    expect(caps.at(-1)).toBe(8);
    expect(caps[0]! * 2 ** 31.5 / 8).toBeCloseTo(1, 12);
  });

  it('score at most one more or less if one contributor is replaced, comes or goes', () => {
    const data = dataSource('scores');
    const caps = ladders[0]!.map(({ high }) => high);
    const some = (): number[] => [[...caps.slice(-6), 0, -1, 99][data.below(9)]!, 1];
    let most = 0;
    for (let round = 0; round < 200; round++) {
      const rows = Array.from({ length: data.below(9) + 1 }, some);
      const aim = { rank: data.below(6) + 1, lean: data.below(3) };
      const scores = capScores(entriesOf(rows), aim);
      for (const neighbour of [rows.slice(1), [some(), ...rows.slice(1)], [...rows, some()]]) {
        const other = capScores(entriesOf(neighbour), aim);
        scores.forEach((score, i) => { most = Math.max(most, Math.abs(score - other[i]!)); });
      }
    }
    expect(most).toBe(1);
  });

  it('score 0, but for the lean, where the row of the wanted rank is in the cell', () => {
    const values = Array.from({ length: 40 }, (_, i) => [8 * 2 ** (-i / 4), 1]);
    const scores = capScores(entriesOf(values), { rank: 10, lean: 3 });
    // The row of rank 10 is at 8 * 2^(-9/4), below the cap 8 * 2^(-4/2), the fifth from the top.
    expect(scores.indexOf(Math.max(...scores.map((score, i) => score + 3 * i)) - 3 * 59)).toBe(59);
    expect(scores[59]).toBe(0 - 3 * 59);
  });
});

describe('sum with a cap that is found', () => {
  const asked = { cap: 'auto', 'cap-max': 1e4 };

  it('costs what was asked, under zCDP and under pure epsilon', () => {
    const facts = factsOf(3, 2_000);
    const { events, cost } = planOf('sum', asked, facts);
    expect(events.map(({ name }) => name)).toEqual(['caps', 'totals', 'outside']);
    expect(events[0]).toMatchObject({ kind: 'exponential', times: 3, candidates: capsTried });
    expect(amountToNumber(cost.rho)).toBeLessThanOrEqual(facts.target.rho);
    expect(amountToNumber(cost.rho)).toBeGreaterThan(facts.target.rho * (1 - 1e-5));
    const target = resolvePureTarget({ epsilon: 2, delta: 0 });
    const pure = planOf('sum', asked, { ...factsOf(1, 2_000), target });
    expect(pure.events.map(({ kind }) => kind)).toEqual(['exponential', 'laplace', 'laplace']);
    expect(amountToNumber(pure.cost.epsilon!)).toBeLessThanOrEqual(2);
    expect(amountToNumber(pure.cost.epsilon!)).toBeGreaterThan(2 * (1 - 1e-5));
  });

  it('gives the totals sums that one row moves by at most the cap that it chose', async () => {
    const plan = planOf('sum', asked, factsOf(2, 2_000));
    const data = dataSource('given');
    const rows = Array.from({ length: 1_000 }, () =>
      Float64Array.of(data.uniform(), 50 * data.uniform()));
    const givenTo = async (all: readonly Float64Array[]): Promise<readonly Float64Array[]> => {
      const groups = createGroups(plan, 2);
      all.forEach((row) => groups.add(data.assignmentHash(), row));
      const { mechanisms, recorded } = recordingMechanisms(plan.events);
      await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
      return ['totals', 'outside'].map((event) =>
        recorded.find((draw) => draw.event === event)!.content as Float64Array);
    };
    const before = await givenTo(rows);
    for (const row of [[1e9, 1e9], [-1, 1e9], [0, 0]]) {
      const after = await givenTo([...rows, Float64Array.from(row)]);
      before.forEach((given, i) => expect(Math.hypot(...given.map((value, j) =>
        value - after[i]![j]!))).toBeLessThanOrEqual(Math.SQRT2));
    }
    expect(Math.hypot(...(await givenTo([...rows, Float64Array.of(1e9, 1e9)]))[0]!
      .map((value, j) => value - before[0]![j]!))).toBeCloseTo(Math.SQRT2, 12);
  });

  it('errs at most three times as much as with the best cap in hindsight', async () => {
    const cohort = 20_000;
    const plan = planOf('sum', asked, factsOf(1, cohort, 1));
    const noise = planOf('sum', { cap: 1 }, factsOf(1, cohort, 1)).noise[0]!;
    const data = dataSource('hindsight');
    const values = Array.from({ length: cohort }, () => Math.exp(data.normal()));
    const total = values.reduce((sum, value) => sum + value, 0);
    const best = Math.min(...Array.from({ length: 60 }, (_, i) => {
      const cap = 2 ** (i / 8);
      return Math.hypot(
        noise * cap, values.reduce((sum, value) => sum + Math.max(0, value - cap), 0),
      );
    }));
    const rounds = 8;
    let squares = 0;
    for (let round = 0; round < rounds; round++) {
      const { estimate, spread } = await answerOf(plan, values, `in hindsight ${round}`);
      squares += (estimate[0]! - total) ** 2 / rounds;
      expect(spread![0]).toBeLessThan(Math.SQRT2 * Math.max(...values));
    }
    expect(Math.sqrt(squares) / best).toBeLessThan(3);
  });

  it('answers one constant, and says where nearly all values are zero', async () => {
    const plan = planOf('sum', asked, factsOf(1, 1_000));
    const [noise, range] = [plan.facts['noiseInBounds'] as number, { length: 1_000 }];
    const same = await answerOf(plan, Array.from(range, () => 7), 'same');
    expect(same.spread![0]).toBeGreaterThanOrEqual(7);
    expect(same.spread![0]).toBeLessThan(7 * Math.SQRT2);
    expect(Math.abs(same.estimate[0]! - 7_000)).toBeLessThan(5 * noise * same.spread![0]!);
    expect(same.findings).toBeUndefined();
    const rare = await answerOf(plan, Array.from(range, (_, i) => (i < 3 ? 500 : 0)), 'rare');
    expect(rare).toMatchObject({
      interval95: { low: [-Infinity], high: [Infinity] },
      findings: [{ reason: 'end-unseen', columns: [0], amounts: [] }],
    });
  });

  it('gives no total where nearly everybody is beyond a cap that was not found', async () => {
    const cohort = 3_000;
    const plan = planOf('sum', { cap: 'auto', 'cap-max': 1e5 }, factsOf(1, cohort, 1));
    const data = dataSource('few spend');
    const spent = (people: number): number[] =>
      Array.from({ length: people }, () => Math.exp(9 + data.normal()));
    for (let round = 0; round < 40; round++) {
      for (const people of [30, 100, 280]) {
        const rows = spent(people).map((value) => Float64Array.of(value));
        const outcome = await releaseOf(plan, 1, rows, `few ${people} ${round}`);
        if (outcome.kind === 'refused') {
          expect(outcome.reason).toBe('spread-not-found');
          expect(outcome.text).toContain('lower cohort');
        } else {
          // Too few to stand out of the noise: an answer that claims nothing.
          expect(people).toBeLessThan(280);
          expect(outcome.interval95).toEqual({ low: [-Infinity], high: [Infinity] });
        }
      }
      const { interval95, findings } = await answerOf(plan, spent(cohort), `all ${round}`);
      // Some are beyond the cap that is found: the end is open where these are seen.
      const reasons = findings?.map(({ reason }) => reason) ?? [];
      expect(Number.isFinite(interval95!.low[0])).toBe(true);
      expect(interval95!.high[0] === Infinity).toBe(reasons.includes('values-clipped'));
      expect(reasons).not.toContain('end-unseen');
    }
  });

  it('says of how few people no cap is found, and which parameters belong together', () => {
    const estimator = findEstimator('sum');
    const planFor = (raw: Record<string, unknown>, cohort = 5_000) => () =>
      estimator.plan(parseParameters(estimator.parameters, raw, { dimension: 1 }),
        factsOf(1, cohort, 1));
    const few = planFor(asked, 300)();
    if (few.kind !== 'infeasible') throw new Error('a plan for too few');
    const cohortNeeded = few.cohortNeeded!;
    expect(few.remedy).toContain('a cap that you know');
    expect(planFor(asked, cohortNeeded)().kind).toBe('plan');
    expect(planFor(asked, cohortNeeded - 1)().kind).toBe('infeasible');
    expect(planFor({ cap: 'auto' })).toThrow(/cap-max is missing: give the largest cap/);
    expect(planFor({ ...asked, range: '0..1' })).toThrow(/both given/);
    expect(planFor({ cap: 3, 'cap-max': 9 })).toThrow(/cap-max is for cap auto: leave it out/);
    expect(planFor({ cap: 3, 'cap-quantile': 0.9 })).toThrow(/cap-quantile is for cap auto/);
    const parsed = parseParameters(estimator.parameters, asked, { dimension: 1 });
    expect(labelsOf(estimator.describe(parsed, [{ name: 'cost' }])))
      .toEqual(['total of cost, each 0 to a found cap, at most 10000']);
  });
});
