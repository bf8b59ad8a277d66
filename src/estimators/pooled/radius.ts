import { pow } from '../../base/elementary.js';
import type { Finding, Interval95 } from '../../base/outcome.js';
import { distancesOfRows, type KernelRunner } from '../../numerics/kernels/shards.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import { binsThatStandOut } from '../../privacy/stages/stretches.js';
import type { CentreBounds } from './centre.js';

/**
 * The radius of the clip ball, chosen from a noisy histogram of how far the rows are from a
 * released centre, and what a ball of this radius still cuts off.
 *
 * All functions but `distanceCounts` are functions of released counts and public numbers, so they
 * are post-processing and cost nothing. Never give them true counts: a radius that is chosen from
 * true counts depends on the rows without noise.
 */

/** Bins of the histogram: one below sqrt(columns) spreads, then quarter octaves, the last open. */
export const distanceBins = 45;
/** Noise takes more than this many of its deviations from a count once in twenty times. */
const hiddenMost = 1.645;
/** Rows in some bins stand out from the noise. */
const standOut = { apart: 4.5, beside: 2, widths: [1, 2, 4, 8, 16] } as const;
/** Bins of an octave of distance. */
const octave = 4;
/**
 * Noise that is allowed for: this many standard deviations of rows ... Not more: the allowance for
 * the unseen tail takes several unlucky counts together.
 */
const allowedNoise = 0.8;
/** ... and near the ball this many radii beyond it. */
const nearReach = 0.8;
/**
 * From this many standard deviations of its noise on, the open last bin may hold rows. Nobody
 * knows how far out they are, so a few of them may decide the mean.
 */
const openFrom = 3;
/**
 * From one octave to the next a tail that is not seen falls to this share at most: a longer one has
 * no variance.
 */
const fallsToMost = 1 / 4;
/** Radii between two bins that are tried. */
const stepsPerOctave = 16;
/** Limits of `width` in the limit of what far rows may add. */
const widthMost = 2.5;

/** The lower end of a bin, in spreads. */
export function distanceEdge(bin: number, dimension: number): number {
  return bin === 0 ? 0 : Math.sqrt(dimension) * pow(2, (bin - 1) / 4);
}

/** Squared lower ends of all bins but the first. */
const squaredEdges = (dimension: number): Float64Array => Float64Array.from(
  { length: distanceBins - 1 }, (_, bin) => distanceEdge(bin + 1, dimension) ** 2,
);

/** Finds the bin of a squared distance, in spreads. Every number has one. */
export function distanceBinOf(dimension: number): (square: number) => number {
  const edges = squaredEdges(dimension);
  return (square) => {
    let bin = 0;
    while (bin < edges.length && square >= edges[bin]!) bin += 1;
    return bin;
  };
}

/**
 * The rows in each bin. Rows with a number that is not finite are in none. O(count * dimension),
 * shared among threads.
 *
 * Claim. One row replaced by any other, or by none, or added: the counts move by at most sqrt 2 in
 * L2 (`binsEvent` of pooled/query-events).
 * Why. The bin of a row is a function of this row and of the centre, which is released.
 * @param centre - released, in the rows' units. @param spread - public or released, the unit of
 * each column. Absent: the rows are in spreads.
 */
export function distanceCounts(
  runner: KernelRunner, rows: RowBlock, centre: Float64Array, spread?: Float64Array,
): Promise<Float64Array> {
  const { dimension } = rows;
  const unit = spread ?? new Float64Array(dimension).fill(1);
  return distancesOfRows(runner, rows, { centre, unit, edges: squaredEdges(dimension) });
}

/** A released histogram of distances. */
export interface NoisyDistances {
  /** `distanceBins` noisy counts. */
  readonly counts: Float64Array;
  /** Standard deviation of the noise of each. */
  readonly sigma: number;
  readonly dimension: number;
  /** How many rows there are, about: public or released. */
  readonly rows: number;
  /**
   * True if all rows of a bin may be at one distance, as those of a few values are: they then count
   * as if at the far end of their bin. Public or released. Default: they count as if at its middle,
   * but for bins past the fullest one that hold more rows than the bin before, as one rare value
   * makes them.
   */
  readonly isLattice?: boolean;
}

