import { describe, expect, it } from 'vitest';
import {
  gaussianThreshold, inLedger, keelson, laplaceThreshold, optimalChances, optimalHalf,
} from '../../bench/groups/formulas.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { planOf } from '../support/offline.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';

/** The part of the left outcomes that the right ones, e^epsilon times as likely, do not cover. */
function uncovered(
  left: readonly number[], right: readonly number[], epsilon: number,
): number {
  return left.reduce((sum, chance, i) =>
    sum + Math.max(0, chance - Math.exp(epsilon) * right[i]!), 0);
}

/** The chances of all pairs of outcomes of two keys. */
const both = (one: readonly number[], other: readonly number[]): number[] =>
  one.flatMap((chance) => other.map((second) => chance * second));

/** Outcomes of one key: hidden, or shown with a noisy count in one of many cells. */
function outcomesOf(people: number, from: number, cdf: (noise: number) => number): number[] {
  if (people === 0) return [1, ...Array<number>(cells).fill(0)];
  const ends = Array.from({ length: cells + 1 }, (_, i) =>
    (i === cells ? 1 : cdf(from + i * width - people)));
  return [ends[0]!, ...ends.slice(1).map((end, i) => end - ends[i]!)];
}
const [cells, width] = [120, 0.5];

const laplaceCdf = (scale: number) => (noise: number): number =>
  (noise < 0 ? Math.exp(noise / scale) / 2 : 1 - Math.exp(-noise / scale) / 2);

describe('the formulas for discovered keys', () => {
  it('have the best rule: no chance can be larger, and none is too large', () => {
    for (const [epsilon, delta] of [[1, 1e-3], [0.5, 1e-2], [2, 1e-6]] as const) {
      const chances = optimalChances(epsilon, delta);
      const fits = (before: number, after: number): boolean =>
        [[before, after], [1 - before, 1 - after]].every(([one, other]) =>
          one! <= Math.exp(epsilon) * other! + delta + 1e-12
          && other! <= Math.exp(epsilon) * one! + delta + 1e-12);
      expect(chances[0]).toBe(0);
      expect(chances.at(-1)).toBe(1);
      chances.slice(1).forEach((after, i) => {
        const before = chances[i]!;
        expect(fits(before, after)).toBe(true);
        const larger = after + 1e-6 * (1 - after) + 1e-9;
        expect(after === 1 || !fits(before, larger)).toBe(true);
      });
    }
  });

  it('have the published figures of the best rule', () => {
    const delta = 1e-6;
    expect(optimalHalf({ epsilon: 1, delta, changed: 1 })).toBe(14);
    expect(optimalHalf({ epsilon: 1, delta, changed: 2 })).toBe(27);
  });

  it('are near the best rule that shows no key of fewer people either', () => {
    for (const epsilon of [1, 2, 4]) {
      const asked = { epsilon, delta: 1e-6, changed: 2 };
      const chances = optimalChances(epsilon / 2, asked.delta / 2);
      for (const prefilter of [1, 2, 3]) {
        // The recurrence from 0 at prefilter - 1 people is the same, later.
        const later = [...new Array<number>(prefilter - 1).fill(0), ...chances];
        const best = optimalHalf({ ...asked, prefilter });
        expect(later[best]).toBeGreaterThanOrEqual(0.5);
        expect(later[best - 1]).toBeLessThan(0.5);
        const { from } = keelson({ epsilon, delta: asked.delta, groupsMax: 1, prefilter });
        expect(from / best).toBeLessThanOrEqual(1.25);
      }
    }
  });

  it('keep epsilon and delta where one key takes the place of another', () => {
    const [epsilon, delta] = [1, 1e-3];
    const chances = optimalChances(epsilon / 2, delta / 2);
    const at = (people: number): number[] => {
      const chance = chances[people] ?? 1;
      return [chance, 1 - chance];
    };
    let most = 0;
    for (let one = 1; one < chances.length; one++) {
      for (let other = 1; other < chances.length; other++) {
        most = Math.max(most,
          uncovered(both(at(one), at(other - 1)), both(at(one - 1), at(other)), epsilon));
      }
    }
    expect(most).toBeLessThanOrEqual(delta * (1 + 1e-9));
    expect(most).toBeGreaterThan(delta / 4);
  });

  it('have thresholds that hide a lone key, and keep epsilon for others', () => {
    const asked = { epsilon: 1, delta: 1e-3, changed: 2 };
    const laplace = laplaceThreshold(asked);
    const gaussian = gaussianThreshold(asked);
    for (const [from, cdf] of [
      [laplace.from, laplaceCdf(laplace.scale)],
      [gaussian.from, (noise: number) => normalCdf(noise / gaussian.sigma)],
    ] as const) {
      let most = 0;
      for (const [one, other] of [[1, 1], [1, 2], [2, 1], [2, 2], [9, 12], [15, 15]] as const) {
        most = Math.max(most, uncovered(
          both(outcomesOf(one, from, cdf), outcomesOf(other - 1, from, cdf)),
          both(outcomesOf(one - 1, from, cdf), outcomesOf(other, from, cdf)), asked.epsilon,
        ));
      }
      expect(most).toBeLessThanOrEqual(asked.delta);
      expect(most).toBeGreaterThan(asked.delta / 8);
    }
  });

  it('show a key half of the time from the count that they name on', () => {
    for (const changed of [1, 2, 8]) {
      const asked = { epsilon: 1, delta: 1e-6, changed };
      const laplace = laplaceThreshold(asked);
      const gaussian = gaussianThreshold(asked);
      const shownBy = [
        [laplace.half, (people: number) =>
          1 - laplaceCdf(laplace.scale)(laplace.from - people)],
        [gaussian.half, (people: number) =>
          1 - normalCdf((gaussian.from - people) / gaussian.sigma)],
      ] as const;
      for (const [half, shown] of shownBy) {
        expect(shown(half)).toBeGreaterThanOrEqual(0.5);
        expect(shown(half - 1)).toBeLessThan(0.5);
      }
    }
  });

  it('have what a plan of this project states', () => {
    for (const [epsilon, groupsMax] of [[1, 1], [4, 4]] as const) {
      const own = keelson({ epsilon, delta: 1e-6, groupsMax });
      const { facts } = planOf('count', {}, {
        dimension: 1, cohort: 10_000, participation: 'secret',
        target: privacyTarget({ epsilon, delta: 1e-6 }),
        keys: { list: 'discovered', groupsMax, top: 10, prefilter: 2 },
      });
      expect(facts).toMatchObject({
        keysShownFromCount: own.from, noiseInContributors: own.error,
      });
      expect(own.half).toBe(Math.ceil(own.from));
      // In a ledger of zCDP the others pay more noise.
      const { optimal, laplace } = inLedger({ ...own, changed: 2 * groupsMax });
      expect(Math.min(optimal, laplace.half)).toBeGreaterThan(own.half);
    }
  });
});
