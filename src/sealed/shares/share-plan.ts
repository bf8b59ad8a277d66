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
  /** True if a contributor may have no row in this question. Absent: each has one. */
  readonly isPartial?: boolean;
  /**
   * The number of public keys by which the answer is split. A row then begins with the place of its
   * key. Absent: it is not split.
   */
  readonly keys?: number;
  readonly sealed: {
    readonly bits: number;
    readonly range?: readonly (readonly [number, number])[];
  };
}

/** A contributor's row for a question, as its estimator sees it; null: it has none. */
export type SharedRow = ArrayLike<number> | null;

/** How a contributor shares its row: as `form.count` whole numbers below 2^bits. */
export interface SharePlan {
  readonly form: ShareForm;
  readonly valuesOf: (row: SharedRow) => Uint32Array;
}

/**
 * The estimators whose sealed answers are read from counts: a contributor shares the number of its
 * bin. Whatever else has a sealed program takes numbers on the grid of the columns.
 */
const binPlans: Readonly<Record<string, (question: SharedQuestion) => SharePlan>> = {
  count: ({ parameters: given, keys }) => {
    const threshold = given['threshold'];
    const isBelow = given['side'] === 'below';
    const place = columnOf(given) + Number(keys !== undefined);
    const isCounted = (row: ArrayLike<number>): boolean =>
      threshold === undefined || row[place]! < Number(threshold) === isBelow;
    if (keys === undefined) return binPlan(2, false, (row) => Number(isCounted(row)));
    return binPlan(keys, true, (row) => (isCounted(row) ? row[0]! : null));
  },
  histogram: (question) => {
    const { parameters: given, isPartial = false } = unsplit(question);
    const edges = given['edges'] as readonly number[] | undefined;
    if (edges === undefined) {
      throw new InvalidParameterError(
        'a sealed histogram has public bins: give edges', { path: 'parameters.edges' },
      );
    }
    const column = columnOf(given);
    return binPlan(edges.length + 1, isPartial, (row) =>
      edges.reduce((bin, edge) => bin + Number(edge <= row[column]!), 0));
  },
  quantile: (question) => {
    const { parameters: given, isPartial = false } = unsplit(question);
    const cells = sealedCells(question);
    const column = columnOf(given);
    return binPlan(cells.cells, isPartial, (row) => {
      const width = (cells.high - cells.low) / cells.cells;
      const cell = Math.floor((row[column]! - cells.low) / width);
      return Math.min(cells.cells - 1, Math.max(0, cell));
    });
  },
};

const columnOf = (given: ParameterValues): number => Number(given['column'] ?? 0);

/** @throws InvalidParameterError for a question whose answer is split by keys. */
function unsplit(question: SharedQuestion): SharedQuestion {
  if (question.keys === undefined) return question;
  throw new InvalidParameterError(
    `a sealed ${question.estimator} has no answer for each group: leave by out, or ask for a count`,
    { path: 'by' },
  );
}

/**
 * The plan of contributors' shares from a study's facts alone: so a client needs no program.
 *
 * Where a contributor may have no row, that is one more value of the same form, so that no server
 * learns who has none: the number of the bin past those that are opened, or an entry past those of
 * the row, whose highest bit says that there is a row. A count of everybody needs none: who has no
 * row is in the bin that is not opened anyway.
 * `test/sealed/share-plan.test.ts` compares it with what each program wants.
 * @throws InvalidParameterError when the facts give no bins or no grid, with the remedy.
 */
export function sharePlanOf(question: SharedQuestion): SharePlan {
  const { estimator, columns, isPartial = false } = question;
  if (Object.hasOwn(binPlans, estimator)) return binPlans[estimator]!(question);
  const grid = sealedGrid(unsplit(question));
  const form = gridForm(columns, grid, isPartial);
  return { form, valuesOf: (row) => stepsOrNone(row, grid, form) };
}

/** @param isPartial - whether a contributor may be in no bin, which takes one more number. */
function binPlan(
  bins: number, isPartial: boolean, binOf: (row: ArrayLike<number>) => number | null,
): SharePlan {
  checkBins(bins, isPartial);
  const none = isPartial ? bins : 0;
  return {
    form: binForm(bins + Number(isPartial)),
    valuesOf: (row) => Uint32Array.of(row === null ? none : binOf(row) ?? none),
  };
}

/** @throws InvalidParameterError for more bins than a sealed study has. */
export function checkBins(bins: number, isPartial: boolean): void {
  const most = 2 ** binBitsMax - Number(isPartial);
  if (bins <= most) return;
  throw new InvalidParameterError(
    `there are ${bins} bins, and a sealed ${isPartial ? 'question that not everybody answers'
      : 'study'} has ${most} at most: use fewer`,
  );
}

/** The form of one of so many numbers. */
export function binForm(numbers: number): ShareForm {
  return { kind: 'bin', count: 1, bits: Math.max(1, 32 - Math.clz32(numbers - 1)) };
}

/** The form of rows on a grid. */
export function gridForm(columns: number, { bits }: ColumnGrid, isPartial: boolean): ShareForm {
  return { kind: 'numbers', count: columns + Number(isPartial), bits };
}

/**
 * A row in steps. Where the form has an entry past the columns, its highest bit says whether there
 * is a row; without one all entries are 0.
 */
export function stepsOrNone(row: SharedRow, grid: ColumnGrid, { count }: ShareForm): Uint32Array {
  const values = new Uint32Array(count);
  if (row === null) return values;
  values.set(stepsOfRow(row, grid));
  if (count > grid.lows.length) values[count - 1] = 2 ** (grid.bits - 1);
  return values;
}

/** The cells of a sealed quantile: all that there may be. */
export function sealedCells({ parameters: given, isPartial = false }: SharedQuestion): {
  readonly low: number; readonly high: number; readonly cells: number;
} {
  const [range, column] = [given['range'], Number(given['column'] ?? 0)];
  const [low, high] = Array.isArray(range) ? range.slice(2 * column) as readonly number[] : [];
  if (low === undefined || high === undefined || !(low < high)) {
    throw new InvalidParameterError(
      'a sealed quantile needs a range with low below high', { path: 'parameters.range' },
    );
  }
  return { low, high, cells: 2 ** binBitsMax - Number(isPartial) };
}

/**
 * The grid of a sealed study's columns, from its ranges and spreads.
 * @throws InvalidParameterError without a range and a spread for each column, and as `columnGrid`.
 */
export function sealedGrid(
  { parameters: { spread }, columns, sealed: { bits, range }, estimator }: SharedQuestion,
): ColumnGrid {
  if (range === undefined) {
    throw new InvalidParameterError(
      `a sealed ${estimator} needs the range of each column: give sealed.range, or low and high of `
        + 'the columns',
      { path: 'sealed.range' },
    );
  }
  if (!Array.isArray(spread)) {
    throw new InvalidParameterError(
      `a sealed ${estimator} does not find the spread by itself: give parameters.spread`,
      { path: 'parameters.spread' },
    );
  }
  if (range.length !== columns) {
    throw new InvalidParameterError(
      `there are ${range.length} ranges for ${columns} columns: give one for each`,
      { path: 'sealed.range' },
    );
  }
  return columnGrid(range, spread as readonly number[], bits);
}
