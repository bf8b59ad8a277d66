import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { LaplaceEvent } from '../../src/privacy/accounting/events.js';

/**
 * The mean with `parts` Laplace draws in place of its noise, each with an equal share of the zCDP
 * that it is planned for. For accounts only: its release would ask for noise that is not in the
 * plan.
 */
export function pureEstimator(parts: number): Estimator {
  const mean = findEstimator('mean');
  return {
    ...mean,
    name: 'pure',
    plan: (parameters, facts) => {
      const plan = mean.plan(
        parameters, { ...facts, target: { rho: 0.1, delta: 1e-7, epsilon: 1, deltaTotal: 1e-6 } },
      );
      if (plan.kind === 'infeasible') return plan;
      const scale = Math.sqrt(parts) / facts.target.epsilon;
      const events = Array.from({ length: parts }, (_, i): LaplaceEvent =>
        ({
          kind: 'laplace', name: `part-${i}`, cohort: 'all', dimension: 1, sensitivity: 1, scale,
          grid: 2 ** -20,
        }));
      return { ...plan, events, cost: costOfEvents(events, { disjoint: [] }) };
    },
  };
}
