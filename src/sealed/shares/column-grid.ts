import { InvalidParameterError } from '../../base/errors.js';
import { factsLimits, valueMaxText } from '../../base/facts-limits.js';
import { columnsMax, numberBits } from './form.js';

/**
 * The highest bits of a number are its bin: one of 64. The grid is the 62 bins between the first
 * and the last. A value below the grid is in the first bin, and one above it in the last.
 */
export const binBits = 6;

/** Public numbers that turn a row into whole numbers below 2^bits. */
export interface ColumnGrid {
  /** Bits of each value. */
  readonly bits: number;
  /** A spread has 2^spreadBits steps, in every column. */
  readonly spreadBits: number;
  /** Lower end of each column's public range and of its grid, in data units. */
  readonly lows: Float64Array;
  /** Step of each column, in data units. */
  readonly steps: Float64Array;
}

/** Fewer steps to a spread (2^5) would round rows visibly. */
const spreadBitsLeast = 5;
/** A wider range, in spreads, has too few steps or too few coarse bins. */
const rangeInSpreadsMost = 496;

/**
 * The finest grid on which every column's range fits into 62 of 64 bins of 2^bits steps, with the
 * same number of steps to a spread in each.
 * @param ranges - per column, low < high, in data units.
 * @param spreads - per column, above 0, in data units.
 * @param bits - 8 to 20.
 * @throws InvalidParameterError when no grid is fine enough.
 * @example
 * columnGrid([[0, 512], [0, 256]], [15, 8], 16).spreadBits; // 10
 */
export function columnGrid(
  ranges: readonly (readonly [number, number])[], spreads: readonly number[],
  bits: number = numberBits.usual,
): ColumnGrid {
  checkColumns(ranges, spreads, bits);
  const inSpreads = ranges.map(([low, high], j) => (high - low) / spreads[j]!);
  const widest = Math.max(...inSpreads);
  if (widest > rangeInSpreadsMost) {
    throw new InvalidParameterError(
      `a range is ${widest} spreads wide and ${rangeInSpreadsMost} are the most: narrow it, or give `
        + 'a larger spread', { widest },
    );
  }
  let spreadBits = bits;
  const { first, last } = gridSteps(bits);
  // The upper end of a range is on the grid itself.
  while (spreadBits >= spreadBitsLeast && widest * 2 ** spreadBits >= last + 1 - first) {
    spreadBits -= 1;
  }
  if (spreadBits < spreadBitsLeast) {
    throw new InvalidParameterError(
      `with ${bits} bits a range of ${widest} spreads has fewer than ${2 ** spreadBitsLeast} steps `
        + 'to a spread: give more bits or a narrower range', { widest, bits },
    );
  }
  return {
    bits, spreadBits,
    lows: Float64Array.from(ranges, ([low]) => low),
    steps: Float64Array.from(spreads, (spread) => spread / 2 ** spreadBits),
  };
}

function checkColumns(
  ranges: readonly (readonly [number, number])[], spreads: readonly number[], bits: number,
): void {
  if (ranges.length < 1 || ranges.length > columnsMax || spreads.length !== ranges.length) {
    throw new InvalidParameterError(
      `there are ${ranges.length} ranges and ${spreads.length} spreads: give one of each for 1 to `
        + `${columnsMax} columns`,
    );
  }
  if (!(Number.isInteger(bits) && bits >= numberBits.least && bits <= numberBits.most)) {
    throw new InvalidParameterError(
      `a value has ${bits} bits: give ${numberBits.least} to ${numberBits.most}`, { bits },
    );
  }
  ranges.forEach(([low, high], j) => {
    const { valueMax } = factsLimits;
    const isRange = low >= -valueMax && low < high && high <= valueMax;
    if (isRange && spreads[j]! > 0 && spreads[j]! < Infinity) return;
    throw new InvalidParameterError(
      `column ${j} needs a range that rises, within ${valueMaxText} in size, and a spread above 0`,
      { column: j },
    );
  });
}

/** The first and the last number on the grid. */
function gridSteps(bits: number): { readonly first: number; readonly last: number } {
  const ofBin = 2 ** (bits - binBits);
  return { first: ofBin, last: 2 ** bits - ofBin - 1 };
}

/** The public ends of the grid of each column, in data units. The lower one is the range's. */
export function gridRange(
  { bits, lows, steps }: ColumnGrid,
): readonly (readonly [number, number])[] {
  const { first, last } = gridSteps(bits);
  return Array.from(lows, (low, j) => [low, low + (last + 1 - first) * steps[j]!]);
}

/** The value in data units that a step of a column stands for: the middle of the step. */
export function valueOfStep(step: number, column: number, grid: ColumnGrid): number {
  const { first } = gridSteps(grid.bits);
  return grid.lows[column]! + (step - first + 0.5) * grid.steps[column]!;
}

/**
 * A row in steps: whole numbers from 0 to 2^bits - 1. The grid begins at the lower end of the
 * range, and ends at the upper end or beyond. Values beyond the grid are in the step right past its
 * end, so they count as at its end, and their bin shows on which side they are.
 * @throws InvalidParameterError for a row of another length, or with an entry that is no number.
 */
export function stepsOfRow(
  row: ArrayLike<number>, { bits, lows, steps }: ColumnGrid,
): Uint32Array {
  if (row.length !== lows.length) {
    throw new InvalidParameterError(
      `a row has ${row.length} entries, and the study has ${lows.length} columns`,
    );
  }
  const { first, last } = gridSteps(bits);
  return Uint32Array.from(lows, (low, j) => {
    const value = row[j]!;
    if (Number.isNaN(value)) {
      throw new InvalidParameterError(`entry ${j} of a row is not a number`, { column: j });
    }
    const step = first + Math.floor((value - low) / steps[j]!);
    return Math.min(last + 1, Math.max(first - 1, step));
  });
}
