import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { perReleaseTarget } from '../../src/privacy/accounting/target.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { UsageError } from '../base/errors.js';

/** Public facts that both demonstration studies share. */
export interface DemoFacts {
  readonly contributors: number;
  /** To show. */
  readonly epochs: number;
  readonly epochMs: number;
  /** Of each release. */
  readonly epsilon: number;
  readonly hostileShare: number;
  /** The budget renews, so that releases go on for as long as somebody watches. */
  readonly keep: boolean;
}

/** Rows per contribution. */
export const flightsPerContribution = 8;

/**
 * What counts as one unit of a column. Known beforehand, not taken from these flights: the mean of eight flights
 * seldom strays further than twenty minutes or three hundred miles from the usual one.
 */
export const demoScale = [20, 300] as const;

const delta = 1e-6;
const budgetDelta = 1e-5;
/** The largest epsilon that a budget may have. */
const budgetMax = 100;
/** The next epoch reserves its part before the last one's release; a machine that stalls may lose an epoch. */
const spareEpochs = 3;

/**
 * The two questions of the demonstration, on the same columns and people: the private mean, and the robust one, which
 * does not believe a minority.
 * @throws UsageError when no budget pays for that many releases; KeelsonError('plan-infeasible') for too few people.
 */
export function demoStudies(facts: DemoFacts): readonly StudyDefinition[] {
  const shared = {
    version: 1,
    columns: ['delay_minutes', 'distance_miles'],
    cohort: facts.contributors,
    participation: 'secret',
    epoch: { everyMs: facts.epochMs },
    contribution: { reduce: 'mean', rowsMax: flightsPerContribution },
    privacy: { epsilon: facts.epsilon, delta },
    budget: budgetFor(facts),
    admission: { kind: 'open' },
    // What is late is not counted elsewhere: the truth beside a release is that of the rows in it.
    late: 'drop',
    retention: { kind: 'release' },
  } as const;
  const corruption = Math.max(facts.hostileShare, 0.01);
  return (['mean', 'robust-mean'] as const).map((estimator) => {
    const { parameters } = findEstimator(estimator);
    const document: StudyDocument = {
      ...shared,
      study: `flights-${estimator === 'mean' ? 'mean' : 'robust'}`,
      estimator,
      parameters: parseParameters(parameters, { scale: [...demoScale], corruption }, { dimension: 2 }),
    };
    return defineStudy(document);
  });
}

/**
 * The smallest budget, in steps of a twentieth, that pays for the epochs shown and some spare ones. One that
 * renews does so over two epochs less: one is charged while another is open, and clocks are not exact.
 */
function budgetFor({ epochs, epochMs, epsilon, keep }: DemoFacts): StudyDocument['budget'] {
  const wanted = epochs + spareEpochs;
  for (let budget = epsilon; budget <= budgetMax; budget *= 1.05) {
    const rounded = Number(budget.toFixed(2));
    if (perReleaseTarget({ epsilon, delta }, { epsilon: rounded, delta: budgetDelta }).epochs < wanted) continue;
    return {
      epsilon: rounded, delta: budgetDelta, rule: 'zcdp', scope: 'study', ...(keep && { perMs: (wanted - 2) * epochMs }),
    };
  }
  throw new UsageError(
    `${wanted} releases (${epochs} to show, ${spareEpochs} to spare) at epsilon ${epsilon} each cost more than the largest `
    + `budget, epsilon ${budgetMax}: lower --epsilon or --epochs`,
  );
}
