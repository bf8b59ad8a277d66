import { pow } from '../../../base/elementary.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { Draws } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import {
  movedByHostile, releaseAllRows, withAllRows, type AllRows,
} from '../../pooled/all-rows.js';
import { answerOf, centreNotFound } from '../../pooled/centred-mean.js';
import { knownColumns, withColumns } from '../../pooled/found-columns.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import {
  clippedRows, momentsOf, removeRows, scoreCounts, type ClippedRows,
} from '../../pooled/clipped-rows.js';
import { rowsCohort } from '../../pooled/pool.js';
import { usableWidth } from '../../pooled/radius.js';
import { clusterShares } from '../../pooled/valleys.js';
import { inSpreads, releaseMoments } from '../filters/rounds.js';
import {
  directionsOf, excessAlong, removedMost, thresholdOf, type RoundMoments,
} from '../filters/weights.js';
import { bumpOf, type ScoreInterval } from './bump.js';
import { centreOfGroups } from './centre.js';
import { clippingBias, type HeavyDesign } from './design.js';
import { sumOfRest, type WholeRows } from './remainder.js';

/** The design and spread of a release, and the tools with which it draws. */
export interface HeavyRun extends Draws {
  readonly design: HeavyDesign;
  readonly spread: Float64Array;
}

/** Draws everything that was planned. Claim and proof: prime-heavy and design. */
export async function releaseHeavy(
  run: HeavyRun, summaries: FinishedSummaries,
): Promise<Released<Outcome>> {
  const { design, compute, spread } = run;
  const { facts, groups } = design;
  const found = await centreOfGroups({ ...run, facts, groups }, summaries);
  const { centre, failed } = found.value;
  if (centre === null) return found.map<Outcome>(() => centreNotFound(facts, failed));
  const pool = poolOf(summaries, rowsCohort);
  const all = (await releaseAllRows(run, design.all, pool, centre, spread)).value;
  // The values are needed for what is beyond the near ball, so they are not overwritten.
  const rows = await pool.mapAsync(async (whole): Promise<WholeRows> => ({
    ...await clippedRows(compute, whole, centre, spread, design.near, design.rowsMax),
    values: whole.values,
  }));
  const filtered = await filter(run, rows);
  return average(run, rows, { centre, all, filtered });
}

/** The results of the rounds. All of them are released. */
interface Filtered {
  readonly hasRemoved: boolean;
  /** Moments of the last round that was drawn; rows may have gone since. */
  readonly last: RoundMoments | null;
  /** The rows are wider than the spread, and by more than hostile rows alone would make them. */
  readonly isWider: boolean;
}

/** Removes rows, until they are no wider than the spread, or the rounds are used up. */
async function filter(run: HeavyRun, rows: Sensitive<ClippedRows>): Promise<Filtered> {
  const { design, mechanisms, compute } = run;
  const { near } = design;
  let phase: RoundMoments[] = [];
  let [hasRemoved, isWider] = [false, false];
  let last: RoundMoments | null = null;
  let gone = 0;
  for (const events of design.rounds) {
    const { moments } = await releaseMoments(run, events, rows, near, design.rows / 2);
    const { largestExcess } = moments;
    last = moments;
    isWider = false;
    if (largestExcess <= design.excessMax) break;
    // Much narrower than when this phase began: its directions have done their work.
    const isNarrower = phase.length > 0
      && 1 + largestExcess <= (1 + phase[0]!.largestExcess) * phaseEnds;
    if (isNarrower) phase = [];
    phase.push(moments);
    const weights = directionsOf(phase);
    const mean = moments.mean.map((entry) => entry / near.grid);
    const unit = near.grid ** 2;
    // The unit is a power of two: scores compare the same in either.
    const edges = Float64Array.from(design.edges, (edge) => edge / unit);
    const counted = await rows.mapAsync((left) =>
      scoreCounts(compute, left, { mean, weights }, edges));
    const counts = mechanisms.gaussian(events.scores.name, counted).value;
    const noise = events.scores.sigma;
    const interval = intervalOf(design, { counts, noise, moments, weights, gone });
    isWider = interval === null;
    if (interval === null) continue;
    hasRemoved = true;
    gone += rowsIn(design.edges, counts, interval);
    // The removal of a row is a function of this row and of released numbers.
    const [least, below] = [interval.low / unit, interval.high / unit];
    await rows.mapAsync((left) => removeRows(compute, left, { mean, weights }, least, below));
  }
  return { hasRemoved, last, isWider };
}

/** A phase ends when the rows are this many times narrower than when it began (Algorithm 16). */
const phaseEnds = 2 / 3;

/**
 * Rows that stand out where there are some, or else those that account for what is too wide. None
 * where these are more rows than may be hostile, with as many honest ones that stand as far out:
 * then the honest rows are wider than the spread, and removing their tail would move the mean.
 */
