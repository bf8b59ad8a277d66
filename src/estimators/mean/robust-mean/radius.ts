import { pow } from '../../../base/elementary.js';
import { usualRadius } from '../../pooled/parameters.js';
import {
  chooseRadius, distanceBins, possibleCounts, readDistances, rowsIn, usableWidth,
} from '../../pooled/radius.js';

/**
 * The radius that rows are pulled into, from the released histogram of their distances. A function
 * of released counts, so post-processing. Lengths are in units of the mapped rows.
 */
export interface FoundRadius {
  readonly radius: number;
  /** How far pulling rows in may move the mean, including what noise may hide. */
  readonly lost: number;
  /** Mean distance of the rows beyond the usual radius, up to this radius. */
  readonly beyond: number;
  /** Root mean square distance over sqrt(d), within 1 and 2.5. */
  readonly width: number;
  /** Some rows are farther out than the spread allows, and did not raise the radius. */
  readonly leavesFar: boolean;
}

export interface RadiusRequest {
  /** Released counts of the rows left. */
  readonly counts: Float64Array;
  /** Standard deviation of the noise of each count. */
  readonly noise: number;
  readonly dimension: number;
  /** Number of rows, public: the least that counts may add up to is a quarter of it. */
  readonly cohort: number;
  readonly corruption: number;
  /** Standard deviation of the noise of a sum's entry, in units of the radius. */
  readonly sigma: number;
  /** A given radius: only the rest is worked out. */
  readonly radius: number | null;
  /** True if a cluster was left out: then rows beside it may be hostile, too. */
  readonly isApart: boolean;
}

/** Beside a cluster a bin raises the radius from this many standard deviations of its noise on. */
const sureFrom = 4.5;

/**
 * Up to this many columns, a larger radius costs little noise. When a long tail has few rows, noise
 * hides so many that sqrt(d) cuts off more than `lost` allows for. So the radius begins farther
 * out, and part of what the noise may hide counts as cut off. What noise alone may show beyond the
 * radius does not: one exponential column of 10,000 rows got a radius of 30 spreads by it in one
 * release of 200, and an error of .09 for .014.
 */
const few = { columns: 4, more: 1.5, hiddenPart: 0.5, doubt: 2.5 } as const;

/**
 * A share p of rows whose mean square along a direction is at most one squared spread moves the
 * mean along it by at most this times sqrt(p), by the inequality of Cauchy and Schwarz. So fewer
 * rows than may be hostile pull no more beyond the usual radius. Clean rows of all shapes that are
 * measured need at most .86: a rare value in a column whose true deviation is given.
 */
export const farMost = 1;

/**
 * The radius of `chooseRadius`, from sqrt(d) on, and with few columns from a little more. Rows
 * beyond the usual radius may be hostile, so what they add is limited, and rows that honest columns
 * of this spread do not have (`possibleCounts`) raise it not at all. Where a cluster was left out,
 * only bins that stand out by themselves raise the radius: a thin cloud around a hostile cluster
 * would else pull with all its length. What the smaller radius cuts off is in `lost` as always.
 */
export function findRadius(request: RadiusRequest): FoundRadius {
  const { counts, noise, dimension, cohort, corruption, sigma, radius, isApart } = request;
  const rows = rowsIn(counts, cohort);
  const distances = readDistances({ counts, sigma: noise, dimension, rows });
  const usual = usualRadius(dimension);
  const root = Math.sqrt(dimension);
  const possible = possibleCounts({ counts, sigma: noise, dimension, rows });
  const trusted = readDistances({
    counts: isApart ? possible.map((count) => (count > sureFrom * noise ? count : 0)) : possible,
    sigma: noise, dimension, rows,
  });
  const isFew = dimension <= few.columns;
  const chosen = radius ?? chooseRadius(trusted, {
    dimension, least: root + (isFew ? few.more : 0), trusted: usual,
    noise: (sigma * root) / rows, corruption, farMost, doubt: isFew ? few.doubt : 0,
    hiddenPart: isFew && !isApart ? few.hiddenPart : 0,
  });
  return {
    radius: chosen, width: usableWidth(distances.width),
    beyond: distances.added(usual, chosen),
    lost: distances.beyond(chosen) + distances.hidden(chosen),
    leavesFar: possible !== counts,
  };
}

/** A ball that holds the rows that were left out, as far as they stand out from the noise. */
export interface RadiusApart {
  readonly radius: number;
  /** The part of these rows' effect on the mean of all that may be missing. */
  readonly lost: number;
  /** Their contribution to the mean square distance of all rows. */
  readonly square: number;
}

/** A cluster in the open last bin is assumed to be about where that bin begins. */
const farthest = 2 * pow(2, (distanceBins - 2) / 4);

/**
 * The radius for the rows left out, with no limit on what they add: if they are honest, the mean of
 * all is where they say. Rows beyond 1,700 sqrt(d) spreads count as if they were about there.
 * @param request.counts - released: of the rows that were left out.
 * @param rows - number of all rows, released.
 */
export function radiusApart(
  { counts, noise, dimension, sigma }: Pick<
    RadiusRequest, 'counts' | 'noise' | 'dimension' | 'sigma'
  >, rows: number,
): RadiusApart {
  const distances = readDistances({ counts, sigma: noise, dimension, rows });
  const radius = chooseRadius(distances, {
    dimension, least: usualRadius(dimension), noise: (sigma * Math.sqrt(dimension)) / rows,
    corruption: 0,
  });
  return {
    radius, square: distances.width ** 2 * dimension,
    lost: distances.added(radius, farthest * Math.sqrt(dimension)) + distances.hidden(radius),
  };
}
