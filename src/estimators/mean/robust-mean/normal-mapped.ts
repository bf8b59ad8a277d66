import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { finiteValue, intervalAbout, participationBelowPlan } from '../../contract/outcomes.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool, FoundColumns } from '../../pooled/estimator.js';
import {
  leastThresholdAlongAxes, leastThresholdInDistance, type HistogramFit,
} from '../../pooled/projected-histogram.js';
import {
  histogramAlong, projectionsOn, removeOutside, type EntryOf, type LeftRows,
} from '../../pooled/thresholds.js';
import type { RoundMoments } from '../filters/weights.js';
import { covarianceOf } from '../filters/weights.js';
import { columnReach } from './any-answer.js';
import { noiseOfSquare } from './any-design.js';
import type { RobustDesign } from './design.js';
import { releaseDirections } from './directions.js';
import { corrected, distancesOf, findingsOf, type Detected } from './fits.js';
import { withFalse } from './if-false.js';
import { sumOfRows, type Frame, type MappedRows } from './mapped.js';
import { releaseMappedRounds, unmapped, type Held } from './moment-rounds.js';
import { combined, drawReallocated, reallocatable, type NoisySums } from './reallocation.js';

/**
 * The mean of about normal rows in columns that are correlated.
 *
 * Hostile rows in a direction in which honest rows are narrow widen no column. So the rows are
 * mapped first, so that they vary alike in every direction. A map that hostile rows have widened
 * shows no excess over 1 any more. So some axes come from third moments: these change when hostile
 * rows move the mean. The other axes are those along which the rows were wide before the map. Along
 * each axis a normal shape is fitted.
 *
 * Claim. (rho, delta) of the plan's events, composed adaptively.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. The map is a function of released moments, and so is whether there is one. What a row is
 * mapped to, and whether it is left, are functions of this row and of released numbers. Mapped
 * rows are clipped to the ball of each event after the map, in whole grid steps (mapped), so the
 * sensitivities of `design` hold. Histograms have one bin for each row. Events that were not drawn
 * carry sums of the rows left (reallocation), once at most.
 */

/** Columns are correlated where some direction has less variance than this. */
const narrowFrom = 0.5;
/** A column is taken to be no narrower than this many times the noise of its variance. */
const noiseFactor = 3;

/**
 * True if some direction is far narrower than the columns. Narrow columns are given unit variance.
 * Wide ones are not: hostile rows can widen columns, and never narrow a direction.
 * @param excess - released covariance minus the identity, in spreads.
 * @param noise - of a variance.
 */
export function isNarrow(
  { excess }: Pick<RoundMoments, 'excess'>, noise: number, { oneValue }: FoundColumns,
): boolean {
  const dimension = oneValue.length;
  const root = Float64Array.from({ length: dimension }, (_, j) =>
    Math.sqrt(Math.min(1, Math.max(noiseFactor * noise, 1 + excess[j * dimension + j]!))));
  const scaled = excess.map((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    if (i === j) return 1 + Math.max(0, entry);
    return oneValue[i] !== null || oneValue[j] !== null ? 0 : entry / (root[i]! * root[j]!);
  });
  return ownKernels().eigenSymmetric(scaled, dimension).values[0]! < narrowFrom;
}

/** The design of a release, and the tools with which it draws. */
export interface RobustRun extends Draws {
  readonly design: RobustDesign;
}

/**
 * Draws every event after the first look, whose moments are `first`.
 * @param held - the rows of `found`. Where they are mapped to takes the place of its entries.
 */
export async function releaseMapped(
  run: RobustRun, found: CentredPool, held: Sensitive<Held>, first: RoundMoments,
): Promise<Released<Outcome>> {
  const { design, mechanisms } = run;
  const { facts, mapping, rounds } = design;
  const { cohort } = facts;
  const [look] = rounds;
  const present = Math.max(first.count, cohort / 2);
  const covariance = covarianceOf(first);
  const inMedianSpread = { ...found, spread: found.columns.medianSpread };
  const { rows, frame } = await releaseMappedRounds(
    { ...run, design: { facts, rounds: mapping!.rounds } }, inMedianSpread, held,
    { mean: first.mean, covariance, noise: noiseOfSquare(look!.square, present), present },
  );
  const directions = releaseDirections(
    { mechanisms, design: { facts, ...mapping!, rounds } }, inMedianSpread,
    { rows, frame, present, covariance },
  );
  const { detected, unused } = removeByFits(run, rows, directions.axes);
  const total = drawSums(run, rows, [...unused, ...directions.unused]);
  const count = mechanisms.gaussian(design.count.name, rows.map(({ alive }) =>
    Float64Array.of(alive.reduce((sum, one) => sum + one, 0))));
  return count.map(([left = 0]): Outcome => {
    if (left < cohort / 4) return participationBelowPlan(facts);
    const moved = total.sums.map((entry) => entry / left);
    const answer = answerOfMapped({
      design, found, frame, first, detected, present: left, noise: total.sigma / left, moved,
    });
    if (answer.kind === 'refused') return answer;
    const { isSkewed } = directions.skewAbout(moved);
    const findings = findingsOf({ design, found, first, present: left, isSkewed });
    return { ...answer, ...findings.length > 0 && { findings } };
  });
}

