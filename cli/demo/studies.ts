import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { perReleaseTarget } from '../../src/privacy/accounting/target.js';
import { ofShortFacts, type StudyDocument } from '../../src/wire/study-document.js';
import { UsageError } from '../base/errors.js';
import { demoSpread, questionsDefinition } from './questions.js';

/** Public facts that the studies of the demonstration share. */
export interface DemoFacts {
  readonly contributors: number;
  /** Number of epochs to show. */
  readonly epochs: number;
  readonly epochMs: number;
  /** For each release. */
  readonly epsilon: number;
  readonly corruption: number;
  /** The budget renews, so that releases continue as long as somebody watches. */
  readonly keep: boolean;
}

/** Rows per contribution. */
export const flightsPerContribution = 8;

const delta = 1e-6;
const budgetDelta = 1e-5;
/** The largest epsilon that a budget may have. */
const budgetMax = 100;
/**
 * An epoch reserves its part of the budget before the release of the one before. A machine that
 * stalls may lose an epoch.
 */
const spareEpochs = 3;

/** Number of studies. Everybody takes part in all of them. */
export const demoStudiesCount = 3;

/**
 * The studies of the demonstration, about the same flights and people: the private mean; the robust
 * mean, which limits the effect of a hostile minority; and ten questions to one contribution.
 * @throws UsageError if no budget pays for so many releases; KeelsonError('plan-infeasible') for
 *   too few people.
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
    // A late row counts in no epoch: the truth beside a release comes from the rows in it.
    late: 'drop',
    retention: { kind: 'release' },
  } as const;
  const corruption = Math.max(facts.corruption, 0.01);
  const means = [
    ['mean', 'mean', 'Delays and distances of flights: the plain mean'],
    ['robust', 'robust-mean', 'Delays and distances of flights, also if some people lie'],
  ].map(([word, name, title]) => {
    const { name: estimator, parameters } = findEstimator(name!);
    const document = ofShortFacts({
      ...shared,
      study: `flights-${word!}`,
      title: title!,
      estimator,
      parameters:
        parseParameters(parameters, { spread: [...demoSpread], corruption }, { dimension: 2 }),
    });
    return defineStudy(document);
  });
  const { cohort, privacy, budget } = shared;
  return [...means, questionsDefinition({
    cohort, privacy, budget, corruption, everyMs: facts.epochMs, rowsMax: flightsPerContribution,
  })];
}

/**
 * The smallest budget, in steps of a twentieth, that pays for the shown epochs and some spare ones.
 * A budget that renews does so after two epochs less, because one epoch is charged while another is
 * open, and clocks are not exact.
 */
function budgetFor({ epochs, epochMs, epsilon, keep }: DemoFacts): StudyDocument['budget'] {
  const wanted = epochs + spareEpochs;
  for (let budget = epsilon; budget <= budgetMax; budget *= 1.05) {
    const rounded = Number(budget.toFixed(2));
    if (perReleaseTarget({ epsilon, delta }, { epsilon: rounded, delta: budgetDelta }).epochs
        < wanted) {
      continue;
    }
    return {
      epsilon: rounded, delta: budgetDelta, rule: 'zcdp', scope: 'study',
      ...(keep && { perMs: (wanted - 2) * epochMs }),
    };
  }
  throw new UsageError(
    `${wanted} releases (${epochs} to show, ${spareEpochs} to spare) at epsilon ${epsilon} each `
    + `cost more than the largest budget, epsilon ${budgetMax}: lower --epsilon or --epochs`,
  );
}