/** How many rows a released histogram has, about: at least a quarter of the plan. */
export function rowsIn(counts: Float64Array, cohort: number): number {
  return Math.max(cohort / 4, counts.reduce((sum, count) => sum + count, 0));
}

/** How far out the rows are, according to a released histogram. */
export interface Distances {
  /** Root mean square distance over the root of the number of columns, about; in spreads. */
  readonly width: number;
  /**
   * e(R): the mean over all rows of how far they reach beyond a ball of this radius, as far as bins
   * stand out from the noise. The mean of clipped rows is at most this far from the mean of all.
   * In spreads. Infinite where rows may be in the open last bin (`openFrom`).
   */
  readonly beyond: (radius: number) => number;
  /**
   * How much more than `beyond` the noise may hide, about, in spreads: the noise of the bins that
   * stand out, and rows past them. These thin out as fast as the bins before do, or as fast as rows
   * that have a variance. Where counts past them are higher than chance makes likely, or the tail
   * before them hardly falls, so many rows are allowed for there (`unseenRows`). Assumption:
   * `assumedOfGroups`.
   */
  readonly hidden: (radius: number) => number;
  /** The mean over all rows of how far they reach beyond `least`, clipped at `radius`. Spreads. */
  readonly added: (least: number, radius: number) => number;
  /** Share of the rows in bins beyond `least`, 0 .. 1. */
  readonly shareBeyond: (least: number) => number;
  /** Standard deviation of the noise of `added` from `least` on, without a limit. Spreads. */
  readonly addedNoise: (least: number) => number;
}

/** A group of so many people far from all others raises the radius, or the allowance. */
export function groupSeenFrom(sigma: number): number {
  return Math.ceil((standOut.apart + hiddenMost) * sigma);
}

/** The assumption behind an interval that was read from such a histogram. */
export function assumedOfGroups(sigma: number): string {
  return `no group of fewer than ${groupSeenFrom(sigma)} people is so far from the others that `
    + 'it decides the mean';
}

/** Where the rows of an answer are. All of it public or released. */
interface PlaceOfRows {
  /** One entry for each column, in data units. */
  readonly middle: Float64Array;
  readonly spread: Float64Array;
  /** Ranges that no value is beyond; null: there are none. */
  readonly bounds: CentreBounds | null;
}

/**
 * The same as a finding of a release: with the two values beyond which such a group would be, of
 * one column; else with the distance, in spreads. None where no interval has both ends, nor where
 * the ball that rows are pulled into holds everybody.
 * @param radius - of this ball, in spreads: beyond it only counts tell who is there.
 */
export function groupsAssumed(
  { low, high }: Interval95, sigma: number, radius: number,
  { middle, spread, bounds }: PlaceOfRows,
): readonly Finding[] {
  if (!low.some((end, j) => Number.isFinite(end) && Number.isFinite(high[j]!))) return [];
  const farthest = bounds === null ? Infinity : Math.hypot(...middle.map((value, j) =>
    Math.max(value - bounds.range.low[j]!, bounds.range.high[j]! - value) / spread[j]!));
  if (farthest <= radius) return [];
  const reason = 'interval-assumes';
  const seenFrom = groupSeenFrom(sigma);
  if (low.length > 1) return [{ reason, columns: [], amounts: [seenFrom, radius] }];
  const amounts =
    [seenFrom, 0, middle[0]! - radius * spread[0]!, middle[0]! + radius * spread[0]!];
  return [{ reason, columns: [0], amounts: amounts.every(Number.isFinite) ? amounts : [] }];
}

/** The same for the plan, as a sentence. */
export function intervalText(sigma: number): string {
  return `stands on this: ${assumedOfGroups(sigma)}. Noise hides such a group; every private method `
    + 'hides some. If you know the smallest and the largest possible value, mean with range and no '
    + 'spread has an interval that stands on the range alone.';
}

