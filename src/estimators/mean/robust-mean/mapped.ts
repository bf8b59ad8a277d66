import { ownKernels } from '../../../numerics/kernels/index.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { PooledRows } from '../../contract/estimator.js';
import { distanceBinOf, distanceBins } from '../../pooled/radius.js';
import { axisBins, binAlongAxis } from '../../pooled/valleys.js';

/**
 * Rows in spreads, mapped so that they vary alike in every direction, and sums of them.
 *
 * Claim. What a row is mapped to, and whether it is left, are functions of this row and of
 * released numbers. Every vector is clipped to its ball after the map, in whole grid steps, so
 * sums are exact and neighbours' sums differ by at most the bound that the event states.
 */

/** Where rows are mapped: v = map ((x - centre) / spread - mean). All of it released. */
export interface Frame {
  /** In spreads. */
  readonly mean: Float64Array;
  /** Row-major d x d; null: rows stay as they are. */
  readonly map: Float64Array | null;
  /** Inverse of the map. */
  readonly inverse: Float64Array | null;
}

export interface MappedRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major; finite, or NaN in rows that are not present. */
  readonly entries: Float64Array;
  /** 0 for rows with an entry that is not finite. */
  readonly present: Uint8Array;
  /** 0 for rows that are not present, or have been removed. */
  readonly alive: Uint8Array;
}

/** Rows that are handled at a time. */
const chunk = 1024;

/** Entries past this, in spreads, are taken for this: their squares are finite. */
const entryMax = 1e100;

/**
 * Writes where rows are mapped to. O(n d), with a map O(n d^2). Where a row is mapped to does not
 * depend on the other rows, to the last bit: the kernel adds up each entry by itself, in order.
 * @param into - gets the entries of the first rows that it has room for.
 */
export function mapRows(
  { values, dimension }: PooledRows, centre: Float64Array, spread: Float64Array,
  { mean, map }: Frame, into: Float64Array, present: Uint8Array,
): void {
  for (let i = 0, at = 0; at < into.length; i++, at += dimension) {
    let isFinite = 1;
    for (let j = 0; j < dimension; j++) {
      const value = values[at + j]!;
      if (!Number.isFinite(value)) isFinite = 0;
      const entry = (value - centre[j]!) / spread[j]!;
      into[at + j] = Math.max(-entryMax, Math.min(entryMax, entry)) - mean[j]!;
    }
    present[i] = isFinite;
    if (isFinite === 0) into.fill(NaN, at, at + dimension);
  }
  if (map === null) return;
  const transposed =
    map.map((_, at) => map[(at % dimension) * dimension + Math.floor(at / dimension)]!);
  for (let at = 0; at < into.length; at += chunk * dimension) {
    const rows = into.subarray(at, at + chunk * dimension);
    const count = rows.length / dimension;
    ownKernels().product(rows, transposed, count, dimension, dimension, rows);
  }
}

/** Adds a function of the row that starts at `at`: a vector of norm at most `ball.steps`. */
type Adder = (steps: Float64Array, at: number, sums: Float64Array) => void;

/** Sums over the rows that are left, each clipped to the ball first. In grid steps, exact. */
function sumsOf(
  { count, dimension, entries, alive }: MappedRows, { grid, steps }: ClipBall, add: Adder, unit = 1,
): Float64Array {
  const ball = {
    grid, steps, centre: new Float64Array(dimension),
    unit: new Float64Array(dimension).fill(unit),
  };
  const clipped = new Float64Array(Math.min(chunk, count) * dimension);
  const there = new Uint8Array(chunk);
  const sums = new Float64Array(dimension);
  for (let first = 0; first < count; first += chunk) {
    const size = Math.min(chunk, count - first);
    const rows = entries.subarray(first * dimension, (first + size) * dimension);
    ownKernels().clipRows(rows, dimension, size, ball, clipped, there);
    for (let i = 0; i < size; i++) {
      if (alive[first + i] !== 0 && there[i] !== 0) add(clipped, i * dimension, sums);
    }
  }
  return sums;
}

const addRow: Adder = (steps, at, sums) => {
  for (let j = 0; j < sums.length; j++) sums[j]! += steps[at + j]!;
};

/** Sum of the rows left, divided by `radius`, in the ball. Neighbours: 2 ball.radius. */
export function sumOfRows(rows: MappedRows, ball: ClipBall, radius: number): Float64Array {
  return sumsOf(rows, ball, addRow, radius);
}

/**
 * Sum of v norm(v)^2 / R^2, v clipped to the ball of radius R, rounded toward zero. Each term is
 * no longer than v, so neighbours differ by at most 2 R. The products are whole numbers below
 * 2^53, and rounding a quotient of at most v cannot exceed v.
 */
