import { ln } from '../../../base/elementary.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { ExponentialEvent, GaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import {
  clippedMeanEvents, privateClippedMeanOn, type ClippedMeanEvents,
} from '../../../privacy/stages/clipped-mean.js';
import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import { errorUpTo, infeasible, withoutDelta } from '../../contract/planning.js';
import {
  corruptionParameter, numberOf, optionalNumberOf, rangeOf, rangeParameter,
} from '../../contract/values.js';
import { unusedBesideRange, withoutRho } from '../../pooled/bounded.js';
import { centreStage, type CentreBounds, type PrivateCentreStage } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerOf } from '../../pooled/centred-mean.js';
import {
  definePooledEstimator, type DesignRequest, type PooledDesign,
} from '../../pooled/estimator.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { farthest, intervalFrom, normalCells } from '../../pooled/far-rows.js';
import { clusterSeenFrom } from '../../pooled/far-side.js';
import { centrePartParameter, radiusParameter, usualRadius } from '../../pooled/parameters.js';
import { assumptions } from '../../pooled/plan.js';
import { rowsCohort } from '../../pooled/pool.js';
import { binsEvent } from '../../pooled/query-events.js';
import {
  addedMost, assumedOfGroups, chooseRadius, distanceBins, distanceCounts, groupsAssumed,
  groupSeenFrom, intervalText, readDistances, rowsIn, type Distances,
} from '../../pooled/radius.js';
import { noiseInWidths, planMeans } from '../../counts/quotients/means.js';
import {
  oneColumn, releaseOneColumn, type MoreFindings, type OneColumn,
} from './one-column.js';
import { truncationBias } from '../heavy-tails/truncation.js';

/** Corruption past which the centre itself may be theirs. */
const corruptionLimit = 0.3;
/** How far off a private centre is in each column, about, in spreads. */
const centreOff = 0.1;
/**
 * A mean this many spreads from the median is that of a skewed column. Exponential rows: .31; a
 * cell of the private median is .05 wide.
 */
const skewedFrom = 0.12;
/** ... and this many standard deviations of noise and sampling more. */
const doubtful = 4;

/**
 * The private mean that robust estimators are compared with: a private centre, a noisy histogram of
 * how far the rows are from it, which says how large a ball must be, rows clipped to this ball, and
 * the noisy sum over the noisy count.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the histogram of distances (pooled/radius) and
 * of the clipped mean (privacy/stages/clipped-mean).
 * Why. The histogram is calibrated for every centre that the pipeline may find, and the clipped
 * mean for every centre and radius, so they compose.
 * With `range` beside a spread: no delta (stages/range-centre). A noisy number of people beyond it
 * on each side is drawn too (pooled/outside). A range alone needs nothing of this: see `mean`.
 * Order. Rows may come in any order: the pairs of a spread go by tag, the centre and the distances
 * are found from numbers of rows, and whole steps are added up, exactly, as they stay below 2^53.
 * Assumption. Nobody sends false rows. The mean is not robust: a share of the contributors that
 * all stand at the edge of the ball on one side moves the answer by that share of the radius. So
 * it states no interval for hostile rows.
 * Interval. Noise, sampling, and what the ball may cut off: what the histogram shows beyond it, and
 * an allowance for what its noise may hide. So it also holds for skewed rows, unless they have rows
 * so rare and so far out that no histogram of this noise can show them.
 * Source. The clipped mean of Karwa and Vadhan (2018) and of Kamath, Singhal and Ullman (2020),
 * about the centre of privacy/stages/centre.
 */
const ofAll: Estimator = definePooledEstimator({
  name: 'mean',
  title: 'Private mean, which false rows can move',
  citations: [{
    key: 'KSU20',
    text: 'G. Kamath, V. Singhal, J. Ullman. Private mean estimation of heavy-tailed '
      + 'distributions. COLT 2020.',
    place: 'the clipped mean that its section 1 starts from',
  }],
  parameters: [
    rangeParameter,
    corruptionParameter(
      corruptionLimit,
      'fraction of false rows with which the centre must still be found, and that far rows may '
        + 'belong to; the mean itself is not robust',
    ),
    centrePartParameter(0.2, 0.8),
    {
      ...radiusParameter(),
      description: 'rows farther than this from the centre are pulled in; when absent, '
        + 'sqrt(columns) + 1.5, and more where rows reach farther out',
    },
  ],
  maturity: 'recommended',
  describe: describeMeans,
  assumption: 'Nobody sends false rows or decides it with a few; who is outside a range counts '
    + 'as at its bound.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre, a histogram of distances and '
    + 'the mean.',
  liars: 'With a range, if m of n people lie, the mean moves by at most m / n of its width; split '
    + 'by groups, m of the n people of a group',
}, { demand, design: centredDesign, answersInRange: true });

