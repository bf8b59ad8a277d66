import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvariantError } from '../../src/base/errors.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import {
  gaussianEvent, groupHistogramEvent, groupSumsEvent,
} from '../../src/privacy/accounting/calibration.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { deltaOfZcdp } from '../../src/privacy/accounting/conversion.js';
import type { GroupSumsEvent } from '../../src/privacy/accounting/events.js';
import { pieceOf } from '../../src/privacy/accounting/loss-distribution/pieces.js';
import { keyKeepingCount } from '../../src/privacy/mechanisms/bounds.js';
import type { FoundKeys, KeptSums, PlaceTable } from '../../src/privacy/mechanisms/contract.js';
import { shownOf } from '../../src/privacy/mechanisms/group-histogram.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { foundKeys } from '../support/found-keys.js';
import { massOf, type Mass } from '../support/goodness.js';
import { groupSumsDistance } from '../support/sensitivity-check.js';

const place = { name: 'keys', cohort: 'all' } as const;
/** Epsilon 1 and delta 1e-6, half of delta for events. */
const worked = { rho: 0.02294, delta: 5e-7 } as const;
const sumsGrid = 2 ** -20;
const eventOf = (groupsMax: number, values: number, prefilter = 1): GroupSumsEvent =>
  groupSumsEvent({ ...place, ...worked, groupsMax, prefilter, values, sumsGrid });

const rhoOf = (event: GroupSumsEvent): number =>
  amountToNumber(costOfEvents([event], { disjoint: [] }).rho);

const tableOf = (people: readonly number[], sums: readonly (readonly number[])[]): PlaceTable => ({
  counts: people, sumsOf: (at) => Float64Array.from(sums[at]!),
});

const drawn = (
  event: GroupSumsEvent, table: PlaceTable, keys: FoundKeys, seed: string,
): readonly KeptSums[] => createMechanisms([event], seededNoise(seed))
  .groupSums('keys', Sensitive.of(table), Sensitive.of(keys)).value;

describe('the noise of sums of discovered keys', () => {
  it.each([[1, 46.7], [4, 97.3], [16, 203]])(
    'has the threshold of the design with %d keys each', (groupsMax, threshold) => {
      const event = eventOf(groupsMax, 1);
      expect(Math.abs(keyKeepingCount(event) - threshold)).toBeLessThan(0.1 + 0.001 * threshold);
      expect(event.sigma).toBeCloseTo(Math.sqrt(2 * groupsMax / worked.rho), 3);
      expect(event.sumsSigma).toBeCloseTo(event.sigma, 3);
    },
  );

  it.each([[1, 1], [1, 3], [4, 1], [3, 7]])(
    'costs what was asked for: %d keys each, %d sums', (groupsMax, values) => {
      const event = eventOf(groupsMax, values);
      expect(event.sumsSigma / event.sigma).toBeCloseTo(Math.sqrt(values), 5);
      expect(rhoOf(event)).toBeLessThanOrEqual(worked.rho);
      expect(rhoOf(event)).toBeGreaterThan(0.99999 * worked.rho);
      const { delta } = costOfEvents([event], { disjoint: [] });
      expect(amountToNumber(delta)).toBeLessThanOrEqual(worked.delta * (1 + 1e-12));
      const piece = pieceOf(event)!.piece;
      if (piece.kind !== 'gaussian') throw new Error('its noise is Gaussian');
      expect(piece.square / 2).toBeCloseTo(worked.rho, 5);
      expect(piece.square / 2).toBeGreaterThanOrEqual(rhoOf(event));
      expect(piece.delta).toBe(worked.delta);
    },
  );

  it('is smaller than that of keys found first and sums drawn after them, at equal cost', () => {
    const [groupsMax, values] = [3, 2];
    const { sigma, sumsSigma, grid } = eventOf(groupsMax, values);
    // The same noise in two steps: 3 / 2 of the cost.
    const first = groupHistogramEvent({ ...place, ...worked, groupsMax, prefilter: 1 });
    const moved = Math.sqrt(4 * values * groupsMax);
    const second = gaussianEvent({
      name: 'sums', cohort: 'all', dimension: 100, sensitivity: moved, rho: worked.rho,
      grid: sumsGrid,
    });
    const inTwo = costOfEvents(
      [{ ...first, sigma, grid }, { ...second, sigma: sumsSigma }], { disjoint: [] },
    );
    expect(amountToNumber(inTwo.rho) / rhoOf(eventOf(groupsMax, values))).toBeCloseTo(1.5, 4);
  });
});

/** All lists of at most `most` of the places 0 to size - 1. */
function lists(size: number, most: number): number[][] {
  return Array.from({ length: 2 ** size }, (_, bits) =>
    Array.from({ length: size }, (_, i) => i).filter((i) => (bits >> i) & 1))
    .filter((list) => list.length <= most);
}

