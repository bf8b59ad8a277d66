import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/base/bytes.js';
import { Sensitive } from '../../../src/base/brands.js';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import type { Infeasible, Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { planEach } from '../../../src/estimators/keyed/each.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { clippedMeanEvents } from '../../../src/privacy/stages/clipped-mean.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource } from '../../support/data.js';
import { foundKeys } from '../../support/found-keys.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const people = 1_500;
const facts = factsOf(1, people, 1);

function valueOf(outcome: Outcome): ValueOutcome {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** A hundredth to .99, with every tenth person at `far`. */
const rowsWith = (far: number): Float64Array[] => Array.from({ length: people }, (_, i) =>
  Float64Array.of(i % 10 === 0 ? far : (1 + (i % 99)) / 100));
const outsideAbove = [{ reason: 'values-clipped', columns: [0], amounts: [expect.any(Number)] }];

const ranges = [
  ['mean', { range: '0..1' }], ['robust-mean', { range: '0..1' }],
  ['mean', { range: '0..1', spread: 0.3 }], ['robust-mean', { range: '0..1', spread: 0.3 }],
] as const;

describe.each(ranges)('%s with %j', (name, set) => {
  const plan = planOf(name, set, facts);
  const answer = async (rows: Iterable<ArrayLike<number>>, seed: string): Promise<ValueOutcome> =>
    valueOf(await releaseOf(plan, plan.outputShape[0]!, rows, seed));

  it('says how many people are above the range, and knows no upper end', async () => {
    const above = await answer(rowsWith(50), 'above');
    expect(above.findings).toMatchObject(outsideAbove);
    expect(Math.abs(above.findings![0]!.amounts[0]! - 150)).toBeLessThan(120);
    expect(above.interval95!.high).toEqual([Infinity]);
    expect(above.interval95!.low[0]).toBeGreaterThan(0);
    expect(above.intervalIfFalse95?.high ?? [Infinity]).toEqual([Infinity]);
    expect(above.radiusIfFalse95).toBeUndefined();
    const below = await answer(rowsWith(-50), 'below');
    expect(below.findings).toMatchObject(outsideAbove);
    expect(below.interval95!.low).toEqual([-Infinity]);
    expect(below.interval95!.high[0]).toBeLessThan(1);
  });

  it('says nothing where nobody is outside, and has both ends', async () => {
    const value = await answer(rowsWith(1), 'inside');
    expect(value.findings ?? []).not.toMatchObject(outsideAbove);
    expect(Number.isFinite(value.interval95!.low[0]! + value.interval95!.high[0]!)).toBe(true);
  });

  it('says in its plan what is counted, and from which number on it is reported', () => {
    expect(plan.guarantee.assumptions.join())
      .toContain('everybody outside the range counted at its bound');
    expect(plan.facts['clippedReportedFrom']).toBeGreaterThan(50);
    expect(plan.facts['clippedReportedFrom']).toBeLessThan(120);
  });
});

describe('the people outside a range', () => {
  it('are counted by column and side', async () => {
    const plan = planOf('mean', { range: ['0..1', '-4..4'] }, factsOf(2, people, 4));
    const rows = Array.from({ length: people }, (_, i) =>
      Float64Array.of(i % 3 === 0 ? 0.5 : 0, i % 3 === 1 ? 9 : i % 3 === 2 ? -1e9 : 0));
    const { findings, interval95 } = valueOf(await releaseOf(plan, 2, rows, 'two'));
    expect(findings).toMatchObject([{ reason: 'values-clipped', columns: [1] }]);
    expect(Math.abs(findings![0]!.amounts[0]! - 1_000)).toBeLessThan(100);
    expect(Number.isFinite(interval95!.low[0]! + interval95!.high[0]!)).toBe(true);
    expect([interval95!.low[1], interval95!.high[1]]).toEqual([-Infinity, Infinity]);
  });

  it('cost a twentieth, so the noise of a mean is at most 2.7 % larger', () => {
    for (const dimension of [1, 10]) {
      const own = factsOf(dimension, people, 1);
      const plan = planOf('mean', { range: '0..1' }, own);
      const alone = clippedMeanEvents({
        cohort: 'rows', dimension, radius: Math.sqrt(dimension), rho: own.target.rho,
        sumShare: 1 / (1 + 0.5 / Math.sqrt(dimension)),
      });
      expect(plan.noise[0]! / (alone.sum.sigma / 2 / people)).toBeLessThan(1.027);
    }
  });

  it('are moved by one contributor as far as is charged, and no farther', async () => {
    const plan = planOf('mean', { range: ['0..1', '-4..4'] }, factsOf(2, 100, 4));
    const given: number[][] = [];
    const ends = [-9, 0.5, 9];
    for (const row of [null, ...ends.flatMap((one) => ends.map((other) => [one, other]))]) {
      const { mechanisms, recorded } = recordingMechanisms(plan.events);
      const groups = createGroups(plan, 2);
      if (row !== null) groups.add(new Uint8Array(32), Float64Array.from(row));
      await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
      given.push(Array.from(
        recorded.find(({ event }) => event === 'outside')!.content as Float64Array,
      ));
    }
    const distances = given.flatMap((left) => given.map((right) =>
      Math.hypot(...left.map((value, i) => value - right[i]!))));
    const event = plan.events.find(({ name }) => name === 'outside')!;
    expect(Math.max(...distances)).toBe(2);
    expect('sensitivity' in event && event.sensitivity).toBeCloseTo(2, 12);
  });

  it('are reported by noise alone in about one release of a thousand', { tags: ['long'] },
    async () => {
      const plan = planOf('mean', { range: '0..1' }, factsOf(3, 300, 1));
      let reports = 0;
      for (let round = 0; round < 500; round++) {
        const data = dataSource(`honest ${round}`);
        const rows = Array.from({ length: 300 }, () =>
          Float64Array.of(data.below(2), data.below(101) / 100, 1));
        const { findings = [] } = valueOf(await releaseOf(plan, 3, rows, `honest ${round}`));
        reports += Number(findings.length > 0);
      }
      // With a mean of .5, more than 6 come by chance once in a million runs.
      expect(reports).toBeLessThanOrEqual(6);
    });
});

/** Two keys, each with every tenth value at `far`. */
function* keyedRows(far: number): Generator<Float64Array> {
  for (let i = 0; i < 4_000; i++) {
    yield Float64Array.of(i % 2, i % 10 < 2 ? far : 0.2 + 0.6 * ((i >> 1) % 2));
  }
}

const keyedFacts = (keys: StudyFacts['keys']): StudyFacts =>
  ({ ...factsOf(2, 4_000, 2), ...(keys !== undefined && { keys }) });

function planKeyed(name: string, keyed: StudyFacts): Plan {
  const estimator = findEstimator(name);
  const values = parseParameters(estimator.parameters, { range: '0..1' }, { dimension: 1 });
  const plan: Plan | Infeasible = estimator.keyed === undefined
    ? planEach(estimator, values, keyed) : estimator.plan(values, keyed);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

const listed = { list: 'public', count: 2, groupsMax: 1 } as const;
const discovered = { list: 'discovered', groupsMax: 1, prefilter: 1, top: 4 } as const;

describe.each([
  ['mean of listed keys', 'mean', listed],
  ['mean of keys that are found', 'mean', discovered],
  ['robust-mean of listed keys', 'robust-mean', listed],
])('%s', (_, name, keys) => {
  it('says how many people are above the range, and knows no upper end', async () => {
    const plan = planKeyed(name, keyedFacts(keys));
    const answer = async (far: number): Promise<ValueOutcome> => {
      const groups = createGroups(plan, 2);
      const data = dataSource('hashes');
      for (const row of keyedRows(far)) groups.add(data.assignmentHash(), row);
      return valueOf(await releaseGroups(plan, groups, {
        mechanisms: createMechanisms(plan.events, seededNoise(`${name} ${far}`)),
        work: seededRandom(utf8('work')), keys: Sensitive.of(foundKeys(['a', 'b'])),
      }));
    };
    const far = await answer(50);
    expect(far.findings![0]).toMatchObject({ reason: 'values-clipped', columns: [0] });
    expect(far.interval95!.high).toEqual([Infinity, Infinity]);
    for (const low of far.interval95!.low) expect(low).toBeGreaterThan(0.3);
    const honest = await answer(1);
    expect(honest.findings).toBeUndefined();
    expect(honest.interval95!.high.every(Number.isFinite)).toBe(true);
  });
});

describe('a quantile', () => {
  const plan =
    planOf('quantile', { range: '0..1', probabilities: [0.1, 0.5] }, factsOf(1, 4_000));
  const answer = async (valueAt: (i: number) => number): Promise<ValueOutcome> =>
    valueOf(await releaseOf(plan, 1, Array.from({ length: 4_000 }, (_, i) =>
      Float64Array.of(valueAt(i))), 'quantile'));

  it('says that it is at a bound, and costs nothing more', async () => {
    for (const far of [11, -11]) {
      const { findings, interval95 } = await answer(() => far);
      expect(findings![0]).toEqual({ reason: 'values-clipped', columns: [0], amounts: [] });
      expect(findings!.slice(1).map(({ reason }) => reason)).toEqual(['end-unseen', 'end-unseen']);
      expect(interval95![far > 0 ? 'high' : 'low']).toEqual([far, far].map((at) => at * Infinity));
    }
    expect((await answer((i) => (i % 4 === 0 ? -1 : 0.5))).findings).toBeDefined();
    expect((await answer((i) => (i % 100) / 100)).findings).toBeUndefined();
    expect(plan.events.map(({ name }) => name)).toEqual(['choice', 'cells']);
    expect(plan.guarantee.assumptions.join()).toContain('outside the range counts as at its bound');
  });
});
