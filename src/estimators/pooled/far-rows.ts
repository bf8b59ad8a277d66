import { assert } from '../../base/assert.js';
import { highWord } from '../../base/byte-order.js';
import { ln, pow } from '../../base/elementary.js';
import { deviations95, normalUpperQuantile } from '../../numerics/normal.js';
import type { RowBlock } from '../../privacy/stages/rows.js';

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
 * `clusterSeenFrom` people stands so far out that it decides the mean. A crowd of more is seen.
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
/** What the first bits of the double 1 are: its exponent, and two bits more. */
const firstBitsOfOne = 1023 * partsOfOctave;
/**
 * Numbers by their first bits: at place 0 those below 1, at the last one those of the open cell. A
 * number is in the cell of `cellAtLeast`, or in the next one from `edgeAt` on.
 */
const { cellAtLeast, edgeAt } = placesByBits();

function placesByBits(): { readonly cellAtLeast: Uint8Array; readonly edgeAt: Float64Array } {
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
  return { cellAtLeast, edgeAt };
}

/** How many spreads out the open cell begins. */
export const farthest = lows[open]!;

/** A window without rows is taken for one that may hold some this often. */
const possibleChance = 5e-4;
/** What noise may hide of a count is allowed for up to this upper quantile. */
const hiddenChance = 0.05;
/** A window without rows is taken for one that surely holds some this often at most. */
const sureChance = 1e-5;
/** Of the sampling variance, what windows of noise alone may add: the inverse of its share. */
const falseShare = 1e4;
/** How many cells a window has. */
const windowCells = [1, 2, 4] as const;
/** Most cells of an octave that are seen together. */
const togetherMost = 4;
/**
 * Part of half a cell's width that the rows of a contiguous tail may be off by: more where the cell
 * is an octave, in which the rows of a real column are often few groups.
 */
const widthPart = (cell: number): number => (quarters[cell]! < 16 ? 1 / 4 : 1 / 2);
/** Limits of the rate at which a tail falls by octave, and the rate where it is not seen. */
const [slowest, fastest, usualRate] = [0.42, 0.04, 0.25] as const;
/** People for each person of `clusterSeenFrom`: measured, see docs/guides/robust-means.md. */
const peoplePerSeen = 150;

/** A group of so many people that stands apart is seen by noise of this deviation. */
export function clusterSeenFrom(sigma: number): number {
  return Math.ceil(
    (normalUpperQuantile(possibleChance) + normalUpperQuantile(hiddenChance)) * sigma,
  );
}

/** From so many people on there is an interval. */
export function intervalFrom(sigma: number): number {
  return peoplePerSeen * clusterSeenFrom(sigma);
}

/**
 * The rows in each cell. Rows that are not finite are in none. O(rows).
 * @param centre - released, in the rows' units, which are spreads.
 */
export function farCounts({ count, values }: RowBlock, centre: number): Float64Array {
  const counts = new Float64Array(farCells);
  const last = edgeAt.length - 1;
  const number = new Float64Array(1);
  const words = new Uint32Array(number.buffer);
  for (let i = 0; i < count; i++) {
    const moved = values[i]! - centre;
    const size = Math.abs(moved);
    number[0] = size;
    const place = Math.min(last, Math.max(0, (words[highWord]! >>> 18) - firstBitsOfOne + 1));
    const cell = Number(moved < 0) * cellsOfSide + cellAtLeast[place]!
      + Number(size >= edgeAt[place]!);
    counts[cell]! += Number(Number.isFinite(size));
  }
  return counts;
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
   * Whether all rows of a cell may be at one distance, as those of a few values are: `square` then
   * counts them at its far end. Public or released.
   */
  readonly isLattice: boolean;
}

/** Rows that stand apart, or noise that looks like them. In spreads from the centre. */
export interface FarWindow {
  readonly from: number;
  readonly to: number;
  /** Noisy; where they are only possible, as many as there may be. */
  readonly rows: number;
  readonly isSure: boolean;
  /** An octave without rows is between them and the tail. */
  readonly isApart: boolean;
}

