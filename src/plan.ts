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
import { analyticGaussianSigma } from './privacy/accounting/analytic-gaussian.js';
import { isReleaseWithin } from './privacy/accounting/loss-distribution/index.js';
import { lessFor, resolvePureTarget, targetAlone } from './privacy/accounting/target.js';

/** Options of `plan`. All of them are public. */
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

/** The checks that `plan` and `estimate` share. */
export function checkedPlan(
  { epsilon, delta, ...asked }: Pick<PlanOptions, 'estimator' | 'epsilon' | 'delta' | 'parameters'>,
  dimension: number,
): { readonly target: PrivacyTarget; readonly parameters: ParameterValues } {
  const parameters = checkedParameters(asked, dimension);
  return { target: targetAlone({ epsilon, delta }), parameters };
}

/** @throws InvalidParameterError for what is no estimator, or a parameter that it does not take. */
export function checkedParameters(
  { estimator, parameters = {} }: Pick<PlanOptions, 'estimator' | 'parameters'>,
  dimension: number,
): ParameterValues {
  checkObject(estimator, 'estimator is one that keelson/estimators exports, or what '
    + 'findEstimator(name) returns');
  if (typeof estimator.plan !== 'function') {
    throw new InvalidParameterError(
      'estimator has no method "plan": give one that keelson/estimators exports, or what '
        + 'findEstimator(name) returns',
    );
  }
  const facts = { dimension, estimator: estimator.name };
  return parseParameters(estimator.parameters, parameters, facts);
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
 * Several pure mechanisms may together have more epsilon than the target. Each round plans with
 * less and comes nearer to it from above.
 */
const pureRounds = 4;
/** A usual delta. It shows whether a plan fails only because there is none. */
const probeDelta = 1e-6;
/** The zCDP of a release alone is raised at most so far, in so many steps of bisection. */
const raiseMost = 3;
const raiseRounds = 4;

/**
 * The estimator's plan. For a pure target the plan is pure and within the target's epsilon, or the
 * answer says why there is none.
 *
 * For a release alone it is the better of two. One is pure within epsilon. The other is within
 * (epsilon, delta), with the most zCDP that was found to be.
 *
 * Claim: a release alone is (epsilon, deltaTotal)-DP.
 * Proof. A pure plan within epsilon is, and one within the target's zCDP and delta (target). Of any
 * other the composed losses of its events were compared with (epsilon, deltaTotal). These events
 * are all that it draws, they follow from public facts, and so does the choice between the plans.
 */
export function planWithin(
  estimator: Estimator, parameters: ParameterValues, facts: StudyFacts,
): Plan | Infeasible {
  const { isAlone, ...target } = facts.target;
  const attempt: Attempt = (asked) => estimator.plan(parameters, { ...facts, target: asked });
  if (target.isPure === true) return purePlan(estimator, attempt, target);
  const plain = attempt(target);
  if (isAlone !== true) return plain;
  const pure =
    purePlan(estimator, attempt, resolvePureTarget({ epsilon: target.epsilon, delta: 0 }));
  if (pure.kind === 'infeasible') {
    return plain.kind === 'infeasible' ? nearer(plain, pure) : raised(attempt, target, plain);
  }
  if (plain.kind === 'infeasible') return pure;
  const most = attempt({ ...target, rho: target.rho * raiseMost });
  const isBetter = (other: Plan): boolean => isLessNoise(pure, other, facts.cohort);
  if (most.kind === 'plan' && isBetter(most)) return pure;
  const best = raised(attempt, target, plain);
  return isBetter(best) ? pure : best;
}

type Attempt = (target: PrivacyTarget) => Plan | Infeasible;

/** The one of two refusals that asks for fewer people. */
function nearer(plain: Infeasible, pure: Infeasible): Infeasible {
  return (pure.cohortNeeded ?? Infinity) < (plain.cohortNeeded ?? Infinity) ? pure : plain;
}

/**
 * A pure plan that also promises as much under attack, and errs less, or alone has an interval. If
 * only the other one has an interval, that one is better.
 */
function isLessNoise(pure: Plan, other: Plan, cohort: number): boolean {
  return pure.guarantee.corruptionMax >= other.guarantee.corruptionMax
    && pure.facts['errorsAreIn'] === other.facts['errorsAreIn']
    && (hasInterval(pure, cohort) === hasInterval(other, cohort)
      ? pure.expectedError(0).total < other.expectedError(0).total : hasInterval(pure, cohort));
}

/** False if the plan says that its answer has no interval with so few people. */
export function hasInterval({ facts }: Plan, cohort: number): boolean {
  return !(Number(facts['intervalFrom']) > cohort);
}

/**
 * The plan with the most zCDP that stays within (epsilon, deltaTotal) by the composed losses of its
 * events. First as much as Gaussian noise alone may have, by its exact curve.
 */
function raised(attempt: Attempt, target: PrivacyTarget, plain: Plan): Plan {
  const { epsilon, deltaTotal, rho } = target;
  const tried = (factor: number): Plan | null => {
    const plan = attempt({ ...target, rho: rho * factor });
    return plan.kind === 'plan' && isWithin(plan, target) ? plan : null;
  };
  const gaussian = (1 - 2 ** -16) / (2 * analyticGaussianSigma(epsilon, deltaTotal) ** 2 * rho);
  let best = tried(gaussian);
  if (best?.events.every(({ kind }) => kind === 'gaussian' || kind === 'symmetric-gaussian')) {
    return best;
  }
  let [low, high] = best === null ? [1, gaussian] : [gaussian, raiseMost];
  for (let round = 0; round < raiseRounds; round++) {
    const middle = (low + high) / 2;
    const found = tried(middle);
    if (found === null) high = middle;
    else [low, best] = [middle, found];
  }
  return best ?? plain;
}

function isWithin({ events, arms }: Plan, { epsilon, deltaTotal }: PrivacyTarget): boolean {
  const disjoint = arms.length > 1 ? arms.map(({ name }) => name) : [];
  return isReleaseWithin({ events, disjoint }, { epsilon, delta: deltaTotal });
}

function purePlan(
  estimator: Estimator, attempt: Attempt, target: PrivacyTarget,
): Plan | Infeasible {
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
    asked = lessFor(asked, reached, target.epsilon);
  }
  return notPure(estimator, target);
}

/** True if a plan that is infeasible without delta is feasible with one, and then not pure. */
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
 * The smallest cohort whose expected error is at most `error`, with this `corruption`;
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
