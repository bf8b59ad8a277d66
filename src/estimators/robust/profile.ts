import { normalCdf, normalDensity, normalQuantile, normalUpperTail } from '../../numerics/normal.js';

/**
 * What the noisy histogram of rows along one axis says about the honest ones among them: where their middle is, how
 * wide they are, and from where on rows are mostly hostile. A function of released counts: post-processing.
 */

/** Bins of a profile: from -6 to 6, the outermost ones open-ended. */
export const profileBins = 64;
const reach = 6;
const width = (2 * reach) / profileBins;
/** Along an axis nobody nearer to the middle than this many spreads goes: honest rows are most of those there. */
export const leastCutAlongAxes = 1.75;
/** In distance only what is far out goes: a cut there is about a mean that hostile rows have moved. */
export const leastCutInDistance = 3;
/** A tail that holds so many times what a normal one would is taken for hostile. */
const tailFactor = 1.6;
/** A smaller share of the rows cannot move the middle by much, and honest tails are not exactly normal. */
const leastShare = 5e-4;
const fits = 3;
const refinements = 8;

/** In the axis' units. */
export interface Profile {
  /** Median of the rows that a normal shape explains. */
  readonly middle: number;
  readonly spread: number;
  /** Rows below go; -Infinity when none. */
  readonly low: number;
  /** Rows from here on go; Infinity when none. */
  readonly high: number;
  /** How far the cut moves the mean of normal rows. */
  readonly shift: number;
  /** Variance of normal rows after the cut, over that before it. */
  readonly kept: number;
  /** Standard deviation of `middle` by noise and sampling. */
  readonly deviation: number;
}

/** The bin of an entry; every number has one. */
export function binOf(entry: number): number {
  return Math.min(profileBins - 1, Math.max(0, Math.floor((entry + reach) / width)));
}

const edge = (bin: number): number => (bin <= 0 ? -Infinity : bin >= profileBins ? Infinity : bin * width - reach);

/** Bins [from, to) that are kept. */
interface Kept {
  readonly from: number;
  readonly to: number;
}

/**
 * Fits a normal shape to the quartiles of what is kept, cuts the tails that hold far more than it would, and fits again.
 * @param counts - noisy, one per bin.
 * @param noise - their standard deviation.
 * @param leastCut - in spreads from the middle.
 * @returns null when the noise hides the shape.
 */
export function profileOf(counts: Float64Array, noise: number, leastCut: number): Profile | null {
  let kept: Kept = { from: 0, to: profileBins };
  let shape = shapeOf(counts, kept, null);
  for (let pass = 1; pass < fits && shape !== null; pass++) {
    const next = cutTails(counts, noise, leastCut, shape);
    if (next.from === kept.from && next.to === kept.to) break;
    kept = next;
    shape = shapeOf(counts, kept, shape);
  }
  if (shape === null) return null;
  const { middle, spread, total } = shape;
  const [low, high] = [edge(kept.from), edge(kept.to)];
  const [a, b] = [(low - middle) / spread, (high - middle) / spread];
  // Noise on how many rows are on either side of the median, and sampling, over the density there.
  const perRow = spread / (normalDensity(0) * total);
  const mass = normalCdf(b) - normalCdf(a);
  const moved = (density(a) - density(b)) / mass;
  return {
    middle, spread, low, high,
    shift: spread * moved,
    kept: 1 + (times(a) - times(b)) / mass - moved ** 2,
    deviation: perRow * Math.hypot((noise * Math.sqrt(profileBins)) / 2, Math.sqrt(total) / 2),
  };
}

const times = (x: number): number => (Number.isFinite(x) ? x * normalDensity(x) : 0);
const density = (x: number): number => (Number.isFinite(x) ? normalDensity(x) : 0);

interface Shape {
  readonly middle: number;
  readonly spread: number;
  /** Rows that the normal shape has in all, tails that were cut included. */
  readonly total: number;
}

/** The normal shape whose quartiles, within the bins kept, are those of the counts. */
function shapeOf(counts: Float64Array, kept: Kept, start: Shape | null): Shape | null {
  const inside = counts.subarray(kept.from, kept.to).reduce((sum, count) => sum + count, 0);
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(counts, kept, share * inside));
  if (!(inside > 0) || !(high! - low! > 0)) return null;
  let [middle, spread] = [start?.middle ?? median!, start?.spread ?? (high! - low!) / (2 * normalQuantile(0.75))];
  const within = (): readonly [number, number] =>
    [normalCdf((edge(kept.from) - middle) / spread), normalCdf((edge(kept.to) - middle) / spread)];
  for (let i = 0; i < refinements; i++) {
    const [below, upTo] = within();
    const at = (share: number): number => normalQuantile(below + share * (upTo - below));
    spread = (high! - low!) / (at(0.75) - at(0.25));
    middle = median! - spread * at(0.5);
  }
  const [below, upTo] = within();
  const total = inside / (upTo - below);
  return Number.isFinite(middle) && spread > 0 && Number.isFinite(total) ? { middle, spread, total } : null;
}

/** Where `target` rows of those kept are reached, rows spread evenly within a bin. */
function quantile(counts: Float64Array, { from, to }: Kept, target: number): number {
  let below = 0;
  for (let bin = from; bin < to; bin++) {
    const count = counts[bin]!;
    if (below + count >= target && count > 0) return bin * width - reach + (width * (target - below)) / count;
    below += count;
  }
  return to * width - reach;
}

/** The innermost cuts beyond which the counts are far more than the shape's, noise allowed for. */
function cutTails(
  counts: Float64Array, noise: number, leastCut: number, { middle, spread, total }: Shape,
): Kept {
  const isHostile = (tail: number, bins: number, distance: number): boolean =>
    tail > tailFactor * total * normalUpperTail(distance) + 3 * noise * Math.sqrt(bins) + leastShare * total;
  let [from, to] = [0, profileBins];
  let tail = 0;
  for (let bin = profileBins - 1; bin > 0; bin--) {
    const distance = (edge(bin) - middle) / spread;
    if (distance < leastCut) break;
    tail += counts[bin]!;
    if (isHostile(tail, profileBins - bin, distance)) to = bin;
  }
  tail = 0;
  for (let bin = 1; bin < profileBins; bin++) {
    const distance = (middle - edge(bin)) / spread;
    if (distance < leastCut) break;
    tail += counts[bin - 1]!;
    if (isHostile(tail, bin, distance)) from = bin;
  }
  return { from, to };
}