/**
 * The private mean, of all people or for each key, of a public list or found.
 *
 * In a range alone, claim, cost and interval are those of counts/quotients/means, or
 * discovered-means: sums, squares and counts in one draw, pure where this is less noise. By keys it
 * needs the range. A key with too few people has no mean.
 */
export const mean: Estimator = {
  ...ofAll,
  keyed: ['public', 'discovered'],
  plan: (values, facts) =>
    (facts.keys === undefined && !isOfRangeAlone(values) ? ofAll.plan(values, facts)
      : planInRange(values, facts)),
};

const isOfRangeAlone = (values: ParameterValues): boolean =>
  rangeOf(values) !== null && values['spread'] === 'auto';

/** @throws InvalidParameterError when there is nothing to average. */
function planInRange(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  if (columnsOf(facts) === 0) {
    throw new InvalidParameterError(
      'the question has no columns: give it those that a mean is wanted of, or ask count',
      { path: 'columns' },
    );
  }
  const range = rangeOf(values);
  if (facts.keys === undefined) {
    const refused = unusedBesideRange(values);
    if (refused !== null) return refused;
  } else if (range === null || values['spread'] !== 'auto' || values['radius'] !== undefined) {
    return infeasible(
      'a mean that is split by groups is of values in a public range, and finds nothing out',
      'give range, such as 0..100, and leave out spread and radius',
    );
  }
  return planMeans({
    ranges: Array.from(range!.low, (low, j) => ({ low, high: range!.high[j]! })),
    valueOf: (row, from, j) => row[from + j]!,
    isClipped: true,
    isScalar: false,
    isSample: true,
    corruptionMax: 0,
  }, facts);
}

function demand(values: ParameterValues, { target }: StudyFacts): Infeasible | null {
  return rangeOf(values) === null ? withoutDelta(target, 'finding the centre') : withoutRho(target);
}

/** Part of the cost of the mean that the histogram of distances takes, by number of columns. */
const distanceShare = (dimension: number): number => (dimension <= 4 ? 0.2 : 0.08);

/**
 * The radius for rows without tails, in spreads. A smaller one would cut off rows of whole numbers,
 * of which many stand at one distance: the histogram has no more than the bin of this distance.
 */
const lightRadius = (dimension: number): number => Math.sqrt(dimension) + 1.5;

/** The events that a release draws after the centre, and the facts that it needs. All public. */
interface MeanDesign {
  readonly facts: StudyFacts;
  readonly distance: GaussianEvent;
  /** In units of the radius: its ball has radius 1. */
  readonly clipped: ClippedMeanEvents;
  readonly median: ExponentialEvent;
  /** Tails are long where the radius is larger, in spreads. */
  readonly longFrom: number;
  /** The radius that was given; null: the histogram of distances decides. In spreads. */
  readonly radius: number | null;
  readonly corruption: number;
  /** Ranges that every value is pulled into; null: there are none. */
  readonly bounds: CentreBounds | null;
}

