import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { privateScale, scaleEvent, slotsFor, type TaggedRows } from '../../src/privacy/scale.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { amountToNumber } from '../../src/privacy/amount.js';
import { costOfEvents, costWithin } from '../../src/privacy/composition.js';
import { seededNoise } from '../../src/random/insecure.js';
import { dataSource, type DataSource } from '../support/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

interface Member {
  readonly tag: bigint;
  readonly row: Float64Array;
}

const dimension = 2;
const slots = slotsFor(200);
const event = scaleEvent({ cohort: 'rows', dimension, rho: 0.01, delta: 1e-7 });

function members(data: DataSource, count: number, deviation = 1): Member[] {
  return Array.from({ length: count }, () => ({
    tag: new DataView(data.ticket().buffer).getBigUint64(0),
    row: data.normals(dimension).map((entry) => deviation * entry),
  }));
}

function rowsOf(list: readonly Member[]): Sensitive<TaggedRows> {
  const sorted = [...list].sort((left, right) => (left.tag < right.tag ? -1 : 1));
  return Sensitive.of({
    count: sorted.length,
    dimension,
    values: Float64Array.from(sorted.flatMap(({ row }) => [...row])),
    tags: BigUint64Array.from(sorted.map(({ tag }) => tag)),
  });
}

function countsOf(list: readonly Member[]): readonly ReadonlyMap<number, number>[] {
  const { mechanisms, recorded } = recordingMechanisms([event]);
  privateScale(mechanisms, rowsOf(list), dimension, slots);
  return recorded[0]!.content as readonly ReadonlyMap<number, number>[];
}

/** Changes of counts between neighbours, per coordinate. */
function changes(left: readonly ReadonlyMap<number, number>[], right: readonly ReadonlyMap<number, number>[]): number[][] {
  return left.map((bins, j) => [...new Set([...bins.keys(), ...right[j]!.keys()])]
    .map((bin) => Math.abs((bins.get(bin) ?? 0) - (right[j]!.get(bin) ?? 0)))
    .filter((change) => change !== 0));
}

describe('private scale', () => {
  it('moves one pair when one contributor comes, goes or changes', () => {
    const data = dataSource('scale neighbours');
    const list = members(data, 200);
    const before = countsOf(list);
    let moved = 0;
    for (let round = 0; round < 60; round++) {
      const index = data.below(list.length);
      const [newcomer] = members(data, 1, 1e6);
      const replaced = list.map((member, i) => (i === index ? { ...member, row: newcomer!.row } : member));
      for (const neighbour of [list.filter((_, i) => i !== index), [...list, newcomer!], replaced]) {
        for (const changed of changes(before, countsOf(neighbour))) {
          expect(changed.length).toBeLessThanOrEqual(2);
          expect(Math.max(0, ...changed)).toBeLessThanOrEqual(1);
          moved += changed.length;
        }
      }
    }
    expect(moved).toBeGreaterThan(50);
  });

  it('costs what its event says', () => {
    const { rho, delta } = costOfEvents([event], { disjoint: [] });
    expect(amountToNumber(rho)).toBeLessThanOrEqual(0.01);
    expect(amountToNumber(rho)).toBeGreaterThan(0.0099);
    expect(amountToNumber(delta)).toBeCloseTo(1e-7, 20);
  });

  it.each([1e-30, 0.02, 1, 777, 1e40])('is a power of two between a quarter and eight deviations of %d', (deviation) => {
    for (let round = 0; round < 5; round++) {
      const data = dataSource(`scale ${deviation} ${round}`);
      const fine = scaleEvent({ cohort: 'rows', dimension, rho: 0.05, delta: 1e-7 });
      const found = privateScale(
        createMechanisms([fine], seededNoise(`${round}`)), rowsOf(members(data, 4_000, deviation)), dimension, slotsFor(4_000)).value;
      if (found.kind === 'failed') throw new Error('not found');
      for (const scale of found.scale) {
        expect(Number.isInteger(Math.log2(scale))).toBe(true);
        expect(scale / deviation).toBeGreaterThanOrEqual(0.25);
        expect(scale / deviation).toBeLessThanOrEqual(8);
      }
    }
  });

  it.each([0.1, 0.2])('stays within four deviations when a share of %d stands far off together', (share) => {
    for (let round = 0; round < 8; round++) {
      const data = dataSource(`scale hostile ${share} ${round}`);
      const deviation = 2 ** (round / 8);
      const list = members(data, 6_000, deviation)
        .map(({ tag, row }, i) => ({ tag, row: i < share * 6_000 ? row.map((entry) => entry + 1e5) : row }));
      const fine = scaleEvent({ cohort: 'rows', dimension, rho: 0.02, delta: 1e-7 });
      const found = privateScale(createMechanisms([fine], seededNoise(`${round}`)), rowsOf(list), dimension, slotsFor(6_000)).value;
      if (found.kind === 'failed') throw new Error('not found');
      for (const scale of found.scale) {
        expect(scale / deviation).toBeGreaterThan(0.9);
        expect(scale / deviation).toBeLessThan(4);
      }
    }
  });

  it('reports columns whose values coincide, and everything when nobody came', () => {
    const data = dataSource('scale constant');
    const list = members(data, 4_000).map(({ tag, row }) => ({ tag, row: row.map((entry, j) => (j === 0 ? 5 : entry)) }));
    const found = (rows: readonly Member[]): unknown =>
      privateScale(createMechanisms([event], seededNoise('constant')), rowsOf(rows), dimension, slotsFor(4_000)).value;
    expect(found(list)).toEqual({ kind: 'failed', coordinates: [0] });
    expect(found([])).toEqual({ kind: 'failed', coordinates: [0, 1] });
  });
});