/** A bin holds more rows than the one before by so many deviations of its noise. */
const rises = 3;

/** Reads a released histogram. */
export function readDistances(
  { counts, sigma, dimension, rows, isLattice = false }: NoisyDistances,
): Distances {
  const seen = binsThatStandOut(counts, sigma, standOut);
  const last = seen.lastIndexOf(true);
  const mayBeOpen = seen[distanceBins - 1]! || counts[distanceBins - 1]! > openFrom * sigma;
  const middles = Array.from(counts, (_, bin) => distanceEdge(bin, dimension) * pow(2, 1 / 8));
  const fullest = counts.indexOf(Math.max(...counts));
  const places = middles.map((middle, bin) =>
    (isLattice || (bin > fullest && counts[bin]! > counts[bin - 1]! + rises * sigma)
      ? distanceEdge(bin + 1, dimension) : middle));
  const meanOf = (valueOf: (distance: number) => number, at = places): number =>
    Math.max(0, at.reduce((sum, distance, bin) =>
      (bin > 0 && seen[bin]! ? sum + counts[bin]! * valueOf(distance) : sum), 0) / rows);
  // Rows of the first bin are about sqrt(d / 2) from the centre.
  const near = (Math.max(0, counts[0]!) / rows) * (dimension / 2);
  const tail = unseenTail(counts, sigma, last);
  const clusters = unseenRows(counts, sigma, last);
  return {
    width: Math.sqrt((near + meanOf((distance) => distance ** 2, middles)) / dimension),
    beyond: (radius) => (mayBeOpen ? Infinity
      : meanOf((distance) => Math.max(0, distance - radius))),
    hidden: (radius) => {
      const reaches = middles.slice(1, last + 1).map((middle) => Math.max(0, middle - radius));
      const noise = allowedNoise * sigma * (nearReach * radius + Math.hypot(...reaches));
      const past = columnWeight(dimension) * beyondOfTail(tail, dimension, radius);
      const cluster = Math.max(0, ...clusters.map(({ bin, count }) =>
        count * Math.max(0, distanceEdge(bin, dimension) - radius)));
      return (noise + Math.max(past, cluster)) / rows;
    },
    added: (least, radius) =>
      meanOf((distance) => Math.max(0, Math.min(distance, radius) - least)),
    shareBeyond: (least) => meanOf((distance) => Number(distance > least)),
    addedNoise: (least) => (sigma / rows) * Math.hypot(
      ...middles.filter((_, bin) => bin > 0 && seen[bin]!)
        .map((middle) => Math.max(0, middle - least)),
    ),
  };
}

/**
 * Mean square distance per column, in squared spreads, that rows behind a gap do not have if they
 * are honest. It is at most 2 / .8^2 = 3.1: a median is at most one deviation from the mean, a
 * spread that is found at least .8 deviations. The rest is for noise.
 */
const squareMost = 4;

/**
 * The counts without rows far out that honest columns of this spread do not have. They stand behind
 * an octave without rows, and alone they make the columns vary by more than `squareMost`. Rows that
 * are too few to go as a cluster would else pull the radius out as far as its limit allows.
 * @returns the same counts where there are no such rows.
 */
export function possibleCounts({ counts, sigma, dimension, rows }: NoisyDistances): Float64Array {
  const seen = binsThatStandOut(counts, sigma, standOut);
  const gap = seen.findIndex((_, bin) => bin > 0 && !seen.slice(bin, bin + octave).includes(true));
  if (gap < 0) return counts;
  const square = counts.reduce((sum, count, bin) => (bin > gap && seen[bin]!
    ? sum + count * distanceEdge(bin, dimension) ** 2 : sum), 0) / (rows * dimension);
  return square > squareMost ? counts.map((count, bin) => (bin < gap ? count : 0)) : counts;
}

/**
 * The part of a mean that clipping takes in one column, over its part of the distances: tails of
 * many columns partly cancel.
 */
const columnWeight = (dimension: number): number => Math.max(0.5, 1.2 / Math.sqrt(dimension));

