import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { MechanismEvent } from '../../../privacy/accounting/events.js';
import type {
  ArmPlan, ExpectedError, FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { makePlan } from '../../contract/planning.js';
import { numberOf, optionalNumberOf, spreadOf } from '../../contract/values.js';
import type { Draws } from '../../pooled/centre.js';
import { centreNotFound } from '../../pooled/centred-mean.js';
import { noiseHides, spreadText } from '../../pooled/plan.js';
import { knownColumns } from '../../pooled/estimator.js';
import { rowsCohort } from '../../pooled/pool.js';
import { rowsSummary } from '../../summaries/rows.js';
import {
  cohortForReference, referenceDesign, referenceError, type ReferenceDesign, type ReferenceOptions,
} from '../filters-reference/design.js';
import { factsOf, releaseAround, turnoutAssumption } from '../filters-reference/plan.js';
import type { SurvivorsForm } from '../filters/survivors.js';
import { subsamplesOf } from '../heavy-tails/parameters.js';
import { truncationBias } from '../heavy-tails/truncation.js';
import { centreOfGroups } from './centre.js';
import {
  boundedAssumption, centreGroups, armsOf, type CentreGroups, type CentreGroupsOptions,
} from './design.js';

/** Planned distance of the private centre from the mean, per column, in spreads. */
const offset = 0.2;

/** A plan's public numbers. */
interface HeavyReference {
  /** The facts of the study. */
  readonly facts: StudyFacts;
  readonly found: CentreGroups;
  readonly arms: readonly ArmPlan[];
  readonly design: ReferenceDesign;
  readonly spread: Float64Array;
  /** How far clipping at the box may move the mean of honest rows, in spreads. */
  readonly clipping: number;
  readonly survivors: SurvivorsForm | undefined;
}

/**
 * Plans the filter for heavy tails as printed: the median of several groups' centres, a box around
 * it in which Chebyshev's inequality keeps the honest rows, and per step a mean, a norm, a matrix,
 * the width along the directions and a threshold, until the noisy norm is below a constant.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. A contributor is in one of the groups, which draw at (rho, delta) each (centre), or among
 * the rows, whose queries cost rho together. Which one is a keyed hash of its identity, so the
 * whole costs the largest (`design`). The box is a function of released centres. The queries'
 * charges are proved in filters-reference/queries with w = 0, and hold for surviving rows that
 * differ in one row each. A removal's numbers are released and it takes every row that scores
 * enough, so whether a row is left is a function of this row (filters/survivors).
 *
 * It differs from the printed filter: groups are others than the rows that are averaged, and find
 * the centre as those of the default variant do. Rows are taken into a cube with the diameter of
 * the printed ball, as in the filters for light tails, whose corrections `designReference` names.
 * Its side is 6, not 50, over the root of the corruption.
 * Source. Liu, Kong, Kakade and Oh (2021), Algorithms 3 and 14 to 16.
 * @param survivors - how rows that are left are kept; releases do not depend on it.
 */
export function planHeavyReference(
  values: ParameterValues, facts: StudyFacts, survivors?: SurvivorsForm,
): Plan | Infeasible {
  const centreOptions: CentreGroupsOptions = {
    facts, corruption: numberOf(values, 'corruption'), groups: subsamplesOf(values),
    centrePart: optionalNumberOf(values, 'centre-part'),
  };
  const found = centreGroups(centreOptions);
  const rows = 'kind' in found ? 0 : rowsLeftBy(found, facts.cohort);
  const options: ReferenceOptions = {
    kind: 'heavy-tailed', facts: { ...facts, cohort: rows }, corruption: centreOptions.corruption,
    rounds: numberOf(values, 'rounds'), centrePart: 0,
    finalPart: numberOf(values, 'final-part'),
  };
  const rowsNeeded = cohortForReference(options);
  if ('kind' in found || rows < rowsNeeded) {
    const hidden =
      `where the rows are, or all that a share of ${options.corruption} could do to them`;
    return noiseHides(
      facts, hidden, cohortFor(centreOptions, rowsNeeded),
      'variant: default, fewer columns, fewer rounds or a larger epsilon',
    );
  }
  const design = referenceDesign(options);
  const spread = spreadOf(values, facts.dimension) as Float64Array;
  const moment = { order: numberOf(values, 'moment'), bound: 1 };
  const reach = design.box.half * design.box.grid;
  const clipping = truncationBias(moment, facts.dimension, offset, reach);
  const { arms, centres } = armsOf(facts, found);
  const events = [...centres, ...design.events];
  return planFor({ facts, found, arms, design, spread, clipping, survivors }, events);
}

/** Nominal rows of a cohort that do not find the centre. */
function rowsLeftBy({ share }: CentreGroups, cohort: number): number {
  return Math.floor(cohort * (1 - share));
}

/**
 * The cohort of which groups find the centre and enough rows are left: with the most that groups
 * may take, in turn.
 */
function cohortFor(options: CentreGroupsOptions, rowsNeeded: number): number {
  const { centrePart } = options;
  const shares = centrePart === undefined ? [1 / 7, 1 / 3] : [centrePart];
  const cohorts = shares.map((share) => {
    const cohort = Math.ceil(rowsNeeded / (1 - share)) + 1;
    const found = centreGroups({ ...options, facts: { ...options.facts, cohort } });
    return 'kind' in found ? Math.max(cohort, found.cohortNeeded) : cohort;
  });
  const isEnough = (cohort: number): boolean => {
    const found = centreGroups({ ...options, facts: { ...options.facts, cohort } });
    return !('kind' in found) && rowsLeftBy(found, cohort) >= rowsNeeded;
  };
  return cohorts.find(isEnough) ?? cohorts.at(-1)!;
}

function planFor(reference: HeavyReference, events: readonly MechanismEvent[]): Plan {
  const { facts, found, arms, design, spread, clipping } = reference;
  return makePlan({
    arms,
    events,
    guarantee: {
      theorem: 'the printed queries with corrected noise, about a centre found by others; proofs '
        + 'in src/estimators/mean/filters-reference and src/estimators/mean/prime-heavy',
      assumptions: [boundedAssumption, turnoutAssumption],
      corruptionMax: design.corruption,
    },
    outputShape: [facts.dimension],
    noise: Array.from(spread, (unit) => unit * design.final.sigma),
    facts: {
      spread: spreadText(spread), groups: found.groups, contributorsOfTheMean: design.facts.cohort,
      clippingMovesAtMostInSpreads: clipping, ...factsOf(design),
    },
    expectedError: (share) => withClipping(referenceError(design)(share), clipping),
    summary: () => rowsSummary(facts.dimension),
    release: (summaries, mechanisms, compute) =>
      release(reference, summaries, { mechanisms, compute }),
  });
}

function withClipping({ sampling, noise, bias }: ExpectedError, clipping: number): ExpectedError {
  const both = bias + clipping;
  return { total: Math.hypot(sampling, noise, both), sampling, noise, bias: both };
}

async function release(
  { facts, found: { groups }, design, spread, survivors }: HeavyReference,
  summaries: FinishedSummaries, draws: Draws,
): Promise<Released<Outcome>> {
  const around = await centreOfGroups({ facts, groups, spread, ...draws }, summaries);
  const { centre, failed } = around.value;
  if (centre === null) return around.map<Outcome>(() => centreNotFound(facts, failed));
  const form = {
    reference: 'heavy-tailed' as const, ...(survivors === undefined ? {} : { survivors }),
  };
  const pool = poolOf(summaries, rowsCohort);
  const columns = knownColumns(spread);
  return releaseAround(form, design, draws, { pool, centre, spread, columns }, facts);
}
