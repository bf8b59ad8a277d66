import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/base/brands.js';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import { planDiscoveredCounts } from '../../../src/estimators/counts/discovered/counts.js';
import { planDistinct } from '../../../src/estimators/counts/discovered/distinct.js';
import { planDiscoveredKeys } from '../../../src/estimators/counts/discovered/keys.js';
import { hostilePerForgedKey } from '../../../src/estimators/counts/discovered/forged.js';
import {
  placesSummary, type DiscoveredFacts, type IsCounted,
} from '../../../src/estimators/counts/discovered/places.js';
import { count, sum } from '../../../src/estimators/index.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import type { Infeasible, Plan } from '../../../src/estimators/contract/estimator.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { normalCdf } from '../../../src/numerics/normal.js';
import {
  groupHistogramEvent, groupWeightsEvent,
} from '../../../src/privacy/accounting/calibration.js';
import {
  privacyTarget, resolvePureTarget, type PrivacyTarget,
} from '../../../src/privacy/accounting/target.js';
import { keyKeepingCount } from '../../../src/privacy/mechanisms/bounds.js';
import type { FoundKeys, Mechanisms } from '../../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { factsOf as planFacts } from '../../support/offline.js';
import { foundKeys, numberedKeys } from '../../support/found-keys.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const everyone: IsCounted = () => true;
const epsilonOne = privacyTarget({ epsilon: 1, delta: 1e-6 });

const factsOf = (
  keys: { readonly groupsMax: number; readonly prefilter?: number; readonly top?: number },
  target: PrivacyTarget = epsilonOne, dimension = 1,
): DiscoveredFacts => ({
  dimension, cohort: 10_000, participation: 'secret', target,
  keys: { list: 'discovered', prefilter: 2, top: 100, ...keys },
});

