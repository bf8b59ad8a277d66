import { InvalidInputError } from '../base/errors.js';
import { checkList, checkObject, kindOf } from '../base/given.js';

/** Points of R^dimension, row-major: `count * dimension` values. */
export interface PointSet {
  readonly count: number;
  readonly dimension: number;
  readonly values: Float64Array;
}

/**
 * Copies rows of one length into a point set.
 * @param dimension - entries of each row. Needed if there may be no rows.
 * @throws InvalidInputError if a row has another length, or an entry that is not a number. NaN and
 *   Infinity are numbers; each function that takes points says how it treats such rows.
 */
export function pointSet(
  rows: readonly ArrayLike<number>[], dimension = widthOf(rows),
): PointSet {
  checkList(rows, 'rows are a list of rows, like [[1, 2], [3, 4]]');
  const values = new Float64Array(rows.length * dimension);
  rows.forEach((row, index) => {
    checkNumbers(row, index);
    if (row.length !== dimension) {
      throw new InvalidInputError(
        `row ${index} has ${row.length} entries, and ${dimension} are expected: give every row as `
          + 'many',
        { row: index, entries: row.length, dimension },
      );
    }
    values.set(row, index * dimension);
  });
  return { count: rows.length, dimension, values };
}

function widthOf(rows: readonly ArrayLike<number>[]): number {
  return typeof rows === 'object' ? rows?.[0]?.length ?? 0 : 0;
}

/** Without this check, null and true would become 0 and 1. */
function checkNumbers(row: ArrayLike<number>, index: number): void {
  if (ArrayBuffer.isView(row)) return;
  const remedy = 'give each row as a list of numbers';
  if (!Array.isArray(row)) {
    throw new InvalidInputError(`row ${index} is ${kindOf(row)}: ${remedy}`, { row: index });
  }
  const column = (row as readonly unknown[]).findIndex((entry) => typeof entry !== 'number');
  if (column < 0) return;
  const found = `row ${index} holds something else than a number in column ${column} (both from 0)`;
  throw new InvalidInputError(`${found}: ${remedy}`, { row: index, column });
}

/** A view of one row; not a copy. */
export function rowOf(points: PointSet, index: number): Float64Array {
  return points.values.subarray(index * points.dimension, (index + 1) * points.dimension);
}

/** A copy of one column. */
export function columnOf(points: PointSet, column: number): Float64Array {
  const entries = new Float64Array(points.count);
  for (let i = 0; i < points.count; i++) entries[i] = points.values[i * points.dimension + column]!;
  return entries;
}

/**
 * The mean of the rows marked in `keep` (default: all), summed around `origin` so that points far
 * from zero lose no digits. Returns `origin` if there are no rows.
 */
export function meanAround(
  points: PointSet, origin: Float64Array, keep?: Uint8Array,
): Float64Array {
  const sum = new Float64Array(points.dimension);
  let count = 0;
  for (let i = 0; i < points.count; i++) {
    if (keep !== undefined && keep[i] === 0) continue;
    count += 1;
    const base = i * points.dimension;
    for (let j = 0; j < points.dimension; j++) sum[j]! += points.values[base + j]! - origin[j]!;
  }
  return count === 0 ? origin.slice() : sum.map((entry, j) => origin[j]! + entry / count);
}

/**
 * The points without the rows that have a non-finite entry; the same object if there are none.
 * @throws InvalidInputError if there are not `count * dimension` values.
 */
export function finiteRows(points: PointSet): PointSet {
  checkObject(points, 'points are what pointSet(rows) returns');
  const { count, dimension, values } = points;
  if (!(values instanceof Float64Array)) {
    throw new InvalidInputError('points have no values: make them of rows with pointSet(rows)');
  }
  if (values.length !== count * dimension) {
    throw new InvalidInputError(
      `${count} rows of ${dimension} columns have ${count * dimension} values, not `
      + `${values.length}: give a point set whose count and dimension say what it `
      + 'holds', { count, dimension, values: values.length },
    );
  }
  const kept: Float64Array[] = [];
  for (let i = 0; i < points.count; i++) {
    const row = rowOf(points, i);
    if (row.every((entry) => Number.isFinite(entry))) kept.push(row);
  }
  return kept.length === points.count ? points : pointSet(kept, points.dimension);
}
