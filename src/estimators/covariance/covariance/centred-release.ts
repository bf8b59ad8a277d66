import { pow } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type {
  Finding, Outcome, RefusedOutcome, ValueOutcome,
} from '../../../base/outcome.js';
import type { StudyFacts } from '../../contract/estimator.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool, FoundColumns } from '../../pooled/estimator.js';
import { oneValueFindings } from '../../pooled/found-columns.js';
import { distanceBins } from '../../pooled/radius.js';
import {
  imagesFrom, privateCentredMoments, privateThirdMoments, type CentredMoments, type View,
} from '../moments/centred-moments.js';
import { covarianceOutcome, relativeBound } from '../moments/outcomes.js';
import {
  flooredAt, mapOfRounds, noiseNorm, type Preconditioner,
} from '../moments/preconditioner.js';
import { standardisedRows, type StandardisedRows } from '../moments/standardised.js';
import { lift, type CentredDesign } from './centred-design.js';
import {
  boundsVariance, distanceBin, movedByClipping, tailsOf, varianceAfter, type Tails,
} from './distances.js';

/** Variance after the map below which noise hides everything. Lower values are raised to it. */
const leastMoment = 2 ** -10;
/**
 * A map that reached every direction leaves variances from .35 to 1, noise included. A lower one
 * belongs to a direction that the rounds did not reach: noise hides how narrow it is.
 */
const narrowest = 0.25;

/**
 * The facts that the rounds and the last moments tell of the rows: z = inverse^-1 (x - centre)
 * after the map, clipped to the design's ball. All of it is released.
 */
export interface MomentsOfAll {
  readonly kind: 'moments';
  /** Where z = 0 is. Data units. */
  readonly centre: Float64Array;
  /** From the map into data units. A column of one value is in units of its own. */
  readonly inverse: Float64Array;
  /** Mean of z. */
  readonly mean: Float64Array;
  /** Covariance of z, made positive definite. */
  readonly moments: Float64Array;
  /** Noisy number of rows. */
  readonly present: number;
  /** `moved`: bound on what clipping takes off the mean, before the map is widened. */
  readonly tails: Tails & { readonly moved: number };
  /** Columns of which nearly all rows have one value. */
  readonly oneValue: FoundColumns['oneValue'];
  /** True if the rows reach farther to one side; false where that is not looked for. */
  readonly isSkewed: boolean;
  /** True if noise hides how little the rows vary in some direction. */
  readonly hidesDirection: boolean;
}

/** Draws all events of a design after its centre. Claim and proof: `designCentred`. */
export async function privateMomentsOfAll(
  design: CentredDesign, draws: Draws, { pool, centre, spread, columns }: CentredPool,
): Promise<Released<MomentsOfAll | RefusedOutcome>> {
  const { facts, rowsMax, rowsNeeded } = design;
  const rows = pool.map((whole) => standardisedRows(whole, centre, spread, rowsMax, Infinity));
  const counted = draws.mechanisms.gaussian(design.present.name, rows.map((all) =>
    Float64Array.of(all.present.reduce((sum, one) => sum + one, 0))));
  const present = counted.value[0]!;
  if (present < Math.max(rowsNeeded, facts.cohort / 4)) {
    return counted.map(() => tooFewRows(facts, rowsNeeded));
  }
  const found = await privateMap(design, draws, rows, present);
  const told = privateTails(design, draws, rows, found, present);
  const tails = told.value;
  if (tails === null) return told.map(() => rowsTooWide(facts));
  const matrix = found.matrix.map((entry) => entry / tails.widen);
  const drawn = await privateCentredMoments(
    draws, rows, { matrix, mean: found.mean }, design.ball, design.final,
  );
  const units = spread.map((unit, j) => (columns.oneValue[j] === null ? tails.widen * unit : 1));
  const inverse =
    found.inverse.map((entry, at) => entry * units[Math.floor(at / units.length)]!);
  const mean = drawn.value.sum.map((entry) => entry / present);
  const about = found.mean.map((entry, i) => mean.reduce((sum, own, k) =>
    sum + found.inverse[i * mean.length + k]! * own * tails.widen, entry));
  const isSkewed = await privateSkewness(design, draws, rows, { ...found, mean: about }, present);
  const { oneValue } = columns;
  return drawn.map((sums) => {
    const moments = momentsAbout(sums, present);
    return {
      kind: 'moments', inverse, mean, present, tails, isSkewed, oneValue,
      centre: centre.map((entry, j) => entry + spread[j]! * found.mean[j]!),
      moments: flooredAt(moments, facts.dimension, leastMoment).floored,
      hidesDirection: leastVariance(moments, found.matrix, oneValue) * tails.widen ** 2 < narrowest,
    };
  });
}

