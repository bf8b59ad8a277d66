import { InvalidParameterError } from '../../../base/errors.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import { releaseAboutCentre } from '../../pooled/centred-release.js';
import type { Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { choiceOf, corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import {
  momentsCohortNeeded, momentsDesign, momentsErrorOf, partsOf, type MomentsAsked, type MomentsDesign,
} from './design.js';
import { releaseMoments } from './release.js';
import { centreNeedsDelta, needsCohort, neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Tensors of more columns have too many entries to be read. */
const columnsMax = 5;
const directionsMax = 64;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  {
    name: 'order', type: 'integer', default: 4, minimum: 3, maximum: 4,
    description: '3: third moments and skewness; 4: fourth moments and excess kurtosis as well',
  },
  {
    name: 'directions', type: 'list', lengthMaximum: directionsMax, optional: true,
    description: 'along which skewness and kurtosis are told: lists of one number per column; the columns when absent',
  },
  {
    name: 'condition', type: 'number', default: 1000, minimum: 1, maximum: 1e12,
    description: 'public bound on how many times wider honest rows may vary in one direction than in another, in scales squared',
  },
  {
    name: 'reach', type: 'number', default: 8, minimum: 2, maximum: 100, unit: 'scales',
    description: 'rows farther than this from the centre in some column are left out',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 1, maximum: 100, unit: 'standard deviations',
    description: 'rows farther than this from the centre, all directions made alike, are pulled in; sqrt(columns) + 4 when '
      + 'absent; noise on fourth moments grows with its fourth power',
  },
  corruptionParameter(0.1, 'hostile share that the error is promised for, as large as rows within radius can make it'),
];

/**
 * Private third and fourth central moments, as symmetric tensors, and the skewness and excess kurtosis along directions of
 * interest. Rows are put in scales about a private centre; those out of reach are left out, so that far ones count for
 * nothing; a private map makes all directions vary alike, and the moments are released after it and mapped back.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the scale's and the centre's, that of the number of rows, of the map and of the sum of every order
 * (moments-design has their sensitivities), composed adaptively.
 * Why. What a row is mapped to is a function of this row and of released numbers alone: centre, scale and map. Central
 * moments, directions and everything after the sums are post-processing.
 *
 * Robust against far rows only. A share c of rows as far out as honest ones ever are moves a fourth moment by c times their
 * distance to the fourth power, and nothing tells them from an honest heavy tail: the plan says how much that may be.
 *
 * Source: the task is that of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by stabilizing convex
 * relaxations (2022), Algorithm 4.8 for t > 2, with noise that is alike in every direction of a symmetric tensor: the
 * printed one, alike in its entries on and above the diagonal, is too quiet by the root of their number of permutations.
 */
export const stableMoments: Estimator = {
  name: 'stable-moments',
  title: 'Private third and fourth moments, skewness and kurtosis',
  citations: [{
    key: 'KMV22',
    text: 'P. Kothari, P. Manurangsi, A. Velingker. Private robust estimation by stabilizing convex relaxations. '
      + 'COLT 2022.',
    place: 'the task of Algorithm 4.8',
  }],
  parameters,
  shelf: 'research',
  assumption: 'There are at most five columns, and few false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split between '
    + 'the centre, the map and the sums of orders 1 to 4.',
  plan: planMoments,
};

/** What else helps where contributors are too few. */
const others = 'a smaller condition, fewer columns or a larger epsilon';

function planMoments(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  if (facts.dimension > columnsMax) {
    return {
      kind: 'infeasible',
      reason: `tensors of ${facts.dimension} columns have too many entries`,
      remedy: `at most ${columnsMax} columns`,
    };
  }
  const directions = directionsOf(values, facts.dimension);
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return alsoFor(choice, values, facts);
  const { target, dimension } = choice.facts;
  if (!(target.rho > 0 && target.delta > 0)) return centreNeedsDelta;
  const asked = askedOf(values, choice.facts);
  const design = momentsDesign(asked);
  if (design === null || facts.cohort < design.cohortForCentre) {
    return needsCohort(
      `with ${facts.cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} the noise hides where `
      + 'the rows are, or how wide they are in some direction',
      momentsCohortNeeded(asked), others,
    );
  }
  return planFor(design, choice, directions, numberOf(values, 'corruption'));
}

/** @throws InvalidParameterError unless these are lists of finite numbers, one per column, not all 0. */
function directionsOf(values: ParameterValues, dimension: number): readonly Float64Array[] {
  const columns = Array.from({ length: dimension }, (_, j) => Array.from({ length: dimension }, (__, i) => (i === j ? 1 : 0)));
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

function askedOf(values: ParameterValues, facts: StudyFacts): MomentsAsked {
  return {
    cohort: cohortName, facts, order: numberOf(values, 'order'), condition: numberOf(values, 'condition'),
    reach: numberOf(values, 'reach'), radius: optionalNumberOf(values, 'radius') ?? Math.sqrt(facts.dimension) + 4,
  };
}

/** A cohort that is too small for the scale needs as many as all the rest does. */
function alsoFor(scale: Infeasible, values: ParameterValues, facts: StudyFacts): Infeasible {
  const choice = chooseScale(values, { ...facts, cohort: 1e9 }, cohortName);
  if (scale.cohortNeeded === undefined || choice.kind === 'infeasible') return scale;
  return needsCohort(scale.reason, Math.max(scale.cohortNeeded, momentsCohortNeeded(askedOf(values, choice.facts))), others);
}

function planFor(
  design: MomentsDesign, choice: ScaleChoice, directions: readonly Float64Array[], corruption: number,
): Plan {
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  const { facts: { dimension, cohort }, orders } = design;
  const tensors = orders.slice(2).map(({ space: { order } }) => dimension ** order);
  const size = tensors.reduce((sum, entries) => sum + entries, 0) + tensors.length * directions.length;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'noisy sums of tensor powers after a private map; '
        + 'proofs in src/estimators/covariance/stable-moments',
      assumptions: [
        `for accuracy: honest rows have what matters of their tails within ${design.radius.toPrecision(3)} deviations`,
        'for accuracy: hostile rows are out of reach, or as few as the stated error bears',
      ],
      corruptionMax: corruption,
    },
    outputShape: [size],
    parts: partsOf(design, directions.length),
    noise: [],
    facts: {
      errorsAreIn: 'the Euclidean distance of all that is answered, for rows of which all directions vary alike by 1',
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      rounds: design.preconditioner.rounds,
      radius: design.radius,
      rowsAreLeftOutBeyondScales: design.reach,
      noiseOfTheHighestOrder: orders.at(-1)!.sum.sigma / cohort,
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: (share) => momentsErrorOf(design, share, corruption),
    summary: () => rowsSummary(dimension),
    release: (summaries, mechanisms, compute) => releaseAboutCentre(
      { cohort: cohortName, facts: design.facts, choice, summaries, mechanisms },
      (centred) => releaseMoments({ design, directions, mechanisms, compute }, centred),
    ),
  });
}
