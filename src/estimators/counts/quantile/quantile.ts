import { ln } from '../../../base/elementary.js';
import { Released } from '../../../base/brands.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type { Outcome } from '../../../base/outcome.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, FinishedSummaries, Infeasible, ParameterSpec, ParameterValues, Plan,
  StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerAtBound } from '../../contract/outside.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { numbersOf, rangeOfColumn, valueBounds } from '../../contract/values.js';
import { columnOf, columnParameter } from '../tables/common.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { countsOf, countsSummary, wholeArm } from '../tables/counts.js';
import {
  cellOf, cellWidth, midpointOf, presenceOfRanks, rankScores, rankUnit, type Cells,
} from '../tables/rank-scores.js';
import { describeQuantile } from './describe.js';

/** More make a draw slower, by about a microsecond each, and the answer hardly finer. */
const cellCount = 1_000;
/** Share of the cost for the number of those present. */
const presentShare = 0.05;
/** Ranks that may be off by more than this share once in a hundred times make a plan infeasible. */
const rankErrorMaximum = 0.25;

const parameters: readonly ParameterSpec[] = [
  columnParameter,
  {
    name: 'range', type: 'range', ...valueBounds, unit: 'data units',
    description: 'public range of the column, like 0..240; values beyond count as at its nearer '
      + 'end; the answer is as fine as a thousandth of it',
  },
  {
    name: 'probabilities', type: 'numbers', default: [0.25, 0.5, 0.75], minimum: 0.001,
    maximum: 0.999,
    lengthMaximum: 32, unit: 'share of contributors',
    description: 'which quantiles; they share the cost',
  },
];

/**
 * Quantiles of one column over a public range, several at once.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data: m epsilon^2 / 8 for m choices by the exponential
 * mechanism, and the rest for the number of those present. Where the budget asks for pure epsilon:
 * m epsilon for the choices, and Laplace noise on the number present.
 * Why: cells are fixed by public parameters and a row is in exactly one. Scores change by at most 1
 * (rank-scores), so each choice is the exponential mechanism of its event. The choices see the same
 * counts and compose. A row that only comes or goes changes scores by at most the event's
 * `presence`, so answers for keys cost less. The number present changes by at most 1. The midpoints
 * of the chosen cells, and their sorting, are post-processing. Sorting keeps a higher probability
 * from having a lower quantile, and never brings the list farther from the true quantiles.
 *
 * Robust: an eta share of hostile contributors moves the rank of an answer by at most
 * max(p, 1 - p) eta / (1 - eta) among the honest, wherever they are, for eta <= min(p, 1 - p).
 *
 * Values beyond the range count in the cell at its end. How many there are is not released, but an
 * answer in the first or the last cell says that it may be farther out (`values-clipped`).
 *
 * The answer has no interval in data units: how far a rank is in data units depends on how dense
 * the rows are there, which is not public. The plan says how far ranks are off.
 *
 * Source: Smith (2011), section 3.2, and McSherry and Talwar (2007); the cost by bounded range of
 * Cesar and Rogers (2021).
 */
export const quantile: Estimator = {
  name: 'quantile',
  title: 'Quantiles of one column over a public range',
  citations: [cite('Smi11', 'the private quantile, here on public cells')],
  parameters,
  shelf: 'recommended',
  describe: describeQuantile,
  assumption: 'You know a range that nearly all values lie in.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta, '
    + 'rho split between the quantiles and the number present; pure epsilon under such a budget.',
  liars: 'If m people lie, the rank of an answer moves by at most m people',
  plan: planQuantile,
};

interface Design {
  readonly facts: StudyFacts;
  readonly column: number;
  readonly cells: Cells;
  readonly probabilities: readonly number[];
  readonly choice: ExponentialEvent;
  readonly present: CountNoise;
}

function planQuantile(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const column = columnOf(values, facts.dimension);
  const cells = cellsOf(values, column);
  const probabilities = numbersOf(values, 'probabilities');
  const choice = exponentialEvent({
    name: 'choice', cohort: wholeArm.name, candidates: cells.cells, sensitivity: rankUnit,
    times: probabilities.length, presence: presenceOfRanks(probabilities),
    ...choiceCost(facts, probabilities.length),
  });
  const present = countNoise({
    name: 'present', counts: 1, l1: 1, l2: 1, target: facts.target, share: presentShare,
  });
  const design: Design = { facts, column, cells, probabilities, choice, present };
  const cohortNeeded = cohortFor(design);
  if (facts.cohort >= cohortNeeded) return planFor(design);
  return infeasible(
    `with ${facts.cohort} contributors, ${probabilities.length} quantiles and rho `
    + `${facts.target.rho.toPrecision(3)} the noise may move a rank by `
    + `${Math.ceil(rankErrorAt(design, 0.01))}, past a quarter of the contributors or past the `
    + 'last of them',
    `a cohort of ${cohortNeeded}, fewer probabilities or none so near to 0 or 1, or a `
    + 'larger epsilon',
    cohortNeeded,
  );
}

/** The cost of the choices together, as zCDP, or the pure epsilon of each. */
function choiceCost(
  { target }: StudyFacts, choices: number,
): { readonly rho: number } | { readonly epsilon: number } {
  const share = 1 - presentShare;
  if (target.isPure === true) return { epsilon: shareOf(target.epsilon, share) / choices };
  return { rho: shareOf(target.rho, share) };
}

