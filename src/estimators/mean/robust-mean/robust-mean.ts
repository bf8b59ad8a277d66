import { costOfEvents } from '../../../privacy/accounting/composition.js';
import { releaseAboutCentre } from '../../pooled/centred-release.js';
import type { Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { robustDesign, robustErrorOf, type RobustDesign } from './design.js';
import { releaseRobust } from './release.js';
import { neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Largest hostile share that can be promised. */
const corruptionLimit = 0.2;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share that the error is promised for; what is removed does not depend on it'),
  {
    name: 'looks', type: 'integer', default: 2, minimum: 1, maximum: 20,
    description: 'how often the rows are looked at, at most; more looks find more axes and each sees less clearly',
  },
  {
    name: 'axes', type: 'integer', default: 2, minimum: 1, maximum: 50,
    description: 'along how many of the widest axes each look sees how rows are spread',
  },
  {
    name: 'centre-share', type: 'number', default: 0.2, minimum: 0.02, maximum: 0.6, unit: 'share of rho',
    description: 'part of the cost that finding the centre takes',
  },
  {
    name: 'final-share', type: 'number', default: 0.4, minimum: 0.05, maximum: 0.9, unit: 'share of rho',
    description: 'part of the cost that the mean of the rows left takes; what remains pays for the looks',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6, unit: 'scales',
    description: 'rows farther than this from the centre are pulled in; 1.35 sqrt(columns) + 3 when absent',
  },
];

/**
 * A private mean for who does not want to choose between robust ones. Noisy second moments tell along which axes rows
 * are wider than honest ones can be; along these, and along none other, a noisy histogram tells how: it is sharp even
 * where second moments are not, since one row changes two of its counts by 1, however far out it is. A normal shape is
 * fitted to its middle; the tails that hold far more than the shape go; and what the cut does to the mean of a normal
 * shape is put right. Where the mean of what is left is still away from the middle of the shape, the middle is answered.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the centre's, and that of every look, profile and of the final mean (design has their
 * sensitivities), composed adaptively.
 * Why. Whether a row is left at any time is a function of this row and of released numbers alone: its clipped steps, and
 * for every profile the axis (or the mean that distances are from) and the cuts. Two neighbouring sets see the same
 * released numbers when their releases are compared, so they differ at any time in the one row at most. Which axes are
 * looked along, where the cuts are, and the corrections at the end are functions of released numbers. So is which events
 * looks did not need: they carry sums of the rows left instead, within their sensitivities (spare).
 *
 * Robust: what is not seen widens no axis beyond the gate and moves the mean by at most sqrt(c gate), c its share; what
 * is seen moves a median by at most about 1.25 c in each axis. Both are small where second moments alone must let pass
 * what honest tails could hide. The price is an assumption: along axes wider than `scale` allows, and only there, honest
 * rows are taken for about normal. Skewed rows wider than that are answered by their middle, not by their mean.
 *
 * Source: the looks are those of X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation
 * (2021), Algorithms 10 to 13, with corrected noise; profiles, cuts and corrections are this project's own.
 */
export const robustMean: Estimator = {
  name: 'robust-mean',
  title: 'Private robust mean by histograms along the widest axes',
  citations: [{
    key: 'LKKO21',
    text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. NeurIPS 2021.',
    place: 'Algorithms 10 to 13, for the looks',
  }],
  parameters,
  shelf: 'recommended',
  assumption: 'Honest rows are at most one scale wide in every direction, and not strongly skewed.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split '
    + 'between the centre, a fixed number of looks and histograms, and the mean of what is left.',
  plan: planRobust,
};

function planRobust(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return choice;
  const { target, dimension } = choice.facts;
  const [centreShare, finalShare] = [numberOf(values, 'centre-share'), numberOf(values, 'final-share')];
  if (!(target.rho > 0 && target.delta > 0) || centreShare + finalShare >= 0.99) {
    return {
      kind: 'infeasible',
      reason: 'the centre, the looks and the mean each need a part of rho, and the centre a positive delta',
      remedy: 'ask for (epsilon, delta) with delta > 0, and leave centre-share + final-share below .99',
    };
  }
  const corruption = numberOf(values, 'corruption');
  const design = robustDesign({
    cohort: cohortName, facts: choice.facts, corruption, centreShare, finalShare,
    radius: optionalNumberOf(values, 'radius') ?? 1.35 * Math.sqrt(dimension) + 3,
    looks: numberOf(values, 'looks'), axes: numberOf(values, 'axes'),
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

function planFor(design: RobustDesign, choice: ScaleChoice, facts: StudyFacts, corruption: number): Plan {
  const { dimension, cohort } = facts;
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'cuts by released histograms; proofs in src/estimators/mean/robust-mean',
      assumptions: [
        'for accuracy: honest rows have at most about one scale of spread in every direction, and light tails',
        'for accuracy: along axes in which hostile rows make the whole wider, honest ones are about normal',
        'for accuracy: at most the stated share of the contributors is hostile',
      ],
      corruptionMax: corruption,
    },
    outputShape: [dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => (unit * design.sum.sigma) / cohort),
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      clipRadiusInScales: design.ball.radius,
      noisePerCoordinateInScales: design.sum.sigma / cohort,
      looks: design.looks.length,
      axesLookedAlongAtMost: Math.min(dimension, design.looks.length * (design.looks[0]?.profiles.length ?? 0)),
      spreadThatIsLeftAlone: 1 + design.gate,
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: (share) => robustErrorOf(design, share, corruption),
    summary: () => rowsSummary(dimension),
    release: (summaries, mechanisms, compute) => releaseAboutCentre(
      { cohort: cohortName, facts: design.facts, choice, summaries, mechanisms },
      (centred) => releaseRobust({ design, mechanisms, compute }, centred),
    ),
  });
}
