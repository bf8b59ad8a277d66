import { assert } from '../../../base/assert.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { answerOf, participationBelowPlan } from '../../pooled/centred-mean.js';
import { releaseAboutCentre, type CentredPool } from '../../pooled/centred-release.js';
import type { Compute, Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { ascend, startOfAscent } from './dual-ascent.js';
import { dualDesignOf, dualErrorOf, type DualDesign, type Stage } from './design.js';
import { stepRows, weightedMoments, weightSteps, type StepRows } from './dual-rows.js';
import { centreNeedsDelta, neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Largest hostile share that can be promised. */
const corruptionLimit = 0.2;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share that the error is promised for; the weights do not depend on it'),
  {
    name: 'steps', type: 'integer', default: 6, minimum: 1, maximum: 50,
    description: 'steps that the weights take in each of two stages; more steps go further and each sees less clearly',
  },
  {
    name: 'bound', type: 'number', default: 1, minimum: 0.5, maximum: 4, unit: 'squared scales',
    description: 'how wide the weighted rows may be in any direction; 1 leaves rows as wide as scale their weights, less '
      + 'resists better and pulls skewed rows off their mean',
  },
  {
    name: 'centre-share', type: 'number', default: 0.2, minimum: 0.02, maximum: 0.8, unit: 'share of rho',
    description: 'part of the cost that finding the centre takes',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6, unit: 'scales',
    description: 'rows farther than this from the centre are pulled in; 1.35 sqrt(columns) + 3 when absent',
  },
];

/**
 * A private mean of weighted rows: the weights are the nearest to all ones under which the rows are in no direction
 * wider than a public bound. They are found by ascending the dual of that problem, d x d numbers U, along noisy
 * gradients; a row z then weighs max(0, 1 - z^T U z). Twice: the second time about the first answer, with a tighter
 * bound.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the centre's, and that of every release after it (dual-design has their sensitivities),
 * composed adaptively. After the centre the release cannot fail for want of stability, and nothing depends on how far
 * the ascent came.
 * Why. U is worked out from released numbers alone, so the weight of a row is a function of this row and of releases:
 * two neighbouring sets, seen through the same releases, differ in one row's terms of every sum.
 *
 * Robust: rows that widen the whole beyond the bound lose weight in proportion to how far out they are along U.
 * What a share c keeps moves the mean by about sqrt(c (spread allowed - 1)), and about c sqrt(log(1 / c)) more that the
 * tails of honest rows hide. The spread allowed is the bound and room for the gradients' noise; with few contributors
 * that is much, and the answer comes down to the clipped mean.
 *
 * Source: the projection of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by stabilizing convex
 * relaxations (2022), without the constraint on the sum of weights, and with the dual instead of the weights made
 * private.
 */
export const stableMeanDual: Estimator = {
  name: 'stable-mean-dual',
  title: 'Private robust mean by weights whose dual is private',
  citations: [{
    key: 'KMV22',
    text: 'P. Kothari, P. Manurangsi, A. Velingker. Private robust estimation by stabilizing convex relaxations. '
      + 'COLT 2022.',
    place: 'the strongly convex program of its section 4',
  }],
  parameters,
  shelf: 'research',
  assumption: 'Honest rows have light tails and are at most about one scale wide in every direction.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split '
    + 'between the centre and two stages of noisy steps and a weighted sum.',
  plan: planDual,
};

function planDual(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return choice;
  const { target, dimension } = choice.facts;
  if (!(target.rho > 0 && target.delta > 0)) return centreNeedsDelta;
  const corruption = numberOf(values, 'corruption');
  const design = dualDesignOf({
    cohort: cohortName, facts: choice.facts, corruption,
    radius: optionalNumberOf(values, 'radius') ?? 1.35 * Math.sqrt(dimension) + 3,
    bound: numberOf(values, 'bound'), steps: numberOf(values, 'steps'), centreShare: numberOf(values, 'centre-share'),
  });
  if (facts.cohort < design.cohortForCentre) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} `
        + 'the noise hides where the rows are',
      remedy: `a cohort of ${design.cohortForCentre}, fewer columns, a larger epsilon or a larger centre-share`,
      cohortNeeded: design.cohortForCentre,
    };
  }
  return planFor(design, choice, facts, corruption);
}

function planFor(design: DualDesign, choice: ScaleChoice, facts: StudyFacts, corruption: number): Plan {
  const { dimension, cohort } = facts;
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  const last = design.stages.at(-1)!;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'weights from a released dual; proofs in src/estimators/mean/stable-mean-dual/stable-mean-dual and dual-design',
      assumptions: [
        'for accuracy: honest rows have about one scale of spread in every direction, and light tails',
        'for accuracy: at most the stated share of the contributors is hostile',
      ],
      corruptionMax: corruption,
    },
    outputShape: [dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => (unit * last.sum.sigma) / cohort),
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      clipRadiusInScales: design.ball.radius,
      noisePerCoordinateInScales: last.sum.sigma / cohort,
      stepsOfEachStage: last.gradients.length,
      spreadThatIsAllowed: last.bound * (1 + last.slack),
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: (share) => dualErrorOf(design, share, corruption),
    summary: () => rowsSummary(dimension),
    release: async (summaries, mechanisms, compute) =>
      releaseAboutCentre({ cohort: cohortName, facts: design.facts, choice, summaries, mechanisms }, (centred) =>
        releaseStages(design, centred, mechanisms, compute)),
  });
}

async function releaseStages(
  design: DualDesign, { pool, centre: start, scale }: CentredPool, mechanisms: Mechanisms, compute: Compute,
): Promise<Released<Outcome>> {
  const { facts, ball, rowsMax } = design;
  const { cohort } = facts;
  let centre = start;
  let outcome: Released<Outcome> | null = null;
  let present: number | null = null;
  for (const stage of design.stages) {
    const middle = centre;
    const rows = await pool.mapAsync((whole) => stepRows(compute, whole, rowsMax, ball, middle, scale));
    // How many rows there are is counted once: the centre does not change it.
    present ??= mechanisms.gaussian(design.present.name, rows.map((all) =>
      Float64Array.of(all.present.reduce((sum, one) => sum + one, 0)))).value[0]!;
    const { sum, weight } = await runStage(design, stage, rows, present, mechanisms, compute);
    const isEnough = Math.min(present, weight.value[0]!) >= cohort / 4;
    outcome = Released.all<readonly [Float64Array, Float64Array]>([sum, weight]).map(([total, [kept = 0]]) =>
      isEnough
        ? answerOf({ sum: stage.sum, count: stage.weight }, {
          centre: middle, scale, moved: total.map((entry) => entry / kept), present: kept,
        })
        : participationBelowPlan(facts));
    if (outcome.value.kind !== 'value') return outcome;
    centre = Float64Array.from(outcome.value.estimate);
  }
  assert(outcome !== null, 'a design has stages');
  return outcome;
}

/** Ascends the dual and adds up the rows under its weights. @param present - released number of rows. */
async function runStage(
  { ball, facts }: DualDesign, stage: Stage, rows: Sensitive<StepRows>, present: number, mechanisms: Mechanisms,
  compute: Compute,
): Promise<{ readonly sum: Released<Float64Array>; readonly weight: Released<Float64Array> }> {
  const { dimension } = facts;
  const divisor = Math.max(present, facts.cohort / 4);
  const allowed = 1 + stage.slack * (facts.cohort / divisor);
  // The dual is kept for rows in units of the bound's root; rows are in steps.
  const inSteps = ball.grid ** 2 / stage.bound;
  const moments = (dual: Float64Array) => {
    const matrix = dual.map((entry) => entry * inSteps);
    return rows.mapAsync((all) => weightedMoments(compute, all, matrix));
  };
  let ascent = startOfAscent(dimension);
  let before = ascent.iterate;
  for (const { name } of stage.gradients) {
    const noisy = mechanisms.symmetricGaussian(name, (await moments(ascent.ahead)).map(({ products }) =>
      products.map((entry) => entry * (ball.grid ** 2 / weightSteps)))).value;
    const gradient = noisy.map((entry, at) =>
      entry / (stage.bound * divisor) - (at % (dimension + 1) === 0 ? allowed : 0));
    before = ascent.iterate;
    ascent = ascend(ascent, gradient);
  }
  // Steps that overshoot do so from side to side: what lies between the last two is nearer than either.
  const last = await moments(ascent.iterate.map((entry, i) => (entry + before[i]!) / 2));
  return {
    sum: mechanisms.gaussian(stage.sum.name, last.map(({ sums }) =>
      sums.map((entry) => entry * (ball.grid / weightSteps)))),
    weight: mechanisms.gaussian(stage.weight.name, last.map(({ weight }) => Float64Array.of(weight / weightSteps))),
  };
}
