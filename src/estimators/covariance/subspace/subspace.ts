import { assert } from '../../../base/assert.js';
import type { Outcome } from '../../../base/outcome.js';
import type { NamedPart } from '../../../base/parts.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Finished, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import { checkColumnsMax } from '../../contract/given.js';
import {
  errorUpTo, infeasible, makePlan, nearSmallestCohort, withoutDelta,
} from '../../contract/planning.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf,
} from '../../contract/values.js';
import { describeSubspace } from './describe.js';
import {
  chooseSubspaceDesign, cohortName, corruptionTolerated, gapEvent, groupsMax, groupsMin,
  type SubspaceDesign,
  type SubspaceFacts,
} from './design.js';
import { basisOfLabel } from './echelon.js';
import { projectorOf } from './projector.js';
import { isSilent, spanSummary, stepsMax } from './summary.js';

/**
 * The subspace that rows of whole numbers lie in. Contributors are hashed into groups, and each
 * group finds the span of its rows exactly. The span that most groups found is released when it
 * leads by enough.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: (rho, delta)-approximate zCDP, all of it for the test on the lead.
 * Why:
 * 1. A group's label is a text that depends on the rows of that group alone (summary, echelon):
 *    whole numbers, no rounding after the first, no tolerance. Only a group without rows uses
 *    randomness: its label is its own. So neighbours differ in at most one label. Labels are equal
 *    exactly when subspaces are, which only accuracy needs.
 * 2. privacy/mechanisms/mode: the most frequent label, where one label may change, costs what its
 *    test costs.
 * 3. Projector and rank are computed from the released label: post-processing. So is the rounding
 *    of their entries. If groups compared projectors in doubles, the last digits would depend on
 *    which rows a group holds.
 * Rank, number of rows and number of groups that agree matter only through the label and the noisy
 * test.
 *
 * Accuracy: exact when the groups that hold hostile or too few rows are a minority. Honest rows
 * should be in general position: any `rank` of them span all.
 *
 * Source: Ashtiani and Liaw (2022), Algorithm 2, with an exact label in place of a floating-point
 * projector and a test on the lead in place of one on agreement.
 */
export const subspace: Estimator = {
  name: 'subspace',
  title: 'The subspace that rows of whole numbers lie in',
  citations: [cite('AL22', 'Algorithm 2')],
  parameters: [
    {
      name: 'unit', type: 'number', default: 1, minimum: 1e-100, maximum: 1e100, unit: 'data units',
      description: 'entries are rounded to whole multiples of this; the subspace is that of the '
        + 'rounded rows, exactly',
    },
    {
      name: 'form', type: 'choice', choices: ['linear', 'affine'], default: 'linear',
      description: 'linear: the span of the rows; affine: of their differences, for data that lie '
        + 'beside the origin',
    },
    {
      ...corruptionParameter(
        0.2,
        'fraction of false rows for which most groups must still be free of them; privacy does not '
        + 'depend on it',
      ),
      default: 0.01,
    },
    {
      name: 'subsamples', type: 'integer', optional: true, minimum: groupsMin, maximum: groupsMax,
      description: 'number of subsamples; chosen when absent',
    },
  ],
  maturity: 'research',
  describe: describeSubspace,
  assumption: 'Once rounded to whole units, honest rows lie in one subspace exactly.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, '
    + 'all of it for the test that one subspace leads.',
  plan: planSubspace,
};

/** The orthogonal projector onto the subspace, and its number of dimensions. */
function partsOf(dimension: number): readonly NamedPart[] {
  return [{ name: 'projector', shape: [dimension, dimension] }, { name: 'rank', shape: [1] }];
}

/** In more columns the integers of exact elimination are too long for a live server. */
const columnsMax = 64;
/** Rows beyond the least number, for rows that are not quite in general position. */
const rowsReserve = 2;

/** @throws InvalidParameterError past 64 columns. */
function planSubspace(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  checkColumnsMax('subspace', facts.dimension, columnsMax);
  const refusal = withoutDelta(facts.target, 'the test on the lead');
  if (refusal !== null) return refusal;
  const { rho, delta } = facts.target;
  const groups = optionalNumberOf(values, 'subsamples');
  const chosen: SubspaceFacts = {
    cohort: facts.cohort,
    rho,
    delta,
    corruption: numberOf(values, 'corruption'),
    rowsWanted: facts.dimension + (choiceOf(values, 'form') === 'affine' ? 1 : 0) + rowsReserve,
    ...(groups === undefined ? {} : { groups }),
  };
  const design = chooseSubspaceDesign(chosen);
  return design === null ? tooFewFor(chosen, facts) : planFor(values, facts, chosen, design);
}

