import { describe, expect, it } from 'vitest';
import { findAttack, type RowAttack } from '../../../simulation/index.js';
import { utf8 } from '../../../src/base/bytes.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { columnsOf } from '../../../src/estimators/contract/given.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { mostMoved } from '../../../src/estimators/counts/tables/key-places.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, mergeGroups, releaseGroups } from '../../../src/estimators/run.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { privacyTarget, resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource, type DataSource } from '../../support/data.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

/** The rows of one contributor: the place of a key, then values. */
type Person = readonly (readonly number[])[];

interface Keys {
  readonly count: number;
  readonly groupsMax: number;
}

function keyedFacts(columns: number, cohort: number, keys: Keys, pure = false): StudyFacts {
  return {
    dimension: columns + 1, cohort, participation: 'secret',
    keys: { list: 'public', ...keys },
    target: pure ? resolvePureTarget({ epsilon: 2, delta: 0 })
      : privacyTarget({ epsilon: 2, delta: 1e-6 }),
  };
}

function plannedFor(
  name: string, raw: Readonly<Record<string, unknown>>, facts: StudyFacts,
): ReturnType<ReturnType<typeof findEstimator>['plan']> {
  const estimator = findEstimator(name);
  const dimension = Math.max(1, columnsOf(facts));
  return estimator.plan(parseParameters(estimator.parameters, raw, { dimension }), facts);
}

function planOf(
  name: string, raw: Readonly<Record<string, unknown>>, facts: StudyFacts,
): Plan {
  const plan = plannedFor(name, raw, facts);
  if (plan.kind === 'infeasible') throw new Error(`infeasible: ${plan.reason}`);
  return plan;
}

function groupsOf(plan: Plan, dimension: number, people: readonly Person[], seed: string) {
  const data = dataSource(`${seed} hashes`);
  const groups = createGroups(plan, dimension);
  for (const rows of people) {
    const hash = data.assignmentHash();
    for (const row of rows) groups.add(hash, Float64Array.from(row));
  }
  return groups;
}