/** Fits a normal shape along each axis and to the distances, and removes what it cannot explain. */
function removeByFits(
  { design: { rounds, facts: { dimension } }, mechanisms }: RobustRun,
  rows: Sensitive<MappedRows>, axes: readonly Float64Array[],
): {
  readonly detected: readonly Detected[];
  readonly unused: readonly (GaussianEvent | SymmetricGaussianEvent)[];
} {
  const left = rows.map(({ entries, ...others }): LeftRows => ({ ...others, steps: entries }));
  const detected: Detected[] = [];
  const drawn = new Set([rounds[0]!.sum.name, rounds[0]!.square.name]);
  const fit = (event: GaussianEvent, entries: EntryOf, least: number): HistogramFit | null => {
    drawn.add(event.name);
    return histogramAlong(mechanisms, event, left, entries, least);
  };
  const { distance } = rounds[0]!;
  if (distance !== null) {
    const distances = distancesOf(new Float64Array(dimension), 1);
    const shape = fit(distance, distances, leastThresholdInDistance);
    removeOutside(left, distances, -Infinity, shape?.high ?? Infinity);
  }
  const events = rounds.flatMap(({ histograms }) => histograms);
  for (const [k, axis] of axes.slice(0, events.length).entries()) {
    const entries = projectionsOn(axis, 1);
    const shape = fit(events[k]!, entries, leastThresholdAlongAxes);
    if (shape === null) continue;
    removeOutside(left, entries, shape.low, shape.high);
    detected.push({ axis, fit: shape });
  }
  return {
    detected, unused: rounds.flatMap(reallocatable).filter(({ name }) => !drawn.has(name)),
  };
}

/** Mapped rows are pulled into a radius of sqrt(d) plus this much. */
const reach = 1.5;

/** Draws the sum of the rows left on every event that is free. In units of the mapped rows. */
function drawSums(
  { design, mechanisms }: RobustRun, rows: Sensitive<MappedRows>,
  unused: readonly (GaussianEvent | SymmetricGaussianEvent)[],
): NoisySums {
  const { ball, sum, facts: { dimension } } = design;
  const unit = Math.min(1, (Math.sqrt(dimension) + reach) / ball.radius);
  const sums = rows.map((left) => sumOfRows(left, ball, unit));
  const { sums: total, sigma } = combined([sum, ...unused].flatMap((event) =>
    drawReallocated(event, mechanisms, sums, ball, dimension) ?? []));
  return { sums: total.map((entry) => entry * unit), sigma: sigma * unit };
}

/** The results of a release. All of them are released or public. */
interface MappedAnswer {
  readonly design: RobustDesign;
  readonly found: CentredPool;
  readonly frame: Frame;
  /** Moments of all rows, before they are mapped. */
  readonly first: RoundMoments;
  /** Mean of the rows left before it is corrected, and the standard deviation of its noise. */
  readonly moved: Float64Array;
  readonly noise: number;
  readonly present: number;
  readonly detected: readonly Detected[];
}

/** The mean in data units and its two intervals. */
function answerOfMapped(
  { design, found: { centre, columns }, frame, first, moved, noise, present, detected }:
  MappedAnswer,
): Outcome {
  const { count } = design;
  const spread = columns.medianSpread;
  const { mean, medians } = corrected(moved, detected, noise);
  const back = unmapped(frame.inverse, mean);
  const estimate = Array.from(back, (entry, j) =>
    centre[j]! + spread[j]! * (frame.mean[j]! + entry));
  const reach = columnReach(frame, spread);
  const inData = medians.map(({ axis, error }) =>
    unmapped(frame.inverse, axis).map((entry, j) => spread[j]! * entry * error));
  const countNoise = Math.hypot(...moved) * (count.sigma / present);
  const deviation = Array.from(reach, (unit, j) => Math.hypot(
    unit * noise, unit * countNoise, ...inData.map((entries) => entries[j]!),
  ));
  const sampling = 1 / Math.sqrt(present);
  const half = deviation.map((own, j) => deviations95 * Math.hypot(own, reach[j]! * sampling));
  const interval95 = intervalAbout(estimate, (j) => half[j]!);
  const answer = finiteValue({
    estimate,
    shape: [design.facts.dimension],
    uncertainty: { kind: 'gaussian', standardDeviation: deviation },
    interval95,
    spread: Array.from(spread),
  }, 'the noisy mean times spread is');
  return answer.kind === 'refused' ? answer : withFalse(design, answer, first, { centre, spread });
}
