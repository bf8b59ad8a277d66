import { pow } from '../../../base/elementary.js';
import { firstNot } from '../tables/rank-scores.js';
import { nextAbove } from './doubles.js';

/**
 * Public or released edges of cells for the values of one column. A value is left of an edge if it
 * is below it. A choice for a quantile is a place between two edges. It holds one value, or values
 * that are the same to 12 digits, so people below, at and above it are in different cells.
 */

/** Between the two ends that are chosen for a quantile there are so many equal steps. */
const stepsOfOne = 8;
/** The same where there are several quantiles: each is also told by the edges of the others. */
const stepsOfSeveral = 4;
/** An edge is moved to a shorter number by at most this part of a step. */
const roundedBy = 1 / 4;
/** From this ratio of the two ends on, steps are equal factors. */
const wideRatio = 4;
/** Without a range there is an edge beyond the chosen ones, at least by this part of their size. */
const beyondShare = 1 / 2;

/** The edges of a place: the lowest value in it, and the lowest above it. */
export type Place = readonly [from: number, below: number];
/** Two chosen places, in either order. */
export type Chosen = readonly [Place, Place];

/** How many edges there are for one quantile of several. */
export function edgesOfEach(quantiles: number): number {
  return (quantiles === 1 ? stepsOfOne : stepsOfSeveral) + 3;
}

/** How many edges a column has: one more at each end. */
export function edgesOf(quantiles: number): number {
  return quantiles * edgesOfEach(quantiles) + 2;
}

/**
 * The edges of a column, ascending. There are always `edgesOf` of them, but some may be equal.
 * @param range - the outermost edges are at its ends: so people beyond it are cells of their own.
 * Without a range they are as far out as the chosen places are apart, at least.
 */
export function edgesAbout(
  chosen: readonly Chosen[], range: readonly [low: number, high: number] | undefined,
): Float64Array {
  const steps = chosen.length === 1 ? stepsOfOne : stepsOfSeveral;
  const inner = chosen.flatMap((pair) => {
    const [low, high] = pair.toSorted(([left], [right]) => left - right) as [Place, Place];
    return [...low, ...between(low[0], high[0], steps), ...high];
  });
  const [least, most] = [Math.min(...inner), Math.max(...inner)];
  const farther =
    Math.max(most - least, beyondShare * Math.max(Math.abs(least), Math.abs(most)));
  const outer = range === undefined
    ? [shortWithin(least - farther, farther * roundedBy),
      shortWithin(most + farther, farther * roundedBy)]
    : [range[0], nextAbove(range[1])];
  return Float64Array.from([...inner, ...outer]).sort();
}

/** How many values are in each cell, from that below the lowest edge to that above the highest. */
export function countsBetween(sorted: Float64Array, edges: Float64Array): Float64Array {
  let before = 0;
  const counts = new Float64Array(edges.length + 1);
  for (const [cell, edge] of edges.entries()) {
    const left = firstNot(sorted, before, (value) => value < edge);
    counts[cell] = left - before;
    before = left;
  }
  counts[edges.length] = sorted.length - before;
  return counts;
}

/** Equal steps, or equal factors; the one nearest to zero is zero where it is between the ends. */
function between(low: number, high: number, steps: number): readonly number[] {
  const [near, far] = [Math.abs(low), Math.abs(high)].sort((a, b) => a - b) as [number, number];
  const isWide = (low > 0 || high < 0) && far > wideRatio * near;
  const at = (k: number): number => (isWide
    ? low * pow(high / low, k / steps) : low + (high - low) * (k / steps));
  const within = (value: number): number => Math.min(high, Math.max(low, value));
  const edges = Array.from({ length: steps - 1 }, (_, i) => {
    const tolerance = (at(i + 2) - at(i + 1)) * roundedBy;
    return within(shortWithin(at(i + 1), tolerance));
  });
  if (!(low < 0 && high > 0)) return edges;
  const nearest = edges.reduce((best, edge, i) =>
    (Math.abs(edge) < Math.abs(edges[best]!) ? i : best), 0);
  return edges.with(nearest, 0);
}

/** The number with the fewest digits that is this near. */
export function shortWithin(value: number, tolerance: number): number {
  if (Math.abs(value) <= tolerance) return 0;
  for (let digits = 1; digits < 17; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.abs(rounded - value) <= tolerance) return rounded;
  }
  return value;
}
