import { ln } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError, Plan } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import type { Draws, QueryDesign } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { releaseAllRows, withAllRows, type AllRowsDesign } from '../../pooled/all-rows.js';
import { answerOf } from '../../pooled/centred-mean.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { assumptions, type PooledPlanParts } from '../../pooled/plan.js';
import { usableWidth } from '../../pooled/radius.js';
import { stepRows, type StepRows } from './dual-rows.js';

/** A weighted mean in stages: each weighs the rows about the answer of the stage before it. */

/** A stage that weighs rows and adds them up. */
export interface WeightedStage {
  /** Bound on the second moments along any direction, in squared spreads. */
  readonly bound: number;
  readonly sum: GaussianEvent;
  readonly weight: GaussianEvent;
}

/** The design of a weighted mean, from public numbers. */
export interface WeightedDesign<Stage extends WeightedStage> extends QueryDesign {
  readonly ball: ClipBall;
  readonly present: GaussianEvent;
  readonly stages: readonly Stage[];
  readonly all: AllRowsDesign;
}

/** A noisy sum of weighted rows, in spreads, and the noisy sum of their weights. */
export interface WeightedSums {
  readonly sum: Released<Float64Array>;
  readonly weight: Released<Float64Array>;
  /**
   * Largest second moment of weighted rows along any direction, in squared spreads, as released
   * numbers say. Absent: the bound holds for all data.
   */
  readonly widest?: number;
}

/** The released numbers about the weights of a stage. */
export interface StageWeights {
  /** The weights add up to this share of the rows. */
  readonly weightShare: number;
  readonly widest?: number;
}

/** How an estimator weighs. */
export interface Weighing<Stage> {
  /** @param present - released number of rows. */
  readonly weigh: (
    stage: Stage, rows: Sensitive<StepRows>, present: number,
  ) => Promise<WeightedSums>;
  /** Least sum of weights with which a release answers. */
  readonly leastWeight: (present: number) => number;
  /**
   * How far hostile rows may move the answer along any direction, in spreads, by what was released
   * of the last stage's weights.
   */
  readonly hostile: (weights: StageWeights) => number;
}

/**
 * Draws the mean of all rows (pooled/all-rows), the number of rows, then every stage. A refusal
 * follows from released numbers.
 *
 * Why this adds no cost to that of its events: a stage's centre is public or released before it.
 */
export async function releaseStages<Stage extends WeightedStage>(
  { facts, ball, rowsMax, present, stages, all: beside }: WeightedDesign<Stage>,
  draws: Draws, { pool, centre: start, spread }: CentredPool,
  { weigh, leastWeight, hostile }: Weighing<Stage>,
): Promise<Released<Outcome>> {
  const { mechanisms, compute } = draws;
  const all = (await releaseAllRows(draws, beside, pool, start, spread)).value;
  let centre = start;
  let weights: StageWeights = { weightShare: 1 };
  let outcome: Released<Outcome> | null = null;
  let counted: number | null = null;
  for (const stage of stages) {
    const about = centre;
    const rows = await pool.mapAsync((whole) =>
      stepRows(compute, whole, rowsMax, ball, about, spread));
    // The rows are counted once: their number does not depend on the centre.
    counted ??= mechanisms.gaussian(present.name, rows.map((all) =>
      Float64Array.of(all.present.reduce((sum, one) => sum + one, 0)))).value[0]!;
    const count = counted;
    const { sum, weight, widest } = await weigh(stage, rows, count);
    outcome = Released.all<readonly [Float64Array, Float64Array]>([sum, weight])
      .map(([total, [kept = 0]]) => {
        if (count < facts.cohort / 4 || kept < leastWeight(count)) {
          return participationBelowPlan(facts);
        }
        weights = {
          weightShare: Math.min(1, kept / count), ...(widest !== undefined && { widest }),
        };
        const moved = total.map((entry) => entry / kept);
        return answerOf(
          { sum: stage.sum, count: stage.weight },
          { centre: about, spread, moved, present: kept, width: usableWidth(all.width) },
        );
      });
    if (outcome.value.kind !== 'value') return outcome;
    centre = Float64Array.from(outcome.value.estimate);
  }
  assert(outcome !== null, 'a design has stages');
  return outcome.map((answer) => withAllRows(answer, {
    all, centre: start, spread, left: null, clippedAt: null,
    hostile: hostile(weights),
  }));
}

/** The claims of a weighted mean's plan. */
export interface WeightedClaims {
  readonly theorem: string;
  /** Corruption that the error is promised for. */
  readonly corruption: number;
  /** Second moments along a direction that the last stage allows, in squared spreads. */
  readonly varianceAllowed: number;
  readonly facts: Plan['facts'];
}

/** The parts of a weighted mean's plan that the pipeline asks for. */
export function weightedPlan<Stage extends WeightedStage>(
  design: WeightedDesign<Stage>,
  { theorem, corruption, varianceAllowed, facts }: WeightedClaims,
): PooledPlanParts {
  const { ball, events, stages, facts: { dimension, cohort } } = design;
  const { sum } = stages.at(-1)!;
  return {
    events,
    guarantee: {
      theorem,
      assumptions: [assumptions.lightTails, assumptions.corruption, design.all.assumption],
      corruptionMax: corruption,
    },
    outputShape: [dimension],
    facts: {
      clipRadiusInSpreads: ball.radius,
      noisePerCoordinateInSpreads: sum.sigma / cohort,
      varianceAllowed,
      rowsCountedAtMost: design.rowsMax,
      ...facts,
    },
    expectedError: weightedError(design, corruption, varianceAllowed),
  };
}

/**
 * A share c that stands together at distance D adds c D^2 to the second moments. The bound leaves
 * it what is above the variance of honest rows, and it may hide behind the c farthest of these. It
 * never moves the mean farther than the ball.
 */
function weightedError<Stage extends WeightedStage>(
  { ball, stages, facts: { dimension, cohort } }: WeightedDesign<Stage>, promise: number,
  varianceAllowed: number,
): (share: number) => ExpectedError {
  const honest = honestErrorOfMean(dimension, cohort, stages.at(-1)!.sum.sigma);
  return errorUpTo(promise, honest, (share) => {
    const hidden = share === 0 ? 0 : 2 * share * ln(1 / share);
    const room = Math.max(hidden / 2, varianceAllowed - 1 + hidden);
    return Math.min(share * ball.radius, 1.2 * Math.sqrt(share * room));
  });
}
