import { chooseWithin, type Candidate, type Choice, type NoChoice } from '../../src/choose.js';
import { KeelsonError } from '../../src/base/errors.js';
import type {
  ExpectedError, Infeasible, ParameterValues, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import { planStudy, withLeastNoise, type StudyPlan } from '../../src/plan-study.js';
import { plannerOf, smallestCohortFor, smallestPlan, type PlanFor } from '../../src/plan.js';
import {
  epsilonRange, perReleaseTarget, privacyTarget, resolvePureTarget, type Statement,
} from '../../src/privacy/accounting/target.js';
import { deviations95 } from '../../src/numerics/normal.js';
import { limits, takes, type Asked } from './state.js';
import { factsOf } from './study-facts.js';

/** An estimator of the question under the asked numbers. */
export interface Rated {
  readonly name: string;
  /** With the corruption; null without a plan, or where it promises nothing then. */
  readonly error: ExpectedError | null;
  /** With nobody hostile; null without a plan. */
  readonly cleanError: number | null;
  /** The unit of both. */
  readonly unit: string;
  /**
   * Half of the interval that holds one number of the answer in 95 of 100 epochs with nobody
   * hostile, as far as sampling and noise move it. Null where the numbers of an answer differ in
   * that.
   */
  readonly half: number | null;
  /** The smallest cohort with a plan; null if none has one. */
  readonly least: number | null;
  readonly excluded: string | null;
  readonly isChosen: boolean;
}

/** The budget that pays for all epochs, or why none does. */
export type Budget = (Statement & { readonly epochs: number }) | null;

/** The results that are ready at once, without a search. */
export interface Rating {
  readonly kind: 'rating';
  readonly estimators: readonly Rated[];
  readonly why: readonly string[];
  readonly assumes: string;
  /**
   * The unit of a wanted error: the chosen estimator's, or that of one with a plan for other
   * numbers.
   */
  readonly wantedUnit: string | null;
  /** The parameters of the chosen estimator, with which it is planned. */
  readonly parameters: ParameterValues;
  readonly budget: Budget;
  /** The reason why no estimator is chosen; null if one is. */
  readonly problem: Pick<Infeasible, 'reason' | 'remedy' | 'cohortNeeded'> | null;
}

/**
 * Ways to reach an error of at most `error`: each changes one number and keeps the others as asked.
 */
export interface Goal {
  readonly kind: 'goal';
  /** Null where no number of people, or no epsilon, reaches it. */
  readonly people: number | null;
  readonly epsilon: number | null;
  /** The largest corruption; null where not even 0 reaches it. */
  readonly hostile: number | null;
}

/** A point of each estimator's line; null where it has no plan or promises nothing. */
export interface Point {
  readonly kind: 'point';
  readonly people: number;
  readonly errors: Readonly<Record<string, number | null>>;
}

/** Any result for the question. */
export type Found = Rating | Goal | Point | { readonly kind: 'fault'; readonly text: string };

/** All results from public numbers, the wanted one first. */
export function* whatIf(asked: Asked): Generator<Found, void, void> {
  const { found, target, budget } = leastNoise(asked);
  const { candidates } = found;
  yield ratingOf(asked, found, target, budget);
  const best = plannable(found);
  if (asked.error !== null && best !== null) yield goalOf(asked, best, asked.error, target);
  for (const people of peopleDrawn) {
    const errors: Record<string, number | null> = {};
    for (const each of candidates) {
      errors[each.estimator.name] =
        errorFor(plannerFor(asked, each, target), people, asked.hostile);
    }
    yield { kind: 'point', people, errors };
  }
}

/**
 * The choice, its target and the budget, as a study has them that states its releases: the chosen
 * estimator is planned under the rule and with the noise that err least (`withLeastNoise`).
 */
function leastNoise(asked: Asked): {
  readonly found: Choice | NoChoice; readonly target: PrivacyTarget; readonly budget: Budget;
} {
  const { target, budget } = targetsOf(asked);
  const found = chosen(asked, target);
  if (budget === null || found.kind !== 'choice') return { found, target, budget };
  const least = studyPlanOf(asked, budget, found);
  if (least === null) return { found, target, budget };
  const { candidates } = chosen(asked, least.target);
  const [{ plan, estimator }] = least.questions;
  return {
    found: {
      ...found, plan,
      candidates: candidates.map((each) =>
        (each.estimator === estimator ? { ...each, plan, excluded: null } : each)),
    },
    target: least.target, budget: { ...budget, epochs: least.releases },
  };
}

/** The plan of the study; null where a study has none for these numbers. */
function studyPlanOf(
  asked: Asked, budget: Statement, { estimator, parameters }: Choice,
): StudyPlan | null {
  const find = () => estimator;
  try {
    const facts = factsOf(asked, budget, { estimator: estimator.name, parameters });
    return planStudy(withLeastNoise(facts, find, true), find);
  } catch (error) {
    if (error instanceof KeelsonError) return null;
    throw error;
  }
}

/** The cohorts of the chart: three for each power of ten. */
export const peopleDrawn: readonly number[] = Array.from({ length: 16 }, (_, i) =>
  Number((100 * 10 ** (i / 3)).toPrecision(2)));

/** The budget of `epochs` releases, and the target of a release that costs no less than asked. */
function targetsOf(
  { epsilon, delta, epochs }: Asked,
): { readonly target: PrivacyTarget; readonly budget: Budget } {
  const most = epsilonRange.atMost;
  if (delta === 0) {
    const whole = Number((epsilon * epochs).toPrecision(12));
    return {
      target: resolvePureTarget({ epsilon, delta }),
      budget: whole > most ? null : { epsilon: whole, delta, epochs },
    };
  }
  const whole = (of: number): Statement =>
    ({ epsilon: of, delta: Number((10 * delta).toPrecision(12)) });
  const lasts = (of: number): number => perReleaseTarget({ epsilon, delta }, whole(of)).epochs;
  if (lasts(most) < epochs) return { target: privacyTarget({ epsilon, delta }), budget: null };
  const budget = whole(roundedUp((of) => lasts(of) >= epochs, epsilon / 2, most));
  const { target, epochs: paid } = perReleaseTarget({ epsilon, delta }, budget);
  return { target, budget: { ...budget, epochs: paid } };
}

/** The smallest number of three digits that passes, between two of which the larger passes. */
function roundedUp(passes: (value: number) => boolean, least: number, most: number): number {
  let [fails, works] = [least, most];
  while (works / fails > 1.001) {
    const middle = Math.sqrt(fails * works);
    if (passes(middle)) works = middle;
    else fails = middle;
  }
  const step = 10 ** (Math.floor(Math.log10(works)) - 2);
  const near = Array.from({ length: 4 }, (_, i) =>
    Number(((Math.floor(works / step) - 1 + i) * step).toPrecision(3)));
  return near.find((value) => value > 0 && value <= most && passes(value)) ?? most;
}

/** The known facts about the values, as parameters of the question. */
function knownOf({ question, hostile, spread, low, high }: Asked): Record<string, unknown> {
  // Only the covariance for normal rows resists liars.
  const isNormal = question === 'covariance' && hostile > 0;
  const corruption = { corruption: hostile, ...(isNormal && { shape: 'light' }) };
  switch (takes(question)) {
    case 'spread': return spread === null ? corruption : { ...corruption, spread };
    case 'range': return { ...corruption, range: `${low}..${high}` };
    case 'cap': return { ...corruption, cap: `${high},${high}` };
    case 'threshold': return { ...corruption, threshold: low };
    case 'nothing': return corruption;
  }
}

/** The choice at the asked numbers. All lines are of one number, so none may stand in. */
function chosen(asked: Asked, target: PrivacyTarget): Choice | NoChoice {
  return chooseWithin(asked.question, knownOf(asked), {
    dimension: asked.columns, cohort: asked.people, participation: 'secret', target,
  }, { standIns: false });
}

const plannerFor = (
  { columns }: Asked, { estimator, parameters }: Candidate, target: PrivacyTarget,
): PlanFor | null => parameters && plannerOf(estimator, parameters, {
  dimension: columns, participation: 'secret', target,
});

function errorFor(planFor: PlanFor | null, people: number, hostile: number): number | null {
  const found = planFor?.(people);
  if (found?.kind !== 'plan' || found.guarantee.corruptionMax < hostile) return null;
  const { total } = found.expectedError(hostile);
  return Number.isFinite(total) ? total : null;
}

/** The chosen one, or the first that lacks no fact and would have a plan for other numbers. */
function plannable(found: Choice | NoChoice): Candidate | null {
  const { candidates } = found;
  return (found.kind === 'choice'
    ? candidates.find(({ estimator }) => estimator === found.estimator)
    : candidates.find(({ parameters }) => parameters !== null)) ?? null;
}

/** The unit of its errors, also where it has a plan for other numbers of people only. */
function unitOf(planFor: PlanFor | null, { plan, errorsAreIn }: Candidate): string {
  if (plan !== null || planFor === null) return errorsAreIn;
  const least = smallestPlan(planFor);
  const found = least === null ? null : planFor(least);
  return found?.kind === 'plan' ? String(found.facts['errorsAreIn'] ?? errorsAreIn) : errorsAreIn;
}

function ratingOf(
  asked: Asked, found: Choice | NoChoice, target: PrivacyTarget, budget: Budget,
): Rating {
  const choice = found.kind === 'choice' ? found : null;
  const estimators = found.candidates.map((candidate): Rated => {
    const { estimator, plan, excluded } = candidate;
    const planFor = plannerFor(asked, candidate, target);
    const unit = unitOf(planFor, candidate);
    const error = plan !== null && plan.guarantee.corruptionMax >= asked.hostile
      ? plan.expectedError(asked.hostile) : null;
    const clean = plan?.expectedError(0) ?? null;
    return {
      name: estimator.name, unit, excluded, cleanError: clean?.total ?? null,
      error: error !== null && Number.isFinite(error.total) ? error : null,
      half: plan === null || clean === null ? null
        : halfOf(clean, plan.outputShape, unit, asked),
      least: planFor === null ? null : smallestPlan(planFor),
      isChosen: estimator === choice?.estimator,
    };
  });
  const wanted = plannable(found)?.estimator.name;
  return {
    wantedUnit: estimators.find(({ name }) => name === wanted)?.unit ?? null,
    kind: 'rating', estimators, why: choice?.why ?? [], assumes: choice?.assumes ?? '', budget,
    parameters: choice?.parameters ?? {},
    problem: found.kind === 'choice' ? null : {
      reason: found.reason, remedy: found.remedy,
      ...(found.cohortNeeded !== undefined && { cohortNeeded: found.cohortNeeded }),
    },
  };
}

function halfOf(
  { sampling, noise }: ExpectedError, shape: readonly number[], unit: string, { question }: Asked,
): number | null {
  if (question === 'covariance') return null;
  const all = /at a typical/.test(unit) ? 1 : shape.reduce((product, size) => product * size, 1);
  const deviation = Math.hypot(sampling, noise) / Math.sqrt(all);
  return Number.isFinite(deviation) ? deviations95 * deviation : null;
}

/** One number after the other is changed until the error is met. */
function goalOf(asked: Asked, best: Candidate, error: number, target: PrivacyTarget): Goal {
  const planFor = plannerFor(asked, best, target)!;
  const least = smallestPlan(planFor);
  const wanted = unitOf(planFor, best);
  const meets = (change: Partial<Asked>): boolean => {
    const next = { ...asked, ...change };
    const { found } = leastNoise(next);
    if (found.kind !== 'choice') return false;
    const unit = String(found.plan.facts['errorsAreIn'] ?? 'spreads');
    return unit === wanted && found.plan.expectedError(next.hostile).total <= error;
  };
  const [leastEpsilon, mostEpsilon] = limits.epsilon;
  return {
    kind: 'goal',
    people: least === null ? null : smallestCohortFor(planFor, asked.hostile, error, least),
    epsilon: !meets({ epsilon: mostEpsilon }) ? null
      : meets({ epsilon: leastEpsilon }) ? leastEpsilon
        : roundedUp((epsilon) => meets({ epsilon }), leastEpsilon, mostEpsilon),
    hostile: largestShare((hostile) => meets({ hostile })),
  };
}

/** In whole per cent; null where not even 0 passes. */
function largestShare(passes: (share: number) => boolean): number | null {
  let [works, fails] = [-1, 100 * limits.hostile[1] + 1];
  while (fails - works > 1) {
    const middle = Math.floor((works + fails) / 2);
    if (passes(middle / 100)) works = middle;
    else fails = middle;
  }
  return works < 0 ? null : works / 100;
}
