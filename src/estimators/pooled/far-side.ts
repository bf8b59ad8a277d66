/**
 * How far out rows are on one side, read from released noisy counts of cells that grow with their
 * distance. It has three parts. The contiguous tail is what is seen from the core outwards. Windows
 * beyond it hold rows that stand apart: what is sure is counted, what is possible is allowed for.
 * And past the tail the rest is reckoned with that noise hides there.
 *
 * All of it is post-processing of released counts and public numbers. Never give it true counts.
 */

/** The cells of a side, from the core outwards. Public. */
export interface SideCells {
  /** Quarter octaves at which the cells begin, and where the last finite one ends. */
  readonly quarters: readonly number[];
  /** Where each cell begins and ends; an open one ends, for sums without it, after an octave. */
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  readonly middles: readonly number[];
  /** How many cells have a far edge: all, or all but the last. */
  readonly finite: number;
  /** Where a row of the tail is seen. */
  readonly seen: SeenRule;
  /** Reckons with the rows past the tail, whose last cell is given, that no cell shows. */
  readonly tail: (read: Read, last: number) => Tail;
  /** Part of half a cell's width that the rows of a contiguous tail may be off by. */
  readonly widthPart: (cell: number) => number;
  /** How many cells on each side of a window may hold rows of its group that do not stand out. */
  readonly beside: number;
  /** True if that is so of windows that are only possible, as where cells are narrow. */
  readonly besidePossible: boolean;
}

/** How a cell of a contiguous tail is told from noise. */
export interface SeenRule {
  /** At most so many cells are seen together, within so many quarter octaves. */
  readonly together: number;
  readonly quarters: number;
  /** The outermost of them has more rows than so many deviations. */
  readonly outermost: number;
  /** A cell without rows is seen this often; null: as often as a window is sure. */
  readonly chance: number | null;
}

/** How far the rows of a tail that no cell shows may reach beyond a radius, in sum. */
export type Tail = (radius: number) => {
  /** The allowance at the end of the interval. */
  readonly most: number;
  /** The part by which a radius is chosen. */
  readonly forRadius: number;
};

/** The parts of a side that are read. */
export interface Read {
  readonly cells: SideCells;
  /** Noisy. */
  readonly counts: Float64Array;
  readonly noise: CellNoise;
  /** How many there are, about, of all sides: public or released. */
  readonly rows: number;
}

/** The noise of a cell. Public. */
export interface CellNoise {
  /** Standard deviation. */
  readonly sigma: number;
  /** The noise of so many cells together is above this with at most the given chance. */
  upper(chance: number, cells: number): number;
}

/** A window without rows is taken for one that may hold some this often. */
const possibleChance = 5e-4;
/** The same, where the other side has rows apart: groups of both sides are often about alike. */
const otherFarChance = 0.01;
/** Intervals allow for people whom noise hides, up to this upper quantile of the noise. */
const hiddenChance = 0.05;
/** A window without rows is taken for one that surely holds some this often at most. */
const sureChance = 1e-5;
/** Windows of noise alone may add this part of the sampling variance: the inverse of it. */
const falseShare = 1e4;
/** How many cells a window has. */
const windowCells = [1, 2, 4] as const;

/** A group of so many people that stands apart in one cell is seen. */
export function clusterSeenFrom(noise: CellNoise): number {
  return Math.ceil(noise.upper(possibleChance, 1) + hidden(noise, 1));
}

/** Rows that stand apart, or noise that looks like them. In the unit of the cells. */
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
  /** The part by which a radius is chosen: without windows that are only possible. */
  readonly forRadius: number;
  /** More or less: rows need not be in the middle of their cells. */
  readonly eitherWay: number;
  /** More: rows that are not counted. */
  readonly more: number;
}

/** Cells from `from` on, `to` not included. */
interface Window {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly isSure: boolean;
}

/** The knowledge of one side. Distances are in the unit of the cells, and so are sums of them. */
export class FarSide {
  /** Rows may be past this, and nobody knows how far; null: there are none. */
  readonly openFrom: number | null;
  private readonly last: number;
  /** From this cell on rows stand in groups, not in a tail that falls. */
  private readonly groupFrom: number;
  private readonly tail: Tail;
  private readonly found: readonly Window[];
  /** True if the rows of a cell are counted: those of the tail, and of windows that are sure. */
  private readonly isCounted: readonly boolean[];

