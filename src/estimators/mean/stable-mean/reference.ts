import { momentsOfRows, sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { Compute, Infeasible } from '../../contract/estimator.js';
import { numberOf, optionalNumberOf } from '../../contract/values.js';
import type { Draws } from '../../pooled/centre.js';
import type { DesignRequest, PooledDesign } from '../../pooled/estimator.js';
import { corruptionAtMost } from '../../pooled/expected-error.js';
import { usualRadius } from '../../pooled/parameters.js';
import type { StepRows } from './dual-rows.js';
import { releaseStages, weightedPlan, type Weighing } from './weighted-stages.js';
import {
  meanDesignOf, passesOf, projectionOptions, type MeanDesign, type MeanOptions, type MeanStage,
} from './reference-design.js';
import { projectOnBound, type ProjectionOptions } from './projection.js';

/** Rows are added up in chunks, so that their rounding is what the design allows. */
const chunkRows = 2 ** 15;
/** Default share of rho for finding the centre. */
export const referenceCentrePart = 0.1;
/** How many times the usual radius a radius may be. */
const radiusMost = 2;

/**
 * A private mean of weighted rows. The weights are the nearest to all ones under which the rows
 * are in no direction wider than a public bound. They are computed to a certified precision and
 * never released: noise covers how much they, and the mean under them, can change with one row.
 * With many contributors there are two stages, the second about the first answer.
 *
 * Claim. (rho, delta), delta-approximate zCDP, for every data set. After the centre the release
 * cannot fail for want of stability.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the mean of all rows (pooled/all-rows), of a
 * count, and of two sums in each stage, composed adaptively.
 * Why. `reference-design` proves the sums' sensitivities. It takes from `projection` how exact the
 * solver is, and from docs/internals/stabilised-relaxations.md how stable the minimiser is. The
 * bound m of a stage follows from the released count and is never above the bound that is charged.
 * Assumption. Honest rows have light tails and are at most about one spread wide in every
 * direction. Rows that widen the whole beyond the bound lose weight in proportion to how far out
 * they are. What a share c keeps moves the mean by about sqrt(c (bound - 1)), and by about
 * c sqrt(log(1 / c)) more that the tails of honest rows hide. The noise is that of
 * sqrt(bound / contributors) instead of radius / contributors: the default variant has less, while
 * the weights here have none.
 * Source. The projection of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by
 * stabilizing convex relaxations (2022). It is without the constraint on the sum of weights, so
 * that it is stable for all data; its bound is soft, so that a first-order solver surely ends; and
 * the solver's gap is part of the sensitivity.
 *
 * Time. How many passes the solver takes depends on the rows. `work` bounds it by public numbers,
 * for every data set. A cap on the passes instead would be outside the proof: a set that meets it
 * and a neighbour that does not would be answered with different weights.
 */
export function designReference({ values, facts }: DesignRequest): PooledDesign | Infeasible {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const usual = usualRadius(dimension);
  const radius = optionalNumberOf(values, 'radius') ?? usual;
  if (radius > radiusMost * usual) return tooFarOut(radius, usual);
  const design = meanDesignOf({
    facts, corruption, radius,
    bound: numberOf(values, 'bound'),
    centrePart: optionalNumberOf(values, 'centre-part') ?? referenceCentrePart,
    recentre: (values['recentre'] ?? 'auto') as MeanOptions['recentre'],
  });
  const last = design.stages.at(-1)!;
  const work = { passes: passesOf(design), rows: design.rowsMax, columns: dimension };
  const plan = weightedPlan(design, {
    theorem: 'weights that one row cannot change by much; '
      + 'proofs in src/estimators/mean/stable-mean/reference-design and projection',
    corruption,
    varianceAllowed: last.bound,
    facts: { stages: design.stages.length, passesAtMost: work.passes },
  });
  return {
    kind: 'design',
    centre: design.centre,
    plan: { ...plan, work },
    noise: { sigma: last.sum.sigma, rows: cohort },
    release: (draws, centred) =>
      releaseStages(design, draws, centred, weighing(design, draws, corruption)),
  };
}

/**
 * One row at a large radius would make the search for the weights long: the time would tell of it.
 */
function tooFarOut(radius: number, usual: number): Infeasible {
  const limit = (radiusMost * usual).toPrecision(3);
  return {
    kind: 'infeasible',
    reason: `with a radius of ${radius} a single row far out could keep the search for the `
      + `weights busy for very long; the limit is ${limit}`,
    remedy: `a radius of at most ${limit}, or none: the default is ${usual.toPrecision(3)}`,
  };
}

function weighing(
  design: MeanDesign, { mechanisms, compute }: Draws, corruption: number,
): Weighing<MeanStage> {
  const { bound } = design.stages.at(-1)!;
  return {
    weigh: async (stage, rows, present) => {
      const options = { ...projectionOptions(design, stage, present), unit: design.ball.grid };
      const sums = await rows.mapAsync((all) =>
        weightedSums(compute, firstRows(all, options.rowsMax), options));
      return {
        sum: mechanisms.gaussian(stage.sum.name, sums.map(({ total }) => total)),
        weight: mechanisms.gaussian(
          stage.weight.name, sums.map(({ kept }) => Float64Array.of(kept)),
        ),
      };
    },
    leastWeight: (present) => present / 4,
    hostile: ({ weightShare }) => movedAtMost(corruption, bound) / weightShare,
  };
}

/**
 * How far a share c of hostile rows moves the sum of weighted rows along any direction, per row.
 *
 * Why. Honest rows, which are at most one spread wide, meet the bound with weights of 1, and
 * hostile ones with 0, so the squares of what the nearest weights v lack add up to at most c rows.
 * What honest rows lose moves the sum by at most 3/2 sqrt c per row, since 1 - v^(3/2) is at most
 * 3/2 (1 - v), by the inequality of Cauchy and Schwarz. Hostile rows that keep weight move it by
 * at most sqrt(c bound), by the same inequality.
 */
function movedAtMost(corruption: number, bound: number): number {
  return Math.sqrt(corruptionAtMost(corruption)) * (1.5 + Math.sqrt(bound));
}

/** At most `most` rows, those with the smallest tags. @param most - need not be whole. */
function firstRows({ count, dimension, steps, present }: StepRows, most: number): StepRows {
  const kept = Math.min(count, Math.floor(most));
  return {
    count: kept, dimension,
    steps: steps.subarray(0, kept * dimension), present: present.subarray(0, kept),
  };
}

/**
 * Sums of the rows, in spreads, and of their weights, under the projected weights to the power 3/2.
 */
export async function weightedSums(
  compute: Compute, rows: StepRows, options: ProjectionOptions,
): Promise<{ readonly total: Float64Array; readonly kept: number }> {
  const { count, dimension, steps } = rows;
  const { weights: projected } = await projectOnBound(compute, rows, options);
  const weights = sharedDoubles(count);
  let kept = 0;
  for (let first = 0; first < count; first += chunkRows) {
    let part = 0;
    for (let i = first; i < Math.min(count, first + chunkRows); i++) {
      weights[i] = projected[i]! * Math.sqrt(projected[i]!);
      part += weights[i]!;
    }
    kept += part;
  }
  const { sums } = await momentsOfRows(compute, { values: steps, dimension, count }, { weights });
  return { total: sums.map((entry) => entry * options.unit), kept };
}
