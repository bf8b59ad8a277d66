import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { Draws } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerOf, centreNotFound } from '../../pooled/centred-mean.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import {
  clippedRows, momentsOf, removeRows, scoreCounts, type ClippedRows,
} from '../../pooled/clipped-rows.js';
import { rowsCohort } from '../../pooled/pool.js';
import { inScales, releaseMoments } from '../filters/rounds.js';
import { directionsOf, excessAlong, thresholdOf, type RoundMoments } from '../filters/weights.js';
import { bumpOf, type ScoreInterval } from './bump.js';
import { centreOfGroups } from './centre.js';
import type { HeavyDesign } from './design.js';
import { sumOfRest, type WholeRows } from './remainder.js';

/** What a release draws with. */
export interface HeavyRun extends Draws {
  readonly design: HeavyDesign;
  readonly scale: Float64Array;
}

/** Draws everything that was planned. Claim and proof: prime-heavy and design. */
export async function releaseHeavy(
  run: HeavyRun, summaries: FinishedSummaries,
): Promise<Released<Outcome>> {
  const { design, compute, scale } = run;
  const { facts, groups } = design;
  const found = await centreOfGroups({ ...run, facts, groups }, summaries);
  const { centre, failed } = found.value;
  if (centre === null) return found.map<Outcome>(() => centreNotFound(facts, failed));
  const pool = poolOf(summaries, rowsCohort);
  // The values are needed for what is beyond the near ball, so they are not overwritten.
  const rows = await pool.mapAsync(async (whole): Promise<WholeRows> => ({
    ...await clippedRows(compute, whole, centre, scale, design.near, design.rowsMax),
    values: whole.values,
  }));
  await filter(run, rows);
  return average(run, rows, centre);
}

/** Removes rows, until they are no wider than the scale, or the rounds are used up. */
async function filter(run: HeavyRun, rows: Sensitive<ClippedRows>): Promise<void> {
  const { design, mechanisms, compute } = run;
  const { near } = design;
  let phase: RoundMoments[] = [];
  for (const events of design.rounds) {
    const { moments } = await releaseMoments(run, events, rows, near, design.rows / 2);
    const { largestExcess } = moments;
    if (largestExcess <= design.excessMax) return;
    // Much narrower than when this phase began: its directions have done their work.
    const isNarrower = phase.length > 0
      && 1 + largestExcess <= (1 + phase[0]!.largestExcess) * phaseEnds;
    if (isNarrower) phase = [];
    phase.push(moments);
    const weights = directionsOf(phase);
    const along = excessAlong(moments, weights);
    const mean = moments.mean.map((entry) => entry / near.grid);
    const unit = near.grid ** 2;
    // The unit is a power of two: scores compare alike in either.
    const edges = Float64Array.from(design.edges, (edge) => edge / unit);
    const counted = await rows.mapAsync((left) =>
      scoreCounts(compute, left, { mean, weights }, edges));
    const counts = mechanisms.gaussian(events.scores.name, counted).value;
    const interval = intervalOf(run, counts, along, moments.count, events.scores.sigma);
    if (interval === null) continue;
    // Whether a row is removed is a function of this row and of released numbers.
    const [least, below] = [interval.low / unit, interval.high / unit];
    await rows.mapAsync((left) => removeRows(compute, left, { mean, weights }, least, below));
  }
}

/** A phase ends when the rows are this many times narrower than when it began (Algorithm 16). */
const phaseEnds = 2 / 3;

/** Rows that stand out where there are some, or else those that account for what is too wide. */
function intervalOf(
  { design }: HeavyRun, counts: Float64Array, along: number, present: number, noise: number,
): ScoreInterval | null {
  const bump = bumpOf(design.edges, counts, noise, present);
  if (bump !== null) return bump;
  if (along <= design.excessMax) return null;
  const low = thresholdOf(design.edges, counts, along, present, noise);
  return low === null ? null : { low, high: Infinity };
}

/** Releases the near sum, the rest and the number of rows left, and answers with the mean. */
async function average(
  { design, scale, mechanisms, compute }: HeavyRun, rows: Sensitive<WholeRows>,
  centre: Float64Array,
): Promise<Released<Outcome>> {
  const { near, rest, sum, count, facts } = design;
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const nearSum = mechanisms.gaussian(
    sum.name, moments.map(({ sums }) => inScales(sums, near.grid)),
  );
  const present = mechanisms.gaussian(count.name, moments.map((all) => Float64Array.of(all.count)));
  const restSum = rest === null ? null : mechanisms.gaussian(rest.event.name, rows.map((left) =>
    sumOfRest(left, { centre, scale, near, rest: rest.ball })));
  return Released.all<readonly Float64Array[]>([
    nearSum, present, ...(restSum === null ? [] : [restSum]),
  ])
    .map(([inner, number, outer]): Outcome => {
      const left = number![0]!;
      if (left < design.rows / 4) return participationBelowPlan(facts);
      const kept = outer === undefined ? 0 : certainPart(outer, rest!.event.sigma);
      const moved = inner!.map((entry, j) => (entry + kept * (outer?.[j] ?? 0)) / left);
      const deviation = moved.map(() => (kept * (rest?.event.sigma ?? 0)) / left);
      return answerOf(design, { centre, scale, moved, present: left, deviation });
    });
}

/**
 * How much of the rest to believe: nearly all where it is far above its noise, nothing where noise
 * alone would be as large. Rows that are heavy on all sides alike have next to no rest in the mean,
 * and pay nothing for it.
 */
function certainPart(sum: Float64Array, sigma: number): number {
  const square = sum.reduce((total, entry) => total + entry * entry, 0) / (sigma * sigma);
  const byChance = sum.length + Math.sqrt(2 * sum.length);
  return square <= byChance ? 0 : 1 - (byChance / square) ** 3;
}
