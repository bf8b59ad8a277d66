import type { Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { numberOf, optionalNumberOf } from '../../contract/values.js';
import type { Draws } from '../../pooled/centre.js';
import type { DesignRequest, PooledDesign } from '../../pooled/estimator.js';
import { corruptionAtMost } from '../../pooled/expected-error.js';
import { usualRadius } from '../../pooled/parameters.js';
import { dualDesignOf, type Stage } from './dual-design.js';
import { ascend, startOfAscent } from './dual-ascent.js';
import { weightedMoments, weightSteps, type StepRows } from './dual-rows.js';
import {
  releaseStages, weightedPlan, type StageWeights, type WeightedDesign, type WeightedSums,
} from './weighted-stages.js';

/** Default share of rho for finding the centre. */
export const dualCentrePart = 0.2;

/**
 * A private mean of weighted rows. The weights are the nearest to all ones under which the rows
 * are in no direction wider than a public bound. They are found by ascending the dual of that
 * problem, d x d numbers U, along noisy gradients; a row z then weighs max(0, 1 - z^T U z). There
 * are two stages, the second about the first answer and with a tighter bound.
 *
 * Claim. (rho, delta), delta-approximate zCDP. After the centre the release cannot fail for want
 * of stability, and the claim does not depend on how far the ascent came.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator) and of every release after the centre
 * (`dual-design` has their sensitivities), composed adaptively.
 * Why. U is worked out from released numbers alone, so the weight of a row is a function of this
 * row and of releases. Two neighbouring sets, seen through the same releases, differ in one row's
 * terms of every sum.
 * Assumption. Honest rows have light tails and are at most about one spread wide in every
 * direction. Rows that widen the whole beyond the bound lose weight in proportion to how far out
 * they are along U. What a share c keeps moves the mean by about sqrt(c (variance allowed - 1)),
 * and by about c sqrt(log(1 / c)) more that the tails of honest rows hide. The variance allowed is
 * the bound and room for the gradients' noise. With few contributors that is much, and the answer
 * comes down to the clipped mean.
 * Source. The projection of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by
 * stabilizing convex relaxations (2022), without the constraint on the sum of weights, and with
 * the dual instead of the weights made private.
 */
export function designDual({ values, facts }: DesignRequest): PooledDesign {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const design = dualDesignOf({
    facts, corruption, radius: optionalNumberOf(values, 'radius') ?? usualRadius(dimension),
    bound: numberOf(values, 'bound'), steps: numberOf(values, 'steps'),
    centrePart: optionalNumberOf(values, 'centre-part') ?? dualCentrePart,
  });
  const last = design.stages.at(-1)!;
  return {
    kind: 'design',
    centre: design.centre,
    plan: weightedPlan(design, {
      theorem: 'weights from a released dual; proofs in src/estimators/mean/stable-mean',
      corruption,
      varianceAllowed: last.bound * (1 + last.slack),
      facts: { stepsOfEachStage: last.gradients.length },
    }),
    noise: { sigma: last.sum.sigma, rows: cohort },
    release: (draws, centred) => releaseStages(design, draws, centred, {
      weigh: (stage, rows, present) => runStage(design, stage, rows, present, draws),
      leastWeight: () => cohort / 4,
      hostile: (weights) => movedAtMost(corruption, last.bound * (1 + last.slack), weights),
    }),
  };
}

/**
 * How far a share c of hostile rows moves the mean of weighted rows along any direction.
 *
 * Why. Let W be the sum of the weights per row, which is released. Hostile weights add up to at
 * most c, so honest rows lose at most 1 - W, and so do the squares of what they lose. Honest rows
 * are at most one spread wide, so by the inequality of Cauchy and Schwarz their loss moves the sum
 * by at most sqrt(1 - W) per row. Hostile rows that keep weight move it by at most sqrt(c v), v
 * being the largest second moment of weighted rows: what the plan allows, or what the last
 * released step shows, whichever is larger.
 */
function movedAtMost(
  corruption: number, allowed: number, { weightShare, widest = 0 }: StageWeights,
): number {
  const kept = Math.sqrt(corruptionAtMost(corruption) * Math.max(allowed, widest));
  return (kept + Math.sqrt(1 - weightShare)) / weightShare;
}

/** Ascends the dual and adds up the rows under its weights. @param present - released. */
async function runStage(
  { ball, facts }: WeightedDesign<Stage>, stage: Stage, rows: Sensitive<StepRows>, present: number,
  { mechanisms, compute }: Draws,
): Promise<WeightedSums> {
  const { dimension } = facts;
  const divisor = Math.max(present, facts.cohort / 4);
  const allowed = 1 + stage.slack * (facts.cohort / divisor);
  // The dual is kept for rows in units of the bound's root; rows are in steps.
  const inSteps = ball.grid ** 2 / stage.bound;
  const moments = (dual: Float64Array) => {
    const matrix = dual.map((entry) => entry * inSteps);
    return rows.mapAsync((all) => weightedMoments(compute, all, matrix));
  };
  let ascent = startOfAscent(dimension);
  let before = ascent.iterate;
  let widest = 0;
  for (const { name } of stage.gradients) {
    const products = (await moments(ascent.ahead)).map((all) =>
      all.products.map((entry) => entry * (ball.grid ** 2 / weightSteps)));
    const noisy = mechanisms.symmetricGaussian(name, products).value;
    const gradient = noisy.map((entry, at) =>
      entry / (stage.bound * divisor) - (at % (dimension + 1) === 0 ? allowed : 0));
    before = ascent.iterate;
    const { values } = ownKernels().eigenSymmetric(noisy, dimension);
    widest = values.at(-1)! / divisor;
    ascent = ascend(ascent, gradient);
  }
  // Steps that overshoot alternate between two sides: their mean is nearer than either.
  const last = await moments(ascent.iterate.map((entry, i) => (entry + before[i]!) / 2));
  return {
    widest,
    sum: mechanisms.gaussian(stage.sum.name, last.map(({ sums }) =>
      sums.map((entry) => entry * (ball.grid / weightSteps)))),
    weight: mechanisms.gaussian(
      stage.weight.name, last.map(({ weight }) => Float64Array.of(weight / weightSteps)),
    ),
  };
}
