import { normalUpperQuantile } from '../../../numerics/normal.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import type { CohortPlan, ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { disjointNames, pooledCohort } from '../heavy-tails/parameters.js';
import { balancedRadius, truncationBias, type Moment } from '../heavy-tails/truncation.js';
import { countEvent, eventsOf, isBlind, looksOf, sumEvent, type Looks } from '../filters/design.js';
import { heavyEdges } from './bump.js';

/** Cohort of the contributors whose rows are looked at and averaged. */
export const rowsCohort = 'rows';
/** Name of the cohort, and prefix of the events, of one group that looks for the centre; groups count from 1. */
export const groupName = (group: number): string => `centre-${group}`;

/**
 * The public numbers of a release.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added. Cost: (rho, delta).
 * Why. Which cohort a contributor is in is a keyed hash of its identity, so neighbours differ in the rows of one
 * cohort. Cohorts are the m groups that each find a centre, at (rho, delta) each, and the rows, at rho, whose queries
 * are calibrated for any centre; everything that reads rows of more than one cohort reads released numbers. So the
 * whole costs the largest (privacy/composition), which is (rho, delta). Among the rows of the last cohort the costs of
 * the looks and of the mean overlap, and add up to rho:
 * - looks: filters/design has their sensitivities, for rows clipped to the near ball of radius r;
 * - near: the sum of near(z), the row clipped to that ball: |near(z) - near(z')| <= 2 r;
 * - rest: the sum of rest(z), what z is beyond its near part, clipped to a ball of radius R - r: 2 (R - r);
 * - count: 1.
 * Rows of either ball are whole steps of a grid and at most so many, so sums are exact.
 */
export interface HeavyDesign {
  /** Whole, of the study. */
  readonly facts: StudyFacts;
  readonly groups: number;
  /** Share of the contributors that look for the centre. */
  readonly centreShare: number;
  readonly cohorts: readonly CohortPlan[];
  /** Nominal rows that are averaged. */
  readonly rows: number;
  readonly rowsMax: number;
  readonly near: ClipBall;
  /** Null where the near ball is as large as pays. */
  readonly rest: { readonly ball: ClipBall; readonly event: GaussianEvent } | null;
  readonly edges: readonly number[];
  /** None where they could see nothing. */
  readonly looks: readonly Looks[];
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
  /** How much wider than the scale rows may look by chance. */
  readonly gate: number;
  readonly moment: Moment;
  readonly events: readonly MechanismEvent[];
}

export interface HeavyAsked {
  readonly facts: StudyFacts;
  readonly corruption: number;
  readonly groups: number | undefined;
  readonly centreShare: number | undefined;
  readonly looks: number;
  readonly finalShare: number;
  readonly moment: Moment;
  /** Of the near ball and of the whole, in scales. */
  readonly nearRadius: number | undefined;
  readonly radius: number | undefined;
}

/** `cohortNeeded`: contributors with whom it would do. */
export interface HeavyInfeasible {
  readonly kind: 'infeasible';
  readonly cohortNeeded: number;
}

const groupChoices = [11, 5, 1] as const;
/** Share of honest rows that the fullest bin of a centre's histogram holds, at least. */
const fullestBin = 0.36;
/** How many times the nominal rows are counted exactly; further ones are left out by their tags. */
const surplus = 4;
/** Share of the final cost that the number of rows takes. */
const countShare = 0.05;
/** A second ball that is not this many times the first is not worth its noise. */
const worthwhile = 1.25;
/**
 * Looks pay where they see the hostile share at this part of the near radius. Where they see it only farther out, which
 * is with few rows, what they cost the mean was measured to be more than what they save, whatever hostile rows do.
 */
const seenFrom = 0.63;
/** Planned distance of the private median from the mean, per column, in scales. */
const offset = 0.2;

/** Who looks for the centre. */
export interface CentreGroups {
  readonly groups: number;
  /** Share of the contributors, of all groups together. */
  readonly share: number;
}

/** The public numbers of a release, or how many contributors would do. */
export function heavyDesign(asked: HeavyAsked): HeavyDesign | HeavyInfeasible {
  const found = centreGroups(asked);
  return 'kind' in found ? found : designWith(asked, found.groups, found.share);
}

/** What decides who looks for the centre. */
export type CentreAsked = Pick<HeavyAsked, 'facts' | 'corruption' | 'groups' | 'centreShare'>;

/** Groups as asked, or as many of 11, 5 and 1 as find the centre with a seventh of the contributors (1: a third; with more
 * of them gone the mean would be worse than one that everybody finds the centre of). */
export function centreGroups(asked: CentreAsked): CentreGroups | HeavyInfeasible {
  const { facts: { cohort } } = asked;
  const choices = asked.groups === undefined ? groupChoices : [asked.groups];
  let cohortNeeded = Infinity;
  for (const groups of choices) {
    const shareMax = asked.centreShare ?? (groups === choices.at(-1) ? 1 / 3 : 1 / 7);
    const wanted = rowsOfGroup(asked) * groups;
    const share = asked.centreShare ?? Math.min(shareMax, Math.max(0.05, (1.3 * wanted) / cohort));
    if (cohort * share >= wanted) return { groups, share };
    const least = Math.ceil(wanted / shareMax);
    cohortNeeded = least * shareMax >= wanted ? least : least + 1;
  }
  return { kind: 'infeasible', cohortNeeded };
}

/** Rows with which a group finds its centre nearly surely; a hashed group is smaller than nominal now and then. */
function rowsOfGroup({ facts: { dimension, target }, corruption }: Pick<HeavyAsked, 'facts' | 'corruption'>): number {
  const [bins] = centreEvents({ cohort: groupName(1), dimension, rho: target.rho, delta: target.delta });
  const clear = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  const rows = clear / (fullestBin * (1 - corruption));
  return Math.ceil(rows + 3 * Math.sqrt(rows));
}

