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
import { wholeArm } from '../tables/counts.js';
import { presenceOfRanks, rankUnit } from '../tables/rank-scores.js';
import { Candidates } from './candidates.js';
import { describeQuantile } from './describe.js';
import { valuesOf, valuesSummary } from './values-summary.js';

/** Share of the cost for the number present, and how often it may refuse a whole cohort. */
const presentShare = 0.05;
const refusedInVain = 0.001;
/** A plan is made where answers go astray at most this often. */
const astray = 0.01;
/**
 * The design assumption: the middle tenth of the ranks on the nearer side of a quantile spans at
 * least this part of an octave, so that it has this part of an octave of candidates.
 */
const denseOctaves = 1 / 200;
/** With a range: that tenth spans at least this part of the range, or else `ladderCohort` holds. */
const denseShare = 1 / 100;
/** This share of the ranks between a quantile and the nearer end is left beside that tenth. */
const roomShare = 0.9;
/** An answer in this part of the range at one of its ends may be that of people beyond it. */
const atBoundShare = 0.001;

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
 * Quantiles of one column, several at once, with or without a public range.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data: m epsilon^2 / 8 for m choices by the exponential
 * mechanism, and the rest for the number of those present. Where the budget asks for pure epsilon:
 * m epsilon for the choices, and Laplace noise on the number present. In a small cohort this number
 * is not drawn, and the choices have the whole cost.
 * Why: candidates are fixed by public parameters (`Candidates`). Their scores change by at most 1
 * (rank-scores), so each choice is the exponential mechanism of its event. Its cost does not depend
 * on how many candidates there are.
 * The choices see the same values and compose. A row that only comes or goes changes scores by at
 * most the event's `presence`, so answers for keys cost less. The number present changes by at most
 * 1. The values of the chosen candidates, and their sorting, are post-processing. Sorting keeps a
 * higher probability from having a lower quantile, and never brings the list farther from the true
 * quantiles.
 *
 * Robust: an eta share of hostile contributors moves the rank of an answer by at most
 * max(p, 1 - p) eta / (1 - eta) among the honest, wherever they are, for eta <= min(p, 1 - p).
 *
 * Values beyond the range count as at its end. How many there are is not released, but an answer
 * at an end of the range says that it may be farther out (`values-clipped`).
 *
 * Where it fails. A choice goes astray if a run of candidates far out outweighs those among the
 * rows: see `cohortFor`. Rows that are nearly equal and far from zero have few candidates among
 * them, and answers then go astray with fewer than some hundred people; nothing in the answer shows
 * it. The plan says so, and a range mends it.
 *
 * The answer has no interval in data units: how far a rank is in data units depends on how dense
 * the rows are there, which is not public. The plan says how far ranks are off.
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
    + 'rho split between the quantiles and the number present; pure epsilon under such a budget.',
  liars: 'If m people lie, the rank of an answer moves by at most m people',
  plan: planQuantile,
};

interface Design {
  readonly facts: StudyFacts;
  readonly column: number;
  readonly range: readonly [low: number, high: number] | undefined;
  readonly candidates: Candidates;
  readonly probabilities: readonly number[];
  readonly choice: ExponentialEvent;
  /** The noise of the number of those present; null where it would refuse whole cohorts. */
  readonly present: CountNoise | null;
}

function planQuantile(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const column = columnOf(values, facts.dimension);
  const range = rangeFor(values, column);
  const candidates = new Candidates(range);
  const probabilities = numbersOf(values, 'probabilities');
  const designWith = (present: CountNoise | null): Design => {
    const choice = exponentialEvent({
      name: 'choice', cohort: wholeArm.name, candidates: candidates.count, sensitivity: rankUnit,
      times: probabilities.length, presence: presenceOfRanks(probabilities),
      ...choiceCost(facts, probabilities.length, present === null ? 1 : 1 - presentShare),
    });
    return { facts, column, range, candidates, probabilities, choice, present };
  };
  const isEnough = (design: Design): boolean => facts.cohort >= cohortFor(design);
  const checked = designWith(presentFor(facts));
  if (isEnough(checked)) return planFor(checked);
  // Without the number present the choices have the whole cost.
  const alone = designWith(null);
  if (isEnough(alone)) return planFor(alone);
  const cohortNeeded = cohortFor(alone);
  return infeasible(
    `with ${facts.cohort} contributors, ${probabilities.length} `
    + `quantile${probabilities.length === 1 ? '' : 's'} and rho `
    + `${facts.target.rho.toPrecision(3)} a choice may go astray, beyond all of the contributors`,
    `a cohort of ${cohortNeeded}, fewer probabilities or none so near to 0 or 1, or a `
    + 'larger epsilon',
    cohortNeeded,
  );
}

