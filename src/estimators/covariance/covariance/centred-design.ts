import { pow } from '../../../base/elementary.js';
import { chiSquareCdf } from '../../../numerics/chi-square.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { StudyFacts } from '../../contract/estimator.js';
import type { HonestError } from '../../contract/planning.js';
import { centreStage, type QueryDesign } from '../../pooled/centre.js';
import { surplus } from '../../pooled/pool.js';
import { distanceBins } from '../../pooled/radius.js';
import { binsEvent, countEvent, sumEvent } from '../../pooled/query-events.js';
import {
  centredMomentsEvents, sumShare, type CentredMomentsEvents,
} from '../moments/centred-moments.js';
import { noiseNorm } from '../moments/preconditioner.js';

/** One round of the map. */
export interface RoundDesign extends CentredMomentsEvents {
  readonly ball: ClipBall;
}

/**
 * The public constants of a covariance from every row. Errors are relative, in Frobenius norm;
 * `noise` has that of clipping too.
 */
export interface CentredDesign extends QueryDesign, HonestError {
  readonly present: GaussianEvent;
  readonly rounds: readonly RoundDesign[];
  readonly distance: GaussianEvent;
  /** The event of third moments; null where the mean is not answered. */
  readonly third: GaussianEvent | null;
  readonly final: CentredMomentsEvents;
  readonly ball: ClipBall;
  /** With fewer rows the noise hides whole directions. */
  readonly rowsNeeded: number;
}

/** Parts of rho. The rounds and the last moments share the rest. */
const shares = { centre: 0.07, present: 0.01, distance: 0.06, third: 0.04 };
/** Part of that rest for the rounds. */
const roundsShares = [0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6];
/** Part of a round for the sum of the rows. With less the mean lags behind the map. */
const roundSumShare = 0.1;
/** No plan has more rounds. */
const roundsMost = 24;
/**
 * After two rounds the noise of the map shows: some directions are wider than others, so more rows
 * are beyond the last ball, and it is widened. The planned noise leaves that out. So two rounds
 * must promise this many times less of it than three. With 100,000 contributors, 10 columns and
 * condition 31 two rounds were .048 off, and three are .036. One round is for rows that vary about
 * alike before it.
 */
const twoRounds = 1.1;
/** Largest noise in any direction, relative to the variance there, of a plan. */
const noiseMost = 0.5;
/**
 * Share of the noise's size that is added to eigenvalues before a map is made of them. All of it
 * would keep every direction below 1; this much leaves fewer directions far below.
 */
export const lift = 0.6;

/**
 * The radius of the rounds' ball. It pulls in a tenth of normal rows. The map that follows is a
 * little too wide then, which the next round sees too, and noise falls with the square of the
 * radius.
 */
function roundRadius(dimension: number, round: number): number {
  return Math.sqrt(dimension) + (round === 0 ? 1 : 1.2);
}

/** Public numbers that a design is made from. */
export interface CentredFacts {
  readonly facts: StudyFacts;
  /**
   * How many times more honest rows may vary in one direction than in another, in spreads: more
   * costs accuracy in the narrow directions alone.
   */
  readonly condition: number;
  /**
   * The mean is answered, too, and whether the rows are skewed. The sum of the rows then has the
   * share that makes the distance of two normal distributions smallest, `sumShareFor`.
   */
  readonly answersMean?: true;
}

/**
 * The part s of rho for the sum, where the total variation distance of the answer counts. It is
 * about the root of |m|^2 + |F|^2 / 2 (distributions/gaussian/distance), m and F the errors of mean
 * and covariance. Noise makes this A^2 / s + B^2 / (1 - s), with A = sqrt(2 d) R and
 * B = R^2 sqrt(d (d + 1)) / 2, which is least at s = A / (A + B).
 */
function sumShareFor(dimension: number, radius: number): number {
  const ofMean = Math.sqrt(2 * dimension) * radius;
  const ofProducts = (radius ** 2 * Math.sqrt(dimension * (dimension + 1))) / 2;
  return ofMean / (ofMean + ofProducts);
}

interface Choice {
  readonly rounds: number;
  readonly share: number;
  readonly radius: number;
  /** Relative Frobenius error of noise and clipping. */
  readonly noise: number;
  /** Noise in any direction, relative to the variance there. */
  readonly worst: number;
}

/** The rounds, their share and the last radius of least error; null when noise hides directions. */
export function centredDesign(asked: CentredFacts): CentredDesign | null {
  const radii = radiiFor(asked.facts.dimension);
  let best: Choice | null = null;
  for (let rounds = 1; rounds <= roundsMost; rounds++) {
    for (const share of roundsShares) {
      const next = choiceWith(asked, radii, rounds, share);
      if (best === null || likelyNoise(next) < likelyNoise(best)) best = next;
    }
  }
  return best === null || best.worst > noiseMost ? null : designFrom(asked, best);
}

const likelyNoise = ({ rounds, noise }: Choice): number =>
  (rounds === 2 ? twoRounds * noise : noise);

