import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../../src/answers/words.js';
import { utf8 } from '../../../src/base/bytes.js';
import type { ValueOutcome } from '../../../src/base/outcome.js';
import type { Plan } from '../../../src/estimators/contract/estimator.js';
import {
  boundsOf, stepsOf, stepsPerUnit,
} from '../../../src/estimators/counts/sum/bounds.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, mergeGroups, releaseGroups } from '../../../src/estimators/run.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource, shuffled } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

type Row = readonly number[];

const rowsOf = (rows: readonly Row[]): Float64Array[] => rows.map((row) => Float64Array.from(row));

async function answerOf(plan: Plan, rows: readonly Row[], seed: string): Promise<ValueOutcome> {
  const outcome = await releaseOf(plan, rows[0]?.length ?? 1, rowsOf(rows), seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** What the mechanisms were given for an event, before noise. */
async function givenTo(plan: Plan, event: string, rows: readonly Row[]): Promise<number[]> {
  const data = dataSource('tickets');
  const groups = createGroups(plan, rows[0]!.length);
  for (const row of rowsOf(rows)) groups.add(data.assignmentHash(), row);
  const { mechanisms, recorded } = recordingMechanisms(plan.events);
  await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
  return [...recorded.find((draw) => draw.event === event)!.content as Float64Array];
}

describe('steps of a bounded value', () => {
  it.each([
    [0, 1], [0, 3.3], [-7, 0], [-1, 2], [-1 / 3, 1e-3], [5, 6], [-6, -5], [-1e150, 1e150],
    [0, 1e-150], [-0.1234567, 0.7654321],
    // Rounded alone, both ends would go away from 0: the upper one is half a step only in doubles.
    [-1 - 2 ** -40, 2 ** 21 - 1],
  ])('of %d to %d, and of nobody, are at most one unit apart, and reach it', (low, high) => {
    const bounds = boundsOf(low, high);
    const values = [low, high, 0, (low + high) / 2, low - 1, high + 1, -1e300, 1e300, -0];
    const data = dataSource('steps');
    for (let i = 0; i < 200; i++) values.push(low + (high - low) * data.uniform());
    const steps = [0, ...values.map((value) => stepsOf(value, bounds))];
    expect(steps.every(Number.isSafeInteger)).toBe(true);
    expect(Math.max(...steps) - Math.min(...steps)).toBe(stepsPerUnit);
    values.forEach((value, i) => {
      const clipped = Math.min(high, Math.max(low, value));
      expect(Math.abs(steps[i + 1]! / stepsPerUnit - clipped / bounds.unit)).toBeLessThan(1e-6);
    });
  });
});

describe('sum', () => {
  const sides = planOf('sum', { range: ['-2..6', '0..3', '-5..0'] }, factsOf(3, 50));

  it.each(['totals', 'outside'])('changes what %s are given by at most the charged sensitivity, '
    + 'and sometimes by all of it', async (name) => {
    const event = sides.events.find((each) => each.name === name)!;
    const allowed = 'sensitivity' in event ? event.sensitivity : NaN;
    const data = dataSource(`neighbours ${name}`);
    const row = (): Row => {
      const ends = [[-2, -9, 0, 6, 1e12], [0, -4, 1, 3, 1e12], [-5, -9, -1, 0, 1e12]];
      const all = data.below(2) === 0 ? data.below(5) : -1;
      return ends.map((end) => end[all < 0 ? data.below(5) : all]!);
    };
    let worst = 0;
    for (let round = 0; round < 300; round++) {
      const rows = Array.from({ length: 6 }, row);
      const before = await givenTo(sides, name, rows);
      for (const neighbour of [rows.slice(1), [row(), ...rows.slice(1)]]) {
        const after = await givenTo(sides, name, neighbour);
        worst = Math.max(worst, Math.hypot(...before.map((value, i) => value - after[i]!)));
      }
    }
    expect(worst).toBeLessThanOrEqual(allowed);
    expect(worst).toBeGreaterThan(0.999 * allowed);
  });

  it('is the same in any order and however summaries are merged, bit for bit', async () => {
    const data = dataSource('orders');
    const rows = Array.from({ length: 500 }, () => Array.from(data.normals(3)));
    const whole = await givenTo(sides, 'totals', rows);
    expect(await givenTo(sides, 'totals', shuffled(rows, data))).toEqual(whole);
    const [left, right, both] = [0, 1, 2].map(() => createGroups(sides, 3));
    rows.forEach((row, i) => {
      const hash = data.assignmentHash();
      (i % 3 === 0 ? left! : right!).add(hash, Float64Array.from(row));
      both!.add(hash, Float64Array.from(row));
    });
    expect(mergeGroups(sides, 3, left!, right!).encode()).toEqual(both!.encode());
  });

  it('has intervals that cover the total of clipped values, and noise of the stated '
    + 'size', async () => {
    const plan = planOf('sum', { cap: [10, 2] }, factsOf(2, 400));
    const data = dataSource('coverage');
    const rows = Array.from({ length: 400 }, () => [12 * data.uniform(), data.below(3)]);
    const truth = [0, 1].map((j) =>
      rows.reduce((total, row) => total + Math.min(row[j]!, [10, 2][j]!), 0));
    let covered = 0;
    let squares = 0;
    const rounds = 600;
    for (let round = 0; round < rounds; round++) {
      const { estimate, interval95, spread } = await answerOf(plan, rows, `coverage ${round}`);
      expect(spread).toEqual([10, 2]);
      truth.forEach((value, j) => {
        if (interval95!.low[j]! <= value && value <= interval95!.high[j]!) covered += 1;
        squares += ((estimate[j]! - value) / plan.noise[j]!) ** 2 / (2 * rounds);
      });
    }
    // Of 1,200 draws: 95 % within 5 standard deviations of that share, and of the squares.
    expect(covered / (2 * rounds)).toBeGreaterThan(0.918);
    expect(squares).toBeGreaterThan(0.8);
    expect(squares).toBeLessThan(1.2);
  });

  it('answers whole numbers, one constant and nobody', async () => {
    const plan = planOf('sum', { cap: 1 }, factsOf(1, 4_000));
    for (const rows of [[], [[1]], Array.from({ length: 4_000 }, (): Row => [1])]) {
      const { estimate, findings } = await answerOf(plan, rows, `constant ${rows.length}`);
      expect(Math.abs(estimate[0]! - rows.length)).toBeLessThan(5 * plan.noise[0]!);
      expect(findings).toBeUndefined();
    }
  });

  it('says how many people are beyond the bounds, where noise does not hide it', async () => {
    const plan = planOf('sum', { cap: [10, 10] }, factsOf(2, 4_000));
    const from = plan.facts['clippedReportedFrom'] as number;
    const many = Math.ceil(2 * from);
    const rows = (beyond: number): Row[] =>
      Array.from({ length: 4_000 }, (_, i) => [5, i < beyond ? 400 : 5]);
    for (let round = 0; round < 20; round++) {
      const { findings } = await answerOf(plan, rows(many), `clipped ${round}`);
      expect(findings).toEqual([
        { reason: 'values-clipped', columns: [1], amounts: [expect.any(Number)] },
      ]);
      expect(Math.abs(findings![0]!.amounts[0]! - many)).toBeLessThan(from * 2);
      expect((await answerOf(plan, rows(0), `none ${round}`)).findings).toBeUndefined();
    }
  });

  it('takes a cap or a range, and not both', () => {
    const estimator = findEstimator('sum');
    expect(() => planOf('sum', {}, factsOf(1, 50))).toThrow(/neither.*cap nor parameters.range/);
    expect(() => planOf('sum', { cap: 1, range: '0..1' }, factsOf(1, 50))).toThrow(/both given/);
    expect(() => planOf('sum', { cap: 0 }, factsOf(1, 50))).toThrow(/parameters.cap is 0/);
    const parsed = parseParameters(estimator.parameters, { range: '-1..2' }, { dimension: 2 });
    expect(labelsOf(estimator.describe(parsed, [{ name: 'cost' }, { name: 'hours' }])))
      .toEqual(['total of cost, each -1 to 2', 'total of hours, each -1 to 2']);
  });
});
