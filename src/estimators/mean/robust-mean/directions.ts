import type { Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { chiSquareAt } from '../../../numerics/chi-square.js';
import { normalDensity } from '../../../numerics/normal.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool } from '../../pooled/estimator.js';
import {
  noiseOfSquare, noiseOfSum, type AnyDesign, type MomentRound,
} from './any-design.js';
import { widestAxes } from './axes.js';
import { sumBeyond, thirdMoments, type Frame } from './mapped.js';
import type { RoundsFound } from './moment-rounds.js';

/**
 * Where clusters may stand. Rows that move the mean are on one side of it, so they show in third
 * moments; and rows far out in a direction widen it. Functions of released numbers.
 */
export interface Directions {
  /** Unit axes of the mapped rows. */
  readonly axes: readonly Float64Array[];
  /** @param mean - released, of the mapped rows. */
  readonly skewAbout: (mean: Float64Array) => Skew;
  /** Events that were not drawn. */
  readonly unused: readonly GaussianEvent[];
}

/** The skewness that third moments show. */
export interface Skew {
  /** The rows reach farther to one side than noise explains. */
  readonly isSkewed: boolean;
  /** Columns that reach farther to one side by themselves, from 0. */
  readonly skewed: readonly number[];
}

/** Third moments show a direction from this many times their noise on. */
const directionFrom = 1.1;
/** Rows count as skewed from the length that noise has in one release of 30,000. */
const skewedFrom = 4;
/** A column counts as skewed from this many standard deviations on. */
const columnFrom = 4;
/** Rows that are normal but for a little may show as much as this. */
const skewLeast = 0.25;
/** Rows beyond this many standard deviations tell the direction again, with less noise. */
const tailFrom = 1.3;
/** Width of the rows without a cluster, over that of all. */
const othersWidth = 0.8;
/** Axes narrower than this in variance hold no cluster that moves the mean by much. */
const wideFrom = 1.15;
/** Cosine from which two axes count as one. */
const sameAxis = 0.95;

/** The events that find directions. Of the rounds only the first is used: of rows in spreads. */
export type DirectionEvents =
  Pick<AnyDesign, 'facts' | 'third' | 'refine' | 'thirdBall'> & {
    readonly rounds: readonly Pick<MomentRound, 'square'>[];
  };

/** Draws third moments, and once more along the direction that they show. */
export function releaseDirections(
  { design, mechanisms }: Pick<Draws, 'mechanisms'> & { readonly design: DirectionEvents },
  { spread, columns }: Pick<CentredPool, 'spread' | 'columns'>,
  { rows, frame, present, covariance }: Omit<RoundsFound, 'unused'>,
): Directions {
  const { facts: { dimension }, third, refine, thirdBall: ball, rounds } = design;
  const unused: GaussianEvent[] = [];
  if (present === null || covariance === null) return { axes: [], skewAbout: unseen, unused };
  const noise = noiseOfSquare(rounds[0]!.square, present);
  const wide = widestOf(covariance, spread, columns.medianSpread, frame, noise);
  if (third === null) return { axes: unlike(wide), skewAbout: unseen, unused };
  const draw = (event: GaussianEvent, sums: Sensitive<Float64Array>): Float64Array =>
    mechanisms.gaussian(event.name, sums.map((all) => all.map((entry) => entry * ball.grid)))
      .value.map((entry) => entry / present);
  const sides = draw(third, rows.map((left) => thirdMoments(left, ball)));
  const norm = Math.hypot(...sides);
  const own = noiseOfSum(third, present);
  const skewAbout = (mean: Float64Array): Skew => skewOf(
    withoutShift(sides, mean, frame.map === null ? covariance : null, ball.radius),
    third.sigma / present, skewLeast / ball.radius ** 2, frame.map === null,
  );
  if (norm <= directionFrom * own) {
    return { axes: unlike(wide), skewAbout, unused: refine === null ? [] : [refine] };
  }
  const first = sides.map((entry) => entry / norm);
  if (refine === null) return { axes: unlike([first, ...wide]), skewAbout, unused };
  const width = frame.map === null
    ? Math.min(1, deviationAlong(covariance, first, dimension)) : 1;
  const beyond = draw(refine, rows.map((left) => sumBeyond(left, ball, first, tailFrom * width)));
  // A cluster has widened the whole, so the others are narrower.
  const expected = width * othersWidth * normalDensity(tailFrom / othersWidth);
  const refined = unit(beyond.map((entry, j) => entry - expected * first[j]!));
  return { axes: unlike([refined ?? first, ...wide]), skewAbout, unused };
}

/** Third moments were not drawn. */
const unseen = (): Skew => ({ isSkewed: false, skewed: [] });

/**
 * Third moments without what they show of the mean alone. Rows of mean m and covariance C that are
 * normal otherwise have third moments m tr C + 2 C m, about, where m is small.
 * @param covariance - null: about 1 in every direction.
 */
function withoutShift(
  sides: Float64Array, mean: Float64Array, covariance: Float64Array | null, radius: number,
): Float64Array {
  const { length } = mean;
  const entry = (i: number, j: number): number =>
    (covariance === null ? Number(i === j) : covariance[i * length + j]!);
  const trace = mean.reduce((sum, _, j) => sum + entry(j, j), 0);
  return sides.map((side, i) => side - (trace * mean[i]!
    + 2 * mean.reduce((sum, other, j) => sum + entry(i, j) * other, 0)) / radius ** 2);
}

/**
 * The skewness of which noise is no cause: the squared length of the noise is chi-square.
 * @param deviation - of the noise of an entry. @param least - what does not count.
 */
function skewOf(
  sides: Float64Array, deviation: number, least: number, hasColumns: boolean,
): Skew {
  const noise = deviation * Math.sqrt(chiSquareAt(skewedFrom, sides.length));
  const isSkewed = Math.hypot(...sides) > Math.max(noise, least);
  const columnLeast = Math.max(columnFrom * deviation, least);
  const skewed = isSkewed && hasColumns
    ? Array.from(sides.keys()).filter((j) => Math.abs(sides[j]!) > columnLeast) : [];
  return { isSkewed, skewed };
}

/** At most this many axes are chosen by their width. */
const widestMost = 3;

/**
 * The axes along which rows are wider than the median spread says, and than along half of the axes
 * where the spread is generous; widest first. Where there is none, the column that is wider.
 */
function widestOf(
  covariance: Float64Array, spread: Float64Array, medianSpread: Float64Array, frame: Frame,
  noise: number,
): Float64Array[] {
  const dimension = spread.length;
  if (dimension === 1) return [Float64Array.of(1)];
  const ratio = spread.map((entry, j) => entry / medianSpread[j]!);
  const excess = covariance.map((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    return entry * ratio[i]! * ratio[j]! - (i === j ? 1 : 0);
  });
  const { values } = ownKernels().eigenSymmetric(excess, dimension);
  const usual = Math.max(0.1, Math.min(1, 1 + values[(dimension - 1) >> 1]!));
  const least = wideFrom * usual - 1
    + noise * ratio.reduce((most, one) => Math.max(most, one)) ** 2;
  const axes = widestAxes(excess, dimension, [], least, widestMost)
    .map((axis) => axis.map((entry, j) => entry * ratio[j]!));
  const looked = axes.length > 0 ? axes
    : widestColumn(excess, ratio, usual, noise / Math.sqrt(2 * dimension));
  return looked
    .flatMap((inSpreads) => unit(timesTransposed(frame.inverse, inSpreads)) ?? []);
}

/** A column is looked at if it is wider than usual by so many deviations of noise. */
const columnWider = 3.5;

/**
 * The column that is wider than usual, if there is one. The noise of one entry of a covariance is
 * far less than that of its largest eigenvalue.
 * @param noise - deviation of an entry on the diagonal, in spreads.
 */
function widestColumn(
  excess: Float64Array, ratio: Float64Array, usual: number, noise: number,
): Float64Array[] {
  const dimension = ratio.length;
  const over = (j: number): number =>
    (excess[j * (dimension + 1)]! + 1 - usual) / (noise * ratio[j]! ** 2);
  const widest = Array.from(ratio.keys()).reduce((most, j) => (over(j) > over(most) ? j : most));
  return over(widest) > columnWider ? [ratio.map((_, j) => Number(j === widest))] : [];
}

/** matrix^T times a vector; null: the unit matrix. */
export function timesTransposed(matrix: Float64Array | null, vector: Float64Array): Float64Array {
  if (matrix === null) return vector;
  const { length } = vector;
  return vector.map((_, j) =>
    vector.reduce((sum, entry, i) => sum + matrix[i * length + j]! * entry, 0));
}

function unit(vector: Float64Array): Float64Array | null {
  const norm = Math.hypot(...vector);
  return norm > 0 && Number.isFinite(norm) ? vector.map((entry) => entry / norm) : null;
}

/** The axes without those that are nearly the same as one before. */
function unlike(axes: readonly Float64Array[]): Float64Array[] {
  const kept: Float64Array[] = [];
  for (const axis of axes) {
    const isNew = kept.every((other) =>
      Math.abs(axis.reduce((sum, entry, j) => sum + entry * other[j]!, 0)) < sameAxis);
    if (isNew) kept.push(axis);
  }
  return kept;
}

function deviationAlong(
  covariance: Float64Array, axis: Float64Array, dimension: number,
): number {
  const variance = covariance.reduce((sum, entry, at) =>
    sum + entry * axis[Math.floor(at / dimension)]! * axis[at % dimension]!, 0);
  return Math.sqrt(Math.max(0.1, variance));
}