/** The part of rho left for the rounds and the last moments. */
function restOf({ facts: { target: { rho } }, answersMean }: CentredFacts): number {
  const { centre, present, distance, third } = shares;
  return shareOf(rho, 1 - centre - present - distance - (answersMean === true ? third : 0));
}

/** Deviation of the noise on the diagonal, about as its event will be calibrated. */
function deviationOf(radius: number, rho: number, sums: number): number {
  return radius ** 2 / Math.sqrt((1 - sums) * rho);
}

function choiceWith(
  asked: CentredFacts, radii: readonly Radius[], rounds: number, share: number,
): Choice {
  const { facts: { dimension, cohort }, condition, answersMean } = asked;
  const rest = restOf(asked);
  let variances = spreadOver(condition);
  for (let round = 0; round < rounds; round++) {
    const perRound = (rest * share) / rounds;
    const deviation = deviationOf(roundRadius(dimension, round), perRound, roundSumShare);
    const size = (noiseNorm(dimension) * deviation) / cohort;
    variances = variances.map((variance) => variance / (variance + addedTo(variance, size)));
  }
  // Noise is relative to the variance that the map leaves.
  const factor = variances.reduce((sum, variance) => sum + 1 / variance, 0) / variances.length;
  const final = rest * (1 - share);
  const entries = Math.sqrt((dimension * (dimension + 1)) / 2);
  let best = { radius: 0, noise: Infinity, worst: Infinity };
  for (const { radius, clipped } of radii) {
    const sums = answersMean === true ? sumShareFor(dimension, radius) : sumShare;
    const relative = (deviationOf(radius, final, sums) * factor) / cohort;
    const noise = Math.hypot(relative * entries, clipped);
    if (noise < best.noise) best = { radius, noise, worst: relative * noiseNorm(dimension) };
  }
  return { rounds, share, ...best };
}

/**
 * The amount that a round adds to a variance, about: the lift, and where the noise hides the
 * variance the noise itself, which rises up to its size there.
 */
function addedTo(variance: number, size: number): number {
  return size * (lift + ((1 - lift) * size) / (variance + size));
}

/** Variances evenly spread in logarithm over the condition. */
function spreadOver(condition: number): readonly number[] {
  const steps = 8;
  return Array.from({ length: steps + 1 }, (_, i) => pow(condition, -i / steps));
}

interface Radius {
  readonly radius: number;
  /** The loss of covariance at the ball, for normal rows with covariance 1, in Frobenius norm. */
  readonly clipped: number;
}

/**
 * Radii from sqrt(d) + 1 to sqrt(d) + 4. With Q the upper tail of chi-square at R^2, the clipping
 * of normal rows takes off the trace the expectation of (r^2 - R^2)+, which is
 * d Q(d + 2) - R^2 Q(d).
 */
function radiiFor(dimension: number): readonly Radius[] {
  return Array.from({ length: 61 }, (_, step) => {
    const radius = Math.sqrt(dimension) + 1 + step / 20;
    const tail = (freedom: number): number => 1 - chiSquareCdf(radius ** 2, freedom);
    const lost = dimension * tail(dimension + 2) - radius ** 2 * tail(dimension);
    return { radius, clipped: Math.max(0, lost) / Math.sqrt(dimension) };
  });
}

function designFrom(
  asked: CentredFacts, { rounds, share, radius, noise, worst }: Choice,
): CentredDesign {
  const { facts, answersMean } = asked;
  const { dimension, cohort, target: { rho, delta } } = facts;
  const rest = restOf(asked);
  const rowsMax = surplus * cohort;
  const centre = centreStage({ dimension, rho: shareOf(rho, shares.centre), delta, corruption: 0 });
  const present = countEvent('present', shareOf(rho, shares.present));
  const distance = binsEvent('distance', distanceBins, shareOf(rho, shares.distance));
  const balls = Array.from({ length: rounds }, (_, round) =>
    clipBall(roundRadius(dimension, round), { products: true, rowsMax }));
  const events = balls.map((ball, round) => centredMomentsEvents(
    `round-${round + 1}`, dimension, ball, shareOf((rest * share) / rounds, 1), roundSumShare,
  ));
  const ball = clipBall(radius, { products: true, rowsMax });
  const final = centredMomentsEvents(
    'covariance', dimension, ball, shareOf(rest, 1 - share),
    answersMean === true ? sumShareFor(dimension, radius) : sumShare,
  );
  const third = answersMean === true
    ? sumEvent('third', dimension, ball, shareOf(rho, shares.third)) : null;
  return {
    facts, centre, rowsMax, present, distance, third, final, ball,
    rounds: events.map((event, round) => ({ ...event, ball: balls[round]! })),
    events: [
      ...centre.events, present,
      ...events.flatMap(({ sum, products }) => [sum, products]), distance,
      final.sum, final.products, ...(third === null ? [] : [third]),
    ],
    rowsNeeded: Math.ceil(cohort * worst),
    sampling: Math.sqrt((dimension * (dimension + 1)) / cohort), noise,
  };
}
