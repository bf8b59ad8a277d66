import type { RowBlock } from '../../privacy/stages/rows.js';

/**
 * The radius of the clip ball, chosen from a noisy histogram of how far the rows are from a
 * released centre, and what a ball of this radius still cuts off.
 *
 * All functions but `distanceCounts` are functions of released counts and public numbers, so they
 * are post-processing and cost nothing. Never give them true counts: a radius that is chosen from
 * true counts depends on the rows without noise.
 */

/** Bins of the histogram: one below sqrt(columns) scales, then quarter octaves, the last open. */
export const distanceBins = 45;
/** A bin apart from others stands out at this many standard deviations of its noise. */
const apart = 4.5;
/** A bin beside one that stands out does at this many. */
const beside = 2;
/** What the noise may hide: this many of its standard deviations of rows ... */
const hiddenRows = 2.5;
/** ... each this many radii beyond the ball. */
const hiddenReach = 0.8;
/** Radii between two bins that are tried. */
const stepsPerOctave = 16;
/** Limits of `spread` in the limit of what far rows may add. */
const spreadMost = 2.5;

/** The lower end of a bin, in scales. */
export function distanceEdge(bin: number, dimension: number): number {
  return bin === 0 ? 0 : Math.sqrt(dimension) * 2 ** ((bin - 1) / 4);
}

/** Finds the bin of a squared distance, in scales. Every number has one. */
export function distanceBinOf(dimension: number): (square: number) => number {
  const edges = Float64Array.from(
    { length: distanceBins - 1 }, (_, bin) => distanceEdge(bin + 1, dimension) ** 2,
  );
  return (square) => {
    let bin = 0;
    while (bin < edges.length && square >= edges[bin]!) bin += 1;
    return bin;
  };
}

/**
 * The rows in each bin. Rows with a number that is not finite are in none. O(count * dimension).
 *
 * Claim. One row replaced by any other, or by none, or added: the counts move by at most sqrt 2 in
 * L2 (`binsEvent` of pooled/query-events).
 * Why. The bin of a row is a function of this row and of the centre, which is released.
 * @param rows - in scales. @param centre - released, in scales.
 */
export function distanceCounts(
  { count, dimension, values }: RowBlock, centre: Float64Array,
): Float64Array {
  const counts = new Float64Array(distanceBins);
  const binOf = distanceBinOf(dimension);
  for (let row = 0; row < count; row++) {
    let square = 0;
    let isFinite = true;
    for (let j = 0; j < dimension; j++) {
      const entry = values[row * dimension + j]!;
      isFinite &&= Number.isFinite(entry);
      square += (entry - centre[j]!) ** 2;
    }
    if (isFinite) counts[binOf(square)]! += 1;
  }
  return counts;
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
}

/** What a released histogram says of the rows. */
export interface Distances {
  /** Root mean square distance over the root of the number of columns, about; in scales. */
  readonly spread: number;
  /**
   * e(R): the mean over all rows of how far they reach beyond a ball of this radius, as far as bins
   * stand out from the noise. The mean of clipped rows is at most this far from the mean of all.
   * In scales. Infinite when rows stand in the open last bin: nobody knows how far out they are.
   */
  readonly beyond: (radius: number) => number;
  /** How much more than `beyond` the noise may hide, about, in scales. */
  readonly hidden: (radius: number) => number;
  /** The mean over all rows of how far they reach beyond `least`, clipped at `radius`. Scales. */
  readonly added: (least: number, radius: number) => number;
}

/** Reads a released histogram. */
export function readDistances({ counts, sigma, dimension, rows }: NoisyDistances): Distances {
  const seen = binsThatStandOut(counts, sigma);
  const middle = (bin: number): number => distanceEdge(bin, dimension) * 2 ** (1 / 8);
  const meanOf = (valueOf: (distance: number) => number): number => {
    let sum = 0;
    for (let bin = 1; bin < distanceBins; bin++) {
      if (seen[bin]!) sum += counts[bin]! * valueOf(middle(bin));
    }
    return sum / rows;
  };
  // Rows of the first bin are about sqrt(d / 2) from the centre.
  const near = (Math.max(0, counts[0]!) / rows) * (dimension / 2);
  return {
    spread: Math.sqrt((near + meanOf((distance) => distance ** 2)) / dimension),
    beyond: (radius) => (seen[distanceBins - 1]! ? Infinity
      : meanOf((distance) => Math.max(0, distance - radius))),
    hidden: (radius) => (hiddenRows * sigma * hiddenReach * radius) / rows,
    added: (least, radius) =>
      meanOf((distance) => Math.max(0, Math.min(distance, radius) - least)),
  };
}

/** Which bins hold more than noise makes likely. Tails thin out, so neighbours need less. */
function binsThatStandOut(counts: Float64Array, sigma: number): readonly boolean[] {
  const seen = Array.from(counts, (count) => count > apart * sigma);
  const isBeside = (bin: number, neighbour: number): boolean =>
    seen[neighbour] === true && counts[bin]! > beside * sigma;
  for (let bin = 1; bin < seen.length; bin++) seen[bin] ||= isBeside(bin, bin - 1);
  for (let bin = seen.length - 2; bin >= 0; bin--) seen[bin] ||= isBeside(bin, bin + 1);
  return seen;
}

/** The spread that is reckoned with: at least one scale, and limited, since rows may be hostile. */
export function usableSpread(spread: number): number {
  return Math.min(spreadMost, Math.max(1, spread));
}

/**
 * At most this much, in scales, rows beyond a radius add to a mean. Infinite for 0: nobody is
 * hostile.
 */
export function addedMost(corruption: number, spread = spreadMost): number {
  return corruption === 0 ? Infinity : usableSpread(spread) * Math.sqrt(corruption);
}

/** What a radius is chosen by. All of it public or released. */
export interface RadiusOptions {
  readonly dimension: number;
  /** The smallest radius, in scales; also the one when nothing stands out beyond it. */
  readonly least: number;
  /** Up to this radius rows are never taken for hostile, in scales. Default: `least`. */
  readonly trusted?: number;
  /** Noise of the mean for a radius of 1: its expected length, in scales. */
  readonly noise: number;
  /**
   * Hostile share that far rows may belong to. What rows beyond `trusted` add stays below spread *
   * sqrt(corruption), so hostile rows that spread like a tail pull no farther. 0: no limit.
   */
  readonly corruption: number;
}

/**
 * The radius that balances the noise, which grows with it, with what clipping hides, which falls.
 * A mean of clipped rows is off by e(R) in one column, and by less when tails of many columns
 * partly cancel. Tries some 700 radii of 45 bins.
 */
export function chooseRadius(
  distances: Distances,
  { dimension, least, noise, corruption, trusted = least }: RadiusOptions,
): number {
  const weight = Math.max(0.5, 1.2 / Math.sqrt(dimension));
  const most = addedMost(corruption, distances.spread);
  const far = 2 * distanceEdge(distanceBins - 1, dimension);
  let best = least;
  let bestLoss = Infinity;
  for (let step = 0; ; step++) {
    const radius = least * 2 ** (step / stepsPerOctave);
    if (radius > far) return best;
    if (radius > trusted && distances.added(trusted, radius) > most) return best;
    const loss = Math.hypot(noise * radius, weight * distances.added(radius, far));
    if (loss < bestLoss) [best, bestLoss] = [radius, loss];
  }
}
