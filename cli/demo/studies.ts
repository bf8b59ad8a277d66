import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { parseParameters } from '../../src/estimators/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/** Public facts that both demonstration studies share. */
export interface DemoFacts {
  readonly contributors: number;
  readonly epochMs: number;
  /** Of each release. */
  readonly epsilon: number;
  readonly hostileShare: number;
}

/** Rows per contribution. */
export const flightsPerContribution = 8;

/**
 * What counts as one unit of a column. Known beforehand, not taken from these flights: the mean of eight flights
 * seldom strays further than twenty minutes or three hundred miles from the usual one.
 */
export const demoScale = [20, 300] as const;

/** Releases that the demonstration's budgets pay for. */
const budgetReleases = 8;

/**
 * The two questions of the demonstration, on the same columns and people: the private mean, and the
 * mean by subsample-and-aggregate, which does not believe a minority.
 */
export function demoStudies(facts: DemoFacts): readonly StudyDefinition[] {
  const shared = {
    version: 1,
    columns: ['delay_minutes', 'distance_miles'],
    cohort: facts.contributors,
    participation: 'secret',
    epoch: { everyMs: facts.epochMs },
    contribution: { reduce: 'mean', rowsMax: flightsPerContribution },
    privacy: { epsilon: facts.epsilon, delta: 1e-6 },
    admission: { kind: 'open' },
    late: 'next',
    retention: { kind: 'release' },
  } as const;
  const corruption = Math.max(facts.hostileShare, 0.01);
  return (['mean', 'populous-mean'] as const).map((estimator) => {
    const document: StudyDocument = {
      ...shared,
      study: `flights-${estimator === 'mean' ? 'mean' : 'populous'}`,
      estimator,
      parameters: parseParameters(findEstimator(estimator).parameters, { scale: [...demoScale], corruption }, { dimension: 2 }),
      budget: { epsilon: budgetFor(facts.epsilon), delta: 1e-5, rule: 'zcdp', scope: 'study' },
    };
    return defineStudy(document);
  });
}

/** Releases compose like the root of their number, and a little faster. */
function budgetFor(epsilon: number): number {
  return Number((epsilon * Math.sqrt(budgetReleases) * 1.15).toFixed(2));
}
