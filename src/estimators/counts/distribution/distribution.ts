import { InvalidParameterError } from '../../../base/errors.js';
import { cellEdges } from '../../../base/running-counts.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import {
  numberOf, numbersOf, optionalNumbersOf, valueBounds,
} from '../../contract/values.js';
import { columnOf, columnParameter } from '../tables/common.js';
import { describeDistribution } from './describe.js';
import { planDistribution } from './plan.js';

const cellsMaximum = 4_096;

const parameters: readonly ParameterSpec[] = [
  columnParameter,
  {
    name: 'range', type: 'range', optional: true, ...valueBounds, unit: 'data units',
    description: 'public range of the column, like 0..240; give it or edges',
  },
  {
    name: 'cells', type: 'integer', default: 256, minimum: 2, maximum: cellsMaximum,
    description: 'into how many equal cells the range is cut; more cells need little more noise',
  },
  {
    name: 'edges', type: 'numbers', optional: true, ...valueBounds,
    unit: 'data units',
    description: 'public edges of the cells, instead of range and cells; at least 2',
  },
  {
    name: 'probabilities', type: 'numbers', default: [0.05, 0.25, 0.5, 0.75, 0.95], minimum: 0.001,
    maximum: 0.999, lengthMaximum: 32, unit: 'share of contributors',
    description: 'which quantiles the release names; they cost nothing',
  },
];

/**
 * The distribution of one column: how many contributors are below each public edge, and any
 * quantile, from one noisy vector.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data. Proof: factor and plan.
 *
 * Values beyond the outermost edges are counted as beyond, and a quantile that lies there is
 * answered by that edge. The finding `values-clipped` says about how many they are.
 * A hostile contributor moves every count by at most 1, and a quantile's rank likewise.
 */
export const distribution: Estimator = {
  name: 'distribution',
  title: 'The whole distribution of one column over a public range, and any quantile of it',
  citations: [
    cite('CKS20', 'theorem 14, for the noise'),
    cite('FHU23', 'the square root of the matrix of running sums'),
  ],
  parameters,
  maturity: 'recommended',
  describe: describeDistribution,
  assumption: 'You know a range that nearly all values lie in.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta, for '
    + 'all counts and quantiles together.',
  liars: 'If m people lie, the number of people up to any value moves by at most m',
  plan,
};

function plan(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  return planDistribution({
    column: columnOf(values, facts.dimension),
    edges: edgesOf(values),
    probabilities: numbersOf(values, 'probabilities'),
  }, facts);
}

/**
 * @throws InvalidParameterError when both or neither of a range and edges are given, the range is
 *   too narrow for doubles, or there is one edge only.
 */
function edgesOf(values: ParameterValues): readonly number[] {
  const edges = optionalNumbersOf(values, 'edges');
  const range = optionalNumbersOf(values, 'range');
  if ((range === undefined) === (edges === undefined)) {
    throw new InvalidParameterError(
      edges === undefined
        ? 'neither parameters.range nor parameters.edges is given: give range=low..high, between '
          + 'which nearly all values lie, or edges=first,second,... of cells'
        : 'parameters.range and parameters.edges are both given: give one of them',
      { path: edges === undefined ? 'parameters.range' : 'parameters.edges' },
    );
  }
  if (edges !== undefined && edges.length < 2) {
    throw new InvalidParameterError(
      'parameters.edges has one edge: give at least 2, or ask count with a threshold',
      { path: 'parameters.edges' },
    );
  }
  const found = cellEdges({ ...values, cells: numberOf(values, 'cells') })!;
  if (found.every((edge, i) => i === 0 || edge > found[i - 1]!)) return found;
  const [low, high] = [found[0], found.at(-1)];
  throw new InvalidParameterError(
    `parameters.cells: the range from ${low} to ${high} is too narrow for its distance from zero `
    + `to be cut into ${found.length - 1} cells: give fewer cells or another range`,
    { path: 'parameters.cells' },
  );
}
