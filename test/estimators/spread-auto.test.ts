import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { countPairBins, zeroBin } from '../../src/numerics/kernels/column-counts.js';
import { pairsOf, slotOf } from '../../src/privacy/stages/spread-pairs.js';
import {
  pairingFor, privateSpreadOn, spreadEvent, slotsFor, slotsForSpread, type RowsToPair,
} from '../../src/privacy/stages/spread.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { keepingCount } from '../../src/privacy/mechanisms/bounds.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { costOfEvents, chargeFits } from '../../src/privacy/accounting/composition.js';
import { seededNoise } from '../../src/random/insecure.js';
import { dataSource, type DataSource } from '../support/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

interface Member {
  readonly tag: bigint;
  readonly row: Float64Array;
}

const dimension = 2;
const event = spreadEvent({ cohort: 'rows', dimension, rho: 0.01, delta: 1e-7 });
const pairing = pairingFor(200, event, 0.05);

function members(data: DataSource, count: number, deviation = 1): Member[] {
  return Array.from({ length: count }, () => ({
    tag: new DataView(data.assignmentHash().buffer).getBigUint64(0),
    row: data.normals(dimension).map((entry) => deviation * entry),
  }));
}

/** As `members`, on whole numbers: about a quarter of the pairs have a difference of 0. */
function discreteMembers(data: DataSource, count: number): Member[] {
  return members(data, count).map(({ tag, row }) => ({ tag, row: row.map(Math.round) }));
}

function rowsOf(list: readonly Member[]): Sensitive<RowsToPair> {
  const sorted = [...list].sort((left, right) => (left.tag < right.tag ? -1 : 1));
  return Sensitive.of({
    count: sorted.length,
    dimension,
    values: Float64Array.from(sorted.flatMap(({ row }) => [...row])),
    tags: BigUint64Array.from(sorted.map(({ tag }) => tag)),
  });
}

async function countsOf(
  list: readonly Member[],
): Promise<readonly ReadonlyMap<number, number>[]> {
  const { mechanisms, recorded } = recordingMechanisms([event]);
  await privateSpreadOn(inlineCompute(), mechanisms, rowsOf(list), pairing);
  return recorded[0]!.content as readonly ReadonlyMap<number, number>[];
}

/** Changes of counts between neighbours, per coordinate. */
function changes(
  left: readonly ReadonlyMap<number, number>[], right: readonly ReadonlyMap<number, number>[],
): number[][] {
  return left.map((bins, j) => [...new Set([...bins.keys(), ...right[j]!.keys()])]
    .map((bin) => Math.abs((bins.get(bin) ?? 0) - (right[j]!.get(bin) ?? 0)))
    .filter((change) => change !== 0));
}

