import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome, ValueOutcome } from '../../../base/outcome.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { participationBelowPlan, widenedBy } from '../../contract/outcomes.js';
import { answerOf } from '../../pooled/centred-mean.js';
import { clippedRows, momentsOf, type ClippedRows } from '../../pooled/clipped-rows.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { movedByShare } from '../../pooled/expected-error.js';
import {
  leastThresholdAlongAxes, leastThresholdInDistance,
} from '../../pooled/projected-histogram.js';
import {
  histogramAlong, projectionsOn, removeOutside,
} from '../../pooled/thresholds.js';
import { releaseMoments } from '../filters/rounds.js';
import { widestAxes } from './axes.js';
import { noiseOfSquare } from './any-design.js';
import { excessMaxOf, mapEventsOf, type RobustDesign } from './design.js';
import { corrected, distancesOf, findingsOf, type Detected } from './fits.js';
import { isNarrow, releaseMapped, type RobustRun } from './normal-mapped.js';
import {
  combined, drawReallocated, reallocatable, type NoisySums,
} from './reallocation.js';

/**
 * Draws every event after the scale and the centre. Claim and proof: robust-mean and design. Rows
 * are taken in the median scale, which is right for a normal shape.
 */
export async function releaseRobust(
  run: RobustRun, found: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax, rounds: [look], mapping } = design;
  const { pool, centre, columns } = found;
  const scale = columns.medianScale;
  const clipped = await pool.mapAsync(async (whole) => ({
    whole, left: await clippedRows(compute, whole, centre, scale, ball, rowsMax),
  }));
  const rows = clipped.map(({ left }) => left);
  const first = look === undefined ? null
    : await releaseMoments(run, look, rows, ball, facts.cohort / 2);
  if (first !== null && mapping !== null
    && isNarrow(first.moments, noiseOfSquare(look!.square, facts.cohort), columns)) {
    // The clipped rows are not used again: the map writes over them.
    const held = clipped.map(({ whole, left: { steps, alive } }) =>
      ({ whole, entries: steps, present: alive }));
    return releaseMapped(run, found, held, first.moments);
  }
  const { detected, unused, known } = await filter(run, rows, first);
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const sums = moments.map((left) => left.sums);
  const events = [design.sum, ...unused, ...mapEventsOf(mapping)].flatMap((event) =>
    drawReallocated(event, mechanisms, sums, ball, facts.dimension) ?? []);
  const { sums: total, sigma } = combined(known === null ? events : [...events, known]);
  const count = mechanisms.gaussian(
    design.count.name, moments.map((all) => Float64Array.of(all.count)),
  );
  return count.map(([present = 0]): Outcome => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const average = total.map((entry) => entry / present);
    const { mean, medians } = corrected(average, detected, sigma / present);
    const deviation = mean.map((_, j) =>
      Math.hypot(...medians.map(({ axis, error }) => axis[j]! * error)));
    const noise = { sum: { ...design.sum, sigma }, count: design.count };
    const answer = answerOf(noise, { centre, scale, moved: mean, present, deviation });
    if (answer.kind === 'refused') return answer;
    const findings = findingsOf({
      design, found, first: first?.moments ?? null, present, isSkewed: false,
    });
    return { ...withHostile(design, answer, scale), ...findings.length > 0 && { findings } };
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
  const anyShape = movedByShare(corruption);
  const moved = rounds.length === 0 ? anyShape
    : Math.min(anyShape, Math.hypot(Math.sqrt(corruption * excessMax), 1.25 * corruption));
  const { low, high } = answer.interval95!;
  const halves = low.map((end, j) => (high[j]! - end) / (2 * scale[j]!));
  return {
    ...answer,
    intervalIfHostile95: widenedBy(answer.interval95!, (j) => scale[j]! * moved),
    radiusIfHostile95: 1.05 * moved + Math.sqrt(dimension) * Math.max(...halves),
    scale: Array.from(scale),
  };
}

/** What the first look released. */
type FirstLook = Awaited<ReturnType<typeof releaseMoments>>;

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
async function filter(
  run: RobustRun, rows: Sensitive<ClippedRows>, first: FirstLook | null,
): Promise<Filtered> {
  const { mechanisms, design: { facts: { dimension, cohort }, ball, rounds } } = run;
  const detected: Detected[] = [];
  const taken: Float64Array[] = [];
  const drawn = new Set<string>();
  let known: NoisySums | null = null;
  let isTrimmedInDistance = false;
  for (const events of rounds) {
    const { moments, sums } = events === rounds[0] && first !== null
      ? first : await releaseMoments(run, events, rows, ball, cohort / 2);
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
