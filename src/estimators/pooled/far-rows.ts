import { assert } from '../../base/assert.js';
import { ln, pow } from '../../base/elementary.js';
import { countSides, type SidePlaces } from '../../numerics/kernels/column-counts.js';
import { deviations95, normalUpperQuantile } from '../../numerics/normal.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import {
  between, clusterSeenFrom, FarSide, hidden, type CellNoise, type Read, type SideCells, type Tail,
} from './far-side.js';

/**
 * How far out the rows of one column are on each side of a released centre, and what a mean of
 * clipped rows misses of them: a noisy histogram of signed cells, read in three parts. The
 * contiguous tail is what is seen from the centre outwards. Windows beyond it hold rows that stand
 * apart: what is sure is counted, what is possible widens one end of the interval. And past the
 * tail the rest is reckoned with that noise hides there.
 *
 * Claim. The histogram costs its event (`binsEvent` of pooled/query-events): one row replaced by
 * any other row, or by none, or added, moves one cell up and one down by 1 at most, sqrt 2 in L2,
 * for any number of cells and any centre.
 * Why. The cell of a row is a function of this row and of the centre, which is released. All else,
 * radius, windows, open ends and findings, is made of released counts, the public cost and a
 * released number of rows, so it is post-processing. Never give it true counts.
 * Work. The first bits of a distance leave one edge that it may be beyond, so each row is compared
 * with one edge, and no time depends on the rows.
 *
 * What it cannot do. No private interval is finite and holds the mean of every table: one row
 * moves a mean as far as it likes. So the interval assumes that no group of fewer than
 * `clusterSeenFrom` people stands so far out that it decides the mean. A cluster of more is seen.
 * Accuracy was measured from `intervalFrom` people on; below there is no interval.
 */

/** Quarter octaves at which the cells begin, in spreads; the first cell begins at the centre. */
const quarters: readonly number[] = [
  -Infinity, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14,
  ...Array.from({ length: 14 }, (_, octaves) => 4 * (octaves + 4)),
];
/** Cells of one side. The last one is open. */
const cellsOfSide = quarters.length;
/** The cells of both sides: those above the centre, then those below it. */
export const farCells = 2 * cellsOfSide;
const open = cellsOfSide - 1;
const lows = quarters.map((quarter) => (quarter === -Infinity ? 0 : pow(2, quarter / 4)));
/** Where each cell ends; the open one, for sums in which it does not count, after an octave. */
const highs = lows.map((low, cell) => lows[cell + 1] ?? 2 * low);
const middles = lows.map((low, cell) => (low + highs[cell]!) / 2);
/** Mean square of rows that fill a cell evenly. */
const squares = lows.map((low, cell) => (low ** 2 + low * highs[cell]! + highs[cell]! ** 2) / 3);

/** Parts of an octave by the first two bits of a number after its leading one. */
const partsOfOctave = 4;
/** The first bits of the double 1: its exponent, and two bits more. */
const firstBitsOfOne = 1023 * partsOfOctave;
/** How many numbers the exponent and two more bits of a double can be. */
const firstBits = 2 ** 13;
/** At place 0 are the distances below 1, at the last one those of the open cell. */
const sidePlaces = placesByBits();

function placesByBits(): SidePlaces {
  const length = 2 + partsOfOctave * quarters[open]! / 4;
  const startOf = (place: number): number => (place === 0 ? 0
    : pow(2, Math.floor((place - 1) / partsOfOctave))
      * (1 + ((place - 1) % partsOfOctave) / partsOfOctave));
  const edgeAt = new Float64Array(length).fill(Infinity);
  const cellAtLeast = Uint8Array.from({ length }, (_, place) => {
    const [start, end] = [startOf(place), place === length - 1 ? Infinity : startOf(place + 1)];
    const inside = lows.filter((low) => low > start && low < end);
    assert(inside.length <= 1, 'numbers of the same first bits are in two cells at most');
    edgeAt[place] = inside[0] ?? Infinity;
    return lows.filter((low) => low <= start).length - 1;
  });
  const placeOf = Uint8Array.from({ length: firstBits }, (_, bits) =>
    Math.min(length - 1, Math.max(0, bits - firstBitsOfOne + 1)));
  return { placeOf, cellAtLeast, edgeAt, cells: cellsOfSide };
}

/** How many spreads out the open cell begins. */
export const farthest = lows[open]!;

/**
 * Part of half a cell's width that the rows of a contiguous tail may be off by: more where the cell
 * is an octave, in which the rows of a real column are often few groups.
 */
const widthPart = (cell: number): number => (quarters[cell]! < 16 ? 1 / 4 : 1 / 2);
/** Limits of the rate at which a tail falls by octave, and the rate where it is not seen. */
const [slowest, fastest, usualRate] = [0.42, 0.04, 0.25] as const;
/** People for each person of `clusterSeenFrom`: measured, see docs/guides/robust-means.md. */
const peoplePerSeen = 150;

/** Noise of normal cells. @param sigma - its standard deviation. */
export const normalCells = (sigma: number): CellNoise => ({
  sigma,
  upper: (chance, cells) => normalUpperQuantile(chance) * (sigma * Math.sqrt(cells)),
});

/** From so many people on there is an interval. */
export function intervalFrom(sigma: number): number {
  return peoplePerSeen * clusterSeenFrom(normalCells(sigma));
}

/**
 * The rows in each cell. Rows that are not finite are in none. O(rows).
 * @param centre - released, in the rows' units, which are spreads.
 */
export function farCounts({ count, values }: RowBlock, centre: number): Float64Array {
  return countSides(values, count, centre, sidePlaces);
}

