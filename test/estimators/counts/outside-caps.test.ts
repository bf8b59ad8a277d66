import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/base/bytes.js';
import { Sensitive } from '../../../src/base/brands.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource } from '../../support/data.js';
import { foundKeys } from '../../support/found-keys.js';
import { factsOf } from '../../support/offline.js';

const people = 4_000;
const listed = { list: 'public', count: 2, groupsMax: 1 } as const;
const discovered = { list: 'discovered', groupsMax: 1, prefilter: 1, top: 4 } as const;

/** Facts of rows with so many columns, behind the place of a key where there is one. */
const factsWith = (columns: number, keys?: StudyFacts['keys']): StudyFacts => ({
  ...factsOf(columns + (keys === undefined ? 0 : 1), people, 2),
  ...(keys !== undefined && { keys }),
});

function planOf(name: string, given: Record<string, unknown>, facts: StudyFacts): Plan {
  const estimator = findEstimator(name);
  const columns = facts.dimension - (facts.keys === undefined ? 0 : 1);
  const plan =
    estimator.plan(parseParameters(estimator.parameters, given, { dimension: columns }), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

async function answerOf(
  plan: Plan, rows: readonly number[][], seed: string,
): Promise<ValueOutcome> {
  const groups = createGroups(plan, rows[0]!.length);
  const data = dataSource('hashes');
  rows.forEach((row) => groups.add(data.assignmentHash(), Float64Array.from(row)));
  const value = await releaseGroups(plan, groups, {
    mechanisms: createMechanisms(plan.events, seededNoise(seed)),
    work: seededRandom(utf8('work')), keys: Sensitive.of(foundKeys(['a', 'b'])),
  });
  if (value.kind === 'refused') throw new Error(value.text);
  return value;
}

/** Rows whose columns are 1 to 2 but for every tenth person, who has `far`. */
const rowsWith = (far: readonly (number | null)[], isKeyed: boolean): number[][] =>
  Array.from({ length: people }, (_, i) => [
    ...isKeyed ? [i % 2] : [],
    ...far.map((value) => (value === null || i % 20 > 1 ? 1 + (i % 11) / 10 : value)),
  ]);

const kinds = [
  ['', undefined], [' by listed keys', listed], [' by keys that are found', discovered],
] as const;

describe.each(kinds)('a sum%s', (_, keys) => {
  it.each([
    ['cap', 2, [40, 1]], ['cap', 2, [-40, 0]],
    ['range', '-3..2', [40, 1]], ['range', '-3..2', [-40, 0]],
  ] as const)('with %s %s is open where %j of its values are', async (name, bound, [far, side]) => {
    const plan = planOf('sum', { [name]: bound }, factsWith(1, keys));
    const { findings, interval95 } =
      await answerOf(plan, rowsWith([far], keys !== undefined), 'sum');
    expect(findings).toMatchObject([{ reason: 'values-clipped', columns: [0] }]);
    const [open, closed] = side === 1
      ? [interval95!.high, interval95!.low] : [interval95!.low, interval95!.high];
    expect(open.every((end) => end === far * Infinity)).toBe(true);
    expect(closed.every(Number.isFinite)).toBe(true);
  });

  it('has both ends where nobody is beyond the cap', async () => {
    const plan = planOf('sum', { cap: 2 }, factsWith(1, keys));
    const { findings, interval95 } =
      await answerOf(plan, rowsWith([2], keys !== undefined), 'inside');
    expect(findings).toBeUndefined();
    expect([...interval95!.low, ...interval95!.high].every(Number.isFinite)).toBe(true);
  });
});

it.each([['above cap-max', 140, 1], ['below 0', -3, 0]] as const)(
  'a sum whose cap is found is open where many are %s', async (_, far, side) => {
    const plan = planOf('sum', { cap: 'auto', 'cap-max': 100 }, factsWith(1));
    const rows = Array.from({ length: people }, (__, i) =>
      [i % 10 === 0 ? far : 1 + (i % 11) / 10]);
    const { findings, interval95, estimate } = await answerOf(plan, rows, 'auto');
    expect(findings).toContainEqual(
      expect.objectContaining({ reason: 'values-clipped', columns: [0] }));
    const ends = [interval95!.low[0]!, interval95!.high[0]!];
    expect(ends[side]).toBe(side === 1 ? Infinity : -Infinity);
    const total = rows.reduce((sum, [value]) => sum + Math.min(100, Math.max(0, value!)), 0);
    expect(Math.abs(ends[1 - side]! - total)).toBeLessThan(1_500);
    expect(Math.abs(estimate[0]! - total)).toBeLessThan(1_000);
  },
);

describe.each(kinds)('a ratio%s', (_, keys) => {
  /** The ratio of all rows, the same under both keys. */
  const truthOf = (rows: readonly number[][]): number => {
    const totalAt = (place: number): number => rows.reduce((sum, row) => sum + row.at(place)!, 0);
    return totalAt(-2) / totalAt(-1);
  };

  it.each([
    ['more above the line', [40, null], [Number.isFinite, (end: number) => end === Infinity]],
    ['less above the line', [-40, null], [(end: number) => end === -Infinity, Number.isFinite]],
    ['more below the line', [null, 40], [(end: number) => end === 0, Number.isFinite]],
    ['less below the line', [null, -40],
      [(end: number) => end === -Infinity, (end: number) => end === Infinity]],
  ] as const)('holds that of unclipped totals where there is %s', async (__, far, [low, high]) => {
    const plan = planOf('ratio', { cap: [2, 2] }, factsWith(2, keys));
    const rows = rowsWith(far, keys !== undefined);
    const { findings, interval95 } = await answerOf(plan, rows, 'ratio');
    expect(findings![0]).toMatchObject({ reason: 'values-clipped' });
    expect(interval95!.low.every(low)).toBe(true);
    expect(interval95!.high.every(high)).toBe(true);
    const truth = truthOf(rows);
    interval95!.low.forEach((end) => expect(end).toBeLessThanOrEqual(truth));
    interval95!.high.forEach((end) => expect(end).toBeGreaterThanOrEqual(truth));
  });

  it('has both ends where nobody is beyond the caps', async () => {
    const plan = planOf('ratio', { cap: [2, 2] }, factsWith(2, keys));
    const { findings, interval95 } =
      await answerOf(plan, rowsWith([null, null], keys !== undefined), 'inside');
    expect(findings).toBeUndefined();
    expect(interval95!.low[0]).toBeGreaterThan(0.9);
    expect(interval95!.high[0]).toBeLessThan(1.1);
  });
});
