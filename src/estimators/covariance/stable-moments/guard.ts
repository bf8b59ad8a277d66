import { pow } from '../../../base/elementary.js';
import type { Sensitive } from '../../../base/brands.js';
import type { Draws } from '../../pooled/centre.js';
import { removeOutside, type EntryOf, type LeftRows } from '../../pooled/thresholds.js';
import { featureCount } from '../moments/features.js';
import type { Preconditioner } from '../moments/preconditioner.js';
import { quarticAxes } from '../moments/quartic.js';
import { imagesOf, type StandardisedRows } from '../moments/standardised.js';
import { axisBins, binWidth } from '../../pooled/valleys.js';
import { clusterStart, distanceBins, quantileOf, seenReach, tailCap } from './clusters.js';
import { evenWidths } from './even-widths.js';
import type { GuardDesign, GuardRound } from './guard-design.js';
import { histogramOfDistance, histogramsAlong, type Histogram } from './histograms.js';
import { pulledIn, sumOf, type TailRows } from './sums.js';
import { tensorOf } from './tensors.js';

/**
 * Limits what hostile rows can do, by released numbers alone.
 *
 * Claim. The cost of the events of `design`, composed adaptively.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. The map, axes, thresholds and caps are functions of released numbers. Whether a row is left
 * and what it is mapped to depends on this row and on them alone, so that neighbours that see the
 * same releases differ in one row.
 *
 * 1. A map after which the middle 70 % of the rows are equally wide in every direction. Second
 *    moments would be made large by a few far rows, which would then look near.
 * 2. Two rounds: axes along which fourth moments are large, histograms along them and of the
 *    distance, and removal of clusters that stand apart there.
 * 3. Caps. Along each axis, and by distance, rows farther out than a cap are pulled in to it. It
 *    makes the mean of powers of order 2 k, by the histogram, at most tails^2 times that of normal
 *    rows.
 *
 * Promise. Let k be the highest order, B = tails^2 E N^2k for one normal number N, and a the
 * corruption of the rows left. The hostile rows move the mean of (u . z)^k along each axis u by
 * at most sqrt(a / (1 - a) B). They move the whole mean of z x ... x z by at most the same with
 * tails^2 E |z|^2k of normal rows for B. Both hold up to the noise of the histograms, and no cap is
 * nearer than 2, at which rows count for little.
 * Why. Let f be a function of the rows, m its mean over all that are left, and h over the honest
 * ones of these. The hostile ones then have the mean m + (m - h) (1 - a) / a, so that
 * Var f >= (1 - a) / a (m - h)^2, and Var f <= mean of f^2 <= B. Pulling in multiplies a row by a
 * number below 1, so a cap that is set keeps holding.
 * The honest rows lose little. Let b be the mean of f^2 over honest rows, at most B / 2. A cap c
 * is as large as B allows, so a c^2k is about B - b or more. By (x - y)+ <= x^2 / (4 y) they lose
 * at most b / (4 c^k) <= sqrt(a B / 2) / 4 along the axis. A cluster that is removed has at most
 * 1.5 times the stated share of the rows, so honest ones among them are as few.
 */
export interface Guarded {
  /** Rows that are left, after the map and the caps. */
  readonly images: Sensitive<TailRows>;
  readonly inverse: Float64Array;
  /** Rows are within this distance. */
  readonly radius: number;
}

export interface GuardRun extends Draws {
  readonly design: GuardDesign;
  readonly dimension: number;
  /** The highest that is answered. */
  readonly order: number;
  /** No row counts as farther out. */
  readonly radius: number;
  /** Released number of rows. */
  readonly present: number;
}

/** No row nearer than this is pulled in by its distance. */
export function leastReach(dimension: number): number {
  return Math.sqrt(dimension) + 1;
}

/** Draws the events of the guard. */
export async function guard(
  run: GuardRun, rows: Sensitive<StandardisedRows>, map: Preconditioner,
): Promise<Guarded> {
  const { design, dimension } = run;
  const { matrix, inverse } = evenWidths(run, design.widths, rows, map, dimension);
  const images = rows.map((all): TailRows =>
    ({ ...imagesOf(all, matrix), pulled: new Uint8Array(all.count) }));
  let { radius } = run;
  for (const [t, round] of design.rounds.entries()) {
    const axes = await axesOfTails(run, round, images);
    const along = histogramsAlong(run, round.histograms, images, axes);
    const distance = histogramOfDistance(run, round.distance, images, dimension);
    for (const histogram of along) removeClustersAlong(run, images, histogram);
    removeClusterOutside(run, images, distance);
    if (t < design.rounds.length - 1) continue;
    for (const histogram of along) pullInAlong(run, images, histogram);
    radius = pullInFar(run, images, distance);
  }
  return { images, inverse, radius };
}

