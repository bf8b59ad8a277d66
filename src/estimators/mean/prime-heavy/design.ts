import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ArmPlan, ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, pooledArm } from '../../contract/planning.js';
import { allRowsDesign, withoutAllRows, type AllRowsDesign } from '../../pooled/all-rows.js';
import { countToBeSeen, fullestBinShare, nominalSizeFor } from '../../pooled/fullest-bin.js';
import { usualRadius } from '../../pooled/parameters.js';
import { rowsCohort, surplus } from '../../pooled/pool.js';
import { countEvent, sumEvent } from '../../pooled/query-events.js';
import {
  eventsOf, filterRounds, hiddenByNoise, isBlind, type FilterDesign,
} from '../filters/design.js';
import { scoreEdges } from '../filters/weights.js';
import {
  balancedRadius, medianOffset, truncationBias, type Moment,
} from '../heavy-tails/truncation.js';
import { leastHeavyScore } from './bump.js';

/**
 * Name of the arm, and prefix of the events, of one group that finds a centre; counted from 1.
 */
export const groupName = (group: number): string => `centre-${group}`;

/**
 * The public numbers of a release.
 *
 * Claim. (rho, delta).
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. Which arm a contributor is in is a keyed hash of its identity, so neighbours differ in
 * the rows of one arm. The arms are the m groups that each find a centre, at (rho, delta) each,
 * and the rows, at rho, whose queries are calibrated for any centre. Everything that reads rows of
 * more than one arm reads released numbers. So the whole costs the largest
 * (privacy/accounting/composition), which is (rho, delta). Among the rows of the last arm the
 * costs of the rounds and of the mean add up to rho:
 * - rounds: filters/design has their sensitivities, for rows clipped to the near ball of radius r;
 * - near: the sum of near(z), the row clipped to that ball: |near(z) - near(z')| <= 2 r;
 * - rest: the sum of rest(z), what z is beyond its near part, clipped to a ball of radius R - r:
 *   2 (R - r);
 * - count: 1;
 * - all: the histogram of distances and the mean of all rows (pooled/all-rows).
 * Rows of either ball are integer multiples of its grid step, and at most so many that sums are
 * exact.
 */
export interface HeavyDesign extends Omit<FilterDesign, 'centre' | 'ball'> {
  /** Whole, of the study. */
  readonly facts: StudyFacts;
  readonly groups: number;
  /** Share of the contributors that find the centre. */
  readonly centrePart: number;
  readonly arms: readonly ArmPlan[];
  /** Nominal rows that are averaged. */
  readonly rows: number;
  readonly near: ClipBall;
  /** Null where the near ball is as large as pays. */
  readonly rest: { readonly ball: ClipBall; readonly event: GaussianEvent } | null;
  /** The mean of all rows of the last arm, those that go included. */
  readonly all: AllRowsDesign;
  readonly corruption: number;
  readonly moment: Moment;
}

export interface HeavyOptions {
  readonly facts: StudyFacts;
  readonly corruption: number;
  readonly groups: number | undefined;
  readonly centrePart: number | undefined;
  /** The most rounds. */
  readonly rounds: number;
  readonly finalPart: number;
  readonly moment: Moment;
  /** The radii of the near ball and of the whole, in spreads. */
  readonly nearRadius: number | undefined;
  readonly radius: number | undefined;
}

/** `cohortNeeded`: contributors with whom it would be feasible. */
export interface HeavyInfeasible {
  readonly kind: 'infeasible';
  readonly cohortNeeded: number;
}

/** The groups of contributors that find the centre. */
export interface CentreGroups {
  readonly groups: number;
  /** Share of the contributors, of all groups together. */
  readonly share: number;
}

/** The public numbers of a release, or how many contributors would do. */
export function heavyDesign(options: HeavyOptions): HeavyDesign | HeavyInfeasible {
  const found = centreGroups(options);
  return 'kind' in found ? found : designWith(options, found.groups, found.share);
}

