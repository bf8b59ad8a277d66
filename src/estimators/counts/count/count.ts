import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { choiceOf, optionalNumberOf } from '../../contract/values.js';
import { columnNameOf, columnOf, columnParameter } from '../tables/common.js';
import type { BinOf } from '../tables/counts.js';
import { planNoisyCounts } from '../tables/noisy-counts.js';

/**
 * How many contributors took part, or how many of them are on one side of a public threshold.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it.
 * Why: the number is the sum over contributors of a function of their own row that is 0 or 1. One
 * contributor replaced, gone or new changes it by at most 1. It is a whole number, so it is on the
 * event's grid. It is released once with noise of sensitivity 1, the discrete Gaussian or Laplace
 * (count-noise).
 *
 * A hostile contributor changes the count by one, like everybody else.
 * Source: Dwork and Roth (2014), counting queries; the discrete Gaussian of Canonne, Kamath and
 * Steinke (2020).
 */
export const count: Estimator = {
  name: 'count',
  title: 'Number of contributors, all or on one side of a threshold',
  citations: [cite('CKS20', 'theorem 4, with sensitivity 1')],
  parameters: [
    columnParameter,
    {
      name: 'threshold', type: 'number', optional: true, minimum: -1e150, maximum: 1e150,
      unit: 'data units',
      description: 'count only contributors on one side of this value; everybody who sent a row '
        + 'when absent',
    },
    {
      name: 'side', type: 'choice', choices: ['at-least', 'below'], default: 'at-least',
      description: 'the side of the threshold that is counted',
    },
  ],
  shelf: 'recommended',
  assumption: 'None.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  plan: planCount,
  outputLabels: (values, columns) => [labelOf(values, columns)],
};

function labelOf(values: ParameterValues, columns: readonly string[]): string {
  const threshold = optionalNumberOf(values, 'threshold');
  if (threshold === undefined) return 'contributors';
  const side = choiceOf(values, 'side').replace('-', ' ');
  return `${columnNameOf(values, columns)} ${side} ${threshold}`;
}

function planCount(values: ParameterValues, facts: StudyFacts): Plan {
  return planNoisyCounts({
    name: 'count', counts: 1, l1: 1, l2: 1, binOf: countedBy(values, facts.dimension),
    theorem: 'a count of sensitivity 1 with discrete noise; '
      + 'proof in src/estimators/counts/count/count',
    facts: { errorsAreIn: 'shares of the cohort' },
    bias: 1,
  }, facts);
}

/**
 * @throws InvalidParameterError when there is no such column, or a column is named without a
 *   threshold.
 */
function countedBy(values: ParameterValues, dimension: number): BinOf {
  const threshold = optionalNumberOf(values, 'threshold');
  if (threshold === undefined) {
    if (optionalNumberOf(values, 'column') === undefined) return () => 0;
    throw new InvalidParameterError(
      'parameters.column is given without parameters.threshold: '
      + 'give a threshold to count by it, or leave column out',
      { path: 'parameters.column' },
    );
  }
  const column = columnOf(values, dimension);
  const isBelow = choiceOf(values, 'side') === 'below';
  return (row) => (row[column]! < threshold === isBelow ? 0 : null);
}
