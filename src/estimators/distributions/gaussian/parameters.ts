import type { ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import {
  choiceOf, numberOf, optionalNumberOf, spreadOf, spreadParameter,
} from '../../contract/values.js';
import {
  optionalVarianceParameters, varianceBoundsOf, type VarianceBounds,
} from '../../covariance/covariance/variance-bounds.js';

/** A release of more columns, with its intervals, is longer than a subscriber's buffer. */
export const columnsMax = 100;

/** The corruption that `local: robust` assumes when none is given. */
const assumedCorruption = 0.02;

export const parameters: readonly ParameterSpec[] = [
  spreadParameter,
  ...optionalVarianceParameters,
  {
    name: 'accuracy', type: 'number', default: 0.25, minimum: 0.01, maximum: 1,
    unit: 'total variation',
    description: 'the expected distance between the answer and the truth that a plan must promise',
  },
  {
    name: 'arms', type: 'choice', choices: ['one', 'split'], default: 'one',
    description: 'one: every contributor serves covariance and mean, which share the cost; split: '
      + 'one of them each, '
      + 'at the whole cost',
  },
  {
    name: 'local', type: 'choice', choices: ['empirical', 'robust'], default: 'empirical',
    description: 'empirical: from all rows, which resists no hostile rows; robust: from robust '
      + 'estimates of groups of contributors',
  },
  {
    name: 'corruption', type: 'number', optional: true, minimum: 0, maximum: 0.1,
    unit: 'share of contributors',
    description: `corruption that the promise must survive; ${assumedCorruption} for local: `
      + 'robust when absent, 0 otherwise',
  },
  {
    name: 'subspace', type: 'choice', choices: ['none', 'affine'], default: 'none',
    description: 'affine: rows of whole numbers may lie in a subspace beside the origin, which is '
      + 'found first, exactly',
  },
  {
    name: 'unit', type: 'number', default: 1, minimum: 1e-100, maximum: 1e100, unit: 'data units',
    description: 'with subspace: entries are rounded to whole multiples of this before their '
      + 'subspace is looked for',
  },
];

/** The parameters of a study. */
export interface GaussianChoice {
  /** Null when neither is given: spreads are found, or given, and columns divided by them. */
  readonly bounds: VarianceBounds | null;
  readonly spread: Float64Array | 'auto';
  /** Total variation. */
  readonly accuracy: number;
  readonly isShared: boolean;
  /** Corruption that groups are robust against; null when there are no groups. */
  readonly corruption: number | null;
  /** Step of whole numbers whose subspace is found first; null when none is looked for. */
  readonly unit: number | null;
}

/** @throws InvalidParameterError when the lower variance bound is above the upper one. */
export function choiceFrom(values: ParameterValues, dimension: number): GaussianChoice {
  return {
    bounds: varianceBoundsOf(values),
    spread: spreadOf(values, dimension),
    accuracy: numberOf(values, 'accuracy'),
    isShared: choiceOf(values, 'arms') === 'one',
    corruption: choiceOf(values, 'local') === 'robust'
      ? optionalNumberOf(values, 'corruption') ?? assumedCorruption
      : null,
    unit: choiceOf(values, 'subspace') === 'affine' ? numberOf(values, 'unit') : null,
  };
}
