import { InvalidParameterError } from '../../../base/errors.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Estimator, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { choiceOf, optionalNumberOf } from '../../contract/values.js';
import { columnNameOf, columnOf, columnParameter, errorOf } from '../tables/common.js';
import { countInterval, countNoise, type CountNoise } from '../tables/count-noise.js';
import { countsOf, countsSummary, wholeCohort, type BinOf } from '../tables/counts.js';
import { neighbours } from '../../contract/planning.js';

const parameters: readonly ParameterSpec[] = [
  columnParameter,
  {
    name: 'threshold', type: 'number', optional: true, minimum: -1e150, maximum: 1e150, unit: 'data units',
    description: 'count only contributors on one side of this value; everybody who sent a row when absent',
  },
  {
    name: 'side', type: 'choice', choices: ['at-least', 'below'], default: 'at-least',
    description: 'the side of the threshold that is counted',
  },
];

/** Past it the answer says more about the hostile than about the honest. */
const corruptionMax = 0.5;

/**
 * How many contributors took part, or how many of them are on one side of a public threshold.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta, for all data; or pure epsilon, where the budget asks for it.
 * Why: the number is the sum over contributors of a function of their own row that is 0 or 1; one contributor
 * replaced, gone or new changes it by at most 1. It is a whole number, hence on the event's grid, and is released once
 * with noise of sensitivity 1, the discrete Gaussian or Laplace (count-noise).
 * Nothing is divided by, compared with or refused because of who came: zero is an answer like any other, and the answer
 * may be below zero, because cutting it there would make sums over epochs too large.
 *
 * A hostile contributor changes the count by one, like everybody: the error that a share of them makes is that share.
 * Source: Dwork and Roth (2014), counting queries; the discrete Gaussian of Canonne, Kamath and Steinke (2020).
 */
export const count: Estimator = {
  name: 'count',
  title: 'Number of contributors, all or on one side of a threshold',
  citations: [{
    key: 'CKS20',
    text: 'C. Canonne, G. Kamath, T. Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.',
    place: 'theorem 4, with sensitivity 1',
  }],
  parameters,
  shelf: 'recommended',
  assumption: 'None.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; pure epsilon under such a budget.',
  plan: planCount,
  outputLabels: (values, columns) => [labelOf(values, columns)],
};

function labelOf(values: ParameterValues, columns: readonly string[]): string {
  const threshold = optionalNumberOf(values, 'threshold');
  if (threshold === undefined) return 'contributors';
  return `${columnNameOf(values, columns)} ${choiceOf(values, 'side').replace('-', ' ')} ${threshold}`;
}

function planCount(values: ParameterValues, facts: StudyFacts): Plan {
  const counted = countedBy(values, facts.dimension);
  const noise = countNoise({ name: 'count', counts: 1, l1: 1, l2: 1, target: facts.target });
  const { event, deviation } = noise;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [wholeCohort],
    cost: costOfEvents([event], { disjoint: [] }),
    events: [event],
    guarantee: {
      neighbours,
      theorem: 'a count of sensitivity 1 with discrete noise; proof in src/estimators/counts/count/count',
      assumptions: [],
      corruptionMax,
    },
    outputShape: [1],
    noise: noise.stated,
    facts: {
      errorsAreIn: 'shares of the cohort',
      noiseInContributors: deviation,
      cohortForNoiseOfOnePercent: Math.ceil(100 * deviation),
    },
    expectedError: (corruption) =>
      errorOf({ sampling: 0, noise: deviation / facts.cohort, bias: corruption }, corruption, corruptionMax),
    summary: () => countsSummary(facts.dimension, 1, counted),
    release: async (summaries, mechanisms) =>
      noise.draw(mechanisms, countsOf(summaries)).map((noisy) => valueOf(Array.from(noisy), noise)),
  });
}

function valueOf(estimate: readonly number[], noise: CountNoise) {
  return {
    kind: 'value',
    estimate,
    shape: [1],
    uncertainty: noise.uncertainty,
    interval95: countInterval(estimate, noise),
  } as const;
}

/** @throws InvalidParameterError when a column is named and nothing is asked about it, or there is no such column. */
function countedBy(values: ParameterValues, dimension: number): BinOf {
  const threshold = optionalNumberOf(values, 'threshold');
  if (threshold === undefined) {
    if (optionalNumberOf(values, 'column') === undefined) return () => 0;
    throw new InvalidParameterError(
      'parameters.column is given without parameters.threshold: give a threshold to count by it, or leave column out',
      { path: 'parameters.column' },
    );
  }
  const column = columnOf(values, dimension);
  const isBelow = choiceOf(values, 'side') === 'below';
  return (row) => (row[column]! < threshold === isBelow ? 0 : null);
}
