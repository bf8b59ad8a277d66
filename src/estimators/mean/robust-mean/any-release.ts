import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { privateDiscreteColumns } from '../../../privacy/stages/equal-pairs.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { noiseOfSquare, type AnyDesign } from './any-design.js';
import { answerOfAny, type RowsApart } from './any-answer.js';
import { distanceBins, distanceEdge } from '../../pooled/radius.js';
import { axisBins, clusterShares } from '../../pooled/valleys.js';
import {
  clusterAbove, clusterBelow, clusterInColumn, mayHideAbove, type ClusterLimits,
} from './clusters.js';
import { releaseDirections, timesTransposed } from './directions.js';
import {
  axisCounts, distanceCounts, removeAlong, removeBeyond, rowsApart, sumOfRows, takeBack,
  type Frame, type MappedRows,
} from './mapped.js';
import { releaseRounds } from './moment-rounds.js';
import { findRadius, radiusApart, type FoundRadius } from './radius.js';
import { combined, drawReallocated, type NoisySums } from './reallocation.js';

/** The design of a release of rows of any shape, and the tools with which it draws. */
export interface AnyRun extends Draws {
  readonly design: AnyDesign;
}

/**
 * Draws every event after the centre: rounds of moments, directions, histograms along them, the
 * histogram of the distances, and the mean of the rows left.
 *
 * Claim. (rho, delta) of the plan's events, composed adaptively.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. Whether a row is left at any time, and what it is mapped to, are functions of this row and
 * of numbers released before. Two neighbouring sets, given the same releases, differ in one row
 * at most, so every event moves by at most its sensitivity (any-design, mapped). Frame, axes,
 * thresholds and radius are functions of released numbers, and so is which events are drawn.
 * Events that were not drawn carry sums of the rows left, within their sensitivities
 * (reallocation), once at most. The answer, its intervals and its findings are post-processing.
 */
export async function releaseAny(run: AnyRun, found: CentredPool): Promise<Released<Outcome>> {
  const { design } = run;
  const { facts, corruption } = design;
  const { dimension } = facts;
  const rounds = await releaseRounds(run, found);
  const { rows, frame } = rounds;
  const directions = releaseDirections(run, found, rounds);
  const seen = rounds.present ?? facts.cohort;
  const discrete = new DiscreteColumns(run, found, seen);
  const clusters = new Clusters(design.corruption, rows);
  const spare =
    await removeAlongAxes(run, clusters, discrete, rows, frame, directions.axes, seen);
  const distances = await removeFar(run, clusters, discrete, rows, spare);
  const { isApart } = clusters;
  const radius = findRadius({
    counts: distances.counts, noise: distances.noise, dimension, corruption,
    cohort: facts.cohort, sigma: design.sum.sigma, radius: design.radius,
    isApart,
  });
  const unused = [
    ...rounds.unused.flatMap(({ sum, square }) => [sum, square]), ...directions.unused,
    ...spare, ...discrete.unused, ...isApart ? [] : [design.apart],
  ];
  const { total, count } = drawMean(run, rows, radius, unused);
  const allRows = Math.max(facts.cohort / 4, rounds.present ?? distances.rows);
  const apart = isApart ? drawApart(run, rows, distances.apart, allRows) : null;
  return count.map(([present = 0]) => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const excess = design.rounds.length === 0
      ? 0 : 3 * noiseOfSquare(design.rounds[0]!.square, seen);
    return answerOfAny({
      design, found, frame, radius, total, present, directions,
      covariance: rounds.covariance, excessMax: excess, apart, hasUndone: clusters.hasUndone,
    });
  });
}

const sumOf = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0);

/** Along these axes discrete columns make more than this share: their gaps look like valleys. */
const discreteMax = 0.3;

function limitsOf(
  rows: number, corruption: number, noise: number, openAfter: number,
): ClusterLimits {
  const hostile = corruption * rows;
  const { most, least } = clusterShares;
  return { noise, openAfter, most: most * hostile, least: least * hostile };
}

/** Released counts of distances. */
interface FoundDistances {
  /** Counts of the rows left. */
  readonly counts: Float64Array;
  /** Counts of the rows left out. */
  readonly apart: Float64Array;
  /** Standard deviation of the noise of a count of the rows left. */
  readonly noise: number;
  /** Number of rows before the far ones went. */
  readonly rows: number;
}

/**
 * Bounds the rows left out, so that it is never more than the stated share explains: the rows of
 * all clusters, along every axis and by distance, are at most as many as those of one may be. Where
 * they are more, at least a third of them is honest, so honest rows have clusters of their own, and
 * which ones those are nobody can tell: all rows are taken back. Hostile rows can bring this about
 * only where honest ones have a cluster already. Everything it knows is released, and a row that is
 * taken back is left as it was at first: whether it is left stays a function of this row and of
 * releases.
 */
class Clusters {
  #gone = 0;
  /** Variance of its noise. */
  #variance = 0;
  hasUndone = false;