/** The cost of the choices together, as zCDP, or the pure epsilon of each. */
function choiceCost(
  { target }: StudyFacts, choices: number, share: number,
): { readonly rho: number } | { readonly epsilon: number } {
  const part = (cost: number): number => (share === 1 ? cost : shareOf(cost, share));
  if (target.isPure === true) return { epsilon: part(target.epsilon) / choices };
  return { rho: part(target.rho) };
}

/** A release of a quarter of the cohort is refused. In a small cohort noise hides a quarter. */
function presentFor({ cohort, target }: StudyFacts): CountNoise | null {
  const noise = countNoise({
    name: 'present', counts: 1, l1: 1, l2: 1, target, share: presentShare,
  });
  return noise.upperQuantile(refusedInVain) > 0.75 * cohort ? null : noise;
}

/**
 * The fewest contributors with which an answer goes astray at most once in a hundred releases.
 *
 * A candidate beyond all contributors on the nearer side misses min(p, 1 - p) n of them, one within
 * the nearest tenth of that side at most a tenth of that. If the second kind are one in `odds` of
 * all candidates, the odds of the first kind are at most odds exp(-.9 min(p, 1 - p) n epsilon / 2)
 * for each of m choices.
 */
function cohortFor({ range, candidates, probabilities, choice }: Design): number {
  const dense = range === undefined ? candidates.octaves / denseOctaves : 1 / denseShare;
  return cohortAt(candidates.kinds * dense, probabilities, choice);
}

/** The same where the rows are dense on the ladder, but not in the range: of 99 in 0..10^9. */
function ladderCohort({ candidates, probabilities, choice }: Design): number {
  return cohortAt(candidates.kinds * candidates.octaves / denseOctaves, probabilities, choice);
}

function cohortAt(
  odds: number, probabilities: readonly number[], { epsilon }: ExponentialEvent,
): number {
  const room = roomShare * corruptionMaxOf(probabilities);
  return Math.ceil((2 / epsilon) * ln(odds * probabilities.length / astray) / room);
}

/** @throws InvalidParameterError when doubles can hardly distinguish the values of the range. */
function rangeFor(values: ParameterValues, column: number): Design['range'] {
  const range = rangeOfColumn(values, column);
  if (range === undefined) return undefined;
  const [low, high] = range;
  if ((high - low) / 1_000 > 2 ** -40 * Math.max(Math.abs(low), Math.abs(high))) return range;
  throw new InvalidParameterError(
    `parameters.range: from ${low} to ${high} is too narrow for its distance from zero: give `
      + 'another range', { path: 'parameters.range', low, high },
  );
}

/**
 * With probability at least 1 - failure, every quantile's rank is off by no more than this many
 * contributors, where candidates are as dense among the ranks around the quantile: a choice then
 * misses t ranks with probability exp(-t epsilon / 2). A union bound covers all choices.
 */
function rankErrorAt({ probabilities, choice }: Design, failure: number): number {
  return (2 / choice.epsilon) * ln(probabilities.length / failure);
}

