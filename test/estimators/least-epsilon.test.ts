import { describe, expect, it } from 'vitest';
import { estimators } from '../../src/estimators/registry.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { lessFor, resolvePureTarget, privacyTarget } from '../../src/privacy/accounting/target.js';
import { sampleParameters } from '../support/sample-parameters.js';

/**
 * Study files may name any epsilon. A plan for a square that vanished looked for a grid of infinite
 * width, for ever.
 */
describe('the least epsilon', () => {
  const pure = resolvePureTarget({ epsilon: 1e-6, delta: 0 });
  const targets = {
    approximate: privacyTarget({ epsilon: 1e-6, delta: 1e-100 }), pure,
    'pure, planned again': lessFor(pure, 1e-4, 1e-6),
  };
  it.each(
    estimators.map((estimator) => [estimator.name, estimator] as const),
  )('%s says that it is not feasible, or plans', (name, estimator) => {
    const parameters =
      parseParameters(estimator.parameters, sampleParameters(name), { dimension: 2 });
    for (const [kind, target] of Object.entries(targets)) {
      const plan =
        estimator.plan(parameters, { dimension: 2, cohort: 3000, participation: 'public', target });
      expect(['plan', 'infeasible'], kind).toContain(plan.kind);
      if (plan.kind === 'plan') {
        expect(plan.noise.every((noise) => noise > 0 && noise < Infinity), kind).toBe(true);
      }
    }
  });
});
