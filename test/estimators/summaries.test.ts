import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { tagOf } from '../../src/estimators/summaries/assignment.js';
import type { Summary, SummaryTable } from '../../src/estimators/contract/estimator.js';
import {
  createGroups, decodeGroups, mergeGroups, releaseGroups, type Groups,
} from '../../src/estimators/run.js';
import { meanSummary } from '../../src/estimators/summaries/mean.js';
import { PairSlots } from '../../src/estimators/summaries/pairs.js';
import { groupRowsSummary } from '../../src/estimators/summaries/rows.js';
import { scatterSummary } from '../../src/estimators/summaries/scatter.js';
import { statesTable } from '../../src/estimators/summaries/table.js';
import { covarianceOf } from '../../src/numerics/scatter.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { dataSource, shuffled, type DataSource } from '../support/data.js';
import { factsOf, planOf } from '../support/offline.js';

const dimension = 3;

/** Correlated rows a million deviations from zero. */
function farRow(data: DataSource): Float64Array {
  const [a, b, c] = data.normals(3);
  return Float64Array.of(1e6 + a!, 2e6 + a! + 0.5 * b!, -3e6 + 3 * c!);
}

/** Two passes in the plainest way. */
function covarianceByHand(rows: readonly Float64Array[]): number[] {
  const mean = Array.from({ length: dimension }, (_, j) =>
    rows.reduce((sum, row) => sum + row[j]!, 0) / rows.length);
  return Array.from({ length: dimension * dimension }, (_, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    return rows.reduce((sum, row) => sum + (row[i]! - mean[i]!) * (row[j]! - mean[j]!), 0)
      / (rows.length - 1);
  });
}

describe('the scatter of a group', () => {
  const summary = scatterSummary(dimension, covarianceOf);
  const work = seededRandom(utf8('scatter'));
  const covariance = (state: ReturnType<typeof summary.empty>): Float64Array => {
    const finished = summary.finish(state, work);
    if (finished.kind !== 'group') throw new Error('a scatter is a group statistic');
    return finished.statistic.values;
  };

  it('is the covariance, far from the origin, in one pass and when merged from parts that were '
    + 'shipped', () => {
    const data = dataSource('scatter');
    const rows = Array.from({ length: 500 }, () => farRow(data));
    const expected = covarianceByHand(rows);
    const parts = [summary.empty(), summary.empty(), summary.empty()];
    const whole = rows.reduce((state, row) => summary.add(state, row, 0n), summary.empty());
    rows.forEach((row, i) => summary.add(parts[i % 7 === 0 ? 0 : 1]!, row, 0n));
    const merged = parts.map((part) => summary.decode(summary.encode(part)))
      .reduce((left, right) => summary.merge(left, right));
    for (const found of [covariance(whole), covariance(merged)]) {
      expected.forEach((entry, i) => expect(Math.abs(found[i]! - entry)).toBeLessThan(1e-8));
    }
  });

  it('is total: nobody, one, and refuses bytes that it did not write', () => {
    expect([...covariance(summary.empty())]).toEqual(new Array<number>(9).fill(0));
    const one = summary.add(summary.empty(), Float64Array.of(1, 2, 3), 0n);
    expect([...covariance(one)]).toEqual(new Array<number>(9).fill(0));
    const bytes = summary.encode(one);
    for (let i = 0; i < bytes.length;
        i++) expect(() => summary.decode(bytes.subarray(0, i))).toThrow(InvalidParameterError);
  });

  it('does not grow with the group', () => {
    const data = dataSource('size');
    const sizeAfter = (count: number): number => summary.encode(
      Array.from({ length: count }, () => farRow(data))
        .reduce((state, row) => summary.add(state, row, 0n), summary.empty()),
    ).length;
    expect(sizeAfter(1_000)).toBe(sizeAfter(1));
  });
});

describe('the groups of a cohort in one table', () => {
  const rowsOfGroup =
    groupRowsSummary(dimension, ({ count, values }) => Float64Array.of(count, ...values));
  const kinds: [string, Summary][] = [
    ['means', meanSummary(dimension, ({ mean }) => mean)],
    ['rows', rowsOfGroup],
    ['scatters', scatterSummary(dimension, covarianceOf)],
  ];

  it.each(kinds)('are bit for bit what each is alone: %s, added, shipped and '
    + 'merged', (name, summary) => {
    const data = dataSource(`table ${name}`);
    const groups = 7;
    const tableOf = (): SummaryTable => summary.table?.(groups) ?? statesTable(summary, groups);
    const [left, right] = [tableOf(), tableOf()];
    const alone = [left, right].map(() => Array.from({ length: groups }, () => summary.empty()));
    const row = new Float64Array(dimension);
    for (let i = 0; i < 700; i++) {
      // One buffer for all rows: what is kept has to be copied. One group stays empty.
      row.set(farRow(data));
      const [place, group, assignmentHash] = [
        data.below(2), data.below(groups - 1), data.assignmentHash(),
      ];
      (place === 0 ? left : right).add(group, row, assignmentHash);
      alone[place]![group] = summary.add(alone[place]![group], row, tagOf(assignmentHash));
    }
    const shipped = tableOf();
    for (let group = 0; group < groups; group++) {
      const [ours, theirs] = alone.map((states) => states[group]);
      const ofRight = summary.encode(right.state(group));
      expect(summary.encode(left.state(group))).toEqual(summary.encode(ours));
      shipped.put(group, summary.decode(ofRight));
      shipped.merge(group, left.state(group));
      left.merge(group, right.state(group));
      expect(summary.encode(left.state(group)))
        .toEqual(summary.encode(summary.merge(ours, theirs)));
      expect(summary.encode(right.state(group))).toEqual(ofRight);
      expect(summary.encode(shipped.state(group)))
        .toEqual(summary.encode(summary.merge(theirs, ours)));
      shipped.add(group, row, data.assignmentHash());
      expect(summary.encode(right.state(group))).toEqual(ofRight);
    }
  });
});