/** How far the rows that are seen reach beyond a radius, in sum, and the deviation of its noise. */
export interface Excess {
  readonly sum: number;
  readonly deviation: number;
}

/** How far off the excess beyond a radius may be, in sum. */
export interface Allowance {
  /** What a radius is chosen by: without windows that are only possible. */
  readonly forRadius: number;
  /** More or less: rows need not be in the middle of their cells. */
  readonly eitherWay: number;
  /** More: rows that are not counted. */
  readonly more: number;
}

/** What is known of one side. In spreads, or sums of rows in spreads. */
export interface FarSide {
  /** Where the contiguous tail ends. */
  readonly tailEnd: number;
  /** Rows may be past this, and nobody knows how far; null: there are none. */
  readonly openFrom: number | null;
  readonly windows: readonly FarWindow[];
  excess(radius: number): Excess;
  allowance(radius: number): Allowance;
}

/** What a released histogram says. */
export interface FarRows {
  readonly above: FarSide;
  readonly below: FarSide;
  /** Mean square distance from the centre of the rows that are seen, in squared spreads. */
  readonly square: number;
}

/** Reads a released histogram. */
export function readFarRows({ counts, sigma, rows, isLattice }: NoisyCells): FarRows {
  const noise = { sigma, rows };
  const above = new Side(counts.subarray(0, cellsOfSide), noise);
  const below = new Side(counts.subarray(cellsOfSide), noise);
  const square = (above.squares(isLattice) + below.squares(isLattice)) / rows;
  return { above, below, square: Math.max(0, square) };
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

interface CellNoise {
  readonly sigma: number;
  readonly rows: number;
}

/** Cells from `from` on, `to` not included. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly isSure: boolean;
}

class Side implements FarSide {
  readonly tailEnd: number;
  readonly openFrom: number | null;
  private readonly last: number;
  /** From this cell on rows stand in groups, not in a tail that falls. */
  private readonly groupFrom: number;
  private readonly tail: Tail;
  private readonly found: readonly Window[];
  /** Whether the rows of a cell are counted: those of the tail, and of windows that are sure. */
  private readonly isCounted: readonly boolean[];

  constructor(private readonly counts: Float64Array, private readonly noise: CellNoise) {
    this.last = lastOfTail(counts, noise);
    this.groupFrom = groupFromOf(counts, noise.sigma, this.last);
    this.tailEnd = highs[this.last]!;
    this.tail = unseenTail(counts, noise.sigma, this.last);
    this.found = windowsOf(counts, noise, this.last);
    this.isCounted = lows.map((_, cell) => cell <= this.last || this.isInSure(cell));
    this.openFrom = openFromOf(counts, noise, this.last, this.found);
  }

  /** The sum of squared distances. */
  squares(isLattice: boolean): number {
    return this.counts.reduce((sum, count, cell) => (this.isCounted[cell]!
      ? sum + count * (isLattice ? highs[cell]! ** 2 : squares[cell]!) : sum), 0);
  }

  get windows(): readonly FarWindow[] {
    return this.found.map(({ from, to, count, isSure }) => ({
      from: lows[from]!, to: highs[to - 1]!, isSure,
      rows: count + (isSure ? 0 : hidden(this.noise.sigma, to - from)),
      isApart: quarters[from]! >= quarters[this.last + 1]! + 4,
    }));
  }

  excess(radius: number): Excess {
    const reaches = middles.map((middle, cell) =>
      (this.isCounted[cell]! ? Math.max(0, middle - radius) : 0));
    return {
      sum: reaches.reduce((sum, reach, cell) => sum + reach * this.counts[cell]!, 0),
      deviation: this.noise.sigma * Math.hypot(...reaches),
    };
  }

  allowance(radius: number): Allowance {
    const beyond = (cell: number): number => Math.max(0, highs[cell]! - radius);
    let widths = 0;
    for (let cell = 0; cell < open; cell++) {
      if (!this.isCounted[cell]! || highs[cell]! <= radius) continue;
      const half = (highs[cell]! - Math.max(lows[cell]!, radius)) / 2;
      // The rows of a group may all stand at one edge of their cell.
      const part = cell >= this.groupFrom ? 1 : widthPart(cell);
      widths += half * part * Math.max(0, this.counts[cell]!);
    }
    const unseen = excessOfTail(this.tail, this.tailEnd, radius);
    let more = 0;
    for (const { from, to, count, isSure } of this.found) {
      if (!isSure) {
        more += (count + hidden(this.noise.sigma, to - from)) * beyond(to - 1);
        continue;
      }
      // Rows beside a group, too few to stand out themselves.
      for (const cell of [from - 1, to]) {
        if (cell <= this.last || cell >= open || this.isCounted[cell]!) continue;
        more += (Math.max(0, this.counts[cell]!) + hidden(this.noise.sigma, 1)) * beyond(cell);
      }
    }
    return { forRadius: widths + unseen / 2, eitherWay: widths, more: unseen + more };
  }

  private isInSure(cell: number): boolean {
    return this.found.some(({ from, to, isSure }) => isSure && from <= cell && cell < to);
  }
}

