import { describe, expect, it } from 'vitest';
import { gridPairs } from '../../../src/audit/exact/grid-pairs.js';
import { checkRelease } from '../../../src/audit/exact/release-check.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import type { StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { privacyTarget } from '../../../src/privacy/accounting/target.js';
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
});
