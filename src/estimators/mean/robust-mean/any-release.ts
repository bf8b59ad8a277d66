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
import { axisBins, crowdShares } from '../../pooled/valleys.js';
import { crowdAbove, crowdBelow, type CrowdLimits } from './crowds.js';
import { releaseDirections, timesTransposed } from './directions.js';
import {
  axisCounts, distanceCounts, removeAlong, removeBeyond, rowsApart, sumOfRows, type Frame,
  type MappedRows,
} from './mapped.js';
import { releaseRounds } from './moment-rounds.js';
import { findRadius, radiusApart, type FoundRadius } from './radius.js';
import { combined, drawReallocated, type NoisySums } from './reallocation.js';

/** What a release of rows of any shape draws with. */
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
  const unusedAxes = await removeAlongAxes(run, discrete, rows, frame, directions.axes, seen);
  const distances = await removeFar(run, discrete, rows);
  const isApart = unusedAxes.hasRemoved || distances.hasRemoved;
  const radius = findRadius({
    counts: distances.counts, noise: design.distance.sigma, dimension, corruption,
    cohort: facts.cohort, sigma: design.sum.sigma, radius: design.radius,
    isApart,
  });
  const unused = [
    ...rounds.unused.flatMap(({ sum, square }) => [sum, square]), ...directions.unused,
    ...unusedAxes.events, ...discrete.unused, ...isApart ? [] : [design.apart],
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
      covariance: rounds.covariance, excessMax: excess, apart,
    });
  });
}

/** Along these axes discrete columns make more than this share: their gaps look like valleys. */
const discreteMax = 0.3;

function limitsOf(rows: number, corruption: number, noise: number, openAfter: number): CrowdLimits {
  const hostile = corruption * rows;
  return { noise, openAfter, most: crowdShares.most * hostile, least: crowdShares.least * hostile };
}

/** Released counts of distances. */
interface FoundDistances {
  /** Of the rows left. */
  readonly counts: Float64Array;
  /** Of the rows left out. */
  readonly apart: Float64Array;
  /** Number of rows before the far ones went. */
  readonly rows: number;
  readonly hasRemoved: boolean;
}

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

  /** Draws what a crowd may be made of, once. */
  async drawn(): Promise<readonly boolean[]> {
    const { compute, mechanisms, design: { equal, facts } } = this.run;
    if (equal === null) return this.known;
    return this.#drawn ??= (await privateDiscreteColumns(
      compute, mechanisms, this.found.pool, equal,
      { contributors: facts.cohort, present: this.present },
    )).value;
  }
}

/** Draws a histogram along each axis, and removes the crowds that stand apart there. */
async function removeAlongAxes(
  { design, mechanisms }: AnyRun, discrete: DiscreteColumns, rows: Sensitive<MappedRows>,
  frame: Frame, axes: readonly Float64Array[], present: number,
): Promise<{ readonly events: readonly GaussianEvent[]; readonly hasRemoved: boolean }> {
  if (design.corruption === 0) return { events: design.axes, hasRemoved: false };
  const isAlong = (axis: Float64Array, columns: readonly boolean[]): boolean =>
    discreteShare(timesTransposed(frame.map, axis), columns) > discreteMax;
  const looked = axes.filter((axis) => !isAlong(axis, discrete.known))
    .slice(0, design.axes.length);
  let hasRemoved = false;
  for (const [k, axis] of looked.entries()) {
    const event = design.axes[k]!;
    const counts = mechanisms.gaussian(event.name, rows.map((left) => axisCounts(left, axis)));
    const limits = limitsOf(present, design.corruption, event.sigma, axisBins / 4);
    const high = crowdAbove(counts.value, limits) ?? axisBins;
    const low = crowdBelow(counts.value, limits) ?? 0;
    if (low === 0 && high === axisBins) continue;
    if (isAlong(axis, await discrete.drawn())) continue;
    hasRemoved = true;
    rows.map((left) => removeAlong(left, axis, low, high));
  }
  return { events: design.axes.slice(looked.length), hasRemoved };
}

function discreteShare(axis: Float64Array, discrete: readonly boolean[]): number {
  const square = (entry: number): number => entry * entry;
  const of = axis.reduce((sum, entry, j) => sum + (discrete[j] === true ? square(entry) : 0), 0);
  return of / axis.reduce((sum, entry) => sum + square(entry), 0);
}

/** Draws the histogram of the distances, and removes the crowd that stands far out. */
async function removeFar(
  { design, mechanisms }: AnyRun, discrete: DiscreteColumns, rows: Sensitive<MappedRows>,
): Promise<FoundDistances> {
  const { corruption, distance: event, facts: { dimension } } = design;
  const drawn = mechanisms.gaussian(event.name, rows.map(distanceCounts)).value;
  const counts = drawn.slice(0, distanceBins);
  const apart = drawn.slice(distanceBins);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (corruption === 0) return { counts, apart, rows: total, hasRemoved: false };
  const high = crowdAbove(counts, limitsOf(total, corruption, event.sigma, 0));
  const columns = high === null ? discrete.known : await discrete.drawn();
  // With a discrete column honest rows may have a crowd. One of that many rows stands no farther
  // out than this, or the columns would vary by more than their scale.
  const farthest = columns.includes(true)
    ? Math.sqrt(dimension / (crowdShares.least * corruption)) : 0;
  if (high === null || high >= distanceBins || distanceEdge(high, dimension) < farthest) {
    return { counts, apart, rows: total, hasRemoved: false };
  }
  rows.map((left) => removeBeyond(left, high));
  return {
    counts: counts.map((count, bin) => (bin < high ? count : 0)),
    apart: apart.map((count, bin) => (bin < high ? count : count + counts[bin]!)),
    rows: total, hasRemoved: true,
  };
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