function centredDesign({ values, facts, bounds }: DesignRequest): PooledDesign {
  const { dimension, cohort, target: { rho, delta } } = facts;
  const [corruption, centrePart] = [
    numberOf(values, 'corruption'), numberOf(values, 'centre-part'),
  ];
  const centre = centreStage({
    dimension, rho: shareOf(rho, centrePart), delta, corruption, bounds,
  });
  const rest = shareOf(rho, 1 - centrePart);
  const radius = optionalNumberOf(values, 'radius') ?? null;
  if (dimension === 1) {
    const isTagged = values['spread'] === 'auto';
    return oneColumnDesign(oneColumn(facts, rest, { radius, bounds }), centre, isTagged);
  }
  const distance = binsEvent('distance', distanceBins, shareOf(rest, distanceShare(dimension)));
  const clipped = clippedMeanEvents({
    cohort: rowsCohort, dimension, radius: 1, rho: shareOf(rest, 1 - distanceShare(dimension)),
  });
  const { sum, count } = clipped;
  const reach = radius ?? usualRadius(dimension);
  const sigma = sum.sigma * (radius ?? lightRadius(dimension));
  const movedMost = radius === null ? addedMost(corruption) : 0;
  return {
    kind: 'design',
    centre,
    plan: {
      events: [...centre.events, distance, sum, count],
      guarantee: {
        theorem: 'noisy clipped mean around a private centre, radius from a noisy histogram; '
          + 'proofs in src/privacy/stages/centre, src/estimators/pooled/radius and '
          + 'src/privacy/stages/clipped-mean',
        assumptions: [
          assumptions.nobodyHostile,
          `for its interval: ${assumedOfGroups(distance.sigma)}`,
          'for accuracy: spread is about the standard deviation of a row in every column',
        ],
        corruptionMax: 0,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInSpreads: radius ?? lightRadius(dimension),
        noisePerCoordinateInSpreads: sigma / cohort,
        noiseOfCount: count.sigma,
        movedByCorruptionInSpreads: reach,
        // Rows farther out raise the radius, so that they add up to this much to any share.
        movedByFarRowsAtMostInSpreads: Number.isFinite(movedMost) ? movedMost : 'without limit',
        // For rows with tails as heavy as one spread allows. The expected error leaves it out, and
        // the interval of a release has what its histogram shows of it.
        clippingCostsAtMostInSpreads:
          truncationBias({ order: 2, bound: 1 }, dimension, centreOff, reach),
        clusterSeenFrom: groupSeenFrom(distance.sigma),
        interval: intervalText(distance.sigma),
      },
      expectedError: errorUpTo(
        corruptionLimit, honestErrorOfMean(dimension, cohort, sigma),
        (share) => (share === 0 ? 0 : share * reach + movedMost),
      ),
    },
    noise: { sigma, rows: cohort },
    unsorted: { upTo: Infinity, tagged: values['spread'] === 'auto' },
    inSpreads: true,
    release: releaseOf({
      facts, distance, clipped, corruption, radius, bounds, median: centre.median,
      longFrom: usualRadius(dimension),
    }),
  };
}

/** The tails of one column are long from this radius on: rows without tails have one below 6. */
const longFrom = 8;

function oneColumnDesign(
  column: OneColumn, centre: PrivateCentreStage, isTagged: boolean,
): PooledDesign {
  const { facts, distance, clipped: { sum, count }, radius, bounds } = column;
  const { cohort, target } = facts;
  const sigma = sum.sigma * (radius ?? lightRadius(1));
  const reach = radius ?? farthest;
  const seenFrom = clusterSeenFrom(normalCells(distance.sigma));
  const from = intervalFrom(distance.sigma);
  const ofRange = noiseInWidths(target);
  return {
    kind: 'design',
    centre,
    plan: {
      events: [...centre.events, distance, sum, count],
      guarantee: {
        theorem: 'noisy clipped mean around a private centre, radius and far rows from a noisy '
          + 'histogram; proofs in src/privacy/stages/centre, src/estimators/pooled/far-rows and '
          + 'src/privacy/stages/clipped-mean',
        assumptions: [
          assumptions.nobodyHostile,
          `for its interval: no group of fewer than ${seenFrom} people is so far from the others `
            + 'that it decides the mean',
          'for accuracy: spread is about the standard deviation of a row in every column',
        ],
        corruptionMax: 0,
      },
      outputShape: [1],
      facts: {
        clipRadiusInSpreads: radius ?? lightRadius(1),
        noisePerCoordinateInSpreads: sigma / cohort,
        noiseOfCount: count.sigma,
        movedByCorruptionInSpreads: reach,
        clusterSeenFrom: seenFrom,
        intervalFrom: from,
        ...(bounds === null && { rangeNoisePerWidth: ofRange }),
        interval: sidedText({ seenFrom, from, ofRange, isBounded: bounds !== null }),
      },
      expectedError: errorUpTo(
        corruptionLimit, honestErrorOfMean(1, cohort, sigma),
        (share) => (share === 0 ? 0 : share * reach),
      ),
    },
    noise: { sigma, rows: cohort },
    unsorted: { upTo: Infinity, tagged: isTagged },
    inSpreads: true,
    release: releaseOneColumn(column, (released) =>
      findingsOf({ median: centre.median, radius, longFrom }, released)),
  };
}