/** What one contributor may add under its keys: all signs of every value. */
function* contributions(size: number, groupsMax: number, values: number):
Generator<ReadonlyMap<number, readonly number[]>> {
  for (const keys of lists(size, groupsMax)) {
    const signs = keys.length * values;
    for (let bits = 0; bits < 2 ** signs; bits++) {
      yield new Map(keys.map((key, i) => [key, Array.from({ length: values }, (_, j) =>
        ((bits >> (i * values + j)) & 1 ? 1 : -1))]));
    }
  }
}

describe('the sensitivity of counts and sums, over all neighbours', () => {
  it.each([[1, 1], [1, 2], [2, 1], [2, 2], [3, 1]])(
    'is what is charged, and some neighbours reach it: %d keys each, %d sums', { tags: ['long'] },
    (groupsMax, values) => {
      const size = Math.min(2 * groupsMax, 5);
      const sides = [...contributions(size, groupsMax, values)].map((own): PlaceTable => ({
        counts: Array.from({ length: size }, (_, key) => 5 + Number(own.has(key))),
        sumsOf: (key) => Float64Array.from(own.get(key) ?? new Array<number>(values).fill(0)),
      }));
      // Counts that cost less than the sums, as much, and more.
      for (const sigma of [4, 2, 1]) {
        const event: GroupSumsEvent = {
          ...place, kind: 'group-sums', groupsMax, values, prefilter: 1, delta: 1e-6, grid: 1,
          sumsGrid, sigma, sumsSigma: 2 * Math.sqrt(values),
        };
        let most = 0;
        for (const left of sides) {
          for (const right of sides) most = Math.max(most, groupSumsDistance(event, left, right));
        }
        const rho = rhoOf(event);
        expect(most ** 2 / 2).toBeLessThanOrEqual(rho * (1 + 1e-12));
        // With 3 keys each there are too few keys for two lists without a common one.
        if (size === 2 * groupsMax || sigma >= 2) expect(most ** 2 / 2).toBeCloseTo(rho, 9);
      }
    },
  );
});

/** The exact distribution of discrete Gaussian noise, in steps. */
function noiseOf(deviation: number): Mass {
  const reach = Math.ceil(9 * deviation);
  return massOf(-reach, reach, (k) => Math.exp(-(k * k) / (2 * deviation * deviation)));
}

/** What one key shows: its noisy count and sum, or null; with exact probabilities. */
function shownBy(
  event: GroupSumsEvent, count: number, sum: number,
): ReadonlyMap<string | null, number> {
  const shown = new Map<string | null, number>();
  if (count < event.prefilter) return shown.set(null, 1);
  const [counts, sums] = [noiseOf(event.sigma), noiseOf(event.sumsSigma)];
  const threshold = Math.round(keyKeepingCount(event));
  let hidden = 0;
  counts.probabilities.forEach((chance, i) => {
    const noisy = count + counts.low + i;
    if (noisy <= threshold) hidden += chance;
    else {
      sums.probabilities.forEach((other, k) =>
        shown.set(`${noisy} ${sum + sums.low + k}`, chance * other));
    }
  });
  return shown.set(null, hidden);
}

/** The most by which an event is likelier on the left than e^epsilon times that on the right. */
function excess(
  sides: readonly (readonly ReadonlyMap<string | null, number>[])[], epsilon: number,
): number {
  const [[a, b], [c, d]] = sides as [Maps, Maps];
  let sum = 0;
  for (const [one, p] of a) {
    const r = c.get(one) ?? 0;
    for (const [two, q] of b) sum += Math.max(0, p * q - Math.exp(epsilon) * r * (d.get(two) ?? 0));
  }
  return sum;
}

type Maps = readonly [ReadonlyMap<string | null, number>, ReadonlyMap<string | null, number>];

describe('the exact delta of counts and sums', () => {
  const event = (prefilter: number): GroupSumsEvent => ({
    ...place, kind: 'group-sums', groupsMax: 1, values: 1, prefilter, sigma: 1.5, sumsSigma: 1.5,
    delta: 1e-3, grid: 1, sumsGrid: 1,
  });

  // One contributor moves from the first key to the second, or turns its value under the first.
  it.each([[1, 1], [1, 6], [2, 2], [2, 7]])(
    'is at most what is claimed: prefilter %d, %d contributors', { tags: ['long'] },
    (prefilter, count) => {
      const own = event(prefilter);
      const other = Math.max(0, prefilter - 1);
      const before = [shownBy(own, count, 1), shownBy(own, other, 0)];
      const moved = [shownBy(own, count - 1, 0), shownBy(own, other + 1, -1)];
      const turned = [shownBy(own, count, -1), shownBy(own, other, 0)];
      for (const epsilon of [0.5, 1, 3]) {
        const claimed = own.delta + (1 - own.delta) * deltaOfZcdp(rhoOf(own), epsilon);
        for (const after of [moved, turned]) {
          expect(excess([before, after], epsilon)).toBeLessThanOrEqual(claimed);
          expect(excess([after, before], epsilon)).toBeLessThanOrEqual(claimed);
        }
      }
      // At a large epsilon only the lone key is left, and it does show at times.
      expect(excess([moved, before], 12)).toBeGreaterThan(0);
      expect(excess([moved, before], 12)).toBeLessThanOrEqual(own.delta);
    },
  );
});

