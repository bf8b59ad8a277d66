import type { Infeasible, StudyFacts } from '../contract/estimator.js';
import { columnsText, needsCohort, type PlanParts } from '../contract/planning.js';

/** Assumptions behind accurate answers that several plans share. */
export const assumptions = {
  nobodyHostile: 'for accuracy: nobody sends false rows',
  corruption: 'for accuracy: at most the stated share of the contributors is hostile',
  lightTails:
    'for accuracy: honest rows are about one spread wide in every direction, and have light tails',
} as const;

/** The parts of a plan that its design states; the pipeline adds the rest. */
export type PooledPlanParts = Omit<PlanParts, 'arms' | 'noise' | 'summary' | 'release'>;

/** A spread as plans show it. */
export function spreadText(spread: Float64Array | null): string {
  return spread === null ? 'found privately' : Array.from(spread).join(', ');
}

/**
 * Too few contributors: the noise hides what is asked for.
 * @param hidden - what it hides, after "the noise hides".
 * @param others - what helps besides a larger cohort.
 */
export function noiseHides(
  { cohort, dimension, target }: StudyFacts, hidden: string, cohortNeeded: number, others: string,
): Infeasible {
  return needsCohort(
    `with ${cohort} contributors, ${columnsText(dimension)} and rho ${target.rho.toPrecision(3)} `
    + `the noise hides ${hidden}`,
    cohortNeeded, others,
  );
}