/** The assumption about honest rows in either variant. */
export const boundedAssumption =
  'for accuracy: honest rows are at most one spread wide in every direction';

/** The options that decide who finds the centre. */
export type CentreGroupsOptions =
  Pick<HeavyOptions, 'facts' | 'corruption' | 'groups' | 'centrePart'>;

const groupChoices = [11, 5, 1] as const;

/**
 * Groups as given, or as many of 11, 5 and 1 as find the centre with a seventh of the contributors.
 * A single group may take a third: with more of them gone the mean would be worse than one whose
 * centre everybody finds.
 */
export function centreGroups(options: CentreGroupsOptions): CentreGroups | HeavyInfeasible {
  const { facts: { cohort } } = options;
  const choices = options.groups === undefined ? groupChoices : [options.groups];
  let cohortNeeded = Infinity;
  for (const groups of choices) {
    const shareMax = options.centrePart ?? (groups === choices.at(-1) ? 1 / 3 : 1 / 7);
    const wanted = rowsOfGroup(options) * groups;
    const share = options.centrePart
      ?? Math.min(shareMax, Math.max(0.05, (1.3 * wanted) / cohort));
    if (cohort * share >= wanted) return { groups, share };
    const least = Math.ceil(wanted / shareMax);
    cohortNeeded = least * shareMax >= wanted ? least : least + 1;
  }
  return { kind: 'infeasible', cohortNeeded };
}

/** Rows that find a group's centre nearly surely, and room for a hashed group below its size. */
function rowsOfGroup(
  { facts: { dimension, target }, corruption }: Pick<HeavyOptions, 'facts' | 'corruption'>,
): number {
  const { rho, delta } = target;
  const [bins] = centreEvents({ cohort: groupName(1), dimension, rho, delta });
  const share = fullestBinShare.boundedVarianceOfGroup * (1 - corruption);
  const rows = countToBeSeen(bins, dimension) / share;
  return Math.ceil(nominalSizeFor(rows));
}

/** Share of the final cost that the number of rows takes. */
const countShare = 0.05;

/**
 * Rounds pay where they detect the corruption at this part of the near radius. With few rows
 * they detect it only farther out. What they cost the mean was then measured to be more than what
 * they save, whatever hostile rows do.
 */
const detectedFrom = 0.63;

function designWith(options: HeavyOptions, groups: number, centrePart: number): HeavyDesign {
  const { facts, moment, finalPart, corruption } = options;
  const { dimension } = facts;
  const rows = facts.cohort * (1 - centrePart);
  const all = allRowsDesign({ ...facts, cohort: rows });
  const { target } = withoutAllRows(facts);
  const rowsMax = Math.ceil(surplus * rows);
  const near = clipBall(
    options.nearRadius ?? usualRadius(dimension), { products: true, rowsMax },
  );
  const edges = scoreEdges(near.radius, leastHeavyScore);
  const rhoRound = shareOf(target.rho, (1 - finalPart) / options.rounds);
  const planned = filterRounds(options.rounds, dimension, near, rhoRound, edges.length);
  const excessMax = 3 * Math.sqrt(dimension / rows)
    + hiddenByNoise(planned[0]!.square.sigma, dimension, rows);
  const isFiltered =
    !isBlind(excessMax, corruption, { radius: detectedFrom * near.radius });
  const rounds = isFiltered ? planned : [];
  const rhoFinal = shareOf(target.rho, isFiltered ? finalPart : 1);
  const { sum, rest } = sumsOf(options, near, rows, shareOf(rhoFinal, 1 - countShare));
  const count = countEvent('mean/count', shareOf(rhoFinal, countShare));
  const { arms, centres } = armsOf(facts, { groups, share: centrePart });
  return {
    facts, groups, centrePart, arms, rows, rowsMax, near, rest, edges, rounds, sum, count,
    all, corruption, moment, excessMax,
    events: [
      ...centres, ...all.events, ...rounds.flatMap(eventsOf), sum,
      ...(rest === null ? [] : [rest.event]), count,
    ],
  };
}