describe('the draw of counts and sums', () => {
  const event = eventOf(2, 2, 2);
  const names = ['pear', 'apple', 'fig', 'plum', 'quince'];
  const people = [900, 600, 1, 0, 1_500];
  const sums = [[-300, 20], [600, 0], [1, 1], [0, 0], [0.5, -1_500]];

  it('shows the keys with many contributors, with the sums of each', () => {
    const kept = drawn(event, tableOf(people, sums), foundKeys(names), 'order');
    expect(kept.map(({ key }) => key)).toEqual([['quince'], ['pear'], ['apple']]);
    for (const { key, noisyCount, noisySums } of kept) {
      const at = names.indexOf(key[0]!);
      expect(Math.abs(noisyCount - people[at]!)).toBeLessThan(6 * event.sigma);
      sums[at]!.forEach((sum, j) =>
        expect(Math.abs(noisySums[j]! - sum)).toBeLessThan(6 * event.sumsSigma));
    }
  });

  it('does not depend on the places of keys', () => {
    const kept = drawn(event, tableOf(people, sums), foundKeys(names), 'places');
    const order = [3, 1, 4, 0, 2];
    const moved = tableOf(order.map((at) => people[at]!), order.map((at) => sums[at]!));
    expect(drawn(event, moved, foundKeys(order.map((at) => names[at]!)), 'places')).toEqual(kept);
  });

  it('keeps the keys that the histogram would keep, whatever their sums are', () => {
    const kept = (factor: number): readonly unknown[] => drawn(
      event, tableOf(people, sums.map((own) => own.map((sum) => sum * factor))), foundKeys(names),
      'same',
    ).map(({ key, noisyCount }) => [key, noisyCount]);
    expect(kept(-1)).toEqual(kept(1));
  });

  it('refuses sums that are not on the grid or not as many as was charged', () => {
    for (const bad of [[[0.3, 0]], [[NaN, 0]], [[1]], [[1, 2, 3]]]) {
      expect(() => drawn(event, tableOf([5_000], bad), foundKeys(['a']), 'bad'))
        .toThrow(InvariantError);
    }
  });

  it('keeps known keys whatever their counts are, and the others above the threshold', () => {
    const known = [['none'], ['plum'], ['fig'], ['apple']];
    const kept = createMechanisms([event], seededNoise('known')).groupSums(
      'keys', Sensitive.of(tableOf([900, 600, 1, 0, 5], sums)), Sensitive.of(foundKeys(names)),
      known,
    ).value;
    expect(kept.map(({ key }) => key[0]).sort()).toEqual(['apple', 'fig', 'none', 'pear', 'plum']);
    expect(kept.filter(({ isKnown }) => !isKnown).map(({ key }) => key)).toEqual([['pear']]);
    const counts = kept.map(({ noisyCount }) => noisyCount);
    expect(counts).toEqual([...counts].sort((one, other) => other - one));
    for (const { key, noisyCount, noisySums } of kept) {
      const at = names.indexOf(key[0]!);
      const truth = [900, 600, 1, 0, 5][at] ?? 0;
      expect(Math.abs(noisyCount - truth)).toBeLessThan(6 * event.sigma);
      expect(Math.abs(noisySums[0]! - (truth === 0 ? 0 : sums[at]![0]!)))
        .toBeLessThan(6 * event.sumsSigma);
    }
  });

  it('draws noise for known keys in their order, wherever they are in memory', () => {
    const known = [['plum'], ['quince'], ['none']];
    const of = (order: readonly number[]) => createMechanisms([event], seededNoise('order'))
      .groupSums(
        'keys', Sensitive.of(tableOf(
          order.map((at) => people[at]!), order.map((at) => sums[at]!),
        )),
        Sensitive.of(foundKeys(order.map((at) => names[at]!))), known,
      ).value;
    expect(of([3, 1, 4, 0, 2])).toEqual(of([0, 1, 2, 3, 4]));
    // That nobody sent it makes no difference but for the count.
    expect(of([0, 1, 2, 4])).toEqual(of([0, 1, 2, 3, 4]));
  });
});

describe('the keys that are shown', () => {
  const kept = [[9, false], [8, true], [7, false], [1, true], [0.5, false]].map(
    ([noisyCount, isKnown]) => ({
      key: [String(noisyCount)], noisyCount: noisyCount as number, isKnown: isKnown as boolean,
    }),
  );

  it.each([[2, [8, 1]], [3, [9, 8, 1]], [4, [9, 8, 7, 1]], [9, [9, 8, 7, 1, 0.5]]] as const)(
    'are the known ones, and others while there is room for %d', (top, shown) => {
      expect(shownOf(kept, top).map(({ noisyCount }) => noisyCount)).toEqual(shown);
    },
  );
});
