import { checkRelease } from '../audit/exact/release-check.js';
import { audit, inlineTrials, searchPairs, type AuditResult } from '../audit/index.js';
import { verdictOf, type Verdict } from '../audit/verdict.js';
import { checkOptions } from '../base/given.js';
import type { StudyFacts } from '../estimators/contract/estimator.js';
import { checkDimension, checkParticipation, checkPlan } from '../estimators/contract/given.js';
import { checkedPlan, planWithin, type PlanOptions } from '../plan.js';
import { statementOf } from '../privacy-statement.js';
import { secureNoise } from '../random/secure.js';

/** Options of `auditEstimator`: those of the plan that is attacked, and how hard. */
export interface EstimatorAuditOptions<Name extends string = string> extends PlanOptions<Name> {
  /** Releases to run, at least 500. Default 2,000. */
  readonly trials?: number;
}

/** The result of `auditEstimator`. */
export interface EstimatorAudit extends AuditResult {
  readonly verdict: Verdict;
  /** Calls that cost more than they charge, found without sampling. */
  readonly faults: readonly string[];
}

const trialsDefault = 2_000;
/** Two releases each, so that both halves of the audit take about as long. */
const lossTrials = (trials: number): number => Math.ceil(trials / 4);
/** Pairs that are compared without sampling, and prefixes of each. */
const compared = { pairs: 8, prefixes: 4 } as const;

/**
 * Attacks an estimator: runs it on pairs of made-up data sets that differ in one contributor, and
 * looks for what tells them apart. A `bound` above the epsilon of the claim proves a defect, and so
 * does a fault; the absence of both proves nothing. The command `keelson audit` does the same to
 * Keelson's own estimators, on all cores.
 *
 * Claim: that of `audit` in src/audit, for the bound. No data are read.
 * @throws InvalidParameterError for a wrong option, and where there is no plan.
 * @example
 * import { mean } from 'keelson/estimators';
 * import { auditEstimator } from 'keelson/kit';
 * const { verdict, bound, faults } = await auditEstimator({
 *   estimator: mean, parameters: { range: '0..1' }, columns: 1, cohort: 200,
 *   participation: 'secret', epsilon: 1, delta: 1e-6, trials: 500,
 * });
 * console.log(verdict, bound, faults);
 */
export async function auditEstimator<Name extends string>(
  options: EstimatorAuditOptions<Name>,
): Promise<EstimatorAudit> {
  checkOptions(options, [
    'estimator', 'columns', 'cohort', 'epsilon', 'delta', 'parameters', 'participation', 'trials',
  ], 'auditEstimator');
  const { estimator, columns: dimension, cohort, participation, trials = trialsDefault } = options;
  checkParticipation(participation);
  checkDimension(dimension);
  const { target, parameters } = checkedPlan(options, dimension);
  const facts: StudyFacts = { dimension, cohort, participation, target };
  const plan = planWithin(estimator, parameters, facts);
  checkPlan(plan);
  const subject = { plan, dimension };
  const pool = inlineTrials(subject, () => secureNoise());
  const pairs = await searchPairs({ plan, facts, parameters }, pool);
  const exact = await checkRelease({
    subject, pairs: pairs.slice(0, compared.pairs), prefixes: compared.prefixes,
  });
  const { epsilon, delta } = statementOf(plan, target);
  const result = await audit({
    claim: { epsilon, delta }, pairs, pool, trials, coins: secureNoise(),
    losses: { pool, trials: lossTrials(trials) },
  });
  return { ...result, verdict: verdictOf(result, exact, true), faults: exact.faults };
}