async function answerOf(
  plan: Plan, dimension: number, people: readonly Person[], seed: string,
): Promise<ValueOutcome> {
  const outcome = await releaseGroups(plan, groupsOf(plan, dimension, people, seed), {
    mechanisms: createMechanisms(plan.events, seededNoise(`${seed} noise`)),
    work: seededRandom(utf8('work')),
  });
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** What the mechanisms were given for every event, before noise. */
async function givenTo(
  plan: Plan, dimension: number, people: readonly Person[],
): Promise<readonly (readonly number[])[]> {
  const { mechanisms, recorded } = recordingMechanisms(plan.events);
  await releaseGroups(plan, groupsOf(plan, dimension, people, 'given'), {
    mechanisms, work: seededRandom(utf8('work')),
  });
  return plan.events.map(({ name }) =>
    [...recorded.find(({ event }) => event === name)!.content as Float64Array]);
}

/** All sets of at most `groupsMax` of `count` keys. */
function keySets({ count, groupsMax }: Keys): number[][] {
  return Array.from({ length: 2 ** count }, (_, bits) =>
    Array.from({ length: count }, (__, key) => key).filter((key) => (bits >> key) & 1))
    .filter((set) => set.length <= groupsMax);
}

/** Every contributor with these keys, each of whose rows has one of `values`. */
function peopleOf(keys: Keys, values: readonly (readonly number[])[]): Person[] {
  return keySets(keys).flatMap((set) =>
    set.reduce<number[][][]>((people, key) =>
      people.flatMap((rows) => values.map((own) => [...rows, [key, ...own]])), [[]]));
}

const smallKeys: readonly Keys[] = [
  { count: 1, groupsMax: 1 }, { count: 2, groupsMax: 1 }, { count: 3, groupsMax: 1 },
  { count: 3, groupsMax: 2 }, { count: 4, groupsMax: 2 }, { count: 3, groupsMax: 3 },
  { count: 2, groupsMax: 5 },
];

/** Estimators, with the values of a row that are as far apart as any can be. */
const extremes: readonly {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly values: readonly (readonly number[])[];
  /** True if some pair reaches the charged distance, but for rounding. */
  readonly reached: boolean;
}[] = [
  { name: 'count', parameters: {}, values: [[]], reached: true },
  { name: 'count', parameters: { threshold: 1 }, values: [[0], [2]], reached: true },
  { name: 'histogram', parameters: { edges: [0, 1] }, values: [[-1], [0.5], [9]], reached: true },
  { name: 'sum', parameters: { cap: 3 }, values: [[0], [3], [-9], [1e9]], reached: true },
  { name: 'sum', parameters: { range: '-1..1' }, values: [[-1], [1], [0]], reached: true },
  { name: 'sum', parameters: { range: '-1..3' }, values: [[-1], [3], [0]], reached: true },
  {
    name: 'sum', parameters: { range: ['-2..2', '0..1'] },
    values: [[-2, 0], [2, 1], [2, 0], [-2, 1]], reached: true,
  },
  { name: 'mean', parameters: { range: '5..8' }, values: [[-9], [1e9], [5]], reached: true },
  {
    name: 'mean', parameters: { range: ['0..1', '-4..4'] },
    values: [[-1, -5], [2, 5], [0, 4]], reached: true,
  },
  { name: 'share', parameters: {}, values: [[0], [1]], reached: true },
  { name: 'ratio', parameters: { cap: [2, 5] }, values: [[0, 0], [2, 5]], reached: true },
];
const named = extremes.map((each): [string, typeof each] =>
  [`${each.name} ${JSON.stringify(each.parameters)}`, each]);

describe('how far one contributor moves a vector by key', () => {
  it('is the maximum over all pairs of key sets', () => {
    for (const keys of smallKeys) {
      for (const moves of [{ both: 1, one: 1 }, { both: 2, one: 1 }, { both: 4, one: 1 },
        { both: 4, one: 3 }, { both: 0, one: 1 }, { both: 5, one: 2 }]) {
        let most = 0;
        for (const left of keySets(keys)) {
          for (const right of keySets(keys)) {
            const shared = left.filter((key) => right.includes(key)).length;
            most = Math.max(most, shared * moves.both
              + (left.length + right.length - 2 * shared) * moves.one);
          }
        }
        expect(mostMoved({ ...keys, columnsFrom: 1 }, moves)).toBe(most);
      }
    }
  });

  it.each(named)('%s: no pair of neighbours is farther apart than is charged, and some are '
    + 'as far', async (_, { name, parameters, values, reached }) => {
    for (const keys of smallKeys) {
      for (const pure of [false, true]) {
        const facts = keyedFacts(values[0]!.length, 100_000, keys, pure);
        const plan = planOf(name, parameters, facts);
        const all = peopleOf(keys, keys.groupsMax > 2 ? values.slice(0, 2) : values);
        const given: (readonly (readonly number[])[])[] = [];
        for (const person of all) given.push(await givenTo(plan, facts.dimension, [person]));
        plan.events.forEach((event, at) => {
          let most = 0;
          for (const left of given) {
            for (const right of given) {
              const gaps = left[at]!.map((value, i) => value - right[at]![i]!);
              most = Math.max(most, event.kind === 'laplace'
                ? gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) : Math.hypot(...gaps));
            }
          }
          const charged = 'sensitivity' in event ? event.sensitivity : NaN;
          expect(most).toBeLessThanOrEqual(charged);
          if (reached && event.name !== 'outside') expect(most).toBeGreaterThan(0.9999 * charged);
        });
      }
    }
  });
});

