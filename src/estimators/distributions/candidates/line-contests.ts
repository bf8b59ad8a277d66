import type { RowBlock } from '../../../privacy/stages/rows.js';
import { Contests, type ContestRules } from './contests.js';
import type { LineDistribution } from './line.js';
import { thresholdsOf, massAt, massesAt, tableOf, type LineTable } from './tables.js';

/** Hypotheses about one number: their tables, and the points that divide each into cells. */
export interface LineContestants {
  readonly tables: readonly LineTable[];
  /** Ascending points of each. */
  readonly points: readonly Float64Array[];
  /** Every hypothesis's points in one ascending list. */
  readonly pooled: Float64Array;
  /** Where in that list a hypothesis's points are. */
  readonly places: readonly Int32Array[];
}

/** @param parts - cells of each hypothesis, of about the same mass. */
export function lineContestants(
  lines: readonly LineDistribution[], parts: number,
): LineContestants {
  const tables = lines.map(tableOf);
  const points = tables.map((table) => thresholdsOf(table, parts));
  const pooled = Float64Array.from(points.flatMap((list) => [...list])).sort();
  const places = points.map((list) =>
    Int32Array.from(list, (point) => countAtMost(pooled, point) - 1));
  return { tables, points, pooled, places };
}

/**
 * One side of a contest: its points, and for each point its own mass, the number of rows and the
 * other side's mass up to it.
 */
interface Side {
  readonly points: Float64Array;
  readonly own: Float64Array;
  readonly ranks: Float64Array;
  readonly other: Float64Array;
}

/**
 * Scores for rows of one column. The points of the two hypotheses divide the line into cells. W is
 * the union of the cells to which the first hypothesis gives more probability than the second, by
 * the tables. Its probabilities come from the tables too. So only the number of rows in W depends
 * on data, as the claim of `Contests` requires. O(hypotheses^2 points log knots): no distribution
 * is evaluated.
 */
export function lineScores(
  { tables, points, pooled, places }: LineContestants, { count, values }: RowBlock,
  rules: ContestRules,
): Float64Array {
  const sorted = values.slice(0, count).sort();
  const ranks = points.map((list) =>
    Float64Array.from(list, (point) => countAtMost(sorted, point)));
  const own = points.map((list, i) => list.map((point) => massAt(tables[i]!, point)));
  const contests = new Contests(points.length, count, rules);
  const longest = points.reduce((most, { length }) => Math.max(most, length), 0);
  const [everywhere, left, right] = [
    new Float64Array(pooled.length), new Float64Array(longest), new Float64Array(longest),
  ];
  for (let j = 1; j < points.length; j++) {
    massesAt(tables[j]!, pooled, everywhere);
    const second: Side = { points: points[j]!, own: own[j]!, ranks: ranks[j]!, other: right };
    for (let i = 0; i < j; i++) {
      for (let x = 0; x < places[i]!.length; x++) left[x] = everywhere[places[i]![x]!]!;
      for (let y = 0;
          y < second.points.length; y++) right[y] = massAt(tables[i]!, second.points[y]!);
      const met = meet(
        { points: points[i]!, own: own[i]!, ranks: ranks[i]!, other: left }, second, count,
      );
      contests.hold(i, j, met.first, met.second, met.inside);
    }
  }
  return contests.scores;
}

/** The set W of two sides: its probability for each side, and the number of rows in it. */
function meet(
  one: Side, two: Side, count: number,
): { first: number; second: number; inside: number } {
  const [a, b] = [one.points, two.points];
  let [x, y, lastOne, lastTwo, lastRank] = [0, 0, 0, 0, 0];
  let [first, second, inside] = [0, 0, 0];
  for (;;) {
    let [massOne, massTwo, rank] = [1, 1, count];
    const isEnd = x === a.length && y === b.length;
    if (x < a.length && (y === b.length || a[x]! <= b[y]!)) {
      massOne = one.own[x]!;
      massTwo = one.other[x]!;
      rank = one.ranks[x]!;
      if (y < b.length && b[y] === a[x]) y += 1;
      x += 1;
    } else if (y < b.length) {
      massOne = two.other[y]!;
      massTwo = two.own[y]!;
      rank = two.ranks[y]!;
      y += 1;
    }
    if (massOne - lastOne > massTwo - lastTwo) {
      first += massOne - lastOne;
      second += massTwo - lastTwo;
      inside += rank - lastRank;
    }
    if (isEnd) return { first, second, inside };
    [lastOne, lastTwo, lastRank] = [massOne, massTwo, rank];
  }
}

/** How many of the ascending values are at most `point`. */
function countAtMost(sorted: Float64Array, point: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= point) low = middle + 1;
    else high = middle;
  }
  return low;
}
