import { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { describeMeans } from '../../contract/describe.js';
import type { Estimator, ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf,
} from '../../contract/values.js';
import type { Draws } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import {
  allRowsDesign, movedByHostile, releaseAllRows, withAllRows, withoutAllRows, type AllRowsDesign,
} from '../../pooled/all-rows.js';
import { answerOf } from '../../pooled/centred-mean.js';
import { clippedRows, momentsOf, scoreCounts } from '../../pooled/clipped-rows.js';
import {
  definePooledEstimator, type CentredPool, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import {
  centrePartParameter, demandShares, finalPartParameter, radiusParameter, roundsParameter,
} from '../../pooled/parameters.js';
import { assumptions } from '../../pooled/plan.js';
import { usableWidth } from '../../pooled/radius.js';
import { designReference } from '../filters-reference/plan.js';
import type { ReferenceKind } from '../filters-reference/design.js';
import { designOf, expectedErrorOf, type FilterDesign } from '../filters/design.js';
import { inSpreads, releaseMoments } from '../filters/rounds.js';
import { markedSurvivors, type Survivors, type SurvivorsForm } from '../filters/survivors.js';
import {
  behindCluster, excessAlong, removedMost, rowsFrom, thresholdOf, type RoundMoments,
} from '../filters/weights.js';

/** Largest corruption that can be promised. */
const corruptionLimit = 0.2;
/** A phase ends when the largest excess has fallen to this share of what it began with. */
const phaseEnds = 0.5;
/**
 * Rows are removed only where their excess along the directions is at least this share of the
 * largest.
 */
const excessFloor = 1 / 5.5;

/** Which form of a filter runs: this project's, or the queries as printed. */
export const variantParameter: ParameterSpec = {
  name: 'variant', type: 'choice', choices: ['default', 'reference'], default: 'default',
  description: 'reference: the queries as the paper has them, inside its much larger box, each '
    + 'charged by itself and with noise that keeps the claim; to compare with, as the default is '
    + 'far more accurate',
};

/** Parameters that every filter takes besides the spread. */
const filterParameters: readonly ParameterSpec[] = [
  corruptionParameter(corruptionLimit, 'fraction of false rows that the error is promised for'),
  roundsParameter(3, 30),
  centrePartParameter(0.2, 0.6),
  finalPartParameter(0.4, 0.9),
  radiusParameter(1e6, ', and 1.1 sqrt(columns) + 2.5 where noise hides more than that ball '
    + 'is worth'),
  variantParameter,
];

/** The parts in which one filter differs from another. */
export interface FilterKind {
  /**
   * The directions to measure rows along, from the moments of one phase: a symmetric matrix of
   * trace 1. A function of released numbers.
   */
  readonly directions: (phase: readonly RoundMoments[]) => Float64Array;
  /** The same filter as printed. */
  readonly reference: ReferenceKind;
  /** How the rows that are left are kept; default: marked. Releases do not depend on it. */
  readonly survivors?: SurvivorsForm;
}

/** How `directions` chooses a filter. */
export const directionsParameter: ParameterSpec = {
  name: 'directions', type: 'choice', choices: ['all', 'one'], default: 'all',
  description: 'all: rounds weigh all directions; one: each round removes rows along the widest '
    + 'one, which is as good where hostile rows stand together, and takes a round for each place '
    + 'otherwise',
};

/**
 * A filter as an estimator: the pooled pipeline, filter rounds that remove rows, and the mean of
 * the rows that are left.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the mean of all rows (pooled/all-rows), and of
 * every round and the final mean (filters/design has their sensitivities), composed adaptively.
 * Why. Whether a row is left at any time is a function of this row and of released numbers alone:
 * its clipped entries, and for every round the mean, the directions and the threshold. Two
 * neighbouring sets see the same released numbers when their rounds are compared, so they differ at
 * any time in the one row at most. Directions, thresholds and the decision to stop are functions of
 * released numbers.
 */
export function filterEstimator(
  about: Pick<Estimator, 'name' | 'title' | 'citations'>,
  kindOf: (values: ParameterValues) => FilterKind,
): Estimator {
  return definePooledEstimator({
    ...about,
    parameters: [...filterParameters, directionsParameter],
    maturity: 'research',
    describe: describeMeans,
    assumption: 'Honest rows have light tails and are about one spread wide in every direction.',
    claim: 'One contributor’s row replaced by anything, including nothing: '
      + '(rho, delta)-approximate zCDP, rho split between the centre, a fixed number of filter '
      + 'rounds and the mean of what is left.',
  }, {
    demand: demandShares,
    design: (request) => {
      const kind = kindOf(request.values);
      return choiceOf(request.values, 'variant') === 'reference'
        ? designReference(kind, request) : designFilter(kind, request);
    },
  });
}

function designFilter(
  kind: FilterKind, { values, facts }: DesignRequest,
): PooledDesign | TooFew {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const design = designOf({
    facts: withoutAllRows(facts), corruption, radius: optionalNumberOf(values, 'radius') ?? null,
    rounds: numberOf(values, 'rounds'), centrePart: numberOf(values, 'centre-part'),
    finalPart: numberOf(values, 'final-part'),
  });
  const all = allRowsDesign(facts);
  return {
    kind: 'design',
    centre: design.centre,
    plan: {
      events: [...design.events, ...all.events],
      guarantee: {
        theorem: 'filtering by released second moments; '
          + 'proofs in src/estimators/mean/prime and src/estimators/mean/filters',
        assumptions: [assumptions.lightTails, assumptions.corruption, all.assumption],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInSpreads: design.ball.radius,
        noisePerCoordinateInSpreads: design.sum.sigma / cohort,
        rounds: design.rounds.length,
        excessVarianceDetectedAbove: design.excessMax,
        rowsCountedAtMost: design.rowsMax,
      },
      expectedError: expectedErrorOf(design, corruption),
    },
    noise: { sigma: design.sum.sigma, rows: cohort },
    // Sums are exact and pairs go by tag, so without surplus rows the order does not matter.
    unsorted: { upTo: design.rowsMax, tagged: values['spread'] === 'auto' },
    release: (draws, centred) => release({ kind, design, all, corruption, ...draws }, centred),
  };
}

interface Run extends Draws {
  readonly kind: FilterKind;
  readonly design: FilterDesign;
  readonly all: AllRowsDesign;
  readonly corruption: number;
}

/**
 * Everything after the spread and the centre. Rows are taken in the median spread: it is right for
 * rows with light tails, which the other is wider than, and a cluster that widens it hides in it.
 */
async function release(
  run: Run, { pool, centre, columns: { medianSpread: spread } }: CentredPool,
): Promise<Released<Outcome>> {
  const { kind, design, mechanisms, compute } = run;
  const { facts, ball, rowsMax } = design;
  const all = (await releaseAllRows(run, run.all, pool, centre, spread)).value;
  const rows = await pool.mapAsync((whole) =>
    clippedRows(compute, whole, centre, spread, ball, rowsMax, whole.isScratch));
  const survivors = (kind.survivors ?? markedSurvivors)(compute, rows);
  const filtered = await filter(run, survivors);
  const moments = await (await survivors.rows()).mapAsync((left) => momentsOf(compute, left));
  const sum = mechanisms.gaussian(
    design.sum.name, moments.map(({ sums }) => inSpreads(sums, ball.grid)),
  );
  const count = mechanisms.gaussian(
    design.count.name, moments.map((all) => Float64Array.of(all.count)),
  );
  return Released.all<readonly [Float64Array, Float64Array]>([sum, count])
    .map(([total, [present = 0]]): Outcome => {
      if (present < facts.cohort / 4) return participationBelowPlan(facts);
      const moved = total.map((entry) => entry / present);
      const width = usableWidth(all.width);
      const answer = answerOf(design, { centre, spread, moved, present, width });
      return withAllRows(filtered.isWider ? withWider(answer) : answer, {
        all, centre, spread,
        left: filtered.hasRemoved ? present : null,
        clippedAt: filtered.hasRemoved ? null : ball.radius,
        hostile: movedByHostile(run.corruption, filtered.excess, ball.radius),
      });
    });
}

function withWider(outcome: Outcome): Outcome {
  if (outcome.kind === 'refused') return outcome;
  return { ...outcome, findings: [{ reason: 'wider-than-spread', columns: [], amounts: [] }] };
}

/** The results of the rounds. All of them are released. */
interface Filtered {
  readonly hasRemoved: boolean;
  /** At the end the rows were wider than the spread by more rows than may be hostile. */
  readonly isWider: boolean;
  /**
   * Largest excess of the rows left, in the last round that was drawn; rows that were removed after
   * it make it smaller. Infinite without a round.
   */
  readonly excess: number;
}

/**
 * Removes rows, until they are no wider than honest ones, or the rounds are used up. None go where
 * that would take more rows than may be hostile, with as many honest ones that stand as far out:
 * then the honest rows are wider than the spread.
 */
async function filter(run: Run, survivors: Survivors): Promise<Filtered> {
  const { kind, design, mechanisms, compute } = run;
  const { ball, facts, excessMax } = design;
  let phase: RoundMoments[] = [];
  let [hasRemoved, isWider, excess, gone] = [false, false, Infinity, 0];
  for (const events of design.rounds) {
    const { moments } = await releaseMoments(
      run, events, await survivors.rows(), ball, facts.cohort / 2,
    );
    const { largestExcess } = moments;
    // Noise may hide this much.
    excess = Math.max(0, largestExcess) + excessMax;
    isWider = false;
    if (largestExcess <= excessMax) break;
    // The rows are much narrower than when this phase began: its directions have done their work.
    if (phase.length > 0 && largestExcess <= phaseEnds * phase[0]!.largestExcess) phase = [];
    phase.push(moments);
    const weights = kind.directions(phase);
    const along = excessAlong(moments, weights);
    if (along <= excessFloor * largestExcess) continue;
    const mean = moments.mean.map((entry) => entry / ball.grid);
    const unit = ball.grid ** 2;
    // The grid is a power of two, so that scores compare the same in either unit.
    const edges = Float64Array.from(design.edges, (edge) => edge / unit);
    const counted = await (await survivors.rows()).mapAsync((left) =>
      scoreCounts(compute, left, { mean, weights }, edges));
    const counts = mechanisms.gaussian(events.scores.name, counted);
    const threshold = thresholdOf(
      design.edges, counts.value, along, moments.count, events.scores.sigma,
    );
    if (threshold === null) continue;
    const least = behindCluster(
      design.edges, counts.value, threshold, moments.count, events.scores.sigma,
    );
    const goes = rowsFrom(design.edges, counts.value, least);
    isWider = gone + goes > removedMost * run.corruption * (moments.count + gone);
    if (isWider) continue;
    gone += goes;
    hasRemoved = true;
    await survivors.remove({ mean, weights, least: least / unit, shareMax: null });
  }
  return { hasRemoved, isWider, excess };
}
