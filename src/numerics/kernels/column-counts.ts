import { Arena } from './arena.js';
import { Blocks } from './passes.js';

/**
 * Counts the entries of each column by place or by distance, for all columns in one pass over the
 * rows, or rows by their distance.
 */

let own: Arena | null = null;
const arena = (): Arena => (own ??= new Arena());

/**
 * Bins next to each other are counted in an array. Bins farther away are counted in their column's
 * map, which takes longer.
 */
const nearBins = 256;
/** Size of the sample that places a column's array of bins. */
const sampledRows = 64;
/** Beyond this, bin numbers are not distinct doubles. An entry there is in no bin. */
const binMaximum = 2 ** 52;

/**
 * The first of a column's near bins. Of the stretches of `nearBins` bins, each shifted by half a
 * stretch from the one before, it takes the one with most rows of a sample. One row can change the
 * choice only between stretches with about the same number of rows. So no single row decides how
 * long the count takes.
 */
function lowestNear(
  values: Float64Array, dimension: number, count: number, column: number, width: number,
): number {
  const half = nearBins / 2;
  const halves = new Map<number, number>();
  const rows = Math.min(count, sampledRows);
  for (let i = 0; i < rows; i++) {
    const row = Math.floor((i * count) / rows);
    const place = Math.floor(values[row * dimension + column]! / width / half);
    if (Math.abs(place) <= binMaximum / half) halves.set(place, (halves.get(place) ?? 0) + 1);
  }
  let [lowest, most] = [-1, 0];
  for (const [place, own] of halves) {
    for (const [start, beside] of [[place - 1, place - 1], [place, place + 1]] as const) {
      const held = own + (halves.get(beside) ?? 0);
      if (held > most || (held === most && start < lowest)) [lowest, most] = [start, held];
    }
  }
  return lowest * half;
}

/**
 * Counts rows per bin floor(entry / width), one map per column. An entry that is not finite, or too
 * far away for a bin of its own, is in no bin.
 * @param widths - one per column.
 */
export function countColumnBins(
  values: Float64Array, dimension: number, count: number, widths: Float64Array,
): Map<number, number>[] {
  const far = Array.from({ length: dimension }, () => new Map<number, number>());
  if (count === 0 || dimension === 0) return far;
  const blocks = new Blocks(arena(), values, dimension, count, {});
  const [counted, missed, unit, lowest, ...parts] = arena().layout(
    (nearBins / 2) * dimension, Math.ceil((blocks.size * dimension) / 2), dimension, dimension,
    ...blocks.lengths,
  );
  counted.fill(0);
  unit.set(widths);
  for (let j = 0;
      j < dimension; j++) lowest[j] = lowestNear(values, dimension, count, j, widths[j]!);
  const near = new Uint32Array(counted.buffer, counted.byteOffset, nearBins * dimension);
  const places = new Uint32Array(missed.buffer, missed.byteOffset, blocks.size * dimension);
  const pointers = [unit, lowest, counted, missed].map((part) => part.byteOffset);
  blocks.each(parts, ({ rows, count: size, first }) => {
    const others = arena().exports.countBins(
      rows, size, dimension, pointers[0]!, pointers[1]!, nearBins, pointers[2]!, pointers[3]!,
    );
    for (const place of places.subarray(0, others)) {
      const j = place % dimension;
      const bin = Math.floor(values[first * dimension + place]! / widths[j]!);
      if (Math.abs(bin) <= binMaximum) far[j]!.set(bin, (far[j]!.get(bin) ?? 0) + 1);
    }
  });
  far.forEach((bins, j) => {
    for (let place = 0; place < nearBins; place++) {
      const rows = near[j * nearBins + place]!;
      const bin = lowest[j]! + place;
      // Zero is one bin, with either sign.
      if (rows > 0 && Math.abs(bin) <= binMaximum) bins.set(bin + 0, rows);
    }
  });
  return far;
}

/** Cells side by side in every column, all of one width. */
export interface CellPlaces {
  /** Where each column's first cell begins. */
  readonly lows: Float64Array;
  /** Cells per unit of each column, positive. */
  readonly rates: Float64Array;
  /** The same number in every column. */
  readonly cells: number;
}

/**
 * Counts the finite entries of each column by cell, cells + 2 numbers per column: first the entries
 * below all cells, then for each k < cells those with floor((entry - low) * rate) = k, then those
 * above.
 */
export function countColumnCells(
  values: Float64Array, dimension: number, count: number, { lows, rates, cells }: CellPlaces,
): Float64Array {
  const counts = new Float64Array((cells + 2) * dimension);
  if (count === 0 || dimension === 0) return counts;
  const blocks = new Blocks(arena(), values, dimension, count, {});
  // Two columns are read at a time, so an odd number of columns needs one more.
  const [counted, places, scales, ...parts] = arena().layout(
    Math.ceil(((cells + 3) * dimension) / 2), dimension + 1, dimension + 1, ...blocks.lengths,
  );
  counted.fill(0);
  places.set(lows);
  scales.set(rates);
  blocks.each(parts, ({ rows, count: rowsHere }) => {
    arena().exports.countCells(
      rows, rowsHere, dimension, places.byteOffset, scales.byteOffset, cells, counted.byteOffset,
    );
  });
  const all = new Uint32Array(counted.buffer, counted.byteOffset, (cells + 3) * dimension);
  for (let j = 0; j < dimension; j++) {
    counts.set(all.subarray(j * (cells + 3), j * (cells + 3) + cells + 2), j * (cells + 2));
  }
  return counts;
}