describe.each(['mean', 'populous-mean'])('%s with scale: auto', (name) => {
  const facts = factsOf(2, 6_000);
  const plan = planOf(name, {}, facts);
  const rows = (seed: string, shift = 0, hostile = 0): Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: facts.cohort }, (_, i) => data.normals(2)
      .map((entry, j) => shift + (j === 0 ? 0.01 : 300) * (entry + (i < hostile * facts.cohort ? 8 : 0))));
  };

  it('needs no number from anybody, and says that its units are found', () => {
    expect(plan.facts['scale']).toBe('found privately');
    expect(plan.noise).toEqual([]);
    expect(costWithin(plan.cost, facts.target)).toBe(true);
    expect(amountToNumber(plan.cost.rho)).toBeGreaterThan(0.99 * facts.target.rho);
  });

  it.each([0, 1e7])('finds columns of very different spread, %d from the origin', async (shift) => {
    for (let round = 0; round < 3; round++) {
      const outcome = await releaseOf(plan, 2, rows(`auto ${round}`, shift), `auto ${name} ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      // The found scale is at most eight deviations, and expectedError counts in it.
      const said = 8 * plan.expectedError(0).total;
      expect(Math.abs(outcome.estimate[0]! - shift) / 0.01).toBeLessThan(said);
      expect(Math.abs(outcome.estimate[1]! - shift) / 300).toBeLessThan(said);
    }
  });

  it('answers also when a twentieth stands far off together', async () => {
    const outcome = await releaseOf(plan, 2, rows('auto hostile', 0, 0.05), `auto hostile ${name}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const bound = 8 * plan.expectedError(0.05).total;
    expect(Math.hypot(outcome.estimate[0]! / 0.01, outcome.estimate[1]! / 300)).toBeLessThan(bound);
  });

  it('refuses a constant column by name, and a cohort that is too small before anything is charged', async () => {
    const data = dataSource('auto constant');
    const constant = Array.from({ length: facts.cohort }, () => Float64Array.of(3, data.normals(1)[0]!));
    expect(await releaseOf(plan, 2, constant, 'auto constant')).toMatchObject({ kind: 'refused', reason: 'scale-not-found' });
    expect(() => planOf(name, {}, factsOf(2, 300))).toThrow(/cohort|hides/);
  });
});
