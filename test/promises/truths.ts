import { normalCdf } from '../../src/numerics/normal.js';
import { settingsOf, type Cell } from './cells.js';

/** Rows side by side, as the accuracy benchmark makes them. */
export interface MadeRows {
  readonly values: Float64Array;
  /** The mean that rows of this shape have in the long run. */
  readonly truth: Float64Array;
  readonly honestMean: Float64Array;
  /** A difference in deviations along uncorrelated directions. */
  readonly inDeviations: (difference: ArrayLike<number>) => readonly number[];
}

/** What is right for the rows of one release. */
export interface Truth {
  /** How far off an answer is; */
  readonly errorOf: (estimate: readonly number[]) => number;
  /** What the intervals should hold, in the order of the estimate; null: nothing is asked. */
  readonly numbers: readonly number[] | null;
  /** What the width of an interval is divided by, by its index. */
  readonly unitOf: (index: number) => number;
}

const difference = (left: ArrayLike<number>, right: ArrayLike<number>): number[] =>
  Array.from(left, (entry, j) => entry - right[j]!);

const one = (): number => 1;

const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/**
 * Answers are compared with the honest rows that are there. The intervals of clean rows are about
 * the long run, and those under attack about the honest rows.
 */
function meanTruth({ attack, set }: Cell, { truth, honestMean, inDeviations }: MadeRows): Truth {
  const column = set['column'];
  const asked = (all: ArrayLike<number>): number[] =>
    (typeof column === 'number' ? [all[column]!] : Array.from(all));
  return {
    numbers: asked(attack === 'none' ? truth : honestMean), unitOf: one,
    errorOf: (estimate) => {
      const off = difference(estimate, asked(honestMean));
      return Math.hypot(...(off.length === truth.length ? inDeviations(off) : off));
    },
  };
}

/** |W - I| / sqrt(d) of a covariance W in coordinates in which that of honest rows is I. */
function covarianceError(
  estimate: readonly number[], columns: number, { inDeviations }: MadeRows,
): number {
  const rows = Array.from({ length: columns }, (_, i) =>
    inDeviations(estimate.slice(i * columns, (i + 1) * columns)));
  const whole = Array.from({ length: columns }, (_, j) => inDeviations(rows.map((row) => row[j]!)));
  return Math.hypot(...whole.flatMap((row, i) =>
    row.map((entry, j) => entry - (i === j ? 1 : 0)))) / Math.sqrt(columns);
}

function covarianceTruth({ columns }: Cell, made: MadeRows): Truth {
  return {
    // The entries of a shape's covariance, of which only the diagonal is the same everywhere.
    numbers: Array.from({ length: columns ** 2 }, (_, at) =>
      at % (columns + 1) === 0 ? 1 : correlationOf(made, Math.floor(at / columns), at % columns)),
    unitOf: one,
    errorOf: (estimate) => covarianceError(estimate, columns, made),
  };
}

/** That of all rows of the shape: inDeviations undoes a root of it. */
function correlationOf(
  { inDeviations, truth: { length } }: MadeRows, i: number, j: number,
): number {
  const unit = (at: number): number[] => Array.from({ length }, (_, k) => (k === at ? 1 : 0));
  const inverse = Array.from({ length }, (_, k) => [...inDeviations(unit(k))]);
  return solved(inverse, unit(j))[i]!;
}

/** x of (B B^T)^-1 x = right-hand side, with B^-1 given by its columns. Gauss elimination. */
function solved(columnsOfInverse: readonly (readonly number[])[], right: number[]): number[] {
  const { length } = right;
  const matrix = right.map((side, i) => [
    ...right.map((_, j) => columnsOfInverse[i]!.reduce((sum, entry, k) =>
      sum + entry * columnsOfInverse[j]![k]!, 0)), side,
  ]);
  for (let i = 0; i < length; i++) {
    for (let k = 0; k < length; k++) {
      if (k === i) continue;
      const factor = matrix[k]![i]! / matrix[i]![i]!;
      for (let j = i; j <= length; j++) matrix[k]![j]! -= factor * matrix[i]![j]!;
    }
  }
  return matrix.map((row, i) => row[length]! / row[i]!);
}

function gaussianTruth(cell: Cell, made: MadeRows): Truth {
  const [mean, covariance] = [meanTruth(cell, made), covarianceTruth(cell, made)];
  return {
    numbers: [...mean.numbers!, ...covariance.numbers!], unitOf: one,
    errorOf: (estimate) => Math.hypot(
      mean.errorOf(estimate.slice(0, cell.columns)),
      covariance.errorOf(estimate.slice(cell.columns)),
    ),
  };
}

/** Skewness and excess kurtosis of shapes with equal columns. */
const momentsOfShapes: Readonly<Record<string, readonly [number, number]>> = {
  normal: [0, 0], exponential: [2, 6], 'bernoulli-.5': [0, -2],
};

