import { describe, expect, it } from 'vitest';
import type { Released } from '../../src/base/brands.js';
import { InvalidParameterError, InvariantError } from '../../src/base/errors.js';
import { assign } from '../../src/estimators/summaries/assignment.js';
import type {
  ArmPlan, ParameterSpec, Plan, PooledRows,
} from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { createGroups, decodeGroups, inlineCompute } from '../../src/estimators/run.js';
import { meanSummary } from '../../src/estimators/summaries/mean.js';
import { rowsSummary } from '../../src/estimators/summaries/rows.js';
import { dataSource, shuffled } from '../support/data.js';
import { opened } from '../support/opened.js';

const specs: readonly ParameterSpec[] = [
  { name: 'spread', type: 'positive', description: 'a spread' },
  { name: 'share', type: 'number', default: 0.5, minimum: 0, maximum: 1, description: 'a share' },
  { name: 'groups', type: 'integer', optional: true, minimum: 2, description: 'groups' },
  { name: 'local', type: 'choice', choices: ['a', 'b'], default: 'a', description: 'a choice' },
  { name: 'fast', type: 'boolean', default: false, description: 'a switch' },
];
const facts = { dimension: 3 };

describe('parseParameters', () => {
  it('fills in defaults, repeats a spread for every column and reads text', () => {
    expect(parseParameters(specs, { spread: '2', share: '0.25', fast: 'true' }, facts))
      .toEqual({ spread: [2, 2, 2], share: 0.25, local: 'a', fast: true });
    expect(parseParameters(specs, { spread: [1, 2, 3], groups: 7 }, facts))
      .toMatchObject({ spread: [1, 2, 3], groups: 7 });
    expect(parseParameters(specs, { spread: '1,2,3' }, facts)).toMatchObject({ spread: [1, 2, 3] });
  });

  it.each([
    [{}, /parameters.spread is missing.*a positive number, or 3 of them/],
    [{ spread: 0 }, /parameters.spread is 0: give a positive number/],
    [{ spread: [1, 2] }, /parameters.spread is \[1,2\]/],
    [{ spread: [1, 2, -3] }, /positive/],
    [{ spread: 'auto' }, /parameters.spread is "auto"/],
    [{ spread: NaN }, /positive/],
    [{ spread: Infinity }, /positive/],
    [{ spread: 1, share: 1.5 }, /parameters.share is 1.5: give a number from 0 up to 1/],
    [{ spread: 1, share: [0.5] }, /parameters.share/],
    [{ spread: 1, share: '' }, /parameters.share/],
    [{ spread: 1, groups: 2.5 }, /parameters.groups is 2.5: give a whole number from 2/],
    [{ spread: 1, groups: 1 }, /whole number from 2/],
    [{ spread: 1, local: 'c' }, /parameters.local is "c": give one of a, b/],
    [{ spread: 1, fast: 1 }, /true or false/],
    [{ spread: 1, shares: 1 }, /parameters.shares is not a parameter.*did you mean "share"/],
  ])('refuses %j with the path, the value and the rule', (raw, message) => {
    expect(() => parseParameters(specs, raw, facts)).toThrow(InvalidParameterError);
    expect(() => parseParameters(specs, raw, facts)).toThrow(message);
  });

  it('reads ascending lists, from a file, a command line or a single number', () => {
    const list: readonly ParameterSpec[] = [
      {
        name: 'edges', type: 'numbers', minimum: -10, maximum: 10, lengthMaximum: 3,
        description: 'edges',
      },
    ];
    const read = (edges: unknown): unknown => parseParameters(list, { edges }, facts)['edges'];
    expect(read([-1.5, 0, 10])).toEqual([-1.5, 0, 10]);
    expect(read('-1.5, 0,10')).toEqual([-1.5, 0, 10]);
    expect(read(3)).toEqual([3]);
    expect(read('3')).toEqual([3]);
    for (const edges of [
      [], [1, 1], [2, 1], '2,1', [1, 2, 3, 4], [-11], [1, '11'], '1,,2', [1, NaN], ['x'], {}, true,
      '',
    ]) {
      expect(() => read(edges))
        .toThrow(/give 1 to 3 numbers from -10 up to 10, each above the one before/);
    }
    expect(() => parseParameters(list, {}, facts))
      .toThrow(/parameters.edges is missing.*each above the one before/);
  });

  it('does not hold more of a long value than fits a line', () => {
    try {
      parseParameters(specs, { spread: 'x'.repeat(10_000) }, facts);
      expect.unreachable();
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(300);
    }
  });
});