/**
 * The least variance after the map over directions in which no column of one value takes part. A
 * direction u of the columns is seen as w with u = matrix^T w. So u has nothing of column j where w
 * is orthogonal to column j of the matrix: along those columns a variance that is never the least
 * is added.
 */
function leastVariance(
  moments: Float64Array, matrix: Float64Array, oneValue: FoundColumns['oneValue'],
): number {
  const dimension = oneValue.length;
  const raised = moments.slice();
  oneValue.forEach((one, j) => {
    if (one === null) return;
    const image = Array.from(oneValue, (_, i) => matrix[i * dimension + j]!);
    const length = Math.hypot(...image);
    raised.forEach((entry, at) => {
      raised[at] = entry + 2 ** 20
        * (image[Math.floor(at / dimension)]! / length) * (image[at % dimension]! / length);
    });
  });
  return flooredAt(raised, dimension, 0).smallest;
}

/** The covariance of all rows, in data units. */
export function outcomeOfMoments(
  { facts: { dimension }, final: { products } }: CentredDesign,
  { moments, inverse, present, tails }: MomentsOfAll,
): Outcome {
  const noise = products.sigma / present;
  const relative = relativeBound(moments, dimension, noiseNorm(dimension) * noise);
  return covarianceOutcome({
    dimension, moments, inverse, noise, relative, pairs: present,
    tails: {
      lost: boundsVariance(tails) ? tails.lost / tails.widen ** 2 : Infinity,
      fourth: tails.fourth / pow(tails.widen, 4),
    },
  });
}

/** 0 for an entry of the covariance about which nothing is known; null for all others. */
export function entryOfOneValue({ oneValue }: MomentsOfAll, at: number): number | null {
  const places = [Math.floor(at / oneValue.length), at % oneValue.length];
  return places.some((place) => oneValue[place] !== null) ? 0 : null;
}

/**
 * Says what was found out. Of a column that is nearly always one value nothing is known but that:
 * its numbers have no interval.
 * @param knownAt - the number to answer in a place of the estimate, where such a column decides it.
 */
export function withFindings(
  outcome: ValueOutcome, { oneValue, tails, isSkewed, hidesDirection }: MomentsOfAll,
  knownAt: (place: number) => number | null,
): ValueOutcome {
  const { estimate, interval95, uncertainty } = outcome;
  const set = (list: readonly number[], by?: number): readonly number[] =>
    list.map((entry, at) => {
      const known = knownAt(at);
      return known === null ? entry : by ?? known;
    });
  const findings: Finding[] = [...oneValueFindings(oneValue)];
  if ((tails.widen > 1 && tails.isLong) || !boundsVariance(tails)) {
    findings.push({ reason: 'long-tails', columns: [], amounts: [] });
  }
  if (isSkewed) findings.push({ reason: 'skewed', columns: [], amounts: [] });
  if (hidesDirection) findings.push({ reason: 'direction-unseen', columns: [], amounts: [] });
  if (findings.length === 0) return outcome;
  return {
    ...outcome, findings, estimate: set(estimate),
    ...(uncertainty.kind === 'gaussian' && {
      uncertainty: { ...uncertainty, standardDeviation: set(uncertainty.standardDeviation, 0) },
    }),
    ...(interval95 !== undefined && {
      interval95: { low: set(interval95.low, -Infinity), high: set(interval95.high, Infinity) },
    }),
  };
}

/** Third moments say that rows are skewed from so many deviations of their noise on. */
const skewedFrom = 3;
/** And from so many times the root of the dimension on, in cubed deviations: less is no matter. */
const skewLeast = 0.25;

/**
 * True if the rows reach farther to one side, by their third moments. The mean that these are about
 * is m off by the noise of the last sum, and normal rows then have third moments (d + 2) m.
 */