function feasible(plan: Plan | Infeasible): Plan {
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

/** @param people - the rows of each contributor. */
async function released(
  plan: Plan, people: Iterable<readonly (readonly number[])[]>, keys: FoundKeys,
  mechanisms: Mechanisms = createMechanisms(plan.events, seededNoise('noise')), dimension = 1,
): Promise<Outcome> {
  const groups = createGroups(plan, dimension);
  for (const rows of people) {
    for (const row of rows) groups.add(new Uint8Array(32), Float64Array.from(row));
  }
  const work = seededRandom(new Uint8Array(32));
  return releaseGroups(plan, groups, { mechanisms, work, keys: Sensitive.of(keys) });
}

function valueOf(outcome: Outcome): ValueOutcome {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

const times = (count: number, places: readonly number[]): (readonly number[][])[] =>
  Array.from({ length: count }, () => places.map((place) => [place]));

describe('a count split by discovered keys', () => {
  const names = ['mail', 'maps', 'news', 'rare', 'solo'];
  const people = [...times(900, [2, 0]), ...times(500, [0]), ...times(8, [3]), ...times(1, [4])];

  it('shows the keys of many people with their counts, largest first', async () => {
    const plan = feasible(planDiscoveredCounts(everyone, factsOf({ groupsMax: 2 })));
    const value = valueOf(await released(plan, people, foundKeys(names)));
    expect(value.groups).toEqual([['mail'], ['news']]);
    expect(value.shape).toEqual([2]);
    const { sigma } = plan.events[0] as { sigma: number };
    expect(Math.abs(value.estimate[0]! - 1_400)).toBeLessThan(6 * sigma);
    expect(Math.abs(value.estimate[1]! - 900)).toBeLessThan(6 * sigma);
    expect(value.uncertainty).toEqual(
      { kind: 'gaussian', standardDeviation: [sigma, sigma] });
    expect(value.interval95!.high[0]).toBeCloseTo(value.estimate[0]! + 1.96 * sigma, 9);
    expect(plan.facts).toMatchObject({ groupsMax: 2, keysShownAtMost: 100 });
  });

  it('shows at most so many keys as was asked for', async () => {
    const plan = feasible(planDiscoveredCounts(everyone, factsOf({ groupsMax: 2, top: 1 })));
    const value = valueOf(await released(plan, people, foundKeys(names)));
    expect(value.groups).toEqual([['mail']]);
  });

  it('counts the rows that the question counts', async () => {
    const isCounted: IsCounted = (row, from) => row[from]! >= 5;
    const plan =
      feasible(planDiscoveredCounts(isCounted, factsOf({ groupsMax: 1 }, epsilonOne, 2)));
    const rows = Array.from({ length: 1_000 }, (_, i) => [[i % 2, i % 2 === 0 ? 1 : 9]]);
    const value = valueOf(await released(plan, rows, foundKeys(['low', 'high']), undefined, 2));
    expect(value.groups).toEqual([['high']]);
  });

  it('refuses when no key has enough contributors', async () => {
    const plan = feasible(planDiscoveredCounts(everyone, factsOf({ groupsMax: 2 })));
    expect(await released(plan, times(3, [0]), foundKeys(names)))
      .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
  });

  it('is infeasible without a delta, and with a cohort that may not show', () => {
    const pure = resolvePureTarget({ epsilon: 1, delta: 1e-6 });
    expect(planDiscoveredCounts(everyone, factsOf({ groupsMax: 2 }, pure))).toMatchObject({
      kind: 'infeasible', remedy: expect.stringContaining('list the groups') as string,
    });
    const facts = factsOf({ groupsMax: 2 });
    const few = planDiscoveredCounts(everyone, { ...facts, cohort: 50 });
    if (few.kind !== 'infeasible') throw new Error('50 people are too few');
    expect(planDiscoveredCounts(everyone, { ...facts, cohort: few.cohortNeeded! }).kind)
      .toBe('plan');
    expect(planDiscoveredCounts(everyone, { ...facts, cohort: few.cohortNeeded! - 1 }).kind)
      .toBe('infeasible');
  });

  it('keeps counts that were merged or stored', () => {
    const summary = placesSummary(1, everyone);
    const work = seededRandom(new Uint8Array(32));
    const of = (...places: readonly number[]) =>
      places.reduce((state, at) => summary.add(state, Float64Array.of(at), 0n), summary.empty());
    const merged = summary.merge(of(0, 200, 3), summary.decode(summary.encode(of(3, 1, 1))));
    const finished = summary.finish(merged, work);
    if (finished.kind !== 'places') throw new Error('places have a form of their own');
    const { counts } = finished;
    expect(Array.from(counts.slice(0, 4))).toEqual([1, 2, 0, 2]);
    expect(counts[200]).toBe(1);
    expect(counts).toHaveLength(201);
  });

  it('counts beyond 65,535 people of a key', () => {
    const summary = placesSummary(1, everyone);
    const work = seededRandom(new Uint8Array(32));
    let state = summary.empty();
    for (let i = 0; i < 70_000; i++) state = summary.add(state, Float64Array.of(i < 5 ? 1 : 0), 0n);
    const countsOf = (own: typeof state) => {
      const finished = summary.finish(own, work);
      return finished.kind === 'places' ? Array.from(finished.counts) : [];
    };
    expect(countsOf(state)).toEqual([69_995, 5]);
    const half = summary.decode(summary.encode(state));
    expect(countsOf(summary.merge(half, state))).toEqual([139_990, 10]);
    let few = summary.empty();
    for (let i = 0; i < 40_000; i++) few = summary.add(few, Float64Array.of(0), 0n);
    expect(countsOf(summary.merge(few, summary.decode(summary.encode(few))))).toEqual([80_000]);
  });
});

describe('discovered keys alone', () => {
  const names = ['mail', 'maps', 'news', 'rare', 'solo'];
  const alone = (groupsMax: number, target = epsilonOne): DiscoveredFacts => {
    const facts = factsOf({ groupsMax, prefilter: 1 }, target, 2);
    return { ...facts, keys: { ...facts.keys, answer: 'groups' } };
  };
  /** So many people, each with all of these keys. */
  const having = (people: number, places: readonly number[]) =>
    Array.from({ length: people }, () => places.map((place) => [place, places.length]));

  it('show the keys of many people in the order of their weights, without a number', async () => {
    const plan = feasible(planDiscoveredKeys(everyone, alone(4)));
    const people = [...having(900, [2]), ...having(1_000, [0, 1, 3, 4]), ...having(300, [0])];
    const outcome = await released(plan, people, foundKeys(names), undefined, 2);
    expect(valueOf(outcome)).toEqual({
      kind: 'value', estimate: [], shape: [5, 0], uncertainty: { kind: 'none' },
      groups: [['news'], ['mail'], ...valueOf(outcome).groups!.slice(2)],
    });
    expect(plan.events).toMatchObject([{ kind: 'group-weights', groupsMax: 4 }]);
    expect(plan.facts).toMatchObject({ groupsMax: 4, keysShownAtMost: 100 });
  });

  it('give each key 1 / sqrt(k) of the weight of a person with k keys', async () => {
    const plan = feasible(planDiscoveredKeys(everyone, alone(4)));
    const { mechanisms, recorded } = recordingMechanisms(plan.events);
    const people = [...having(3, [0]), ...having(2, [1, 2]), ...having(1, [0, 1, 2, 3])];
    await released(plan, people, foundKeys(names), mechanisms, 2);
    const half = Math.floor(2 ** 12 * Math.SQRT1_2) / 2 ** 12;
    expect(Array.from(recorded[0]!.content as Float64Array))
      .toEqual([3.5, 2 * half + 0.5, 2 * half + 0.5, 0.5]);
  });

  it('are shown where counts of people with many keys are not', async () => {
    // 130 people who have one of two keys and nothing else.
    const people = [...having(65, [0]), ...having(65, [1])];
    const shown = async (plan: Plan, rows: typeof people, dimension: number) => {
      const outcome = await released(plan, rows, foundKeys(names), undefined, dimension);
      return outcome.kind === 'value' ? outcome.groups!.length : 0;
    };
    expect(await shown(feasible(planDiscoveredKeys(everyone, alone(16))), people, 2)).toBe(2);
    const counts =
      feasible(planDiscoveredCounts(everyone, factsOf({ groupsMax: 16, prefilter: 1 })));
    expect(await shown(counts, people.map((rows) => rows.map(([place]) => [place!])), 1)).toBe(0);
  });

  it('have no answer of a sum, and no pure epsilon', () => {
    const pure = resolvePureTarget({ epsilon: 1, delta: 1e-6 });
    expect(planDiscoveredKeys(everyone, alone(2, pure)).kind).toBe('infeasible');
    const parameters = parseParameters(sum.parameters, { cap: 5 }, { dimension: 1 });
    const facts = alone(2);
    expect(sum.plan(parameters, { ...facts, dimension: 3 })).toMatchObject({
      kind: 'infeasible', reason: expect.stringContaining('answer: groups') as string,
    });
  });

  it('are forged by fewer liars the more keys each may have', () => {
    const of = (groupsMax: number) => hostilePerForgedKey(
      groupWeightsEvent({ name: 'k', cohort: 'c', groupsMax, rho: 0.02294, delta: 5e-7 }));
    expect(of(1)).toBeCloseTo(46.3, 1);
    // By nearly sqrt(K). With counts the threshold grows by as much, so liars gain nothing.
    expect(of(1) / of(16)).toBeGreaterThan(3.3);
    expect(of(1) / of(16)).toBeLessThan(4);
  });
});

describe('hostile contributors and discovered keys', () => {
  const event = (groupsMax: number, prefilter = 2) => groupHistogramEvent({
    name: 'keys', cohort: 'all', groupsMax, prefilter, rho: 0.02294, delta: 5e-7,
  });

  it.each([[17, 0.004], [34, 0.48], [51, 0.99]])(
    'show a key that %d of them send with the stated probability', (together, stated) => {
      const keys = 4_000;
      const one = event(1);
      const counts = new Float64Array(keys).fill(together);
      const kept = createMechanisms([one], seededNoise(`forged ${together}`))
        .groupHistogram('keys', Sensitive.of(counts), Sensitive.of(numberedKeys(keys))).value;
      const chance = normalCdf((together - keyKeepingCount(one)) / one.sigma);
      expect(Math.abs(chance - stated)).toBeLessThan(0.01);
      // Hoeffding: a false failure has probability 1e-6.
      expect(Math.abs(kept.length / keys - chance))
        .toBeLessThan(Math.sqrt(Math.log(2e6) / (2 * keys)));
    },
  );

  it('need about 47 contributors for each forged key, or 96 places of four each', () => {
    expect(hostilePerForgedKey(event(1))).toBeCloseTo(47, 0);
    expect(4 * hostilePerForgedKey(event(4))).toBeCloseTo(96, 0);
    // With little noise and a prefilter of 1, two contributors would do.
    expect(hostilePerForgedKey({ ...event(1, 1), sigma: 0.01, delta: 0.4 })).toBeCloseTo(2, 3);
  });

  it('cannot make honest keys disappear', async () => {
    const plan = feasible(planDiscoveredCounts(everyone, factsOf({ groupsMax: 1 })));
    const honest = [...times(400, [0]), ...times(200, [1])];
    const forged = Array.from({ length: 20_000 }, (_, i) => [[2 + i]]);
    const keys = foundKeys(
      ['a', 'b', ...forged.map((_, i) => `x${i}`)],
    );
    const alone = valueOf(await released(plan, honest, keys));
    const crowded = valueOf(await released(plan, [...forged, ...honest], keys));
    expect(alone.groups).toEqual([['a'], ['b']]);
    expect(crowded).toEqual(alone);
  });
});

describe('the number of distinct keys', () => {
  it('is what count answers for of: groups, where the keys are discovered', () => {
    const parse = (raw: Readonly<Record<string, unknown>>) =>
      parseParameters(count.parameters, raw, { dimension: 1 });
    const facts = factsOf({ groupsMax: 2 });
    expect(count.plan(parse({ of: 'groups' }), facts))
      .toMatchObject({ events: [{ name: 'distinct' }] });
    for (const raw of [{}, { of: 'contributors' }]) {
      expect(count.plan(parse(raw), facts))
        .toMatchObject({ events: [{ kind: 'group-histogram' }] });
    }
    for (const wrong of [{ top: 0 }, { top: 1e6 }, { prefilter: 0 }, { groupsMax: 0 }]) {
      expect(() =>
        count.plan(parse({}), factsOf({ groupsMax: 1, ...wrong }))).toThrow(/at most|from/);
    }
    const unsplit = planFacts(1, 100);
    expect(() => count.plan(parse({ of: 'groups' }), unsplit)).toThrow(/give by with discover/);
  });

  it('counts keys with enough contributors', async () => {
    const plan = planDistinct(everyone, factsOf({ groupsMax: 2, prefilter: 3 }));
    const people = [...times(3, [0, 1]), ...times(2, [2]), ...times(50, [3])];
    const { mechanisms, recorded } = recordingMechanisms(plan.events);
    const value = valueOf(await released(plan, people, numberedKeys(4), mechanisms));
    expect(recorded).toMatchObject([{ event: 'distinct', content: Float64Array.of(3) }]);
    expect(value).toMatchObject({ shape: [1] });
    expect(value.groups).toBeUndefined();
    expect(plan.events[0]).toMatchObject({ kind: 'gaussian', sensitivity: 2 });
  });

  it('has a pure form', () => {
    const pure = resolvePureTarget({ epsilon: 1, delta: 1e-6 });
    const [event] = planDistinct(everyone, factsOf({ groupsMax: 3 }, pure)).events;
    expect(event).toMatchObject({ kind: 'laplace', sensitivity: 3 });
  });
});

/** All lists of at most `most` of the places 0 to size - 1. */
function lists(size: number, most: number): number[][] {
  return Array.from({ length: 2 ** size }, (_, bits) =>
    Array.from({ length: size }, (_, i) => i).filter((i) => (bits >> i) & 1))
    .filter((list) => list.length <= most);
}

describe('the sensitivities of discovered keys, over all neighbours of small data', () => {
  it.each([[1, 1], [1, 2], [2, 1], [2, 2]])(
    'are those that were charged: at most %d keys each, prefilter %d',
    async (groupsMax, prefilter) => {
      const size = 4;
      const facts = factsOf({ groupsMax, prefilter });
      const [counts, distinct] =
        [feasible(planDiscoveredCounts(everyone, facts)), planDistinct(everyone, facts)];
      const before = async (plan: Plan, people: (readonly number[][])[]): Promise<number[]> => {
        const { mechanisms, recorded } = recordingMechanisms(plan.events);
        await released(plan, people, numberedKeys(size), mechanisms);
        const content = recorded[0]!.content as Float64Array;
        return Array.from({ length: size }, (_, i) => content[i] ?? 0);
      };
      let [mostCounts, mostDistinct] = [0, 0];
      for (const others of lists(size, size)) {
        // Keys that the others have are just below the prefilter; the rest far above or empty.
        const background = times(prefilter - 1, [0, 1, 2, 3])
          .concat(times(prefilter, others));
        const sides = await Promise.all(lists(size, groupsMax).map(async (own) => {
          const people = [...background, own.map((place) => [place])];
          return [await before(counts, people), await before(distinct, people)] as const;
        }));
        for (const [one, few] of sides) {
          for (const [other, many] of sides) {
            const moved = one.reduce((sum, entry, i) => sum + Math.abs(entry - other[i]!), 0);
            mostCounts = Math.max(mostCounts, moved);
            mostDistinct = Math.max(mostDistinct, Math.abs(few[0]! - many[0]!));
          }
        }
      }
      expect(mostCounts).toBe(2 * groupsMax);
      expect(mostDistinct).toBe(groupsMax);
    },
  );
});