function planFor(design: Design): Plan {
  const { facts, column, range, candidates, probabilities, choice, present } = design;
  const { cohort, dimension } = facts;
  return makePlan({
    arms: [wholeArm],
    events: present === null ? [choice] : [choice, present.event],
    guarantee: {
      theorem: 'exponential mechanism on ranks of sensitivity 1; proof in '
        + 'src/estimators/counts/tables/rank-scores',
      assumptions: [
        range === undefined
          ? 'a tenth of the contributors around each quantile span at least 1/200 of an octave: '
            + 'values that are nearer to one another and far from zero, such as years, need a range'
          : 'a tenth of the contributors around each quantile span at least 1/100 of the range, or '
            + `1/200 of an octave and there are ${ladderCohort(design)} contributors: else answers `
            + 'may go astray',
        ...range === undefined ? [] : ['everybody outside the range counts as at its bound: an '
          + 'answer at an end of the range may be farther out if values can be outside, and says '
          + 'so'],
        ...present !== null ? [] : ['about as many contributors come as planned: in so small a '
          + 'cohort it is not checked, and with far fewer the answers go astray'],
        'for expected errors: honest values are spread evenly around each quantile',
      ],
      corruptionMax: corruptionMaxOf(probabilities),
    },
    outputShape: [probabilities.length],
    facts: {
      errorsAreIn: 'shares of the contributors, by which the ranks of the answers are off',
      candidates: candidates.count,
      epsilonOfEachChoice: choice.epsilon,
      rankErrorShare95: rankErrorAt(design, 0.05) / cohort,
      ...present !== null && { noiseOfNumberPresent: present.standardDeviation },
    },
    expectedError: expectedErrorOf(design),
    summary: () => valuesSummary(dimension, column),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** The share past which hostile contributors alone choose the lowest or the highest quantile. */
function corruptionMaxOf(probabilities: readonly number[]): number {
  return Math.min(...probabilities.map((probability) => Math.min(probability, 1 - probability)));
}

/**
 * In shares of the ranks, Euclidean over the quantiles, for values spread evenly. Away from a
 * quantile scores fall by one per contributor, so the noise in ranks is Laplace of scale
 * 2 / epsilon.
 */
function expectedErrorOf(
  { facts: { cohort }, probabilities, choice }: Design,
): Plan['expectedError'] {
  const sum = (part: (probability: number) => number): number =>
    Math.sqrt(probabilities.reduce((total, probability) => total + part(probability), 0));
  const noise = 2 * (2 / (choice.epsilon * cohort)) ** 2;
  return errorUpTo(
    corruptionMaxOf(probabilities),
    { sampling: sum((p) => (p * (1 - p)) / cohort), noise: sum(() => noise) },
    (share) => sum((p) => ((Math.max(p, 1 - p) * share) / (1 - share)) ** 2),
  );
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, column, range, candidates, probabilities } = design;
  const values = valuesOf(summaries);
  const present = design.present?.draw(mechanisms, values.map((sorted) =>
    Float64Array.of(sorted.length)));
  // The choices are charged but not drawn: with so few contributors their answers would mislead.
  if (present !== undefined && present.value[0]! < facts.cohort / 4) {
    return present.map(() => participationBelowPlan(facts));
  }
  const chosen = probabilities.map((probability) => mechanisms.exponential('choice',
    values.map((sorted) => candidates.runs(sorted, probability, reachOf(design.choice)))));
  return Released.all<readonly number[]>(chosen).map((list): Outcome => {
    const estimate = list.map((index) => candidates.valueAt(index))
      .sort((left, right) => left - right);
    return {
      kind: 'value', estimate, shape: [probabilities.length], uncertainty: { kind: 'none' },
      // For nothing: the chosen candidates are released.
      ...(estimate.some((value) => isAtBound(value, range)) && { findings: answerAtBound(column) }),
    };
  });
}

/**
 * Scores stop at the loss at which all candidates together have a chance of 2^-60: so a choice
 * looks at no more contributors than these, however many there are.
 */
function reachOf({ epsilon, candidates }: ExponentialEvent): number {
  return Math.ceil((2 / epsilon) * ln(candidates * 2 ** 60));
}

function isAtBound(value: number, range: Design['range']): boolean {
  if (range === undefined) return false;
  const [low, high] = range;
  const near = atBoundShare * (high - low);
  return value <= low + near || value >= high - near;
}
