import { cite } from '../../contract/citations.js';
import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { betterPlan } from '../../contract/planning.js';
import { choiceOf, optionalNumberOf } from '../../contract/values.js';
import {
  armsParameter, subsamplesParameter, momentParameters, radiusParameter,
} from '../heavy-tails/parameters.js';
import { columnsMaximum, planCandidates } from './candidates.js';
import { planClipped } from './clipped.js';
import { planGroups, withoutRadius, type GroupPrivacy } from './groups.js';

/**
 * The mean of columns whose rows may be far out. All that is assumed of them is a bound on one
 * moment. There are three forms, of which the plan takes the one with the smallest expected error;
 * its fact `variant` names it. Claim, neighbours, cost, proof and source of each are in its file.
 * - clipped (clipped.ts): a private centre, and the mean of the rows clipped around it. It needs a
 *   delta.
 * - groups (groups.ts): the median of private means of groups, of one column.
 * - candidates (candidates.ts): a choice among the points of a grid, of up to three columns.
 * The last two need no delta where a radius bounds the mean, and have pure privacy where that is
 * asked for.
 */
export const heavyTailed: Estimator = {
  name: 'heavy-tailed',
  title: 'Mean of heavy-tailed columns',
  citations: [cite('KSU20', 'Algorithm 3; Algorithms 1 and 2, and 4, where these err less')],
  parameters: [
    ...momentParameters,
    {
      ...radiusParameter,
      description: 'public bound on the absolute value of the mean, in every column; needed where '
        + 'there is no delta',
    },
    {
      name: 'variant', type: 'choice', choices: ['auto', 'clipped', 'groups', 'candidates'],
      default: 'auto',
      description: 'clipped: rows are clipped around a private centre; groups: the median of the '
        + 'means of groups, of one column; candidates: the best of a grid of points, in up to '
        + 'three columns; auto: the one with the smallest expected error',
    },
    {
      name: 'beyond', type: 'choice', choices: ['clip', 'drop'], default: 'clip',
      description: 'clipped: rows beyond the radius are pulled to it, or left out as in the paper, '
        + 'which biases more',
    },
    {
      name: 'centre', type: 'choice', choices: ['median', 'subsample-means'], default: 'median',
      description: 'clipped: how the centre is found: private medians of the columns, or the '
        + 'paper’s medians of means of subsamples',
    },
    { ...subsamplesParameter, description: `Not for centre: median. ${subsamplesParameter.description}` },
    armsParameter,
    {
      name: 'centre-part', type: 'number', optional: true, minimum: 0.02, maximum: 0.9,
      unit: 'part of the contributors, or of rho with one arm',
      description: 'part that finding the centre takes; when absent a fifth of rho, or twice the '
        + 'contributors needed, a tenth to a half of them; half of them for candidates',
    },
    {
      name: 'range-part', type: 'number', default: 0.25, minimum: 0.02, maximum: 0.8,
      unit: 'part of the contributors, or of the cost with one arm',
      description: 'groups: part that finding the place of the rows takes',
    },
  ],
  maturity: 'research',
  describe: describeMeans,
  assumption: 'You know a bound on a moment of every column, and nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, whole for the centre’s contributors and for the mean’s; with a radius rho-zCDP, or a '
    + 'pure epsilon.',
  plan: planHeavyTailed,
};

function planHeavyTailed(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension, target } = facts;
  const hasDelta = target.delta > 0 && target.isPure !== true;
  const hasRadius = optionalNumberOf(values, 'radius') !== undefined;
  switch (choiceOf(values, 'variant')) {
    case 'clipped': return planClipped(values, facts);
    case 'groups': {
      const bounded: GroupPrivacy = target.isPure === true ? 'pure' : 'zcdp';
      return planGroups(values, facts, hasDelta && !hasRadius ? 'approx' : bounded);
    }
    case 'candidates': return planCandidates(values, facts);
  }
  // These choices have a meaning for clipped rows only.
  const isClipped =
    choiceOf(values, 'beyond') !== 'clip' || choiceOf(values, 'centre') !== 'median';
  if (isClipped) return planClipped(values, facts);
  if (!hasDelta && !hasRadius) return withoutRadius;
  const plans = [
    ...(hasDelta ? [planClipped(values, facts)] : []),
    ...(dimension === 1 ? privacies(target, hasRadius)
      .map((privacy) => planGroups(values, facts, privacy)) : []),
    ...(hasRadius && (dimension <= columnsMaximum || !hasDelta)
      ? [planCandidates(values, facts)] : []),
  ];
  return plans.reduce(betterPlan);
}

/** The kinds of privacy budget that groups of one column may spend. */
function privacies(
  { delta, isPure }: StudyFacts['target'], hasRadius: boolean,
): readonly GroupPrivacy[] {
  if (isPure === true) return ['pure'];
  const bounded = hasRadius ? ['zcdp', 'pure'] as const : [];
  return delta > 0 ? ['approx', ...bounded] : bounded;
}