describe('pairs by slots', () => {
  /** The pairs of a set of contributors, by slot. */
  function pairsOf(
    list: readonly { slot: number; tag: bigint; row: Float64Array }[],
  ): Map<bigint, string> {
    const slots = new PairSlots();
    for (const { slot, tag, row } of list) slots.add(slot, tag, row);
    return new Map([...slots.pairs()].map(({ tag, row }) => [tag, row.join()]));
  }

  it('change in one pair when one contributor comes, goes or says something else', () => {
    const data = dataSource('pairs');
    const list = Array.from({ length: 300 }, (_, i) =>
      ({ slot: data.below(150), tag: BigInt(1_000 * data.below(1e6) + i), row: farRow(data) }));
    const before = pairsOf(shuffled(list, data));
    let changedOnce = 0;
    for (let round = 0; round < 200; round++) {
      const index = data.below(list.length);
      const without = list.filter((_, i) => i !== index);
      const replaced =
        list.map((entry, i) => (i === index ? { ...entry, row: farRow(data) } : entry));
      for (const neighbour of [without, replaced]) {
        const after = pairsOf(shuffled(neighbour, data));
        // A pair is known by its first member: at most one is lost and at most one is new or
        // changed.
        const lost = [...before].filter(([tag, row]) => after.get(tag) !== row).length;
        const fresh = [...after].filter(([tag, row]) => before.get(tag) !== row).length;
        expect(lost).toBeLessThanOrEqual(1);
        expect(fresh).toBeLessThanOrEqual(1);
        changedOnce += Number(lost + fresh > 0);
      }
    }
    expect(changedOnce).toBeGreaterThan(200);
  });
});

describe('groups that are summarised in several places', () => {
  const assignmentHashes = (
    data: DataSource, rows: number,
  ): { assignmentHash: Uint8Array; row: Float64Array }[] =>
    Array.from({ length: rows }, () => ({
      assignmentHash: data.assignmentHash(), row: data.normals(2).map((entry) => 40 + 3 * entry),
    }));

  it.each([
    ['populous-mean', { spread: 3 }],
    ['populous-mean', { spread: 'auto' }],
    ['populous-mean', { spread: 3, local: 'mean', corruption: 0 }],
    ['mean', { spread: 3 }],
    ['subspace', {}],
  ])('are released as if summarised in one: %s %o', async (name, parameters) => {
    const cohort = 6_000;
    const plan = planOf(name, parameters, factsOf(2, cohort));
    const data = dataSource(`places ${name}`);
    const places = Array.from({ length: 3 }, () => createGroups(plan, 2));
    const whole = createGroups(plan, 2);
    assignmentHashes(data, cohort).forEach(({ assignmentHash, row }) => {
      const entry = name === 'subspace'
        ? Float64Array.of(Math.round(row[0]!), 2 * Math.round(row[0]!)) : row;
      whole.add(assignmentHash, entry);
      places[data.below(3)]!.add(assignmentHash, entry);
    });
    const shipped = places.map((groups) => decodeGroups(plan, 2, groups.encode()));
    const merged = shipped.reduce((left, right) => mergeGroups(plan, 2, left, right));
    expect(merged.progress()).toEqual(whole.progress());
    const release = (groups: Groups) => releaseGroups(plan, groups, {
      mechanisms: createMechanisms(plan.events, seededNoise('places')),
      work: seededRandom(utf8('places')),
    });
    const [one, many] = [await release(whole), await release(merged)];
    expect(one.kind).toBe('value');
    expect(many).toEqual(one);
  });

  it('keep pairs that were split between places', () => {
    const summary = (): Summary =>
      groupRowsSummary(2, (rows) => Float64Array.of(rows.count, ...rows.values.slice(0, 2)));
    const base = planOf('populous-mean', { spread: 3 }, factsOf(2, 6_000));
    const plan = {
      ...base, arms: [{ ...base.arms[0]!, unit: 'pair' as const, groups: 4, slots: 20 }],
      summary,
    };
    const data = dataSource('split pairs');
    const [whole, left, right] = [0, 1, 2].map(() => createGroups(plan, 2));
    for (const { assignmentHash, row } of assignmentHashes(data, 150)) {
      whole!.add(assignmentHash, row);
      (data.below(2) === 0 ? left! : right!).add(assignmentHash, row);
    }
    expect(mergeGroups(plan, 2, left!, decodeGroups(plan, 2, right!.encode())).encode())
      .toEqual(whole!.encode());
  });

  it('refuse to be merged with groups of another plan', () => {
    const [one, two] = [3, 4].map((spread) => planOf('mean', { spread }, factsOf(2, 6_000)));
    const three = planOf('populous-mean', { spread: 3 }, factsOf(2, 6_000));
    expect(() => mergeGroups(one!, 2, createGroups(one!, 2), createGroups(three, 2)))
      .toThrow(InvalidParameterError);
    expect(() => mergeGroups(one!, 2, createGroups(one!, 2), createGroups(two!, 2))).not.toThrow();
  });
});

describe('the mean of a group', () => {
  it('is compact: its size is that of its dimension', () => {
    const summary = meanSummary(2, ({ mean }) => mean);
    const data = dataSource('compact');
    const state = Array.from({ length: 300 }, () => data.normals(2))
      .reduce((sum, row) => summary.add(sum, row, 0n), summary.empty());
    expect(summary.encode(state).length).toBe(summary.encode(summary.empty()).length);
  });
});
