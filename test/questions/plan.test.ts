import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/base/questions.js';
import type { Infeasible } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { planWithin } from '../../src/plan.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { privacyTarget, resolvePureTarget } from '../../src/privacy/accounting/target.js';
import {
  planQuestions, type QuestionsFacts, type QuestionsPlan,
} from '../../src/questions/plan.js';
import { pureEstimator } from '../support/pure-estimator.js';

const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
const facts = {
  columns: ['minutes', 'region'],
  types: [{ type: 'number' }, { type: 'category', of: ['north', 'south'] }],
  cohort: 5_000, participation: 'secret', target, rowsMax: 64,
} as const;
const planner = { find: findEstimator, plan: planWithin };
const parsed = (name: string, given: Readonly<Record<string, unknown>>) =>
  parseParameters(findEstimator(name).parameters, given, { dimension: 1 });
const counts: Question = {
  name: 'counts', estimator: 'histogram', parameters: parsed('histogram', { edges: [0, 10] }),
  columns: ['minutes'], where: [], reduce: 'mean', part: 100,
};
const open: Question = {
  ...counts, name: 'open', parameters: parsed('histogram', { width: 10, top: 8 }),
};
const planned = (
  questions: readonly Question[], own: Partial<Pick<QuestionsFacts, 'target' | 'rowsMax'>> = {},
): QuestionsPlan => {
  const found = planQuestions(questions, { ...facts, ...own }, planner);
  if (found.kind === 'infeasible') throw new Error(found.reason);
  return found;
};

