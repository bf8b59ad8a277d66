import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvariantError } from '../../src/base/errors.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import {
  gaussianHistogramEvent, groupHistogramEvent,
} from '../../src/privacy/accounting/calibration.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { deltaOfZcdp } from '../../src/privacy/accounting/conversion.js';
import type { GroupHistogramEvent } from '../../src/privacy/accounting/events.js';
import { pieceOf } from '../../src/privacy/accounting/loss-distribution/pieces.js';
import { keyKeepingCount } from '../../src/privacy/mechanisms/bounds.js';
import type { FoundKeys } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { foundKeys, numberedKeys } from '../support/found-keys.js';
import { massOf, type Mass } from '../support/goodness.js';

const place = { name: 'keys', cohort: 'all' } as const;
/** Epsilon 1 and delta 1e-6, half of delta for events. */
const worked = { rho: 0.02294, delta: 5e-7 } as const;
const eventOf = (groupsMax: number, prefilter: number): GroupHistogramEvent =>
  groupHistogramEvent({ ...place, ...worked, groupsMax, prefilter });

const drawn = (
  event: GroupHistogramEvent, counts: readonly number[], keys: FoundKeys, seed: string,
) => createMechanisms([event], seededNoise(seed))
  .groupHistogram('keys', Sensitive.of(counts), Sensitive.of(keys)).value;

describe('the threshold of discovered keys', () => {
  it.each([[1, 6.60, 33.3], [4, 13.21, 69.1], [16, 26.41, 143.9]])(
    'is that of the design with %d keys each', (groupsMax, sigma, threshold) => {
      const event = eventOf(groupsMax, 1);
      expect(Math.abs(event.sigma - sigma)).toBeLessThan(0.01);
      expect(Math.abs(keyKeepingCount(event) - threshold)).toBeLessThan(0.1);
      // A prefilter of t raises the threshold by t - 1: a lone key then has t contributors.
      expect(keyKeepingCount(eventOf(groupsMax, 3)) - keyKeepingCount(event)).toBeCloseTo(2, 9);
      const cost = costOfEvents([event], { disjoint: [] });
      expect(amountToNumber(cost.rho)).toBeLessThanOrEqual(worked.rho);
      expect(amountToNumber(cost.rho)).toBeGreaterThan(0.99999 * worked.rho);
      expect(amountToNumber(cost.delta)).toBeLessThanOrEqual(worked.delta * (1 + 1e-12));
    },
  );

  it('has the loss of a histogram with as many coordinates', () => {
    const event = eventOf(4, 2);
    const twin = { ...place, rho: worked.rho, delta: worked.delta, coordinates: 4 };
    expect(pieceOf(event)).toEqual(pieceOf(gaussianHistogramEvent(twin)));
  });

  it('shows a key at the threshold in half of all cases', () => {
    const event = eventOf(1, 2);
    const draws = 4_000;
    const shares = [-1, 0, 1].map((away) => {
      const count = Math.round(keyKeepingCount(event)) + away;
      const counts = new Array<number>(draws).fill(count);
      const kept = drawn(event, counts, numberedKeys(draws), `half ${away}`);
      const chance = normalCdf((count - keyKeepingCount(event)) / event.sigma);
      return { share: kept.length / draws, chance };
    });
    // Hoeffding: a false failure has probability 1e-6.
    const limit = Math.sqrt(Math.log(2e6) / (2 * draws));
    for (const { share, chance } of shares) expect(Math.abs(share - chance)).toBeLessThan(limit);
  });
});

/** P(noise = k steps), where k may be negative. */
const chanceAt = ({ low, probabilities }: Mass, step: number): number =>
  probabilities[step - low] ?? 0;

/** The exact distribution of discrete Gaussian noise of this event, in steps. */
function noiseOf({ sigma, grid }: GroupHistogramEvent): Mass {
  const deviation = sigma / grid;
  const reach = Math.ceil(12 * deviation);
  return massOf(-reach, reach, (k) => Math.exp(-(k * k) / (2 * deviation * deviation)));
}

/** What one key shows: its noisy count in steps, or null; with exact probabilities. */
function shownBy(event: GroupHistogramEvent, count: number): ReadonlyMap<number | null, number> {
  const noise = noiseOf(event);
  const threshold = Math.round(keyKeepingCount(event) / event.grid);
  const steps = count / event.grid;
  const shown = new Map<number | null, number>();
  if (count < event.prefilter) return shown.set(null, 1);
  let hidden = 0;
  noise.probabilities.forEach((chance, i) => {
    const noisy = steps + noise.low + i;
    if (noisy > threshold) shown.set(noisy, chanceAt(noise, noise.low + i));
    else hidden += chance;
  });
  return shown.set(null, hidden);
}

