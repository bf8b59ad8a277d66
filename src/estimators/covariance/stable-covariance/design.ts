import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { preconditionerDesign, type PreconditionerDesign } from '../moments/preconditioner.js';
import { secondMomentsEvent } from '../moments/second-moments.js';
import { histogramBins } from '../../pooled/projected-histogram.js';
import { featureCount, featureRadius } from './features.js';
import { smallestCohort } from '../../contract/planning.js';

/**
 * The noise of a robust covariance, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added: at any time at most one row of
 * those left is in one and not in the other, and one the other way round (stable-covariance). So between neighbours
 * - the number of rows changes by at most 1;
 * - sums of z z^T over rows in a ball of radius R by sqrt 2 R^2 (secondMomentsEvent), sums of z by 2 R;
 * - sums of features g, ||g|| <= F, by 2 F, and sums of g g^T by sqrt(||g||^4 + ||g'||^4 - 2 (g . g')^2) <= sqrt 2 F^2;
 * - the histogram along an axis by sqrt 2 in L2.
 * Rows and features are whole steps of their balls' grids, so the sums are exact and on their events' grids.
 */
export interface CovarianceDesign {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly rowsMax: number;
  readonly present: GaussianEvent;
  readonly preconditioner: PreconditionerDesign;
  /** Upper bound on the variance of honest rows in scales, in any direction. */
  readonly varianceHigh: number;
  /** Radius of the rows that features are made of, after the map. */
  readonly featureRows: number;
  readonly featureBall: ClipBall;
  readonly featureSum: GaussianEvent;
  readonly featureSquare: SymmetricGaussianEvent;
  readonly profiles: readonly GaussianEvent[];
  /** After the map, for the answer. */
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
  readonly count: GaussianEvent;
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface CovarianceAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** Largest over smallest variance of honest rows in scales, over directions. */
  readonly condition: number;
  readonly axes: number;
}

/** Parts of rho. The fourth moments are what hostile rows are seen by, and need most. */
const shares = { centre: 0.08, present: 0.01, map: 0.14, fourth: 0.41, profiles: 0.19, answer: 0.17 } as const;
/** How many times the nominal cohort is counted exactly; further rows are left out by their tags. */
const surplus = 4;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
/** The rounds must also do when a fifth of the rows is missing. */
const turnout = 0.8;
/** Honest rows may be twice as wide as scales say, or scales that were found twice as wide as rows. */
const scaleSlack = 4;
/** An honest row is hardly ever farther from the centre than this many scales in a column. */
export const reach = 5;
const roundedUp = 1 + 2 ** -40;

/** Null when no number of rounds makes all directions alike. */
export function covarianceDesign(asked: CovarianceAsked): CovarianceDesign | null {
  const { cohort, facts, condition, corruption } = asked;
  const { dimension, target: { rho, delta } } = facts;
  const rowsMax = surplus * facts.cohort;
  const [bins, median] = centreEvents({ cohort, dimension, rho: shareOf(rho, shares.centre), delta });
  const preconditioner = preconditionerDesign({
    cohort, dimension, range: Math.max(1, scaleSlack * dimension * condition), rho: shareOf(rho, shares.map),
    pairs: turnout * facts.cohort, pairsMax: rowsMax,
  });
  if (preconditioner === null) return null;
  const present = countEvent('present', cohort, shareOf(rho, shares.present));
  const featureRows = Math.sqrt(dimension) + 1;
  const featureBall = clipBall(featureRadius(dimension, featureRows), { products: true, rowsMax });
  const rhoFourth = shareOf(rho, shares.fourth);
  const featureSum = gaussianEvent({
    name: 'fourth/sum', cohort, dimension: featureCount(dimension), sensitivity: 2 * featureBall.radius,
    rho: shareOf(rhoFourth, 0.1), grid: featureBall.grid,
  });
  const featureSquare = symmetricGaussianEvent({
    name: 'fourth/square', cohort, dimension: featureCount(dimension),
    sensitivity: Math.SQRT2 * featureBall.radius ** 2 * roundedUp, rho: shareOf(rhoFourth, 0.9),
    grid: featureBall.grid ** 2,
  });
  const axes = Math.min(asked.axes, dimension === 1 ? 1 : 4 * dimension);
  const profiles = profileEvents(cohort, shareOf(rho, shares.profiles), axes);
  const answer = answerEvents(asked, rowsMax, shareOf(rho, shares.answer));
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, rowsMax, present, preconditioner, featureRows, featureBall, featureSum, featureSquare, profiles, ...answer,
    // Twice as wide as the scales say, and all columns the same.
    varianceHigh: scaleSlack * dimension,
    events: [
      bins, median, present, ...preconditioner.events, featureSum, featureSquare, ...profiles, answer.sum, answer.square,
      answer.count,
    ],
    cohortForCentre: Math.ceil(wanted / (fullestBin * (1 - corruption))),
  };
}