  constructor(private readonly corruption: number, private readonly rows: Sensitive<MappedRows>) {}

  get isApart(): boolean {
    return this.#gone > 0;
  }

  /**
   * True if the cluster in these bins may go as well; if not, all that went before is back.
   * @param whole - the noisy number of all rows.
   */
  allows(counts: Float64Array, noise: number, whole: number): boolean {
    const gone = this.#gone + Math.max(1, sumOf(counts));
    const variance = this.#variance + counts.length * noise ** 2;
    if (gone > clusterShares.most * this.corruption * whole + chance * Math.sqrt(variance)) {
      this.rows.map(takeBack);
      [this.#gone, this.#variance, this.hasUndone] = [0, 0, true];
      return false;
    }
    [this.#gone, this.#variance] = [gone, variance];
    return true;
  }
}

/** Standard deviations that noise may add to the rows of all clusters. */
const chance = 3;

/** Which columns are discrete, as far as it is known. */
class DiscreteColumns {
  #drawn: readonly boolean[] | null = null;

  constructor(
    private readonly run: AnyRun, private readonly found: CentredPool,
    private readonly present: number,
  ) {}

  get known(): readonly boolean[] {
    return this.#drawn ?? this.found.columns.discrete;
  }

  /** Nothing was asked that would have needed it. */
  get unused(): readonly GaussianEvent[] {
    const { equal } = this.run.design;
    return equal === null || this.#drawn !== null ? [] : [equal];
  }

  /** Draws which columns are discrete, once. */
  async drawn(): Promise<readonly boolean[]> {
    const { compute, mechanisms, design: { equal, facts } } = this.run;
    if (equal === null) return this.known;
    return this.#drawn ??= (await privateDiscreteColumns(
      compute, mechanisms, this.found.pool, equal,
      { contributors: facts.cohort, present: this.present },
    )).value;
  }
}

/**
 * Draws a histogram along each axis, and removes the clusters that stand apart there, unless they
 * are too many.
 * @returns the events that were not needed.
 */
async function removeAlongAxes(
  { design, mechanisms }: AnyRun, clusters: Clusters, discrete: DiscreteColumns,
  rows: Sensitive<MappedRows>, frame: Frame, axes: readonly Float64Array[], present: number,
): Promise<GaussianEvent[]> {
  if (design.corruption === 0) return [...design.axes];
  const isAlong = (axis: Float64Array, columns: readonly boolean[]): boolean =>
    discreteShare(timesTransposed(frame.map, axis), columns) > discreteMax;
  const looked = axes.filter((axis) => !isAlong(axis, discrete.known))
    .slice(0, design.axes.length);
  let drawn = 0;
  for (const axis of looked) {
    const event = design.axes[drawn]!;
    drawn += 1;
    const counts = mechanisms.gaussian(event.name, rows.map((left) => axisCounts(left, axis)));
    const limits = limitsOf(present, design.corruption, event.sigma, axisBins / 4);
    const find = axis.length === 1 ? clusterInColumn : clusterAbove;
    const high = find(counts.value, limits) ?? axisBins;
    const low = clusterBelow(counts.value, limits, find) ?? 0;
    if (low === 0 && high === axisBins) continue;
    if (isAlong(axis, await discrete.drawn())) continue;
    const behind = behindAll(counts.value, limits, { low, high }, present);
    if (!clusters.allows(behind, event.sigma, present)) break;
    rows.map((left) => removeAlong(left, axis, low, high));
  }
  return design.axes.slice(drawn);
}

/**
 * The counts of a cluster, with all rows behind an inner valley of the same side, if there is one.
 * A cluster of more rows than may be hostile is honest, and so may be the one that stands behind
 * it.
 */
function behindAll(
  counts: Float64Array, limits: ClusterLimits,
  { low, high }: { readonly low: number; readonly high: number }, present: number,
): Float64Array {
  const any = { ...limits, most: present / 2 };
  const from = high === axisBins ? high : Math.min(high, clusterAbove(counts, any) ?? high);
  const below = low === 0 ? low : Math.max(low, clusterBelow(counts, any) ?? low);
  return counts.filter((_, bin) => bin < below || bin >= from);
}

function discreteShare(axis: Float64Array, discrete: readonly boolean[]): number {
  const square = (entry: number): number => entry * entry;
  const of = axis.reduce((sum, entry, j) => sum + (discrete[j] === true ? square(entry) : 0), 0);
  return of / axis.reduce((sum, entry) => sum + square(entry), 0);
}

/**
 * Draws the histogram of the distances, and removes the cluster that stands far out. Where it is
 * one too many, it is looked for once more among all rows.
 * @param spare - events of axes that nobody asked for; those that are drawn here are taken out.
 */
