import { pow } from '../../../base/elementary.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type {
  Estimator, Infeasible, ParameterValues, StudyFacts,
} from '../../contract/estimator.js';
import { kmv22 } from '../../contract/papers.js';
import { tooManyColumns } from '../../contract/planning.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf,
} from '../../contract/values.js';
import {
  definePooledEstimator, pooledDesign, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { assumptions } from '../../pooled/plan.js';
import { mapHidden } from '../moments/mapped-rows.js';
import { conditionParameter } from '../moments/parameters.js';
import { describeStableMoments } from './describe.js';
import { momentsDesign, momentsErrorOf, partsOf } from './design.js';
import { hidesTails } from './guard-design.js';
import { releaseMoments } from './release.js';

/**
 * Private third and fourth central moments, as symmetric tensors, and the skewness and excess
 * kurtosis along directions of interest. Rows are put in spreads about a private centre. Those out
 * of reach are left out, so that far ones count for nothing. A private map makes all directions
 * vary alike, a guard removes clusters that stand apart and pulls in tails, and the moments are
 * released after that and mapped back.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the number of rows, of the map, of the guard
 * and of the sum of every order (`design` has where their sensitivities are), composed adaptively.
 * Why. Whether a row is left at any time, and what it is mapped to, is a function of this row and
 * of released numbers alone: centre, spread, map, axes, thresholds and caps. Two neighbouring sets
 * see the same released numbers when their releases are compared, so they differ at any time in one
 * row at most. Central moments, directions and everything after the sums are post-processing.
 * Promise. A corruption a moves moments of order k along an axis by at most sqrt(a / (1 - a))
 * times the root mean square of the k-th powers that `tails` allows; `guard` has the proof. No
 * method does much better without a normal shape. Take normal rows, and the same rows with a share
 * c of them at +-t, c t^8 = 105: the second ones have 8th moments only twice those of the first,
 * and fourth moments sqrt(105 c) - 3 c farther up, 2.1 for a twentieth. With the second rows
 * no method can know whether the share is hostile. It is 1.07 off in one of the two cases.
 * Assumption. There are at most five columns. Honest rows have tails as heavy as `tails` says, and
 * no cluster behind a gap that holds an eighth to one and a half times the corruption.
 * Source. The task is that of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by
 * stabilizing convex relaxations (2022), Algorithm 4.8 for t > 2, with noise that is alike in every
 * direction of a symmetric tensor. The printed noise, alike in its entries on and above the
 * diagonal, is too small by the root of their number of permutations. The guard is this project's
 * own: no program of sums of squares is solved, and its theorem is not claimed.
 */
export const stableMoments: Estimator = definePooledEstimator({
  name: 'stable-moments',
  title: 'Private third and fourth moments, skewness and kurtosis',
  citations: [kmv22('the task of Algorithm 4.8')],
  parameters: [
    {
      name: 'order', type: 'integer', default: 4, minimum: 3, maximum: 4,
      description: '3: third moments and skewness; 4: fourth moments and excess kurtosis as well',
    },
    {
      name: 'directions', type: 'list', lengthMaximum: 64, optional: true,
      description: 'along which skewness and kurtosis are told: lists of one number per column; '
        + 'the columns when absent',
    },
    conditionParameter,
    {
      name: 'reach', type: 'number', default: 8, minimum: 2, maximum: 100, unit: 'spreads',
      description: 'rows farther than this from the centre in some column are left out',
    },
    {
      name: 'radius', type: 'number', optional: true, minimum: 1, maximum: 100,
      unit: 'standard deviations',
      description: 'rows farther than this from the centre, all directions made alike, are pulled '
        + 'in; sqrt(columns) + 4 when absent; noise on fourth moments grows with its fourth power',
    },
    corruptionParameter(
      0.1,
      'fraction of false rows that the error is promised for; 0 trusts every row within reach, '
      + 'with less noise',
    ),
    {
      name: 'tails', type: 'number', default: 1.5, minimum: 1, maximum: 100,
      description: 'how heavy the tails of honest rows are: the root mean square of their powers '
        + 'of the highest order over that of normal rows with the same middle; about 11 for a '
        + 'Laplace and 25 for an exponential column. Heavier tails are pulled in, and the answer '
        + 'says of about how many people',
    },
  ],
  maturity: 'research',
  describe: describeStableMoments,
  assumption: 'There are at most five columns, and honest tails are as heavy as stated.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre, the map, histograms that '
    + 'limit hostile rows, and the sums of orders 1 to 4.',
}, { refuse, design: designFor });

/**
 * Tensors of more columns have too many entries to be read.
 * @throws InvalidParameterError for directions that are none.
 */
function refuse(values: ParameterValues, { dimension }: StudyFacts): Infeasible | null {
  const refused =
    tooManyColumns(dimension, 5, `tensors of ${dimension} columns have too many entries`);
  if (refused === null) directionsOf(values, dimension);
  return refused;
}

const tailsHidden: TooFew = {
  kind: 'too-few',
  hidden: 'how far out the rows are',
  others: 'fewer columns, a larger epsilon, or corruption 0 where nobody lies',
};

function designFor({ values, facts }: DesignRequest): PooledDesign | TooFew {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const directions = directionsOf(values, dimension);
  const design = momentsDesign({
    facts, corruption, tails: numberOf(values, 'tails'), order: numberOf(values, 'order'),
    condition: numberOf(values, 'condition'),
    reach: numberOf(values, 'reach'),
    radius: optionalNumberOf(values, 'radius') ?? Math.sqrt(dimension) + 4,
  });
  if (design === null || cohort < design.centre.cohortNeeded) return mapHidden;
  if (design.guard !== null && hidesTails(design.guard, cohort)) return tailsHidden;
  const { orders, radius } = design;
  const tensors = orders.slice(2).map(({ space: { order } }) => pow(dimension, order));
  const size = tensors.reduce((sum, entries) => sum + entries, 0)
    + tensors.length * directions.length;
  return pooledDesign(design, {
    plan: {
      guarantee: {
        theorem: 'noisy sums of tensor powers after a private map, of rows whose powers have a '
          + 'bounded mean square along released axes; proofs in '
          + 'src/estimators/covariance/stable-moments. The paper’s own theorem is not claimed',
        assumptions: [
          'for accuracy: honest rows have what matters of their tails within '
          + `${radius.toPrecision(3)} deviations`,
          ...(corruption === 0 ? ['for accuracy: no row within reach is hostile'] : [
            'for accuracy: honest rows have tails no heavier than stated, and no cluster that '
            + 'stands apart',
            assumptions.corruption,
          ]),
        ],
        corruptionMax: corruption,
      },
      outputShape: [size],
      parts: partsOf(design, directions.length),
      facts: {
        errorsAreIn: 'the Euclidean distance of all that is answered, for rows of which all '
          + 'directions vary alike by 1',
        rounds: design.preconditioner.rounds,
        radius,
        ...(design.guard === null ? {} : { tails: design.guard.tails }),
        rowsAreLeftOutBeyondSpreads: design.reach,
        noiseOfTheHighestOrder: orders.at(-1)!.sum.sigma / cohort,
        rowsCountedAtMost: design.rowsMax,
        interval: 'none: rows far out matter most for third and fourth moments, and nobody knows '
          + 'how far out those are that noise hides or that were left out',
      },
      expectedError: momentsErrorOf(design, corruption),
    },
    release: (draws, centred) => releaseMoments({ design, directions, ...draws }, centred),
  });
}

/**
 * @throws InvalidParameterError unless these are lists of finite numbers, one per column, not all
 *   0.
 */
function directionsOf(values: ParameterValues, dimension: number): readonly Float64Array[] {
  const columns = Array.from({ length: dimension }, (_, j) =>
    Array.from({ length: dimension }, (__, i) => (i === j ? 1 : 0)));
  const given = values['directions'] === undefined ? columns
    : JSON.parse(choiceOf(values, 'directions')) as readonly unknown[];
  return given.map((direction, index) => {
    const isRight = Array.isArray(direction) && direction.length === dimension
      && direction.every((entry) => typeof entry === 'number' && Math.abs(entry) < 1e150)
      && direction.some((entry) => entry !== 0);
    if (isRight) return Float64Array.from(direction as readonly number[]);
    throw new InvalidParameterError(
      `directions: each is a list of ${dimension} numbers, one per column and not all 0`, { index },
    );
  });
}
