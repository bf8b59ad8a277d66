import { log2, pow } from '../../../base/elementary.js';
import { chiSquareCdf } from '../../../numerics/chi-square.js';
import { distanceBins, readDistances } from '../../pooled/radius.js';

/**
 * How far out rows stand after the map, from a noisy histogram of their distances from the mean:
 * whether a larger clip radius is worth its noise, and what the clipping may hide. A function of
 * released counts, so post-processing.
 */

/** Bins per octave of distance. Bin 0 is for the rows inside the radius, the last is open-ended. */
const perOctave = 4;
/**
 * A bin shows rows when its count is this many deviations of its noise: beside the radius, next to
 * an inner bin that shows rows, and anywhere else. Noise that is taken for rows far out would widen
 * the ball without bound, so it must happen in less than one release of 1e7.
 */
const seen = { first: 3, next: 2, alone: 6 };
/** This many deviations of a bin's noise may be rows that are not seen. */
const hiddenDeviations = 2.5;
/** They are taken to stand this many times as far out as the ball reaches. */
const hiddenRadii = 1.5;
/** A tail that goes on falls at least by this ratio from bin to bin, so that it has a variance. */
const ratioMost = 0.68;
/** For a bound, tails of index 2.06 count, and the ratio is raised by this many deviations. */
const longest: { readonly ratio: number; readonly deviations: number } =
  { ratio: 0.7, deviations: 2 };

/**
 * The excess from which rows reach farther out than normal ones: this many standard deviations more
 * of them in one bin, or in the octave beside the radius, since noise hides a tail bin by bin.
 */
const longFrom = { bin: 3.3, octave: 2.2 } as const;
/** Normal rows may vary this many times as much as `variance` says, for what it leaves out. */
const slack = 1.02;

/** The bin of a squared distance, in squared radii. Every number has one, NaN the last. */
export function distanceBin(square: number): number {
  if (square <= 1) return 0;
  const bin = 1 + Math.floor((perOctave / 2) * log2(square));
  return bin < distanceBins ? bin : distanceBins - 1;
}

/** About how far out the rows of a bin from 1 on are. */
const distanceOf = (bin: number, radius: number): number =>
  radius * pow(2, (bin - 0.5) / perOctave);

/** The effect of clipping on rows with long tails, in the units of the map and of the radius. */
export interface Tails {
  /** Factor by which to enlarge the radius: at least 1. */
  readonly widen: number;
  /**
   * Bound on what the clipping takes off the trace of the second moments, as far as the histogram
   * can tell; rows that it cannot show are included up to 2.5 deviations of its noise.
   */
  readonly lost: number;
  /** Rows reach farther out than those of a normal shape. */
  readonly isLong: boolean;
  /** Mean of the fourth power of the distance over rows beyond the first radius, after clipping. */
  readonly fourth: number;
}

/**
 * True if a variance has an interval. The map leaves variances of about 1. Where the clipping may
 * have taken off as much, the tail decides the variance, and its shape is a guess.
 */
export const boundsVariance = ({ lost }: Tails): boolean => lost < 1;

/** The numbers that a choice among radii weighs. */
export interface TailsOptions {
  /** Noisy counts, one for each bin. */
  readonly counts: Float64Array;
  /** Deviation of the counts' noise. */
  readonly sigma: number;
  /** Noisy number of rows. */
  readonly present: number;
  readonly dimension: number;
  /** The first radius. */
  readonly radius: number;
  /** Frobenius norm of the noise of the second moments at the first radius. */
  readonly noise: number;
  /** About how much normal rows vary after the map, in any direction: `varianceAfter`. */
  readonly variance: number;
}

/**
 * The variance of normal rows in any direction after a map, about. The map makes second moments
 * that are clipped to the round's ball 1, less what is added to eigenvalues. Clipping takes
 * off the trace the expectation of (r^2 - R^2)+, which is d Q(d + 2) - R^2 Q(d), Q being the upper
 * tail of chi-square at R^2.
 * @param radius - R, of the last round. @param added - to eigenvalues in this round.
 */
export function varianceAfter(dimension: number, radius: number, added: number): number {
  const tail = (freedom: number): number => 1 - chiSquareCdf(radius ** 2, freedom);
  const lost = tail(dimension + 2) - (radius ** 2 / dimension) * tail(dimension);
  return 1 / (1 - lost + added);
}

/**
 * The radius that balances noise, what is clipped off, and how much the tails vary; null when fewer
 * than half of the rows are within the first radius, so that the map cannot be that of the rows.
 */
export function tailsOf(options: TailsOptions): Tails | null {
  const { counts, sigma, present, dimension, radius, noise } = options;
  if (counts[0]! < present / 2) return null;
  const seenBins = seenCounts(options);
  const shown = continued(seenBins);
  const far = Array.from(shown.keys()).filter((bin) => shown[bin]! > 0).map((bin) =>
    ({ share: shown[bin]! / present, distance: distanceOf(bin, radius) }));
  const sumOver = (term: (distance: number) => number): number =>
    far.reduce((sum, { share, distance }) => sum + share * term(distance), 0);
  // With tails in all columns, a direction has a share of them; with tails in one, it has all.
  const part = Math.max(0.5, 1.2 / Math.sqrt(dimension));
  let best = { widen: 1, lost: Infinity, fourth: 0, error: Infinity };
  for (let step = 0; step < distanceBins - 1; step++) {
    const widen = pow(2, step / perOctave);
    const reach = radius * widen;
    const lost = sumOver((distance) => Math.max(0, distance ** 2 - reach ** 2));
    const fourth = sumOver((distance) => pow(Math.min(distance, reach), 4));
    const error = Math.hypot(noise * widen ** 2, part * lost, Math.sqrt(fourth / present));
    if (error < best.error) best = { widen, lost, fourth, error };
  }
  const reach = radius * best.widen;
  const isLong = isLongerThanNormal(options, seenBins);
  // Rows that reach no farther than normal ones have no longer tail than is seen, and where the
  // first radius is best, what is beyond it is as of normal rows.
  const tail = isLong && best.widen > 1 ? continuedAtMost(options, seenBins) : shown;
  const lost = tail.reduce((sum, count, bin) => sum + (count / present)
    * Math.max(0, distanceOf(bin, radius) ** 2 - reach ** 2), 0);
  const hidden = (hiddenDeviations * sigma * (hiddenRadii ** 2 - 1) * reach ** 2) / present;
  return { widen: best.widen, lost: part * (lost + hidden), fourth: best.fourth, isLong };
}

