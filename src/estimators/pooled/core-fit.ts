import { normalCdf, normalDensity } from '../../numerics/normal.js';
import { chance, isChance, Misses, someStretch, type AxisHistogram } from './misses.js';
import { NormalEquations, varianceAlong } from './normal-equations.js';
import { axisBins, binWidth, runningSums, sumOf } from './valleys.js';

/**
 * The core of the rows along an axis, and the rows that it does not explain, in a released
 * histogram. A function of released counts, so post-processing.
 *
 * A cluster that touches the other rows has no valley before it. But the side of the rows where
 * it is not shows a normal shape by itself, and this shape says how many rows there should be on
 * the other side. What stands there beyond that is the excess.
 */
export interface Core {
  /** Where the shape stands, in units of the axis. */
  readonly mean: number;
  /** Standard deviation of the error of `mean`. */
  readonly unsure: number;
  /** Rows in bins below `low`, and from `high` on, are in excess. */
  readonly low: number;
  readonly high: number;
}

/** Bins past so many widths of the core are not part of the fit. The first that fits is it. */
const cuts = [2, 1.5] as const;
/** Noise and sampling of the fullest bin, relative to its rows: with more no core is fitted ... */
const doubtMost = 0.04;
/** ... and with more than this only by the first cut: skewed rows would look like an excess. */
const doubtMostOfMore = 0.013;
/** Deviations by which bins beyond the cut may hold fewer rows than the core. */
const shortChance = 3.8;
/** How surely rows are in excess. */
interface Sureness {
  /** Deviations that the excess is worth, at least. */
  readonly excess: number;
  /** Deviations by which the last bins before the cut may miss the fit. */
  readonly edge: number;
}
const certain: Sureness = { excess: 4, edge: 2 };
const possible: Sureness = { excess: 2, edge: 4 };
/** An excess is no less and no more than these parts of the stated share. */
const excessShares = { least: 1 / 4, most: 1.5 } as const;
/** Rows are removed no nearer than so many widths of the core ... */
const removeFrom = 1.2;
/** ... and where there are so many times as many as the core has ... */
const removeTimes = 2;
/** ... even in the first of these bins. */
const firstTimes = 1.3;
/** Bins that end so many widths before the core have none of it. */
const outside = 4.5;
/**
 * An excess ends so many bins past the cut, or with the last bin: where it is surest. A cluster
 * that touches the core is in the next few bins, and the noise of the empty ones past it would
 * hide it.
 */
const reaches = [4, 8, 16, axisBins] as const;
/** On the side of the fit, what is beyond so many widths ... */
const farFrom = 2;
/** ... is at most this share of the rows and what noise explains. */
const farShare = 5e-4;
const stepsMost = 25;

/** The lower end of a bin along an axis; the upper end of the one before. */
export function axisEdge(bin: number): number {
  if (bin === 0) return -Infinity;
  return bin === axisBins ? Infinity : (bin - axisBins / 2) * binWidth;
}

/** How far noise and sampling leave the fullest bin open, as a part of its rows. */
function doubtOf({ counts, noise }: AxisHistogram): number {
  const peak = Math.max(1, ...counts);
  return Math.sqrt(noise ** 2 + peak) / peak;
}

/** Where the share `share` of the rows ends. */
export function axisQuantile(counts: Float64Array, share: number): number {
  const sums = runningSums(counts);
  const wanted = share * sums[axisBins]!;
  const bin = Math.max(0, counts.findIndex((_, k) => sums[k + 1]! >= wanted));
  const from = Math.max(axisEdge(bin), axisEdge(1) - binWidth);
  const part = (wanted - sums[bin]!) / Math.max(1, counts[bin]!);
  return from + binWidth * Math.max(0, Math.min(1, part));
}

/** A normal shape. */
interface Shape {
  readonly rows: number;
  readonly mean: number;
  readonly width: number;
}

