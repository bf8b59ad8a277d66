import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import { infeasible } from '../../contract/planning.js';
import {
  numberOf, optionalNumberOf, optionalNumbersOf, valueBounds,
} from '../../contract/values.js';
import { columnOf, columnParameter } from '../tables/common.js';
import { describeHistogram } from './describe.js';
import { planOpenBins } from './open-bins.js';
import { planPublicBins } from './public-bins.js';

const parameters: readonly ParameterSpec[] = [
  columnParameter,
  {
    name: 'edges', type: 'numbers', optional: true, ...valueBounds,
    unit: 'data units',
    description: 'public edges of the bins, each bin from one edge up to the next, the first one '
      + 'below all edges and '
      + 'the last one at or above them; give these or width',
  },
  {
    name: 'width', type: 'number', optional: true, minimum: 1e-100, maximum: 1e100,
    unit: 'data units',
    description: 'bins of this width without bounds, of which only the fullest are shown; give '
      + 'this or edges',
  },
  {
    name: 'top', type: 'integer', default: 10, minimum: 1, maximum: 1_000,
    description: 'with width: how many bins are shown at most',
  },
];

/**
 * How many contributors have their value in which bin of one column.
 *
 * There are two forms. With `edges` every public bin is published with noise (public-bins). With
 * `width` the bins have no bounds, and a bin is shown when its noisy count is above a threshold
 * (open-bins). Claim, cost and proof of each are in its file.
 * Public bins can be split by public keys: then each key has all bins.
 * Neighbours for both: one contributor's row replaced by any other row, or by nothing, or added.
 */
export const histogram: Estimator = {
  name: 'histogram',
  title: 'Contributors per bin of one column, public bins or the fullest of all',
  citations: [
    cite('CKS20', 'theorem 14, for public bins'),
    cite(
      'KV18',
      'the stable histogram of section 2, for bins without bounds, here with Gaussian noise',
    ),
  ],
  parameters,
  keyed: ['public'],
  maturity: 'recommended',
  describe: describeHistogram,
  assumption: 'None with public edges; with a width, the bins that you care about hold many '
    + 'people.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP with public '
    + 'bins, '
    + '(rho, delta)-approximate zCDP with bins without bounds.',
  liars: 'If m people lie, all bins together move by at most m; split by groups, by at most m '
    + 'times the groups that a person may have',
  plan: planHistogram,
};

/**
 * @throws InvalidParameterError when both or neither of edges and width are given, or there is no
 *   such column.
 */
function planHistogram(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const edges = optionalNumbersOf(values, 'edges');
  const width = optionalNumberOf(values, 'width');
  if ((edges === undefined) === (width === undefined)) {
    const which = edges === undefined
      ? 'neither parameters.edges nor parameters.width is'
      : 'parameters.edges and parameters.width are both';
    throw new InvalidParameterError(
      `${which} given: give edges=first,second,... for public bins, or width=size for bins `
        + 'without bounds',
      { path: 'parameters.edges' },
    );
  }
  const column = columnOf(values, columnsOf(facts));
  if (edges === undefined && facts.keys !== undefined) {
    return infeasible(
      'bins without bounds cannot be split by groups', 'give edges for public bins',
    );
  }
  return edges === undefined
    ? planOpenBins({ column, width: width!, top: numberOf(values, 'top') }, facts)
    : planPublicBins({ column, edges }, facts);
}
