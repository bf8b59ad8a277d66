import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/base/brands.js';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import { placeSumsSummary } from '../../../src/estimators/counts/discovered/place-sums.js';
import type { DiscoveredFacts } from '../../../src/estimators/counts/discovered/places.js';
import { quotientOf } from '../../../src/estimators/counts/quotients/fieller.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import type { Finished, Infeasible, Plan } from '../../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import type { GroupSumsEvent } from '../../../src/privacy/accounting/events.js';
import { chargeFits } from '../../../src/privacy/accounting/composition.js';
import {
  privacyTarget, resolvePureTarget, type PrivacyTarget,
} from '../../../src/privacy/accounting/target.js';
import type { FoundKeys } from '../../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource } from '../../support/data.js';
import { foundKeys, numberedKeys } from '../../support/found-keys.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const epsilonOne = privacyTarget({ epsilon: 1, delta: 1e-6 });
const work = seededRandom(new Uint8Array(32));

interface Asked {
  readonly columns?: number;
  readonly groupsMax?: number;
  readonly top?: number;
  readonly target?: PrivacyTarget;
  readonly cohort?: number;
}

const factsOf = (
  { columns = 1, groupsMax = 1, top = 100, target = epsilonOne, cohort = 10_000 }: Asked,
): DiscoveredFacts => ({
  dimension: 1 + columns, cohort, participation: 'secret', target,
  keys: { list: 'discovered', groupsMax, prefilter: 2, top },
});

function planned(
  name: string, set: Readonly<Record<string, unknown>>, asked: Asked = {},
): Plan | Infeasible {
  const estimator = findEstimator(name);
  const facts = factsOf(asked);
  const parameters =
    parseParameters(estimator.parameters, set, { dimension: facts.dimension - 1 });
  return estimator.plan(parameters, facts);
}

