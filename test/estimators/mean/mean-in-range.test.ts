import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/base/bytes.js';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import type {
  Plan, PrivacyTarget, StudyFacts,
} from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../../src/estimators/run.js';
import { planWithin } from '../../../src/plan.js';
import {
  privacyTarget, resolvePureTarget, targetAlone,
} from '../../../src/privacy/accounting/target.js';
import { seededRandom } from '../../../src/random/work.js';
import { dataSource, type DataSource } from '../../support/data.js';
import { releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const pureOf = (epsilon: number): PrivacyTarget => resolvePureTarget({ epsilon, delta: 0 });
const factsOf = (dimension: number, cohort: number, target: PrivacyTarget): StudyFacts =>
  ({ dimension, cohort, participation: 'secret', target });

function planOf(range: string, facts: StudyFacts): Plan {
  const estimator = findEstimator('mean');
  const columns = facts.dimension - Number(facts.keys !== undefined);
  const values = parseParameters(estimator.parameters, { range }, { dimension: columns });
  const plan = planWithin(estimator, values, facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

function valueOf(outcome: Outcome): ValueOutcome {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

async function answerOf(plan: Plan, values: readonly number[], seed: string) {
  const { estimate, interval95 } =
    valueOf(await releaseOf(plan, 1, values.map((value) => Float64Array.of(value)), seed));
  return { estimate: estimate[0]!, low: interval95!.low[0]!, high: interval95!.high[0]! };
}

const exponential = (data: DataSource): number => -20 * Math.log(1 - data.uniform());
/** Shapes with the mean that counts, clipped to the range. */
const shapes = [
  ['ages', '0..120', (data: DataSource) => 42 + 17 * data.normal(), 42],
  ['exponential', '0..200', exponential, 20 * (1 - Math.exp(-10))],
  ['yes or no', '0..1', (data: DataSource) => data.below(100) < 3 ? 1 : 0, 0.03],
  ['mostly zeros', '0..300', (data: DataSource) => (data.below(10) === 0 ? exponential(data) : 0),
    2 * (1 - Math.exp(-15))],
  ['uniform', '0..1', (data: DataSource) => data.uniform(), 0.5],
  ['a few far out', '0..1000',
    (data: DataSource) =>
      (data.below(200) === 0 ? 700 + 300 * data.uniform() : 20 * data.uniform()),
    0.005 * 850 + 0.995 * 10],
] as const;

describe('the interval of a mean in a range', () => {
  // Of 6 x 120 intervals with 95 in 100, fewer than 655 hold once in a million times.
  it.each([pureOf(1), privacyTarget({ epsilon: 1, delta: 1e-6 })])(
    'holds the mean, and is much narrower than the range allows: %#', async (target) => {
      let held = 0;
      const people = 1_000;
      const ratios: number[] = [];
      for (const [name, range, valueIn, mean] of shapes) {
        const plan = planOf(range, factsOf(1, people, target));
        const high = Number(range.split('..')[1]);
        for (let round = 0; round < 120; round++) {
          const data = dataSource(`${name} ${round}`);
          const values = Array.from({ length: people }, () => valueIn(data));
          const answer = await answerOf(plan, values, `${name} ${round}`);
          held += Number(answer.low <= mean && mean <= answer.high);
          const widest = 1.96 * Math.hypot(plan.noise[0]!, (high / 2) / Math.sqrt(people));
          if (name !== 'yes or no') ratios.push((answer.high - answer.low) / 2 / widest);
        }
      }
      expect(held).toBeGreaterThan(655);
      ratios.sort((one, two) => one - two);
      expect(ratios[ratios.length >> 1]).toBeLessThan(target.isPure === true ? 0.6 : 0.8);
    },
  );

  it('holds the mean of 20 people by the bound that the mean itself has', async () => {
    const plan = planOf('0..1', factsOf(1, 20, pureOf(4)));
    expect(plan.facts['noiseOfSquares']).toBeUndefined();
    let held = 0;
    for (let round = 0; round < 400; round++) {
      const data = dataSource(`twenty ${round}`);
      const values = Array.from({ length: 20 }, () => Number(data.below(2)));
      const { low, high } = await answerOf(plan, values, `twenty ${round}`);
      held += Number(low <= 0.5 && 0.5 <= high);
      expect(high - low).toBeLessThan(2 * 0.32);
    }
    // Wilson's interval of 20 people holds .5 in .959 of all samples.
    expect(held).toBeGreaterThan(355);
  });

  it('follows each group of its own, by key', async () => {
    const keys = { list: 'public', groupsMax: 1, count: 3 } as const;
    const facts = { ...factsOf(2, 3_000, pureOf(1)), keys };
    const plan = planOf('0..100', facts);
    const data = dataSource('by key');
    const widths = [1, 10, 30];
    const rows = Array.from({ length: 3_000 }, (_, i) =>
      Float64Array.of(i % 3, 50 + widths[i % 3]! * data.normal()));
    const { low, high } = valueOf(await releaseOf(plan, 2, rows, 'by key')).interval95!;
    const halves = low.map((end, key) => (high[key]! - end) / 2);
    // The worst that the range allows is 3.1 for a thousand people, beside noise of 1.2.
    expect(halves[0]).toBeLessThan(2);
    expect(halves[2]).toBeGreaterThan(1.96 * 30 / Math.sqrt(1_000));
    expect(halves[0]).toBeLessThan(halves[2]!);
  });
});

describe('the noise of a mean in a range', () => {
  // The noise alone: the sum's, and that of the count at this mean. The people outside the range
  // take a twentieth of the cost, and the squares a fifth of the weight of the count.
  it.each([
    ['1..5', 3.5, 30, 0.225], ['1..5', 3.5, 100, 0.066], ['1..5', 3.5, 500, 0.0132],
    ['0..120', 42, 30, 6.9], ['0..120', 42, 100, 2], ['0..120', 42, 500, 0.4],
  ])('in %s about %d is, for %i people, at most %d', async (range, mean, people, most) => {
    const plan = planOf(range, factsOf(1, people, targetAlone({ epsilon: 1, delta: 1e-6 })));
    expect(plan.events.map(({ kind }) => kind)).toEqual(['laplace', 'laplace']);
    let squares = 0;
    const rounds = 3_000;
    for (let round = 0; round < rounds; round++) {
      const { estimate } =
        await answerOf(plan, new Array<number>(people).fill(mean), `noise ${round}`);
      squares += (estimate - mean) ** 2 / rounds;
    }
    expect(Math.sqrt(squares)).toBeLessThan(most);
  });
});

describe('the vector of sums, squares and counts', () => {
  it.each([
    [pureOf(4), 1, 1], [pureOf(4), 1, 2], [pureOf(4), 4, 1],
    [privacyTarget({ epsilon: 4, delta: 1e-6 }), 1, 1],
    [privacyTarget({ epsilon: 4, delta: 1e-6 }), 4, 2],
  ] as const)('is moved as far as is charged: %#', async (target, count, columns) => {
    const keys = { list: 'public', groupsMax: 1, count } as const;
    const isKeyed = count > 1;
    const dimension = columns + Number(isKeyed);
    const facts = { ...factsOf(dimension, 2_000, target), ...(isKeyed && { keys }) };
    const plan = planOf('-1..1', facts);
    expect(plan.facts['noiseOfSquares']).toBeGreaterThan(0);
    const event = plan.events.find(({ name }) => name === 'means')!;
    if (!('sensitivity' in event)) throw new Error('a mean adds noise');
    const entries = [-2, -1, -0.999999, -0.5, 0.3, 1e-6, 0.7, 1];
    const own = columns === 1 ? entries.map((one) => [one])
      : entries.flatMap((one) => entries.map((other) => [one, other]));
    const rows = isKeyed ? [0, 1].flatMap((key) => own.map((row) => [key, ...row])) : own;
    const given: Float64Array[] = [];
    for (const row of [null, ...rows]) {
      const { mechanisms, recorded } = recordingMechanisms(plan.events);
      const groups = createGroups(plan, dimension);
      if (row !== null) groups.add(new Uint8Array(32), Float64Array.from(row));
      await releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8('work')) });
      given.push(recorded.find(({ event: of }) => of === 'means')!.content as Float64Array);
    }
    const distances = given.flatMap((left) => given.map((right) => {
      const moved = Array.from(left, (value, i) => Math.abs(value - right[i]!));
      return event.kind === 'laplace' ? moved.reduce((sum, by) => sum + by) : Math.hypot(...moved);
    }));
    expect(Math.max(...distances)).toBeLessThanOrEqual(event.sensitivity);
    expect(Math.max(...distances)).toBeGreaterThan(event.sensitivity * (1 - 1e-5));
  });
});
