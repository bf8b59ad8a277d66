import {
  normalCdf, normalDensity, normalQuantile, normalUpperTail,
} from '../../numerics/normal.js';

/**
 * Reads from the noisy histogram of rows along one axis facts about the honest rows: their median
 * and their spread, and the thresholds beyond which rows are mostly hostile. A function of released
 * counts, so post-processing.
 */

/** Bins of a projected histogram, from -6 to 6. The outermost bins are open-ended. */
export const histogramBins = 64;
const reach = 6;
const width = (2 * reach) / histogramBins;
/** The edges of the bins, one more than bins. */
const usualEdges = Float64Array.from({ length: histogramBins + 1 }, (_, i) => i * width - reach);
/**
 * Along an axis no row nearer to the median than this many standard deviations is removed. A
 * nearer group moves the mean of all by little more than the error of the threshold's correction
 * where honest rows are not quite normal.
 */
export const leastThresholdAlongAxes = 1.2;
/** Distances are from a mean that hostile rows have moved, so only rows far out are removed. */
export const leastThresholdInDistance = 3;
/** A tail with this many times as many rows as a normal one is considered hostile. */
const tailFactor = 1.6;
/** A smaller share of the rows hardly moves the median, and honest tails are not exactly normal. */
const leastShare = 5e-4;
const fits = 3;
/** A shape as wide as this many bins has a median that a mean can be corrected by. */
const leastFittedBins = 1.5;
const refinements = 8;

/** The normal shape that explains a projected histogram. In the axis' units. */
export interface HistogramFit {
  /** Median of the rows that a normal shape explains. */
  readonly median: number;
  /** Standard deviation of these rows. */
  readonly spread: number;
  /** Rows below are removed; -Infinity when none. */
  readonly low: number;
  /** Rows from here on are removed; Infinity when none. */
  readonly high: number;
  /** How far the thresholds move the mean of normal rows. */
  readonly shift: number;
  /** Variance of normal rows between the thresholds, over that of all of them. */
  readonly kept: number;
  /** Share of normal rows that are not between the thresholds. */
  readonly lost: number;
  /** Standard deviation of `median` by noise and sampling. */
  readonly medianError: number;
  /** True if the bins are narrow enough to correct a mean by the median. */
  readonly isFine: boolean;
}

/** Counts of bins, released. */
interface Histogram {
  readonly counts: Float64Array;
  /** Ascending, one more than counts. The outermost bins are open-ended. */
  readonly edges: Float64Array;
}

/** The bin of an entry; every number has one. */
export function binOf(entry: number): number {
  return Math.min(histogramBins - 1, Math.max(0, Math.floor((entry + reach) / width)));
}

/** The lower end of a bin: of the first one, and past the last one, infinite. */
function edge(edges: Float64Array, bin: number): number {
  if (bin <= 0) return -Infinity;
  return bin >= edges.length - 1 ? Infinity : edges[bin]!;
}

/** Bins [from, to) that are kept. */
interface Kept {
  readonly from: number;
  readonly to: number;
}

/**
 * Fits a normal shape to the quartiles of the bins kept, trims the tails that hold far more than
 * the shape does, and fits again.
 * @param counts - noisy, one per bin.
 * @param noise - their standard deviation.
 * @param leastThreshold - in standard deviations from the median.
 * @param edges - of the bins, ascending. Default: 64 bins of equal width from -6 to 6.
 * @returns null when the noise hides the shape.
 */
export function fitHistogram(
  counts: Float64Array, noise: number, leastThreshold: number,
  edges: Float64Array = usualEdges,
): HistogramFit | null {
  const histogram: Histogram = { counts, edges };
  let kept: Kept = { from: 0, to: counts.length };
  let fitted = kept;
  let shape = shapeOf(histogram, kept, null);
  for (let pass = 1; pass < fits && shape !== null; pass++) {
    kept = trimTails(histogram, noise, leastThreshold, shape);
    const next = nearOf(edges, kept, shape);
    if (next.from === fitted.from && next.to === fitted.to) break;
    fitted = next;
    shape = shapeOf(histogram, fitted, shape);
  }
  if (shape === null) return null;
  const { median, spread, total } = shape;
  const [low, high] = [edge(edges, kept.from), edge(edges, kept.to)];
  const [a, b] = [(low - median) / spread, (high - median) / spread];
  // How many rows are on either side of the median varies by noise and by sampling. Over the
  // density there, that is an error of the median.
  const perRow = spread / (normalDensity(0) * total);
  const noiseOfSide = (noise * Math.sqrt(fitted.to - fitted.from)) / 2;
  const mass = normalCdf(b) - normalCdf(a);
  const moved = (density(a) - density(b)) / mass;
  return {
    median, spread, low, high,
    shift: spread * moved,
    lost: 1 - mass,
    kept: 1 + (times(a) - times(b)) / mass - moved ** 2,
    medianError: perRow * Math.hypot(noiseOfSide, Math.sqrt(total) / 2),
    isFine: spread >= leastFittedBins * widthAt(edges, median),
  };
}

/** The fit leaves out bins that are farther from the median than this many standard deviations. */
const shapeReach = 3;

/** The kept bins in which a normal shape has rows: other bins only add noise to a fit. */
function nearOf(edges: Float64Array, kept: Kept, { median, spread }: Shape): Kept {
  return {
    from: Math.max(kept.from, nearestEdge(edges, median - shapeReach * spread)),
    to: Math.min(kept.to, nearestEdge(edges, median + shapeReach * spread)),
  };
}