/** The centre of the distances, their unit, and the edges of their bins. */
export interface DistancePlaces {
  readonly centre: Float64Array;
  /** One per column. */
  readonly unit: Float64Array;
  /** Squares of distances in units, ascending. */
  readonly edges: Float64Array;
}

/**
 * Counts rows by how many of the edges their squared distance is not below, edges + 1 numbers. Sums
 * run over columns in order. A row with an entry that is not finite is not counted; one whose
 * square is larger than any double counts in the last place.
 */
export function countDistances(
  values: Float64Array, dimension: number, count: number, { centre, unit, edges }: DistancePlaces,
): Float64Array {
  const counts = new Float64Array(edges.length + 1);
  if (count === 0 || dimension === 0) return counts;
  const blocks = new Blocks(arena(), values, dimension, count, {});
  const [middle, units, limits, work, counted, ...parts] = arena().layout(
    dimension, dimension, edges.length, 4, counts.length, ...blocks.lengths,
  );
  middle.set(centre);
  units.set(unit);
  limits.set(edges);
  counted.fill(0);
  const pointers = [middle, units, limits, work, counted].map((part) => part.byteOffset);
  blocks.each(parts, ({ rows, count: held }) => {
    arena().exports.countDistances(
      rows, held, dimension, pointers[0]!, pointers[1]!, pointers[2]!, edges.length, pointers[3]!,
      pointers[4]!,
    );
  });
  counts.set(counted);
  return counts;
}

/** Cells of distances, the same on both sides of a centre. */
export interface SidePlaces {
  /** By the first 13 bits of a distance after its sign: its place in the other two. */
  readonly placeOf: Uint8Array;
  /** By place: the cell of the distances that are below the edge. Others are in the next one. */
  readonly cellAtLeast: Uint8Array;
  readonly edgeAt: Float64Array;
  /** The number of cells on one side. */
  readonly cells: number;
}

/**
 * Counts numbers by their distance from a centre: `cells` counts of those above it, or at it, then
 * as many of those below. Numbers that are not finite are not counted. No time depends on the
 * numbers.
 */
export function countSides(
  values: Float64Array, count: number, centre: number, places: SidePlaces,
): Float64Array {
  const counts = new Float64Array(2 * places.cells);
  if (count === 0) return counts;
  const blocks = new Blocks(arena(), values, 1, count, {});
  const [firsts, cells, edges, counted, ...parts] = arena().layout(
    places.placeOf.length / 8, Math.ceil(places.cellAtLeast.length / 8), places.edgeAt.length,
    places.cells, ...blocks.lengths,
  );
  new Uint8Array(firsts.buffer, firsts.byteOffset).set(places.placeOf);
  new Uint8Array(cells.buffer, cells.byteOffset).set(places.cellAtLeast);
  edges.set(places.edgeAt);
  counted.fill(0);
  const pointers = [firsts, cells, edges, counted].map((part) => part.byteOffset);
  blocks.each(parts, ({ rows, count: held }) => {
    arena().exports.countSides(
      rows, held, centre, pointers[0]!, pointers[1]!, pointers[2]!, places.cells, pointers[3]!,
    );
  });
  counts.set(new Uint32Array(counted.buffer, counted.byteOffset, counts.length));
  return counts;
}

/**
 * Bins of a difference go from 2^-200 to 2^200. Smaller and larger ones count in the first and last
 * bin.
 */
const doublingsMaximum = 200;
/** The bin of differences that are exactly 0, before the first doubling. */
export const zeroBin = -doublingsMaximum - 1;
/** Number of bins, from `zeroBin` on. */
export const doublings = 2 * doublingsMaximum + 2;
/** The high word of a double holds its exponent. */
const wordOfExponent = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

const difference = new Float64Array(1);
const words = new Uint32Array(difference.buffer);

/**
 * The bin of a difference: `zeroBin` for exactly 0, and else floor(log2 |difference|) clamped to
 * -200 .. 200. Undefined for a difference that is not a number.
 */
export function doublingOf(entry: number): number | undefined {
  if (entry !== entry) return undefined;
  if (entry === 0) return zeroBin;
  difference[0] = entry;
  // Reads the exponent bits: a logarithm would round up just below a power of two. Subnormal
  // numbers are far below 2^-200.
  const exponent = ((words[wordOfExponent]! >>> 20) & 0x7ff) - 1023;
  return Math.max(-doublingsMaximum, Math.min(exponent, doublingsMaximum));
}

/**
 * Counts pairs of rows per bin of their difference (`doublingOf`), one map per column. `pairs`
 * holds two indexes of rows in `values` for each pair, side by side.
 */
export function countPairBins(
  values: Float64Array, dimension: number, pairs: Uint32Array,
): Map<number, number>[] {
  const counts = new Uint32Array(doublings * dimension);
  for (let at = 0; at < pairs.length; at += 2) {
    const [left, right] = [pairs[at]! * dimension, pairs[at + 1]! * dimension];
    for (let j = 0; j < dimension; j++) {
      const bin = doublingOf(values[left + j]! - values[right + j]!);
      if (bin !== undefined) counts[j * doublings + bin - zeroBin]! += 1;
    }
  }
  return Array.from({ length: dimension }, (_, j) => {
    const own = counts.subarray(j * doublings, (j + 1) * doublings);
    return new Map(Array.from(own, (rows, bin) => [bin + zeroBin, rows] as const)
      .filter(([, rows]) => rows > 0));
  });
}