/** Upper end of the noise of so many cells together. */
const hidden = (sigma: number, cells: number): number =>
  normalUpperQuantile(hiddenChance) * sigma * Math.sqrt(cells);

const rowsOf = (counts: Float64Array, from: number, to: number): number =>
  counts.subarray(from, to).reduce((sum, count) => sum + count, 0);

/**
 * From how many noisy rows on a window that ends with this cell surely holds some. Farther out a
 * false one would move the answer more, so it must be rarer.
 */
function sureFrom({ sigma, rows }: CellNoise, cells: number, cell: number): number {
  const deviation = sigma * Math.sqrt(cells);
  const chance = Math.min(sureChance, rows / (falseShare * (deviation * lows[cell]!) ** 2));
  return normalUpperQuantile(chance) * deviation;
}

/**
 * The last cell of the contiguous tail: seen alone, or together with those before it within one
 * octave. It ends at an octave without a seen cell.
 */
function lastOfTail(counts: Float64Array, noise: CellNoise): number {
  let last = 0;
  for (let cell = 1; cell < open; cell++) {
    let from = cell;
    while (from > 1 && quarters[from - 1]! + 4 >= quarters[cell + 1]!
      && cell - from < togetherMost - 1) from -= 1;
    const cells = cell - from + 1;
    const isSeen = counts[cell]! > sureFrom(noise, 1, cell)
      || (cells > 1 && counts[cell]! > noise.sigma / 2
        && rowsOf(counts, from, cell + 1) > sureFrom(noise, cells, cell));
    if (isSeen) last = cell;
    else if (quarters[cell]! >= quarters[last + 1]! + 4) break;
  }
  return last;
}

/**
 * The first cell of the tail that holds more rows than the octave before it, by more than noise
 * explains: a group that is not apart. Without one, the first cell past the tail.
 */
function groupFromOf(counts: Float64Array, sigma: number, last: number): number {
  for (let cell = 1; cell <= last; cell++) {
    const start = quarters[cell]!;
    if (start < 4) continue;
    const { rows, cells } = between(counts, start - 4, start);
    if (counts[cell]! > rows + hidden(sigma, cells + 1)) return cell;
  }
  return last + 1;
}

/** Rows past the contiguous tail that no cell shows. */
interface Tail {
  readonly rows: number;
  /** Rows of an octave over rows of the one before, at most. */
  readonly rate: number;
}

/** Rows and cells between two quarter octaves. */
function between(
  counts: Float64Array, from: number, to: number,
): { readonly rows: number; readonly cells: number } {
  let [rows, cells] = [0, 0];
  for (let cell = 1; cell < open; cell++) {
    if (quarters[cell]! < from || quarters[cell + 1]! > to) continue;
    rows += counts[cell]!;
    cells += 1;
  }
  return { rows: Math.max(0, rows), cells };
}