function momentsTruth({ rows, columns }: Cell): Truth {
  const [skewness, excess] = momentsOfShapes[rows]!;
  const right = [skewness, excess].flatMap((value) => new Array<number>(columns).fill(value));
  return {
    numbers: null, unitOf: one,
    errorOf: (estimate) => largest(difference(estimate.slice(-right.length), right)),
  };
}

/** Mixtures and hypotheses are judged by the total variation of the first column. */
function mixtureTruth({ rows, columns }: Cell): Truth {
  const size = 1 + columns + (columns === 1 ? 1 : columns ** 2);
  const wide = Math.sqrt(1 + 16 * 0.21);
  const parts = rows === 'bimodal'
    ? [[0.7, 0, 1 / wide], [0.3, 4 / wide, 1 / wide]] : [[1, 0, 1]];
  const below = (mixture: readonly (readonly number[])[], x: number): number =>
    mixture.reduce((sum, [weight, mean, deviation]) =>
      sum + (weight! === 0 ? 0 : weight! * normalCdf((x - mean!) / deviation!)), 0);
  return {
    numbers: null, unitOf: one,
    errorOf: (estimate) => {
      const found = Array.from({ length: estimate.length / size }, (_, i) => {
        const [weight, mean] = [estimate[i * size]!, estimate[i * size + 1]!];
        const last = estimate[i * size + 1 + columns]!;
        return [weight, mean, columns === 1 ? last : Math.sqrt(last)];
      });
      let sum = 0;
      for (let x = -12; x < 12; x += 0.01) {
        const [own, right] = [found, parts].map((some) => below(some, x + 0.01) - below(some, x));
        sum += Math.abs(own! - right!) / 2;
      }
      return sum;
    },
  };
}

/** Numbers that follow from the rows that are there, hostile ones included. */
function countedTruth(right: readonly number[], unit: number): Truth {
  return {
    numbers: right, unitOf: () => unit,
    errorOf: (estimate) => largest(difference(estimate, right)) / unit,
  };
}

function quantilesOf(column: Float64Array, probabilities: readonly number[]): number[] {
  const sorted = column.slice().sort();
  return probabilities.map((share) => sorted[Math.ceil(share * sorted.length) - 1]!);
}

function distributionTruth(cell: Cell, column: Float64Array): Truth {
  const { people } = cell;
  const { range } = settingsOf(cell) as { range: string };
  const [low, high] = range.split('..').map(Number) as [number, number];
  const right = quantilesOf(column, [0.05, 0.25, 0.5, 0.75, 0.95]);
  const below = Array.from({ length: 257 }, (_, i) => {
    const edge = low + (i / 256) * (high - low);
    return column.reduce((sum, value) => sum + (value < edge ? 1 : 0), 0);
  });
  const numbers = [...right, ...below, column.length];
  return {
    numbers, unitOf: (index) => (index < right.length ? 1 : people),
    errorOf: (estimate) => Math.max(
      largest(difference(estimate.slice(0, 5), right)),
      largest(difference(estimate.slice(5), numbers.slice(5))) / people,
    ),
  };
}

function countsTruth(cell: Cell, { values }: MadeRows): Truth {
  const { columns, people, estimator } = cell;
  const column = (j: number): Float64Array =>
    Float64Array.from({ length: people }, (_, i) => values[i * columns + j]!);
  const total = (j: number): number => column(j).reduce((sum, value) => sum + value, 0);
  const counted = (least: number, below = Infinity): number =>
    column(0).reduce((sum, value) => sum + (value >= least && value < below ? 1 : 0), 0);
  switch (estimator) {
    case 'count': return countedTruth([counted(0.5)], people);
    case 'share': return countedTruth([counted(0.5) / people], 1);
    case 'histogram':
      return countedTruth([counted(-Infinity, -1), counted(-1, 0), counted(0, 1), counted(1)],
        people);
    case 'sum': return countedTruth(Array.from({ length: columns }, (_, j) => total(j)), people);
    case 'ratio': return countedTruth([total(0) / total(1)], 1);
    case 'median': return countedTruth(
      Array.from({ length: columns }, (_, j) => quantilesOf(column(j), [0.5])[0]!), 1);
    case 'quantile': return countedTruth(quantilesOf(column(0), [0.25, 0.5, 0.75]), 1);
    default: return distributionTruth(cell, column(0));
  }
}

/** What an answer to this cell about these rows should be. */
export function truthOf(cell: Cell, made: MadeRows): Truth {
  switch (cell.estimator) {
    case 'count': case 'share': case 'histogram': case 'sum': case 'ratio': case 'median':
    case 'quantile': case 'distribution': return countsTruth(cell, made);
    case 'auto': case 'covariance': case 'stable-covariance': case 'subsample-covariance':
      return covarianceTruth(cell, made);
    case 'gaussian': return gaussianTruth(cell, made);
    case 'stable-moments': return momentsTruth(cell);
    case 'mixture-1d': case 'mixture': return mixtureTruth(cell);
    // The second of three places.
    case 'select': return countedTruth([1], 1);
    case 'subspace': return countedTruth([0.2, 0.4, 0.4, 0.8, 1], 1);
    default: return meanTruth(cell, made);
  }
}
