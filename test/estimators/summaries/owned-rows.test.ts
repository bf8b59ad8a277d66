import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/base/outcome.js';
import {
  createGroups, releaseGroups, runOffline, type OwnedRows,
} from '../../../src/estimators/run.js';
import { rowsSummary } from '../../../src/estimators/summaries/rows.js';
import { sharedDoubles } from '../../../src/numerics/kernels/shards.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { utf8 } from '../../../src/base/bytes.js';
import { factsOf, planOf } from '../../support/offline.js';

const work = (): ReturnType<typeof seededRandom> => seededRandom(utf8('owned'));

function randomRows(count: number, dimension: number): Float64Array {
  const random = work();
  return sharedDoubles(count * dimension)
    .map(() => 2 * (random.uniform() + random.uniform() + random.uniform()) - 3);
}

describe('rows that a run takes over', () => {
  it('are sorted where they are, as copies would be', () => {
    const [count, d] = [2000, 3];
    const values = randomRows(count, d);
    const tags = BigUint64Array.from({ length: count }, (_, i) =>
      BigInt.asUintN(64, BigInt(i % 1500) * 0xdead_beef_cafe_f00dn));
    const summary = rowsSummary(d);
    const copied = summary.empty();
    for (let i = 0; i < count; i++) summary.add(copied, values.slice(d * i, d * i + d), tags[i]!);
    const expected = summary.finish(copied, work());
    const owned = values.slice();
    const found = summary.finish(summary.adopt!(owned, count, (into) => into.set(tags)), work());
    if (found.kind !== 'pooled' || expected.kind !== 'pooled') throw new Error('rows come pooled');
    expect(found.rows.values).toEqual(expected.rows.values);
    expect(found.rows.tags).toEqual(expected.rows.tags);
    expect(found.rows.values.buffer).toBe(owned.buffer);
  });

  const released = (
    name: string, parameters: object, rows: OwnedRows | Float64Array[], count: number,
  ): Promise<Outcome> => {
    const plan = planOf(name, { ...parameters }, factsOf(4, count, 8));
    return runOffline({
      plan, dimension: 4, rows, mechanisms: createMechanisms(plan.events, seededNoise('owned')),
      assignmentHashes: seededNoise('tickets'), work: work(),
    });
  };

  it('give the same when they are said to be whole', { tags: ['long'] }, async () => {
    const rows = (): { count: number; values: Float64Array } =>
      ({ count: 40_000, values: randomRows(40_000, 4) });
    const plain = await released('prime', { spread: 1 }, rows(), 40_000);
    expect(plain.kind).toBe('value');
    expect(await released('prime', { spread: 1 }, { ...rows(), isWhole: true }, 40_000))
      .toEqual(plain);
  });

  // The tags go with the rows. Half of the columns hold whole numbers, one has a long tail, and
  // some people have no data.
  it.each<[string, object]>([
    ['mean', { spread: 1 }], ['mean', { spread: 'auto' }], ['mean', { range: '-50..50' }],
    ['mean', { range: '-50..50', spread: 1 }], ['robust-mean', { range: '-50..50' }],
    ['prime', { spread: 'auto' }],
  ])('give the release of %s with %o in any order', { tags: ['long'] }, async (name, given) => {
    const count = 40_000;
    const values = randomRows(count, 4);
    const people = Array.from({ length: count }, (_, i) => {
      const row = values.slice(4 * i, 4 * i + 4);
      row[0] = Math.round(5 * row[0]!);
      row[1] = Math.round(20 * row[1]!);
      row[3] = 3 * Math.exp(row[3]!);
      if (i % 5000 === 7) row[2] = NaN;
      return { row, hash: new Uint8Array(32) };
    });
    const noise = seededNoise('hashes');
    people.forEach(({ hash }) => noise.fill(hash));
    const plan = planOf(name, { ...given }, factsOf(4, count, 8));
    const outcomes = [people, people.toReversed()].map((order) => {
      const groups = createGroups(plan, 4);
      order.forEach(({ hash, row }) => groups.add(hash, row));
      const mechanisms = createMechanisms(plan.events, seededNoise('owned'));
      return releaseGroups(plan, groups, { mechanisms, work: work() });
    });
    expect((await outcomes[0]!).kind).toBe('value');
    expect(await outcomes[1]).toEqual(await outcomes[0]);
    const listed = (order: typeof people): Promise<Outcome> => {
      let at = 0;
      return runOffline({
        plan, dimension: 4, rows: order.map(({ row }) => row),
        mechanisms: createMechanisms(plan.events, seededNoise('owned')),
        assignmentHashes: { fill(bytes) {
          for (let from = 0; from < bytes.length; from += 32, at++) {
            bytes.set(order[at]?.hash ?? new Uint8Array(32), from);
          }
        } },
        work: work(),
      });
    };
    expect(await listed(people)).toEqual(await outcomes[0]);
    expect(await listed(people.toReversed())).toEqual(await outcomes[0]);
  });

  // With a spread nothing of the filters or the mean depends on tags; null rows stand at both ends
  // and among the others.
  it.each([
    ['prime', {}], ['prime', { directions: 'one' }], ['mean', {}], ['robust-mean', {}],
  ])('give the release of %s %o that single rows give', { tags: ['long'] }, async (name, set) => {
    const count = 40_000;
    const values = randomRows(count, 4);
    for (const row of [0, 1, 77, 20_000, count - 1]) {
      values[4 * row + (row % 4)] = row % 2 === 0 ? NaN : Infinity;
    }
    const single = Array.from({ length: count }, (_, i) => values.slice(4 * i, 4 * i + 4));
    const given = { spread: 1, ...set };
    const expected = await released(name, given, single, count);
    expect(expected.kind).toBe('value');
    expect(await released(name, given, { values, count }, count)).toEqual(expected);
  });

  it('are fed one by one to a plan that has groups', { tags: ['long'] }, async () => {
    const values = randomRows(20_000, 4);
    const single = Array.from({ length: 20_000 }, (_, i) => values.slice(4 * i, 4 * i + 4));
    const expected = await released('populous-mean', { spread: 1 }, single, 20_000);
    expect(await released('populous-mean', { spread: 1 }, { values, count: 20_000 }, 20_000))
      .toEqual(expected);
  });
});
