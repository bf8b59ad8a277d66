import { countGrid } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { allRowsDesign, withoutAllRows } from '../../pooled/all-rows.js';
import { centreStage } from '../../pooled/centre.js';
import { surplus } from '../../pooled/pool.js';
import { countEvent, squareEvent, sumEvent } from '../../pooled/query-events.js';
import { weightSteps } from './dual-rows.js';
import type { WeightedDesign, WeightedStage } from './weighted-stages.js';

/**
 * The noise of the private dual, worked out from public numbers.
 *
 * Claim. Each row z, |z| <= R, has a weight w(z) in [0, 1] that depends on this row and on released
 * numbers alone (dual-rows). So between neighbours
 * - the sum of w z changes by at most 2 R;
 * - the sum of w z z^T changes in Frobenius norm by
 *   sqrt(w^2 |z|^4 + w'^2 |z'|^4 - 2 w w' (z . z')^2) <= sqrt 2 R^2;
 * - the sum of w, and the number of rows, change by at most 1.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. No step size, bound or number of steps enters: the ascent may go anywhere. Rows are integer
 * multiples of a grid step and weights of 1 / 64, so all sums are exact and on their events' grids.
 */
export interface Stage extends WeightedStage {
  /** One for each step. */
  readonly gradients: readonly SymmetricGaussianEvent[];
  /** Share of the bound by which the gradients' noise may make rows look too wide. */
  readonly slack: number;
}

export interface DualOptions {
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In spreads. */
  readonly radius: number;
  readonly steps: number;
  readonly centrePart: number;
  /** Bound of the last stage, in squared spreads. */
  readonly bound: number;
}

/** The first stage only comes so near that the second may bound more tightly. */
const stageParts = [
  { name: 'near', looser: 1.6, share: 0.4, sum: 0.25 },
  { name: 'mean', looser: 1, share: 0.6, sum: 0.35 },
] as const;
/** Share of rho, centre excluded, that counting the rows takes. */
const presentShare = 0.01;
/** Share of a stage's rho that adding up its weights takes. */
const weightShare = 0.02;

/** Splits rho: the mean of all rows, the centre, the count, and each stage's steps and sums. */
export function dualDesignOf(options: DualOptions): WeightedDesign<Stage> {
  const { corruption, centrePart } = options;
  const all = allRowsDesign(options.facts);
  const facts = withoutAllRows(options.facts);
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const ball = clipBall(options.radius, { products: true, rowsMax: weightSteps * rowsMax });
  const centre = centreStage({
    dimension, rho: shareOf(target.rho, centrePart), delta: target.delta, corruption,
  });
  const rest = shareOf(target.rho, 1 - centrePart);
  const present = weightEvent('present', shareOf(rest, presentShare));
  const rho = shareOf(rest, 1 - presentShare);
  const stages = stageParts.map((part) =>
    stageOf(options, part, ball, shareOf(rho, part.share)));
  const draws = stages.flatMap(({ gradients, sum, weight }) => [...gradients, sum, weight]);
  return {
    facts, ball, rowsMax, centre, present, stages, all,
    events: [...centre.events, ...all.events, present, ...draws],
  };
}

function stageOf(
  { steps, bound, facts: { dimension, cohort } }: DualOptions,
  { name, looser, sum }: typeof stageParts[number], ball: ClipBall, rho: number,
): Stage {
  const boundOfStage = looser * bound;
  const rhoStep = shareOf(rho, (1 - sum - weightShare) / steps);
  const gradients = Array.from({ length: steps }, (_, t) => squareEvent(
    `${name}/gradient-${t + 1}`, dimension, ball, rhoStep, ball.grid ** 2 / weightSteps,
  ));
  return {
    bound: boundOfStage, gradients,
    // The norm of such noise is about sigma sqrt(2 d).
    slack: (gradients[0]!.sigma * Math.sqrt(2 * dimension)) / (cohort * boundOfStage),
    sum: sumEvent(`${name}/sum`, dimension, ball, shareOf(rho, sum), ball.grid / weightSteps),
    weight: weightEvent(`${name}/weight`, shareOf(rho, weightShare)),
  };
}

function weightEvent(name: string, rho: number): GaussianEvent {
  return countEvent(name, rho, Math.min(1 / weightSteps, countGrid(1 / Math.sqrt(2 * rho))));
}
