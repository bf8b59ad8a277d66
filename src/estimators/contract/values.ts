import { assert } from '../../base/assert.js';
import { factsLimits } from '../../base/facts-limits.js';
import type { ParameterSpec, ParameterValues } from './estimator.js';

/**
 * Readers of parsed parameters. The parser has checked type and range, so a mismatch is a defect.
 */
export function numberOf(values: ParameterValues, name: string): number {
  const value = values[name];
  assert(typeof value === 'number', `parameter ${name} was parsed as a number`);
  return value;
}

/** Undefined when the parameter is optional and was not given. */
export function optionalNumberOf(values: ParameterValues, name: string): number | undefined {
  return values[name] === undefined ? undefined : numberOf(values, name);
}

/** Undefined when the parameter is optional and was not given. */
export function optionalNumbersOf(
  values: ParameterValues, name: string,
): readonly number[] | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  assert(Array.isArray(value), `parameter ${name} was parsed as a list of numbers`);
  return value as readonly number[];
}

/** An ascending list. */
export function numbersOf(values: ParameterValues, name: string): readonly number[] {
  const value = optionalNumbersOf(values, name);
  assert(value !== undefined, `parameter ${name} was parsed as a list of numbers`);
  return value;
}

/** The word that was chosen. */
export function choiceOf(values: ParameterValues, name: string): string {
  const value = values[name];
  assert(typeof value === 'string', `parameter ${name} was parsed as a choice`);
  return value;
}

/** A list of objects, which is parsed to its JSON text. */
export function listOf(values: ParameterValues, name: string): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(choiceOf(values, name));
  } catch (error) {
    assert(!(error instanceof SyntaxError), `parameter ${name} was parsed as a list`);
    throw error;
  }
  assert(Array.isArray(list), `parameter ${name} was parsed as a list`);
  return list;
}

/** One positive number per column, or `auto`: to be found privately. */
export function spreadOf(values: ParameterValues, dimension: number): Float64Array | 'auto' {
  const value = values['spread'];
  if (value === 'auto') return value;
  assert(
    Array.isArray(value) && value.length === dimension,
    'spread was parsed to one number per column',
  );
  return Float64Array.from(value as readonly number[]);
}

/**
 * Bounds of a parameter that is a value of rows: one beyond what a row can hold is a mistake of
 * unit or digits.
 */
export const valueBounds = {
  minimum: -factsLimits.valueMax, maximum: factsLimits.valueMax,
} as const;

/** Public bounds of each column. */
export interface ColumnRange {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Null when no range was given, or the estimator takes none. */
export function rangeOf(values: ParameterValues): ColumnRange | null {
  const ends = optionalNumbersOf(values, 'range');
  if (ends === undefined) return null;
  return {
    low: Float64Array.from(ends.filter((_, i) => i % 2 === 0)),
    high: Float64Array.from(ends.filter((_, i) => i % 2 === 1)),
  };
}

/** The ends of the range of one column; undefined when no range was given. */
export function rangeOfColumn(
  values: ParameterValues, column: number,
): readonly [low: number, high: number] | undefined {
  const ends = optionalNumbersOf(values, 'range');
  return ends === undefined ? undefined : [ends[2 * column]!, ends[2 * column + 1]!];
}

/** The parameter that says between which bounds every honest row is. */
export const rangeParameter: ParameterSpec = {
  name: 'range',
  type: 'range',
  optional: true,
  ...valueBounds,
  unit: 'data units',
  description:
    'public bounds of the columns, like 0..1, one or one per column; rows beyond are moved to the '
    + 'bound, and the answer says if many are. Alone it is for answers on a scale, and yes or no: '
    + 'nearly the whole cost goes to the mean. '
    + 'Beside spread it tells where to look, so that fewer contributors suffice',
};

/** The parameter that says in which units the data vary. */
export const spreadParameter: ParameterSpec = {
  name: 'spread',
  type: 'positive',
  choices: ['auto'],
  default: 'auto',
  minimum: 1e-150,
  maximum: 1e150,
  unit: 'data units',
  description:
    'public guess of the standard deviation of an honest row, one number or one per column, '
    + 'not taken from the data that it is used on; auto finds it privately for a fifth of the cost',
};

/** The assumed corruption of the contributors. */
export function corruptionParameter(maximum: number, description: string): ParameterSpec {
  return {
    name: 'corruption',
    type: 'number',
    default: 0.05,
    minimum: 0,
    maximum,
    unit: 'share of contributors',
    description,
  };
}
