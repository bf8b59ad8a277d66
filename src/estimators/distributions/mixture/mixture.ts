import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { makePlan, pooledArm } from '../../contract/planning.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf } from '../../contract/values.js';
import { noIntervalOfFit } from '../candidates/contests.js';
import { gapsNotAllowed } from '../candidates/gaps.js';
import { columnsMaximum, windowsPerColumn } from './boxes.js';
import { describeMixture } from './describe.js';
import {
  errorOf, eventsOf, leastWeight, mixtureDesign, shares, stepsPerClimb, tooSmall,
  type MixtureDesign,
} from './design.js';
import { partsOf, releaseMixture } from './release.js';

/**
 * A mixture of normals in two to six columns: weights, means and covariances, without a public
 * range or spread.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: (rho, delta), delta-approximate zCDP, for all data.
 * Why: a keyed hash puts each contributor into one of four cohorts. Each cohort is asked one
 * question, so the largest of four costs counts.
 * - Gaps of every column show windows (gaps, with its proof): (rho, delta).
 * - A histogram over boxes of windows' cells, with a threshold that hides a contributor who is
 *   alone in a box (boxes): (rho, delta).
 * - Steps of expectation and maximisation on rows, two climbs of six. Each step is a Gaussian
 *   vector whose sensitivity is that of one row for all components together (rounds, with its
 *   proof). It is calibrated for any mixture that was released before: rho in all.
 * - The choice between the fits by the exponential mechanism on scores of sensitivity 1 (contests):
 *   rho. Everything else reads released numbers. Dithering of rounded values adds to each row a
 *   function of its own tag.
 *
 * Privacy is guaranteed, and that the choice names a fit about as good as the best one. Nothing is
 * proved about how good that is: expectation and maximisation can end at a poor mixture.
 *
 * Source: Ashtiani, Majid, Narayanan (2024) for the outline: rough candidates from some
 * contributors, then private selection on others. The paper finds one rough covariance at a time,
 * by an exponential mechanism whose score no known algorithm evaluates in polynomial time. Gaps of
 * each column (Algorithm 3 of the paper), boxes and noisy steps replace that part, so the accuracy
 * of theorem 1.4 is not claimed. The joint sensitivity of a step is derived here.
 */
export const mixture: Estimator = {
  name: 'mixture',
  title: 'Mixture of normals in several columns',
  citations: [cite(
    'AMN24',
    'section 2, rough candidates and then private selection; the candidates are fits, not its '
    + 'covariances',
  )],
  parameters: [
    {
      name: 'components', type: 'integer', default: 3, minimum: 1, maximum: 6,
      description: 'at most this many components; fewer are tried too, and weight 0 stands for '
        + 'those not used',
    },
    {
      name: 'resolution', type: 'positive', optional: true, unit: 'data units',
      description: 'step to which values are rounded; each is spread over its step before it is '
        + 'used',
    },
    {
      name: 'alpha', type: 'number', default: 0.01, minimum: 0.002, maximum: 0.3,
      unit: 'total variation',
      description: 'fits nearer to each other than three times this count as equal',
    },
  ],
  maturity: 'research',
  describe: describeMixture,
  assumption: 'Rows follow a mixture of normals that hardly overlap, and nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, '
    + 'four disjoint cohorts at the full cost each.',
  plan: planMixture,
};

/** @throws InvalidParameterError for rows of one column, or of more than six. */
function planMixture(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension, target } = facts;
  if (dimension < 2 || dimension > columnsMaximum) {
    throw new InvalidParameterError(
      `mixture takes rows of 2 to ${columnsMaximum} columns, not ${dimension}: `
      + (dimension < 2 ? 'use mixture-1d' : 'keep the columns in which components differ'),
      { path: 'columns', limit: columnsMaximum },
    );
  }
  const refusal = gapsNotAllowed(target, 'anywhere');
  if (refusal !== null) return refusal;
  const given = values['resolution'];
  const design = mixtureDesign(facts, {
    components: numberOf(values, 'components'),
    alpha: numberOf(values, 'alpha'),
    resolution: given === undefined ? null : Float64Array.from({ length: dimension }, (_, j) =>
      (Array.isArray(given) ? (given as readonly number[])[j]! : Number(given))),
  });
  return tooSmall(design) ?? planFor(design);
}

function planFor(design: MixtureDesign): Plan {
  const { facts, choice, gaps, boxes, steps, round, pick } = design;
  return makePlan({
    arms: Object.entries(shares).map(([name, share]) => pooledArm(name, share)),
    events: eventsOf(design),
    guarantee: {
      theorem: 'gaps, boxes, noisy steps of expectation and maximisation, private selection; '
        + 'proofs in '
        + 'src/estimators/distributions/candidates/gaps and contests, '
        + 'src/estimators/distributions/mixture/boxes and rounds',
      assumptions: [
        'for accuracy: the rows follow a mixture of normals, each of weight '
        + `${leastWeight(choice.components).toPrecision(2)} `
          + 'or more, that do not nearly coincide',
        'nothing is proved about how near the fits come; only the choice among them has a promise',
      ],
      corruptionMax: 0,
    },
    outputShape: [choice.components * (1 + facts.dimension + facts.dimension ** 2)],
    parts: partsOf(choice.components, facts.dimension),
    facts: {
      errorsAreIn: 'total variation, for well separated components of equal weight that the fits '
        + 'found',
      provedAccuracy: 'none; privacy and the choice among fits only',
      windowsAtMostPerColumn: windowsPerColumn,
      noiseOfGaps: gaps.sigma,
      noiseOfBoxes: boxes.sigma,
      climbs: steps.length,
      stepsPerClimb,
      clipRadiusInDeviations: round.radius,
      noiseOfStep: steps[0]![0]!.sigma,
      interval: noIntervalOfFit,
      candidates: pick.candidates,
    },
    expectedError: errorOf(design),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => releaseMixture(design, summaries, mechanisms),
  });
}
