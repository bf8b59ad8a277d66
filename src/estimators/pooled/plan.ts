import { costOfEvents } from '../../privacy/accounting/composition.js';
import type {
  CohortPlan, Guarantee, Infeasible, Plan, StudyFacts,
} from '../contract/estimator.js';
import { needsCohort, neighbours } from '../contract/planning.js';
import { pooledCohort } from './pool.js';

/** What plans say must hold for accurate answers, where several say the same. */
export const assumptions = {
  hostileShare: 'for accuracy: at most the stated share of the contributors is hostile',
  lightTails:
    'for accuracy: honest rows have about one scale of spread in every direction, and light tails',
} as const;

/** A plan without what follows from the rest of it. */
export interface PlanParts extends Omit<Plan, 'kind' | 'cohorts' | 'cost' | 'guarantee'> {
  /** Default: one cohort of everybody. A contributor is in one cohort. */
  readonly cohorts?: readonly CohortPlan[];
  readonly guarantee: Omit<Guarantee, 'neighbours'>;
}

/**
 * The plan, frozen. Its cost is that of its events; those of different cohorts compose in parallel.
 */
export function planOf({ cohorts = [pooledCohort()], guarantee, ...parts }: PlanParts): Plan {
  const disjoint = cohorts.length > 1 ? cohorts.map(({ name }) => name) : [];
  return Object.freeze<Plan>({
    kind: 'plan',
    ...parts,
    cohorts,
    cost: costOfEvents(parts.events, { disjoint }),
    guarantee: { neighbours, ...guarantee },
  });
}

/** A scale as plans show it. */
export function scaleText(scale: Float64Array | null): string {
  return scale === null ? 'found privately' : Array.from(scale).join(', ');
}

/**
 * Noise hides what is wanted of so few contributors.
 * @param hidden - what it hides, after "the noise hides".
 * @param others - what helps besides a larger cohort.
 */
export function noiseHides(
  { cohort, dimension, target }: StudyFacts, hidden: string, cohortNeeded: number, others: string,
): Infeasible {
  return needsCohort(
    `with ${cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} `
    + `the noise hides ${hidden}`,
    cohortNeeded, others,
  );
}
