import type { Outcome } from '../../src/base/outcome.js';
import type { Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { runOffline } from '../../src/estimators/run.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { utf8 } from '../../src/base/bytes.js';

/** Facts of a study of (epsilon, 1e-6) per release. */
export function factsOf(dimension: number, cohort: number, epsilon = 2): StudyFacts {
  return {
    dimension, cohort, participation: 'secret', target: privacyTarget({ epsilon, delta: 1e-6 }),
  };
}

/** @throws when the plan is infeasible. */
export function planOf(
  name: string, raw: Readonly<Record<string, unknown>>, facts: StudyFacts,
): Plan {
  const estimator = findEstimator(name);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
  if (plan.kind === 'infeasible') throw new Error(`infeasible: ${plan.reason}`);
  return plan;
}

/** One release over rows, reproducible from its seed. */
export function releaseOf(
  plan: Plan, dimension: number, rows: Iterable<ArrayLike<number>>, seed: string,
): Promise<Outcome> {
  return runOffline({
    plan,
    dimension,
    rows,
    mechanisms: createMechanisms(plan.events, seededNoise(`${seed} noise`)),
    assignmentHashes: seededNoise(`${seed} tickets`),
    work: seededRandom(utf8(seed)),
  });
}