/** The rows of the shape in each bin, and their slopes by rows, mean and width. */
function binsOf({ rows, mean, width }: Shape): {
  readonly counts: Float64Array; readonly slopes: readonly Float64Array[];
} {
  const at = Array.from({ length: axisBins + 1 }, (_, bin) => (axisEdge(bin) - mean) / width);
  const below = at.map(normalCdf);
  const density = at.map((x) => (Number.isFinite(x) ? normalDensity(x) : 0));
  const moment = at.map((x, bin) => (density[bin] === 0 ? 0 : x * density[bin]!));
  const slopes = Array.from({ length: axisBins }, (_, bin) => Float64Array.of(
    below[bin + 1]! - below[bin]!, (rows * (density[bin]! - density[bin + 1]!)) / width,
    (rows * (moment[bin]! - moment[bin + 1]!)) / width,
  ));
  return { counts: Float64Array.from(slopes, ([share]) => rows * share!), slopes };
}

/** A core of which one side fits. */
interface Fit {
  readonly shape: Shape;
  readonly expected: ReturnType<typeof binsOf>;
  /** That of rows, mean and width. */
  readonly covariance: Float64Array;
  /** The bins that are fitted. */
  readonly from: number;
  readonly to: number;
}

/** The first bin that is fitted, and the first beyond the cut. */
function fittedBins({ mean, width }: Shape, cut: number): [number, number] {
  const bins = Array.from({ length: axisBins }, (_, bin) => bin).filter((bin) =>
    axisEdge(bin + 1) <= mean + cut * width && axisEdge(bin + 1) >= mean - outside * width);
  return [bins[0] ?? 0, (bins.at(-1) ?? -1) + 1];
}

/** Gauss-Newton on the bins of the cut, which moves with the shape; null: it has no end. */
function fitAt(histogram: AxisHistogram, cut: number): Fit | null {
  const { counts, noise, corruption } = histogram;
  const total = sumOf(counts);
  const start = axisQuantile(counts, 0.5 - corruption / 2);
  let shape: Shape = {
    rows: total * (1 - corruption), mean: start,
    width: Math.max(binWidth / 4, start - axisQuantile(counts, 0.16)),
  };
  let fit: Fit | null = null;
  for (let step = 0; step < stepsMost; step++) {
    const expected = binsOf(shape);
    const [from, to] = fittedBins(shape, cut);
    if (to - from < 5) return null;
    const equations = new NormalEquations(3);
    for (let bin = from; bin < to; bin++) {
      const has = expected.counts[bin]!;
      const variance = noise ** 2 + Math.max(1, has);
      equations.add(expected.slopes[bin]!, counts[bin]! - has, 1 / variance);
    }
    const found = equations.solve();
    if (found === null) return null;
    fit = { shape, expected, covariance: found.covariance, from, to };
    const [rows, mean, width] = found.step as unknown as [number, number, number];
    if (Math.abs(mean) < 1e-4 * shape.width && Math.abs(width) < 1e-4 * shape.width) break;
    const part = Math.min(
      1, (0.5 * shape.width) / Math.abs(mean), (0.3 * shape.width) / Math.abs(width),
    );
    shape = {
      rows: Math.max(total / 4, shape.rows + part * rows), mean: shape.mean + part * mean,
      width: Math.max(binWidth / 4, shape.width + part * width),
    };
  }
  return fit;
}

function isGood(
  misses: Misses, histogram: AxisHistogram, { from, to, shape }: Fit, edge: number,
): boolean {
  if (!isChance(misses.square(from, to), to - from - 3)) return false;
  if ([1, 2, 4].some((size) => misses.off(to - size, to) >= edge)) return false;
  const far = Array.from(histogram.counts.keys()).findIndex((bin) =>
    axisEdge(bin + 1) > shape.mean - farFrom * shape.width);
  const { miss, variance } = misses.over(0, far);
  const total = sumOf(histogram.counts);
  return miss <= chance * Math.sqrt(variance) + farShare * total;
}

/** Rows from the cut to a bin that the core does not explain. */
interface Beyond {
  readonly end: number;
  readonly rows: number;
  /** Standard deviation of the error of `rows`, with that of the fit. */
  readonly doubt: number;
}