function designWith(asked: HeavyAsked, groups: number, centreShare: number): HeavyDesign {
  const { facts, moment, finalShare, looks: lookCount } = asked;
  const { dimension, target } = facts;
  const rows = facts.cohort * (1 - centreShare);
  const rowsMax = Math.ceil(surplus * rows);
  const near = clipBall(asked.nearRadius ?? 1.35 * Math.sqrt(dimension) + 3, { products: true, rowsMax });
  const place = { cohort: rowsCohort, facts };
  const edges = heavyEdges(near.radius);
  const rhoLook = shareOf(target.rho, (1 - finalShare) / lookCount);
  const planned = Array.from({ length: lookCount }, (_, t) => looksOf(place, `look-${t + 1}`, rhoLook, near, edges.length));
  const gate = gateOf(dimension, rows, planned[0]!.square.sigma);
  const looks = isBlind(gate, asked.corruption, { radius: seenFrom * near.radius }) ? [] : planned;
  const rhoFinal = shareOf(target.rho, looks.length === 0 ? 1 : finalShare);
  const rhoSums = shareOf(rhoFinal, 1 - countShare);
  // Of both sums together, each of a radius of 1 and for half of the cost: twice that of one sum for all of it.
  const noise = (4 * Math.sqrt(dimension)) / Math.sqrt(2 * rhoSums) / rows;
  const radius = Math.max(near.radius, asked.radius ?? balancedRadius(moment, dimension, offset, noise));
  const hasRest = radius > worthwhile * near.radius;
  const restShare = hasRest ? restShareOf(near.radius, radius, (noise / 2) * near.radius / Math.sqrt(dimension / rows)) : 0;
  const sum = sumEvent('mean/near', place, near, shareOf(rhoSums, 1 - restShare));
  const rest = hasRest ? restOf(radius - near.radius, shareOf(rhoSums, restShare), place) : null;
  const count = countEvent('mean/count', rowsCohort, shareOf(rhoFinal, countShare));
  const { cohorts, centres } = cohortsOf(facts, { groups, share: centreShare });
  return {
    facts, groups, centreShare, cohorts, rows, rowsMax, near, rest, edges, looks, sum, count, moment,
    gate,
    events: [...centres, ...looks.flatMap(eventsOf), sum, ...(rest === null ? [] : [rest.event]), count],
  };
}

/** The groups that each find a centre, with what they draw, and the cohort of the rows. */
export function cohortsOf(
  { dimension, target }: StudyFacts, { groups, share }: CentreGroups,
): { readonly cohorts: readonly CohortPlan[]; readonly centres: readonly MechanismEvent[] } {
  const names = Array.from({ length: groups }, (_, g) => groupName(g + 1));
  return {
    cohorts: [...names.map((name) => pooledCohort(name, share / groups)), pooledCohort(rowsCohort, 1 - share)],
    centres: names.flatMap((name) => centreEvents({ cohort: name, dimension, rho: target.rho, delta: target.delta, name })),
  };
}

/**
 * Share of the cost of the sums that what is beyond the near ball takes. Most rows are inside, so while the noise of the
 * near sum is what an error is made of, the rest gets little; where sampling is, about as much as makes both noises alike.
 * @param noisy - noise of the near sum, alone, in sampling errors.
 */
function restShareOf(near: number, radius: number, noisy: number): number {
  const alike = Math.min(0.6, Math.max(0.3, 1 - near / radius));
  return leastRest + (alike - leastRest) * Math.min(1, Math.max(0, 2 * (1 - noisy)));
}

const leastRest = 0.2;

function restOf(radius: number, rho: number, place: { cohort: string; facts: StudyFacts }): HeavyDesign['rest'] {
  const ball = clipBall(radius, { sums: true });
  return { ball, event: sumEvent('mean/rest', place, ball, rho) };
}

/** Sampling, and the noise of the second moments, whose norm is about sigma sqrt(2 d). */
function gateOf(dimension: number, rows: number, sigma: number): number {
  return 3 * Math.sqrt(dimension / rows) + (1.3 * sigma * Math.sqrt(2 * dimension)) / rows;
}

/** Cohorts of which a contributor is in one. */
export function disjointCohorts({ cohorts }: Pick<HeavyDesign, 'cohorts'>): readonly string[] {
  return disjointNames(cohorts);
}

/** Bound on what clipping at the outer ball moves the mean, in scales. */
export function clippingBias({ moment, facts, near, rest }: HeavyDesign): number {
  return truncationBias(moment, facts.dimension, offset, near.radius + (rest?.ball.radius ?? 0));
}

/**
 * Rows of the near ball are at most 1 + gate wide in every direction, also where nobody has told the honest ones' width:
 * a share c that stands together moves the near mean by at most sqrt(c (1 + gate)). Of rows beyond the near ball there
 * are at most (1 + gate) / r^2, and each moves the rest by at most its radius.
 */
export function heavyErrorOf(design: HeavyDesign, corruption: number, promise: number): ExpectedError {
  const { facts: { dimension }, rows, sum, rest, near, gate } = design;
  const sampling = Math.sqrt(dimension / rows);
  const noise = (Math.hypot(sum.sigma, rest?.event.sigma ?? 0) * Math.sqrt(dimension)) / rows;
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const inside = Math.min(corruption * near.radius, Math.sqrt(corruption * (1 + gate)));
  const outside = Math.min(corruption, (1 + gate) / near.radius ** 2) * (rest?.ball.radius ?? 0);
  const bias = clippingBias(design) + inside + outside;
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
