import { pow } from '../../../base/elementary.js';
import type { PooledRows } from '../../contract/estimator.js';

/**
 * How firmly rows speak for each of a few candidates for their mean.
 *
 * Every candidate p meets the same opponents q = p + apart u, u a unit vector along a column, a
 * diagonal, or against one. Let t_i be the rows' places on the line from p to q, clipped to
 * [-clip, clip] around p. p loses to q in a group of rows when the mean of the t_i is at least
 * halfway. A candidate's score is the least number of rows that must be replaced, added or removed
 * before it loses to some q in more than half of the groups; at most `cap`.
 *
 * Claim: no score changes by more than 1 when one row is replaced by anything, or by nothing, or
 * added.
 * Why: for a fixed q the score is the distance, in such steps, to a set of data sets. A distance to
 * a set is 1-Lipschitz, and so are the least of several and the cap. It remains to show that the
 * cheapest steps are counted exactly. A group's loss is Sum (t_i - h) >= 0, where h is half the
 * distance. Replacing the smallest t by clip adds clip - t, which is more than removing it adds.
 * When no t below h is left, adding a row at clip adds clip - h, which is then the most. A row is
 * in one group by its tag, so the steps of groups add up, and the cheapest majority is that of the
 * smallest counts. Places are rounded down to a public grid first, a function of the one row, so
 * counting rows per place is exact.
 *
 * Source: Kamath, Singhal and Ullman (2020), Algorithm 4. It compares candidates with each other,
 * those that are farther apart than its own grid of candidates reaches. On a grid whose ends have
 * opponents on one side only, the candidates next to the middle win wherever the mean is. With
 * opponents on every side scores fall off evenly: a candidate at distance r from the mean is about
 * (apart / 2 - r) rows per 2 clip from losing.
 */
export interface Tournament {
  /** Row-major, count * dimension, in units of spread; public or released. */
  readonly candidates: Float64Array;
  readonly dimension: number;
  readonly clip: number;
  /** Distance of an opponent. */
  readonly apart: number;
  readonly groups: number;
  /** Public. */
  readonly cap: number;
}

/** Places on a line from -clip to clip. */
const placesPerSide = 1024;

/** The directions of opponents: of all vectors of -1, 0 and 1 but zero, 2, 8 or 26. */
function directionsOf(dimension: number): readonly Float64Array[] {
  const count = pow(3, dimension);
  return Array.from({ length: count }, (_, index) =>
    Float64Array.from({ length: dimension }, (__, j) => Math.floor(index / pow(3, j)) % 3 - 1))
    .filter((steps) => steps.some((step) => step !== 0))
    .map((steps) => steps.map((step) => step / Math.hypot(...steps)));
}

/**
 * One score per candidate. O(candidates * 3^dimension * rows), also where a score is 0 early: the
 * time must not depend on what the rows say.
 * @param spread - one per column.
 */
export function tournamentScores(
  rows: PooledRows, spread: Float64Array, tournament: Tournament,
): Float64Array {
  const { candidates, dimension, cap } = tournament;
  const count = candidates.length / dimension;
  const points = finiteRows(rows, spread, tournament.groups);
  const scores = new Float64Array(count).fill(cap);
  const directions = directionsOf(dimension);
  for (let p = 0; p < count; p++) {
    for (const direction of directions) {
      scores[p] = Math.min(scores[p]!, stepsToLose(points, tournament, p, direction));
    }
  }
  return scores;
}

interface GroupedPoints {
  readonly values: Float64Array;
  readonly groups: Uint32Array;
}

function finiteRows(
  { count, dimension, values, tags }: PooledRows, spread: Float64Array, groups: number,
): GroupedPoints {
  const scaled: number[] = [];
  const places: number[] = [];
  for (let row = 0; row < count; row++) {
    const entries = Array.from(spread, (unit, j) => values[row * dimension + j]! / unit);
    if (!entries.every((entry) => Number.isFinite(entry))) continue;
    scaled.push(...entries);
    places.push(Number(tags[row]! % BigInt(groups)));
  }
  return { values: Float64Array.from(scaled), groups: Uint32Array.from(places) };
}

/** Infinity when no rows at all make p lose to its opponent in this direction. */
function stepsToLose(
  points: GroupedPoints, tournament: Tournament, p: number, direction: Float64Array,
): number {
  const { candidates, dimension, clip, apart, groups } = tournament;
  // In places: the line is divided into whole steps, so that sums of them are exact.
  const half = ((apart / 2) / clip) * placesPerSide;
  if (!(half < placesPerSide)) return Infinity;
  const width = 2 * placesPerSide + 1;
  const counts = new Uint32Array(groups * width);
  for (let row = 0; row < points.groups.length; row++) {
    let along = 0;
    for (let j = 0; j < dimension; j++) {
      along +=
        (points.values[row * dimension + j]! - candidates[p * dimension + j]!) * direction[j]!;
    }
    const place = Math.floor((along / clip) * placesPerSide);
    const kept = Number.isNaN(place) ? 0 : Math.max(-placesPerSide, Math.min(placesPerSide, place));
    counts[points.groups[row]! * width + kept + placesPerSide]! += 1;
  }
  const steps = Array.from({ length: groups }, (_, group) =>
    stepsOfGroup(counts.subarray(group * width, (group + 1) * width), half));
  steps.sort((left, right) => left - right);
  return steps.slice(0, Math.floor(groups / 2) + 1).reduce((sum, cost) => sum + cost, 0);
}

/** The least number of steps that lifts Sum (place - half) to 0. */
function stepsOfGroup(counts: Uint32Array, half: number): number {
  let rows = 0;
  let sum = 0;
  counts.forEach((count, index) => {
    rows += count;
    sum += count * (index - placesPerSide);
  });
  let missing = rows * half - sum;
  let steps = 0;
  for (let index = 0; index < counts.length && missing > 0; index++) {
    const place = index - placesPerSide;
    if (place >= half) break;
    const used = Math.min(counts[index]!, Math.ceil(missing / (placesPerSide - place)));
    steps += used;
    missing -= used * (placesPerSide - place);
  }
  return missing > 0 ? steps + Math.ceil(missing / (placesPerSide - half)) : steps;
}