describe('answers split by keys', () => {
  const keys = { count: 3, groupsMax: 2 };
  const rows = (data: DataSource): Person => {
    const first = data.below(3);
    const second = (first + 1 + data.below(2)) % 3;
    return [[first, 10 * data.uniform()], [second, 10 * data.uniform()]];
  };

  it.each([
    ['count', {}, [3]], ['histogram', { edges: [2, 5] }, [3, 3]], ['sum', { cap: 10 }, [3, 1]],
    ['mean', { range: '0..10' }, [3, 1]], ['share', { threshold: 2 }, [3]],
  ] as const)('%s has the keys as first axis, and is the same in any order and however '
    + 'summaries are merged', async (name, parameters, shape) => {
    const facts = keyedFacts(1, 2_000, keys);
    const plan = planOf(name, parameters, facts);
    const data = dataSource(`shape ${name}`);
    const people = Array.from({ length: 2_000 }, () => rows(data));
    const answer = await answerOf(plan, 2, people, name);
    expect(answer.shape).toEqual(shape);
    expect(plan.outputShape).toEqual(shape);
    expect(answer.answered).toBeUndefined();
    const whole = await givenTo(plan, 2, people);
    expect(await givenTo(plan, 2, people.map((person) => [...person].reverse()).reverse()))
      .toEqual(whole);
    const [left, right] = [people.slice(0, 700), people.slice(700)]
      .map((part) => groupsOf(plan, 2, part, 'part'));
    expect(mergeGroups(plan, 2, left!, right!).encode())
      .toEqual(groupsOf(plan, 2, people, 'all').encode());
  });

  it('shows empty keys too, and takes no row of a key that is not on the list', async () => {
    const plan = planOf('count', {}, keyedFacts(0, 1_000, { count: 4, groupsMax: 1 }));
    const people: Person[] = [...Array.from({ length: 1_000 }, (): Person => [[2]]), [[4]], [[-1]],
      [[0.5]]];
    expect(await givenTo(plan, 1, people)).toEqual([[0, 0, 1_000, 0]]);
    const { estimate, interval95 } = await answerOf(plan, 1, people, 'empty');
    expect(estimate).toHaveLength(4);
    [0, 0, 1_000, 0].forEach((count, key) => {
      expect(Math.abs(estimate[key]! - count)).toBeLessThan(5 * plan.noise[key]!);
      expect(interval95!.low[key]).toBeLessThan(estimate[key]!);
    });
  });

  it('says how many rows were clipped, over all keys', async () => {
    const plan = planOf('sum', { cap: 1 }, keyedFacts(1, 4_000, keys));
    const people = Array.from({ length: 4_000 }, (_, i): Person => [[0, 0.5], [1, i % 4]]);
    const { findings } = await answerOf(plan, 2, people, 'clipped');
    expect(findings).toEqual([
      { reason: 'values-clipped', columns: [0], amounts: [expect.any(Number)] },
    ]);
    expect(Math.abs(findings![0]!.amounts[0]! - 2_000)).toBeLessThan(200);
  });

  it('says what it cannot do', () => {
    const facts = keyedFacts(1, 4_000, keys);
    const refused = (name: string, raw: Readonly<Record<string, unknown>>, given = facts) => {
      const plan = plannedFor(name, raw, given);
      return plan.kind === 'infeasible' ? `${plan.reason}; ${plan.remedy}` : 'a plan';
    };
    expect(refused('sum', { cap: 'auto', 'cap-max': 100 })).toMatch(/no cap is found.*give cap/);
    expect(refused('histogram', { width: 1 })).toMatch(/without bounds.*give edges/);
    expect(refused('mean', {})).toMatch(/in a public range.*give range/);
    expect(refused('mean', { range: '0..1', spread: 2 })).toMatch(/leave out spread/);
    expect(refused('mean', { range: '0..1' }, { ...facts, cohort: 5 })).toMatch(/a cohort of/);
    expect(() => refused('robust-mean', { spread: 1 })).toThrow(/cannot split its answer by groups/);
    expect(() =>
      refused('count', {}, { ...facts, keys: { list: 'public', groupsMax: 0, count: 3 } }))
      .toThrow(/groupsMax/);
    expect(() => refused('sum', { cap: 1 }, keyedFacts(0, 4_000, keys))).toThrow(/no columns/);
    expect(() => refused('mean', { range: '0..1' }, keyedFacts(0, 4_000, keys)))
      .toThrow(/no columns/);
    expect(() => refused('count', { threshold: 1 }, keyedFacts(0, 4_000, keys)))
      .toThrow(/no columns/);
    expect(() => refused('ratio', { cap: 1 })).toThrow(/2 columns, and there are 1/);
  });
});

