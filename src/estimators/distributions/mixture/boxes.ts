import type { KeptBin } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { Window } from '../candidates/gaps.js';

/**
 * Counts of boxes at several sizes, each the product of one cell per column.
 *
 * In each column the windows that were released cut the line: a value belongs to the finest window
 * that holds it. A window of width w is cut into cells of width w, w/2, w/4 and w/8, and the cells
 * of one size in all columns make a box. A row outside of all windows in some column is in no box.
 *
 * Claim: a row is in at most one box of each size, and which one depends on this row and released
 * windows only. So the counts are those of a histogram event with one coordinate per size.
 */
export const sizes = 4;
export const windowsPerColumn = 8;
const cellsFinest = 3 * 2 ** (sizes - 1);
/** Values of one column's digit of a key; six of them fit into the whole numbers of a double. */
const digit = windowsPerColumn * cellsFinest;
export const columnsMaximum = 6;

/** Finest first, so that a value belongs to the first that holds it. */
export function inOrder(windows: readonly Window[]): readonly Window[] {
  return [...windows].sort((one, two) => one.width - two.width);
}

/** Rows per box, one map per size from the widest on. @param windows - per column, in order. */
export function countBoxes(
  { count, dimension, values }: RowBlock, windows: readonly (readonly Window[])[],
): readonly ReadonlyMap<number, number>[] {
  const maps = Array.from({ length: sizes }, () => new Map<number, number>());
  for (let row = 0; row < count; row++) {
    const keys = new Float64Array(sizes);
    let isInside = true;
    for (let j = 0; j < dimension && isInside; j++) {
      const place = placeOf(values[row * dimension + j]!, windows[j]!);
      isInside = place >= 0;
      const window = Math.floor(place / cellsFinest);
      for (let size = 0; size < sizes; size++) {
        const cell = (place % cellsFinest) >> (sizes - 1 - size);
        keys[size] = keys[size]! * digit + window * cellsFinest + cell;
      }
    }
    if (!isInside) continue;
    for (const [size, map] of maps.entries()) map.set(keys[size]!, (map.get(keys[size]!) ?? 0) + 1);
  }
  return maps;
}

/** Window times cells plus cell of the finest size; -1 outside of all windows. */
function placeOf(value: number, windows: readonly Window[]): number {
  for (const [index, { place, width }] of windows.entries()) {
    const cell = Math.floor(((value - (place - width)) / width) * 2 ** (sizes - 1));
    if (cell >= 0 && cell < cellsFinest) return index * cellsFinest + cell;
  }
  return -1;
}

/**
 * Where about `mass` rows are: a box, or what is left of one without the smaller ones that are
 * known.
 */
export interface Box {
  readonly centre: Float64Array;
  /** Variance of a point drawn evenly from it, per column. */
  readonly spread: Float64Array;
  readonly mass: number;
}

interface Node {
  readonly low: Float64Array;
  readonly width: Float64Array;
  readonly mass: number;
  /**
   * Volume, and first and second moments about `low` per column, of what known smaller boxes do not
   * cover.
   */
  readonly rest: {
    mass: number; volume: number; readonly first: Float64Array; readonly second: Float64Array,
  };
}

/**
 * Disjoint boxes with what they hold, heaviest first: post-processing of the boxes that were kept.
 */
export function boxesOf(
  kept: readonly (readonly KeptBin[])[], windows: readonly (readonly Window[])[], sigma: number,
  most: number,
): readonly Box[] {
  const levels = kept.map((bins, size) => new Map(bins.map(({ bin, noisyCount }) =>
    [bin, nodeOf(bin, size, noisyCount, windows)] as const)));
  for (const [size, level] of levels.entries()) {
    for (const [key, node] of level) {
      const parent = levels[size - 1]?.get(parentOf(key, windows.length));
      if (parent !== undefined) takeOff(parent, node);
    }
  }
  const boxes = levels.flatMap((level) => [...level.values()].flatMap(({ low, rest }): Box[] => {
    if (!(rest.mass > 2 * sigma && rest.volume > 1e-6)) return [];
    const first = rest.first.map((sum) => sum / rest.volume);
    const spread = rest.second.map((sum, j) => Math.max(0, sum / rest.volume - first[j]! ** 2));
    return [{ centre: first.map((entry, j) => low[j]! + entry), spread, mass: rest.mass }];
  }));
  return boxes.sort((one, two) => two.mass - one.mass).slice(0, most);
}

function nodeOf(
  key: number, size: number, mass: number, windows: readonly (readonly Window[])[],
): Node {
  const dimension = windows.length;
  const [low, width] = [new Float64Array(dimension), new Float64Array(dimension)];
  let rest = key;
  for (let j = dimension - 1; j >= 0; j--) {
    const own = rest % digit;
    rest = Math.floor(rest / digit);
    const window = windows[j]![Math.floor(own / cellsFinest)]!;
    width[j] = window.width / 2 ** size;
    low[j] = window.place - window.width + (own % cellsFinest) * width[j]!;
  }
  // In units in which the box has volume 1.
  const first = width.map((entry) => entry / 2);
  return { low, width, mass, rest: { mass, volume: 1, first, second: width.map((entry) =>
    entry ** 2 / 3) } };
}

function parentOf(key: number, dimension: number): number {
  let [rest, parent, unit] = [key, 0, 1];
  for (let j = 0; j < dimension; j++) {
    const own = rest % digit;
    rest = Math.floor(rest / digit);
    parent += unit * (own - (own % cellsFinest) + ((own % cellsFinest) >> 1));
    unit *= digit;
  }
  return parent;
}

function takeOff(parent: Node, { low, width, mass }: Node): void {
  const { rest } = parent;
  const volume = 2 ** -low.length;
  rest.mass -= mass;
  rest.volume -= volume;
  for (const [j, own] of width.entries()) {
    const from = low[j]! - parent.low[j]!;
    rest.first[j]! -= volume * (from + own / 2);
    rest.second[j]! -= volume * (from * from + from * own + (own * own) / 3);
  }
}
