import { chiSquareAt } from '../numerics/chi-square.js';
import { columnOf, finiteRows, meanAround, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { placesAlong, topDirection } from './top-direction.js';

/** Rows per column from which on the widest axis of a group says more about hostile rows than about chance. */
const rowsPerColumn = 8;
const rowsLeast = 30;
/** The ball that holds 94.5 % of clean rows: z = 1.6 in Wilson and Hilferty's cube root. */
const ballQuantile = 1.6;
const ballRounds = 4;
/** Along the widest axis rows farther than this many scales from the middle of the rest are left out. */
const axisCut = 2.1;
const axisRounds = 5;
/** Hostile rows may make the measured scale this much larger than the given one, and no larger. */
const scaleMost = 1.3;

/** Whether a group of so many rows is large enough for {@link twoCutMean}. */
export function isLargeGroup(rows: number, dimension: number): boolean {
  return rows >= Math.max(rowsLeast, rowsPerColumn * dimension);
}

/**
 * Variance of {@link twoCutMean} times the rows, in squared scales, on Gaussian rows of that scale: fitted to groups of
 * 30 to 400 rows with 1 to 20 columns, to within 10 %.
 */
export function twoCutVariance(rows: number, dimension: number): number {
  return 1.1 + 0.3 / dimension + (1.9 * dimension) / rows;
}

/**
 * The mean of the rows in a ball and, along the axis in which those are widest, in a slab. Both are moved to the mean of
 * what they hold until it stays, so that a lump at their edge, once out, no longer pulls: a ball that stays about the
 * median keeps a lump of 5 % three scales away, and loses the honest rows opposite to it.
 *
 * For rows of about `scale` in every direction. Hostile rows that stand together move it by at most about
 * (1.5 + .55 sqrt(d)) of them per honest one, half of that where they stand on both sides of the edge. Total:
 * rows with a non-finite entry are left out, no row gives the zero vector. Deterministic; the order of rows has a say in
 * the last digits only. Not private: groups are summed up with it, and privacy never depends on that. O(n d^2 + d^3).
 */
export function twoCutMean(given: PointSet, scale: number): Float64Array {
  const points = finiteRows(given);
  const { count, dimension } = points;
  const start = Float64Array.from({ length: dimension }, (_, j) => (count === 0 ? 0 : median(columnOf(points, j))));
  if (count === 0) return start;
  const radii = radiiAbout(points, start);
  const reach = (deviations: number): number => Math.sqrt(chiSquareAt(deviations, dimension));
  const measured = median(radii) / reach(0);
  const unit = Math.min(Math.max(measured, scale), scaleMost * scale);
  const { centre, keep } = movedBall(points, start, unit * reach(ballQuantile));
  return movedSlab(points, centre, keep, unit * axisCut);
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

/** A ball that would hold less than half of the rows stays where it was: it has lost them. */
function movedBall(points: PointSet, start: Float64Array, radius: number): { centre: Float64Array; keep: Uint8Array } {
  let centre = start;
  let keep = new Uint8Array(points.count).fill(1);
  for (let round = 0; round < ballRounds; round++) {
    const inside = Uint8Array.from(radiiAbout(points, centre), (entry) => (entry <= radius ? 1 : 0));
    // Later rounds find the same; they are made all the same, so that the work does not depend on
    // the rows.
    if (2 * inside.reduce((sum, entry) => sum + entry, 0) < points.count) continue;
    keep = inside;
    centre = meanAround(points, centre, keep);
  }
  return { centre, keep };
}

function movedSlab(points: PointSet, centre: Float64Array, keep: Uint8Array, width: number): Float64Array {
  const relative = points.values.map((entry, i) => entry - centre[i % points.dimension]!);
  const places = placesAlong(relative, topDirection(relative, keep, points.dimension));
  let middle = median(places.filter((_, i) => keep[i] === 1));
  let inside = keep;
  for (let round = 0; round < axisRounds; round++) {
    const next = keep.map((kept, i) => (kept === 1 && Math.abs(places[i]! - middle) <= width ? 1 : 0));
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
