import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { overstep, passesAtMost, roundingGap, type PassesAsked } from './projection.js';

/**
 * The noise of a mean under projected weights, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added: rows Z and Z' that differ in
 * row i at most, of norm R at most, a null row weighing nothing. Let v and v' be the weights that `projectOnBound`
 * returns for the same m, and B = (1 + overstep) m the bound that it keeps. With c = sqrt(1 / 2) + 2 e and
 * e = sqrt(2 (gap + what rounding hides)),
 * - sum v_j^(3/2) z_j changes by at most (3 / 2) c sqrt B + 2 min(R, sqrt B);
 * - sum v_j^(3/2), over the rows that are there, by at most (3 / 2) c sqrt(rowsMax) + 1.
 * Why. (1) w and w', the minimisers, differ outside row i by at most sqrt(1 / 2) in norm (the lemma of
 * docs/internals/stabilised-relaxations.md, whatever the data), and v, v' lie within e of them: so |v - v'| <= c outside i.
 * (2) The derivative of x^(3/2) is (3/2) sqrt x, so by concavity of the root
 * |v_j^(3/2) - v'_j^(3/2)| <= (3/2) |v_j - v'_j| sqrt(o_j), o = (v + v') / 2. For every unit vector a, by Cauchy and
 * Schwarz, sum (3/2) |v_j - v'_j| sqrt(o_j) |a . z_j| <= (3/2) c sqrt(sum o_j (a . z_j)^2), and the last sum is at most
 * B, because each of v and v' bounds the common rows by B. With 1 instead of a . z_j it is at most rowsMax.
 * (3) Row i itself: v_i |z_i|^2 <= B gives v_i^(3/2) |z_i| <= sqrt B; and it is at most R.
 * m is at most bound * cohort, whatever count was released before: that m is charged. Of more than
 * twice the rows counted those with the smallest tags are taken, so that neighbours still differ in one row at most.
 * The sums are those of doubles and not on a grid: the events' grids are coarse enough that a step's half exceeds
 * their rounding, and rounding to a step is charged by the events' builders.
 */
export interface MeanStage {
  /** Bound on the second moments along any direction, in squared scales. */
  readonly bound: number;
  readonly sum: GaussianEvent;
  readonly weight: GaussianEvent;
}

export interface MeanDesign {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly ball: ClipBall;
  readonly rowsMax: number;
  readonly present: GaussianEvent;
  readonly stages: readonly MeanStage[];
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface MeanAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In scales. */
  readonly radius: number;
  readonly centreShare: number;
  /** Of the last stage, in squared scales. */
  readonly bound: number;
  /** Whether there is a first stage; `auto`: when its noise is at most half of what hostile rows may move a centre. */
  readonly recentre: 'auto' | 'yes' | 'no';
}

/** What the solver must reach. Small enough that the sensitivity is within a hundredth of that of exact weights. */
export const gapMax = 1e-5;

/** A first stage finds a centre about which the last one may bound more tightly, where there is one. */
const near = { name: 'near', looser: 1.5, share: 0.3 } as const;
/** A count below this share of the cohort is taken for this much; the release is refused then. */
const leastShare = 0.25;
/** About how far off a coordinate of the private centre is, for each hostile share: the slope of a normal median. */
const medianSlope = 1.3;
/** Share of rho, centre excluded, that counting the rows takes; and of a stage's, that adding up its weights takes. */
const presentShare = 0.01;
const weightShare = 0.08;
/** How many times the nominal cohort is weighed; further rows are left out by their tags. Weights cost its root. */
const surplus = 2;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
/** More than the rounding of the bound that the solver keeps. */
const roundedUp = 1 + 2 ** -20;
/** Sums of n doubles of size R, in chunks of 2^15, are off by less than n R / 2^37. */
const roundingOfSums = 2 ** 14;

/** Splits rho: the centre, the count, and for each stage its sum and its weight. */
export function meanDesignOf(asked: MeanAsked): MeanDesign {
  const { cohort, facts, corruption, centreShare } = asked;
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const ball = clipBall(asked.radius, { products: true, rowsMax });
  const [bins, median] = centreEvents({
    cohort, dimension, rho: shareOf(target.rho, centreShare), delta: target.delta,
  });
  const rest = shareOf(target.rho, 1 - centreShare);
  const rhoPresent = shareOf(rest, presentShare);
  const present = gaussianEvent({
    name: 'present', cohort, dimension: 1, sensitivity: 1, rho: rhoPresent,
    grid: countGrid(1 / Math.sqrt(2 * rhoPresent)),
  });
  const rho = shareOf(rest, 1 - presentShare);
  const stages = stagesOf(asked, { ball, rowsMax, rho });
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, ball, rowsMax, present, stages,
    events: [bins, median, present, ...stages.flatMap(({ sum, weight }) => [sum, weight])],
    cohortForCentre: Math.ceil(wanted / (fullestBin * (1 - corruption))),
  };
}

