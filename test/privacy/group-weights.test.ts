import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvariantError } from '../../src/base/errors.js';
import { normalCdf } from '../../src/numerics/normal.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { groupWeightsEvent } from '../../src/privacy/accounting/calibration.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { GroupWeightsEvent } from '../../src/privacy/accounting/events.js';
import { keyKeepingCount, groupWeightSteps } from '../../src/privacy/mechanisms/bounds.js';
import type { FoundKeys } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { foundKeys, numberedKeys } from '../support/found-keys.js';
import { massOf } from '../support/goodness.js';

const place = { name: 'keys', cohort: 'all' } as const;
/** Epsilon 1 and delta 1e-6, half of delta for events. */
const worked = { rho: 0.02294, delta: 5e-7 } as const;
const eventOf = (groupsMax: number): GroupWeightsEvent =>
  groupWeightsEvent({ ...place, ...worked, groupsMax });

const drawn = (
  event: GroupWeightsEvent, weights: readonly number[], keys: FoundKeys, seed: string,
) => createMechanisms([event], seededNoise(seed))
  .groupHistogram('keys', Sensitive.of(weights), Sensitive.of(keys)).value;

describe('weights of discovered keys', () => {
  it('have an L2 norm of at most 1, and as near to it as the grid allows', () => {
    const steps = 2 ** 12;
    for (let keys = 1; keys <= 4_096; keys++) {
      const weight = groupWeightSteps(keys, 1 / steps);
      expect(keys * weight ** 2).toBeLessThanOrEqual(steps ** 2);
      expect(keys * (weight + 1) ** 2).toBeGreaterThan(steps ** 2);
    }
    expect([1, 4, 4_096].map((keys) => groupWeightSteps(keys, 1 / steps)))
      .toEqual([4_096, 2_048, 64]);
  });

  it.each([[1, 33.3], [4, 34.6], [16, 36.0]])(
    'have the threshold of the design with %d keys each', (groupsMax, threshold) => {
      const event = eventOf(groupsMax);
      expect(Math.abs(event.sigma - 6.6)).toBeLessThan(0.01);
      expect(Math.abs(keyKeepingCount(event) - threshold)).toBeLessThan(0.1);
      const cost = costOfEvents([event], { disjoint: [] });
      expect(amountToNumber(cost.rho)).toBeLessThanOrEqual(worked.rho);
      expect(amountToNumber(cost.rho)).toBeGreaterThan(0.999 * worked.rho);
      expect(amountToNumber(cost.delta)).toBeLessThanOrEqual(worked.delta * (1 + 1e-12));
    },
  );

  it.each([[1, 33], [4, 69], [16, 144]])(
    'show half of all keys of people with %d keys each from about so many people on: %d',
    (groupsMax, people) => {
      const event = eventOf(groupsMax);
      const needed =
        keyKeepingCount(event) / (groupWeightSteps(groupsMax, event.grid) * event.grid);
      expect(Math.abs(needed - people)).toBeLessThan(1);
    },
  );

  it('show a key at the threshold in half of all cases', () => {
    const event = eventOf(4);
    const draws = 4_000;
    const weight = Math.round(keyKeepingCount(event)) + 1;
    const kept = drawn(event, new Array<number>(draws).fill(weight), numberedKeys(draws), 'half');
    const chance = normalCdf((weight - keyKeepingCount(event)) / event.sigma);
    // Hoeffding: a false failure has probability 1e-6.
    expect(Math.abs(kept.length / draws - chance))
      .toBeLessThan(Math.sqrt(Math.log(2e6) / (2 * draws)));
  });

  it.each([1, 1 / 4, 1 / 64].flatMap((grid) =>
    [1, 2, 3].map((groupsMax) => [grid, groupsMax] as const)))(
    'show the lone keys of one person with at most delta: grid %d, up to %d keys',
    (grid, groupsMax) => {
      const delta = 1e-4;
      const event: GroupWeightsEvent =
        { ...place, kind: 'group-weights', groupsMax, sigma: 2, delta, grid };
      const deviation = event.sigma / grid;
      const reach = Math.ceil(12 * deviation);
      const noise = massOf(-reach, reach, (k) => Math.exp(-(k * k) / (2 * deviation * deviation)));
      const threshold = Math.round(keyKeepingCount(event) / grid);
      for (let keys = 1; keys <= groupsMax; keys++) {
        const least = threshold - groupWeightSteps(keys, grid);
        const hidden = noise.probabilities
          .reduce((sum, chance, i) => sum + (noise.low + i > least ? 0 : chance), 0);
        expect(1 - hidden ** keys).toBeLessThanOrEqual(delta);
      }
    },
  );

  it('are dropped at 0, and refused between the steps of the grid', () => {
    const event = eventOf(2);
    const kept = drawn(event, [0, 900, 400.5], foundKeys(['a', 'b', 'c']), 'kept');
    expect(kept.map(({ key }) => key)).toEqual([['b'], ['c']]);
    for (const bad of [[2 ** -13], [-1], [NaN]]) {
      expect(() => drawn(event, bad, foundKeys(['a']), 'bad')).toThrow(InvariantError);
    }
  });
});