function beyondCut({ to, expected, covariance }: Fit, misses: Misses, end: number): Beyond {
  const { miss: rows, variance } = misses.over(to, end);
  const slopes = new Float64Array(3);
  for (let bin = to; bin < end; bin++) {
    slopes.forEach((_, k) => (slopes[k]! += expected.slopes[bin]![k]!));
  }
  return { end, rows, doubt: Math.sqrt(variance + varianceAlong(covariance, slopes)) };
}

/** The excess on the high side, and the bin from which on it goes. */
interface Excess {
  readonly shape: Shape;
  readonly unsure: number;
  readonly all: Beyond;
  /** Up to the end by which it is surest. */
  readonly surest: Beyond;
  /** Some bins beyond the cut hold fewer rows than the core. */
  readonly isShort: boolean;
  readonly high: number;
}

function excessOf(histogram: AxisHistogram, cut: number, edge: number): Excess | null {
  const fit = fitAt(histogram, cut);
  if (fit === null) return null;
  const { shape, expected, covariance } = fit;
  const misses = new Misses(histogram, expected.counts);
  if (!isGood(misses, histogram, fit, edge)) return null;
  const tried = reaches.map((reach) =>
    beyondCut(fit, misses, Math.min(axisBins, fit.to + reach)));
  const surest = tried.reduce((best, one) =>
    (one.rows / one.doubt > best.rows / best.doubt ? one : best));
  const unsure = Math.sqrt(varianceAlong(covariance, Float64Array.of(0, 1, 0)));
  return {
    shape, unsure, all: tried.at(-1)!, surest,
    isShort: someStretch([1, 2, 4], fit.to, (from, to) => misses.short(from, to) >= shortChance),
    high: removedFrom(histogram, expected.counts, shape, surest.end),
  };
}

/**
 * The innermost bin from which on, to where the excess ends, the rows are mostly not the core's;
 * `axisBins`: none is.
 */
function removedFrom(
  { counts, noise }: AxisHistogram, expected: Float64Array, { mean, width }: Shape, end: number,
): number {
  let [held, has, from] = [0, 0, axisBins];
  for (let bin = end - 1; axisEdge(bin) >= mean + removeFrom * width; bin--) {
    held += counts[bin]!;
    has += expected[bin]!;
    const least = removeTimes * has + chance * noise * Math.sqrt(end - bin);
    if (held > least && counts[bin]! > firstTimes * expected[bin]!) from = bin;
  }
  return from;
}

function isExcess(
  { all, surest, isShort }: Excess, { counts, corruption }: AxisHistogram, sure: Sureness,
): boolean {
  const hostile = corruption * sumOf(counts);
  return !isShort
    && surest.rows > Math.max(excessShares.least * hostile, sure.excess * surest.doubt)
    && all.rows < excessShares.most * hostile + 3 * all.doubt;
}

/** The excess on the high side by the first cut that fits; null: there is none. */
function highExcess(histogram: AxisHistogram, sure: Sureness): Excess | null {
  const widths = doubtOf(histogram) > doubtMostOfMore ? cuts.slice(0, 1) : cuts;
  for (const cut of widths) {
    const excess = excessOf(histogram, cut, sure.edge);
    if (excess !== null) return isExcess(excess, histogram, sure) ? excess : null;
  }
  return null;
}

/**
 * The core of the rows and where its excess begins: on the side where there is more of it. Null
 * where no normal shape fits, where it explains all rows, or where noise leaves that open.
 */
export function coreOf(histogram: AxisHistogram, sure: Sureness = certain): Core | null {
  if (doubtOf(histogram) > doubtMost) return null;
  const turned = { ...histogram, counts: histogram.counts.slice().reverse() };
  const [right, left] = [highExcess(histogram, sure), highExcess(turned, sure)];
  const isRight = left === null || (right !== null && right.all.rows >= left.all.rows);
  const found = isRight ? right : left;
  if (found === null || found.high === axisBins) return null;
  const { shape: { mean }, unsure, high } = found;
  return isRight ? { mean, unsure, low: 0, high }
    : { mean: -mean, unsure, low: axisBins - high, high: axisBins };
}

/** True if rows may be in excess of a core, though noise leaves it open: a second look tells. */
export function mayHideCore(histogram: AxisHistogram): boolean {
  return coreOf(histogram, possible) !== null;
}
