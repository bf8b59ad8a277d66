import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { scoreEdges } from './weights.js';

/**
 * The noise of a filter, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added: at any time at most one row of
 * the surviving set is in one and not in the other, and one the other way round (clipped-rows, prime). With ||z|| <= R:
 * - their number changes by at most 1;
 * - their sum by ||z - z'|| <= 2 R;
 * - their sum of z z^T, in Frobenius norm, by ||z z^T - z' z'^T|| <= sqrt(||z||^4 + ||z'||^4) <= sqrt 2 R^2, since
 *   <z z^T, z' z'^T> = (z . z')^2 >= 0;
 * - their histogram of scores, one bin each, by sqrt 2 in L2.
 * Rows are whole steps of a grid, so all of these are exact and lie on the grids of their events.
 */
export interface Looks {
  readonly count: GaussianEvent;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
  /** Null in the look that no removal follows. */
  readonly scores: GaussianEvent | null;
}

export interface Design {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly ball: ClipBall;
  readonly rowsMax: number;
  readonly edges: readonly number[];
  /** None where they could see nothing. */
  readonly looks: readonly Looks[];
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
  /** Spread above which rows are taken for hostile. */
  readonly spreadMax: number;
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface DesignAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In scales; null: what fits the noise. */
  readonly radius: number | null;
  readonly looks: number;
  readonly centreShare: number;
  readonly finalShare: number;
}

/** Parts of a look's cost. The second moments are what a filter sees by, so they get most. */
const parts = { count: 0.05, sum: 0.15, square: 0.65, scores: 0.15 } as const;
/** How many times the nominal cohort is counted exactly; further rows are left out by their tags. */
const surplus = 4;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
const sqrt2 = Math.SQRT2 * (1 + 2 ** -50);

/** Splits rho: the centre, the looks, the final mean. */
export function designOf(asked: DesignAsked): Design {
  const { cohort, facts, corruption, looks: count, centreShare, finalShare } = asked;
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const rhoLook = shareOf(target.rho, (1 - centreShare - finalShare) / count);
  const ball = clipBall(asked.radius ?? radiusFor(facts, rhoLook), { products: true, rowsMax });
  const edges = scoreEdges(ball.radius);
  const [bins, median] = centreEvents({
    cohort, dimension, rho: shareOf(target.rho, centreShare), delta: target.delta,
  });
  const planned = Array.from({ length: count }, (_, t) => looksOf(asked, `look-${t + 1}`, rhoLook, ball, edges.length));
  const leftAlone = spreadMax(facts, corruption, planned[0]!.square.sigma);
  const looks = isBlind(leftAlone, corruption, ball) ? [] : planned;
  const rhoFinal = shareOf(target.rho, looks.length === 0 ? 1 - centreShare : finalShare);
  const sum = sumEvent('mean/sum', asked, ball, shareOf(rhoFinal, 0.95));
  const present = countEvent('mean/count', cohort, shareOf(rhoFinal, 0.05));
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, ball, rowsMax, edges, looks, sum, count: present,
    spreadMax: leftAlone,
    events: [bins, median, ...looks.flatMap(eventsOf), sum, present],
    cohortForCentre: Math.ceil(wanted / (fullestBin * (1 - corruption))),
  };
}

/** Spread that noise may hide before the ball is made as small as honest rows allow. */
const hiddenMax = 0.02;

/**
 * The radius of the ball, in scales. Honest rows are about sqrt(d) from their mean, and the wide ball holds them also
 * where scale is a third too small. Noise hides spread in proportion to its square, so where that is much, the ball is
 * one that hardly any honest row is beyond, about a centre that a tenth of the rows has moved: what was hidden is
 * halved. Of public numbers.
 */
function radiusFor({ dimension, cohort }: StudyFacts, rhoLook: number): number {
  const wide = 1.35 * Math.sqrt(dimension) + 3;
  const sigma = wide ** 2 / Math.sqrt(shareOf(rhoLook, parts.square));
  return hiddenByNoise(sigma, dimension, cohort) > hiddenMax ? 1.1 * Math.sqrt(dimension) + 2.5 : wide;
}

