import { ln } from '../../../base/elementary.js';
import type { Released } from '../../../base/brands.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type { Outcome } from '../../../base/outcome.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan, pooledArm } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../../counts/tables/count-noise.js';
import { cohortName } from '../../counts/tables/counts.js';
import { rowsSummary } from '../../summaries/rows.js';
import { choiceOf, numberOf } from '../../contract/values.js';
import { spaceScores, type ContestRules, type SpaceContestants } from '../candidates/contests.js';
import {
  cellsFor, cellsOf, cellsPerHypothesis, distanceScores, type Cells,
} from '../candidates/distances.js';
import { lineDistribution } from '../candidates/line.js';
import { lineContestants, lineScores, type LineContestants } from '../candidates/line-contests.js';
import { readLineShape, readSpaceShape } from '../candidates/shapes.js';
import { pointsPerHypothesis, spaceContestants, spaceDistribution } from '../candidates/space.js';
import { describeSelect } from './describe.js';

const lineMaximum = 2_000;
const spaceMaximum = 300;
/** By distances. */
const distanceMaximum = 64;
/** Share of the cost for the number of those present. */
const presentShare = 0.05;
/** Probability with which the promise may fail. */
const failure = 0.05;

/**
 * Which of a public list of distributions the contributors' rows follow best.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data: epsilon^2 / 8 for the choice and the rest for the number
 * of those present. Where the budget asks for pure epsilon, the choice and Laplace noise on the
 * number present add up to it.
 * Why: the list is public. Scores have sensitivity 1 (contests, distances), so the choice is the
 * exponential mechanism of its event. The number present changes by at most 1. The answer is the
 * index that was drawn.
 *
 * Promise: suppose that some hypothesis is within alpha of the distribution of the rows in total
 * variation, the corruption included, and that the cohort is as large as the plan asks. Then the
 * answer is within (3 + zeta) alpha, 95 times in 100. Distances are those that the contests see: in
 * one column between cells at the hypotheses' own quantiles, in several by public points drawn from
 * them. Finer differences cannot be seen. Nothing is promised when no hypothesis fits.
 *
 * Source: Bun, Kamath, Steinke, Wu (2019).
 */
export const select: Estimator = {
  name: 'select',
  title: 'Which of a public list of distributions fits best',
  citations: [cite('BKSW19', 'section 3, the pure algorithm')],
  parameters: [
    {
      name: 'hypotheses', type: 'list', lengthMaximum: lineMaximum,
      description: 'public list of distributions, such as { normal: { mean: 10, deviation: 4 } }; '
        + `at most ${lineMaximum} for one column and ${spaceMaximum} for several`,
    },
    {
      name: 'alpha', type: 'number', default: 0.1, minimum: 0.005, maximum: 0.3,
      unit: 'total variation',
      description: 'how near some hypothesis is to what the rows follow, hostile ones included',
    },
    {
      name: 'zeta', type: 'number', default: 1, minimum: 0.1, maximum: 2,
      description: 'the answer is promised within (3 + zeta) alpha, by distances (1 + zeta); less '
        + 'needs more contributors',
    },
    {
      name: 'score', type: 'choice', choices: ['contests', 'distances'], default: 'contests',
      description: `distances: how many rows would have to be others, for up to ${distanceMaximum} `
        + 'entries about one column',
    },
  ],
  maturity: 'research',
  describe: describeSelect,
  assumption: 'One entry of the list is close to how the rows are distributed.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta, '
    + 'rho split between the choice and the number present; pure epsilon under such a budget.',
  plan: planSelect,
};

interface Design {
  readonly facts: StudyFacts;
  readonly hypotheses: number;
  readonly rules: ContestRules;
  readonly choice: ExponentialEvent;
  readonly present: CountNoise;
  readonly score: (rows: RowBlock) => Float64Array;
  /** By distances; null for contests. */
  readonly cells: number | null;
}

/**
 * @throws InvalidParameterError on a list that is too long for the columns, or holds what is no
 * distribution.
 */
function planSelect(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension, target } = facts;
  const list = JSON.parse(choiceOf(values, 'hypotheses')) as readonly unknown[];
  const maximum = dimension === 1 ? lineMaximum : spaceMaximum;
  if (list.length < 2 || list.length > maximum) {
    throw new InvalidParameterError(
      `parameters.hypotheses has ${list.length} entries: give 2 to ${maximum} for rows of `
      + `${dimension} columns`,
      { path: 'parameters.hypotheses', limit: maximum },
    );
  }
  const [alpha, zeta] = [numberOf(values, 'alpha'), numberOf(values, 'zeta')];
  const rules: ContestRules = { alpha, zeta, cap: facts.cohort };
  const share = 1 - presentShare;
  const cost = target.isPure === true
    ? { epsilon: shareOf(target.epsilon, share) }
    : { rho: shareOf(target.rho, share) };
  const choice = exponentialEvent({
    name: 'choice', cohort: cohortName, candidates: list.length, sensitivity: 1, ...cost,
  });
  const present = countNoise({
    name: 'present', counts: 1, l1: 1, l2: 1, target, share: presentShare,
  });
  const contest = { hypotheses: list.length, rules, epsilon: choice.epsilon };
  const cells = choiceOf(values, 'score') === 'distances' ? cellsAt(facts.cohort, contest) : null;
  if (cells !== null) checkShort(list.length, dimension);
  const score = scorerFor(list, dimension, rules, cells);
  const needed = cells === null ? cohortFor(contest) : cohortForCells(contest);
  if (facts.cohort >= needed) {
    const hypotheses = list.length;
    return planFor({ facts, hypotheses, rules, choice, present, score, cells });
  }
  return infeasible(
    `with ${facts.cohort} contributors, ${list.length} hypotheses and alpha ${alpha} the best may `
    + 'lose by chance',
    `a cohort of ${needed}, a larger alpha, zeta or epsilon, or fewer hypotheses`,
    needed,
  );
}