describe('hostile contributors, of a question that is split by keys', () => {
  const keys = { count: 5, groupsMax: 2 };
  const [honest, liars] = [1_000, 150];
  const perKey = honest / keys.count;
  const people = Array.from({ length: honest }, (_, i): Person => [[i % keys.count, 4]]);

  /** What the liars' rows become: at most `groupsMax` keys, one row for each. */
  const liarsBy = (name: string): Person[] => {
    const attack = findAttack(name) as RowAttack;
    return Array.from({ length: liars }, (_, i) => {
      const rows = attack.apply(Float64Array.of(0, 4), {
        columns: 2, centre: [0, 4], spread: [1, 2], strength: attack.defaultStrength, age: 0,
        names: [keys.count, null], rowsMax: 64,
        shared: seededRandom(utf8('shared')), own: seededRandom(utf8(`own ${i}`)),
      });
      return Array.from({ length: rows.length / 2 }, (__, row) =>
        [...rows.subarray(2 * row, 2 * row + 2)]).slice(0, keys.groupsMax);
    });
  };
  const added = async (name: string, raw: Readonly<Record<string, unknown>>, attack: string) => {
    const facts = keyedFacts(name === 'count' ? 0 : 1, honest, keys);
    const plan = planOf(name, raw, facts);
    const cut = (all: readonly Person[]): Person[] =>
      all.map((rows) => rows.map((row) => row.slice(0, facts.dimension)));
    const [before] = await givenTo(plan, facts.dimension, cut(people));
    const [after] = await givenTo(plan, facts.dimension, cut([...people, ...liarsBy(attack)]));
    return { before: before!, after: after!, gained: after!.map((all, i) => all - before![i]!) };
  };

  it('move a count by one each, and all counts by groupsMax each', async () => {
    const gained = (await added('count', {}, 'ballot-stuffing')).gained;
    expect(Math.max(...gained)).toBeLessThanOrEqual(liars);
    expect(gained.reduce((sum, more) => sum + more, 0)).toBe(keys.groupsMax * liars);
    const poisoned = (await added('count', {}, 'heavy-hitter-poisoning')).gained;
    expect(poisoned.filter((more) => more === liars)).toHaveLength(1);
    expect(poisoned.filter((more) => more === 0)).toHaveLength(keys.count - 1);
  });

  it('move a total by the cap each, however large their numbers are', async () => {
    for (const attack of ['ballot-stuffing', 'heavy-hitter-poisoning']) {
      const { gained } = await added('sum', { cap: 10 }, attack);
      expect(Math.max(...gained)).toBeLessThanOrEqual(liars);
    }
    const { gained } = await added('sum', { cap: 10 }, 'heavy-hitter-poisoning');
    expect(Math.max(...gained)).toBe(liars);
  });

  it('move the mean of a key by their share in it of the width of the range', async () => {
    const { before, after } = await added('mean', { range: '0..10' }, 'heavy-hitter-poisoning');
    const weight = before[1]! / perKey;
    const means = (given: readonly number[]): number[] => Array.from({ length: keys.count },
      (_, key) => 5 + (5 * given[2 * key]!) / (given[2 * key + 1]! / weight));
    const moved = means(after).map((mean, key) => mean - means(before)[key]!);
    const promised = (10 * liars) / (perKey + liars);
    expect(Math.max(...moved)).toBeLessThanOrEqual(promised);
    // From 4 to the end of the range at 10.
    expect(Math.max(...moved)).toBeCloseTo(0.6 * promised, 6);
  });
});
