import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { numbersOf, rangeOfColumn, valueBounds } from '../../contract/values.js';
import { columnOf, columnParameter } from '../tables/common.js';
import { describeQuantile } from './describe.js';
import { planQuantiles } from './plan-quantiles.js';

const parameters: readonly ParameterSpec[] = [
  columnParameter,
  {
    name: 'range', type: 'range', optional: true, ...valueBounds, unit: 'data units',
    description: 'public range of the column, like 0..240; values beyond count as at its nearer '
      + 'end. Without it the answer is found among all numbers, to 12 digits. It is needed for '
      + 'values near one another and far from zero, such as years or times in milliseconds, and '
      + 'for a quantile near 0 in a column of both signs',
  },
  {
    name: 'probabilities', type: 'numbers', default: [0.25, 0.5, 0.75], minimum: 0.001,
    maximum: 0.999,
    lengthMaximum: 32, unit: 'share of contributors',
    description: 'which quantiles; they share the cost',
  },
];

/**
 * Quantiles of one column, several at once, with or without a public range. Claim, cost, interval
 * and proof: see `planQuantiles`.
 *
 * Source: Smith (2011), section 3.2, and McSherry and Talwar (2007); the cost by bounded range of
 * Cesar and Rogers (2021).
 */
export const quantile: Estimator = {
  name: 'quantile',
  title: 'Quantiles of one column, with or without a public range',
  citations: [cite('Smi11', 'the private quantile, here among all numbers of 12 digits')],
  parameters,
  maturity: 'recommended',
  describe: describeQuantile,
  assumption: 'The values are not nearly equal and far from zero; or you know a range.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta, '
    + 'rho split between the quantiles and the counts between them; pure epsilon under such a '
    + 'budget.',
  liars: 'If m people lie, the rank of an answer moves by at most m people',
  plan: planQuantile,
};

function planQuantile(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const column = columnOf(values, facts.dimension);
  return planQuantiles({
    columns: [{ column, range: rangeFor(values, column) }],
    probabilities: numbersOf(values, 'probabilities'),
    outputShape: [numbersOf(values, 'probabilities').length],
  }, facts);
}

/** @throws InvalidParameterError when doubles can hardly distinguish the values of the range. */
export function rangeFor(
  values: ParameterValues, column: number,
): readonly [low: number, high: number] | undefined {
  const range = rangeOfColumn(values, column);
  if (range === undefined) return undefined;
  const [low, high] = range;
  if ((high - low) / 1_000 > 2 ** -40 * Math.max(Math.abs(low), Math.abs(high))) return range;
  throw new InvalidParameterError(
    `parameters.range: from ${low} to ${high} is too narrow for its distance from zero: give `
      + 'another range', { path: 'parameters.range', low, high },
  );
}
