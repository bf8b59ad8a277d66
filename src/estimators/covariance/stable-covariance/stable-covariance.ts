import { costOfEvents } from '../../../privacy/accounting/composition.js';
import { releaseAboutCentre } from '../../pooled/centred-release.js';
import type { Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { partName } from '../moments/outcomes.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, scaleParameter } from '../../contract/values.js';
import {
  covarianceCohortNeeded, covarianceDesign, covarianceErrorOf, reach, type CovarianceAsked, type CovarianceDesign,
} from './design.js';
import { releaseCovariance } from './release.js';
import { centreNeedsDelta, needsCohort, neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Largest hostile share that can be promised. */
const corruptionLimit = 0.1;
/** Fourth moments of more columns have too many entries for their noise. */
const columnsMax = 16;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share that the error is promised for; what is removed does not depend on it'),
  {
    name: 'condition', type: 'number', default: 1000, minimum: 1, maximum: 1e12,
    description: 'public bound on how many times wider honest rows may vary in one direction than in another, in scales squared',
  },
  {
    name: 'axes', type: 'integer', default: 10, minimum: 1, maximum: 64,
    description: 'along how many axes of large fourth moments rows are looked at',
  },
];

/**
 * A private covariance that stays put when a share of the rows is hostile. Rows are put in scales about a private centre
 * and mapped so that all directions vary alike, hostile rows included. A direction in which a few rows stand far out then
 * has large fourth moments: these are released, their locally largest axes found, and along each a noisy histogram tells
 * which rows no normal shape explains. These go, the covariance of the rest is released, and what the cuts took from
 * normal rows is given back.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the scale's and the centre's, that of the map, of the fourth moments, the histograms and the
 * last moments (covariance-design has their sensitivities), composed adaptively.
 * Why. Whether a row is there at any time, and what it is mapped to, is a function of this row and of released numbers
 * alone: centre, scale, map, axes and cuts. Two neighbouring sets see the same released numbers when their releases are
 * compared, so they differ at any time in the one row at most.
 *
 * Why not weights that make fourth moments small, as the source has it: rows at three deviations look like a slightly
 * larger legitimate fourth moment, and a bound that honest rows keep lets a twentieth of them widen a direction by .44.
 * A histogram along the direction tells them apart at once; the fourth moments need only say where to look.
 *
 * Accuracy is relative to the variance in every direction, as that of `covariance`. Rows that lie more than 5 scales off in
 * some column are left out. Where tails are heavier than normal, they are cut as hostile ones are.
 *
 * Source: the task is that of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by stabilizing convex
 * relaxations (2022), Algorithm 5.4; the means are this project's own.
 */
export const stableCovariance: Estimator = {
  name: 'stable-covariance',
  title: 'Private robust covariance by axes of large fourth moments',
  citations: [{
    key: 'KMV22',
    text: 'P. Kothari, P. Manurangsi, A. Velingker. Private robust estimation by stabilizing convex relaxations. '
      + 'COLT 2022.',
    place: 'the task of its section 5',
  }],
  parameters,
  shelf: 'recommended',
  assumption: 'There are at most 16 columns, and honest rows have tails like those of a normal distribution.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split between '
    + 'the centre, the map, fourth moments, histograms along axes and second moments.',
  plan: planCovariance,
  outputLabels: (_, columns) => columns.flatMap((row) => columns.map((column) => `${row}, ${column}`)),
};

/** What else helps where contributors are too few. */
const others = 'a smaller condition, fewer columns or a larger epsilon';

function planCovariance(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  if (facts.dimension > columnsMax) {
    return {
      kind: 'infeasible',
      reason: `the fourth moments of ${facts.dimension} columns drown in noise`,
      remedy: `at most ${columnsMax} columns; covariance takes more, without resisting hostile rows`,
    };
  }
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return alsoFor(choice, values, facts);
  const { target, dimension } = choice.facts;
  if (!(target.rho > 0 && target.delta > 0)) return centreNeedsDelta;
  const asked = askedOf(values, choice.facts);
  const design = covarianceDesign(asked);
  if (design === null || facts.cohort < design.cohortForCentre) {
    return needsCohort(
      `with ${facts.cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} the noise hides where `
      + 'the rows are, or how wide they are in some direction',
      covarianceCohortNeeded(asked), others,
    );
  }
  return planFor(design, choice, facts, asked);
}

function askedOf(values: ParameterValues, facts: StudyFacts): CovarianceAsked {
  return {
    cohort: cohortName, facts, corruption: numberOf(values, 'corruption'), condition: numberOf(values, 'condition'),
    axes: numberOf(values, 'axes'),
  };
}

/** A cohort that is too small for the scale needs as many as all the rest does. */
function alsoFor(scale: Infeasible, values: ParameterValues, facts: StudyFacts): Infeasible {
  const choice = chooseScale(values, { ...facts, cohort: 1e9 }, cohortName);
  if (scale.cohortNeeded === undefined || choice.kind === 'infeasible') return scale;
  return needsCohort(scale.reason, Math.max(scale.cohortNeeded, covarianceCohortNeeded(askedOf(values, choice.facts))), others);
}

function planFor(
  design: CovarianceDesign, choice: ScaleChoice, { dimension }: StudyFacts, { corruption, condition }: CovarianceAsked,
): Plan {
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  const shape = [dimension, dimension];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'cuts by released histograms after a private map; '
        + 'proofs in src/estimators/covariance/stable-covariance',
      assumptions: [
        `for accuracy: honest rows are about normal, and vary at most ${condition} times more in one direction than in another, in scales`,
        'for accuracy: at most the stated share of the contributors is hostile',
      ],
      corruptionMax: corruption,
    },
    outputShape: shape,
    parts: [{ name: partName, shape }],
    noise: [],
    facts: {
      errorsAreIn: 'the Frobenius norm of S^-1/2 (estimate) S^-1/2 - I, S the true covariance',
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      rounds: design.preconditioner.rounds,
      axesLookedAlong: design.profiles.length,
      rowsAreLeftOutBeyondScales: reach,
      clipRadiusAfterTheMap: design.ball.radius,
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: (share) => covarianceErrorOf(design, share, corruption),
    summary: () => rowsSummary(dimension),
    release: (summaries, mechanisms, compute) => releaseAboutCentre(
      { cohort: cohortName, facts: design.facts, choice, summaries, mechanisms },
      (centred) => releaseCovariance({ design, mechanisms, compute }, centred),
    ),
  });
}
