import { InvalidParameterError } from './base/errors.js';
import { checkObject, checkOptions } from './base/given.js';
import { protocolLimits } from './base/limits.js';
import type {
  Estimator, Infeasible, ParameterValues, Participation, Plan, PrivacyTarget, StudyFacts,
} from './estimators/contract/estimator.js';
import { checkDimension, checkParticipation } from './estimators/contract/given.js';
import type { ParametersOf } from './estimators/contract/named.js';
import { parseParameters } from './estimators/contract/parameters.js';
import { amountToNumber } from './privacy/accounting/amount.js';
import { lessFor, resolvePureTarget, privacyTarget } from './privacy/accounting/target.js';

/** What `plan` takes. All of it is public. */
export interface PlanOptions<Name extends string = string> {
  /** One of `keelson/estimators`, or `findEstimator('mean')`. */
  readonly estimator: Estimator<Name>;
  /** Number of columns of a row, 1 to 200. */
  readonly columns: number;
  /** Number of contributors to plan for. It is public. */
  readonly cohort: number;
  /** Privacy loss bound of the release, 1e-6 to 100; usual values are 0.1 to 10. */
  readonly epsilon: number;
  /** Probability that the bound fails, far below 1 / cohort; 0 asks for pure privacy. */
  readonly delta: number;
  /** Parameters of the estimator, by name; `keelson estimators NAME` lists them. Default: none. */
  readonly parameters?: ParametersOf<Name>;
  /** `secret`: taking part is protected like the values. `public`: only the values are. */
  readonly participation: Participation;
}

/**
 * Plans one release from public numbers alone: what it costs, how much noise it has, which error to
 * expect. Reads no data and draws no noise.
 * @returns the plan, or why there is none and what would help.
 * @throws InvalidParameterError naming the option that is missing or out of range.
 * @example
 * const found = plan({ estimator: mean, columns: 2, cohort: 3000, epsilon: 1, delta: 1e-6,
 *   participation: 'secret' });
 * if (found.kind === 'plan') console.log(found.expectedError(0).total);
 * else console.log(found.reason, found.remedy);
 */
export function plan<Name extends string>(options: PlanOptions<Name>): Plan | Infeasible {
  checkOptions(
    options, ['estimator', 'columns', 'cohort', 'epsilon', 'delta', 'parameters', 'participation'],
    'plan',
  );
  const { estimator, columns, cohort, participation } = options;
  checkParticipation(participation);
  checkDimension(columns);
  const { target, parameters } = checkedPlan(options, columns);
  return planWithin(estimator, parameters, { dimension: columns, cohort, participation, target });
}

/** Pure where delta is 0. @throws InvalidParameterError where one is out of range. */
export function targetOf(options: Pick<PlanOptions, 'epsilon' | 'delta'>): PrivacyTarget {
  return options.delta === 0 ? resolvePureTarget(options) : privacyTarget(options);
}

/** What `plan` and `estimate` check alike. */
export function checkedPlan(
  {
    estimator, epsilon, delta, parameters = {},
  }: Pick<PlanOptions, 'estimator' | 'epsilon' | 'delta' | 'parameters'>,
  dimension: number,
): { readonly target: PrivacyTarget; readonly parameters: ParameterValues } {
  checkObject(estimator, 'estimator is one that keelson/estimators exports, or what '
    + 'findEstimator(name) returns');
  if (typeof estimator.plan !== 'function') {
    throw new InvalidParameterError(
      'estimator has no method "plan": give one that keelson/estimators exports, or what '
        + 'findEstimator(name) returns',
    );
  }
  const target = targetOf({ epsilon, delta });
  const facts = { dimension, estimator: estimator.name };
  return { target, parameters: parseParameters(estimator.parameters, parameters, facts) };
}

/** Plans for any cohort, the rest fixed. */
export type PlanFor = (cohort: number) => Plan | Infeasible;

/** The plan as a function of the cohort. */
export function plannerOf(
  estimator: Estimator, parameters: ParameterValues, facts: Omit<StudyFacts, 'cohort'>,
): PlanFor {
  return (cohort) => planWithin(estimator, parameters, { ...facts, cohort });
}

