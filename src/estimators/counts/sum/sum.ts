import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { rangeOf, rangeParameter } from '../../contract/values.js';
import { boundsOf, type Bounds } from './bounds.js';
import { planGivenBounds } from './given-bounds.js';

const parameters: readonly ParameterSpec[] = [
  {
    name: 'cap', type: 'scale', optional: true, minimum: 1e-150, maximum: 1e150,
    unit: 'data units',
    description: 'the most that one contributor counts for in a column, one number or one per '
      + 'column; values are clipped to 0..cap; give this or range',
  },
  {
    ...rangeParameter,
    description: 'public bounds of the columns, like -50..200, one or one per column; values are '
      + 'clipped to them; give this or cap',
  },
];

/**
 * The total of each column over all contributors, each value clipped to public bounds.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it. Proof and
 * split of the cost: given-bounds.
 *
 * It estimates the total of the clipped values. A value beyond the bounds counts as at the bound,
 * so the total of the values themselves may be farther out by any amount. A noisy number of people
 * whose value was clipped is drawn too, and the finding `values-clipped` reports it where it is
 * more than noise.
 *
 * A hostile contributor moves a total by at most its unit, max(high, 0) - min(low, 0).
 * Source: Dwork and Roth (2014), sums of bounded values; the discrete Gaussian of Canonne, Kamath
 * and Steinke (2020).
 */
export const sum: Estimator = {
  name: 'sum',
  title: 'Total of each column over all contributors, each value clipped to public bounds',
  citations: [cite('CKS20', 'theorem 14, for whole multiples of 2^-20 of the bound')],
  parameters,
  shelf: 'recommended',
  assumption: 'You know a bound that nearly all values are within.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  plan: planSum,
  outputLabels,
};

/** @throws InvalidParameterError when both or neither of cap and range are given. */
function planSum(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  return planGivenBounds(givenBoundsOf(values), facts);
}

/** @throws InvalidParameterError when both or neither of cap and range are given. */
function givenBoundsOf(values: ParameterValues): readonly Bounds[] {
  const range = rangeOf(values);
  const cap = values['cap'];
  if ((range === null) === (cap === undefined)) {
    throw new InvalidParameterError(
      range === null
        ? 'neither parameters.cap nor parameters.range is given: give cap, the most that one '
          + 'contributor counts for, or range, such as -50..200'
        : 'parameters.cap and range are both given: give one of them',
      { path: 'parameters.cap' },
    );
  }
  if (range === null) return (cap as readonly number[]).map((high) => boundsOf(0, high));
  return Array.from(range.low, (low, j) => boundsOf(low, range.high[j]!));
}

function outputLabels(values: ParameterValues, columns: readonly string[]): readonly string[] {
  const bounds = givenBoundsOf(values);
  return columns.map((name, j) =>
    `total of ${name}, each ${bounds[j]!.low} to ${bounds[j]!.high}`);
}
