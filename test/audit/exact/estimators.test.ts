import { describe, expect, it } from 'vitest';
import { gridPairs, largerPairs } from '../../../src/audit/exact/grid-pairs.js';
import { checkRelease } from '../../../src/audit/exact/release-check.js';
import { crowds } from '../../../src/audit/pairs.js';
import { utf8 } from '../../../src/base/bytes.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import type { Contributors } from '../../../src/audit/contract.js';
import type { Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { assign, assignmentHashBytes } from '../../../src/estimators/summaries/assignment.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { privacyTarget } from '../../../src/privacy/accounting/target.js';
import { seededRandom } from '../../../src/random/work.js';
import { sampleParameters } from '../../support/sample-parameters.js';

const facts: StudyFacts = {
  dimension: 2, cohort: 2000, participation: 'secret',
  target: privacyTarget({ epsilon: 8, delta: 1e-4 }),
};

/** `npm run check:exact` has all of them, all pairs, and more prefixes. */
describe('estimators, call by call', () => {
  it.each(['count', 'share', 'histogram', 'sum', 'ratio', 'mean'])(
    '%s: neighbours of a coarse grid are within the charge', { tags: ['long'] }, async (name) => {
      const estimator = findEstimator(name);
      const parameters = parseParameters(estimator.parameters, sampleParameters(name), facts);
      const plan = estimator.plan(parameters, facts);
      if (plan.kind === 'infeasible') throw new Error(plan.reason);
      const pairs = gridPairs(plan, facts, [0.5], name).filter((_, i) => i % 9 === 0);
      const found = await checkRelease({
        subject: { plan, dimension: facts.dimension }, pairs, prefixes: 2,
      });
      expect(found.faults).toEqual([]);
      expect(found.calls).toBeGreaterThan(pairs.length);
    },
  );

  const planOf = (name: string, set: Readonly<Record<string, unknown>>): Plan => {
    const estimator = findEstimator(name);
    const plan = estimator.plan(parseParameters(estimator.parameters, set, facts), facts);
    if (plan.kind === 'infeasible') throw new Error(plan.reason);
    return plan;
  };
  const crowdOf = (plan: Plan, count: number): Contributors => {
    const [, spread] = crowds({ plan, facts: { ...facts, cohort: count + 1 }, parameters: {} });
    const assignmentHashes = new Uint8Array(count * assignmentHashBytes);
    seededRandom(utf8('crowd')).fill(assignmentHashes);
    return { count, rows: spread!.rows, assignmentHashes };
  };

  it('have answers on larger data sets, which have somebody in every cohort', {
    tags: ['long'],
  }, async () => {
    const plan = planOf('heavy-tailed', { spread: 1 });
    const pairs = largerPairs(plan, facts, [], 'answers', 4);
    for (const { left, right } of pairs) {
      const cohorts = Array.from({ length: left.count }, (_, i) => assign(
        left.assignmentHashes.subarray(i * assignmentHashBytes, (i + 1) * assignmentHashBytes),
        plan.arms,
      ).arm);
      expect(new Set(cohorts).size).toBe(plan.arms.length);
      expect(Math.abs(left.count - right.count)).toBeLessThanOrEqual(1);
    }
    const asked = {
      subject: { plan, dimension: facts.dimension }, prefixes: 4, crowd: crowdOf(plan, 500),
    };
    const found = await checkRelease({ ...asked, pairs });
    expect(found.faults).toEqual([]);
    expect(found.answered).toBeGreaterThan(pairs.length);
    // Four people are not in every cohort.
    const four = gridPairs(plan, facts, [], 'answers').slice(0, 8);
    expect((await checkRelease({ ...asked, pairs: four })).answered).toBe(0);
  });

  it('have answers after what a small crowd releases that stands for many', {
    tags: ['long'],
  }, async () => {
    const columns = (center: number) => ({
      columns: [0, 1].map(() => ({ normal: { mean: center, deviation: 1 } })),
    });
    const hypotheses = JSON.stringify([columns(0), columns(3)]);
    const plan = planOf('select', { hypotheses, alpha: 0.3 });
    const asked = {
      subject: { plan, dimension: facts.dimension }, prefixes: 2, crowd: crowdOf(plan, 100),
      pairs: gridPairs(plan, facts, [], 'stands').slice(-4),
    };
    expect((await checkRelease(asked)).answered).toBe(0);
    const found = await checkRelease({ ...asked, standsFor: 20 });
    expect(found.faults).toEqual([]);
    expect(found.answered).toBeGreaterThan(0);
  });
});