function intervalOf(
  { edges, excessMax, near, corruption }: HeavyDesign,
  { counts, noise, moments, weights, gone }: Scored,
): ScoreInterval | null {
  const { count: present, mean } = moments;
  const hostile = corruption * (present + gone);
  const clippedFrom = Math.max(0, near.radius - Math.hypot(...mean)) ** 2;
  const most = clusterShares.most * hostile - gone;
  const bump = bumpOf(edges, counts, { noise, present, most, clippedFrom });
  if (bump !== null) return bump;
  const along = excessAlong(moments, weights);
  if (along <= excessMax) return null;
  const low = thresholdOf(edges, counts, along, present, noise);
  if (low === null) return null;
  const interval = { low, high: Infinity };
  return gone + rowsIn(edges, counts, interval) > removedMost * hostile ? null : interval;
}

/** The counted scores of a round, and how to judge them. All of it is released. */
interface Scored {
  readonly counts: Float64Array;
  readonly noise: number;
  readonly moments: RoundMoments;
  readonly weights: Float64Array;
  /** Rows that earlier rounds removed, about. */
  readonly gone: number;
}

/** The noisy number of rows whose score is in an interval. */
function rowsIn(
  edges: readonly number[], counts: Float64Array, { low, high }: ScoreInterval,
): number {
  return counts.reduce((sum, count, bin) =>
    (edges[bin]! >= low && edges[bin]! < high ? sum + Math.max(0, count) : sum), 0);
}

/** Releases the near sum, the rest and the number of rows left, and answers with the mean. */
async function average(
  { design, spread, mechanisms, compute }: HeavyRun, rows: Sensitive<WholeRows>,
  { centre, all, filtered }: {
    readonly centre: Float64Array; readonly all: AllRows; readonly filtered: Filtered;
  },
): Promise<Released<Outcome>> {
  const { near, rest, sum, count, facts } = design;
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const nearSum = mechanisms.gaussian(
    sum.name, moments.map(({ sums }) => inSpreads(sums, near.grid)),
  );
  const present = mechanisms.gaussian(count.name, moments.map((all) => Float64Array.of(all.count)));
  const restSum = rest === null ? null : mechanisms.gaussian(rest.event.name, rows.map((left) =>
    sumOfRest(left, { centre, spread, near, rest: rest.ball })));
  return Released.all<readonly Float64Array[]>([
    nearSum, present, ...(restSum === null ? [] : [restSum]),
  ])
    .map(([inner, number, outer]): Outcome => {
      const left = number![0]!;
      if (left < design.rows / 4) return participationBelowPlan(facts);
      const kept = outer === undefined ? 0 : certainPart(outer, rest!.event.sigma);
      const moved = inner!.map((entry, j) => (entry + kept * (outer?.[j] ?? 0)) / left);
      const deviation = moved.map(() => (kept * (rest?.event.sigma ?? 0)) / left);
      const width = usableWidth(all.width);
      const answer = answerOf(design, { centre, spread, moved, present: left, deviation, width });
      const beyond = rest === null || kept < believed ? 0 : rest.ball.radius;
      return withColumns(withAllRows(withWider(answer, filtered), {
        all, centre, spread,
        left: filtered.hasRemoved ? left : null,
        clippedAt: filtered.hasRemoved ? null : near.radius + beyond,
        hostile: hostileOf(design, filtered),
      }), knownColumns(spread));
    });
}

/** From this part of the far sum on the answer is a mean of rows in the outer ball. */
const believed = 0.95;

/**
 * Bounds how far hostile rows move the mean, in spreads, inside the near ball and beyond it; and
 * what clipping may hide of honest rows that are at most one spread wide.
 */
function hostileOf(design: HeavyDesign, { last }: Filtered): number {
  const { corruption, excessMax, near, rest } = design;
  const excess = last === null ? Infinity : Math.max(0, last.largestExcess) + excessMax;
  return clippingBias(design) + movedByHostile(corruption, excess, near.radius)
    + Math.min(corruption, (1 + excess) / near.radius ** 2) * (rest?.ball.radius ?? 0);
}

/** The outcome with a finding when the rows are wider than the spread. */
function withWider(outcome: Outcome, { isWider, last }: Filtered): Outcome {
  if (outcome.kind === 'refused' || !isWider || last === null) return outcome;
  const { excess, mean: { length } } = last;
  const columns = Array.from({ length }, (_, j) => j)
    .filter((j) => excess[j * length + j]! > widerFrom);
  return { ...outcome, findings: [{ reason: 'wider-than-spread', columns, amounts: [] }] };
}

/** Excess of a column's variance from which it is a finding. */
const widerFrom = 0.1;

/**
 * How much of the rest to believe: nearly all where it is far above its noise, nothing where noise
 * alone would be as large. Rows that are heavy on all sides alike have next to no rest in the mean,
 * and pay nothing for it.
 */
function certainPart(sum: Float64Array, sigma: number): number {
  const square = sum.reduce((total, entry) => total + entry * entry, 0) / (sigma * sigma);
  const byChance = sum.length + Math.sqrt(2 * sum.length);
  return square <= byChance ? 0 : 1 - pow(byChance / square, 3);
}
