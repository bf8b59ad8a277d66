import { chiSquareAt } from '../numerics/chi-square.js';
import { columnOf, finiteRows, meanAround, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { placesAlong, topDirection } from './top-direction.js';

/**
 * From this many rows per column on, the widest axis of a group shows hostile rows rather than
 * chance.
 */
const rowsPerColumn = 8;
const rowsLeast = 30;
/** The ball that holds 94.5 % of clean rows: z = 1.6 in Wilson and Hilferty's cube root. */
const ballQuantile = 1.6;
const ballRounds = 4;
/**
 * Along the widest axis, rows farther than this many spreads from the mean of the rest are left
 * out.
 */
const axisThreshold = 2.1;
const axisRounds = 5;
/** Hostile rows may raise the measured spread to at most this many times the given one. */
const spreadMost = 1.3;

/** True if a group of this many rows is large enough for {@link twoThresholdMean}. */
export function isLargeGroup(rows: number, dimension: number): boolean {
  return rows >= Math.max(rowsLeast, rowsPerColumn * dimension);
}

/**
 * Variance of {@link twoThresholdMean} times the number of rows, in squared spreads, on Gaussian
 * rows of that spread. Fitted to groups of 30 to 400 rows with 1 to 20 columns, to within 10 %.
 */
export function twoThresholdVariance(rows: number, dimension: number): number {
  return 1.1 + 0.3 / dimension + (1.9 * dimension) / rows;
}

/**
 * The mean of the rows inside a ball and inside a slab across the axis in which those rows are
 * widest. Ball and slab move to the mean of their rows until they settle. So a cluster of rows at
 * the edge has no pull once it is outside. A ball that stayed around the median would keep a
 * cluster of 5 % three spreads away, and lose the honest rows on the opposite side.
 *
 * For rows with a standard deviation of about `spread` in every direction. Hostile rows at one
 * place move the mean by at most about (1.5 + .55 sqrt(d)) spreads for each hostile row per honest
 * row, and by half of that if they are on both sides of the edge. Every input has an answer: rows
 * with a non-finite entry are left out, and no rows give the zero vector. Deterministic. The order
 * of the rows affects only the last digits. Not private: it summarises groups, and privacy never
 * depends on it. O(n d^2 + d^3).
 */
export function twoThresholdMean(given: PointSet, spread: number): Float64Array {
  const points = finiteRows(given);
  const { count, dimension } = points;
  const start = Float64Array.from({ length: dimension }, (_, j) =>
    (count === 0 ? 0 : median(columnOf(points, j))));
  if (count === 0) return start;
  const radii = radiiAbout(points, start);
  const reach = (deviations: number): number => Math.sqrt(chiSquareAt(deviations, dimension));
  const measured = median(radii) / reach(0);
  const unit = Math.min(Math.max(measured, spread), spreadMost * spread);
  const { centre, keep } = movedBall(points, start, unit * reach(ballQuantile));
  return movedSlab(points, centre, keep, unit * axisThreshold);
}

function radiiAbout(points: PointSet, centre: Float64Array): Float64Array {
  const { count, dimension, values } = points;
  const radii = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let j = 0; j < dimension; j++) sum += (values[i * dimension + j]! - centre[j]!) ** 2;
    radii[i] = Math.sqrt(sum);
  }
  return radii;
}

/**
 * If a moved ball would hold less than half of the rows, it has lost them and returns to where it
 * was.
 */
function movedBall(
  points: PointSet, start: Float64Array, radius: number,
): { centre: Float64Array; keep: Uint8Array } {
  let centre = start;
  let keep = new Uint8Array(points.count).fill(1);
  for (let round = 0; round < ballRounds; round++) {
    const inside =
      Uint8Array.from(radiiAbout(points, centre), (entry) => (entry <= radius ? 1 : 0));
    // Later rounds find the same. They run anyway, so that the work does not depend on the rows.
    if (2 * inside.reduce((sum, entry) => sum + entry, 0) < points.count) continue;
    keep = inside;
    centre = meanAround(points, centre, keep);
  }
  return { centre, keep };
}

function movedSlab(
  points: PointSet, centre: Float64Array, keep: Uint8Array, width: number,
): Float64Array {
  const relative = points.values.map((entry, i) => entry - centre[i % points.dimension]!);
  const places = placesAlong(relative, topDirection(relative, keep, points.dimension));
  let middle = median(places.filter((_, i) => keep[i] === 1));
  let inside = keep;
  for (let round = 0; round < axisRounds; round++) {
    const next =
      keep.map((kept, i) => (kept === 1 && Math.abs(places[i]! - middle) <= width ? 1 : 0));
    let [sum, held] = [0, 0];
    for (let i = 0; i < points.count; i++) {
      if (next[i] === 0) continue;
      sum += places[i]!;
      held += 1;
    }
    if (held === 0) continue;
    inside = next;
    middle = sum / held;
  }
  return meanAround(points, centre, inside);
}
