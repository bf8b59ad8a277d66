import { InvalidParameterError } from '../../base/errors.js';
import type { ParameterValues } from '../../base/facts.js';
import { columnGrid, stepsOfRow, type ColumnGrid } from './column-grid.js';
import { binBitsMax, type ShareForm } from './form.js';

/** The public facts that say what a contributor to a sealed study shares. */
export interface SharedQuestion {
  readonly estimator: string;
  /** As the study's facts have them. */
  readonly parameters: ParameterValues;
  /** Columns of a row. */
  readonly columns: number;
  readonly sealed: {
    readonly bits: number;
    readonly range?: readonly (readonly [number, number])[];
  };
}

/** What a contributor shares of its row: `form.count` whole numbers below 2^bits. */
export interface SharePlan {
  readonly form: ShareForm;
  readonly valuesOf: (row: ArrayLike<number>) => Uint32Array;
}

/**
 * The estimators whose sealed answers are read from counts: a contributor shares the number of its
 * bin. Whatever else has a sealed program takes numbers on the grid of the columns.
 */
const binPlans: Readonly<Record<string, (given: ParameterValues, column: number) => SharePlan>> = {
  count: (given, column) => {
    const threshold = given['threshold'];
    if (threshold === undefined) return binPlan(2, () => 1);
    const isBelow = given['side'] === 'below';
    return binPlan(2, (row) => Number(row[column]! < Number(threshold) === isBelow));
  },
  histogram: (given, column) => {
    const edges = given['edges'] as readonly number[] | undefined;
    if (edges === undefined) {
      throw new InvalidParameterError(
        'a sealed histogram has public bins: give edges', { path: 'parameters.edges' },
      );
    }
    return binPlan(edges.length + 1, (row) =>
      edges.reduce((bin, edge) => bin + Number(edge <= row[column]!), 0));
  },
  quantile: (given, column) => {
    const cells = sealedCells(given);
    return binPlan(cells.cells, (row) => {
      const width = (cells.high - cells.low) / cells.cells;
      const cell = Math.floor((row[column]! - cells.low) / width);
      return Math.min(cells.cells - 1, Math.max(0, cell));
    });
  },
};

/**
 * The plan of contributors' shares from a study's facts alone: so a client needs no program.
 * `test/sealed/share-plan.test.ts` compares it with what each program wants.
 * @throws InvalidParameterError when the facts give no bins or no grid, with the remedy.
 */
export function sharePlanOf(question: SharedQuestion): SharePlan {
  const { estimator, parameters: given } = question;
  if (Object.hasOwn(binPlans, estimator)) {
    return binPlans[estimator]!(given, Number(given['column'] ?? 0));
  }
  const grid = sealedGrid(question);
  return {
    form: { kind: 'numbers', count: question.columns, bits: grid.bits },
    valuesOf: (row) => stepsOfRow(row, grid),
  };
}

function binPlan(bins: number, binOf: (row: ArrayLike<number>) => number): SharePlan {
  if (bins > 2 ** binBitsMax) {
    throw new InvalidParameterError(
      `there are ${bins} bins, and a sealed study has ${2 ** binBitsMax} at most: use fewer`,
    );
  }
  return {
    form: { kind: 'bin', count: 1, bits: Math.max(1, 32 - Math.clz32(bins - 1)) },
    valuesOf: (row) => Uint32Array.of(binOf(row)),
  };
}

/** The cells of a sealed quantile: as many as its resolution asks for, or 256. */
export function sealedCells(given: ParameterValues): {
  readonly low: number; readonly high: number; readonly cells: number;
} {
  const [low, high] = [Number(given['low']), Number(given['high'])];
  if (!(high > low)) {
    throw new InvalidParameterError('low is below high', { path: 'parameters.low' });
  }
  const resolution = given['resolution'];
  const most = 2 ** binBitsMax;
  const cells = resolution === undefined ? most : Math.ceil((high - low) / Number(resolution));
  if (cells > most) {
    throw new InvalidParameterError(
      `the resolution makes ${cells} steps of the range, and a sealed study has ${most} at most: `
        + 'give a coarser one, or none', { path: 'parameters.resolution' },
    );
  }
  return { low, high, cells: Math.max(2, cells) };
}

/**
 * The grid of a sealed study's columns, from its ranges and scales.
 * @throws InvalidParameterError without a range and a scale for each column, and as `columnGrid`.
 */
export function sealedGrid(
  { parameters: { scale }, columns, sealed: { bits, range }, estimator }: SharedQuestion,
): ColumnGrid {
  if (range === undefined) {
    throw new InvalidParameterError(
      `a sealed ${estimator} needs the range of each column: give sealed.range`,
      { path: 'sealed.range' },
    );
  }
  if (!Array.isArray(scale)) {
    throw new InvalidParameterError(
      `a sealed ${estimator} does not find the scale by itself: give parameters.scale`,
      { path: 'parameters.scale' },
    );
  }
  if (range.length !== columns) {
    throw new InvalidParameterError(
      `there are ${range.length} ranges for ${columns} columns: give one for each`,
      { path: 'sealed.range' },
    );
  }
  return columnGrid(range, scale as readonly number[], bits);
}
