import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerOf } from '../../pooled/centred-mean.js';
import type { CentredPool } from '../../pooled/estimator.js';
import type { HistogramFit } from '../../pooled/projected-histogram.js';
import type { RoundMoments } from '../filters/weights.js';
import { widestAxes } from './axes.js';
import { excessMaxOf, type RobustDesign, type RobustRound } from './design.js';
import { corrected, findingsOf, type Detected } from './fits.js';
import { withFalse } from './if-false.js';
import { combined, reallocatable, type NoisySums } from './reallocation.js';

/**
 * The filter rounds of about normal rows, and the answer at the end: which events are drawn, what
 * is removed, and what corrects the mean. Functions of released numbers. Rows are reached through
 * `RowsLeft` alone: one process holds them, or three servers hold them in shares (src/sealed).
 */

/** The design that rounds go by. Each event has the noise with which its numbers are published. */
export type RoundsDesign = Pick<
  RobustDesign, 'facts' | 'corruption' | 'ball' | 'rounds' | 'excessMax' | 'sum' | 'count'
>;

/** The numbers that a look at the moments released. */
export interface Look {
  readonly moments: RoundMoments;
  /** Noisy sums of the rows left, in spreads. */
  readonly sums: Float64Array;
}

/** A released histogram of the rows left. */
export interface ProjectedRows {
  /** Null when noise hides the shape. In spreads along `axis`. */
  readonly fit: HistogramFit | null;
  /** Removes the rows below `low`, and those from `high` on: infinite, or edges of bins. */
  readonly removeOutside: (low: number, high: number) => void;
}

/** The rows that are left, as rounds reach them: each call draws the events that it is given. */
export interface RowsLeft {
  readonly look: (round: RobustRound) => Promise<Look>;
  /** @param mean - from which distances are measured, in spreads. */
  readonly byDistance: (event: GaussianEvent, mean: Float64Array) => Promise<ProjectedRows>;
  /** @returns also the unit axis along which rows were measured: `axis`, or one next to it. */
  readonly along: (event: GaussianEvent, axis: Float64Array) =>
  Promise<ProjectedRows & { readonly axis: Float64Array }>;
}

/** The results of filter rounds that the mean uses. */
export interface Filtered {
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
 * @param first - the first look, when it was released before.
 */
export async function filterRounds(
  { facts: { dimension, cohort }, rounds }: RoundsDesign, rows: RowsLeft, first: Look | null,
): Promise<Filtered> {
  const detected: Detected[] = [];
  const taken: Float64Array[] = [];
  const drawn = new Set<string>();
  let known: NoisySums | null = null;
  let isTrimmedInDistance = false;
  const remove = (from: ProjectedRows, low: number, high: number): void => {
    from.removeOutside(low, high);
    if (low !== -Infinity || high !== Infinity) known = null;
  };
  for (const events of rounds) {
    const { moments, sums } =
      events === rounds[0] && first !== null ? first : await rows.look(events);
    for (const { name } of [events.sum, events.square]) drawn.add(name);
    known = { sums, sigma: events.sum.sigma };
    const excessMax = excessMaxOf(events, Math.max(moments.count, cohort / 2));
    const axes = widestAxes(
      moments.excess, dimension, taken, excessMax, events.histograms.length,
    );
    if (axes.length === 0) break;
    if (events.distance !== null && !isTrimmedInDistance) {
      drawn.add(events.distance.name);
      const found = await rows.byDistance(events.distance, moments.mean);
      const high = found.fit?.high ?? Infinity;
      isTrimmedInDistance = high !== Infinity;
      remove(found, -Infinity, high);
    }
    for (const [k, wide] of axes.entries()) {
      const event = events.histograms[k]!;
      drawn.add(event.name);
      const found = await rows.along(event, wide);
      const { fit, axis } = found;
      taken.push(wide);
      if (fit === null) continue;
      remove(found, fit.low, fit.high);
      detected.push({ axis, fit });
    }
  }
  const unused = rounds.flatMap(reallocatable).filter(({ name }) => !drawn.has(name));
  return { detected, known, unused };
}

/** The released numbers of the rows left. */
export interface LeftReleased extends Omit<Filtered, 'unused'> {
  readonly first: Look | null;
  /** Sums that were drawn after the rounds, in spreads; at least one. */
  readonly drawn: readonly NoisySums[];
  /** Noisy number of the rows left. */
  readonly present: number;
}

/** The mean of the rows left, corrected. Rows are in the median spread about the centre. */
export function answerOfLeft(
  design: RoundsDesign, found: Pick<CentredPool, 'centre' | 'spread' | 'columns'>,
  { first, detected, known, drawn, present }: LeftReleased,
): Outcome {
  const { facts } = design;
  if (present < facts.cohort / 4) return participationBelowPlan(facts);
  const { sums, sigma } = combined(known === null ? drawn : [...drawn, known]);
  const average = sums.map((entry) => entry / present);
  const { mean, medians } = corrected(average, detected, sigma / present);
  const deviation = mean.map((_, j) =>
    Math.hypot(...medians.map(({ axis, error }) => axis[j]! * error)));
  const noise = { sum: { ...design.sum, sigma }, count: design.count };
  const { centre, columns: { medianSpread: spread } } = found;
  const answer = answerOf(noise, { centre, spread, moved: mean, present, deviation });
  if (answer.kind === 'refused') return answer;
  const findings = findingsOf({
    design, found, first: first?.moments ?? null, present, isSkewed: false,
  });
  return {
    ...withFalse(design, answer, first?.moments ?? null, { centre, spread }),
    spread: Array.from(spread), ...findings.length > 0 && { findings },
  };
}
