import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { weightSteps } from './dual-rows.js';

/**
 * The noise of the private dual, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added. Each row z, ||z|| <= R, has a
 * weight w(z) in [0, 1] that depends on this row and on released numbers alone (dual-rows). So between neighbours
 * - the sum of w z changes by at most 2 R;
 * - the sum of w z z^T, in Frobenius norm, by sqrt(w^2 ||z||^4 + w'^2 ||z'||^4 - 2 w w' (z . z')^2) <= sqrt 2 R^2;
 * - the sum of w, and the number of rows, by at most 1.
 * No step size, bound or number of steps enters: the ascent may go wherever it likes.
 * Rows are whole steps of a grid and weights whole parts of 1, so that all sums are exact and on their events' grids.
 */
export interface Stage {
  /** Bound on the second moments along any direction, in squared scales. */
  readonly bound: number;
  /** One for each step. */
  readonly gradients: readonly SymmetricGaussianEvent[];
  /** Share of the bound by which the gradients' noise may make rows look too wide. */
  readonly slack: number;
  readonly sum: GaussianEvent;
  readonly weight: GaussianEvent;
}

export interface DualDesign {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly ball: ClipBall;
  readonly rowsMax: number;
  readonly present: GaussianEvent;
  readonly stages: readonly Stage[];
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface DualAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In scales. */
  readonly radius: number;
  readonly steps: number;
  readonly centreShare: number;
  /** Of the last stage, in squared scales. */
  readonly bound: number;
}

/** The first stage only has to come near enough that the second may bound more tightly. */
const stageParts = [
  { name: 'near', looser: 1.6, share: 0.4, sum: 0.25 },
  { name: 'mean', looser: 1, share: 0.6, sum: 0.35 },
] as const;
/** Share of rho, centre excluded, that counting the rows takes; and of a stage's, that adding up its weights takes. */
const presentShare = 0.01;
const weightShare = 0.02;
/** How many times the nominal cohort is counted exactly; further rows are left out by their tags. */
const surplus = 4;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
const roundedUp = 1 + 2 ** -50;

/** Splits rho: the centre, the count, and for each stage its steps, its sum and its weight. */
export function dualDesignOf(asked: DualAsked): DualDesign {
  const { cohort, facts, corruption, centreShare } = asked;
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const ball = clipBall(asked.radius, { products: true, rowsMax: weightSteps * rowsMax });
  const [bins, median] = centreEvents({
    cohort, dimension, rho: shareOf(target.rho, centreShare), delta: target.delta,
  });
  const rest = shareOf(target.rho, 1 - centreShare);
  const present = weightEvent('present', cohort, shareOf(rest, presentShare));
  const rho = shareOf(rest, 1 - presentShare);
  const stages = stageParts.map((part) => stageOf(asked, part, ball, shareOf(rho, part.share)));
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, ball, rowsMax, present, stages,
    events: [bins, median, present, ...stages.flatMap(({ gradients, sum, weight }) => [...gradients, sum, weight])],
    cohortForCentre: Math.ceil(wanted / (fullestBin * (1 - corruption))),
  };
}

function stageOf(asked: DualAsked, part: typeof stageParts[number], ball: ClipBall, rho: number): Stage {
  const { cohort, steps, facts: { dimension, cohort: people } } = asked;
  const { name } = part;
  const bound = part.looser * asked.bound;
  const rhoStep = shareOf(rho, (1 - part.sum - weightShare) / steps);
  const sensitivity = Math.SQRT2 * roundedUp * (ball.radius * ball.radius) * roundedUp;
  const gradients = Array.from({ length: steps }, (_, t) => symmetricGaussianEvent({
    name: `${name}/gradient-${t + 1}`, cohort, dimension, sensitivity, rho: rhoStep, grid: ball.grid ** 2 / weightSteps,
  }));
  return {
    bound, gradients,
    // The norm of such noise is about sigma sqrt(2 d).
    slack: (gradients[0]!.sigma * Math.sqrt(2 * dimension)) / (people * bound),
    sum: gaussianEvent({
      name: `${name}/sum`, cohort, dimension, sensitivity: 2 * ball.radius, rho: shareOf(rho, part.sum),
      grid: ball.grid / weightSteps,
    }),
    weight: weightEvent(`${name}/weight`, cohort, shareOf(rho, weightShare)),
  };
}

function weightEvent(name: string, cohort: string, rho: number): GaussianEvent {
  const grid = Math.min(1 / weightSteps, countGrid(1 / Math.sqrt(2 * rho)));
  return gaussianEvent({ name, cohort, dimension: 1, sensitivity: 1, rho, grid });
}

/**
 * A share c that stands together at distance D widens the rows by c D^2. The bound leaves it what is above the spread
 * of honest rows, whose luckless share c it may hide behind; and it never moves the mean further than the ball.
 */
export function dualErrorOf({ facts, ball, stages }: DualDesign, corruption: number, promise: number): ExpectedError {
  const { dimension, cohort } = facts;
  const { bound, slack, sum } = stages.at(-1)!;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = (sum.sigma * Math.sqrt(dimension)) / cohort;
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const hidden = corruption === 0 ? 0 : 2 * corruption * Math.log(1 / corruption);
  const room = Math.max(hidden / 2, bound * (1 + slack) - 1 + hidden);
  const bias = Math.min(corruption * ball.radius, 1.2 * Math.sqrt(corruption * room));
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
