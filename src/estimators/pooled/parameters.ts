import type {
  Infeasible, ParameterSpec, ParameterValues, StudyFacts,
} from '../contract/estimator.js';
import { numberOf } from '../contract/values.js';

/** Parameters that several estimators take. Where bounds differ, the caller states them. */

/** A default, or a text in place of one: the estimator works it out when it is absent. */
type Preset = number | string;

const presetOf = (preset: Preset): Pick<ParameterSpec, 'default' | 'optional'> =>
  (typeof preset === 'number' ? { default: preset } : { optional: true });
const textOf = (preset: Preset): string => (typeof preset === 'number' ? '' : `; ${preset}`);

/** The parameter for the cost of finding the centre. */
export function centrePartParameter(preset: Preset, maximum: number): ParameterSpec {
  return {
    name: 'centre-part', type: 'number', ...presetOf(preset), minimum: 0.02, maximum,
    unit: 'part of rho',
    description: `part of the cost that finding the centre takes${textOf(preset)}`,
  };
}

/** The parameter for the cost of the mean of the rows left. */
export function finalPartParameter(preset: Preset, maximum: number): ParameterSpec {
  return {
    name: 'final-part', type: 'number', ...presetOf(preset), minimum: 0.05, maximum,
    unit: 'part of rho',
    description: 'part of the cost that the mean of the rows left takes; what remains pays for '
      + `the filter rounds${textOf(preset)}`,
  };
}

/** How many filter rounds there are at most. */
export function roundsParameter(preset: Preset, maximum: number): ParameterSpec {
  return {
    name: 'rounds', type: 'integer', ...presetOf(preset), minimum: 1, maximum,
    description: 'maximum filter rounds; more rounds find smaller groups, but each has more noise'
      + textOf(preset),
  };
}

/** Radius of the ball that rows are pulled into, when none is given. In spreads. */
export function usualRadius(dimension: number): number {
  return 1.35 * Math.sqrt(dimension) + 3;
}

/**
 * Radius of a smaller ball: fewer than 4 in 10,000 normal rows of one spread are beyond it, in any
 * number of columns. In spreads.
 */
export function closeRadius(dimension: number): number {
  return 1.1 * Math.sqrt(dimension) + 2.5;
}

/** @param maximum - in spreads. @param more - goes on after the usual radius. */
export function radiusParameter(maximum = 1e6, more = ''): ParameterSpec {
  return {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum, unit: 'spreads',
    description: 'rows farther than this from the centre are pulled in; '
      + `1.35 sqrt(columns) + 3 when absent${more}`,
  };
}

/**
 * The demand of a filter on its target: a part of rho for the centre, the rounds and the mean.
 * @param options.needsDelta - default true; false where the centre costs none.
 */
export function demandShares(
  values: ParameterValues, { target }: StudyFacts,
  { needsDelta = true }: { readonly needsDelta?: boolean } = {},
): Infeasible | null {
  const taken = numberOf(values, 'centre-part') + numberOf(values, 'final-part');
  if (target.rho > 0 && (target.delta > 0 || !needsDelta) && taken < 0.99) return null;
  return {
    kind: 'infeasible',
    reason: 'the centre, the filter rounds and the mean each need a part of rho, and the centre '
      + 'a positive delta',
    remedy: 'ask for (epsilon, delta) with delta > 0, and leave centre-part + final-part '
      + 'below .99',
  };
}