describe('private spread', () => {
  it.each([
    ['any rows', members], ['rows of which many are equal', discreteMembers],
  ])('moves one pair when one contributor comes, goes or changes: %s', async (name, make) => {
    const data = dataSource(`spread neighbours ${name}`);
    const list = make(data, 200);
    const before = await countsOf(list);
    let moved = 0;
    for (let round = 0; round < 60; round++) {
      const index = data.below(list.length);
      const [newcomer] = round % 2 === 0 ? make(data, 1) : members(data, 1, 1e6);
      const replaced =
        list.map((member, i) => (i === index ? { ...member, row: newcomer!.row } : member));
      for (const neighbour of [
        list.filter((_, i) => i !== index), [...list, newcomer!], replaced,
      ]) {
        for (const changed of changes(before, await countsOf(neighbour))) {
          expect(changed.length).toBeLessThanOrEqual(2);
          expect(Math.max(0, ...changed)).toBeLessThanOrEqual(1);
          moved += changed.length;
        }
      }
    }
    expect(moved).toBeGreaterThan(50);
  });

  it('pairs the rows of a slot with the smallest tags, in whatever order rows come and with any '
    + 'number of threads', async () => {
    const data = dataSource('spread order');
    // Also tags of which two or three are equal: values decide then.
    const list = members(data, 300)
      .map(({ tag, row }, i) => ({ tag: i % 10 < 2 ? (BigInt(i % 3) << 60n) : tag, row }));
    const few = 20;
    const named = (member: Member): number =>
      Math.floor((Number(member.tag >> 11n) / 2 ** 53) * few);
    const before = (left: Member, right: Member): number =>
      Number(left.tag - right.tag) || left.row[0]! - right.row[0]!;
    const wanted = Array.from({ length: dimension }, () => new Map<number, number>());
    for (let slot = 0; slot < few; slot++) {
      const [left, right] = list.filter((member) => named(member) === slot).sort(before);
      left!.row.forEach((entry, j) => {
        const bin = Math.floor(Math.log2(Math.abs(entry - right!.row[j]!)));
        wanted[j]!.set(bin, (wanted[j]!.get(bin) ?? 0) + 1);
      });
    }
    const sorted = (bins: unknown): unknown =>
      (bins as ReadonlyMap<number, number>[]).map((one) =>
        [...one].sort(([left], [right]) => left - right));
    for (const order of [
      list, [...list].reverse(), [...list].sort((left, right) => left.row[0]! - right.row[0]!),
    ]) {
      const rows = Sensitive.of({
        count: order.length, dimension,
        values: Float64Array.from(order.flatMap(({ row }) => [...row])),
        tags: BigUint64Array.from(order.map(({ tag }) => tag)),
      });
      const { mechanisms, recorded } = recordingMechanisms([event]);
      await privateSpreadOn(inlineCompute(), mechanisms, rows, { ...pairing, slots: few });
      expect(sorted(recorded[0]!.content)).toEqual(sorted(wanted));
    }
  });

  it('pairs rows alike whether their tags are at hand or drawn piece by piece', () => {
    const data = dataSource('drawn tags');
    const count = 40_000;
    const tags = BigUint64Array.from({ length: count }, () =>
      new DataView(data.assignmentHash().buffer).getBigUint64(0));
    const block = { count, dimension: 1, values: data.normals(count) };
    let drawn = 0;
    const drawTags = (into: BigUint64Array): void => {
      into.set(tags.subarray(drawn, drawn + into.length));
      drawn += into.length;
    };
    for (const slots of [7, 9_000, 20_000]) {
      drawn = 0;
      const pairs = pairsOf({ ...block, tags }, slots);
      expect(pairsOf({ ...block, tags: new BigUint64Array(0), drawTags }, slots)).toEqual(pairs);
      expect(drawn).toBe(count);
      expect(pairs.length).toBeGreaterThan(slots === 7 ? 13 : slots);
    }
  });

  it('pairs the two smallest tags of each slot, also among equal and the largest words', () => {
    const data = dataSource('words');
    const words = [0n, 1n, 0x7fff_ffffn, 0x8000_0000n, 0xffff_fffen, 0xffff_ffffn];
    const any = (): bigint => words[Math.floor(data.uniform() * words.length)]!;
    for (let trial = 0; trial < 200; trial++) {
      const count = trial % 12;
      const tags = BigUint64Array.from({ length: count }, () => (any() << 32n) | any());
      const values = Float64Array.from({ length: count }, () => Math.floor(3 * data.uniform()));
      for (const slots of [1, 3]) {
        const inOrder = Array.from(tags.keys()).sort((a, b) =>
          Number(tags[a]! - tags[b]!) || values[a]! - values[b]! || a - b);
        const expected = Array.from({ length: slots }, (_, slot) =>
          inOrder.filter((row) => slotOf(tags[row]!, slots) === slot).slice(0, 2))
          .flatMap((pair) => (pair.length === 2 ? pair : []));
        expect([...pairsOf({ count, dimension: 1, values, tags }, slots)]).toEqual(expected);
      }
    }
  });

  it('bins a difference by its exponent, exactly', () => {
    const differences = [
      1, 2 - 2 ** -52, 2, -0.75, 2 ** -300, 5e-324, 2 ** 300, Infinity, 0, Number.NaN,
    ];
    const values = Float64Array.from(differences.flatMap((entry) => [entry, 0]));
    const pairs = Uint32Array.from(values, (_, i) => i);
    const [bins] = countPairBins(values, 1, pairs);
    expect([...bins!].sort(([left], [right]) => left - right))
      .toEqual([[zeroBin, 1], [-200, 2], [-1, 1], [0, 2], [1, 1], [200, 2]]);
  });

  it('takes no more slots than tell the spread, and always enough to keep the fullest bin', () => {
    expect(slotsForSpread(60_000, event)).toBe(slotsFor(60_000));
    const wide = spreadEvent({ cohort: 'rows', dimension: 200, rho: 1e-4, delta: 1e-9 });
    for (const one of [event, wide]) {
      const slots = slotsForSpread(10_000_000, one);
      expect(slots).toBeLessThan(slotsFor(10_000_000));
      // 0.59 of the slots with a pair, 0.3 of these in one bin; twice what keeps a bin outweighs
      // the noise as well.
      expect(0.59 * 0.3 * slots).toBeGreaterThan(2 * keepingCount(one));
    }
    expect(slotsForSpread(10_000_000, wide)).toBeGreaterThan(slotsForSpread(10_000_000, event));
  });

  it('costs what its event says', () => {
    const { rho, delta } = costOfEvents([event], { disjoint: [] });
    expect(amountToNumber(rho)).toBeLessThanOrEqual(0.01);
    expect(amountToNumber(rho)).toBeGreaterThan(0.0099);
    expect(amountToNumber(delta)).toBeCloseTo(1e-7, 20);
  });

  /** Spreads over the deviation, of rows that a share of hostile ones stand among. */
  async function found(
    label: string, deviation: number, count: number, hostile: { share: number; moved: number },
  ): Promise<number[]> {
    const rounds = await Promise.all(Array.from({ length: 4 }, async (_, round) => {
      const data = dataSource(`${label} ${round}`);
      const list = members(data, count, deviation).map(({ tag, row }, i) =>
        ({ tag, row: i < hostile.share * count
          ? row.map((entry) => entry + hostile.moved * deviation) : row }));
      const fine = spreadEvent({ cohort: 'rows', dimension, rho: 0.05, delta: 1e-7 });
      const mechanisms = createMechanisms([fine], seededNoise(`${label} ${round}`));
      const spread = await privateSpreadOn(
        inlineCompute(), mechanisms, rowsOf(list), pairingFor(count, fine, hostile.share),
      );
      return spread.value.columns.map((column) => column!.medianSpread / deviation);
    }));
    return rounds.flat();
  }

  // Half a doubling in four steps: wherever the deviation is between two powers of two.
  it.each([1e-30, 0.02, 1, 2 ** 0.25, 2 ** 0.5, 2 ** 0.75, 777, 1e40])(
    'is the deviation itself, %d, to an eighth with 6,000 rows', async (deviation) => {
      const spreads = await found(`spread ${deviation}`, deviation, 6_000, { share: 0, moved: 0 });
      for (const spread of spreads) expect(Math.abs(spread - 1)).toBeLessThan(0.125);
      // Of 8, so the mean's own deviation is a third of one's, about .012.
      expect(Math.abs(spreads.reduce((sum, spread) => sum + spread, 0) / spreads.length - 1))
        .toBeLessThan(0.06);
    });

  it.each([0.1, 0.2])('is moved by nothing when a share of %d stands far off '
    + 'together', { tags: ['long'] }, async (share) => {
    for (const deviation of [1, 1.2, 1.4, 1.7]) {
      for (const spread of await found(
        `far ${share} ${deviation}`, deviation, 6_000, { share, moved: 1e5 },
      )) {
        expect(Math.abs(spread - 1)).toBeLessThan(0.15);
      }
    }
  });

  it('is moved by at most what the honest quantile says when a tenth stands near', async () => {
    for (const moved of [1.5, 3, 4]) {
      for (const spread of await found(`near ${moved}`, 1, 6_000, { share: 0.1, moved })) {
        expect(spread).toBeGreaterThan(0.9);
        expect(spread).toBeLessThan(1.29 + 0.1);
      }
    }
  });

  it('reports columns whose values coincide, and everything when nobody came', async () => {
    const data = dataSource('spread constant');
    const list = members(data, 4_000)
      .map(({ tag, row }) => ({ tag, row: row.map((entry, j) => (j === 0 ? 5 : entry)) }));
    const unknown = async (rows: readonly Member[]): Promise<boolean[]> => {
      const found = await privateSpreadOn(
        inlineCompute(), createMechanisms([event], seededNoise('constant')), rowsOf(rows),
        pairingFor(4_000, event, 0.05),
      );
      return found.value.columns.map((column) => column === null);
    };
    expect(await unknown(list)).toEqual([true, false]);
    expect(await unknown([])).toEqual([true, true]);
  });
});

