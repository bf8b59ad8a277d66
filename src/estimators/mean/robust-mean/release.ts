import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome, ValueOutcome } from '../../../base/outcome.js';
import { chiSquareDeviations } from '../../../numerics/chi-square.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Draws } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerOf } from '../../pooled/centred-mean.js';
import { clippedRows, momentsOf, type ClippedRows } from '../../pooled/clipped-rows.js';
import type { CentredPool } from '../../pooled/estimator.js';
import {
  leastThresholdAlongAxes, leastThresholdInDistance, type HistogramFit,
} from '../../pooled/projected-histogram.js';
import {
  histogramAlong, projectionsOn, removeOutside, type EntryOf,
} from '../../pooled/thresholds.js';
import { releaseMoments } from '../filters/rounds.js';
import { widestAxes } from './axes.js';
import { excessMaxOf, type RobustDesign } from './design.js';
import {
  combined, drawReallocated, reallocatable, type NoisySums,
} from './reallocation.js';

/** What a release draws with. */
export interface RobustRun extends Draws {
  readonly design: RobustDesign;
}

/** What a histogram told along an axis: all of it released. */
interface Detected {
  readonly axis: Float64Array;
  readonly fit: HistogramFit;
}

/** Draws every event after the scale and the centre. Claim and proof: robust-mean and design. */
export async function releaseRobust(
  run: RobustRun, { pool, centre, scale }: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax } = design;
  const rows = await pool.mapAsync((whole) =>
    clippedRows(compute, whole, centre, scale, ball, rowsMax));
  const { detected, unused, known } = await filter(run, rows);
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const sums = moments.map((left) => left.sums);
  const found = [design.sum, ...unused].flatMap((event) =>
    drawReallocated(event, mechanisms, sums, ball, facts.dimension) ?? []);
  const { sums: total, sigma } = combined(known === null ? found : [...found, known]);
  const count = mechanisms.gaussian(
    design.count.name, moments.map((all) => Float64Array.of(all.count)),
  );
  return count.map(([present = 0]): Outcome => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const average = total.map((entry) => entry / present);
    const { mean, deviation } = corrected(average, detected, sigma / present);
    const noise = { sum: { ...design.sum, sigma }, count: design.count };
    const answer = answerOf(noise, { centre, scale, moved: mean, present, deviation });
    return answer.kind === 'refused' ? answer : withHostile(design, answer, scale);
  });
}

/**
 * The answer with what holds even if the stated share c is hostile: it moves the mean by at most
 * sqrt(c / (1 - c)) of one scale whatever rows look like, and of normal rows by sqrt(c t), t the
 * detection threshold, and by 1.25 c where it is detected. Public numbers but the answer.
 */
function withHostile(
  { facts: { dimension }, corruption, rounds, excessMax }: RobustDesign, answer: ValueOutcome,
  scale: Float64Array,
): ValueOutcome {
  const anyShape = Math.sqrt(corruption / (1 - corruption));
  const moved = rounds.length === 0 ? anyShape
    : Math.min(anyShape, Math.hypot(Math.sqrt(corruption * excessMax), 1.25 * corruption));
  const { low, high } = answer.interval95!;
  const halves = low.map((end, j) => (high[j]! - end) / (2 * scale[j]!));
  return {
    ...answer,
    intervalIfHostile95: {
      low: low.map((end, j) => end - scale[j]! * moved),
      high: high.map((end, j) => end + scale[j]! * moved),
    },
    radiusIfHostile95: 1.05 * moved + Math.sqrt(dimension) * Math.max(...halves),
    scale: Array.from(scale),
  };
}

/** What filter rounds leave to the mean. */
interface Filtered {
  readonly detected: readonly Detected[];
  /** Events of rounds that were not drawn. */
  readonly unused: readonly (GaussianEvent | SymmetricGaussianEvent)[];
  /** Noisy sums of the rows that are left, from a round; null when rows were removed since. */
  readonly known: NoisySums | null;
}

