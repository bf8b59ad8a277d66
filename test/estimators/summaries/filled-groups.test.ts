import { describe, expect, it } from 'vitest';
import { createGroups, releaseGroups, runOffline } from '../../../src/estimators/run.js';
import type { Outcome } from '../../../src/base/outcome.js';
import { utf8 } from '../../../src/base/bytes.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { factsOf, planOf } from '../../support/offline.js';

const count = 2_500;
const values = ((): Float64Array => {
  const random = seededRandom(utf8('filled'));
  return Float64Array.from({ length: 2 * count }, (_, i) =>
    (i % 333 === 0 ? NaN : random.uniform()));
})();
const rows = Array.from({ length: count }, (_, i) => values.subarray(2 * i, 2 * i + 2));

describe('groups that are filled with rows at hand', () => {
  const planned = (name: string, parameters: object): ReturnType<typeof planOf> =>
    planOf(name, { ...parameters }, factsOf(2, count, 8));
  const means = (plan: ReturnType<typeof planOf>) => ({
    mechanisms: createMechanisms(plan.events, seededNoise('noise')),
    work: seededRandom(utf8('work')),
  });

  it.each([
    ['populous-mean', { spread: 1 }], ['sum', { cap: 1 }], ['count', {}],
    ['histogram', { edges: '0,0.5,1', column: 0 }], ['quantile', { range: '0..1', column: 1 }],
  ])('have the rows that %s has one by one', async (name, parameters) => {
    const plan = planned(name, parameters);
    const groups = createGroups(plan, 2);
    const hashes = seededNoise('hashes');
    for (const row of rows) {
      const hash = new Uint8Array(32);
      hashes.fill(hash);
      groups.add(hash, row);
    }
    const expected = await releaseGroups(plan, groups, means(plan));
    expect(expected.kind).toBe('value');
    async function* stream(): AsyncGenerator<Float64Array> {
      for (const row of rows) yield await Promise.resolve(row);
    }
    for (const given of [rows, stream(), { count, values: values.slice() }]) {
      const found: Outcome = await runOffline({
        plan, dimension: 2, rows: given, assignmentHashes: seededNoise('hashes'), ...means(plan),
      });
      expect(found).toEqual(expected);
    }
  });

  it.each([
    ['count', {}], ['sum', { cap: 1 }], ['histogram', { edges: '0,0.5,1', column: 0 }],
    ['quantile', { range: '0..1', column: 0 }], ['ratio', { cap: 1 }],
    ['share', { threshold: 0.5, column: 0 }], ['distribution', { range: '0..1', column: 0 }],
  ])('draw no assignment hashes where %s does not depend on them', async (name, parameters) => {
    const plan = planned(name, parameters);
    const { kind } = await runOffline({
      plan, dimension: 2, rows, ...means(plan),
      // Nor are there passes over the rows that threads would share.
      compute: { parallelism: 2, run: () => { throw new Error('a pass'); } },
      assignmentHashes: { fill: () => { throw new Error('drawn'); } },
    });
    expect(kind).toBe('value');
  });
});