/** Rows past the last bin that stands out: a geometric series of octaves of distance. */
interface UnseenTail {
  /** Where the first octave begins: a bin. */
  readonly from: number;
  /** Rows in the first octave, at most. */
  readonly first: number;
  /** Rows of an octave over rows of the one before, at most. */
  readonly ratio: number;
}

function rowsOf(counts: Float64Array, bin: number, bins: number): number {
  return counts.subarray(Math.max(0, bin), Math.max(0, bin + bins))
    .reduce((sum, rows) => sum + rows, 0);
}

/** Rows that may be together past the last bin that stands out. */
interface UnseenRows {
  /** They are where this bin begins. It need not be a whole number. */
  readonly bin: number;
  readonly count: number;
}

/** Bins past the last one that stands out in which rows are looked for. */
const searched = 4 * octave;
/**
 * Stretches of bins hold rows if their count is this many standard deviations of its noise. They
 * end `within` this many bins past the last one that stands out. Where there are no rows, some
 * stretch does in about one histogram of a hundred.
 */
const possible = [
  { bins: 1, least: 3.7, within: searched }, { bins: 2, least: 3.7, within: searched },
  { bins: 4, least: 3.7, within: searched }, { bins: 2 * octave, least: 2.8, within: 3 * octave },
] as const;
/** A tail hardly falls when its last octave holds this share of the mean of the two before. */
const hardlyFalls = 1 / 4;
/** It has not ended when all octaves that are searched hold this share of its last one. */
const notEnded = 1 / 2;

/**
 * Rows that are likely past the last bin that stands out, though no bin there does. Each entry is
 * a stretch of bins: its noisy count, with the noise that is allowed for, at its middle.
 */
function unseenRows(counts: Float64Array, sigma: number, last: number): readonly UnseenRows[] {
  const from = last + 1;
  const found: UnseenRows[] = [];
  const allowed = (bin: number, bins: number): UnseenRows => ({
    bin: bin + bins / 2,
    count: Math.max(0, rowsOf(counts, bin, bins)) + allowedNoise * sigma * Math.sqrt(bins),
  });
  for (const { bins, least, within } of possible) {
    for (let bin = from; bin + bins <= Math.min(counts.length, from + within); bin++) {
      if (rowsOf(counts, bin, bins) > least * sigma * Math.sqrt(bins)) {
        found.push(allowed(bin, bins));
      }
    }
  }
  const past = allowed(from, searched);
  const isOver = past.count <= notEnded * rowsOf(counts, from - octave, octave);
  return !isOver && isSlowTail(counts, sigma, from) ? [...found, past] : found;
}

/**
 * True if the tail that is seen hardly falls, as one without a variance: its end says nothing of
 * the rows past it. All of its last three octaves hold rows.
 */
function isSlowTail(counts: Float64Array, sigma: number, from: number): boolean {
  if (from <= 3 * octave) return false;
  const least = sigma * Math.sqrt(octave);
  const [end, before, first] = [1, 2, 3].map((octaves) =>
    rowsOf(counts, from - octaves * octave, octave));
  return before! > least && first! > least && end! > hardlyFalls * (before! + first!) / 2;
}

/**
 * The tail that may be past the last bin that stands out. The first octave holds no more than its
 * noisy count allows, and no more than the end of the visible tail leads to at the rate at which it
 * falls.
 * @param last - the last bin that stands out, or -1.
 */
function unseenTail(counts: Float64Array, sigma: number, last: number): UnseenTail {
  const noiseOf = (bins: number): number => allowedNoise * sigma * Math.sqrt(bins);
  const from = last + 1;
  const past = Math.max(0, rowsOf(counts, from, octave)) + noiseOf(octave);
  const end = Math.max(1, rowsOf(counts, from - octave, octave));
  // The rate, from the last bins and as many before them. The first bin of all is no octave's part.
  const bins = Math.min(octave, Math.floor(last / 2));
  const before = rowsOf(counts, from - 2 * bins, bins);
  if (before <= 2 * noiseOf(bins)) {
    return { from, first: past, ratio: Math.min(fallsToMost, past / end) };
  }
  const falls =
    pow((Math.max(0, rowsOf(counts, from - bins, bins)) + noiseOf(bins)) / before, octave / bins);
  return {
    from, first: Math.min(past, (end + noiseOf(octave)) * falls),
    ratio: Math.min(fallsToMost, falls),
  };
}