describe('registry', () => {
  it('finds every estimator by its name and lists the names otherwise', () => {
    for (const estimator of estimators) expect(findEstimator(estimator.name)).toBe(estimator);
    expect(new Set(estimators.map(({ name }) => name)).size).toBe(estimators.length);
    expect(() => findEstimator('zzzz')).toThrow(/no estimator "zzzz".*populous-mean/);
  });
});

const cohorts: readonly ArmPlan[] = [
  { name: 'first', share: 0.25, unit: 'row', mode: 'pooled', groups: 1 },
  { name: 'second', share: 0.75, unit: 'row', mode: 'disjoint', groups: 10 },
];

/** Upper 1e-6 quantile of chi-squared, by Wilson and Hilferty; 4.753 is the normal quantile. */
function chiSquaredLimit(freedom: number): number {
  const variance = 2 / (9 * freedom);
  return freedom * (1 - variance + 4.753 * Math.sqrt(variance)) ** 3;
}

describe('assign', () => {
  it('is a function of the assignment hash alone', () => {
    const assignmentHash = dataSource('ticket').assignmentHash();
    expect(assign(assignmentHash, cohorts)).toEqual(assign(assignmentHash.slice(), cohorts));
    const padded = new Uint8Array(50);
    padded.set(assignmentHash, 9);
    expect(assign(padded.subarray(9, 41), cohorts)).toEqual(assign(assignmentHash, cohorts));
    expect(() => assign(assignmentHash.subarray(1), cohorts)).toThrow(InvariantError);
  });

  it('keeps the shares and is uniform over groups and slots', () => {
    const data = dataSource('uniform');
    const pairs: readonly ArmPlan[] = [
      { ...cohorts[0]!, share: 0.25, unit: 'pair', slots: 7 }, cohorts[1]!,
    ];
    const total = 40_000;
    const groups = new Float64Array(10);
    const slots = new Float64Array(7);
    for (let i = 0; i < total; i++) {
      const place = assign(data.assignmentHash(), pairs);
      if (place.arm === 1) groups[place.group]! += 1;
      else slots[place.slot]! += 1;
    }
    const expected = [
      ...groups.map(() => (0.75 * total) / 10), ...slots.map(() => (0.25 * total) / 7),
    ];
    const statistic = [...groups, ...slots]
      .reduce((sum, seen, i) => sum + (seen - expected[i]!) ** 2 / expected[i]!, 0);
    expect(statistic).toBeLessThan(chiSquaredLimit(16));
  });

  it('reads the ends of the range', () => {
    const zeros = assign(new Uint8Array(32), cohorts);
    const ones = assign(new Uint8Array(32).fill(255), cohorts);
    expect(zeros).toEqual({ arm: 0, group: 0, slot: 0, tag: 0n });
    expect(ones).toEqual({ arm: 1, group: 9, slot: 0, tag: 2n ** 64n - 1n });
  });

  it('decides arm, group and tag from separate bytes', () => {
    const base = dataSource('separate').assignmentHash();
    for (const [byte, changed] of [[8, 'group'], [24, 'tag']] as const) {
      const other = base.slice();
      other[byte]! ^= 0x80;
      base[0] = 200;
      other[0] = 200;
      const before = assign(base, cohorts);
      const after = assign(other, cohorts);
      for (const key of ['arm', 'group', 'tag'] as const) {
        if (key === changed) expect(after[key]).not.toBe(before[key]);
        else expect(after[key]).toBe(before[key]);
      }
    }
  });
});

