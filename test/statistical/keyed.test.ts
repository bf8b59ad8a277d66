// @module-tag slow
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { createGroups, releaseGroups } from '../../src/estimators/run.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { dataSource } from '../support/data.js';

/** Enough keys that one release has thousands of numbers. */
const count = 2_000;
const groupsMax = 3;
const perKey = 60;
const target = privacyTarget({ epsilon: 2, delta: 1e-6 });

function planned(
  name: string, raw: Readonly<Record<string, unknown>>, columns: number,
): Plan {
  const facts: StudyFacts = {
    dimension: 1 + columns, cohort: count * perKey, participation: 'secret', target,
    keys: { list: 'public', groupsMax, count },
  };
  const estimator = findEstimator(name);
  const dimension = Math.max(1, columns);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, { dimension }), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

/** One row for each key and person: the place, then `values`. */
async function released(
  plan: Plan, columns: number, people: number, seed: string,
  values: (key: number, person: number) => readonly number[],
): Promise<Outcome & { readonly kind: 'value' }> {
  const groups = createGroups(plan, 1 + columns);
  const hash = new Uint8Array(dataSource(seed).assignmentHash());
  for (let key = 0; key < count; key++) {
    for (let person = 0; person < people; person++) {
      groups.add(hash, Float64Array.of(key, ...values(key, person)));
    }
  }
  const outcome = await releaseGroups(plan, groups, {
    mechanisms: createMechanisms(plan.events, seededNoise(seed)), work: seededRandom(utf8(seed)),
  });
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

/** Root mean square, and the share of intervals that hold the truth. */
function judged(
  outcomes: readonly (Outcome & { readonly kind: 'value' })[], truth: (entry: number) => number,
) {
  let [squares, covered, all] = [0, 0, 0];
  for (const { estimate, interval95, answered } of outcomes) {
    estimate.forEach((value, i) => {
      if (answered?.[i] === false) return;
      all += 1;
      squares += (value - truth(i)) ** 2;
      if (interval95!.low[i]! <= truth(i) && truth(i) <= interval95!.high[i]!) covered += 1;
    });
  }
  return { deviation: Math.sqrt(squares / all), coverage: covered / all, all };
}

/** 95 % -+ 1 %, and noise within 2 % of what is stated. */
describe('answers by key', () => {
  const rounds = [0, 1, 2, 3, 4, 5, 6, 7];

  it('count: noise sqrt(2K / 2 rho), whatever the number of keys', async () => {
    const plan = planned('count', {}, 0);
    const outcomes = [];
    for (const round of rounds) outcomes.push(await released(plan, 0, 5, `c${round}`, () => []));
    const { deviation, coverage } = judged(outcomes, () => 5);
    const stated = Math.sqrt((2 * groupsMax) / (2 * target.rho));
    expect(plan.noise[0]! / stated).toBeCloseTo(1, 2);
    expect(Math.abs(deviation / stated - 1)).toBeLessThan(0.02);
    expect(Math.abs(coverage - 0.95)).toBeLessThan(0.01);
  });

  it('sum: noise cap sqrt(2K / 2 rho) of its 95 %', async () => {
    const plan = planned('sum', { cap: 4 }, 1);
    const outcomes = [];
    for (const round of rounds) {
      outcomes.push(await released(plan, 1, 5, `s${round}`, (_, person) => [person]));
    }
    const { deviation, coverage } = judged(outcomes, () => 10);
    const stated = 4 * Math.sqrt((2 * groupsMax) / (2 * 0.95 * target.rho));
    expect(plan.noise[0]! / stated).toBeCloseTo(1, 2);
    expect(Math.abs(deviation / stated - 1)).toBeLessThan(0.02);
    expect(Math.abs(coverage - 0.95)).toBeLessThan(0.01);
  });

  it('share: of the people who came, in a small key and in a large one', async () => {
    const plan = planned('share', {}, 1);
    for (const [people, yes] of [[60, 0.25], [60, 1], [200, 0.1]] as const) {
      const outcomes = [];
      for (const round of rounds) {
        outcomes.push(await released(plan, 1, people, `h${people} ${yes} ${round}`, (_, person) =>
          [Number(person < yes * people)]));
      }
      const { coverage, all } = judged(outcomes, () => yes);
      expect(all).toBeGreaterThan(0.95 * count * rounds.length);
      expect(Math.abs(coverage - 0.95)).toBeLessThan(0.01);
    }
  });

  it('mean: of those whom people are a sample of', async () => {
    const plan = planned('mean', { range: '20..30' }, 1);
    const outcomes = [];
    for (const round of rounds) {
      const data = dataSource(`sample ${round}`);
      // Values at the ends vary as much as any can.
      outcomes.push(await released(plan, 1, 100, `m${round}`, () => [data.below(2) * 10 + 20]));
    }
    const { coverage, all } = judged(outcomes, () => 25);
    expect(all).toBe(count * rounds.length);
    expect(Math.abs(coverage - 0.95)).toBeLessThan(0.01);
  });

  it('ratio: of the totals of those who came', async () => {
    const plan = planned('ratio', { cap: [10, 4] }, 2);
    const outcomes = [];
    for (const round of rounds) {
      outcomes.push(await released(plan, 2, 100, `r${round}`, (_, person) =>
        [person % 11, 1 + person % 4]));
    }
    const persons = Array.from({ length: 100 }, (_, person) => person);
    const truth = persons.reduce((sum, person) => sum + person % 11, 0)
      / persons.reduce((sum, person) => sum + 1 + person % 4, 0);
    const { coverage, all } = judged(outcomes, () => truth);
    expect(all).toBe(count * rounds.length);
    expect(Math.abs(coverage - 0.95)).toBeLessThan(0.01);
  });
});