/** By how much one row changes the two sums of a stage; see the claim above. @param bound - m, summed over rows. */
export function sensitivitiesOf(
  { bound, radius, rowsMax, dimension }: {
    readonly bound: number; readonly radius: number; readonly rowsMax: number; readonly dimension: number;
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

/** What a stage's projection is asked, but for the unit. `present` is released. */
export function projectionAsked(
  { facts, ball: { radius } }: Pick<MeanDesign, 'facts' | 'ball'>, stage: Pick<MeanStage, 'bound'>, present: number,
): PassesAsked {
  const counted = Math.min(facts.cohort, Math.max(present, leastShare * facts.cohort));
  // In a fixed proportion to the bound: so the passes are bounded by the plan, however many rows came.
  return { bound: stage.bound * counted, rowsMax: surplus * counted, radius, gap: gapMax };
}

/**
 * Passes over the rows that a release makes at most. Each stage clips the rows in one, solves, and adds up the rows in
 * one. The bound of a projection grows with the rows for a fixed proportion of rows and bound, so that with the most
 * rows is the largest.
 */
export function passesOf(design: Pick<MeanDesign, 'facts' | 'ball' | 'stages'>): number {
  const { dimension, cohort } = design.facts;
  return design.stages.reduce((sum, stage) =>
    sum + 2 + passesAtMost(dimension, projectionAsked(design, stage, cohort)), 0);
}

interface StageRoom {
  readonly ball: ClipBall;
  readonly rowsMax: number;
  readonly rho: number;
}

function stagesOf(asked: MeanAsked, { rho, ...room }: StageRoom): readonly MeanStage[] {
  const { facts: { dimension, cohort }, corruption, bound, recentre } = asked;
  const first = stageOf(asked, near.name, near.looser * bound, { ...room, rho: shareOf(rho, near.share) });
  const noise = (first.sum.sigma * Math.sqrt(dimension)) / cohort;
  const centreOff = medianSlope * corruption * Math.sqrt(dimension);
  return recentre === 'yes' || (recentre === 'auto' && 2 * noise <= centreOff)
    ? [first, stageOf(asked, 'mean', bound, { ...room, rho: shareOf(rho, 1 - near.share) })]
    : [stageOf(asked, 'mean', bound, { ...room, rho })];
}

function stageOf(asked: MeanAsked, name: string, bound: number, { ball, rowsMax, rho }: StageRoom): MeanStage {
  const { cohort, facts: { dimension, cohort: people } } = asked;
  const { sum, weight } = sensitivitiesOf({ bound: bound * people, radius: ball.radius, rowsMax, dimension });
  return {
    bound,
    sum: gaussianEvent({
      name: `${name}/sum`, cohort, dimension, sensitivity: sum, rho: shareOf(rho, 1 - weightShare),
      magnitude: rowsMax * ball.radius * roundingOfSums,
    }),
    weight: gaussianEvent({
      name: `${name}/weight`, cohort, dimension: 1, sensitivity: weight, rho: shareOf(rho, weightShare),
      magnitude: rowsMax * roundingOfSums,
    }),
  };
}

/**
 * A share c that stands together at distance D widens the rows by c D^2. The bound leaves it what is above the spread
 * of honest rows, whose luckless share c it may hide behind; and it never moves the mean further than the ball.
 */
export function meanErrorOf({ facts, ball, stages }: MeanDesign, corruption: number, promise: number): ExpectedError {
  const { dimension, cohort } = facts;
  const { bound, sum } = stages.at(-1)!;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = (sum.sigma * Math.sqrt(dimension)) / cohort;
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const hidden = corruption === 0 ? 0 : 2 * corruption * Math.log(1 / corruption);
  const room = Math.max(hidden / 2, bound - 1 + hidden);
  const bias = Math.min(corruption * ball.radius, 1.2 * Math.sqrt(corruption * room));
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