export function thirdMoments(rows: MappedRows, ball: ClipBall): Float64Array {
  const most = ball.steps ** 2;
  return sumsOf(rows, ball, (steps, at, sums) => {
    let square = 0;
    for (let j = 0; j < sums.length; j++) square += steps[at + j]! * steps[at + j]!;
    for (let j = 0; j < sums.length; j++) sums[j]! += Math.trunc((steps[at + j]! * square) / most);
  });
}

/** Sum of the clipped rows whose entry along `axis` is above `least`. Neighbours: 2 R. */
export function sumBeyond(
  rows: MappedRows, ball: ClipBall, axis: Float64Array, least: number,
): Float64Array {
  const from = least / ball.grid;
  return sumsOf(rows, ball, (steps, at, sums) => {
    let along = 0;
    for (let j = 0; j < axis.length; j++) along += axis[j]! * steps[at + j]!;
    if (along > from) addRow(steps, at, sums);
  });
}

/** Histogram of the rows left along an axis: every row is in one bin. */
export function axisCounts(rows: MappedRows, axis: Float64Array): Float64Array {
  const counts = new Float64Array(axisBins);
  eachAlong(rows, axis, (_, bin) => (counts[bin]! += 1));
  return counts;
}

/** Removes the rows in bins below `low`, and from `high` on. Both released. */
export function removeAlong(
  rows: MappedRows, axis: Float64Array, low: number, high: number,
): void {
  eachAlong(rows, axis, (i, bin) => {
    if (bin < low || bin >= high) rows.alive[i] = 0;
  });
}

function eachAlong(
  { count, dimension, entries, alive }: MappedRows, axis: Float64Array,
  see: (row: number, bin: number) => void,
): void {
  for (let i = 0, at = 0; i < count; i++, at += dimension) {
    if (alive[i] === 0) continue;
    let along = 0;
    for (let j = 0; j < dimension; j++) along += axis[j]! * entries[at + j]!;
    see(i, binAlongAxis(along));
  }
}

/**
 * Two histograms of distances side by side: of the rows left, then of those that have been removed.
 * Every row is in one bin of one of them, so neighbours differ by at most sqrt 2 in all.
 */
export function distanceCounts(rows: MappedRows): Float64Array {
  const counts = new Float64Array(2 * distanceBins);
  eachDistance({ ...rows, alive: rows.present }, (i, bin) => {
    counts[rows.alive[i] === 0 ? distanceBins + bin : bin]! += 1;
  });
  return counts;
}

/** A unit axis along which a ball is so many times as long. Released. */
export interface Stretch {
  readonly axis: Float64Array;
  readonly times: number;
}

/**
 * Sum of the rows that have been removed, divided by `radius`, in the ball. With a stretch also of
 * those past the bins of its axis; each row is squeezed along the axis first. Neighbours:
 * 2 ball.radius.
 */
export function sumApart(
  rows: MappedRows, ball: ClipBall, radius: number, stretch: Stretch | null,
): Float64Array {
  const alive = rows.present.map((there, i) => (rows.alive[i] === 0 ? there : 0));
  if (stretch === null) return sumOfRows({ ...rows, alive }, ball, radius);
  const { axis, times } = stretch;
  eachAlong(rows, axis, (i, bin) => {
    if (bin === 0 || bin === axisBins - 1) alive[i] = 1;
  });
  const entries = stretched(rows.entries, { axis, times: 1 / times });
  return sumOfRows({ ...rows, alive, entries }, ball, radius);
}

/** Vectors, one after another, each so many times as long along an axis. A pure function. */
export function stretched(vectors: Float64Array, { axis, times }: Stretch): Float64Array {
  const dimension = axis.length;
  const result = vectors.slice();
  for (let at = 0; at < result.length; at += dimension) {
    let along = 0;
    for (let j = 0; j < dimension; j++) along += axis[j]! * vectors[at + j]!;
    for (let j = 0; j < dimension; j++) result[at + j]! += (times - 1) * along * axis[j]!;
  }
  return result;
}

/** Takes back every row that was removed. */
export function takeBack(rows: MappedRows): void {
  rows.alive.set(rows.present);
}

/** Removes the rows in the distance's bins from `high` on, which is released. */
export function removeBeyond(rows: MappedRows, high: number): void {
  eachDistance(rows, (i, bin) => {
    if (bin >= high) rows.alive[i] = 0;
  });
}

function eachDistance(
  { count, dimension, entries, alive }: MappedRows, see: (row: number, bin: number) => void,
): void {
  const binOf = distanceBinOf(dimension);
  for (let i = 0, at = 0; i < count; i++, at += dimension) {
    if (alive[i] === 0) continue;
    let square = 0;
    for (let j = 0; j < dimension; j++) square += entries[at + j]! * entries[at + j]!;
    see(i, binOf(square));
  }
}