function feasible(plan: Plan | Infeasible): Plan {
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

const eventOf = ({ events }: Plan): GroupSumsEvent => events[0] as GroupSumsEvent;

/** @param rows - of all contributors, each with the place of its key in front. */
async function released(
  plan: Plan, rows: Iterable<readonly number[]>, keys: FoundKeys, seed = 'noise',
): Promise<Outcome> {
  const dimension = 1 + (plan.outputShape[1] ?? (plan.events.length > 1 ? 2 : 1));
  const groups = createGroups(plan, dimension);
  for (const row of rows) groups.add(new Uint8Array(32), Float64Array.from(row));
  const mechanisms = createMechanisms(plan.events, seededNoise(seed));
  return releaseGroups(plan, groups, { mechanisms, work, keys: Sensitive.of(keys) });
}

function valueOf(outcome: Outcome): ValueOutcome {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

const rowsOf = (count: number, ...row: readonly number[]): (readonly number[])[] =>
  new Array<readonly number[]>(count).fill(row);

describe('a sum split by discovered keys', () => {
  const rows = [
    ...rowsOf(900, 1, 3), ...rowsOf(700, 0, 10), ...rowsOf(500, 0, 99), ...rowsOf(6, 2, 10),
  ];
  const names = foundKeys(['mail', 'maps', 'rare']);

  it('shows the totals of keys that many people have, the key of most people first', async () => {
    const plan = feasible(planned('sum', { cap: 10 }));
    const value = valueOf(await released(plan, rows, names));
    expect(value.groups).toEqual([['mail'], ['maps']]);
    expect(value.shape).toEqual([2, 1]);
    expect(plan.outputShape).toEqual([100, 1]);
    if (value.uncertainty.kind !== 'gaussian') throw new Error('its noise is Gaussian');
    const [deviation] = value.uncertainty.standardDeviation;
    // With one key each, cap sqrt(1 / rho), for 95 % of rho.
    expect(deviation! / (10 / Math.sqrt(0.95 * epsilonOne.rho))).toBeCloseTo(1, 4);
    expect(plan.noise).toEqual(new Array(100).fill(deviation));
    [12_000, 2_700].forEach((total, i) =>
      expect(Math.abs(value.estimate[i]! - total)).toBeLessThan(6 * deviation!));
    expect(value.interval95!.high).toEqual([Infinity, Infinity]);
    expect(value.estimate[1]! - value.interval95!.low[1]!)
      .toBeCloseTo(1.96 * deviation! + 900 * 10 / 2 ** 22, 1);
    expect(value.findings).toMatchObject([{ reason: 'values-clipped', columns: [0] }]);
    expect(Math.abs(value.findings![0]!.amounts[0]! - 500)).toBeLessThan(100);
    expect(chargeFits(plan.cost, epsilonOne)).toBe(true);
  });

  it('has noise of the stated size, and intervals that cover', { tags: ['long'] }, async () => {
    const keys = 3_000;
    // Bounds without 0, around 0 and from 0.
    const set = { range: '2..4,-10..10,0..5' };
    const plan = feasible(planned('sum', set, { columns: 3, top: 4_096, cohort: 1_000_000 }));
    const each = Array.from({ length: keys }, (_, key) => rowsOf(250, key, 3, -4, 5)).flat();
    const value = valueOf(await released(plan, each, numberedKeys(keys)));
    expect(value.shape).toEqual([keys, 3]);
    const truth = [750, -1_000, 1_250];
    for (let j = 0; j < 3; j++) {
      const errors = value.groups!.map((_, i) => value.estimate[3 * i + j]! - truth[j]!);
      const variance = errors.reduce((sum, error) => sum + error ** 2, 0) / keys;
      const covered = errors.filter((_, i) => value.interval95!.low[3 * i + j]! <= truth[j]!
        && truth[j]! <= value.interval95!.high[3 * i + j]!).length / keys;
      // A sum of squares of 3,000 normal numbers is within 13 % with probability 1 - 1e-6.
      expect(Math.abs(Math.sqrt(variance) / plan.noise[j]! - 1)).toBeLessThan(0.065);
      expect(Math.abs(covered - 0.95)).toBeLessThan(0.02);
    }
    // In units of the bounds: sqrt(K s / (2 rho)), and with the middle's part of the count.
    const rho = 0.95 * epsilonOne.rho;
    expect(plan.noise[1]! / 20).toBeCloseTo(Math.sqrt(3 / (2 * rho)), 3);
    expect(plan.noise[2]! / 5).toBeCloseTo(Math.sqrt(4 / (2 * rho)), 3);
    expect(plan.noise[0]! / 4).toBeCloseTo(plan.noise[2]! / 5, 6);
  });

  it('shows at most so many keys as was asked for, and refuses where there is none', async () => {
    const one = feasible(planned('sum', { cap: 10 }, { top: 1 }));
    expect(valueOf(await released(one, rows, names)).groups).toEqual([['mail']]);
    expect(await released(one, rowsOf(5, 0, 1), names))
      .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
  });

  it('is infeasible without a delta, for few people, and for a cap that is found', () => {
    const pure = resolvePureTarget({ epsilon: 1, delta: 0 });
    expect(planned('sum', { cap: 10 }, { target: pure })).toMatchObject({
      kind: 'infeasible', remedy: expect.stringContaining('list the groups') as string,
    });
    const few = planned('sum', { cap: 10 }, { cohort: 50 });
    if (few.kind !== 'infeasible') throw new Error('50 people are too few');
    expect(planned('sum', { cap: 10 }, { cohort: few.cohortNeeded! }).kind).toBe('plan');
    expect(planned('sum', { 'cap': 'auto', 'cap-max': 100 })).toMatchObject({ kind: 'infeasible' });
  });

  it('states the memory of its sums', () => {
    expect(feasible(planned('sum', { cap: 10 })).bytesPerKey).toBe(8);
    expect(feasible(planned('sum', { cap: 10 }, { columns: 3 })).bytesPerKey).toBe(24);
  });
});

describe('means, shares and ratios split by discovered keys', () => {
  const names = foundKeys(['a', 'b', 'c']);

  it('give the mean of each key', async () => {
    const plan = feasible(planned('mean', { range: '0..100' }));
    const rows = [...rowsOf(2_000, 0, 20), ...rowsOf(4_000, 1, 70), ...rowsOf(3, 2, 70)];
    const value = valueOf(await released(plan, rows, names));
    expect(value).toMatchObject({ groups: [['b'], ['a']], shape: [2, 1] });
    [70, 20].forEach((mean, i) => {
      expect(Math.abs(value.estimate[i]! - mean)).toBeLessThan(4);
      expect(value.interval95!.low[i]!).toBeLessThan(mean);
      expect(value.interval95!.high[i]!).toBeGreaterThan(mean);
    });
    // Deviations of a sum in half ranges and of a count, for 95 % of rho.
    expect(eventOf(plan).sumsSigma).toBeCloseTo(Math.sqrt(2 / (0.95 * epsilonOne.rho)), 3);
    expect(plan.cost.delta).toBeGreaterThan(0n);
  });

  it('give the share of each key', async () => {
    const plan = feasible(planned('share', { threshold: 5 }));
    const rows = [...rowsOf(3_000, 0, 9), ...rowsOf(1_000, 0, 1), ...rowsOf(1_000, 1, 1)];
    const value = valueOf(await released(plan, rows, names));
    expect(value).toMatchObject({ groups: [['a'], ['b']], shape: [2] });
    expect(value.estimate[0]).toBeCloseTo(0.75, 1);
    expect(Math.abs(value.estimate[1]!)).toBeLessThan(0.1);
  });

  it('give the ratio of two totals of each key', async () => {
    const plan = feasible(planned('ratio', { cap: '10,4' }, { columns: 2 }));
    const rows = [...rowsOf(5_000, 0, 6, 2), ...rowsOf(3_000, 1, 1, 4)];
    const value = valueOf(await released(plan, rows, names));
    expect(value).toMatchObject({ groups: [['a'], ['b']], shape: [2] });
    [3, 0.25].forEach((ratio, i) => {
      expect(value.interval95!.low[i]!).toBeLessThan(ratio);
      expect(value.interval95!.high[i]!).toBeGreaterThan(ratio);
      expect(Math.abs(value.estimate[i]! - ratio)).toBeLessThan(0.3);
    });
  });

  it('cover the ratio of totals whose noise is not independent', { tags: ['long'] }, () => {
    const data = dataSource('ratio of correlated totals');
    const correlation = 0.6;
    for (const [denominator, ratio] of [[4, 0.5], [4, 2], [12, -1]] as const) {
      let [answers, covered] = [0, 0];
      while (answers < 15_000) {
        const shared = data.normal();
        const other = Math.sqrt(1 - correlation ** 2) * data.normal();
        const found = quotientOf({
          numerator: ratio * denominator + 2 * (correlation * shared + other),
          denominator: denominator + shared, numeratorNoise: 2, denominatorNoise: 1, correlation,
        }, 1.959964);
        if (found === null) continue;
        answers += 1;
        covered += Number(found.low <= ratio && ratio <= found.high);
      }
      expect(Math.abs(covered / answers - 0.95)).toBeLessThan(0.01);
    }
  });
});

describe('sums by place', () => {
  const summary = placeSumsSummary({
    dimension: 3, each: 2, overall: 1,
    add(row, sums, at, overall) {
      sums[at]! += row[1]!;
      sums[at + 1]! -= row[2]!;
      overall[0]! += 1;
    },
  });
  const stateOf = (...rows: readonly (readonly number[])[]) => rows.reduce((state, row) =>
    summary.add(state, Float64Array.from(row), 0n), summary.empty());
  const read = (finished: Finished): unknown => {
    if (finished.kind !== 'places') throw new Error('places have a form of their own');
    const { counts, sums } = finished;
    return [Array.from(counts), Array.from(sums!.overall), Array.from(counts, (count, place) =>
      (count > 0 ? Array.from(sums!.of(place)) : null))];
  };
  const rows = [[0, 1, 2], [9_000, 5, 5], [3, 2 ** 40, 1], [0, 1, 1], [3, 1, 0]] as const;

  it('are the same in any order, merged or stored', () => {
    const whole = read(summary.finish(stateOf(...rows), work));
    expect(whole).toMatchObject([{ length: 9_001 }, [5], { 0: [2, -3], 3: [2 ** 40 + 1, -1] }]);
    expect(read(summary.finish(stateOf(...[...rows].reverse()), work))).toEqual(whole);
    const [left, right] = [stateOf(...rows.slice(0, 2)), stateOf(...rows.slice(2))];
    const stored = summary.decode(summary.encode(right));
    expect(read(summary.finish(summary.merge(left, stored), work))).toEqual(whole);
    const other = placeSumsSummary({ dimension: 3, each: 3, overall: 1, add: () => undefined });
    expect(() => other.decode(summary.encode(right))).toThrow(/number of sums/);
  });

  it('begin at 0 where another question of a row with this place has none', () => {
    const plan = feasible(planned('sum', { cap: 4 }, { groupsMax: 2 }));
    const { mechanisms, recorded } = recordingMechanisms(plan.events);
    const groups = createGroups(plan, 2);
    for (const row of [[5, 1], [5, 9], [2, 3]]) {
      groups.add(new Uint8Array(32), Float64Array.from(row));
    }
    void releaseGroups(plan, groups, { mechanisms, work, keys: Sensitive.of(numberedKeys(6)) });
    const [outside, keys] = recorded as unknown as readonly [
      { readonly content: Float64Array },
      { readonly content: { counts: ArrayLike<number>; sumsOf(place: number): Float64Array } },
    ];
    expect(Array.from(outside.content)).toEqual([0, 1]);
    expect(Array.from(keys.content.counts)).toEqual([0, 0, 1, 0, 0, 2]);
    // Distances from the middle of 0..4, in halves of it: 1, 4 and 3.
    expect(Array.from(keys.content.sumsOf(5))).toEqual([0.5]);
    expect(Array.from(keys.content.sumsOf(2))).toEqual([0.5]);
  });
});