function checkShort(length: number, dimension: number): void {
  if (dimension === 1 && length <= distanceMaximum) return;
  throw new InvalidParameterError(
    `score distances takes up to ${distanceMaximum} hypotheses about one column, not ${length} `
    + `about ${dimension}: `
    + 'use score contests',
    { path: 'parameters.score', limit: distanceMaximum },
  );
}

/** The public numbers that decide how many contributors are needed. */
interface ContestSize {
  readonly hypotheses: number;
  readonly rules: ContestRules;
  readonly epsilon: number;
}

function cellsAt(
  rows: number, { hypotheses, rules: { alpha, zeta }, epsilon }: ContestSize,
): number {
  return cellsFor({ rows, hypotheses, epsilon, failure, slack: zeta * alpha });
}

/** The cohort with which every hypothesis has a few cells. */
function cohortForCells(size: ContestSize): number {
  const wanted = cellsPerHypothesis * size.hypotheses;
  let [low, high] = [1, 2];
  while (cellsAt(high, size) < wanted) high *= 2;
  while (low < high) {
    const between = Math.floor((low + high) / 2);
    if (cellsAt(between, size) >= wanted) high = between;
    else low = between + 1;
  }
  return high;
}

/** The cohort with which the promise fails at most with probability `failure`. */
function cohortFor({ hypotheses, rules: { alpha, zeta }, epsilon }: ContestSize): number {
  const sampling = (8 * ln((4 * hypotheses) / failure)) / (zeta * alpha) ** 2;
  const choosing = (8 * ln((2 * hypotheses) / failure)) / (zeta * alpha * epsilon);
  return Math.ceil(sampling + choosing);
}

/**
 * Reads the list at once, so that mistakes are reported before anything runs. The contests are
 * computed at the first use.
 */
function scorerFor(
  list: readonly unknown[], dimension: number, rules: ContestRules, cells: number | null,
): Design['score'] {
  const path = (i: number): string => `hypotheses[${i}]`;
  if (dimension === 1) {
    const lines = list.map((entry, i) => lineDistribution(readLineShape(entry, path(i))));
    if (cells !== null) {
      let cut: Cells | null = null;
      return (rows) => distanceScores(cut ??= cellsOf(lines, cells), rows);
    }
    const pieces = list.length <= 300 ? 64 : list.length <= 1000 ? 32 : 16;
    let contestants: LineContestants | null = null;
    return (rows) => lineScores(contestants ??= lineContestants(lines, pieces), rows, rules);
  }
  const spaces = list.map((entry, i) =>
    spaceDistribution(readSpaceShape(entry, path(i), dimension), path(i)));
  let contestants: SpaceContestants | null = null;
  return (rows) => spaceScores(contestants ??= spaceContestants(spaces, dimension), rows, rules);
}

function planFor(design: Design): Plan {
  const { facts, hypotheses, rules: { alpha, zeta }, choice, present, cells } = design;
  return makePlan({
    arms: [pooledArm(cohortName)],
    events: [choice, present.event],
    guarantee: {
      theorem: cells === null
        ? 'Bun, Kamath, Steinke and Wu (2019); proof in '
          + 'src/estimators/distributions/candidates/contests'
        : 'inverse sensitivity on public cells; proof in '
          + 'src/estimators/distributions/candidates/distances',
      assumptions: [
        `for accuracy: some hypothesis is within ${alpha} of what the rows follow, hostile ones `
        + 'included',
      ],
      corruptionMax: alpha,
    },
    outputShape: [1],
    facts: {
      errorsAreIn: `total variation${cells === null ? '' : ' on public cells'}, at most, 95 times `
        + 'in 100',
      hypotheses,
      epsilonOfTheChoice: choice.epsilon,
      noiseOfNumberPresent: present.standardDeviation,
      interval: 'none: the answer is one of the hypotheses, not a measured number',
      ...(cells === null ? {} : { cells }),
      ...(facts.dimension === 1 ? {} : { pointsPerHypothesis: pointsPerHypothesis(hypotheses) }),
    },
    // A bound, not an expectation: what the promise says.
    expectedError: errorUpTo(
      alpha, { sampling: 0, noise: 0 }, () => ((cells === null ? 3 : 1) + zeta) * alpha,
    ),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, choice, present } = design;
  const rows = poolOf(summaries, cohortName);
  const came = present.draw(mechanisms, rows.map(({ count }) => Float64Array.of(count)));
  if (came.value[0]! < facts.cohort / 4) {
    return came.map<Outcome>(() => participationBelowPlan(facts));
  }
  return mechanisms.exponential(choice.name, rows.map(design.score)).map((index): Outcome => ({
    kind: 'value', estimate: [index], shape: [1], uncertainty: { kind: 'none' },
  }));
}