/** Spread that the noise of the second moments may show; its norm is about sigma sqrt(2 d). */
function hiddenByNoise(sigma: number, dimension: number, cohort: number): number {
  return (1.3 * sigma * Math.sqrt(2 * dimension)) / cohort;
}

/** Looks are planned as if at least this share of the rows were hostile. */
const hostileAtLeast = 0.05;

/**
 * Whether looks are for nothing: what noise hides is more than a share of hostile rows can widen the rows by, wherever
 * they stand in the ball. The mean is then better off with what looks would cost. Of public numbers.
 */
export function isBlind(hidden: number, corruption: number, { radius }: Pick<ClipBall, 'radius'>): boolean {
  return hidden >= Math.max(corruption, hostileAtLeast) * radius ** 2;
}

/** The events of one look, in the order in which they are drawn. */
export function eventsOf({ count, sum, square, scores }: Looks): MechanismEvent[] {
  return [count, sum, square, ...(scores === null ? [] : [scores])];
}

/** What a look's events need to know. */
export type LookPlace = Pick<DesignAsked, 'cohort' | 'facts'>;

/** One look that costs rho at most. @param bins - of the histogram of scores. */
export function looksOf(asked: LookPlace, name: string, rho: number, ball: ClipBall, bins: number): Looks {
  const { cohort, facts: { dimension } } = asked;
  const rhoScores = shareOf(rho, parts.scores);
  return {
    count: countEvent(`${name}/count`, cohort, shareOf(rho, parts.count)),
    sum: sumEvent(`${name}/sum`, asked, ball, shareOf(rho, parts.sum)),
    square: symmetricGaussianEvent({
      name: `${name}/square`, cohort, dimension, sensitivity: sqrt2 * ball.radius ** 2 * (1 + 2 ** -50),
      rho: shareOf(rho, parts.square), grid: ball.grid ** 2,
    }),
    scores: gaussianEvent({
      name: `${name}/scores`, cohort, dimension: bins, sensitivity: sqrt2, rho: rhoScores,
      grid: countGrid(1 / Math.sqrt(rhoScores)),
    }),
  };
}

/** Noise for a sum of rows inside the ball. */
export function sumEvent(
  name: string, { cohort, facts: { dimension } }: LookPlace, ball: ClipBall, rho: number,
): GaussianEvent {
  return gaussianEvent({ name, cohort, dimension, sensitivity: 2 * ball.radius, rho, grid: ball.grid });
}

/** Noise for a number of rows. */
export function countEvent(name: string, cohort: string, rho: number): GaussianEvent {
  return gaussianEvent({ name, cohort, dimension: 1, sensitivity: 1, rho, grid: countGrid(1 / Math.sqrt(2 * rho)) });
}

/**
 * The spread that honest rows may show: what the assumed share of unlucky ones adds, sampling, and the noise of the
 * second moments.
 */
function spreadMax({ dimension, cohort }: StudyFacts, corruption: number, sigma: number): number {
  const unlucky = corruption === 0 ? 0 : 2 * corruption * Math.log(1 / corruption);
  return unlucky + 3 * Math.sqrt(dimension / cohort) + hiddenByNoise(sigma, dimension, cohort);
}

/**
 * Hostile rows that stay below the threshold move the mean furthest when all stand together: a share c at distance D
 * widens the rows by c D^2 and moves the mean by c D, at most sqrt(c spreadMax); and never further than the ball.
 */
export function expectedErrorOf(
  { facts, ball, sum, spreadMax: spread }: Design, corruption: number, promise: number,
): ExpectedError {
  const { dimension, cohort } = facts;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = (sum.sigma * Math.sqrt(dimension)) / cohort;
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const bias = corruption === 0 ? 0 : Math.min(corruption * ball.radius, 1.2 * Math.sqrt(corruption * spread));
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