/** The most by which an event is likelier on the left than e^epsilon times that on the right. */
function excess(
  event: GroupHistogramEvent, left: readonly number[], right: readonly number[], epsilon: number,
): number {
  const sides = [left, right].map((counts) => counts.map((count) => shownBy(event, count)));
  const factor = Math.exp(epsilon);
  const over = (key: number, one: number, other: number): number => {
    if (key === left.length) return Math.max(0, one - factor * other);
    const [mine, theirs] = [sides[0]![key]!, sides[1]![key]!];
    let sum = 0;
    for (const [shown, chance] of mine) {
      sum += over(key + 1, one * chance, other * (theirs.get(shown) ?? 0));
    }
    return sum;
  };
  return over(0, 1, 1);
}

const delta = 1e-4;
const onGrid = (grid: number, groupsMax: number, prefilter: number): GroupHistogramEvent =>
  ({ ...place, kind: 'group-histogram', groupsMax, prefilter, sigma: 2, delta, grid });

describe('the exact delta of discovered keys', () => {
  it.each([1, 1 / 4, 1 / 64].flatMap((grid) => [1, 2].flatMap((groupsMax) =>
    [1, 2].map((prefilter) => [grid, groupsMax, prefilter] as const))))(
    'shows a lone key with at most delta: grid %d, %d keys each, prefilter %d',
    (grid, groupsMax, prefilter) => {
      const event = onGrid(grid, groupsMax, prefilter);
      const hidden = shownBy(event, prefilter).get(null)! ** groupsMax;
      expect(1 - hidden).toBeLessThanOrEqual(delta);
      // The bound is not loose by more than the steps that it rounds up.
      expect(1 - hidden).toBeGreaterThan(delta / 10 ** (4 * grid));
      // Nothing shows of a key below the prefilter.
      expect([...shownBy(event, prefilter - 1)]).toEqual([[null, 1]]);
    },
  );

  it.each([[1, 1], [1, 2], [1, 5], [2, 1], [2, 2], [2, 9]])(
    'costs at most what is claimed between neighbours: prefilter %d, %d contributors',
    (prefilter, count) => {
      // One contributor moves from the first key to the second.
      const event = onGrid(1, 1, prefilter);
      const left = [count, Math.max(0, prefilter - 1)];
      const right = [count - 1, Math.max(1, prefilter)];
      const rho = amountToNumber(costOfEvents([event], { disjoint: [] }).rho);
      for (const epsilon of [0.25, 0.5, 1, 2, 3]) {
        const claimed = delta + (1 - delta) * deltaOfZcdp(rho, epsilon);
        expect(excess(event, left, right, epsilon)).toBeLessThanOrEqual(claimed);
        expect(excess(event, right, left, epsilon)).toBeLessThanOrEqual(claimed);
      }
      // At a large epsilon only the lone key is left, and it does show at times.
      expect(excess(event, right, left, 10)).toBeGreaterThan(0);
    },
  );

  it('would be above delta with the threshold of one key for two', () => {
    const alone = shownBy(onGrid(1 / 64, 1, 1), 1).get(null)!;
    expect(1 - alone).toBeLessThanOrEqual(delta);
    expect(1 - alone ** 2).toBeGreaterThan(delta);
  });
});

describe('the draw of discovered keys', () => {
  const event = eventOf(2, 2);
  const names = ['pear', 'apple', 'fig', 'plum', 'quince'];
  const counts = [300, 200, 1, 0, 500];

  it('shows the keys with many contributors, largest noisy count first', () => {
    const kept = drawn(event, counts, foundKeys(names), 'order');
    expect(kept.map(({ key }) => key)).toEqual([['quince'], ['pear'], ['apple']]);
    kept.forEach(({ noisyCount }, i) => {
      expect(Math.abs(noisyCount - [500, 300, 200][i]!)).toBeLessThan(6 * event.sigma);
    });
  });

  it('does not depend on the places of keys', () => {
    const kept = drawn(event, counts, foundKeys(names), 'places');
    const order = [3, 1, 4, 0, 2];
    expect(drawn(
      event, order.map((at) => counts[at]!), foundKeys(order.map((at) => names[at]!)), 'places',
    )).toEqual(kept);
  });

  it('drops keys below the prefilter, however small the noise', () => {
    const sharp: GroupHistogramEvent = {
      ...place, kind: 'group-histogram', groupsMax: 1, prefilter: 5, sigma: 2 ** -10, delta: 0.5,
      grid: 2 ** -20,
    };
    const kept = drawn(sharp, [4, 6, 5], foundKeys(['a', 'b', 'c']), 'sharp');
    expect(kept.map(({ key }) => key[0])).toContain('b');
    expect(kept.map(({ key }) => key[0])).not.toContain('a');
  });

  it('refuses counts that are not whole, and counts without a key', () => {
    for (const bad of [[1.5], [-1], [NaN], [1, 2]]) {
      expect(() => drawn(event, bad, foundKeys(['a']), 'bad')).toThrow(InvariantError);
    }
  });
});
