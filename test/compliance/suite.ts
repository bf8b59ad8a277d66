import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../src/answers/words.js';
import type { Contributors } from '../../src/audit/contract.js';
import { checkRelease } from '../../src/audit/exact/release-check.js';
import { utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import type { ColumnInfo, NumberInfo } from '../../src/base/number-info.js';
import type { Outcome, ValueOutcome } from '../../src/base/outcome.js';
import type {
  Estimator, ParameterValues, Plan, PrivacyTarget, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { descriptions } from '../../src/estimators/generated/descriptions.js';
import {
  createGroups, decodeGroups, releaseGroups, type Groups,
} from '../../src/estimators/run.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { costOfEvents, chargeFits } from '../../src/privacy/accounting/composition.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { dataSource, shuffled, type DataSource } from '../support/data.js';
import { opened } from '../support/opened.js';

/**
 * How the suite runs one estimator. Location estimators of symmetric rows need nothing beside
 * these.
 */
export interface ComplianceSample {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly dimension: number;
  readonly cohort: number;
  readonly spread: number;
  /** Rows of one honest contributor around zero, in data units. */
  honest(data: DataSource): Float64Array;
  /**
   * What the estimate should be for honest rows. @param rows - those of this release, for answers
   * that are about them.
   */
  truth(dimension: number, rows: readonly Float64Array[]): readonly number[];
  /** Whether adding a constant to every row adds it to the estimate. */
  readonly location: boolean;
  /**
   * Counts: nobody is an answer like any other, so there is a plan for any cohort and no refusal.
   */
  readonly answersAnyCohort?: true;
  /** So few contributors are too few for a plan. Default 50. */
  readonly hopelessCohort?: number;
  /**
   * The answer is one of a few exact ones, without noise: no error of its own, and the same from
   * every seed.
   */
  readonly exact?: true;
  /**
   * A release takes a second: `npm test` makes a few, and the rest is left to `npm run test:all`.
   */
  readonly isLarge?: true;
  /**
   * The answer is one number with normal noise, which is shared among those who came. The mean of
   * few squared errors then varies much, so more releases are made. An estimator that errs exactly
   * as it says fails a check with the chance of chi-squared: 3e-7 with 100 degrees of freedom below
   * 44.4 or above 225, and 3e-8 with 250 above 390.6, where half of the cohort doubles the error.
   */
  readonly isOneNumber?: true;
  /** Releases for the error on honest rows, where few of them err much more. Default 16. */
  readonly honestRounds?: number;
}

/** What rounding to doubles may do to an exact answer. */
const roundingError = 1e-12;

export const locationSample: ComplianceSample = {
  parameters: { spread: 3 },
  dimension: 2,
  cohort: 4_000,
  spread: 3,
  honest: (data) => data.normals(2).map((entry) => 3 * entry),
  truth: (dimension) => new Array<number>(dimension).fill(0),
  location: true,
};

interface Entry {
  readonly assignmentHash: Uint8Array;
  readonly row: Float64Array;
}

function contributorsOf(list: readonly Entry[]): Contributors {
  return {
    count: list.length,
    assignmentHashes: Uint8Array.from(list.flatMap(({ assignmentHash }) => [...assignmentHash])),
    rows: Float64Array.from(list.flatMap(({ row }) => [...row])),
  };
}

const target: PrivacyTarget = privacyTarget({ epsilon: 2, delta: 1e-6 });

/** Everything a plan says that is not a function, as text. */
function written(plan: unknown): string {
  return JSON.stringify(plan, (_, value: unknown) =>
    (typeof value === 'bigint' ? value.toString() : value));
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFrozen);
  return Object.freeze(value);
}

/** Names the events that a release draws. */
function recording(mechanisms: Mechanisms, names: Set<string>): Mechanisms {
  return new Proxy(mechanisms, {
    get(inner, property: keyof Mechanisms) {
      return (event: string, value: never, keys: never) => {
        names.add(event);
        return inner[property](event, value, keys);
      };
    },
  });
}

/**
 * Fails unless every number of an answer has a description, and its interval holds a value that the
 * description says is possible.
 */
function expectDescribed(
  numbers: readonly NumberInfo[], { estimate, interval95 }: ValueOutcome,
): void {
  expect(numbers).toHaveLength(estimate.length);
  numbers.forEach(({ least = -Infinity, most = Infinity }, i) => {
    expect(least).toBeLessThan(most);
    expect(interval95?.high[i] ?? estimate[i]!).toBeGreaterThanOrEqual(least);
    expect(interval95?.low[i] ?? estimate[i]!).toBeLessThanOrEqual(most);
  });
}

const columnNames = ['first', 'second', 'third'] as const;

/** Every estimator passes this; what it promises beyond is in its own tests. */
export function complianceSuite(estimator: Estimator, sample: ComplianceSample): void {
  const { dimension, cohort, spread } = sample;
  /** Of tests that release the whole sample twice or more. */
  const tags = sample.isLarge === true ? ['slow'] : [];
  const parse = (raw: Readonly<Record<string, unknown>>): ParameterValues =>
    parseParameters(estimator.parameters, raw, { dimension });
  const facts: StudyFacts = { dimension, cohort, participation: 'secret', target };
  const columns = columnNames.slice(0, dimension).map((name): ColumnInfo => ({ name }));

  const planWith = (
    raw: Readonly<Record<string, unknown>> = sample.parameters, other: StudyFacts = facts,
  ): Plan => {
    const plan = estimator.plan(parse(raw), other);
    if (plan.kind === 'infeasible') throw new Error(`the sample is infeasible: ${plan.reason}`);
    return plan;
  };

  const entries = (data: DataSource, count: number, hostile?: {
    share: number; row(data: DataSource): Float64Array;
  }): Entry[] =>
    Array.from({ length: count }, (_, i) => ({
      assignmentHash: data.assignmentHash(),
      row: hostile !== undefined && i < hostile.share * count
        ? hostile.row(data) : sample.honest(data),
    }));

  const filled = (plan: Plan, list: readonly Entry[]): Groups => {
    const groups = createGroups(plan, dimension);
    for (const { assignmentHash, row } of list) groups.add(assignmentHash, row);
    return groups;
  };

  const release = (
    plan: Plan, groups: Groups, seed: string, names = new Set<string>(),
  ): Promise<Outcome> =>
    releaseGroups(plan, groups, {
      mechanisms: recording(createMechanisms(plan.events, seededNoise(seed)), names),
      work: seededRandom(utf8('work')),
    });

  /** Euclidean error in units of spread; undefined when refused. */
  const errorOf = (outcome: Outcome, list: readonly Entry[], shift = 0): number | undefined => {
    if (outcome.kind === 'refused') return undefined;
    const truth = sample.truth(dimension, list.map(({ row }) => row));
    return Math.hypot(...truth.map((value, j) => (outcome.estimate[j]! - value - shift) / spread));
  };

  const measured = async (
    plan: Plan,
    label: string,
    count: number,
    rounds: number,
    hostile?: { share: number; row(data: DataSource): Float64Array },
  ): Promise<{ rms: number; answered: number }> => {
    let squares = 0;
    let answered = 0;
    for (let round = 0; round < rounds; round++) {
      const seed = `${estimator.name} ${label} ${round}`;
      const list = entries(dataSource(seed), count, hostile);
      const error = errorOf(await release(plan, filled(plan, list), seed), list);
      if (error === undefined) continue;
      answered += 1;
      squares += error * error;
    }
    return { rms: Math.sqrt(squares / answered), answered };
  };

  describe(`${estimator.name}: plan`, () => {
    it('is pure: same inputs, same plan, inputs untouched', () => {
      const parameters = deepFrozen({ ...parse(sample.parameters) });
      const frozen = deepFrozen({ ...facts });
      expect(written(estimator.plan(parameters, frozen)))
        .toBe(written(estimator.plan(parameters, frozen)));
    });

    it('costs what its events cost, and no more than was asked', () => {
      const plan = planWith();
      const disjoint = plan.arms.length > 1 ? plan.arms.map(({ name }) => name) : [];
      expect(plan.cost).toEqual(costOfEvents(plan.events, { disjoint }));
      expect(chargeFits(plan.cost, target)).toBe(true);
      // The rho of several pure events is less than that of their epsilons together.
      const { rho, epsilon } = plan.cost;
      const pure = epsilon === null ? 0 : amountToNumber(epsilon) / Math.sqrt(2 * target.rho);
      expect(Math.max(pure, amountToNumber(rho) / target.rho)).toBeGreaterThan(0.99);
      expect(new Set(plan.events.map(({ name }) => name)).size).toBe(plan.events.length);
      const cohorts = new Set(plan.arms.map(({ name }) => name));
      for (const event of plan.events) expect(cohorts).toContain(event.cohort);
    });

    it('describes itself in public numbers', () => {
      const plan = planWith();
      expect(plan.arms.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
      expect(plan.noise.every((deviation) => deviation > 0)).toBe(true);
      expect(estimator.citations.length).toBeGreaterThan(0);
      expect(estimator.claim.length).toBeGreaterThan(20);
      for (const value of Object.values(plan.facts)) {
        expect(typeof value === 'string' || Number.isFinite(value)).toBe(true);
      }
      const { total, sampling, noise, bias } = plan.expectedError(0);
      expect(total).toBeCloseTo(Math.hypot(sampling, noise, bias), 9);
      expect(plan.expectedError(0.9).total).toBe(Infinity);
      expect(plan.expectedError(plan.guarantee.corruptionMax).total).toBeLessThan(Infinity);
    });

    it('describes each number of an answer, from public facts alone', () => {
      const plan = planWith();
      const parameters = deepFrozen({ ...parse(sample.parameters) });
      const numbers = estimator.describe(parameters, columns);
      expect(numbers).toHaveLength(plan.outputShape.reduce((product, size) => product * size, 1));
      expect(estimator.describe(parameters, columns)).toEqual(numbers);
      expect(JSON.parse(JSON.stringify(numbers))).toEqual(numbers);
      for (const number of numbers) {
        const { column = 'first' } = number as { readonly column?: string };
        expect(columns.map(({ name }) => name)).toContain(column);
        expect(number.group).toBeUndefined();
        expect(number.kind).not.toBe('other');
      }
      const labels = labelsOf(numbers);
      expect(new Set(labels).size).toBe(labels.length);
      expect(labels.join('\n')).toMatchSnapshot();
      expect(descriptions[estimator.name]).toBe(estimator.describe);
    });

    it('refuses parameters outside their bounds', () => {
      for (const spec of estimator.parameters) {
        for (const bound of [spec.minimum, spec.maximum]) {
          if (bound === undefined) continue;
          const outside = bound === spec.minimum
            ? bound - Math.abs(bound) - 1 : 2 * Math.abs(bound) + 1;
          expect(() => parse({ ...sample.parameters, [spec.name]: outside }))
            .toThrow(InvalidParameterError);
        }
        expect(() => parse({ ...sample.parameters, [spec.name]: { odd: true } }))
          .toThrow(InvalidParameterError);
      }
      expect(() => parse({ ...sample.parameters, unheardOf: 1 })).toThrow(InvalidParameterError);
    });

    it('says what a hopeless cohort would need, and needs no more than it says', () => {
      const few = sample.hopelessCohort ?? 50;
      const hopeless = estimator.plan(parse(sample.parameters), { ...facts, cohort: few });
      expect(hopeless.kind).toBe(sample.answersAnyCohort === true ? 'plan' : 'infeasible');
      if (hopeless.kind !== 'infeasible' || hopeless.cohortNeeded === undefined) return;
      expect(
        estimator.plan(parse(sample.parameters), { ...facts, cohort: hopeless.cohortNeeded }).kind,
      ).toBe('plan');
    });
  });

  describe(`${estimator.name}: summaries`, { tags: ['long'] }, () => {
    const plan = planWith();

    it('do not depend on the order of rows, and neither does the release', async () => {
      const data = dataSource(`${estimator.name} order`);
      const list = entries(data, cohort);
      const first = filled(plan, list);
      const second = filled(plan, shuffled(list, data));
      const outcomes =
        await Promise.all([first, second].map((groups) => release(plan, groups, 'order')));
      expect(outcomes[0]!.kind).toBe('value');
      expect(outcomes[1]).toEqual(outcomes[0]);
    });

    it('survive their codec', { tags }, async () => {
      const data = dataSource(`${estimator.name} codec`);
      const groups = filled(plan, entries(data, cohort));
      const bytes = groups.encode();
      expect(decodeGroups(plan, dimension, bytes).encode()).toEqual(bytes);
      expect(await release(plan, decodeGroups(plan, dimension, bytes), 'codec'))
        .toEqual(await release(plan, groups, 'codec'));
      expect(() => decodeGroups(plan, dimension, bytes.subarray(0, bytes.length - 1)))
        .toThrow(InvalidParameterError);
      expect(() => decodeGroups(plan, dimension + 1, bytes)).toThrow(InvalidParameterError);
    });

    it('merge to what one summary of all rows gives', () => {
      for (const { name, mode } of plan.arms) {
        const data = dataSource(`${estimator.name} merge`);
        const summary = plan.summary(name);
        let whole = summary.empty();
        let left = summary.empty();
        let right = summary.empty();
        for (let i = 0; i < 21; i++) {
          const row = sample.honest(data);
          whole = summary.add(whole, row, BigInt(i));
          if (i % 3 === 0) left = summary.add(left, row, BigInt(i));
          else right = summary.add(right, row, BigInt(i));
        }
        const work = seededRandom(utf8('merge'));
        const [merged, direct] = [
          summary.finish(summary.merge(left, right), work), summary.finish(whole, work),
        ];
        expect(merged.kind === 'pooled').toBe(mode === 'pooled');
        if (merged.kind === 'label' || direct.kind === 'label') {
          expect(merged).toEqual(direct);
          continue;
        }
        // Rows without tags come in the order of arrival, on which a release must not depend.
        const numbers = (item: typeof merged): Float64Array => {
          if (item.kind === 'places') return Float64Array.from(item.counts);
          if (item.kind !== 'pooled') return item.statistic.values;
          const { values, tags, count } = item.rows;
          if (tags.length === count) return values;
          const rows = Array.from({ length: count }, (_, i) =>
            [...values.subarray(i * dimension, (i + 1) * dimension)]);
          return Float64Array.from(rows.sort((a, b) => a[0]! - b[0]!).flat());
        };
        numbers(direct).forEach((value, i) => expect(numbers(merged)[i]).toBeCloseTo(value, 9));
      }
    });

    it('change in one place when one contributor is replaced, or absent', () => {
      const data = dataSource(`${estimator.name} neighbours`);
      const list = entries(data, 400);
      const work = seededRandom(utf8('neighbours'));
      const before = opened(filled(plan, list).finish(work));
      for (let round = 0; round < 10; round++) {
        const index = data.below(list.length);
        const absent = list.filter((_, i) => i !== index);
        const hostile = { ...list[index]!, row: new Float64Array(dimension).fill(1e12) };
        for (const neighbour of [absent, list.map((entry, i) => (i === index ? hostile : entry))]) {
          const after = opened(filled(plan, neighbour).finish(work));
          let changed = 0;
          for (const [name, items] of before) {
            items.forEach((item, i) => {
              if (written(item) !== written(after.get(name)![i])) changed += 1;
            });
          }
          expect(changed).toBeLessThanOrEqual(1);
        }
      }
    });

    it('refuse rows of another dimension, and take a row that is not a number for no '
      + 'row', async () => {
      const data = dataSource(`${estimator.name} null`);
      const groups = createGroups(plan, dimension);
      const wide = new Float64Array(dimension + 1);
      expect(() => groups.add(data.assignmentHash(), wide)).toThrow(InvalidParameterError);
      const list = entries(data, cohort);
      const withNull = filled(plan, [
        ...list,
        { assignmentHash: data.assignmentHash(), row: new Float64Array(dimension).fill(NaN) },
      ]);
      expect(await release(plan, withNull, 'null'))
        .toEqual(await release(plan, filled(plan, list), 'null'));
    });
  });

  describe(`${estimator.name}: release`, { tags: ['long'] }, () => {
    const plan = planWith();

    it('draws the same bytes from the same seeds, others from others, and only planned '
      + 'events', { tags }, async () => {
      const list = entries(dataSource(`${estimator.name} seeds`), cohort);
      const names = new Set<string>();
      const first = await release(plan, filled(plan, list), 'one', names);
      expect(first.kind).toBe('value');
      expect(await release(plan, filled(plan, list), 'one')).toEqual(first);
      if (sample.exact !== true) {
        expect(await release(plan, filled(plan, list), 'two')).not.toEqual(first);
      }
      const planned = new Set(plan.events.map(({ name }) => name));
      for (const name of names) expect(planned).toContain(name);
      expect(names.size).toBeGreaterThan(0);
    });

    it('refuses, or is right, and does not throw, when there is nobody or one', async () => {
      for (const list of [[], entries(dataSource('one'), 1)]) {
        const outcome = await release(plan, filled(plan, list), 'nobody');
        expect(outcome.kind).toBe(sample.answersAnyCohort === true ? 'value' : 'refused');
        expect(errorOf(outcome, list) ?? 0)
          .toBeLessThan(4 * plan.expectedError(0).total + roundingError);
      }
    });

    it('costs no more than it charges on neighbours of honest rows, call by call', async () => {
      const data = dataSource(`${estimator.name} pairs`);
      const list = entries(data, cohort);
      const far = { ...list[0]!, row: list[0]!.row.map((entry) => entry + 1e6 * spread) };
      const left = contributorsOf(list);
      const pairs = [
        { name: 'one far away', left, right: contributorsOf([far, ...list.slice(1)]) },
        { name: 'one absent', left, right: contributorsOf(list.slice(1)) },
      ];
      const found = await checkRelease({
        subject: { plan, dimension }, prefixes: 2,
        pairs: sample.isLarge === true ? pairs.slice(0, 1) : pairs,
      });
      expect(found.faults).toEqual([]);
      expect(found.moved).toBeGreaterThan(0);
    });

    it('has a value in the shape and with the uncertainty that it promises', async () => {
      const outcome =
        await release(plan, filled(plan, entries(dataSource('shape'), cohort)), 'shape');
      if (outcome.kind !== 'value') throw new Error('refused');
      expect(outcome.shape).toEqual(plan.outputShape);
      expect(outcome.parts).toEqual(plan.parts);
      expect(outcome.estimate)
        .toHaveLength(plan.outputShape.reduce((product, size) => product * size, 1));
      expect(outcome.estimate.every((value) => Number.isFinite(value))).toBe(true);
      expectDescribed(estimator.describe(parse(sample.parameters), columns, outcome), outcome);
      if (outcome.uncertainty.kind === 'gaussian' && plan.noise.length > 0) {
        outcome.uncertainty.standardDeviation.forEach((deviation, j) => {
          expect(deviation / plan.noise[j]!).toBeGreaterThan(0.5);
          expect(deviation / plan.noise[j]!).toBeLessThan(2);
        });
      }
      outcome.interval95?.low.forEach((low, j) => {
        expect(low).toBeLessThan(outcome.estimate[j]!);
        expect(outcome.interval95!.high[j]!).toBeGreaterThan(outcome.estimate[j]!);
      });
    });

    it.each([0.5, 1, 1.5])('is right or refuses when %d of the cohort '
      + 'came', { tags: ['slow'] }, async (share) => {
      const rounds = sample.isOneNumber === true ? 250 : 4;
      const { rms, answered } =
        await measured(plan, `cohort ${share}`, Math.round(share * cohort), rounds);
      if (share === 1) expect(answered).toBe(rounds);
      if (answered > 0) expect(rms).toBeLessThan(2.5 * plan.expectedError(0).total + roundingError);
    });

    it('errs as much as it says on honest rows, within a factor 1.5 either '
      + 'way', { tags: ['slow'] }, async () => {
      const rounds = sample.isOneNumber === true ? 100 : sample.honestRounds ?? 16;
      const { rms, answered } = await measured(plan, 'honest', cohort, rounds);
      expect(answered).toBe(rounds);
      const { total, sampling, noise } = plan.expectedError(0);
      expect(rms).toBeLessThan(1.5 * total + roundingError);
      // The bias is the worst of all rows that the estimator allows, and these have none.
      if (sample.exact !== true) expect(rms).toBeGreaterThan(Math.hypot(sampling, noise) / 1.5);
    });

    it('stays within its stated error under the contamination it '
      + 'declares', { tags: ['slow'] }, async () => {
      const share = plan.guarantee.corruptionMax;
      const said = plan.expectedError(share).total;
      for (const shift of share === 0 ? [] : [1, 1.8, 4, 1e6]) {
        const row = (data: DataSource): Float64Array =>
          sample.honest(data).map((entry) => entry + shift * spread);
        const { rms, answered } = await measured(plan, `shift ${shift}`, cohort, 4, { share, row });
        expect(answered).toBeGreaterThanOrEqual(3);
        expect(rms).toBeLessThan(1.5 * said + roundingError);
      }
    });

    it.runIf(sample.location)('is as good far from the origin, and with a constant '
      + 'column', async () => {
      const data = dataSource(`${estimator.name} far`);
      const shift = 1e6 * spread;
      const far = entries(data, cohort).map(
        ({ assignmentHash, row }) => ({ assignmentHash, row: row.map((entry) => entry + shift) }),
      );
      expect(errorOf(await release(plan, filled(plan, far), 'far'), [], shift))
        .toBeLessThan(4 * plan.expectedError(0).total);
      const constant = far.map(({ assignmentHash, row }) => ({
        assignmentHash, row: row.map((entry, j) => (j === 0 ? shift : entry)),
      }));
      expect(errorOf(await release(plan, filled(plan, constant), 'constant'), [], shift))
        .toBeLessThan(4 * plan.expectedError(0).total);
    });
  });
}