async function privateSkewness(
  { facts: { dimension }, third, ball, final }: CentredDesign, draws: Draws,
  rows: Sensitive<StandardisedRows>, view: View, present: number,
): Promise<boolean> {
  if (third === null) return false;
  const sides = await privateThirdMoments(draws, rows, view, ball, third);
  const ofMean = ((dimension + 2) / ball.radius ** 2) * final.sum.sigma;
  const noise = (Math.hypot(third.sigma, ofMean) * Math.sqrt(dimension)) / present;
  const least = (skewLeast * Math.sqrt(dimension)) / ball.radius ** 2;
  return Math.hypot(...sides.value) / present > Math.max(skewedFrom * noise, least);
}

/** A map and the mean that it is about, in spreads from the centre. */
interface FoundMap extends Preconditioner, View {}

/**
 * Draws the rounds of the map. Each takes the rows about the mean that the round before found, and
 * so finds the mean more closely.
 */
async function privateMap(
  { facts: { dimension }, rounds }: CentredDesign, draws: Draws, rows: Sensitive<StandardisedRows>,
  present: number,
): Promise<FoundMap> {
  const mean = new Float64Array(dimension);
  let at = 0;
  const map = await mapOfRounds({
    rank: dimension, events: rounds.map(({ products }) => products), varianceHigh: 1,
    pairs: present, lift,
    draw: async (matrix, _, inverse) => {
      const round = rounds[at]!;
      at += 1;
      const view = { matrix, mean: mean.slice() };
      const drawn = await privateCentredMoments(draws, rows, view, round.ball, round);
      const { sum } = drawn.value;
      for (let i = 0; i < dimension; i++) {
        for (let j = 0; j < dimension; j++) {
          mean[i]! += (inverse[i * dimension + j]! * sum[j]!) / present;
        }
      }
      return drawn.map((sums) => momentsAbout(sums, present).map((entry) => entry * present));
    },
  });
  return { ...map, mean };
}

/** Second moments about the mean: post-processing of the sums. */
function momentsAbout({ sum, products }: CentredMoments, present: number): Float64Array {
  const dimension = sum.length;
  return products.map((entry, at) =>
    entry / present
    - (sum[Math.floor(at / dimension)]! * sum[at % dimension]!) / present ** 2);
}

function privateTails(
  { facts: { dimension }, distance, ball, final, rounds }: CentredDesign, { mechanisms }: Draws,
  rows: Sensitive<StandardisedRows>, view: View, present: number,
): Released<MomentsOfAll['tails'] | null> {
  const last = rounds.at(-1)!;
  const added = (lift * noiseNorm(dimension) * last.products.sigma) / present;
  const counts = mechanisms.gaussian(distance.name, rows.map((all) =>
    distancesOf(all, view, ball.radius)));
  const entries = (dimension * (dimension + 1)) / 2;
  return counts.map((noisy) => {
    const options = {
      counts: noisy, sigma: distance.sigma, present, dimension, radius: ball.radius,
      noise: (final.products.sigma * Math.sqrt(entries)) / present,
      variance: varianceAfter(dimension, last.ball.radius, added),
    };
    const tails = tailsOf(options);
    return tails === null ? null : { ...tails, moved: movedByClipping(options, tails.widen) };
  });
}

/** How many rows are in each bin of distance after the map. */
function distancesOf(rows: StandardisedRows, view: View, radius: number): Float64Array {
  const bins = new Float64Array(distanceBins);
  const { count, dimension, present } = rows;
  const images = imagesFrom(rows, view);
  for (let i = 0; i < count; i++) {
    if (present[i] === 0) continue;
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (images[i * dimension + j]! / radius) ** 2;
    bins[distanceBin(square)]! += 1;
  }
  return bins;
}

function rowsTooWide({ cohort }: StudyFacts): RefusedOutcome {
  return {
    kind: 'refused',
    reason: 'rows-too-wide',
    text: 'by the noisy count fewer than half of the rows are in the ball that the rounds of the '
      + `map found. Planned for ${cohort} contributors: give a larger spread, or spread: auto.`,
  };
}

function tooFewRows({ cohort }: StudyFacts, rowsNeeded: number): RefusedOutcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of rows is below ${Math.max(rowsNeeded, Math.ceil(cohort / 4))}, `
      + `below which noise hides whole directions; ${cohort} contributors were planned for: plan `
      + 'for a smaller cohort, closer variance bounds or a larger epsilon, or wait longer',
  };
}
