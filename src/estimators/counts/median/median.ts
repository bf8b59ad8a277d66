import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { valueBounds } from '../../contract/values.js';
import { planQuantiles } from '../quantile/plan-quantiles.js';
import { rangeFor } from '../quantile/quantile.js';
import { describeMedian } from './describe.js';

/**
 * The median of each column: half the people are below it. In a skewed column the mean is
 * elsewhere, and no answer or plan says that this is one.
 *
 * Claim, neighbours, cost, interval and proof: `planQuantiles`, at probability 1/2 for all columns.
 * It needs fewer people than a mean without bounds: 75 a column at epsilon 1, and about 345 a
 * column for an interval. No row far out moves it.
 */
export const median: Estimator = {
  name: 'median',
  title: 'Median of each column, with or without public ranges',
  citations: [cite('Smi11', 'the private quantile, here among all numbers of 12 digits')],
  parameters: [{
    name: 'range', type: 'range', optional: true, ...valueBounds, unit: 'data units',
    description: 'public ranges of the columns, like 0..240, one or one per column; values beyond '
      + 'count as at the nearer end. Without them answers are found among all numbers, to 12 '
      + 'digits. They are needed for values near one another and far from zero, such as years or '
      + 'times in milliseconds, and for a median near 0 in a column of both signs',
  }],
  maturity: 'recommended',
  describe: describeMedian,
  assumption: 'The values are not nearly equal and far from zero; or you know a range.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta, '
    + 'rho split between the columns and the counts about their medians; pure epsilon under such '
    + 'a budget.',
  liars: 'If m people lie, the rank of an answer moves by at most m people',
  plan: planMedian,
};

/** @throws InvalidParameterError when there is nothing to take a median of. */
function planMedian(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension } = facts;
  if (dimension === 0) {
    throw new InvalidParameterError(
      'the question has no columns: give it those that a median is wanted of, or ask count',
      { path: 'columns' },
    );
  }
  return planQuantiles({
    columns: Array.from({ length: dimension }, (_, column) =>
      ({ column, range: rangeFor(values, column) })),
    probabilities: [0.5],
    outputShape: [dimension],
  }, facts);
}
