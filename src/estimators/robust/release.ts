import { Released, type Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { answerOf, participationBelowPlan } from '../centred-mean.js';
import type { CentredPool } from '../centred-release.js';
import type { Compute } from '../contract.js';
import { clippedRows, momentsOf, type ClippedRows } from '../filters/clipped-rows.js';
import { lookOf, type Look } from '../filters/weights.js';
import { widestAxes } from './axes.js';
import { profileAlong, projectionsOn, removeOutside, type EntryOf } from './cuts.js';
import { gateOf, type LookEvents, type RobustDesign } from './design.js';
import { leastCutAlongAxes, leastCutInDistance, type Profile } from './profile.js';

/** What a release draws with. */
export interface RobustRun {
  readonly design: RobustDesign;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** What was seen along an axis: all of it released. */
interface Seen {
  readonly axis: Float64Array;
  readonly profile: Profile;
}

/** Draws every event after the scale and the centre. */
export async function releaseRobust(
  run: RobustRun, { pool, centre, scale }: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax } = design;
  const rows = await pool.mapAsync((whole) => clippedRows(compute, whole, centre, scale, ball, rowsMax));
  const seen = await lookAround(run, rows);
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const sum = mechanisms.gaussian(design.sum.name, moments.map(({ sums }) => sums.map((entry) => entry * ball.grid)));
  const count = mechanisms.gaussian(design.count.name, moments.map((all) => Float64Array.of(all.count)));
  return Released.all<readonly [Float64Array, Float64Array]>([sum, count]).map(([total, [present = 0]]): Outcome => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const { mean, deviation } = corrected(total.map((entry) => entry / present), seen, design.sum.sigma / present);
    return answerOf(design, { centre, scale, moved: mean, present, deviation });
  });
}

/**
 * Looks at the second moments; where they are wider than the gate, at how rows are spread in distance and along the
 * widest axes; and removes those that no normal shape explains. An axis is looked along once: after a cut its rows are
 * no longer shaped as the fit assumes.
 */
async function lookAround(run: RobustRun, rows: Sensitive<ClippedRows>): Promise<readonly Seen[]> {
  const { design: { facts: { dimension, cohort }, ball } } = run;
  const seen: Seen[] = [];
  const taken: Float64Array[] = [];
  let isDistanceCut = false;
  for (const events of run.design.looks) {
    const look = await lookAt(run, events, rows);
    const gate = gateOf(events, Math.max(look.count, cohort / 2));
    const axes = widestAxes(look.excess, dimension, taken, gate, events.profiles.length);
    if (axes.length === 0) break;
    if (events.distance !== null && !isDistanceCut) {
      const distances = distancesOf(look.mean, ball.grid);
      const high = profileAlong(run.mechanisms, events.distance, rows, distances, leastCutInDistance)?.high ?? Infinity;
      isDistanceCut = high !== Infinity;
      removeOutside(rows, distances, -Infinity, high);
    }
    for (const [k, axis] of axes.entries()) {
      const entries = projectionsOn(axis, ball.grid);
      const profile = profileAlong(run.mechanisms, events.profiles[k]!, rows, entries, leastCutAlongAxes);
      taken.push(axis);
      if (profile === null) continue;
      removeOutside(rows, entries, profile.low, profile.high);
      seen.push({ axis, profile });
    }
  }
  return seen;
}

async function lookAt(
  { design: { ball, facts }, mechanisms, compute }: RobustRun, events: LookEvents, rows: Sensitive<ClippedRows>,
): Promise<Look> {
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const { grid } = ball;
  const count = mechanisms.gaussian(events.count.name, moments.map((all) => Float64Array.of(all.count))).value[0]!;
  const sums = mechanisms.gaussian(events.sum.name, moments.map((all) => all.sums.map((entry) => entry * grid))).value;
  const products = mechanisms.symmetricGaussian(events.square.name, moments.map((all) =>
    all.products.map((entry) => entry * grid ** 2))).value;
  return lookOf(count, sums, products, ball.radius, facts.cohort / 2);
}

/**
 * The cube root of the squared distance per column, centred and scaled so that it is nearly standard normal when the
 * columns are (Wilson and Hilferty 1931).
 */
function distancesOf(mean: Float64Array, grid: number): EntryOf {
  const variance = 2 / (9 * mean.length);
  return (steps, offset) => {
    let sum = 0;
    for (let j = 0; j < mean.length; j++) {
      const entry = steps[offset + j]! * grid - mean[j]!;
      sum += entry * entry;
    }
    return (Math.cbrt(sum / mean.length) - (1 - variance)) / Math.sqrt(variance);
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
    const isBiased = Math.abs(profile.middle - target) > significant * Math.hypot(profile.deviation, noise);
    const moved = (isBiased ? profile.middle : target) - along;
    axis.forEach((entry, j) => {
      result[j]! += entry * moved;
      if (isBiased) variance[j]! += (entry * profile.deviation) ** 2;
    });
  }
  return { mean: result, deviation: variance.map(Math.sqrt) };
}
