import { keepsTwoSums, type BudgetRuleName } from './base/budget-rules.js';
import { ln } from './base/elementary.js';
import { InvalidParameterError, KeelsonError } from './base/errors.js';
import type {
  Estimator, Infeasible, Plan, PrivacyTarget,
} from './estimators/contract/estimator.js';
import { planWithin } from './plan.js';
import { amountToNumber } from './privacy/accounting/amount.js';
import {
  chargeUnder, freshBalance, plusCharge, releasesThatFit, type Charge,
} from './privacy/accounting/budget.js';
import {
  capsOf, gaussianTarget, lessFor, perReleaseTarget, resolvePureTarget, targetForReleases,
  type BudgetCaps,
} from './privacy/accounting/target.js';
import { planSealed, withEntryBytes } from './plan-sealed.js';
import { planQuestions, type QuestionsPlan } from './questions/plan.js';
import type { StudyDocument } from './wire/study-document.js';

/** The plan of a study, which follows from its public facts and its estimators alone. */
export interface StudyPlan extends QuestionsPlan {
  readonly target: PrivacyTarget;
  readonly caps: BudgetCaps;
  /** The cost of one epoch, in the unit of the budget's rule: the sum of `charges`. */
  readonly charge: Charge;
  /** Each question's part of it, in the order of the questions. */
  readonly charges: readonly Charge[];
  /** Epochs that the whole budget pays for; if it renews, those of one window. */
  readonly releases: number;
  /** The cap that stops the epoch after these. */
  readonly binds: 'rho' | 'delta' | 'epsilon';
}

/**
 * Plans a study: its releases, their target and cost, and how many of them its budget pays for.
 * Pure: every thread and every restart gets the same.
 * @param find gives the estimators that the study names.
 * @param order of a Renyi budget that exists. It was fixed when the budget was made: a smaller
 *   budget, or another rounding of logarithms, must not choose another. Default: the one at which a
 *   new budget goes furthest.
 * @throws KeelsonError('plan-infeasible') when no plan exists, and 'invalid-study' when the budget
 *   is smaller than one release; both say what would help.
 */
export function planStudy(
  document: StudyDocument, find: (estimator: string) => Estimator, order?: number,
): StudyPlan {
  const known = order === undefined ? plans.get(document) : undefined;
  if (known?.find === find) return known.plan;
  const plan = newPlan(document, find, order);
  if (order === undefined) plans.set(document, { find, plan });
  return plan;
}

/** The plans of documents: the one that `withLeastNoise` chooses is planned again as a study. */
const plans = new WeakMap<StudyDocument, {
  readonly find: (estimator: string) => Estimator; readonly plan: StudyPlan;
}>();

function newPlan(
  document: StudyDocument, find: (estimator: string) => Estimator, order: number | undefined,
): StudyPlan {
  const { rule } = document.budget;
  const caps = capsOf({
    ...document.budget, rule: rule === 'renyi' && order !== undefined ? { rule, order } : rule,
  });
  const target = targetOf(document, caps);
  const planned = planFor(document, find, caps, target);
  const { releases: needed = 1 } = document.budget;
  if (planned.releases >= needed) return planned;
  if (target.isPure === true && planned.releases > 0) {
    // Costs are rounded up, and a pure plan may pass its target by 2^-40.
    const less = planAt(document, find, caps, lessFor(target, 1 + 2 ** -38, 1));
    if (less.releases >= needed) return less;
  }
  if (planned.releases < 1) {
    throw new KeelsonError(
      'invalid-study',
      `the budget of ${document.study} (epsilon ${document.budget.epsilon}) does not pay for one `
      + `release (epsilon ${document.privacy.epsilon}): raise budget.epsilon and budget.delta, or `
      + 'lower privacy.epsilon',
      { details: { path: 'budget.epsilon', value: document.budget.epsilon } },
    );
  }
  throw new KeelsonError(
    'invalid-study', `the budget of ${document.study} does not last for ${needed} releases: it `
    + `pays for ${planned.releases}; lower budget.releases`,
    { details: { path: 'budget.releases', value: needed } },
  );
}

