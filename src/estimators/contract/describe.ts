import { assert } from '../../base/assert.js';
import type { ParameterValues } from '../../base/facts.js';
import type {
  ColumnInfo, Describe, NumberFacts, NumberInfo, ThresholdSide,
} from '../../base/number-info.js';
import { numberOf, optionalNumberOf } from './values.js';

/**
 * Parts that several descriptions share. They read public facts that may come from a server, and so
 * fail an assertion where these cannot be.
 */

/** A number about one column, in its unit and within its bounds. */
export function about(
  { name, unit, least, most }: ColumnInfo,
): Omit<NumberFacts, 'group'> & { readonly column: string } {
  return {
    column: name, ...(unit !== undefined && { unit }), ...(least !== undefined && { least }),
    ...(most !== undefined && { most }),
  };
}

/** One mean for each column. */
export const describeMeans: Describe = (_, columns) =>
  columns.map((column) => ({ kind: 'mean', ...about(column) }));

/** Every column with every column, row by row. */
export function covariancesOf(
  columns: readonly ColumnInfo[], component?: number,
): readonly NumberInfo[] {
  const more = component === undefined ? {} : { component };
  return columns.flatMap(({ name: column }, i) => columns.map(({ name: other }, j): NumberInfo =>
    (i === j ? { kind: 'variance', column, least: 0, ...more }
      : { kind: 'covariance', column, other, ...more })));
}

/** A covariance of the columns. */
export const describeCovariance: Describe = (_, columns) => covariancesOf(columns);

/** The column that a question about one column is about. */
export function askedColumn(values: ParameterValues, columns: readonly ColumnInfo[]): ColumnInfo {
  return columns[optionalNumberOf(values, 'column') ?? 0] ?? { name: 'value' };
}

/** The side of a threshold that is asked about. */
export function askedSide(values: ParameterValues, { isBoolean }: ColumnInfo): ThresholdSide {
  const threshold = numberOf(values, 'threshold');
  const isBelow = values['side'] === 'below';
  // One yes among the rows of a person makes their sum reach a threshold of up to 1.
  const isYesOrNo = isBoolean === true && threshold > 0 && threshold <= 1;
  return {
    ...(isBelow ? { below: threshold } : { atLeast: threshold }),
    ...(isYesOrNo && { is: !isBelow }),
  };
}

/** More numbers of one kind than this come from no parameter. */
const repeatMax = 4_096;

/** 1, 2, 3 ... up to a parameter. */
export function countedBy(values: ParameterValues, name: string): readonly number[] {
  const length = numberOf(values, name);
  assert(
    Number.isInteger(length) && length >= 1 && length <= repeatMax,
    `parameter ${name} was parsed as a small whole number`,
  );
  return Array.from({ length }, (_, i) => i + 1);
}
