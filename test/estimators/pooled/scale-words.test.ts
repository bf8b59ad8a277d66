import { expect, it } from 'vitest';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

/** Each twice as far from zero as the one before, so that no two pairs have one distance. */
const apart = (count: number): readonly number[][] =>
  Array.from({ length: count }, (_, i) => [2 ** (i % 64 - 32) * (i % 2 === 0 ? 1 : -1)]);

it('says the same whether nobody came or their spread is not found', async () => {
  const plan = planOf('robust-mean', {}, factsOf(1, 4_000));
  const [nobody, few, many] = await Promise.all([[], apart(20), apart(64)].map((rows) =>
    releaseOf(plan, 1, rows, 'who came')));
  expect(nobody).toMatchObject({ kind: 'refused', reason: 'scale-not-found' });
  expect(nobody).toHaveProperty('text', expect.stringContaining('too few contributors came, or'));
  expect(few).toEqual(nobody);
  expect(many).toEqual(nobody);
});