const curveRounds = 4;

/**
 * The plan within a target. Under the rule `gaussian` a plan costs a little more than the rho from
 * which it is made, and much more where it draws other than Gaussian noise. So each round plans
 * with less, until the charge is within the target.
 */
function planFor(
  document: StudyDocument, find: (estimator: string) => Estimator, caps: BudgetCaps,
  target: PrivacyTarget,
): StudyPlan {
  let planned = planAt(document, find, caps, target);
  if (caps.rule.rule !== 'gaussian' || target.isPure === true) return planned;
  for (let round = 0, { rho } = target; round < curveRounds; round++) {
    const reached = amountToNumber(planned.charge.rho);
    if (reached <= target.rho) return { ...planned, target };
    rho *= (target.rho / reached) * (1 - 2 ** -20);
    planned = planAt(document, find, caps, { ...target, rho });
  }
  throw new KeelsonError('plan-infeasible', `the study ${document.study} cannot be planned: its `
    + 'noise does not come down to what a release may cost by the rule "gaussian"; use "zcdp"',
  { details: { study: document.study } });
}

function planAt(
  document: StudyDocument, find: (estimator: string) => Estimator, caps: BudgetCaps,
  target: PrivacyTarget,
): StudyPlan {
  const planned = feasiblePlan(document, find, target);
  const charges = planned.questions.map(({ plan }) => chargeOf(document, caps, plan));
  const charge = charges.reduce(plusCharge);
  const { count, binds } = releasesThatFit(freshBalance(caps), charge);
  return { ...planned, target, caps, charge, charges, releases: count, binds };
}

/** The rules of a budget that leaves its rule out, the first where they differ little. */
const usualRules: readonly BudgetRuleName[] = ['zcdp', 'gaussian'];

/**
 * The facts with the rule and the noise that err least among what lasts for the releases that the
 * budget states, or, where it states none, for those that the rule `zcdp` gives. Only what is left
 * out is chosen: the rule if `isRuleOpen`, the noise if the budget states its releases. Pure: it
 * depends on public facts alone.
 *
 * Let (e, d) be the promise of a release, (E, D) the budget and N its releases. Pure noise has
 * epsilon min(e, E / N) for each release, all other noise an N-th of the budget's rho, or squared
 * mu, and delta, if that is less than (e, d) allows. One choice is taken in place of another if
 * every question then promises as much under attack, and the sum over the questions of part x
 * ln(planned error) is smaller. The rule `gaussian` cannot pay for questions that need a delta and
 * come later, so it must gain a hundredth.
 */
export function withLeastNoise(
  document: StudyDocument, find: (estimator: string) => Estimator, isRuleOpen: boolean,
): StudyDocument {
  const { budget, running, sealed } = document;
  // The proofs of totals and of sealed answers are about zCDP and Gaussian noise.
  const isFixed = sealed !== undefined || running !== undefined;
  const rules = isRuleOpen && !isFixed ? usualRules : [budget.rule];
  const isNoiseOpen = budget.releases !== undefined && keepsTwoSums(rules[0]!);
  const under = (rule: BudgetRuleName, noise: 'laplace' | 'gaussian'): StudyDocument =>
    ({ ...document, budget: { ...budget, rule }, ...(isNoiseOpen && { noise }) });
  const choices = rules.map((rule) => under(rule, 'gaussian'));
  if (isNoiseOpen && !isFixed) choices.push(under(rules[0]!, 'laplace'));
  if (choices.length === 1) return choices[0]!;
  const [first, ...others] = choices.map((facts) => ({ facts, plan: planOrNull(facts, find) }));
  return others.reduce((best, other) => {
    if (best.plan === null || other.plan === null) return other.plan === null ? best : other;
    const isSameRule = other.facts.budget.rule === rules[0];
    return other.plan.releases >= (budget.releases ?? best.plan.releases)
      && isLessNoise(other.plan, best.plan, isSameRule ? 0 : leastGain) ? other : best;
  }, first!).facts;
}