/**
 * Where the tail falls before its end for all to see, so many rows are past it as this rate leads
 * to, and no more than the counts past it allow; else as many as these allow.
 */
function unseenTail(counts: Float64Array, sigma: number, last: number): Tail {
  const end = quarters[last + 1]!;
  const noiseOf = (cells: number): number => sigma * Math.sqrt(Math.max(1, cells));
  const past = between(counts, end, end + 8);
  const allowed = past.rows + normalUpperQuantile(hiddenChance) * noiseOf(past.cells);
  const [whole, before] = [between(counts, end - 4, end), between(counts, end - 8, end - 4)];
  const [half, halfBefore] = [between(counts, end - 2, end), between(counts, end - 4, end - 2)];
  const falls = [(whole.rows + 0.7 * noiseOf(whole.cells))
    / Math.max(before.rows, whole.rows + 1, noiseOf(before.cells))];
  let isSeen = before.rows > 5 * noiseOf(before.cells);
  if (half.cells > 0 && halfBefore.cells > 0 && halfBefore.rows > 5 * noiseOf(halfBefore.cells)) {
    isSeen = true;
    const rows = half.rows + 0.7 * noiseOf(half.cells);
    falls.push((rows / Math.max(halfBefore.rows, half.rows + 1)) ** 2);
  }
  if (last < 3 || !isSeen) return { rows: allowed, rate: usualRate };
  const rate = Math.min(slowest, Math.max(fastest, Math.min(...falls)));
  const led = (whole.rows + noiseOf(whole.cells)) * rate / (1 - rate);
  return { rows: Math.min(allowed, led), rate };
}

/** How far the rows of a tail that falls by a rate reach beyond a radius, in sum. */
function excessOfTail({ rows, rate }: Tail, end: number, radius: number): number {
  const place = Math.SQRT2 * (1 - rate) / (1 - 2 * rate);
  if (2 * end >= radius) return rows * Math.max(0, place * end - radius);
  const octaves = ln(radius / end) / Math.LN2;
  return rows * pow(rate, octaves) * (place - 1) * radius;
}

/** Windows past the tail that may hold rows: the strongest first, and none over another. */
function windowsOf(counts: Float64Array, noise: CellNoise, last: number): readonly Window[] {
  const found: (Window & { readonly strength: number })[] = [];
  for (const cells of windowCells) {
    const deviation = noise.sigma * Math.sqrt(cells);
    const least = normalUpperQuantile(possibleChance) * deviation;
    for (let from = last + 1; from + cells <= open; from++) {
      const count = rowsOf(counts, from, from + cells);
      if (count <= least) continue;
      const to = from + cells;
      const isSure = count > sureFrom(noise, cells, to - 1);
      found.push({ from, to, count, isSure, strength: count / deviation });
    }
  }
  found.sort((one, two) => two.strength - one.strength);
  const kept: Window[] = [];
  for (const window of found) {
    if (kept.every(({ from, to }) => window.to <= from || window.from >= to)) kept.push(window);
  }
  return kept;
}

/** Where rows may begin that reach into the open cell; null where there are none. */
function openFromOf(
  counts: Float64Array, { sigma }: CellNoise, last: number, windows: readonly Window[],
): number | null {
  if (last >= open - 1) return lows[last]!;
  const beside = windows.find(({ to, isSure }) => isSure && to === open);
  if (beside !== undefined) return lows[beside.from]!;
  const least = normalUpperQuantile(possibleChance) * sigma;
  const cells = windowCells.find((width) => last < cellsOfSide - width
    && rowsOf(counts, cellsOfSide - width, cellsOfSide) > least * Math.sqrt(width));
  return cells === undefined ? null : lows[cellsOfSide - cells]!;
}
