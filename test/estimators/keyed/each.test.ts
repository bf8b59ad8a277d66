import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/base/brands.js';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { answerOfKeys } from '../../../src/estimators/keyed/answer-of-keys.js';
import { planEach } from '../../../src/estimators/keyed/each.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { chargeFits, costOfEvents } from '../../../src/privacy/accounting/composition.js';
import { gaussianEvent } from '../../../src/privacy/accounting/calibration.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { Places } from '../../../src/wire/numbers-body.js';
import { outcomeToWire } from '../../../src/wire/outcome-body.js';
import { dataSource } from '../../support/data.js';
import { said } from '../../support/described.js';
import { factsOf, releaseOf } from '../../support/offline.js';
import { sensitivityFaults } from '../../support/sensitivity-check.js';

function planned(
  name: string, raw: Record<string, unknown>, facts: StudyFacts, keys = 4, groupsMax = 1,
): Plan {
  const estimator = findEstimator(name);
  const parameters =
    parseParameters(estimator.parameters, raw, { dimension: facts.dimension - 1 });
  const plan = planEach(
    estimator, parameters, { ...facts, keys: { list: 'public', count: keys, groupsMax } },
  );
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

/** Rows [key, value] of so many people for each key, each about 10 key with deviation 1. */
function* rowsOf(sizes: readonly number[], seed: string, hostile = 0): Generator<Float64Array> {
  const data = dataSource(seed);
  for (const [key, size] of sizes.entries()) {
    for (let person = 0; person < size; person++) {
      const honest = 10 * key + data.normals(1)[0]!;
      yield Float64Array.of(key, person < hostile * size ? 1e6 : honest);
    }
  }
}

function valueOf(outcome: Outcome): ValueOutcome {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

describe('an answer for each key', () => {
  it('is the estimator on the rows of the key, with its interval', async () => {
    const sizes = [6_000, 3_000, 12_000, 20];
    const facts = factsOf(2, 21_020, 4);
    const plan = planned('robust-mean', { spread: '1' }, facts);
    const value = valueOf(await releaseOf(plan, 2, rowsOf(sizes, 'each'), 'each'));
    expect(value.shape).toEqual([4, 1]);
    expect(value.answered).toEqual([true, true, true, false]);
    const { low, high } = value.interval95!;
    for (const key of [0, 1, 2]) {
      expect(Math.abs(value.estimate[key]! - 10 * key)).toBeLessThan(0.5);
      expect([low[key]! < 10 * key, high[key]! > 10 * key]).toEqual([true, true]);
    }
    expect([value.estimate[3], low[3], high[3]]).toEqual([0, -Infinity, Infinity]);
  });

  it('fits the wire, also when every key has an answer', async () => {
    for (const sizes of [[500, 700], [500, 2]]) {
      const people = sizes[0]! + sizes[1]!;
      const plan = planned('quantile', { range: '-100..100' }, factsOf(2, people, 8), 2);
      const value = valueOf(await releaseOf(plan, 2, rowsOf(sizes, 'wire'), 'wire'));
      expect(value.answered).toEqual(sizes[1] === 2 ? [true, false] : undefined);
      const keyed = said({ ...value, groups: [['a'], ['b']] });
      expect(outcomeToWire(keyed, new Places()).value).toBeDefined();
    }
  });

  it('is refused for the reason of a key, when no key has an answer', () => {
    const refused: Outcome = { kind: 'refused', reason: 'spread-not-found', text: 'no spread' };
    expect(answerOfKeys([null, refused], [2, 1], 9)).toBe(refused);
    expect(answerOfKeys([null, null], [2, 1], 9))
      .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
  });

  it('resists the hostile people of a key as the estimator does', async () => {
    const plan = planned('robust-mean', { spread: '1' }, factsOf(2, 20_000, 4));
    const rows = rowsOf([5_000, 5_000, 5_000, 5_000], 'liars', 0.05);
    const { estimate, answered, findings } = valueOf(await releaseOf(plan, 2, rows, 'liars'));
    expect(answered).toBeUndefined();
    expect(findings?.filter(({ reason }) => reason === 'cluster-apart').map(({ group }) => group))
      .toEqual([0, 1, 2, 3]);
    for (const [key, mean] of estimate.entries()) {
      expect(Math.abs(mean - 10 * key)).toBeLessThan(1);
    }
  });

  it('is refused as a whole when no key has enough people', async () => {
    const plan = planned('quantile', { range: '-100..100' }, factsOf(2, 20_000));
    const outcome = await releaseOf(plan, 2, rowsOf([1, 0, 2, 0], 'few'), 'few');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
  });

  it('is planned for the people of one key, and answers as many as it says', async () => {
    const errorFor = (people: number): number =>
      planned('quantile', { range: '0..1' }, factsOf(2, people, 4)).expectedError(0).total;
    expect(errorFor(1_200)).toBeGreaterThan(1.2 * errorFor(2_400));
    const { facts: { smallestKeyAnswered } } = planned('robust-mean', {}, factsOf(2, 1e5));
    const people = Number(smallestKeyAnswered);
    const plan = planned('robust-mean', {}, factsOf(2, 4 * people));
    const rows = rowsOf([people, people, people, people], 'enough');
    expect(valueOf(await releaseOf(plan, 2, rows, 'enough')).answered).toBeUndefined();
    expect(plan.facts['plannedSizeOfAKey']).toBeGreaterThan(people / 2);
  });

  it('is refused before data when equal keys would be too small', () => {
    const asked = (raw: Record<string, unknown>, cohort: number, groupsMax = 1) => {
      const estimator = findEstimator('robust-mean');
      const values = parseParameters(estimator.parameters, raw, { dimension: 1 });
      const keys = { list: 'public', count: 4, groupsMax } as const;
      return planEach(estimator, values, { ...factsOf(2, cohort, 1), keys });
    };
    expect(asked({}, 3_000)).toMatchObject({
      reason: 'answers need groups of 2912 people or more, and a cohort of 3000 has not as many '
        + 'for each of 4 groups',
      remedy: 'a cohort of 11648, a range, fewer groups, or a larger epsilon',
      cohortNeeded: 11_648,
    });
    expect(asked({}, 11_648)).toMatchObject({ kind: 'plan' });
    expect(asked({ range: '0..100000' }, 3_000)).toMatchObject({ kind: 'plan' });
    expect(asked({ range: '0..100000' }, 60)).toMatchObject({
      remedy: expect.not.stringContaining('range') as string,
    });
  });

  it.each(['robust-mean', 'mean', 'quantile', 'histogram'])('costs what it may: %s', (name) => {
    const raw: Record<string, unknown> = name === 'histogram' ? { edges: '0,1' }
      : name === 'quantile' ? { range: '0..1' } : {};
    for (const groupsMax of [1, 3, 9]) {
      const facts = factsOf(2, 400_000);
      const plan = planned(name, raw, facts, 5, groupsMax);
      expect(chargeFits(plan.cost, facts.target)).toBe(true);
      expect(plan.cost.rho).toBeGreaterThan(BigInt(Math.floor(0.9 * facts.target.rho * 2 ** 64)));
    }
  });

  it('costs half for a median, because a row that goes moves ranks by a half', () => {
    const target = resolvePureTarget({ epsilon: 2, delta: 0 });
    const choiceOf = (facts: StudyFacts, probabilities: string): number => {
      const plan = planned('quantile', { range: '0..1', probabilities }, facts, 5, 2);
      expect(chargeFits(plan.cost, facts.target)).toBe(true);
      // Of the largest keys, whose answers have intervals.
      const choice = plan.events.findLast(({ name }) => /^each@\d+\/choice$/.test(name));
      if (choice?.kind !== 'exponential') throw new Error('no choice');
      return choice.epsilon;
    };
    for (const facts of [
      factsOf(2, 400_000), { ...factsOf(2, 400_000), target },
    ]) {
      // The dearer of K r and 2 K r max(p, 1 - p), with squares for rho, of which a row that comes
      // or goes also moves counts by 1 / sqrt 2; .001 is nearly the cost of one that is replaced.
      const gain = choiceOf(facts, '0.5') / choiceOf(facts, '0.001');
      const isPure = facts.target.isPure === true;
      const far = 2 * (isPure ? 0.999 : 0.999 ** 2);
      const near = 1;
      expect(gain).toBeCloseTo(isPure ? far / near : Math.sqrt(far / near), 3);
    }
  });

  it('stays within a pure budget', () => {
    const target = resolvePureTarget({ epsilon: 2, delta: 0 });
    const facts: StudyFacts = { dimension: 2, cohort: 1e6, participation: 'secret', target };
    const { cost } = planned('histogram', { edges: '0,1' }, facts, 5, 2);
    expect(cost.epsilon! <= BigInt(2 ** 65)).toBe(true);
  });

  it('needs a column, a public list of at most 256 keys, and an estimator of one pool', () => {
    const keys = { list: 'public', count: 4, groupsMax: 1 } as const;
    const mean = findEstimator('robust-mean');
    const facts = factsOf(2, 1e6);
    const values = parseParameters(mean.parameters, {}, { dimension: 1 });
    expect(planEach(mean, values, { ...facts, dimension: 1, keys }))
      .toMatchObject({ reason: expect.stringContaining('no column') as string });
    expect(planEach(mean, values, { ...facts, keys: { ...keys, count: 257 } }))
      .toMatchObject({ reason: expect.stringContaining('at most 256') as string });
    expect(planEach(mean, values, { ...facts, cohort: 100, keys }))
      .toMatchObject({ kind: 'infeasible', cohortNeeded: expect.any(Number) as number });
    const subspace = findEstimator('subspace');
    const given = parseParameters(subspace.parameters, {}, { dimension: 1 });
    expect(planEach(subspace, given, { ...facts, keys }))
      .toMatchObject({ reason: expect.stringContaining('groups') as string });
  });
});

describe('keyed events', () => {
  const events = [1, 2].map((rho, choice) => ({
    ...gaussianEvent({
      name: `each@${choice}/sum`, cohort: 'all', dimension: 1, sensitivity: 1, rho, grid: 2 ** -10,
    }),
    keyed: { keys: 5, groupsMax: 2 },
  }));
  const [small, large] = events.map((event) =>
    costOfEvents([{ ...event, keyed: { keys: 1, groupsMax: 1 } }], { disjoint: [] }).rho);

  it('cost what the dearest neighbour costs, where presence costs less', () => {
    for (const [keys, groupsMax] of [[1, 1], [2, 1], [3, 2], [4, 3], [5, 2], [3, 5]] as const) {
      for (const presence of [1, 0.8, 0.75, 0.5, 0.25]) {
        const keyed = events.map((event) => ({ ...event, presence, keyed: { keys, groupsMax } }));
        let dearest = 0;
        for (const left of subsets(keys, groupsMax)) {
          for (const right of subsets(keys, groupsMax)) {
            const both = bitsOf(left & right);
            dearest = Math.max(dearest, both + presence ** 2 * bitsOf(left ^ right));
          }
        }
        const { rho } = costOfEvents(keyed, { disjoint: [] });
        expect(Number(rho) / Number(large)).toBeCloseTo(dearest, 12);
      }
    }
    const [wrong] = events.map((event) => ({ ...event, presence: 1.1 }));
    expect(() => costOfEvents([wrong!], { disjoint: [] })).toThrow(/presence must be in \(0, 1\]/);
  });

  it('cost their dearest choice, for each key that a contributor can be in', () => {
    expect(small! < large!).toBe(true);
    const { rho } = costOfEvents(events, { disjoint: [] });
    expect(Number(rho) / Number(large)).toBeCloseTo(4, 12);
    const few = events.map((event) => ({ ...event, keyed: { keys: 3, groupsMax: 2 } }));
    expect(Number(costOfEvents(few, { disjoint: [] }).rho) / Number(large)).toBeCloseTo(3, 12);
  });

  it('of two menus add up', () => {
    const other = events.map((event) => ({ ...event, name: `other/${event.name}` }));
    const { rho } = costOfEvents([...events, ...other], { disjoint: [] });
    expect(Number(rho) / Number(large)).toBeCloseTo(8, 12);
  });

  it('are drawn once for each key, from one choice of the menu', () => {
    const mechanisms = createMechanisms(events, seededNoise('menu'));
    const zero = Sensitive.of(new Float64Array(1));
    mechanisms.gaussian('each@0/sum#3', zero);
    mechanisms.gaussian('each@1/sum#4', zero);
    expect(() => mechanisms.gaussian('each@0/sum#3', zero)).toThrow(/as often/);
    expect(() => mechanisms.gaussian('each@1/sum#3', zero)).toThrow(/drew from choice 0/);
    for (const name of ['each@0/sum', 'each@0/sum#5', 'each@0/sum#03', 'each@2/sum#1']) {
      expect(() => mechanisms.gaussian(name, zero)).toThrow(/no event/);
    }
  });

  it('have a name with a menu and a choice, and are no masks', () => {
    const [event] = events;
    for (const name of ['sum', 'each@x/sum', 'each@1/a#1', 'each@1/a@b']) {
      expect(() => costOfEvents([{ ...event!, name }], { disjoint: [] })).toThrow(/menu@choice/);
    }
    const keyed = { keys: 0, groupsMax: 2 };
    expect(() => costOfEvents([{ ...event!, keyed }], { disjoint: [] })).toThrow(/keyed is/);
  });
});

describe('neighbours of an answer for each key', () => {
  const cohort = 3_000;

  /** The last person is in key 0 on one side, and in key 1, or nowhere, on the other. */
  function pairOf(other: readonly number[] | null) {
    const common = [...rowsOf([1_500, 1_499], 'pair')];
    const side = (last: readonly number[] | null) => {
      const rows = last === null ? common : [...common, Float64Array.from(last)];
      const assignmentHashes = new Uint8Array(32 * rows.length);
      seededNoise('hashes').fill(assignmentHashes);
      return {
        count: rows.length, assignmentHashes,
        rows: Float64Array.from(rows.flatMap((row) => [...row])),
      };
    };
    return { name: 'moved', left: side([0, 1e9]), right: side(other) };
  }

  it.each([[[1, -1e9]], [[0, -1e9]], [null]])(
    'ask for the same draws, with values as near as was charged: %j', async (other) => {
      const plan = planned('mean', { spread: '1' }, factsOf(2, cohort, 8), 2);
      for (const seed of ['1', '2', '3']) {
        expect(await sensitivityFaults({ plan, dimension: 2 }, pairOf(other), seed)).toEqual([]);
      }
    });
});

/** Sets of at most so many of the keys, as bits. */
function subsets(keys: number, groupsMax: number): number[] {
  return Array.from({ length: 2 ** keys },
    (_, set) => set).filter((set) => bitsOf(set) <= groupsMax);
}

function bitsOf(set: number): number {
  return set === 0 ? 0 : (set & 1) + bitsOf(set >> 1);
}