  /**
   * @param counts - noisy, of the cells.
   * @param rows - how many there are, about, of all sides: public or released.
   * @param isOtherFar - the other side may have rows that stand apart.
   */
  constructor(
    private readonly cells: SideCells, private readonly counts: Float64Array,
    private readonly noise: CellNoise, rows: number, isOtherFar = false,
  ) {
    const read: Read = { cells, counts, noise, rows };
    this.last = lastOfTail(read);
    this.groupFrom = groupFromOf(read, this.last);
    this.tail = cells.tail(read, this.last);
    const chance = isOtherFar ? otherFarChance : possibleChance;
    this.found = windowsOf(read, this.last, chance);
    this.isCounted = cells.lows.map((_, cell) => cell <= this.last || this.isInSure(cell));
    this.openFrom = openFromOf(read, this.last, this.found, chance);
  }

  /** True if rows may stand apart: in a window, or past the last edge. */
  get isFar(): boolean {
    return this.openFrom !== null || this.found.length > 0;
  }

  /** Where the contiguous tail ends. */
  get tailEnd(): number {
    return this.cells.highs[this.last]!;
  }

  /** The rows that are counted, each for the number of its cell, added up. */
  counted(of: (cell: number) => number): number {
    return this.counts.reduce((sum, count, cell) =>
      (this.isCounted[cell]! ? sum + count * of(cell) : sum), 0);
  }

  get windows(): readonly FarWindow[] {
    const { lows, highs, quarters } = this.cells;
    return this.found.map(({ from, to, count, isSure }) => ({
      from: lows[from]!, to: highs[to - 1]!, isSure,
      rows: count + (isSure ? 0 : hidden(this.noise, to - from)),
      isApart: quarters[from]! >= quarters[this.last + 1]! + 4,
    }));
  }

  excess(radius: number): Excess {
    const reaches = this.cells.middles.map((middle, cell) =>
      (this.isCounted[cell]! ? Math.max(0, middle - radius) : 0));
    return {
      sum: reaches.reduce((sum, reach, cell) => sum + reach * this.counts[cell]!, 0),
      deviation: this.noise.sigma * Math.hypot(...reaches),
    };
  }

  allowance(radius: number): Allowance {
    const { lows, highs, finite, widthPart } = this.cells;
    let widths = 0;
    for (let cell = 0; cell < finite; cell++) {
      if (!this.isCounted[cell]! || highs[cell]! <= radius) continue;
      const half = (highs[cell]! - Math.max(lows[cell]!, radius)) / 2;
      // The rows of a group may all stand at one edge of their cell.
      const part = cell >= this.groupFrom ? 1 : widthPart(cell);
      widths += half * part * Math.max(0, this.counts[cell]!);
    }
    const unseen = this.tail(radius);
    return {
      forRadius: widths + unseen.forRadius, eitherWay: widths,
      more: unseen.most + this.ofWindows(radius),
    };
  }

  /** The amount that windows which are only possible may add, and rows beside a group. */
  private ofWindows(radius: number): number {
    const { highs, finite, beside, besidePossible } = this.cells;
    const beyond = (cell: number): number => Math.max(0, highs[cell]! - radius);
    const isInWindow = (cell: number): boolean =>
      this.found.some(({ from, to }) => from <= cell && cell < to);
    let more = 0;
    for (const { from, to, count, isSure } of this.found) {
      if (!isSure) {
        more += (count + hidden(this.noise, to - from)) * beyond(to - 1);
        if (!besidePossible) continue;
      }
      // Rows beside a group, too few to stand out themselves.
      for (let cell = from - beside; cell < to + beside; cell++) {
        if (cell <= this.last || cell >= finite || isInWindow(cell)) continue;
        more += (Math.max(0, this.counts[cell]!) + hidden(this.noise, 1)) * beyond(cell);
      }
    }
    return more;
  }

  private isInSure(cell: number): boolean {
    return this.found.some(({ from, to, isSure }) => isSure && from <= cell && cell < to);
  }
}

