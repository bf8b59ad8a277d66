import { normalCdf, normalDensity, normalQuantile, normalUpperTail } from '../../numerics/normal.js';

/**
 * What the noisy histogram of rows along one axis says about the honest ones among them: where their middle is, how
 * wide they are, and from where on rows are mostly hostile. A function of released counts: post-processing.
 */

/** Bins of a profile: from -6 to 6, the outermost ones open-ended. */
export const profileBins = 64;
const reach = 6;
const width = (2 * reach) / profileBins;
/**
 * Along an axis nobody nearer to the middle than this many spreads goes. A crowd nearer than that moves the mean of all by
 * little more than the cut's own correction may be off where honest rows are not quite normal.
 */
export const leastCutAlongAxes = 1.2;
/** In distance only what is far out goes: a cut there is about a mean that hostile rows have moved. */
export const leastCutInDistance = 3;
/** A tail that holds so many times what a normal one would is taken for hostile. */
const tailFactor = 1.6;
/** A smaller share of the rows cannot move the middle by much, and honest tails are not exactly normal. */
const leastShare = 5e-4;
const fits = 3;
/** Beyond so many spreads a normal shape is fitted to nothing. */
const shapeReach = 3;
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
  let seen = kept;
  let shape = shapeOf(counts, kept, null);
  for (let pass = 1; pass < fits && shape !== null; pass++) {
    kept = cutTails(counts, noise, leastCut, shape);
    const next = nearOf(kept, shape);
    if (next.from === seen.from && next.to === seen.to) break;
    seen = next;
    shape = shapeOf(counts, seen, shape);
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
    deviation: perRow * Math.hypot((noise * Math.sqrt(seen.to - seen.from)) / 2, Math.sqrt(total) / 2),
  };
}

/** Of the bins kept, those that a normal shape has rows in: the others add noise to its quartiles, and nothing else. */
function nearOf(kept: Kept, { middle, spread }: Shape): Kept {
  const binAt = (entry: number): number => Math.min(profileBins, Math.max(0, Math.round((entry + reach) / width)));
  return {
    from: Math.max(kept.from, binAt(middle - shapeReach * spread)),
    to: Math.min(kept.to, binAt(middle + shapeReach * spread)),
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

/** What noise and chance may add to a stretch of bins, in deviations, before it is taken for hostile. */
const chance = 3.3;

/**
 * The innermost cuts beyond which some stretch of bins holds far more than the shape does, noise allowed for. Stretches
 * of 1, 2, 4, ... bins, since a crowd in few of them would drown in the noise of all, and everything farther out.
 */
function cutTails(counts: Float64Array, noise: number, leastCut: number, shape: Shape): Kept {
  const outwards = firstHostile((step) => counts[step]!, edge, noise, leastCut, shape);
  const mirrored = firstHostile(
    (step) => counts[profileBins - 1 - step]!, (step) => -edge(profileBins - step), noise, leastCut,
    { ...shape, middle: -shape.middle },
  );
  return { from: profileBins - mirrored, to: outwards };
}

/**
 * The first bin, counted from below, at which a stretch upwards is hostile, less the honest bins that it begins with;
 * `profileBins` when there is none.
 */
function firstHostile(
  countOf: (bin: number) => number, edgeOf: (bin: number) => number, noise: number, leastCut: number,
  { middle, spread, total }: Shape,
): number {
  const sums = [0];
  for (let bin = 0; bin < profileBins; bin++) sums.push(sums[bin]! + countOf(bin));
  const beyond = (bin: number): number => normalUpperTail((edgeOf(bin) - middle) / spread);
  const normalIn = (from: number, to: number): number => total * (beyond(from) - (to === profileBins ? 0 : beyond(to)));
  const doubt = (from: number, to: number): number => Math.hypot(noise * Math.sqrt(to - from), Math.sqrt(normalIn(from, to)));
  const isHostile = (from: number, to: number): boolean =>
    sums[to]! - sums[from]! > tailFactor * normalIn(from, to) + leastShare * total + chance * doubt(from, to);
  /** Past the bins between the least cut and a crowd farther out, as long as they hold no more than chance adds. */
  const pastHonest = (from: number, to: number): number => {
    let start = from;
    while (start + 1 < to && isHostile(start + 1, to)
      && sums[start + 1]! - sums[from]! <= normalIn(from, start + 1) + doubt(from, start + 1)) start += 1;
    return start;
  };
  for (let bin = 1; bin < profileBins; bin++) {
    if ((edgeOf(bin) - middle) / spread < leastCut) continue;
    for (let size = 1; bin + size < profileBins; size *= 2) {
      if (isHostile(bin, bin + size)) return pastHonest(bin, bin + size);
    }
    if (isHostile(bin, profileBins)) return pastHonest(bin, profileBins);
  }
  return profileBins;
}