/** The assumption behind the interval of one column, stated before there are data. */
function sidedText(
  { seenFrom, from, ofRange, isBounded }: {
    readonly seenFrom: number; readonly from: number; readonly ofRange: number;
    readonly isBounded: boolean;
  },
): string {
  const assumed = `no group of fewer than ${seenFrom} people is so far from the others that it `
    + 'decides the mean. Noise hides such a group; every private method hides some';
  return isBounded
    ? `from ${from} people on it stands on this: ${assumed}. With fewer people it allows for such `
      + 'a group at each end of the range.'
    : `from ${from} people on. It stands on this: ${assumed}. If you know the smallest and the `
      + 'largest possible value, give range and no spread: noise is then at most '
      + `${Number(ofRange.toPrecision(2))} people’s worth of its width, and the interval stands on `
      + 'the range alone. Whoever is outside counts as at its end, and is counted.';
}

/**
 * Claim. The cost of `distance` and of the clipped mean.
 * Why. The radius is a function of released counts, and the ball in units of it is calibrated for
 * every radius. All else is made of released numbers.
 */
function releaseOf(design: MeanDesign): PooledDesign['release'] {
  const { facts, distance, clipped } = design;
  return async ({ mechanisms, compute }, { pool, centre, spread, columns }) => {
    const counts = mechanisms.gaussian(
      distance.name, await pool.mapAsync((block) => distanceCounts(compute, block, centre)),
    ).value;
    const distances = readDistances({
      counts, sigma: distance.sigma, dimension: facts.dimension,
      rows: rowsIn(counts, facts.cohort), isLattice: columns.discrete.every(Boolean),
    });
    const radius = radiusOf(design, distances);
    const options = { centre, ball: clipped.ball, cohort: facts.cohort, unit: radius };
    const drawn = await privateClippedMeanOn(compute, mechanisms, pool, options);
    return drawn.map((answer): Outcome => {
      if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
      const moved = answer.mean.map((entry, j) => entry - centre[j]!);
      const middle = centre.map((entry, j) => entry * spread[j]!);
      const outcome = answerOf(clipped, {
        centre: middle,
        spread,
        moved,
        present: answer.present,
        unit: radius,
        width: Math.max(1, distances.width),
        bias: distances.beyond(radius) + distances.hidden(radius),
      });
      if (outcome.kind === 'refused') return outcome;
      const noise = (radius * clipped.sum.sigma) / answer.present;
      const findings = [
        ...findingsOf(design, { radius, moved, noise, present: answer.present }),
        ...groupsAssumed(
          outcome.interval95!, distance.sigma, radius, { middle, spread, bounds: design.bounds },
        ),
      ];
      return {
        ...outcome,
        spread: Array.from(spread),
        ...(findings.length > 0 && { findings }),
      };
    });
  };
}

function radiusOf(
  { facts: { dimension, cohort }, clipped, radius, corruption }: MeanDesign, distances: Distances,
): number {
  if (radius !== null) return radius;
  return chooseRadius(distances, {
    dimension, least: lightRadius(dimension), trusted: usualRadius(dimension), corruption,
    noise: (clipped.sum.sigma * Math.sqrt(dimension)) / cohort,
  });
}

/** Findings about the rows, from released numbers: means in spreads from the medians. */
function findingsOf(
  { median, radius: given, longFrom }: Pick<MeanDesign, 'median' | 'radius' | 'longFrom'>,
  { radius, moved, noise, present }: Parameters<MoreFindings>[0],
): readonly Finding[] {
  const dimension = moved.length;
  // Rows by which the private median may be off, over the density of normal rows at the median.
  const medianRows = (2 / median.epsilon) * ln(median.candidates * dimension / 0.01);
  const chance = doubtful * Math.hypot(noise, 1 / Math.sqrt(present))
    + (2.5 * medianRows) / present;
  const skewed = Array.from(moved.keys())
    .filter((j) => Math.abs(moved[j]!) > skewedFrom + chance);
  return [
    ...(skewed.length > 0 ? [{ reason: 'skewed', columns: skewed, amounts: [] } as const] : []),
    ...(given === null && radius > longFrom
      ? [{ reason: 'long-tails', columns: [], amounts: [] } as const] : []),
  ];
}
