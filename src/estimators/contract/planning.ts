import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { PrivacyCost } from '../../privacy/accounting/cost.js';
import type {
  ArmPlan, ExpectedError, Guarantee, Infeasible, Plan, PrivacyTarget,
} from './estimator.js';

/** The neighbours of every estimator. */
export const neighbours =
  'data with one contributor’s row, with any other row in its place, and without it';

/** An arm whose rows are kept until the release. */
export function pooledArm(name: string, share = 1): ArmPlan {
  return { name, share, unit: 'row', mode: 'pooled', groups: 1 };
}

/** The parts of a plan that its estimator states; `makePlan` adds the rest. */
export type PlanParts = Omit<Plan, 'kind' | 'cost' | 'guarantee' | 'noise'> & {
  readonly guarantee: Omit<Guarantee, 'neighbours'>;
  /** Default: empty. */
  readonly noise?: Plan['noise'];
};

/**
 * The frozen plan. A contributor is in exactly one arm, so events of several arms compose in
 * parallel: the plan costs the largest of the arms' costs. The cost is worked out when it is
 * first read: a search for a cohort makes many plans and reads the cost of none.
 */
export function makePlan(parts: PlanParts): Plan {
  const { arms, events, guarantee } = parts;
  const disjoint = arms.length > 1 ? arms.map(({ name }) => name) : [];
  let cost: PrivacyCost | undefined;
  return Object.freeze<Plan>({
    noise: [],
    ...parts,
    kind: 'plan',
    get cost() { return cost ??= costOfEvents(events, { disjoint }); },
    guarantee: { neighbours, ...guarantee },
  });
}

/** The parts of an error that hostile rows do not change. */
export type HonestError = Pick<ExpectedError, 'sampling' | 'noise'>;

/**
 * The expected error by corruption: the root sum of squares of its parts.
 * @param promise - past this share the bias and the total are Infinity.
 * @param bias - what a share of hostile rows adds, up to `promise`. Default: nothing.
 */
export function errorUpTo(
  promise: number, { sampling, noise }: HonestError,
  bias: (share: number) => number = () => 0,
): (share: number) => ExpectedError {
  return (share) => {
    const moved = share >= 0 && share <= promise ? bias(share) : Infinity;
    return { total: Math.hypot(sampling, noise, moved), sampling, noise, bias: moved };
  };
}

/** The plan with the smaller expected error; of two refusals the one that asks for fewer people. */
export function betterPlan(left: Plan | Infeasible, right: Plan | Infeasible): Plan | Infeasible {
  if (left.kind === 'plan' && right.kind === 'plan') {
    return left.expectedError(0).total <= right.expectedError(0).total ? left : right;
  }
  if (left.kind === 'plan') return left;
  if (right.kind === 'plan') return right;
  return (left.cohortNeeded ?? Infinity) <= (right.cohortNeeded ?? Infinity) ? left : right;
}

/**
 * A plan that public numbers rule out.
 * @param cohortNeeded - contributors with whom the plan would fit, where that is known.
 */
export function infeasible(reason: string, remedy: string, cohortNeeded?: number): Infeasible {
  const stated = cohortNeeded === undefined ? {} : { cohortNeeded };
  return Object.freeze({ kind: 'infeasible', reason, remedy, ...stated });
}

/** `1 column`, `2 columns`. */
export function columnsText(dimension: number): string {
  return dimension === 1 ? '1 column' : `${dimension} columns`;
}

/** Null unless there are more columns than an estimator takes. */
export function tooManyColumns(
  dimension: number, columnsMax: number, reason: string, others = '',
): Infeasible | null {
  return dimension <= columnsMax ? null
    : infeasible(reason, `at most ${columnsMax} columns${others}`);
}

/**
 * Null when the target has a positive rho and a positive delta.
 * @param what - the step that needs them.
 * @param otherwise - what a user can do who has no delta.
 */
export function withoutDelta(
  { rho, delta }: PrivacyTarget, what: string, otherwise?: string,
): Infeasible | null {
  if (rho > 0 && delta > 0) return null;
  const ask = 'ask for (epsilon, delta) with delta > 0';
  return infeasible(
    `${what} needs a positive rho and a positive delta`,
    otherwise === undefined ? ask : `${ask}, or ${otherwise}`,
  );
}

/** Larger than any cohort that this module considers. */
const cohortMost = 1e9;

/**
 * The smallest cohort that a plan fits, to a share of it; Infinity when 10^9 are too few.
 * @param fits - true from some cohort on.
 * @param options.from - nothing below half of this is looked at. Default 64.
 * @param options.slack - the answer exceeds the smallest by at most this share. Default 0.01.
 */
export function nearSmallestCohort(
  fits: (cohort: number) => boolean,
  { from = 64, slack = 0.01 }: { readonly from?: number; readonly slack?: number } = {},
): number {
  let high = from;
  while (high < cohortMost && !fits(high)) high *= 2;
  if (high >= cohortMost) return Infinity;
  let low = high / 2;
  while (high - low > Math.max(1, slack * low)) {
    const between = Math.floor((low + high) / 2);
    if (fits(between)) high = between;
    else low = between;
  }
  return Math.ceil(high);
}

/**
 * Too few contributors. Names the cohort that would fit, unless none would.
 * @param others - what else the user can change.
 */
export function needsCohort(reason: string, cohortNeeded: number, others: string): Infeasible {
  if (cohortNeeded === Infinity) return infeasible(reason, others);
  return infeasible(reason, `a cohort of ${cohortNeeded}, ${others}`, cohortNeeded);
}