/**
 * Several pure mechanisms share a target of zCDP, and their epsilons add up to more than the
 * target's. Each round plans with less and comes nearer to it from above.
 */
const pureRounds = 4;
/** A usual delta. It shows whether a plan fails only because there is none. */
const probeDelta = 1e-6;

/**
 * The estimator's plan. For a pure target the plan is pure and within the target's epsilon, or the
 * answer says why there is none.
 */
export function planWithin(
  estimator: Estimator, parameters: ParameterValues, facts: StudyFacts,
): Plan | Infeasible {
  const attempt = (target: PrivacyTarget): Plan | Infeasible =>
    estimator.plan(parameters, { ...facts, target });
  const { target } = facts;
  if (target.isPure !== true) return attempt(target);
  let asked = target;
  for (let round = 0; round < pureRounds; round++) {
    const found = attempt(asked);
    if (found.kind === 'infeasible') {
      return needsDelta(attempt, asked) ? notPure(estimator, target) : found;
    }
    const { epsilon, delta } = found.cost;
    if (epsilon === null || delta !== 0n) break;
    // The cost is rounded up, so a plan that meets the target exactly may be a unit above it.
    const reached = amountToNumber(epsilon);
    if (reached <= target.epsilon * (1 + 2 ** -40)) return found;
    asked = lessFor(asked, reached);
  }
  return notPure(estimator, target);
}

/** Whether a plan that is infeasible without delta is feasible with one, and then not pure. */
function needsDelta(
  attempt: (target: PrivacyTarget) => Plan | Infeasible, target: PrivacyTarget,
): boolean {
  if (target.delta > 0) return false;
  const probe = attempt({ ...target, delta: probeDelta / 2, deltaTotal: probeDelta });
  return probe.kind === 'plan' && probe.cost.epsilon === null;
}

function notPure({ name }: Estimator, { epsilon }: PrivacyTarget): Infeasible {
  return {
    kind: 'infeasible',
    reason: `the noise of ${name} is not pure differential privacy, or does not come down to `
      + `epsilon ${epsilon}`,
    remedy: 'ask for a delta above 0 (in a study: a budget with the rule "zcdp"), '
      + 'or choose an estimator with pure noise: count, quantile, histogram with edges',
  };
}

/**
 * The smallest cohort that passes, by steps that double away from a guess and halve back; null when
 * even the largest supported one fails. Assumes that what passes for a cohort passes for larger
 * ones, which plans do up to the grain of whole groups.
 * @param guess - a cohort near the answer makes few calls of `passes`.
 */
export function exactSmallestCohort(passes: (cohort: number) => boolean, guess = 1): number | null {
  const start = Math.min(Math.max(1, Math.floor(guess)), protocolLimits.cohortMax);
  let fails = 0;
  let works = protocolLimits.cohortMax + 1;
  const look = (cohort: number): boolean => {
    const passed = passes(cohort);
    if (passed) works = cohort;
    else fails = cohort;
    return passed;
  };
  const goesDown = look(start);
  for (let step = 1; works - fails > 1; step *= 2) {
    const next = goesDown ? works - step : fails + step;
    if (next <= fails || next >= works || look(next) !== goesDown) break;
  }
  while (works - fails > 1) look(Math.floor((works + fails) / 2));
  return works > protocolLimits.cohortMax ? null : works;
}

/** The smallest cohort with a plan; an infeasible plan's own advice is where the search starts. */
export function smallestPlan(planFor: PlanFor): number | null {
  const least = planFor(1);
  if (least.kind === 'plan') return 1;
  return exactSmallestCohort((size) => planFor(size).kind === 'plan', least.cohortNeeded);
}

/**
 * The smallest cohort whose expected error is at most `error`, with a hostile share `corruption`;
 * null when even the largest supported one errs more.
 * @param minimum - the smallest cohort with a plan, where the search starts.
 */
export function smallestCohortFor(
  planFor: PlanFor, corruption: number, error: number, minimum: number,
): number | null {
  return exactSmallestCohort((size) => {
    const found = planFor(size);
    return found.kind === 'plan' && found.expectedError(corruption).total <= error;
  }, minimum);
}