describe.each(['mean', 'populous-mean'])('%s with spread: auto', (name) => {
  const facts = factsOf(2, 6_000);
  const plan = planOf(name, {}, facts);
  const rows = (seed: string, shift = 0, hostile = 0): Float64Array[] => {
    const data = dataSource(seed);
    return Array.from({ length: facts.cohort }, (_, i) => data.normals(2)
      .map((entry, j) =>
        shift + (j === 0 ? 0.01 : 300) * (entry + (i < hostile * facts.cohort ? 8 : 0))));
  };

  it('needs no number from anybody, and says that its units are found', () => {
    expect(plan.facts['spread']).toBe('found privately');
    expect(plan.noise).toEqual([]);
    expect(chargeFits(plan.cost, facts.target)).toBe(true);
    expect(amountToNumber(plan.cost.rho)).toBeGreaterThan(0.99 * facts.target.rho);
  });

  it.each([0, 1e7])('finds columns of very different spread, %d from the origin', async (shift) => {
    for (let round = 0; round < 3; round++) {
      const outcome =
        await releaseOf(plan, 2, rows(`auto ${round}`, shift), `auto ${name} ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      // The found spread is at most eight deviations, and expectedError counts in it.
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

  it('refuses a cohort that is too small before anything is charged', () => {
    expect(() => planOf(name, {}, factsOf(2, 300))).toThrow(/cohort|hides/);
  });
});
