import { expect, it } from 'vitest';
import { factsOf, planOf } from '../../../support/offline.js';

const [people, corruption] = [1_000, 0.1];

it('fixes its radius where a found one would follow more liars than noise can show', () => {
  const given = (cohort: number, set: object): ReturnType<typeof planOf> =>
    planOf('robust-mean', { spread: 1, corruption, ...set }, factsOf(2, cohort));
  const [few, usual] = [given(people, {}), given(20_000, {})];
  expect(few.facts['radius']).toMatch(/^fixed/);
  expect(usual.facts).not.toHaveProperty('radius');
  // With nobody who lies nothing is gained, and a given radius stays.
  expect(given(people, { corruption: 0 }).facts).not.toHaveProperty('radius');
  expect(given(people, { radius: 5 }).facts).not.toHaveProperty('radius');
  // E (|x| - R)+ <= d / (4 R), the bias of honest rows, is in the plan without liars too.
  const radius = few.facts['clipRadiusInSpreads'] as number;
  expect(few.expectedError(0).bias).toBeCloseTo(2 / (4 * radius));
  expect(usual.expectedError(0).bias).toBe(0);
});