/** Axes along which fourth moments are large, from a release of them. */
async function axesOfTails(
  run: GuardRun, { fourth }: GuardRound, images: Sensitive<LeftRows>,
): Promise<readonly Float64Array[]> {
  const { dimension } = run;
  const near = images.map((all) => pulledIn(all, pow(fourth.ball.radius, 1 / 4), 1));
  const sum = await sumOf(fourth, near, run);
  const tensor = tensorOf(sum.value.map((entry) => entry / run.present), fourth.space);
  return quarticAxes(asMatrix(tensor, dimension), dimension, run.design.axes);
}

/** A tensor of order 4 as a matrix on features of symmetric matrices (moments/features). */
function asMatrix(tensor: Float64Array, dimension: number): Float64Array {
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) pairs.push([i, j]);
  }
  const size = featureCount(dimension);
  return Float64Array.from({ length: size ** 2 }, (_, at) => {
    const [[i, j], [k, l]] = [pairs[Math.floor(at / size)]!, pairs[at % size]!];
    const weight = (i === j ? 1 : Math.SQRT2) * (k === l ? 1 : Math.SQRT2);
    return weight * tensor[((i * dimension + j) * dimension + k) * dimension + l]!;
  });
}

/** Clusters nearer to the median are not removed: honest rows may have two modes. */
const clusterLeast = 1.2;

/** Removes clusters on either side, from the rows and from the counts. */
function removeClustersAlong(
  { design: { corruption } }: GuardRun, images: Sensitive<LeftRows>,
  { entryOf, counts, noise }: Histogram,
): void {
  const judgement = { noise, corruption };
  const median = quantileOf(counts, 0.5);
  const least = clusterLeast / binWidth;
  const above = clusterStart(counts, Math.ceil(median + least), judgement);
  const below = axisBins
    - clusterStart(counts.toReversed(), Math.ceil(axisBins - median + least), judgement);
  counts.fill(0, above);
  counts.fill(0, 0, below);
  const edge = (bin: number): number => (bin - axisBins / 2) * binWidth;
  removeOutside(
    images, entryOf, below > 0 ? edge(below) : -Infinity, above < axisBins ? edge(above) : Infinity,
  );
}

/** The same by the distance. */
function removeClusterOutside(
  { design: { corruption }, dimension }: GuardRun, images: Sensitive<LeftRows>,
  { entryOf, counts, noise }: Histogram,
): void {
  const from = clusterStart(
    counts, Math.ceil(Math.sqrt(dimension) / binWidth), { noise, corruption },
  );
  counts.fill(0, from);
  if (from < distanceBins) removeOutside(images, entryOf, -Infinity, from * binWidth);
}

/** No row nearer than this along an axis is pulled in. */
const capLeast = 2;

function pullInAlong(
  { design: { tails }, order, radius }: GuardRun, images: Sensitive<TailRows>,
  { entryOf, counts, noise }: Histogram,
): void {
  const half = axisBins / 2;
  const folded = Float64Array.from({ length: half }, (_, bin) =>
    counts[half + bin]! + counts[half - 1 - bin]!);
  const bound = tails ** 2 * normalPower(1, order);
  const cap = tailCap(
    folded, Math.SQRT2 * noise, { order, bound, least: capLeast, most: radius },
  );
  images.map((rows) => { pullIn(rows, entryOf, cap); });
}

/** Returns the distance within which rows are then. */
function pullInFar(
  { design: { tails }, dimension, order, radius }: GuardRun, images: Sensitive<TailRows>,
  { entryOf, counts, noise }: Histogram,
): number {
  const least = leastReach(dimension);
  const cap = tailCap(counts, noise, {
    order, bound: tails ** 2 * normalPower(dimension, order), least,
    most: Math.min(radius, Math.max(least, seenReach(counts, noise))),
  });
  images.map((rows) => { pullIn(rows, entryOf, cap); });
  return cap;
}

/** E |z|^2k of normal rows of covariance I. */
export function normalPower(dimension: number, order: number): number {
  let power = 1;
  for (let i = 0; i < order; i++) power *= dimension + 2 * i;
  return power;
}

/** Multiplies rows whose entry is beyond the cap by a number below 1, and marks them. */
function pullIn(
  { count, dimension, steps, pulled }: TailRows, entryOf: EntryOf, cap: number,
): void {
  for (let i = 0; i < count; i++) {
    const offset = i * dimension;
    const entry = Math.abs(entryOf(steps, offset));
    if (!(entry > cap)) continue;
    pulled[i] = 1;
    for (let j = 0; j < dimension; j++) steps[offset + j]! *= cap / entry;
  }
}