/**
 * True if some bin, or the octave beside the radius, has more rows than normal rows have from there
 * on. A larger radius is worth its noise for normal rows of many contributors, too, so that alone
 * does not tell.
 */
function isLongerThanNormal(
  { counts, sigma, present, dimension, radius, variance }: TailsOptions, shown: Float64Array,
): boolean {
  const normalFrom = (bin: number): number => {
    const edge = radius * pow(2, (bin - 1) / perOctave);
    return present * (1 - chiSquareCdf(edge ** 2 / (slack * variance), dimension));
  };
  const octave = counts.slice(1, 1 + perOctave).reduce((sum, count) => sum + count, 0);
  const beside = normalFrom(1);
  const noise = Math.sqrt(perOctave * sigma ** 2 + beside);
  return octave > beside + longFrom.octave * noise || shown.some((count, bin) => {
    if (bin === 0 || count === 0) return false;
    const normal = normalFrom(bin);
    return count > normal + longFrom.bin * Math.sqrt(sigma ** 2 + normal);
  });
}

/**
 * Bound on how far clipping at `widen` radii moves the mean, in any direction and in the units of
 * the map. Infinite where nobody knows.
 */
export function movedByClipping(
  { counts, sigma, present, radius, dimension }: TailsOptions, widen: number,
): number {
  // Bins of pooled/radius begin at the root of the dimension: in these units the radius is there.
  const unit = radius / Math.sqrt(dimension);
  const { beyond, hidden } = readDistances({ counts, sigma, dimension, rows: present });
  const reach = (radius * widen) / unit;
  return unit * (beyond(reach) + hidden(reach));
}

/** The counts of bins beyond the first radius that show rows; 0 for the others. */
function seenCounts({ counts, sigma }: TailsOptions): Float64Array {
  const shown = new Float64Array(distanceBins);
  for (let bin = 1; bin < distanceBins; bin++) {
    const least = bin === 1 ? seen.first : shown[bin - 1]! > 0 ? seen.next : seen.alone;
    if (counts[bin]! > least * sigma) shown[bin] = counts[bin]!;
  }
  return shown;
}

/**
 * The tail beside the radius goes on where noise hides it, and may hold more of the variance there.
 * It is continued at the mean ratio from bin to bin, as a power of the distance.
 */
function continued(shown: Float64Array): Float64Array {
  const { last, rows, mean } = tailOf(shown);
  if (last === 0) return shown;
  // The mean of a geometric law on 1, 2, ... is 1 / (1 - ratio).
  const ratio = Math.min(ratioMost, 1 - 1 / mean);
  return shown.map((count, bin) =>
    (bin <= last || count > 0 ? count : rows * (1 - ratio) * pow(ratio, bin - 1)));
}

/**
 * The counts with the longest tail beyond the shown bins that these allow, up to `longest`. The
 * mean place of the rows in the shown bins and one more is that of a geometric law that ends there.
 * Its ratio is solved for, with the mean raised by what sampling and noise may hide of it.
 */
function continuedAtMost({ counts, sigma }: TailsOptions, shown: Float64Array): Float64Array {
  const { last, rows } = tailOf(shown);
  if (last === 0) return shown;
  const end = Math.min(last + 1, distanceBins - 1);
  const near = Array.from({ length: end }, (_, at) => at + 1);
  const all = near.reduce((sum, bin) => sum + counts[bin]!, 0);
  if (!(all > 0)) return shown;
  const mean = near.reduce((sum, bin) => sum + (bin * counts[bin]!) / all, 0);
  const variance = near.reduce((sum, bin) =>
    sum + (Math.max(0, counts[bin]!) + sigma ** 2) * ((bin - mean) / all) ** 2, 0);
  const ratio = ratioOfMean(mean + longest.deviations * Math.sqrt(variance), end);
  const first = (rows * (1 - ratio)) / (1 - pow(ratio, last));
  return shown.map((count, bin) =>
    (bin <= last || count > 0 ? count : first * pow(ratio, bin - 1)));
}

/** The bins next to the radius that show rows: the last of them, their rows and mean place. */
function tailOf(shown: Float64Array) {
  let last = 0;
  let [rows, places] = [0, 0];
  while (last + 1 < distanceBins && shown[last + 1]! > 0) {
    last += 1;
    rows += shown[last]!;
    places += last * shown[last]!;
  }
  return { last, rows, mean: places / rows };
}

/** The ratio, up to that of `longest`, of a geometric law on 1, ..., `last` with this mean. */
function ratioOfMean(mean: number, last: number): number {
  let [low, high] = [0, longest.ratio];
  for (let step = 0; step < 40; step++) {
    const ratio = (low + high) / 2;
    let [rows, places] = [0, 0];
    for (let bin = 1; bin <= last; bin++) {
      rows += pow(ratio, bin - 1);
      places += bin * pow(ratio, bin - 1);
    }
    if (places / rows < mean) low = ratio;
    else high = ratio;
  }
  return high;
}