function profileEvents(cohort: string, rho: number, axes: number): readonly GaussianEvent[] {
  const each = shareOf(rho, 1 / axes);
  return Array.from({ length: axes }, (_, k) => gaussianEvent({
    name: `axis-${k + 1}`, cohort, dimension: histogramBins, sensitivity: Math.SQRT2 * roundedUp, rho: each,
    grid: countGrid(1 / Math.sqrt(each)),
  }));
}

function answerEvents(
  { cohort, facts: { dimension, cohort: people } }: CovarianceAsked, rowsMax: number, rho: number,
): Pick<CovarianceDesign, 'ball' | 'sum' | 'square' | 'count'> {
  const radius = Math.sqrt(dimension) + 0.75 * Math.sqrt(Math.log(Math.max(people, 16)));
  const ball = clipBall(radius, { products: true, rowsMax });
  return {
    ball,
    sum: gaussianEvent({
      name: 'answer/sum', cohort, dimension, sensitivity: 2 * ball.radius, rho: shareOf(rho, 0.2), grid: ball.grid,
    }),
    square: secondMomentsEvent({ name: 'answer/square', cohort, dimension, ball, rho: shareOf(rho, 0.75) }),
    count: countEvent('answer/count', cohort, shareOf(rho, 0.05)),
  };
}

function countEvent(name: string, cohort: string, rho: number): GaussianEvent {
  return gaussianEvent({ name, cohort, dimension: 1, sensitivity: 1, rho, grid: countGrid(1 / Math.sqrt(2 * rho)) });
}

/** The smallest cohort with a design, to a hundredth; Infinity when a thousand million are too few. */
export function covarianceCohortNeeded(asked: CovarianceAsked): number {
  const fits = (cohort: number): boolean => {
    const design = covarianceDesign({ ...asked, facts: { ...asked.facts, cohort } });
    return design !== null && design.cohortForCentre <= cohort;
  };
  return smallestCohort(fits);
}

/** Bins of a tail that hostile rows may be spread over. */
const tailBins = 16;

/**
 * In relative Frobenius norm. A share c of rows that takes the place of honest ones shrinks every direction by c. One
 * that hides among the tails of normal rows widens one direction by about 2.2 c log(1 / c); at a distance D at which its
 * fourth moment c (D^2 - 1)^2 / 2 drowns in noise, by c D^2. Where histograms are too noisy for so few rows, they are as
 * far out as reach lets them.
 */
export function covarianceErrorOf(design: CovarianceDesign, corruption: number, promise: number): ExpectedError {
  const { facts: { dimension, cohort }, square, preconditioner, featureSquare, profiles } = design;
  const entries = featureCount(dimension);
  const sampling = Math.sqrt((2 * entries) / cohort);
  const noise = ((square.sigma * Math.sqrt(entries)) / cohort) * (1 + preconditioner.shift);
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  if (corruption === 0) return { total: Math.hypot(sampling, noise), sampling, noise, bias: 0 };
  const isSeen = corruption * cohort > 3 * profiles[0]!.sigma * Math.sqrt(tailBins);
  const drowned = (featureSquare.sigma * Math.sqrt(2 * dimension)) / cohort;
  const widened = isSeen
    ? Math.max(2.2 * corruption * Math.log(1 / corruption), corruption + Math.sqrt(2 * drowned * corruption))
    : corruption * reach ** 2 * dimension;
  const bias = Math.hypot(corruption * Math.sqrt(dimension), widened);
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
