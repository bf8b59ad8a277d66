import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { noiseOfSquare, type AnyRun } from './any-design.js';
import { answerOfAny, type PulledRows, type RowsApart } from './any-answer.js';
import { distanceBins, distanceEdge, readDistances, rowsIn } from '../../pooled/radius.js';
import { axisEnd, clusterShares, sumOf } from '../../pooled/valleys.js';
import { removeAlongAxes } from './along-axes.js';
import { clusterAbove, limitsOf, mayHideAbove } from './clusters.js';
import { releaseDirections } from './directions.js';
import {
  distanceCounts, removeBeyond, stretched, sumApart, sumOfRows, type MappedRows,
} from './mapped.js';
import { Clusters, DiscreteColumns, type RowsPast } from './removal.js';
import { releaseRounds, type RoundsFound } from './moment-rounds.js';
import { findRadius, radiusApart, type FoundRadius } from './radius.js';
import { combined, drawReallocated, type NoisySums } from './reallocation.js';

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
  const spare = await removeAlongAxes(run, {
    clusters, discrete, rows, frame, axes: directions.axes, present: seen,
  });
  const distances = await removeFar(run, clusters, discrete, rows, spare);
  const { isApart, cores } = clusters;
  const past = hiddenPast(run, clusters, distances);
  const radius = findRadius({
    counts: distances.counts, noise: distances.noise, dimension, corruption,
    cohort: facts.cohort, sigma: design.sum.sigma, radius: design.radius,
    isApart,
  });
  const unused = [
    ...rounds.unused.flatMap(({ sum, square }) => [sum, square]), ...directions.unused,
    ...spare, ...discrete.unused, ...isApart || past !== null ? [] : [design.apart],
  ];
  const { total, count } = drawMean(run, rows, radius, unused);
  const allRows = Math.max(facts.cohort / 4, rounds.present ?? distances.rows);
  const apart = isApart || past !== null
    ? drawApart(run, rows, distances, { allRows, past, isApart }) : null;
  return count.map(([present = 0]) => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const excess = design.rounds.length === 0
      ? 0 : 3 * noiseOfSquare(design.rounds[0]!.square, seen);
    return answerOfAny({
      design, found, frame, radius, total, present, directions, cores,
      covariance: rounds.covariance, excessMax: excess, apart, hasUndone: clusters.hasUndone,
      pulled: pulledRows(run, rounds, distances),
    });
  });
}

/** All rows as the first round has shown them. A function of released numbers. */
function pulledRows(
  { design: { rounds, facts: { dimension, cohort }, distance: event } }: AnyRun,
  { frame, covariance, present }: Pick<RoundsFound, 'frame' | 'covariance' | 'present'>,
  { counts, apart, noise }: FoundDistances,
): PulledRows | null {
  if (covariance === null || present === null || frame.map !== null) return null;
  const { ball, square } = rounds[0]!;
  // An entry on the diagonal has the deviation sigma.
  const unsure = (2 * square.sigma) / present;
  const all = counts.map((count, bin) => count + apart[bin]!);
  const distances = readDistances({
    counts: all, sigma: Math.hypot(noise, event.sigma), dimension, rows: rowsIn(all, cohort),
  });
  return {
    deviation: Float64Array.from({ length: dimension }, (_, j) =>
      Math.sqrt(Math.max(0, covariance[j * (dimension + 1)]!) + unsure)),
    lost: distances.beyond(ball.radius) + distances.hidden(ball.radius),
  };
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
 * Draws the histogram of the distances, and removes the cluster that stands far out. Where it is
 * one too many, it is looked for once more among all rows. So it is where most of what went as an
 * excess along an axis stands far out among all rows: then the axis has shown less than there is.
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
  const find = (sums: Float64Array, sigma: number, part = 1): Promise<number | null> =>
    farCluster(sums, sigma, part * corruption, dimension, discrete);
  let high = await find(counts, noise);
  const all = counts.map((count, bin) => count + apart[bin]!);
  const noiseOfAll = Math.hypot(noise, event.sigma);
  if (high !== null && clusters.isOfCores) {
    const far = await find(all, noiseOfAll);
    if (far !== null && sumOf(apart.slice(far)) > sumOf(apart) / 2) {
      clusters.undo();
      [high, counts, apart, noise] = [far, all, new Float64Array(distanceBins), noiseOfAll];
    }
  }
  if (high !== null && !clusters.allows(counts.slice(high), noise, whole)) {
    [counts, apart, noise] = [all, new Float64Array(distanceBins), noiseOfAll];
    for (const part of farther) {
      high = await find(counts, noise, part);
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
 * lattice show valleys there that the axis does not have. So they are asked only from here on.
 */
const oneColumnFrom = 6;

/** The bin of the distance from which on a cluster stands far out; null where there is none. */
async function farCluster(
  counts: Float64Array, noise: number, corruption: number, dimension: number,
  discrete: DiscreteColumns,
): Promise<number | null> {
  const high = clusterAbove(counts, limitsOf(sumOf(counts), corruption, noise, 0));
  if (high === null || high >= distanceBins) return null;
  if (dimension === 1 && distanceEdge(high, 1) < oneColumnFrom) return null;
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

/** Rows past an axis reckon with a place up to so many times as far out. */
const pastTimes = 4;

/**
 * The rows that stand past the bins of an axis, where the histogram of distances does not show
 * most of them: they are over several of its bins, and noise hides them there. Else null.
 */
function hiddenPast(
  { design: { distance, facts: { dimension } } }: AnyRun, { past }: Clusters,
  { counts, apart }: FoundDistances,
): RowsPast | null {
  if (past === null) return null;
  const rows = sumOf(counts) + sumOf(apart);
  const shown = [counts, apart].reduce((sum, some) => sum + rows * readDistances({
    counts: some, sigma: distance.sigma, dimension, rows,
  }).shareBeyond(axisEnd), 0);
  return shown < past.rows / 2 ? past : null;
}

/**
 * Draws the sum of the rows left out, in a ball of their own, and of those past an axis that the
 * distances do not show, in a ball that is longer along it.
 */
function drawApart(
  { design, mechanisms }: AnyRun, rows: Sensitive<MappedRows>, { apart: counts }: FoundDistances,
  { allRows, past, isApart }: {
    readonly allRows: number; readonly past: RowsPast | null; readonly isApart: boolean;
  },
): RowsApart {
  const { unitBall, apart: event, distance, facts: { dimension } } = design;
  const found = radiusApart(
    { counts, noise: distance.sigma, dimension, sigma: event.sigma }, allRows,
  );
  const stretch = past === null ? null
    : { axis: past.axis, times: Math.max(1, (pastTimes * axisEnd) / found.radius) };
  const { value } = mechanisms.gaussian(event.name, rows.map((whole) =>
    sumApart(whole, unitBall, found.radius, stretch).map((steps) => steps * unitBall.grid)));
  return {
    ...found, allRows, sigma: event.sigma, areLeftOut: isApart, stretch,
    sums: stretch === null ? value : stretched(value, stretch),
  };
}
