import type { Window } from './gaps.js';

/** Cells of a window; a power of two times 3, so that finer cells lie within coarser ones. */
const perWidth = 32;
export const cellsPerWindow = 3 * perWidth;

/**
 * Rows per cell of each window, and all rows last. A row is in at most one cell of each window.
 * @param windows - released; @param most - public number of windows that the noise is for.
 */
export function countCells(
  values: Float64Array, windows: readonly Window[], most: number,
): Float64Array {
  const counts = new Float64Array(most * cellsPerWindow + 1);
  counts[counts.length - 1] = values.length;
  for (const [k, { place, width }] of windows.entries()) {
    const low = place - width;
    for (const value of values) {
      const cell = Math.floor(((value - low) / width) * perWidth);
      if (cell >= 0 && cell < cellsPerWindow) counts[k * cellsPerWindow + cell]! += 1;
    }
  }
  return counts;
}

/** A part of the line, with its noisy mass: an interval without the finer ones inside. */
export interface Piece {
  readonly low: number;
  readonly high: number;
  /** Indexes of finer pieces inside, whose probability is taken off. */
  readonly without: readonly number[];
  readonly mass: number;
  /** Variance of the mass's noise. */
  readonly variance: number;
}

type Changing<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/**
 * Disjoint pieces that cover all windows, finest windows first: post-processing of noisy counts.
 */
export function piecesOf(
  noisy: Float64Array, windows: readonly Window[], sigma: number,
): readonly Piece[] {
  const order = [...windows.keys()].sort((a, b) => windows[a]!.width - windows[b]!.width);
  const pieces: Changing<Piece>[] = [];
  for (const k of order) {
    const { place, width } = windows[k]!;
    const step = width / perWidth;
    const finer = [...pieces.keys()];
    const inside = Array.from({ length: cellsPerWindow }, (): number[] => []);
    for (const index of finer) {
      const piece = pieces[index]!;
      const cell = Math.floor((piece.low + piece.high - 2 * (place - width)) / 2 / step);
      inside[cell]?.push(index);
    }
    for (let cell = 0; cell < cellsPerWindow; cell++) {
      const low = place - width + cell * step;
      const without = inside[cell]!;
      const covered = without.reduce((sum, index) => sum + ownLength(pieces, index), 0);
      if (covered >= step * (1 - 1e-9)) {
        agree(without.map((index) => pieces[index]!), noisy[k * cellsPerWindow + cell]!, sigma);
        continue;
      }
      const taken = without.reduce((sum, index) => sum + pieces[index]!.mass, 0);
      const noise = without.reduce((sum, index) => sum + pieces[index]!.variance, sigma * sigma);
      pieces.push({
        low, high: low + step, without, mass: noisy[k * cellsPerWindow + cell]! - taken,
        variance: noise,
      });
    }
  }
  return pieces;
}

/**
 * Moves pieces, which make up a coarser cell, towards its noisy count, each by its share of the
 * variance: one count of a wide cell says more about its mass than the sum of many narrow ones.
 * Least squares, as the consistent histograms of Hay, Rastogi, Miklau and Suciu (2010).
 */
function agree(pieces: readonly Changing<Piece>[], count: number, sigma: number): void {
  const [mass, variance] = pieces.reduce(
    ([first, second], piece) => [first + piece.mass, second + piece.variance], [0, sigma * sigma],
  );
  for (const piece of pieces) {
    const part = piece.variance / variance;
    piece.mass += part * (count - mass);
    piece.variance *= 1 - part;
  }
}

function ownLength(pieces: readonly Piece[], index: number): number {
  const { low, high, without } = pieces[index]!;
  return without.reduce((rest, inner) => rest - ownLength(pieces, inner), high - low);
}