function tooFewFor(chosen: SubspaceFacts, facts: StudyFacts): Infeasible {
  const fits = (cohort: number): boolean => chooseSubspaceDesign({ ...chosen, cohort }) !== null;
  const reason = `no number of groups of at least ${chosen.rowsWanted} rows lets one subspace lead `
    + `with ${facts.cohort} contributors, ${facts.dimension} columns, a corruption of `
    + `${chosen.corruption} and rho `
    + chosen.rho.toPrecision(3);
  const cohortNeeded = nearSmallestCohort(fits, { from: Math.max(16, chosen.cohort), slack: 0.02 });
  if (cohortNeeded === Infinity) {
    return infeasible(
      reason, 'a lower corruption, fewer columns, a larger epsilon, or leave groups out',
    );
  }
  const remedy = `a cohort of ${cohortNeeded}, fewer columns or a larger epsilon`;
  return infeasible(reason, remedy, cohortNeeded);
}

function planFor(
  values: ParameterValues, facts: StudyFacts, chosen: SubspaceFacts, design: SubspaceDesign,
): Plan {
  const { dimension } = facts;
  const unit = numberOf(values, 'unit');
  const form = choiceOf(values, 'form') === 'affine' ? 'affine' : 'linear';
  const event = gapEvent({ rho: chosen.rho, delta: chosen.delta });
  const corruptionMax = corruptionTolerated(design, chosen);
  return makePlan({
    arms: [{ name: cohortName, share: 1, unit: 'row', mode: 'disjoint', groups: design.groups }],
    events: [event],
    guarantee: {
      theorem: 'Ashtiani and Liaw (2022), Algorithm 2 with a test on the lead, proof in '
        + 'src/privacy/mechanisms/mode',
      assumptions: [
        'for accuracy: honest rows lie in one subspace exactly once their entries are rounded to '
        + 'whole units',
        `for accuracy: any ${chosen.rowsWanted} honest rows span it`,
      ],
      corruptionMax,
    },
    outputShape: [dimension ** 2 + 1],
    parts: partsOf(dimension),
    facts: {
      errorsAreIn: 'entries of the projector and the rank, which are exact where the assumptions '
        + 'hold',
      groups: design.groups,
      groupSize: design.groupSize,
      groupsAgreeingShare: design.agreeing,
      rowsWantedPerGroup: chosen.rowsWanted,
      testPassProbability: design.passProbability,
      unit,
      entriesUpTo: unit * stepsMax,
      form,
      interval: 'none: where the assumptions hold the answer is exact, and where they do not '
        + 'nothing that is released says how far from it the rows are',
    },
    // Rounding of the projector's entries to doubles is the only error.
    expectedError: errorUpTo(
      corruptionMax, { sampling: 0, noise: 0 }, () => dimension * 2 ** -52,
    ),
    summary: () => spanSummary(dimension, unit, form),
    release: async (summaries, mechanisms) => {
      const labels = finishedOf(summaries, cohortName, design.groups).map(labelsOf);
      return mechanisms.mode(event.name, labels).map((label) =>
        outcomeOf(label, dimension, chosen, design));
    },
  });
}

function labelsOf(groups: readonly Finished[]): readonly string[] {
  return groups.map((group) => {
    assert(group.kind === 'label', 'a group reports a label');
    return group.label;
  });
}

function outcomeOf(
  label: string | null, dimension: number, facts: SubspaceFacts, design: SubspaceDesign,
): Outcome {
  if (label === null || isSilent(label)) {
    return {
      kind: 'refused',
      reason: 'subsamples-disagree',
      text: `no subspace led among the ${design.groups} groups by as much as the noisy test asks `
        + 'for. Planned for '
        + `${facts.cohort} contributors, at most a share of ${facts.corruption} of them hostile, `
        + 'and rows that lie in '
        + 'one subspace exactly once rounded to whole units: check each, then change unit or '
        + 'form, or wait for more '
        + 'contributors.',
    };
  }
  const basis = basisOfLabel(label);
  const estimate = [...projectorOf(basis, dimension), basis.length];
  return {
    kind: 'value',
    estimate,
    shape: [estimate.length],
    parts: partsOf(dimension),
    uncertainty: { kind: 'none' },
  };
}