function nearestEdge(edges: Float64Array, entry: number): number {
  let bin = 0;
  while (bin + 1 < edges.length && entry >= (edges[bin]! + edges[bin + 1]!) / 2) bin += 1;
  return bin;
}

/** The width of the bin that an entry is in. */
function widthAt(edges: Float64Array, entry: number): number {
  let bin = 0;
  while (bin + 2 < edges.length && entry >= edges[bin + 1]!) bin += 1;
  return edges[bin + 1]! - edges[bin]!;
}

const times = (x: number): number => (Number.isFinite(x) ? x * normalDensity(x) : 0);
const density = (x: number): number => (Number.isFinite(x) ? normalDensity(x) : 0);

interface Shape {
  readonly median: number;
  readonly spread: number;
  /** Rows that the normal shape has in all, trimmed tails included. */
  readonly total: number;
}

/** The normal shape whose quartiles, within the bins kept, are those of the counts. */
function shapeOf(histogram: Histogram, kept: Kept, start: Shape | null): Shape | null {
  const { counts, edges } = histogram;
  const inside = counts.subarray(kept.from, kept.to).reduce((sum, count) => sum + count, 0);
  const quartiles = [0.25, 0.5, 0.75].map((share) => quantile(histogram, kept, share * inside));
  const [low, middle, high] = quartiles as [number, number, number];
  if (!(inside > 0) || !(high - low > 0)) return null;
  let median = start?.median ?? middle;
  let spread = start?.spread ?? (high - low) / (2 * normalQuantile(0.75));
  const within = (): readonly [number, number] => [
    normalCdf((edge(edges, kept.from) - median) / spread),
    normalCdf((edge(edges, kept.to) - median) / spread),
  ];
  for (let i = 0; i < refinements; i++) {
    const [below, upTo] = within();
    const at = (share: number): number => normalQuantile(below + share * (upTo - below));
    spread = (high - low) / (at(0.75) - at(0.25));
    median = middle - spread * at(0.5);
  }
  const [below, upTo] = within();
  const total = inside / (upTo - below);
  const isShape = Number.isFinite(median) && spread > 0 && Number.isFinite(total);
  return isShape ? { median, spread, total } : null;
}

/** Where `target` of the rows kept are reached, with rows even within a bin. */
function quantile({ counts, edges }: Histogram, { from, to }: Kept, target: number): number {
  let below = 0;
  for (let bin = from; bin < to; bin++) {
    const count = counts[bin]!;
    if (below + count >= target && count > 0) {
      return edges[bin]! + ((edges[bin + 1]! - edges[bin]!) * (target - below)) / count;
    }
    below += count;
  }
  return edges[to]!;
}

/** Allowance for noise and chance before bins count as hostile, in standard deviations. */
const chance = 3.3;

/**
 * The innermost thresholds beyond which some run of bins holds far more than the shape does, noise
 * allowed for. Runs are of 1, 2, 4, ... bins, and of all bins farther out: a group in few bins
 * would drown in the noise of all.
 */
function trimTails(
  histogram: Histogram, noise: number, leastThreshold: number, shape: Shape,
): Kept {
  const mirroredHistogram: Histogram = {
    counts: histogram.counts.slice().reverse(),
    edges: histogram.edges.map((entry) => -entry).reverse(),
  };
  const outwards = firstHostile(histogram, noise, leastThreshold, shape);
  const mirrored = firstHostile(
    mirroredHistogram, noise, leastThreshold, { ...shape, median: -shape.median },
  );
  return { from: histogram.counts.length - mirrored, to: outwards };
}

/**
 * The first bin, counted from below, at which a run upwards is hostile, past the honest bins that
 * the run begins with; the number of bins when there is none.
 */
function firstHostile(
  { counts, edges }: Histogram, noise: number, leastThreshold: number,
  { median, spread, total }: Shape,
): number {
  const bins = counts.length;
  const edgeOf = (bin: number): number => edge(edges, bin);
  const sums = [0];
  for (let bin = 0; bin < bins; bin++) sums.push(sums[bin]! + counts[bin]!);
  const countIn = (from: number, to: number): number => sums[to]! - sums[from]!;
  const beyond = (bin: number): number => normalUpperTail((edgeOf(bin) - median) / spread);
  const normalIn = (from: number, to: number): number =>
    total * (beyond(from) - (to === bins ? 0 : beyond(to)));
  const doubt = (from: number, to: number): number =>
    Math.hypot(noise * Math.sqrt(to - from), Math.sqrt(normalIn(from, to)));
  const isHostile = (from: number, to: number): boolean => countIn(from, to)
    > tailFactor * normalIn(from, to) + leastShare * total + chance * doubt(from, to);
  /** The place past bins that hold no more than chance adds, while a group farther out remains. */
  const pastHonest = (from: number, to: number): number => {
    let start = from;
    while (start + 1 < to && isHostile(start + 1, to)
      && countIn(from, start + 1) <= normalIn(from, start + 1) + doubt(from, start + 1)) start += 1;
    return start;
  };
  for (let bin = 1; bin < bins; bin++) {
    if ((edgeOf(bin) - median) / spread < leastThreshold) continue;
    for (let size = 1; bin + size < bins; size *= 2) {
      if (isHostile(bin, bin + size)) return pastHonest(bin, bin + size);
    }
    if (isHostile(bin, bins)) return pastHonest(bin, bins);
  }
  return bins;
}
