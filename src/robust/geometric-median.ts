import { columnOf, finiteRows, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { allFinite, maximumNorm } from '../numerics/vector.js';

/**
 * Weiszfeld steps, one pass over the points each. The number is fixed: how soon points converge
 * depends on them, and the time of a private release must not.
 */
const iterations = 50;

/**
 * The point with the smallest sum of distances to the given points, to about 1e-6 of their spread.
 *
 * Breakdown point 1/2: a share f < 1/2 of the points, at any places, moves it by at most (2 (1 - f)
 * / (1 - 2 f)) times the radius of the rest. Duplicates count as often as they occur. The order of
 * the points affects only the last digits.
 *
 * Method: Weiszfeld's fixed point with the correction of Vardi and Zhang (2000). The plain
 * iteration would divide by zero at a data point; the corrected one leaves that point unless it is
 * the optimum. It starts at the median of each coordinate, which is exact for one dimension and for
 * points along a monotone line. It works relative to that start and to the spread, so neither
 * position nor size costs digits.
 *
 * Every input has an answer: rows with a non-finite entry are left out, and no rows give the zero
 * vector.
 * O(50 n d) time.
 */
export function geometricMedian(given: PointSet): Float64Array {
  const points = finiteRows(given);
  const { count, dimension } = points;
  if (count === 0) return new Float64Array(dimension);
  const start = Float64Array.from({ length: dimension }, (_, j) => median(columnOf(points, j)));
  if (dimension === 1 || count <= 2) return start;
  const relative = new Float64Array(points.values.length);
  for (let i = 0; i < relative.length; i++) relative[i] = points.values[i]! - start[i % dimension]!;
  // A far outlier must not harm the result. The iteration does not depend on scale; the unit only
  // avoids overflow.
  const unit = maximumNorm(relative);
  if (!Number.isFinite(unit)) return start;
  const scaled = unit === 0 || (unit > 1e-100 && unit < 1e100)
    ? relative : relative.map((entry) => entry / unit);
  const back = scaled === relative ? 1 : unit;
  const found = iterate(scaled, count, dimension);
  return allFinite(found) ? found.map((entry, j) => start[j]! + back * entry) : start;
}

function iterate(values: Float64Array, count: number, dimension: number): Float64Array {
  let current = new Float64Array(dimension);
  for (let iteration = 0; iteration < iterations; iteration++) {
    current = weiszfeldStep(values, count, dimension, current) ?? current;
  }
  return current;
}

/** One corrected step; null if `current` is a data point and the optimum. */
function weiszfeldStep(
  values: Float64Array,
  count: number,
  dimension: number,
  current: Float64Array,
): Float64Array<ArrayBuffer> | null {
  const weighted = new Float64Array(dimension);
  let weights = 0;
  let coincident = 0;
  for (let i = 0; i < count; i++) {
    const base = i * dimension;
    let squared = 0;
    for (let j = 0; j < dimension; j++) squared += (values[base + j]! - current[j]!) ** 2;
    if (squared === 0) {
      coincident += 1;
      continue;
    }
    const weight = 1 / Math.sqrt(squared);
    weights += weight;
    for (let j = 0; j < dimension; j++) weighted[j]! += weight * (values[base + j]! - current[j]!);
  }
  if (weights === 0) return null;
  let pull = 0;
  for (const entry of weighted) pull += entry * entry;
  pull = Math.sqrt(pull);
  // At a data point of multiplicity c the subgradient has a ball of radius c. If the pull is inside
  // it, the point is the optimum.
  if (pull <= coincident) return null;
  const share = coincident === 0 ? 1 : 1 - coincident / pull;
  const next = new Float64Array(dimension);
  for (let j = 0; j < dimension; j++) next[j] = current[j]! + (share * weighted[j]!) / weights;
  return next;
}
