import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { MechanismEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { centreNotFound } from '../../pooled/centred-mean.js';
import type {
  CohortPlan, Compute, ExpectedError, FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { groupsOf } from '../heavy-tails/parameters.js';
import { truncationBias } from '../heavy-tails/truncation.js';
import { neighbours } from '../../contract/planning.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf, optionalNumberOf, scaleOf } from '../../contract/values.js';
import { cohortForPaper, paperDesign, paperError, type PaperAsked, type PaperDesign } from '../filters-reference/design.js';
import { factsOf, releaseAround } from '../filters-reference/plan.js';
import { poolOf } from '../../pooled/pool.js';
import type { SurvivorsForm } from '../filters/survivors.js';
import { centreOfGroups } from './centre.js';
import { centreGroups, cohortsOf, disjointCohorts, rowsCohort, type CentreAsked, type CentreGroups } from './design.js';

/** Planned distance of the private centre from the mean, per column, in scales. */
const offset = 0.2;

/** A plan's public numbers. */
interface HeavyPaper {
  /** Of the study. */
  readonly facts: StudyFacts;
  readonly found: CentreGroups;
  readonly cohorts: readonly CohortPlan[];
  readonly design: PaperDesign;
  readonly scale: Float64Array;
  /** How far clipping at the box may move the mean of honest rows, in scales. */
  readonly clipping: number;
  readonly survivors: SurvivorsForm | undefined;
}

/**
 * Plans the filter for heavy tails as printed: the middle one of several groups' centres, a box around it in which
 * Chebyshev's inequality keeps the honest rows, and per step a mean, a norm, a matrix, the width along the directions and
 * a threshold, until the noisy norm is below a constant.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added. Cost: (rho, delta), with
 * delta-approximate zCDP.
 * Why. A contributor is in one of the groups, which draw at (rho, delta) each (centre), or among the rows, whose queries
 * cost rho together; which one is a keyed hash of its identity, so that the whole costs the largest (heavy/design). The box
 * is a function of released centres. The queries' charges are proved in filters/paper/queries with w = 0, and hold for
 * surviving rows that differ in one row each; a cut's numbers are released, and it takes every row that scores enough, so
 * that whether a row is left is its own affair (survivors).
 *
 * Where this is not what is printed: groups are others than the rows that are averaged, and find the centre as those of
 * the default profile do; rows are taken into a cube with the diameter of the printed ball, as in the filters for light
 * tails, whose corrections `planPaper` names; its side is 6, not 50, over the root of the hostile share.
 * Source: Liu, Kong, Kakade and Oh (2021), Algorithms 3 and 14 to 16.
 * @param survivors - how rows that are left are kept; releases do not depend on it.
 */
export function planHeavyPaper(
  values: ParameterValues, facts: StudyFacts, survivors?: SurvivorsForm,
): Plan | Infeasible {
  const centreAsked: CentreAsked = {
    facts, corruption: numberOf(values, 'corruption'), groups: groupsOf(values),
    centreShare: optionalNumberOf(values, 'centre-share'),
  };
  const [looks, finalShare] = [numberOf(values, 'looks'), numberOf(values, 'final-share')];
  const found = centreGroups(centreAsked);
  const rows = 'kind' in found ? 0 : rowsLeftBy(found, facts.cohort);
  const asked: PaperAsked = {
    kind: 'heavy-tailed', cohort: rowsCohort, facts: { ...facts, cohort: rows }, corruption: centreAsked.corruption, looks,
    centreShare: 0, finalShare,
  };
  const rowsNeeded = cohortForPaper(asked);
  if ('kind' in found || rows < rowsNeeded) return queriesHidden(centreAsked, rowsNeeded);
  const design = paperDesign(asked);
  const scale = scaleOf(values, facts.dimension) as Float64Array;
  const moment = { order: numberOf(values, 'moment'), bound: 1 };
  const clipping = truncationBias(moment, facts.dimension, offset, design.box.half * design.box.grid);
  const { cohorts, centres } = cohortsOf(facts, found);
  return planFor({ facts, found, cohorts, design, scale, clipping, survivors }, [...centres, ...design.events]);
}

/** Nominal rows of a cohort that do not look for the centre. */
function rowsLeftBy({ share }: CentreGroups, cohort: number): number {
  return Math.floor(cohort * (1 - share));
}

/** @param rowsNeeded - that do not look for the centre. */
function queriesHidden(asked: CentreAsked, rowsNeeded: number): Infeasible {
  const { facts: { cohort, dimension, target }, corruption } = asked;
  const needed = cohortFor(asked, rowsNeeded);
  return {
    kind: 'infeasible',
    reason: `with ${cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} the noise hides where the `
      + `rows are, or that of the paper's queries all that a share of ${corruption} could do to them`,
    remedy: `profile: default, a cohort of ${needed}, fewer columns, fewer looks or a larger epsilon`,
    cohortNeeded: needed,
  };
}

/** Contributors of whom groups find the centre and so many are left: with the most that groups may take, in turn. */
function cohortFor(asked: CentreAsked, rowsNeeded: number): number {
  const shares = asked.centreShare === undefined ? [1 / 7, 1 / 3] : [asked.centreShare];
  const cohorts = shares.map((share) => {
    const cohort = Math.ceil(rowsNeeded / (1 - share)) + 1;
    const found = centreGroups({ ...asked, facts: { ...asked.facts, cohort } });
    return 'kind' in found ? Math.max(cohort, found.cohortNeeded) : cohort;
  });
  const isEnough = (cohort: number): boolean => {
    const found = centreGroups({ ...asked, facts: { ...asked.facts, cohort } });
    return !('kind' in found) && rowsLeftBy(found, cohort) >= rowsNeeded;
  };
  return cohorts.find(isEnough) ?? cohorts.at(-1)!;
}

function planFor(paper: HeavyPaper, events: readonly MechanismEvent[]): Plan {
  const { facts, found, cohorts, design, scale, clipping } = paper;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts,
    cost: costOfEvents(events, { disjoint: disjointCohorts({ cohorts }) }),
    events,
    guarantee: {
      neighbours,
      theorem: 'the printed queries with corrected noise, about a centre found by others; proofs in '
        + 'src/estimators/mean/filters-reference and src/estimators/mean/prime-heavy',
      assumptions: [
        'for accuracy: honest rows have at most one scale of spread in every direction',
        'for accuracy: at most the stated share of the contributors is hostile, and three quarters take part',
      ],
      corruptionMax: design.corruption,
    },
    outputShape: [facts.dimension],
    noise: Array.from(scale, (unit) => unit * design.final.sigma),
    facts: {
      scale: Array.from(scale).join(', '), groups: found.groups, contributorsOfTheMean: design.facts.cohort,
      clippingMovesAtMostInScales: clipping, ...factsOf(design),
    },
    expectedError: (share) => withClipping(paperError(design, share), clipping),
    summary: () => rowsSummary(facts.dimension),
    release: (summaries, mechanisms, compute) => release(paper, summaries, mechanisms, compute),
  });
}

function withClipping({ sampling, noise, bias }: ExpectedError, clipping: number): ExpectedError {
  const both = bias + clipping;
  return { total: Math.hypot(sampling, noise, both), sampling, noise, bias: both };
}

async function release(
  { facts, found: { groups }, design, scale, survivors }: HeavyPaper, summaries: FinishedSummaries,
  mechanisms: Mechanisms, compute: Compute,
): Promise<Released<Outcome>> {
  const around = await centreOfGroups({ facts, groups, scale, mechanisms, compute }, summaries);
  const { centre, failed } = around.value;
  if (centre === null) return around.map<Outcome>(() => centreNotFound(facts, failed));
  const form = { paper: 'heavy-tailed' as const, ...(survivors === undefined ? {} : { survivors }) };
  return releaseAround(
    { form, design, mechanisms, compute }, poolOf(summaries, rowsCohort), around.map(() => centre), scale, facts,
  );
}