const leastGain = 0.01;

function planOrNull(
  document: StudyDocument, find: (estimator: string) => Estimator,
): StudyPlan | null {
  try {
    return planStudy(document, find);
  } catch (error) {
    if (!(error instanceof KeelsonError)) throw error;
    return null;
  }
}

/** @param gain the least that the mean logarithm of the planned errors must fall by. */
function isLessNoise(one: StudyPlan, other: StudyPlan, gain: number): boolean {
  const promises = one.questions.every(({ plan }, i) => {
    const against = other.questions[i]!.plan;
    return plan.guarantee.corruptionMax >= against.guarantee.corruptionMax
      && plan.facts['errorsAreIn'] === against.facts['errorsAreIn'];
  });
  const parts = one.questions.reduce((sum, { question }) => sum + question.part, 0);
  const sizeOf = ({ questions }: StudyPlan): number => questions.reduce(
    (sum, { question, plan }) => sum + question.part * ln(plan.expectedError(0).total), 0) / parts;
  return promises && sizeOf(one) < sizeOf(other) - gain;
}

/** The plans of a study's questions within a target. */
export function planQuestionsOf(
  document: StudyDocument, find: (estimator: string) => Estimator,
  target: PrivacyTarget,
): QuestionsPlan | Infeasible {
  const { sealed } = document;
  const facts = { ...document, target, rowsMax: document.contribution.rowsMax };
  const planned = planQuestions(document.questions, facts, {
    find,
    plan: (estimator, parameters, asked, question) => {
      const open = planWithin(estimator, parameters, asked);
      return sealed === undefined ? open
        : planSealed(question, { ...document, sealed }, asked, open);
    },
  });
  return sealed === undefined || planned.kind === 'infeasible' ? planned : withEntryBytes(planned);
}

function targetOf(
  { privacy, budget, noise }: StudyDocument, caps: BudgetCaps,
): PrivacyTarget {
  const { rule } = caps;
  const { releases } = budget;
  if (rule.rule === 'pure' || noise === 'laplace') {
    const epsilon = releases === undefined
      ? privacy.epsilon : Math.min(privacy.epsilon, budget.epsilon / releases);
    return resolvePureTarget({ ...privacy, epsilon });
  }
  if (rule.rule === 'gaussian') {
    const target = gaussianTarget(privacy);
    return releases === undefined ? target : targetForReleases(target, caps, releases);
  }
  // A release's delta is bounded by its share of the budget's, so that delta is not what runs out
  // first.
  const { target } = perReleaseTarget(privacy, budget, rule);
  return releases === undefined ? target : targetForReleases(target, caps, releases);
}

function feasiblePlan(
  document: StudyDocument, find: (estimator: string) => Estimator,
  target: PrivacyTarget,
): QuestionsPlan {
  const { study } = document;
  const plan = planQuestionsOf(document, find, target);
  if (plan.kind === 'plan') return plan;
  const { reason, cohortNeeded } = plan;
  // No event has a delta there.
  const remedy = document.budget.rule === 'gaussian'
    ? `${plan.remedy}; or the rule "zcdp" for the budget` : plan.remedy;
  throw new KeelsonError(
    'plan-infeasible', `the study ${study} cannot be planned: ${reason}; ${remedy}`, {
      details: { study, reason, remedy, ...(cohortNeeded !== undefined && { cohortNeeded }) },
    },
  );
}

function chargeOf(
  document: StudyDocument, caps: BudgetCaps, { cost }: Plan,
): Charge {
  try {
    return chargeUnder(caps.rule, cost);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new KeelsonError(
      'plan-infeasible', `the study ${document.study} cannot be charged: ${error.message}`,
      { cause: error },
    );
  }
}
