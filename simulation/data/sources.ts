import { InvalidParameterError } from '../../src/base/errors.js';
import { seededRandom } from '../../src/random/work.js';
import { gaussianVector } from './gaussian.js';

/**
 * A source of simulated rows: the rows of one contributor in one epoch, row-major. NaN: an optional
 * column has no value. The same arguments give the same rows.
 * @param study the study's name, if a fleet serves several.
 */
export type RowSource = (contributor: number, epoch: bigint, study: string) => Float64Array;

export interface GaussianSourceOptions {
  /** One per column. */
  readonly mean: readonly number[];
  /** One per column, in data units. */
  readonly standardDeviation: readonly number[];
  /** Rows per contribution. */
  readonly rows: number;
  readonly seed: Uint8Array;
}

/**
 * Independent normal values. @throws InvalidParameterError when the lists differ in length or there
 * is no row.
 */
export function gaussianSource(options: GaussianSourceOptions): RowSource {
  const { mean, standardDeviation, rows, seed } = options;
  const columns = mean.length;
  if (columns === 0 || standardDeviation.length !== columns) {
    throw new InvalidParameterError('give one mean and one standard deviation per column');
  }
  checkRows(rows);
  const random = seededRandom(seed);
  return (contributor, epoch, study) =>
    gaussianVector(rows * columns, random.fork(`${study} ${epoch} ${contributor}`)).map(
      (value, i) => mean[i % columns]! + standardDeviation[i % columns]! * value,
    );
}

export interface DatasetSourceOptions {
  /** All rows, row-major. */
  readonly values: Float64Array;
  readonly columns: number;
  /** Rows per contribution. */
  readonly rows: number;
  /** Contributors in the fleet. */
  readonly contributors: number;
  readonly seed: Uint8Array;
}

/**
 * Deals the rows of a data set. In each epoch every contributor gets rows that no other has, as far
 * as there are enough rows. The next epoch continues where the last one ended. The order is a fixed
 * permutation of the rows, so neighbours in the file go to different contributors.
 * @throws InvalidParameterError unless the values are whole rows.
 */
export function datasetSource(options: DatasetSourceOptions): RowSource {
  const { values, columns, rows, contributors, seed } = options;
  checkRows(rows);
  const count = values.length / columns;
  if (!Number.isInteger(count) || count < 1) {
    throw new InvalidParameterError(
      `${values.length} values do not make whole rows of ${columns} columns`,
    );
  }
  const random = seededRandom(seed);
  const stride = coprimeNear(Math.floor((0.25 + 0.5 * random.uniform()) * count), count);
  const offset = Math.floor(random.uniform() * count);
  return (contributor, epoch) => {
    const dealt = Number((epoch * BigInt(contributors * rows)) % BigInt(count))
      + contributor * rows;
    const mine = new Float64Array(rows * columns);
    for (let i = 0; i < rows; i++) {
      // Both factors are below 2^32 for any file that fits in memory, and BigInt keeps the product
      // exact.
      const at = Number((BigInt(dealt + i) * BigInt(stride) + BigInt(offset)) % BigInt(count));
      mine.set(values.subarray(at * columns, (at + 1) * columns), i * columns);
    }
    return mine;
  };
}

function checkRows(rows: number): void {
  if (!Number.isInteger(rows) || rows < 1) {
    throw new InvalidParameterError(
      `rows per contribution is ${rows}: give an integer of at least 1`,
    );
  }
}

/**
 * The first number from `start` on without a common divisor with `count`: its multiples reach every
 * row.
 */
function coprimeNear(start: number, count: number): number {
  const divisor = (left: number, right: number): number =>
    (right === 0 ? left : divisor(right, left % right));
  let candidate = Math.max(1, start);
  while (divisor(candidate, count) !== 1) candidate += 1;
  return candidate;
}