/**
 * With fewer contributors, noise may put a quantile past a quarter of them, or beyond all of them.
 * A cell that holds nobody costs no more ranks than its neighbour, so an answer may then be
 * anywhere up to the end of the range.
 */
function cohortFor(design: Design): number {
  const room = Math.min(rankErrorMaximum, corruptionMaxOf(design.probabilities));
  return Math.ceil(rankErrorAt(design, 0.01) / room);
}

/** @throws InvalidParameterError when the range has more cells than doubles can distinguish. */
function cellsOf(values: ParameterValues, column: number): Cells {
  const [low, high] = rangeOfColumn(values, column)!;
  // Cells must be many doubles wide, or middles of different cells would coincide.
  if ((high - low) / cellCount > 2 ** -40 * Math.max(Math.abs(low), Math.abs(high))) {
    return { low, high, cells: cellCount };
  }
  throw new InvalidParameterError(
    `parameters.range: from ${low} to ${high} is too narrow for its distance from zero to be cut `
      + `into ${cellCount} cells: give another range`, { path: 'parameters.range', low, high },
  );
}

/**
 * For all data: with probability at least 1 - failure, every quantile's rank is off by no more than
 * this many contributors. The best cell scores 0. A choice scores (2 / epsilon) (log(cells) + t) or
 * more below it with probability at most exp(-t). A union bound covers all choices.
 */
function rankErrorAt({ cells, probabilities, choice }: Design, failure: number): number {
  return (2 / choice.epsilon) * (ln(cells.cells) + ln(probabilities.length / failure));
}

function planFor(design: Design): Plan {
  const { facts, column, cells, probabilities, choice, present } = design;
  const { cohort, dimension } = facts;
  return makePlan({
    arms: [wholeArm],
    events: [choice, present.event],
    guarantee: {
      theorem: 'exponential mechanism on ranks of sensitivity 1; proof in '
        + 'src/estimators/counts/tables/rank-scores',
      assumptions: [
        'everybody outside the range counts as at its bound: an answer in the first or the last '
        + 'cell may be farther out if values can be outside, and says so',
        'for expected errors: honest values are spread evenly over the range; where they are '
        + 'denser, errors are smaller',
      ],
      corruptionMax: corruptionMaxOf(probabilities),
    },
    outputShape: [probabilities.length],
    facts: {
      errorsAreIn: 'shares of the range, over all quantiles, for values spread evenly over it',
      cells: cells.cells,
      cellWidth: cellWidth(cells),
      epsilonOfEachChoice: choice.epsilon,
      rankErrorShare95: rankErrorAt(design, 0.05) / cohort,
      noiseOfNumberPresent: present.standardDeviation,
    },
    expectedError: expectedErrorOf(design),
    summary: () => countsSummary(dimension, cells.cells, (row) => cellOf(row[column]!, cells)),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** The share past which hostile contributors alone choose the lowest or the highest quantile. */
function corruptionMaxOf(probabilities: readonly number[]): number {
  return Math.min(...probabilities.map((probability) => Math.min(probability, 1 - probability)));
}

/**
 * In shares of the range, Euclidean over the quantiles, for values spread evenly. A share of ranks
 * is then a share of the range. Away from a quantile scores fall by one per contributor, so the
 * noise in ranks is Laplace of scale 2 / epsilon. The midpoint of a cell represents all of it.
 */
function expectedErrorOf(
  { facts: { cohort }, cells, probabilities, choice }: Design,
): Plan['expectedError'] {
  const sum = (part: (probability: number) => number): number =>
    Math.sqrt(probabilities.reduce((total, probability) => total + part(probability), 0));
  const noise = 2 * (2 / (choice.epsilon * cohort)) ** 2 + 1 / (12 * cells.cells ** 2);
  return errorUpTo(
    corruptionMaxOf(probabilities),
    { sampling: sum((p) => (p * (1 - p)) / cohort), noise: sum(() => noise) },
    (share) => sum((p) => ((Math.max(p, 1 - p) * share) / (1 - share)) ** 2),
  );
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, column, cells, probabilities } = design;
  const counts = countsOf(summaries);
  const present = design.present.draw(mechanisms, counts.map((list) =>
    Float64Array.of(list.reduce((sum, count) => sum + count, 0))));
  // The choices are charged but not drawn: with so few contributors their answers would mislead.
  if (present.value[0]! < facts.cohort / 4) return present.map(() => participationBelowPlan(facts));
  const chosen = probabilities.map((probability) =>
    mechanisms.exponential('choice', counts.map((list) => rankScores(list, probability))));
  return Released.all<readonly number[]>(chosen).map((list): Outcome => ({
    kind: 'value',
    estimate: [...list].sort((left, right) => left - right).map((cell) => midpointOf(cell, cells)),
    shape: [probabilities.length],
    uncertainty: { kind: 'grid', spacing: cellWidth(cells) },
    // For nothing: the chosen cells are released.
    ...(list.some((cell) => cell === 0 || cell === cells.cells - 1)
      && { findings: answerAtBound(column) }),
  }));
}
