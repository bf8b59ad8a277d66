import { assert } from '../../../base/assert.js';
import { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { momentsOfRows, sharedDoubles } from '../../../numerics/kernels/shards.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { answerOf, participationBelowPlan } from '../../pooled/centred-mean.js';
import { releaseAboutCentre, type CentredPool } from '../../pooled/centred-release.js';
import type { Compute, Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { choiceOf, corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { stepRows, type StepRows } from '../stable-mean-dual/dual-rows.js';
import {
  meanDesignOf, meanErrorOf, passesOf, projectionAsked, type MeanAsked, type MeanDesign,
} from './design.js';
import { projectOnBound, type ProjectionAsked } from './projection.js';
import { centreNeedsDelta, neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Sums are of chunks, so that their rounding is what mean-design allows. */
const chunkRows = 2 ** 15;
/** Largest hostile share that can be promised. */
const corruptionLimit = 0.2;
/** How many times the default radius a radius may be. */
const radiusMost = 2;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share that the error is promised for; the weights do not depend on it'),
  {
    name: 'bound', type: 'number', default: 1, minimum: 0.5, maximum: 4, unit: 'squared scales',
    description: 'how wide the weighted rows may be in any direction; less resists better, with less noise, and pulls '
      + 'skewed rows off their mean',
  },
  {
    name: 'recentre', type: 'choice', default: 'auto', choices: ['auto', 'yes', 'no'],
    description: 'weigh twice, the second time about the first answer; auto does when contributors are so many that '
      + 'the first answer beats the private centre',
  },
  {
    name: 'centre-share', type: 'number', default: 0.1, minimum: 0.02, maximum: 0.8, unit: 'share of rho',
    description: 'part of the cost that finding the centre takes',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 100, unit: 'scales',
    description: 'rows farther than this from the centre are pulled in; 1.35 sqrt(columns) + 3 when absent, and at most '
      + 'twice that, because the longest time that the weights may take grows with its square',
  },
];

/**
 * A private mean of weighted rows: the weights are the nearest to all ones under which the rows are in no direction
 * wider than a public bound. They are computed to a certified precision and never released; noise covers by how much
 * they, and the mean under them, can change with one row. Where contributors are many enough, twice: the second time
 * about the first answer, with a tighter bound.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the centre's, and that of a count and of two sums in each stage, composed adaptively.
 * After the centre the release cannot fail for want of stability, and holds for every data set.
 * Why. mean-design proves the sums' sensitivities, from what projection proves of the solver and
 * docs/internals/stabilised-relaxations.md of the minimiser. The bound m of a stage is worked out from the released count and is
 * never above the one that is charged.
 *
 * Robust: rows that widen the whole beyond the bound lose weight in proportion to how far out they are. What a share c
 * keeps moves the mean by about sqrt(c (bound - 1)), and about c sqrt(log(1 / c)) more that the tails of honest rows
 * hide. The noise is that of sqrt(bound / contributors) instead of radius / contributors: `stable-mean-dual` has less,
 * and this estimator none in its weights.
 *
 * Source: the projection of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by stabilizing convex
 * relaxations (2022), without the constraint on the sum of weights, which makes it stable for all data; with a soft
 * bound, so that a first-order solver surely ends; and with the solver's gap in the sensitivity.
 *
 * Time. How many passes the solver takes depends on the rows. `work` bounds it by public numbers,
 * for every data set. A cap on the passes instead would be outside the proof: a set that meets it
 * and a neighbour that does not would be answered with different weights.
 */
export const stableMean: Estimator = {
  name: 'stable-mean',
  title: 'Private robust mean by stable weights',
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
    + 'between the centre, a count, and one or two weighted sums and their weights.',
  plan: planMean,
};

function planMean(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return choice;
  const { target, dimension } = choice.facts;
  if (!(target.rho > 0 && target.delta > 0)) return centreNeedsDelta;
  const corruption = numberOf(values, 'corruption');
  const usualRadius = 1.35 * Math.sqrt(dimension) + 3;
  const radius = optionalNumberOf(values, 'radius') ?? usualRadius;
  if (radius > radiusMost * usualRadius) return tooFarOut(radius, usualRadius);
  const design = meanDesignOf({
    cohort: cohortName, facts: choice.facts, corruption, radius,
    bound: numberOf(values, 'bound'), centreShare: numberOf(values, 'centre-share'),
    recentre: choiceOf(values, 'recentre') as MeanAsked['recentre'],
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

/**
 * One row at a large radius would make the weights take very long, so that the time tells of it.
 */
function tooFarOut(radius: number, usualRadius: number): Infeasible {
  const limit = (radiusMost * usualRadius).toPrecision(3);
  return {
    kind: 'infeasible',
    reason: `with a radius of ${radius} a single row far out could keep the search for the weights busy for very long; `
      + `the limit is ${limit}`,
    remedy: `a radius of at most ${limit}, or none: the default is ${usualRadius.toPrecision(3)}`,
  };
}

function planFor(design: MeanDesign, choice: ScaleChoice, facts: StudyFacts, corruption: number): Plan {
  const { dimension, cohort } = facts;
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  const last = design.stages.at(-1)!;
  const work = { passes: passesOf(design), rows: design.rowsMax, columns: dimension };
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'weights that one row cannot change by much; proofs in src/estimators/mean/stable-mean/design and projection',
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
      spreadThatIsAllowed: last.bound,
      stages: design.stages.length,
      rowsCountedAtMost: design.rowsMax,
      passesAtMost: work.passes,
    },
    work,
    expectedError: (share) => meanErrorOf(design, share, corruption),
    summary: () => rowsSummary(dimension),
    release: async (summaries, mechanisms, compute) =>
      releaseAboutCentre({ cohort: cohortName, facts: design.facts, choice, summaries, mechanisms }, (centred) =>
        releaseStages(design, centred, mechanisms, compute)),
  });
}

async function releaseStages(
  design: MeanDesign, { pool, centre: start, scale }: CentredPool, mechanisms: Mechanisms, compute: Compute,
): Promise<Released<Outcome>> {
  const { facts, ball, rowsMax } = design;
  let centre = start;
  let outcome: Released<Outcome> | null = null;
  let present: number | null = null;
  for (const stage of design.stages) {
    const middle = centre;
    const rows = await pool.mapAsync((whole) => stepRows(compute, whole, rowsMax, ball, middle, scale));
    // How many rows there are is counted once: the centre does not change it.
    present ??= mechanisms.gaussian(design.present.name, rows.map((all) =>
      Float64Array.of(all.present.reduce((sum, one) => sum + one, 0)))).value[0]!;
    const count = present;
    const asked = { ...projectionAsked(design, stage, count), unit: ball.grid };
    const sums = await rows.mapAsync((all) => weightedSums(compute, firstRows(all, asked.rowsMax), asked));
    const sum = mechanisms.gaussian(stage.sum.name, sums.map(({ total }) => total));
    const weight = mechanisms.gaussian(stage.weight.name, sums.map(({ kept }) => Float64Array.of(kept)));
    outcome = Released.all<readonly [Float64Array, Float64Array]>([sum, weight]).map(([total, [kept = 0]]) => {
      if (count < facts.cohort / 4 || kept < count / 4) return participationBelowPlan(facts);
      const moved = total.map((entry) => entry / kept);
      return answerOf({ sum: stage.sum, count: stage.weight }, { centre: middle, scale, moved, present: kept });
    });
    if (outcome.value.kind !== 'value') return outcome;
    centre = Float64Array.from(outcome.value.estimate);
  }
  assert(outcome !== null, 'a design has stages');
  return outcome;
}

/** Of more rows than `most` those with the smallest tags. @param most - need not be whole. */
function firstRows({ count, dimension, steps, present }: StepRows, most: number): StepRows {
  const kept = Math.min(count, Math.floor(most));
  return { count: kept, dimension, steps: steps.subarray(0, kept * dimension), present: present.subarray(0, kept) };
}

/** Sums of the rows, in scales, and of their weights, under the projected weights to the power 3/2. */
export async function weightedSums(
  compute: Compute, rows: StepRows, asked: ProjectionAsked,
): Promise<{ readonly total: Float64Array; readonly kept: number }> {
  const { count, dimension, steps } = rows;
  const { weights: projected } = await projectOnBound(compute, rows, asked);
  const weights = sharedDoubles(count);
  let kept = 0;
  for (let first = 0; first < count; first += chunkRows) {
    let part = 0;
    for (let i = first; i < Math.min(count, first + chunkRows); i++) {
      weights[i] = projected[i]! * Math.sqrt(projected[i]!);
      part += weights[i]!;
    }
    kept += part;
  }
  const { sums } = await momentsOfRows(compute, { values: steps, dimension, count }, { weights });
  return { total: sums.map((entry) => entry * asked.unit), kept };
}