/** A released histogram. */
export interface NoisyCells {
  /** `farCells` noisy counts. */
  readonly counts: Float64Array;
  /** Standard deviation of the noise of each. */
  readonly sigma: number;
  /** How many rows there are, about: public or released. */
  readonly rows: number;
  /**
   * True if all rows of a cell may be at one distance, as those of a few values are: `square` then
   * counts them at its far end. Public or released.
   */
  readonly isLattice: boolean;
}

/** The far rows as a released histogram shows them. */
export interface FarRows {
  readonly above: FarSide;
  readonly below: FarSide;
  /** Mean square distance from the centre of the rows that are seen, in squared spreads. */
  readonly square: number;
  /**
   * The same of all rows, each pulled in to a radius, and larger by one deviation of its noise. In
   * squared spreads.
   */
  readonly squareWithin: (radius: number) => number;
}

/** The cells of a side, in spreads. */
const sideCells: SideCells = {
  quarters, lows, highs, middles, finite: open, widthPart,
  seen: { together: 4, quarters: 4, outermost: 1 / 2, chance: null }, tail: unseenTail,
  beside: 1, besidePossible: false,
};

/** Reads a released histogram. */
export function readFarRows({ counts, sigma, rows, isLattice }: NoisyCells): FarRows {
  const noise = normalCells(sigma);
  const sideOf = (cells: Float64Array, isOtherFar: boolean): FarSide =>
    new FarSide(sideCells, cells, noise, rows, isOtherFar);
  const right = sideOf(counts.subarray(0, cellsOfSide), false);
  const below = sideOf(counts.subarray(cellsOfSide), right.isFar);
  const above = !right.isFar && below.isFar
    ? sideOf(counts.subarray(0, cellsOfSide), true) : right;
  const squareOf = (cell: number): number => (isLattice ? highs[cell]! ** 2 : squares[cell]!);
  const square = (above.counted(squareOf) + below.counted(squareOf)) / rows;
  const squareWithin = (radius: number): number => {
    const most = lows.map((_, cell) => Math.min(radius ** 2, squareOf(cell)));
    const sum = counts.reduce((total, count, cell) => total + count * most[cell % cellsOfSide]!, 0);
    return (Math.max(0, sum) + sigma * Math.SQRT2 * Math.hypot(...most)) / rows;
  };
  return { above, below, square: Math.max(0, square), squareWithin };
}

/**
 * The radius that balances the noise of the clipped sum, which grows with it, with the noise and
 * the allowances for what it cuts off, which fall. Windows that are only possible have no say, so
 * noise alone does not make an answer worse.
 * @param noise - standard deviation of the sum's noise for a radius of 1.
 */
export function farRadius({ above, below }: FarRows, noise: number): number {
  let best = { radius: 0, loss: Infinity };
  for (let quarter = 2; quarter < quarters[open]!; quarter++) {
    const radius = pow(2, quarter / 4);
    const deviation = Math.hypot(
      radius * noise, above.excess(radius).deviation, below.excess(radius).deviation,
    );
    const loss = deviations95 * deviation
      + above.allowance(radius).forRadius + below.allowance(radius).forRadius;
    if (loss < best.loss) best = { radius, loss };
  }
  return best.radius;
}

/**
 * Where the tail falls before its end for all to see, so many rows are past it as this rate leads
 * to, and no more than the counts past it allow; else as many as these allow.
 */
function unseenTail(read: Read, last: number): Tail {
  const { noise } = read;
  const end = quarters[last + 1]!;
  const noiseOf = (cells: number): number => noise.sigma * Math.sqrt(Math.max(1, cells));
  const past = between(read, end, end + 8);
  const allowed = past.rows + hidden(noise, Math.max(1, past.cells));
  const [whole, before] = [between(read, end - 4, end), between(read, end - 8, end - 4)];
  const [half, halfBefore] = [between(read, end - 2, end), between(read, end - 4, end - 2)];
  const falls = [(whole.rows + 0.7 * noiseOf(whole.cells))
    / Math.max(before.rows, whole.rows + 1, noiseOf(before.cells))];
  let isSeen = before.rows > 5 * noiseOf(before.cells);
  if (half.cells > 0 && halfBefore.cells > 0 && halfBefore.rows > 5 * noiseOf(halfBefore.cells)) {
    isSeen = true;
    const rows = half.rows + 0.7 * noiseOf(half.cells);
    falls.push((rows / Math.max(halfBefore.rows, half.rows + 1)) ** 2);
  }
  const fallsBy = (rate: number, count: number): Tail => (radius) => {
    const most = excessOfTail({ rows: count, rate }, highs[last]!, radius);
    return { most, forRadius: most / 2 };
  };
  if (last < 3 || !isSeen) return fallsBy(usualRate, allowed);
  const rate = Math.min(slowest, Math.max(fastest, Math.min(...falls)));
  const led = (whole.rows + noiseOf(whole.cells)) * rate / (1 - rate);
  return fallsBy(rate, Math.min(allowed, led));
}

/** How far the rows of a tail that falls by a rate reach beyond a radius, in sum. */
function excessOfTail(
  { rows, rate }: { readonly rows: number; readonly rate: number }, end: number, radius: number,
): number {
  const place = Math.SQRT2 * (1 - rate) / (1 - 2 * rate);
  if (2 * end >= radius) return rows * Math.max(0, place * end - radius);
  const octaves = ln(radius / end) / Math.LN2;
  return rows * pow(rate, octaves) * (place - 1) * radius;
}