/**
 * Releases the second moments. Where they are wider than the detection threshold, releases the
 * histograms of the distance and along the widest axes, and removes rows that no normal shape
 * explains. An axis has one histogram at most: after a removal its rows are no longer shaped as the
 * fit assumes.
 */
async function filter(run: RobustRun, rows: Sensitive<ClippedRows>): Promise<Filtered> {
  const { mechanisms, design: { facts: { dimension, cohort }, ball, rounds } } = run;
  const detected: Detected[] = [];
  const taken: Float64Array[] = [];
  const drawn = new Set<string>();
  let known: NoisySums | null = null;
  let isTrimmedInDistance = false;
  for (const events of rounds) {
    const { moments, sums } = await releaseMoments(run, events, rows, ball, cohort / 2);
    for (const { name } of [events.sum, events.square]) drawn.add(name);
    known = { sums, sigma: events.sum.sigma };
    const excessMax = excessMaxOf(events, Math.max(moments.count, cohort / 2));
    const axes = widestAxes(
      moments.excess, dimension, taken, excessMax, events.histograms.length,
    );
    if (axes.length === 0) break;
    if (events.distance !== null && !isTrimmedInDistance) {
      drawn.add(events.distance.name);
      const distances = distancesOf(moments.mean, ball.grid);
      const fit = histogramAlong(
        mechanisms, events.distance, rows, distances, leastThresholdInDistance,
      );
      const high = fit?.high ?? Infinity;
      isTrimmedInDistance = high !== Infinity;
      removeOutside(rows, distances, -Infinity, high);
      if (isTrimmedInDistance) known = null;
    }
    for (const [k, axis] of axes.entries()) {
      const event = events.histograms[k]!;
      drawn.add(event.name);
      const entries = projectionsOn(axis, ball.grid);
      const fit = histogramAlong(mechanisms, event, rows, entries, leastThresholdAlongAxes);
      taken.push(axis);
      if (fit === null) continue;
      removeOutside(rows, entries, fit.low, fit.high);
      if (fit.low !== -Infinity || fit.high !== Infinity) known = null;
      detected.push({ axis, fit });
    }
  }
  const unused = rounds.flatMap(reallocatable).filter(({ name }) => !drawn.has(name));
  return { detected, known, unused };
}

/**
 * The cube root of the squared distance per column, centred and scaled so that it is nearly
 * standard normal when the columns are (Wilson and Hilferty 1931).
 */
function distancesOf(mean: Float64Array, grid: number): EntryOf {
  return (steps, offset) => {
    let sum = 0;
    for (let j = 0; j < mean.length; j++) {
      const entry = steps[offset + j]! * grid - mean[j]!;
      sum += entry * entry;
    }
    return chiSquareDeviations(sum, mean.length);
  };
}

/** A mean this many standard deviations from the median is biased; a smaller gap is noise. */
const significant = 2.5;

/**
 * Along every axis with a histogram: the mean without what the thresholds have moved it by; or the
 * median, when that is elsewhere by more than chance.
 * @param noise - standard deviation of the mean's noise.
 * @returns the mean, and per column the standard deviation that medians add to it.
 */
function corrected(
  mean: Float64Array, detected: readonly Detected[], noise: number,
): { readonly mean: Float64Array; readonly deviation: Float64Array } {
  const result = mean.slice();
  const variance = new Float64Array(mean.length);
  for (const { axis, fit } of detected) {
    const along = axis.reduce((sum, entry, j) => sum + entry * mean[j]!, 0);
    const target = along - fit.shift;
    const isBiased =
      Math.abs(fit.median - target) > significant * Math.hypot(fit.medianError, noise);
    const moved = (isBiased ? fit.median : target) - along;
    axis.forEach((entry, j) => {
      result[j]! += entry * moved;
      if (isBiased) variance[j]! += (entry * fit.medianError) ** 2;
    });
  }
  return { mean: result, deviation: variance.map(Math.sqrt) };
}