const work = dataSource('work').work;

describe('rowsSummary', () => {
  it('sorts by tag, whatever the order of arrival, and breaks ties by value', () => {
    const summary = rowsSummary(2);
    const rows: [Float64Array, bigint][] = [
      [Float64Array.of(1, 2), 5n], [Float64Array.of(3, 4), 1n], [Float64Array.of(0, 9), 5n],
      [Float64Array.of(7, 7), 2n ** 63n],
    ];
    const data = dataSource('rows');
    for (let round = 0; round < 6; round++) {
      let state = summary.empty();
      for (const [row, tag] of shuffled(rows, data)) state = summary.add(state, row, tag);
      const finished = summary.finish(state, work) as { readonly rows: PooledRows };
      expect([...finished.rows.values]).toEqual([3, 4, 0, 9, 1, 2, 7, 7]);
      expect([...finished.rows.tags]).toEqual([1n, 5n, 5n, 2n ** 63n]);
    }
  });

  it('copies rows, grows, merges and survives its codec', () => {
    const summary = rowsSummary(1);
    const row = new Float64Array(1);
    let left = summary.empty();
    let right = summary.empty();
    for (let i = 0; i < 20_000; i++) {
      row[0] = i;
      if (i % 2 === 0) left = summary.add(left, row, BigInt(i));
      else right = summary.add(right, row, BigInt(i));
    }
    const merged = summary.decode(summary.encode(summary.merge(left, right)));
    const { rows } = summary.finish(merged, work) as { readonly rows: PooledRows };
    expect(rows.count).toBe(20_000);
    expect(rows.values.every((value, i) => value === i)).toBe(true);
    expect(rows.values.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(left.count).toBe(10_000);
  });

  it('refuses bytes that it did not write', () => {
    const summary = rowsSummary(2);
    const bytes = summary.encode(summary.add(summary.empty(), Float64Array.of(1, 2), 3n));
    expect(() => rowsSummary(3).decode(bytes)).toThrow(/another dimension/);
    expect(() => summary.decode(bytes.subarray(0, bytes.length - 1))).toThrow(/cut short/);
    expect(() => summary.decode(Uint8Array.from([...bytes, 0]))).toThrow(/left over/);
    expect(() => summary.decode(new Uint8Array(40))).toThrow(/another format/);
    expect(() => meanSummary(2, ({ mean }) => mean).decode(bytes)).toThrow(/another format/);
  });
});

describe('meanSummary', () => {
  it('reports the statistic of the merged moments', () => {
    const summary = meanSummary(1, ({ mean }) => mean.slice());
    let left = summary.empty();
    let right = summary.empty();
    for (const value of [1, 2, 3]) left = summary.add(left, Float64Array.of(value), 0n);
    for (const value of [10, 20]) right = summary.add(right, Float64Array.of(value), 0n);
    const merged = summary.decode(summary.encode(summary.merge(left, right)));
    expect(summary.finish(merged, work))
      .toEqual({ kind: 'group', statistic: { count: 5, values: Float64Array.of(7.2) } });
  });
});

/** A plan that only groups; its release is never asked for. */
function groupingPlan(plans: readonly ArmPlan[], dimension: number): Plan {
  return {
    kind: 'plan',
    arms: plans,
    cost: { rho: 0n, delta: 0n, epsilon: null } as unknown as Plan['cost'],
    events: [],
    guarantee: { neighbours: '', theorem: '', assumptions: [], corruptionMax: 0 },
    outputShape: [dimension],
    noise: [],
    facts: {},
    expectedError: () => ({ total: 0, sampling: 0, noise: 0, bias: 0 }),
    summary: () => rowsSummary(dimension),
    release: () => Promise.reject<Released<never>>(new Error('not asked for')),
  };
}

describe('groups', () => {
  it('puts every row into one group, ignores null rows and does not see the order', () => {
    const data = dataSource('groups');
    const plan = groupingPlan(cohorts, 2);
    const rows = Array.from({ length: 300 }, (_, i) => ({
      assignmentHash: data.assignmentHash(), row: Float64Array.of(i, -i),
    }));
    const results = [rows, shuffled(rows, data)].map((list) => {
      const groups = createGroups(plan, 2);
      for (const { assignmentHash, row } of list) groups.add(assignmentHash, row);
      groups.add(data.assignmentHash(), Float64Array.of(NaN, 1));
      groups.add(data.assignmentHash(), Float64Array.of(1, Infinity));
      expect(groups.progress().rows).toBe(300);
      return groups.finish(work);
    });
    const [first, second] = results.map((finished) => opened(finished));
    expect(second).toEqual(first);
    const counts = [...first!.values()].flat()
      .map((item) => (item.kind === 'pooled' ? item.rows.count : 0));
    expect(counts).toHaveLength(11);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
  });

  it('survives its codec and finishes early without changing the result', () => {
    const data = dataSource('codec');
    const plan = groupingPlan(cohorts, 1);
    const groups = createGroups(plan, 1);
    for (let i = 0; i < 50; i++) groups.add(data.assignmentHash(), Float64Array.of(i));
    expect(groups.prepare(work, 100, 1)).toBeGreaterThan(5);
    expect(groups.prepare(work, 100, 1)).toBe(0);
    const assignmentHash = data.assignmentHash();
    groups.add(assignmentHash, Float64Array.of(99));
    const restored = decodeGroups(plan, 1, groups.encode());
    expect(restored.progress()).toEqual(groups.progress());
    expect(opened(restored.finish(work))).toEqual(opened(groups.finish(work)));
    expect(() => decodeGroups(plan, 2, groups.encode())).toThrow(/another dimension/);
    expect(() => decodeGroups(groupingPlan(cohorts.slice(1), 1), 1, groups.encode()))
      .toThrow(/number of arms/);
  });

  it('pairs the two smallest tags of a slot, so that one contributor more changes one pair', () => {
    const data = dataSource('pairs');
    const plan = groupingPlan(
      [{ name: 'pairs', share: 1, unit: 'pair', mode: 'pooled', groups: 1, slots: 40 }], 1,
    );
    const rows = Array.from({ length: 80 }, (_, i) => ({
      assignmentHash: data.assignmentHash(), row: Float64Array.of(2 ** (i % 50)),
    }));
    const pairsOf = (list: typeof rows): Set<number> => {
      const groups = createGroups(plan, 1);
      for (const { assignmentHash, row } of list) groups.add(assignmentHash, row);
      const [finished] = opened(decodeGroups(plan, 1, groups.encode()).finish(work)).get('pairs')!;
      return new Set(finished!.kind === 'pooled' ? finished!.rows.values : []);
    };
    const all = pairsOf(rows);
    expect(all.size).toBeGreaterThan(15);
    expect(pairsOf(shuffled(rows, data))).toEqual(all);
    for (let left = 0; left < rows.length; left++) {
      const without = pairsOf(rows.filter((_, i) => i !== left));
      expect([...all].filter((value) => !without.has(value)).length).toBeLessThanOrEqual(1);
      expect([...without].filter((value) => !all.has(value)).length).toBeLessThanOrEqual(1);
    }
  });
});

describe('inlineCompute', () => {
  it('runs a registered kernel and nothing else', async () => {
    const compute = inlineCompute({ double: (input) => (input as number) * 2 });
    expect(await compute.run<number>('double', 21)).toBe(42);
    await expect(compute.run('toString', 0)).rejects.toThrow(InvariantError);
  });
});