describe('the plan of several questions', () => {
  it('costs the sum of their plans, and never more than the target', () => {
    for (const parts of [[50, 50], [33, 33, 34], [1, 99], Array<number>(16).fill(6), [100]]) {
      const { questions, cost, events } =
        planned(parts.map((part, i) => ({ ...counts, name: `q${i}`, part })));
      expect(cost.rho).toBe(questions.reduce((sum, { plan }) => sum + plan.cost.rho, 0n));
      expect(cost.rho).toBeLessThanOrEqual(amountOf(target.rho));
      expect(Number(cost.rho) / 2 ** 64)
        .toBeGreaterThan(target.rho * (parts.reduce((a, b) => a + b) / 100) * (1 - 1e-5));
      // The events are what is charged: their cost, rounded once, is within the sum.
      const exact = costOfEvents(events, { disjoint: [] });
      expect(exact.rho).toBeLessThanOrEqual(cost.rho);
      expect(cost.rho - exact.rho).toBeLessThanOrEqual(BigInt(parts.length));
    }
  });

  const by = { columns: ['region'], groupsMax: 1 };
  const split = { ...counts, part: 50, by };

  it('has 5 % for the number of people who lose keys, within the target', () => {
    const pure = resolvePureTarget({ epsilon: 1, delta: 0 });
    for (const own of [target, pure]) {
      const [first] = planned([split], { target: own }).questions;
      const { cost, events } = first.plan;
      const amount = Number(own.isPure === true ? cost.epsilon! : cost.rho) / 2 ** 64;
      const half = (own.isPure === true ? own.epsilon : own.rho) / 2;
      expect(amount).toBeLessThanOrEqual(half);
      expect(amount).toBeGreaterThan(half * (1 - 1e-5));
      expect(events.map(({ name }) => name)).toEqual(['bins', 'groups-cut']);
      const exact = costOfEvents(events, { disjoint: [] });
      expect(exact.rho).toBeLessThanOrEqual(cost.rho);
    }
    const [{ plan }] = planned([split]).questions;
    const { noiseOfGroupsCut, groupsCutReportedFrom } = plan.facts;
    // One of 95 parts and one of 5: 1 / sqrt(2 rho) each, of half of the target.
    const noise = 1 / Math.sqrt(2 * 0.05 * target.rho / 2);
    expect(noiseOfGroupsCut).toBeCloseTo(noise, 1);
    // One of 1,000 is above 3.09 deviations.
    expect(groupsCutReportedFrom).toBeCloseTo(3.0902 * noise, 1);
  });

  it('has nothing for it where nobody can lose keys', () => {
    const eventsOf = (question: Question, rowsMax = 64): readonly string[] =>
      planned([question], { rowsMax }).questions[0].plan.events.map(({ name }) => name);
    expect(eventsOf({ ...split, by: { ...by, groupsMax: 2 } })).toEqual(['bins']);
    expect(eventsOf(split, 1)).toEqual(['bins']);
    const found = {
      ...split, estimator: 'count', parameters: parsed('count', {}), columns: [], reduce: 'one',
    } as const;
    const discover = { top: 5, prefilter: 2 };
    expect(eventsOf({ ...found, by: { ...by, discover } })).toEqual(['keys', 'groups-cut']);
    expect(eventsOf({ ...found, by: { ...by, groupsMax: 64, discover } })).toEqual(['keys']);
    // Keys alone have no numbers that could be too small.
    const alone = { ...discover, prefilter: 1, answer: 'groups' } as const;
    expect(eventsOf({ ...found, by: { ...by, discover: alone } })).toEqual(['keys']);
  });

  it('adds up the costs of questions whose tests exclude each other', () => {
    const where = (name: 'north' | 'south'): Question => ({
      ...counts, name, part: 50, where: [{ column: 'region', is: name }],
    });
    const { cost, questions: [first] } = planned([where('north'), where('south')]);
    expect(cost.rho).toBe(2n * first.plan.cost.rho);
  });

  it('stays within the target where a part is near one unit of the ledger', () => {
    const small = { ...target, rho: 1e-12 };
    const questions = Array.from({ length: 16 }, (_, i) =>
      ({ ...counts, name: `q${i}`, part: i < 4 ? 7 : 6 }));
    const { cost } = planned(questions, { target: small });
    expect(cost.rho).toBeLessThanOrEqual(amountOf(small.rho));
  });

  it('divides the delta among the questions that charge some', () => {
    const { questions: [first, second, third], cost } = planned([
      { ...counts, part: 40 }, { ...open, part: 45 }, { ...open, name: 'other', part: 15 },
    ]);
    expect(first.plan.cost.delta).toBe(0n);
    expect(Number(second!.plan.cost.delta) / Number(third!.plan.cost.delta)).toBeCloseTo(3, 6);
    expect(cost.delta).toBeLessThanOrEqual(amountOf(target.delta));
    expect(Number(cost.delta) / 2 ** 64).toBeGreaterThan(target.delta * 0.999);
  });

  it('is that of the short form for one question with the whole budget', () => {
    const { questions: [{ plan }], events } = planned([counts]);
    const alone =
      planWithin(findEstimator('histogram'), counts.parameters, { ...facts, dimension: 1 });
    expect(alone.kind === 'plan' && alone.events).toEqual(plan.events);
    expect(events.map(({ name }) => name)).toEqual(plan.events.map(({ name }) => `counts/${name}`));
  });

  it('divides epsilon under a pure target', () => {
    const pure = { find: () => pureEstimator(3), plan: planWithin };
    const found = planQuestions(
      [
        { ...counts, parameters: parsed('mean', { spread: 1 }), part: 30 },
        { ...counts, name: 'other', parameters: parsed('mean', { spread: 1 }), part: 70 },
      ],
      { ...facts, target: resolvePureTarget({ epsilon: 1, delta: 0 }) }, pure,
    ) as QuestionsPlan;
    expect(found.cost.epsilon).toBe(
      found.questions.reduce((sum, { plan }) => sum + plan.cost.epsilon!, 0n),
    );
    expect(found.cost.epsilon! <= amountOf(1)).toBe(true);
    expect(Number(found.cost.epsilon) / 2 ** 64).toBeGreaterThan(0.999);
  });
});