/** Upper end of the noise of so many cells together. */
export function hidden(noise: CellNoise, cells: number): number {
  return noise.upper(hiddenChance, cells);
}

const rowsOf = (counts: Float64Array, from: number, to: number): number =>
  counts.subarray(from, to).reduce((sum, count) => sum + count, 0);

/**
 * From how many noisy rows on a window that ends with this cell surely holds some. Farther out a
 * false one would move the answer more, so it must be rarer.
 */
function sureFrom(
  { cells: { lows }, noise, rows }: Omit<Read, 'counts'>, together: number, cell: number,
): number {
  const deviation = noise.sigma * Math.sqrt(together);
  const chance = Math.min(sureChance, rows / (falseShare * (deviation * lows[cell]!) ** 2));
  return noise.upper(chance, together);
}

/**
 * The last cell of the contiguous tail: seen alone, or together with those before it within one
 * octave. It ends at an octave without a seen cell.
 */
function lastOfTail(read: Read): number {
  const { cells: { quarters, finite, seen }, counts, noise } = read;
  let last = 0;
  for (let cell = 1; cell < finite; cell++) {
    let from = cell;
    while (from > 1 && quarters[from - 1]! + seen.quarters >= quarters[cell + 1]!
      && cell - from < seen.together - 1) from -= 1;
    const cells = cell - from + 1;
    const seenFrom = (together: number): number =>
      (seen.chance === null ? sureFrom(read, together, cell)
        : noise.upper(seen.chance, together));
    const isSeen = counts[cell]! > seenFrom(1)
      || (cells > 1 && counts[cell]! > noise.sigma * seen.outermost
        && rowsOf(counts, from, cell + 1) > seenFrom(cells));
    if (isSeen) last = cell;
    else if (quarters[cell]! >= quarters[last + 1]! + 4) break;
  }
  return last;
}

/**
 * The first cell of the tail that holds more rows than the octave before it, by more than noise
 * explains: a group that is not apart. Without one, the first cell past the tail.
 */
function groupFromOf(read: Read, last: number): number {
  const { cells: { quarters }, counts, noise } = read;
  for (let cell = 1; cell <= last; cell++) {
    const start = quarters[cell]!;
    if (start < 4) continue;
    const { rows, cells } = between(read, start - 4, start);
    if (counts[cell]! > rows + hidden(noise, cells + 1)) return cell;
  }
  return last + 1;
}

/** Rows and cells between two quarter octaves. */
export function between(
  { cells: { quarters, finite }, counts }: Read, from: number, to: number,
): { readonly rows: number; readonly cells: number } {
  let [rows, cells] = [0, 0];
  for (let cell = 1; cell < finite; cell++) {
    if (quarters[cell]! < from || quarters[cell + 1]! > to) continue;
    rows += counts[cell]!;
    cells += 1;
  }
  return { rows: Math.max(0, rows), cells };
}

/** Windows past the tail that may hold rows: the strongest first, and none over another. */
function windowsOf(read: Read, last: number, chance: number): readonly Window[] {
  const { cells: { finite }, counts, noise } = read;
  const found: (Window & { readonly strength: number })[] = [];
  for (const cells of windowCells) {
    const deviation = noise.sigma * Math.sqrt(cells);
    const least = noise.upper(chance, cells);
    for (let from = last + 1; from + cells <= finite; from++) {
      const count = rowsOf(counts, from, from + cells);
      if (count <= least) continue;
      const to = from + cells;
      const isSure = count > sureFrom(read, cells, to - 1);
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
  { cells: { lows, finite }, counts, noise }: Read, last: number, windows: readonly Window[],
  chance: number,
): number | null {
  const all = lows.length;
  if (finite === all) return null;
  if (last >= finite - 1) return lows[last]!;
  const beside = windows.find(({ to, isSure }) => isSure && to === finite);
  if (beside !== undefined) return lows[beside.from]!;
  const cells = windowCells.find((width) => last < all - width
    && rowsOf(counts, all - width, all) > noise.upper(chance, width));
  return cells === undefined ? null : lows[all - cells]!;
}
