import { gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { allRowsDesign, withoutAllRows } from '../../pooled/all-rows.js';
import { centreStage } from '../../pooled/centre.js';
import { rowsCohort } from '../../pooled/pool.js';
import { countEvent } from '../../pooled/query-events.js';
import type { WeightedDesign, WeightedStage } from './weighted-stages.js';
import { overstep, passesAtMost, roundingGap, type PassesOptions } from './projection.js';

/**
 * The noise of a mean under projected weights, worked out from public numbers.
 *
 * Claim. Let Z and Z' be rows that differ in row i at most, of norm R at most; a null row weighs
 * nothing. Let v and v' be the weights that `projectOnBound` returns for the same m, and let
 * B = (1 + overstep) m be the bound that it keeps. With c = sqrt(1 / 2) + 2 e and
 * e = sqrt(2 (gap + what rounding hides)),
 * - sum v_j^(3/2) z_j changes by at most (3 / 2) c sqrt B + 2 min(R, sqrt B);
 * - sum v_j^(3/2), over the rows present, by at most (3 / 2) c sqrt(rowsMax) + 1.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why.
 * (1) The minimisers w and w' differ outside row i by at most sqrt(1 / 2) in norm, whatever the
 * data: the lemma of docs/internals/stabilised-relaxations.md. v and v' lie within e of them. So
 * |v - v'| <= c outside i.
 * (2) The derivative of x^(3/2) is (3/2) sqrt x. The root is concave, so
 * |v_j^(3/2) - v'_j^(3/2)| <= (3/2) |v_j - v'_j| sqrt(o_j), o = (v + v') / 2. By Cauchy and
 * Schwarz, for every unit vector a,
 * sum (3/2) |v_j - v'_j| sqrt(o_j) |a . z_j| <= (3/2) c sqrt(sum o_j (a . z_j)^2).
 * The last sum is at most B, because each of v and v' bounds the common rows by B. With 1 in place
 * of a . z_j it is at most rowsMax.
 * (3) Row i itself: v_i |z_i|^2 <= B gives v_i^(3/2) |z_i| <= sqrt B; and it is at most R.
 * m is at most bound * cohort, whatever count was released before, and that m is charged. Of more
 * than twice the rows counted those with the smallest tags are taken, so that neighbours still
 * differ in one row at most.
 * The sums are sums of doubles and on no grid. The events' grids are so coarse that half a step is
 * more than their rounding, and the events' builders charge the rounding to a step.
 */
export type MeanStage = WeightedStage;
export type MeanDesign = WeightedDesign<MeanStage>;

export interface MeanOptions {
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In spreads. */
  readonly radius: number;
  readonly centrePart: number;
  /** Bound of the last stage, in squared spreads. */
  readonly bound: number;
  /**
   * Yes: there is a first stage. Auto: where its noise is at most half of what hostile rows
   * may move a centre.
   */
  readonly recentre: 'auto' | 'yes' | 'no';
}

/**
 * Gap that the solver must reach: the sensitivity is within a hundredth of that of exact weights.
 */
export const gapMax = 1e-5;

/** A first stage finds a centre about which the last one may bound more tightly. */
const near = { name: 'near', looser: 1.5, share: 0.3 } as const;
/** A count below this share of the cohort is raised to it; the release is refused then. */
const leastShare = 0.25;
/**
 * About how far off each coordinate of the private centre is, per corruption: as a normal
 * median.
 */
const medianSlope = 1.3;
/** Share of rho, centre excluded, that counting the rows takes. */
const presentShare = 0.01;
/** Share of a stage's rho that adding up its weights takes. */
const weightShare = 0.08;
/** How many times the nominal cohort is weighed; the noise of weights costs its root. */
const surplus = 2;
/** More than the rounding of the bound that the solver keeps. */
const roundedUp = 1 + 2 ** -20;
/** Sums of n doubles of size R, in chunks of 2^15, are off by less than n R / 2^37. */
const roundingOfSums = 2 ** 14;

/** Splits rho: the mean of all rows, the centre, the count, and each stage's sum and weight. */
export function meanDesignOf(options: MeanOptions): MeanDesign {
  const { corruption, centrePart } = options;
  const all = allRowsDesign(options.facts);
  const facts = withoutAllRows(options.facts);
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const ball = clipBall(options.radius, { products: true, rowsMax });
  const centre = centreStage({
    dimension, rho: shareOf(target.rho, centrePart), delta: target.delta, corruption,
  });
  const rest = shareOf(target.rho, 1 - centrePart);
  const present = countEvent('present', shareOf(rest, presentShare));
  const stages = stagesOf(options, { ball, rowsMax, rho: shareOf(rest, 1 - presentShare) });
  const sums = stages.flatMap(({ sum, weight }) => [sum, weight]);
  return {
    facts, ball, rowsMax, centre, present, stages, all,
    events: [...centre.events, ...all.events, present, ...sums],
  };
}

/**
 * By how much one row changes the two sums of a stage; see the claim above. @param bound - m,
 * summed over rows.
 */
export function sensitivitiesOf(
  { bound, radius, rowsMax, dimension }: {
    readonly bound: number; readonly radius: number; readonly rowsMax: number;
    readonly dimension: number;
  },
): { readonly sum: number; readonly weight: number } {
  const error = Math.sqrt(2 * (gapMax + roundingGap(rowsMax, dimension)));
  const change = 1.5 * (Math.SQRT1_2 + 2 * error);
  const root = Math.sqrt((1 + overstep) * bound);
  return {
    sum: (change * root + 2 * Math.min(radius, root)) * roundedUp,
    weight: (change * Math.sqrt(rowsMax) + 1) * roundedUp,
  };
}

/** Options of a stage's projection, besides the unit. @param present - released. */
export function projectionOptions(
  { facts, ball: { radius } }: Pick<MeanDesign, 'facts' | 'ball'>,
  stage: Pick<MeanStage, 'bound'>, present: number,
): PassesOptions {
  const counted = Math.min(facts.cohort, Math.max(present, leastShare * facts.cohort));
  // In a fixed proportion to the bound: so the plan bounds the passes, however many rows came.
  return { bound: stage.bound * counted, rowsMax: surplus * counted, radius, gap: gapMax };
}

/**
 * Passes over the rows that a release makes at most. Each stage clips the rows in one, solves, and
 * adds up the rows in one. For a fixed proportion of rows and bound the passes of a projection
 * grow with the rows, so those with the most rows bound all.
 */
export function passesOf(design: Pick<MeanDesign, 'facts' | 'ball' | 'stages'>): number {
  const { dimension, cohort } = design.facts;
  return design.stages.reduce((sum, stage) =>
    sum + 2 + passesAtMost(dimension, projectionOptions(design, stage, cohort)), 0);
}

interface StageRoom {
  readonly ball: ClipBall;
  readonly rowsMax: number;
  readonly rho: number;
}

function stagesOf(options: MeanOptions, { rho, ...room }: StageRoom): readonly MeanStage[] {
  const { facts: { dimension, cohort }, corruption, bound, recentre } = options;
  const last = (rhoOfLast: number): MeanStage =>
    stageOf(options, 'mean', bound, { ...room, rho: rhoOfLast });
  const first = stageOf(
    options, near.name, near.looser * bound, { ...room, rho: shareOf(rho, near.share) },
  );
  const noise = (first.sum.sigma * Math.sqrt(dimension)) / cohort;
  const centreOff = medianSlope * corruption * Math.sqrt(dimension);
  const isTwice = recentre === 'yes' || (recentre === 'auto' && 2 * noise <= centreOff);
  return isTwice ? [first, last(shareOf(rho, 1 - near.share))] : [last(rho)];
}

function stageOf(
  { facts: { dimension, cohort } }: MeanOptions, name: string, bound: number,
  { ball, rowsMax, rho }: StageRoom,
): MeanStage {
  const sensitivities = sensitivitiesOf({
    bound: bound * cohort, radius: ball.radius, rowsMax, dimension,
  });
  const place = { cohort: rowsCohort };
  return {
    bound,
    sum: gaussianEvent({
      ...place, name: `${name}/sum`, dimension, sensitivity: sensitivities.sum,
      rho: shareOf(rho, 1 - weightShare), magnitude: rowsMax * ball.radius * roundingOfSums,
    }),
    weight: gaussianEvent({
      ...place, name: `${name}/weight`, dimension: 1, sensitivity: sensitivities.weight,
      rho: shareOf(rho, weightShare), magnitude: rowsMax * roundingOfSums,
    }),
  };
}