/** A second ball that is not this many times the first is not worth its noise. */
const worthwhile = 1.25;

/** Splits the cost of the sums between the near ball and what is beyond it. */
function sumsOf(
  { facts: { dimension }, moment, radius: given }: HeavyOptions, near: ClipBall, rows: number,
  rho: number,
): Pick<HeavyDesign, 'sum' | 'rest'> {
  // The noise of both sums together, each of a radius of 1 and for half of the cost: twice that of
  // one sum for all of it.
  const noise = (4 * Math.sqrt(dimension)) / Math.sqrt(2 * rho) / rows;
  const radius = Math.max(
    near.radius, given ?? balancedRadius(moment, dimension, medianOffset, noise),
  );
  const hasRest = radius > worthwhile * near.radius;
  const noisy = (noise / 2) * near.radius / Math.sqrt(dimension / rows);
  const restShare = hasRest ? restShareOf(near.radius, radius, noisy) : 0;
  return {
    sum: sumEvent('mean/near', dimension, near, shareOf(rho, 1 - restShare)),
    rest: hasRest ? restOf(radius - near.radius, shareOf(rho, restShare), dimension) : null,
  };
}

/** The groups that each find a centre, with what they draw, and the arm of the rows. */
export function armsOf(
  { dimension, target }: StudyFacts, { groups, share }: CentreGroups,
): { readonly arms: readonly ArmPlan[]; readonly centres: readonly MechanismEvent[] } {
  const { rho, delta } = target;
  const names = Array.from({ length: groups }, (_, g) => groupName(g + 1));
  const finders = names.map((name) => pooledArm(name, share / groups));
  return {
    arms: [...finders, pooledArm(rowsCohort, 1 - share)],
    centres: names.flatMap((name) =>
      centreEvents({ cohort: name, dimension, rho, delta, name })),
  };
}

const leastRest = 0.2;

/**
 * Share of the cost of the sums that what is beyond the near ball takes. Most rows are inside, so
 * while the noise of the near sum is what an error is made of, the rest gets little; where sampling
 * is, about as much as makes both noises alike.
 * @param noisy - noise of the near sum, alone, in sampling errors.
 */
function restShareOf(near: number, radius: number, noisy: number): number {
  const alike = Math.min(0.6, Math.max(0.3, 1 - near / radius));
  return leastRest + (alike - leastRest) * Math.min(1, Math.max(0, 2 * (1 - noisy)));
}

function restOf(radius: number, rho: number, dimension: number): HeavyDesign['rest'] {
  const ball = clipBall(radius, { sums: true });
  return { ball, event: sumEvent('mean/rest', dimension, ball, rho) };
}

/** Bound on what clipping at the outer ball moves the mean, in spreads. */
export function clippingBias({ moment, facts, near, rest }: HeavyDesign): number {
  const radius = near.radius + (rest?.ball.radius ?? 0);
  return truncationBias(moment, facts.dimension, medianOffset, radius);
}

/**
 * Rows of the near ball are at most 1 + excessMax wide in every direction, also where honest ones
 * are narrower. A share c that stands together moves the near mean by at most
 * sqrt(c (1 + excessMax)). Of rows beyond the near ball there are at most (1 + excessMax) / r^2,
 * and each moves the rest by at most its radius.
 */
export function heavyErrorOf(
  design: HeavyDesign, promise: number,
): (share: number) => ExpectedError {
  const { facts: { dimension }, rows, sum, rest, near, excessMax } = design;
  const sampling = Math.sqrt(dimension / rows);
  const noise = (Math.hypot(sum.sigma, rest?.event.sigma ?? 0) * Math.sqrt(dimension)) / rows;
  return errorUpTo(promise, { sampling, noise }, (share) => {
    const inside = Math.min(share * near.radius, Math.sqrt(share * (1 + excessMax)));
    const outside =
      Math.min(share, (1 + excessMax) / near.radius ** 2) * (rest?.ball.radius ?? 0);
    return clippingBias(design) + inside + outside;
  });
}