describe('a question without a plan', () => {
  const reasonFor = (changed: Partial<Question>, cohort = 5_000): string => {
    const questions = [counts, { ...open, part: 1, ...changed }];
    const found = planQuestions(questions, { ...facts, cohort }, planner);
    return (found as Infeasible).reason;
  };

  it('is named', () => {
    expect(reasonFor({
      estimator: 'robust-mean', parameters: parsed('robust-mean', { spread: 1 }),
    }, 50)).toMatch(/^questions\.open: /);
    expect(reasonFor({
      by: { columns: ['region'], groupsMax: 1 }, estimator: 'robust-mean',
      parameters: parsed('robust-mean', { spread: 1 }),
    }, 50)).toMatch(/^questions\.open: answers need groups of \d+ people/);
    const discover = { top: 100, prefilter: 2 };
    expect(reasonFor({
      by: { columns: ['region'], groupsMax: 1, discover }, estimator: 'robust-mean',
      parameters: parsed('robust-mean', { spread: 1 }),
    })).toMatch(/^questions\.open: robust-mean cannot split .* discovered/);
    expect(reasonFor({
      by: { columns: ['region'], groupsMax: 32, discover }, estimator: 'count',
      parameters: parsed('count', {}),
    }, 10_000_000))
      .toMatch(/^questions\.open: the groups of 160000000 people, the most .* room for .*\d+ people$/);
  });

  it('is named where the keys of all questions together may not find room', () => {
    const discover = { top: 100, prefilter: 2 };
    const found: Question = {
      ...counts, name: 'found', estimator: 'count', parameters: parsed('count', {}), part: 40,
      by: { columns: ['region'], groupsMax: 32, discover },
    };
    const plannedFor = (cohort: number, ...questions: readonly Question[]) =>
      planQuestions(questions, { ...facts, cohort }, planner);
    const { reason } = plannedFor(10_000_000, found) as Infeasible;
    const fitting = Number(/(\d+) people$/.exec(reason)![1]);
    const people = Math.floor(fitting / 16);
    expect(plannedFor(people, found).kind).toBe('plan');
    const both = plannedFor(people, found, { ...found, name: 'again' });
    expect(both).toMatchObject({
      reason: `questions.again: the groups of ${16 * people} people, the most that an epoch takes, `
        + 'may not find room beside those of the questions before: there is room for those of '
        + `${Math.floor(fitting / 2)} people`,
    });
  });

  it('is named where the keys of all people do not fit the time of a release', () => {
    const discover = { top: 100, prefilter: 2 };
    const found: Question = {
      ...counts, name: 'found', estimator: 'count', parameters: parsed('count', {}), part: 40,
      by: { columns: ['region'], groupsMax: 4, discover },
    };
    const plannedFor = (
      own: Partial<QuestionsFacts>, ...questions: readonly Question[]
    ) => planQuestions(
      questions, { ...facts, epoch: { everyMs: 60_000 }, peopleMax: 400_000, ...own }, planner,
    );
    const again = { ...found, name: 'again' };
    expect(plannedFor({}, found).kind).toBe('plan');
    expect(plannedFor({}, found, again)).toMatchObject({
      kind: 'infeasible',
      reason: expect.stringMatching(/^questions\.again: the groups of 400000 people, the most that an epoch takes, may take \d+ ms of a release, and its planned time is 30000 ms at most, half an epoch$/) as string,
      remedy: 'a smaller groupsMax or peopleMax (16 times the cohort, where it is left out), or '
        + 'longer epochs',
    });
    // Each remedy works.
    for (const own of [{ epoch: { everyMs: 120_000 } }, { peopleMax: 200_000 }]) {
      expect(plannedFor(own, found, again).kind).toBe('plan');
    }
    const fewer = [found, again].map((each) => ({ ...each, by: { ...each.by!, groupsMax: 2 } }));
    expect(plannedFor({}, ...fewer).kind).toBe('plan');
    // Noise that is drawn ahead for 4,096 keys does not fit a short epoch, however few people come.
    const many = { ...found, by: { ...found.by!, groupsMax: 4_096 } };
    const shortly = { epoch: { everyMs: 1_000 }, cohort: 100_000, peopleMax: 100, rowsMax: 1 };
    expect(plannedFor(shortly, many)).toMatchObject({ kind: 'infeasible' });
  });

  it('is named where it does not fit the columns', () => {
    expect(() => reasonFor({ columns: ['speed'] })).toThrow(expect.objectContaining({
      message: expect.stringMatching(/^questions\.open: there is no column speed/) as string,
      details: expect.objectContaining({ path: 'questions.open' }) as object,
    }));
  });
});
