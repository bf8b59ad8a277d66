import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { chiSquareDeviations } from '../../../numerics/chi-square.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { answerOf, participationBelowPlan } from '../../pooled/centred-mean.js';
import type { CentredPool } from '../../pooled/centred-release.js';
import type { Compute } from '../../contract/estimator.js';
import { clippedRows, momentsOf, type ClippedRows } from '../../pooled/clipped-rows.js';
import { lookOf, type Look } from '../filters/weights.js';
import { widestAxes } from './axes.js';
import { histogramAlong, projectionsOn, removeOutside, type EntryOf } from '../../pooled/thresholds.js';
import { gateOf, type LookEvents, type RobustDesign } from './design.js';
import { carriedBy, carriersOf, combined, type NoisySums } from './reallocation.js';
import { leastThresholdAlongAxes, leastThresholdInDistance, type HistogramFit } from '../../pooled/projected-histogram.js';

/** What a release draws with. */
export interface RobustRun {
  readonly design: RobustDesign;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** What was seen along an axis: all of it released. */
interface Seen {
  readonly axis: Float64Array;
  readonly profile: HistogramFit;
}

/** Draws every event after the scale and the centre. Claim and proof: robust-mean and robust/design. */
export async function releaseRobust(
  run: RobustRun, { pool, centre, scale }: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax } = design;
  const rows = await pool.mapAsync((whole) => clippedRows(compute, whole, centre, scale, ball, rowsMax));
  const { seen, spare, known } = await lookAround(run, rows);
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const sums = moments.map((left) => left.sums);
  const found = [design.sum, ...spare].flatMap((event) =>
    carriedBy(event, mechanisms, sums, ball, facts.dimension) ?? []);
  const { sums: total, sigma } = combined(known === null ? found : [...found, known]);
  const count = mechanisms.gaussian(design.count.name, moments.map((all) => Float64Array.of(all.count)));
  return count.map(([present = 0]): Outcome => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const { mean, deviation } = corrected(total.map((entry) => entry / present), seen, sigma / present);
    const noise = { sum: { ...design.sum, sigma }, count: design.count };
    return answerOf(noise, { centre, scale, moved: mean, present, deviation });
  });
}

/** What looks have left to the mean. */
interface LookedAround {
  readonly seen: readonly Seen[];
  /** Events of looks that were not drawn. */
  readonly spare: readonly (GaussianEvent | SymmetricGaussianEvent)[];
  /** Sums of the rows that are left, as a look has seen them; null when rows went since. */
  readonly known: NoisySums | null;
}

/**
 * Looks at the second moments; where they are wider than the gate, at how rows are spread in distance and along the
 * widest axes; and removes those that no normal shape explains. An axis is looked along once: after a cut its rows are
 * no longer shaped as the fit assumes.
 */
async function lookAround(run: RobustRun, rows: Sensitive<ClippedRows>): Promise<LookedAround> {
  const { design: { facts: { dimension, cohort }, ball, looks } } = run;
  const seen: Seen[] = [];
  const taken: Float64Array[] = [];
  const drawn = new Set<string>();
  let known: NoisySums | null = null;
  let isDistanceCut = false;
  for (const events of looks) {
    const { look, sums } = await lookAt(run, events, rows);
    for (const { name } of [events.sum, events.square]) drawn.add(name);
    known = sums;
    const gate = gateOf(events, Math.max(look.count, cohort / 2));
    const axes = widestAxes(look.excess, dimension, taken, gate, events.profiles.length);
    if (axes.length === 0) break;
    if (events.distance !== null && !isDistanceCut) {
      drawn.add(events.distance.name);
      const distances = distancesOf(look.mean, ball.grid);
      const high = histogramAlong(run.mechanisms, events.distance, rows, distances, leastThresholdInDistance)?.high ?? Infinity;
      isDistanceCut = high !== Infinity;
      removeOutside(rows, distances, -Infinity, high);
      if (isDistanceCut) known = null;
    }
    for (const [k, axis] of axes.entries()) {
      drawn.add(events.profiles[k]!.name);
      const entries = projectionsOn(axis, ball.grid);
      const profile = histogramAlong(run.mechanisms, events.profiles[k]!, rows, entries, leastThresholdAlongAxes);
      taken.push(axis);
      if (profile === null) continue;
      removeOutside(rows, entries, profile.low, profile.high);
      if (profile.low !== -Infinity || profile.high !== Infinity) known = null;
      seen.push({ axis, profile });
    }
  }
  return { seen, known, spare: looks.flatMap(carriersOf).filter(({ name }) => !drawn.has(name)) };
}

async function lookAt(
  { design: { ball, facts }, mechanisms, compute }: RobustRun, events: LookEvents, rows: Sensitive<ClippedRows>,
): Promise<{ readonly look: Look; readonly sums: NoisySums }> {
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const { grid } = ball;
  const count = mechanisms.gaussian(events.count.name, moments.map((all) => Float64Array.of(all.count))).value[0]!;
  const sums = mechanisms.gaussian(events.sum.name, moments.map((all) => all.sums.map((entry) => entry * grid))).value;
  const products = mechanisms.symmetricGaussian(events.square.name, moments.map((all) =>
    all.products.map((entry) => entry * grid ** 2))).value;
  return {
    look: lookOf(count, sums, products, ball.radius, facts.cohort / 2), sums: { sums, sigma: events.sum.sigma },
  };
}

/**
 * The cube root of the squared distance per column, centred and scaled so that it is nearly standard normal when the
 * columns are (Wilson and Hilferty 1931).
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

/** Differences between mean and middle of so many deviations are taken for a bias, smaller ones for noise. */
const significant = 2.5;

/**
 * Along every axis that was looked along: the mean without what the cut has moved it by; or the middle, when that is
 * elsewhere by more than chance.
 * @param noise - deviation of the mean's noise.
 * @returns the mean, and per column the deviation that middles add to it.
 */
function corrected(
  mean: Float64Array, seen: readonly Seen[], noise: number,
): { readonly mean: Float64Array; readonly deviation: Float64Array } {
  const result = mean.slice();
  const variance = new Float64Array(mean.length);
  for (const { axis, profile } of seen) {
    const along = axis.reduce((sum, entry, j) => sum + entry * mean[j]!, 0);
    const target = along - profile.shift;
    const isBiased = Math.abs(profile.median - target) > significant * Math.hypot(profile.medianError, noise);
    const moved = (isBiased ? profile.median : target) - along;
    axis.forEach((entry, j) => {
      result[j]! += entry * moved;
      if (isBiased) variance[j]! += (entry * profile.medianError) ** 2;
    });
  }
  return { mean: result, deviation: variance.map(Math.sqrt) };
}