/**
 * The sum over the rows of an unseen tail of how far they are beyond a radius. It ends where less
 * than one row is left.
 */
function beyondOfTail(
  { from, first, ratio }: UnseenTail, dimension: number, radius: number,
): number {
  let sum = 0;
  let middle = distanceEdge(from, dimension) * Math.SQRT2;
  for (let rows = first; rows >= 1; rows *= ratio) {
    sum += rows * Math.max(0, middle - radius);
    middle *= 2;
  }
  return sum;
}

/** The width that is reckoned with: at least one spread, and limited, since rows may be hostile. */
export function usableWidth(width: number): number {
  return Math.min(widthMost, Math.max(1, width));
}

/**
 * The most that rows beyond a radius add to a mean, in spreads. Infinite for 0: nobody is
 * hostile.
 */
export function addedMost(corruption: number, width = widthMost): number {
  return corruption === 0 ? Infinity : usableWidth(width) * Math.sqrt(corruption);
}

/** The options by which a radius is chosen. All of them are public or released. */
export interface RadiusOptions {
  readonly dimension: number;
  /** The smallest radius, in spreads; also the one when nothing stands out beyond it. */
  readonly least: number;
  /** Up to this radius rows are never taken for hostile, in spreads. Default: `least`. */
  readonly trusted?: number;
  /** Noise of the mean for a radius of 1: its expected length, in spreads. */
  readonly noise: number;
  /**
   * Corruption that far rows may belong to. The part that rows beyond `trusted` add stays below
   * width * sqrt(corruption), so hostile rows that spread like a tail pull no farther. 0: no
   * limit.
   */
  readonly corruption: number;
  /**
   * The part that rows beyond `trusted` add stays below this times the root of their share as well,
   * in spreads, while their share is below `corruption`. Default: no such limit.
   */
  readonly farMost?: number;
  /**
   * Part of what noise may hide beyond the ball that counts as cut off, 0 .. 1. Only the trusted
   * radius may follow from it: rows that nobody sees may be hostile. Default: 0.
   */
  readonly hiddenPart?: number;
  /**
   * Only what is cut off for sure counts: that minus this many deviations of its noise. Bins
   * that stand out together have some of noise alone, and far out these are much of the sum.
   * Default: 0.
   */
  readonly doubt?: number;
}

/**
 * The radius that balances the noise, which grows with it, with what clipping hides, which falls.
 * A mean of clipped rows is off by e(R) in one column, and by less when tails of many columns
 * partly cancel. Tries some 700 radii of 45 bins.
 */
export function chooseRadius(
  distances: Distances,
  {
    dimension, least, noise, corruption, trusted = least, farMost = Infinity, hiddenPart = 0,
    doubt = 0,
  }: RadiusOptions,
): number {
  const weight = columnWeight(dimension);
  const far = 2 * distanceEdge(distanceBins - 1, dimension);
  const share = distances.shareBeyond(trusted);
  const most = Math.min(
    addedMost(corruption, distances.width),
    share > 0 && share < corruption ? farMost * Math.sqrt(share) : Infinity,
  );
  let best = least;
  let bestLoss = Infinity;
  for (let step = 0; ; step++) {
    const radius = least * pow(2, step / stepsPerOctave);
    if (radius > far) return best;
    if (radius > trusted && distances.added(trusted, radius) > most) return best;
    const hidden = hiddenPart * distances.hidden(Math.min(radius, trusted));
    const cut = Math.max(0, distances.added(radius, far) - doubt * distances.addedNoise(radius));
    const loss = Math.hypot(noise * radius, weight * cut + hidden);
    if (loss < bestLoss) [best, bestLoss] = [radius, loss];
  }
}
