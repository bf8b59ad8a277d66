import { ln } from '../../../base/elementary.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { centreStage, type QueryDesign } from '../../pooled/centre.js';
import type { MeanEvents } from '../../pooled/centred-mean.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { closeRadius, usualRadius } from '../../pooled/parameters.js';
import { surplus } from '../../pooled/pool.js';
import { binsEvent, countEvent, sumEvent } from '../../pooled/query-events.js';
import { momentEvents, type MomentEvents } from './rounds.js';
import { scoreEdges } from './weights.js';

/**
 * The noise of a filter, worked out from public numbers.
 *
 * Claim. Each event covers its query of the rows left (pooled/query-events).
 * Neighbours. One contributor's row replaced by any other, or by none, or added: at any time at
 * most one row of those left is in one set and not in the other, and at most one the other way
 * round (pooled/clipped-rows, prime/plan).
 */

/** The events of one filter round. */
export interface FilterRound extends MomentEvents {
  /** The histogram of the rows' scores. */
  readonly scores: GaussianEvent;
}

export interface FilterDesign extends QueryDesign, MeanEvents {
  readonly ball: ClipBall;
  readonly edges: readonly number[];
  /** None where they could detect nothing. */
  readonly rounds: readonly FilterRound[];
  /** Detection threshold: rows with a larger excess in some direction are taken for hostile. */
  readonly excessMax: number;
}

export interface FilterOptions {
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In spreads; null: chosen to fit the noise. */
  readonly radius: number | null;
  /** The most rounds. */
  readonly rounds: number;
  readonly centrePart: number;
  readonly finalPart: number;
}

/** Parts of a round's cost. A filter detects by the second moments, so they get most. */
const parts = { count: 0.05, sum: 0.15, square: 0.65, scores: 0.15 } as const;
/** Part of the final cost that the sum of the rows left takes; their number takes the rest. */
export const finalSumShare = 0.95;

/** Splits rho: the centre, the rounds, the final mean. */
export function designOf(options: FilterOptions): FilterDesign {
  const { facts, corruption, centrePart, finalPart } = options;
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const rhoRound = shareOf(target.rho, (1 - centrePart - finalPart) / options.rounds);
  const ball = clipBall(
    options.radius ?? radiusFor(facts, rhoRound), { products: true, rowsMax },
  );
  const edges = scoreEdges(ball.radius);
  const centre = centreStage({
    dimension, rho: shareOf(target.rho, centrePart), delta: target.delta, corruption,
  });
  const planned = filterRounds(options.rounds, dimension, ball, rhoRound, edges.length);
  const excessMax = honestExcess(facts, corruption, planned[0]!.square.sigma);
  const rounds = isBlind(excessMax, corruption, ball) ? [] : planned;
  const rhoFinal = shareOf(target.rho, rounds.length === 0 ? 1 - centrePart : finalPart);
  const sum = sumEvent('mean/sum', dimension, ball, shareOf(rhoFinal, finalSumShare));
  const count = countEvent('mean/count', shareOf(rhoFinal, 0.05));
  return {
    facts, centre, ball, rowsMax, edges, rounds, sum, count, excessMax,
    events: [...centre.events, ...rounds.flatMap(eventsOf), sum, count],
  };
}

/** Excess that noise may hide before the ball is made as small as honest rows allow. */
const hiddenMax = 0.02;

/**
 * The radius of the ball, in spreads. Honest rows are about sqrt(d) from their mean, and the wide
 * ball holds them also where spread is a third too small. Noise hides an excess in proportion to
 * the square of the radius. Where that is much, the ball is one that hardly any honest row is
 * beyond, about a centre that a tenth of the rows has moved: that halves what is hidden. Of public
 * numbers.
 */
function radiusFor({ dimension, cohort }: StudyFacts, rhoRound: number): number {
  const wide = usualRadius(dimension);
  const sigma = wide ** 2 / Math.sqrt(shareOf(rhoRound, parts.square));
  return hiddenByNoise(sigma, dimension, cohort) > hiddenMax
    ? closeRadius(dimension) : wide;
}

/** Excess that the noise of the second moments may show; its norm is about sigma sqrt(2 d). */
export function hiddenByNoise(sigma: number, dimension: number, rows: number): number {
  return (1.3 * sigma * Math.sqrt(2 * dimension)) / rows;
}

/** Rounds are planned as if at least this share of the rows were hostile. */
const hostileAtLeast = 0.05;

/**
 * True if rounds are for nothing: noise hides more than a share of hostile rows can widen the rows
 * by, wherever they stand in the ball. The mean then does better with what rounds would cost. Of
 * public numbers.
 */
export function isBlind(
  hidden: number, corruption: number, { radius }: Pick<ClipBall, 'radius'>,
): boolean {
  return hidden >= Math.max(corruption, hostileAtLeast) * radius ** 2;
}

/** The events of one round, in the order in which they are drawn. */
export function eventsOf({ count, sum, square, scores }: FilterRound): MechanismEvent[] {
  return [count, sum, square, scores];
}

/** Rounds that cost rho each at most. @param bins - of the histogram of scores. */
export function filterRounds(
  rounds: number, dimension: number, ball: ClipBall, rho: number, bins: number,
): readonly FilterRound[] {
  // Logs and released bytes depend on the events' names.
  return Array.from({ length: rounds }, (_, t) => ({
    ...momentEvents(`look-${t + 1}`, dimension, ball, rho, parts),
    scores: binsEvent(`look-${t + 1}/scores`, bins, shareOf(rho, parts.scores)),
  }));
}

/**
 * The excess that honest rows may show: what the assumed share of unlucky ones adds, sampling, and
 * the noise of the second moments.
 */
function honestExcess(
  { dimension, cohort }: StudyFacts, corruption: number, sigma: number,
): number {
  const unlucky = corruption === 0 ? 0 : 2 * corruption * ln(1 / corruption);
  return unlucky + 3 * Math.sqrt(dimension / cohort) + hiddenByNoise(sigma, dimension, cohort);
}

/**
 * Hostile rows that stay below the detection threshold move the mean farthest when all stand
 * together: a share c at distance D widens the rows by c D^2 and moves the mean by c D, at most
 * sqrt(c excessMax). They never move it farther than the ball.
 */
export function expectedErrorOf(
  { facts: { dimension, cohort }, ball, sum, excessMax }: FilterDesign, promise: number,
): (share: number) => ExpectedError {
  return errorUpTo(promise, honestErrorOfMean(dimension, cohort, sum.sigma), (share) =>
    Math.min(share * ball.radius, 1.2 * Math.sqrt(share * excessMax)));
}