async function removeFar(
  run: AnyRun, clusters: Clusters, discrete: DiscreteColumns, rows: Sensitive<MappedRows>,
  spare: GaussianEvent[],
): Promise<FoundDistances> {
  const { corruption, distance: event, facts: { dimension } } = run.design;
  const first = run.mechanisms.gaussian(event.name, rows.map(distanceCounts)).value;
  let apart = first.slice(distanceBins);
  let { sums: counts, sigma: noise } = lookAgain(
    run, rows, { sums: first.slice(0, distanceBins), sigma: event.sigma }, spare,
  );
  const whole = sumOf(counts) + sumOf(apart);
  if (corruption === 0) return { counts, apart, noise, rows: sumOf(counts) };
  let high = await farCluster(counts, noise, corruption, dimension, discrete);
  if (high !== null && !clusters.allows(counts.slice(high), noise, whole)) {
    counts = counts.map((count, bin) => count + apart[bin]!);
    apart = new Float64Array(distanceBins);
    noise = Math.hypot(noise, event.sigma);
    for (const part of farther) {
      high = await farCluster(counts, noise, part * corruption, dimension, discrete);
      if (high === null || clusters.allows(counts.slice(high), noise, whole)) break;
      high = null;
    }
  }
  if (high === null) return { counts, apart, noise, rows: sumOf(counts) };
  const from = high;
  rows.map((left) => removeBeyond(left, from));
  return {
    counts: counts.map((count, bin) => (bin < from ? count : 0)),
    apart: apart.map((count, bin) => (bin < from ? count : count + counts[bin]!)),
    noise, rows: sumOf(counts),
  };
}

/**
 * Draws the distances of the rows left once more, on the events of axes that nobody asked for, as
 * long as noise leaves open whether a cluster stands far out. Whether to draw is a function of
 * released counts, and an axis' event has the sensitivity of any histogram of rows.
 */
function lookAgain(
  { design: { corruption }, mechanisms }: AnyRun, rows: Sensitive<MappedRows>, first: NoisySums,
  spare: GaussianEvent[],
): NoisySums {
  let counts = first;
  while (mayHideAbove(counts.sums, limitsOf(sumOf(counts.sums), corruption, counts.sigma, 0))) {
    const event = spare.pop();
    if (event === undefined) break;
    const { value } = mechanisms.gaussian(event.name, rows.map((left) => {
      const bins = new Float64Array(event.dimension);
      bins.set(distanceCounts(left).subarray(0, distanceBins));
      return bins;
    }));
    counts = combined([counts, { sums: value.slice(0, distanceBins), sigma: event.sigma }]);
  }
  return counts;
}

/** Parts of the stated share: a cluster of fewer rows begins farther out. */
const farther = [1, 0.8, 0.65];

/**
 * With one column the distances are its axis once more, in bins that widen outwards: values on a
 * lattice show valleys there that the axis does not have. So they are asked only past its bins.
 */
const axisEnd = 6;

/** The bin of the distance from which on a cluster stands far out; null where there is none. */
async function farCluster(
  counts: Float64Array, noise: number, corruption: number, dimension: number,
  discrete: DiscreteColumns,
): Promise<number | null> {
  const high = clusterAbove(counts, limitsOf(sumOf(counts), corruption, noise, 0));
  if (high === null || high >= distanceBins) return null;
  if (dimension === 1 && distanceEdge(high, 1) < axisEnd) return null;
  // With a discrete column honest rows may have a cluster. One of that many rows stands no farther
  // out than this, or the columns would vary by more than their spread.
  const farthest = (await discrete.drawn()).includes(true)
    ? Math.sqrt(dimension / (clusterShares.least * corruption)) : 0;
  return distanceEdge(high, dimension) < farthest ? null : high;
}

/** Draws the sum of the rows left, on every event that is free for it, and their number. */
function drawMean(
  { design, mechanisms }: AnyRun, rows: Sensitive<MappedRows>, { radius }: FoundRadius,
  unused: readonly (GaussianEvent | SymmetricGaussianEvent)[],
): { readonly total: NoisySums; readonly count: Released<Float64Array> } {
  const { unitBall, facts: { dimension } } = design;
  const sums = rows.map((left) => sumOfRows(left, unitBall, radius));
  const drawn = [design.sum, ...unused].flatMap((event) =>
    drawReallocated(event, mechanisms, sums, unitBall, dimension) ?? []);
  const count = mechanisms.gaussian(design.count.name, rows.map(({ alive }) =>
    Float64Array.of(alive.reduce((sum, one) => sum + one, 0))));
  return { total: combined(drawn), count };
}

/** Draws the sum of the rows left out, in a ball of their own. */
function drawApart(
  { design, mechanisms }: AnyRun, rows: Sensitive<MappedRows>, counts: Float64Array,
  allRows: number,
): RowsApart {
  const { unitBall, apart: event, distance, facts: { dimension } } = design;
  const found = radiusApart(
    { counts, noise: distance.sigma, dimension, sigma: event.sigma }, allRows,
  );
  const { value: sums } = mechanisms.gaussian(event.name, rows.map((whole) =>
    sumOfRows(rowsApart(whole), unitBall, found.radius).map((steps) => steps * unitBall.grid)));
  return { ...found, allRows, sums, sigma: event.sigma };
}
