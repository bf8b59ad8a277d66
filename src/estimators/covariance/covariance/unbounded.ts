import { assert } from '../../../base/assert.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { covarianceOf } from '../../../numerics/scatter.js';
import { allFinite } from '../../../numerics/vector.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { renyiAllowance } from '../../../privacy/accounting/target.js';
import { robustScatter } from '../../../robust/robust-scatter.js';
import type {
  CohortPlan, Compute, Finished, FinishedSummaries, Infeasible, Plan, StudyFacts, Summary,
} from '../../contract/estimator.js';
import { agreeingPairs } from '../../mean/populous-mean/agreement.js';
import { groupRowsSummary, rowsSummary } from '../../summaries/rows.js';
import { scatterSummary } from '../../summaries/scatter.js';
import { averageMatrix, gatherMatrices, matrixAgreement } from './agreement.js';
import { pairsIn, releaseWithin } from './bounded.js';
import { withEigenvalues } from '../moments/matrices.js';
import { covarianceOutcome, partName } from '../moments/outcomes.js';
import type { Preconditioner } from '../moments/preconditioner.js';
import {
  groupsCohort, rowsCohort, unboundedCohortNeeded, unboundedDesign, type LocalCovariance, type UnboundedDesign,
  type UnboundedFacts,
} from './unbounded-design.js';
import { needsCohort, neighbours } from '../../contract/planning.js';

/** Relative Frobenius error of robust groups, per hostile share. */
const biasPerCorruption = 10;

/**
 * The plan of a covariance about whose size and shape nothing is known beforehand: contributors are hashed into groups,
 * each group takes its own covariance, and when enough groups agree in Thompson's metric the average of those that do is
 * masked. The mask is the answer (`local: robust`), or it becomes a map for the rows of a second, disjoint cohort, with
 * which the rest goes as within bounds, because after the map the variances have public bounds.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: a Renyi divergence at
 * one order, the masks', outside probability delta. There is no zCDP bound: a budget of rule `renyi` at that order pays,
 * or a statement (epsilon, delta) is made from it.
 * - Which cohort and group a contributor is in depends on a keyed hash of its identity alone. A neighbour so changes one
 *   group's matrix, or the rows of the second cohort: the larger of the two costs counts.
 * - One changed group changes the number of agreeing pairs by at most groups - 1. The test is a threshold with floor:
 *   where a neighbour is below it, both refuse but for probability delta; else `averageLogDistance` bounds how far the
 *   average moves, and the mask costs what privacy/masking says. The two add up.
 * - A map is a function of the mask. What the second cohort costs holds for every map (`planBounded`).
 *
 * Robust groups bear a hostile share of each group; privacy does not depend on what a group computes.
 *
 * Source: Ashtiani and Liaw (2022), Algorithms 1, 3 and 4, with constants worked out.
 */
export function planUnbounded(facts: StudyFacts, asked: UnboundedFacts): Plan | Infeasible {
  const { rho, delta } = facts.target;
  if (!(rho > 0 && delta > 0) || facts.target.isPure === true) {
    return {
      kind: 'infeasible',
      reason: 'without variance bounds the test on agreement needs a positive delta, and masks are not pure',
      remedy: 'ask for (epsilon, delta) with delta > 0, or give bounds: preconditioner=bounded',
    };
  }
  if (!(renyiAllowance(facts.target).divergence > 0)) {
    return {
      kind: 'infeasible',
      reason: `a release of epsilon ${facts.target.epsilon} leaves nothing to spend at the budget's order`,
      remedy: 'raise privacy.epsilon, lower budget.epsilon, or give bounds: preconditioner=bounded',
    };
  }
  const design = unboundedDesign(asked);
  return design === null ? infeasible(asked) : planFor(facts, asked, design);
}

function infeasible(asked: UnboundedFacts): Infeasible {
  const { dimension, cohort, target: { epsilon } } = asked;
  const cohortNeeded = unboundedCohortNeeded(asked);
  const reason = `with ${cohort} contributors, ${dimension} columns and epsilon ${epsilon} no number of groups leaves a `
    + 'covariance that masking would not drown';
  const others = 'public variance bounds with preconditioner=bounded, fewer columns or a larger epsilon';
  return needsCohort(reason, cohortNeeded, others);
}

function planFor(study: StudyFacts, asked: UnboundedFacts, design: UnboundedDesign): Plan {
  const { dimension } = study;
  const { mask, rows } = design;
  const events = [mask.test, mask.mask, ...(rows?.events ?? [])];
  const shape = [dimension, dimension];
  const rowsShare = rows === null ? 0 : rows.facts.cohort / study.cohort;
  const groups: CohortPlan = {
    name: groupsCohort, share: 1 - rowsShare, unit: 'row', mode: 'disjoint', groups: mask.groups,
  };
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: rows === null
      ? [groups]
      : [groups, { name: rowsCohort, share: rowsShare, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: rows === null ? [] : [groupsCohort, rowsCohort] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'Ashtiani and Liaw (2022), Algorithms 1, 3 and 4; '
        + 'proofs in src/estimators/covariance/covariance and src/privacy/accounting/masking',
      assumptions: [
        'for accuracy: rows are about Gaussian, and no column is a mixture of the others but for a thousandth',
        `for accuracy: groups of about ${Math.floor(mask.groupSize)} rows agree within a factor ${Math.exp(mask.radius).toPrecision(3)}`,
      ],
      corruptionMax: corruptionMax(asked),
    },
    outputShape: shape,
    parts: [{ name: partName, shape }],
    noise: [],
    facts: factsOf(asked, design),
    expectedError: (corruption) => errorOf(asked, design, corruption),
    summary: (cohort) => (cohort === rowsCohort ? rowsSummary(dimension) : groupSummary(asked.local, dimension)),
    release: (summaries, mechanisms, compute) => release(study, design, summaries, mechanisms, compute),
  });
}

function corruptionMax({ local, corruption }: UnboundedFacts): number {
  return local === 'robust' ? corruption : 0;
}

function factsOf({ local }: UnboundedFacts, { mask, rows }: UnboundedDesign): Plan['facts'] {
  return {
    errorsAreIn: 'the Frobenius norm of S^-1/2 (estimate) S^-1/2 - I, S the true covariance',
    preconditioner: 'unbounded',
    local,
    groups: mask.groups,
    groupSize: mask.groupSize,
    agreementRadius: mask.radius,
    agreementThreshold: mask.thresholds.agreement,
    movedByOneContributor: Math.expm1(mask.logDistance),
    drawsOfTheMask: Math.floor(mask.samples),
    order: mask.facts.order,
    ...(rows !== null && {
      rounds: rows.preconditioner.rounds, pairsPlanned: Math.floor(rows.pairs), pairsNeeded: rows.preconditioner.pairsNeeded,
    }),
  };
}

function errorOf(asked: UnboundedFacts, { mask, rows }: UnboundedDesign, corruption: number) {
  const isPromised = corruption >= 0 && corruption <= corruptionMax(asked);
  const freedom = asked.dimension * (asked.dimension + 1);
  const sampling = rows?.sampling ?? Math.sqrt(freedom / (mask.facts.cohort * mask.facts.efficiency));
  const noise = rows?.noise ?? Math.sqrt(freedom / mask.samples);
  const bias = isPromised ? biasPerCorruption * corruption : Infinity;
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}

/** A group's covariance, a function of its rows alone: zeros when there is none. */
function groupSummary(local: LocalCovariance, dimension: number): Summary {
  const finite = (matrix: Float64Array): Float64Array => (allFinite(matrix) ? matrix : new Float64Array(dimension ** 2));
  if (local === 'robust') return groupRowsSummary(dimension, (rows) => finite(robustScatter(rows)));
  return scatterSummary(dimension, (scatter) => finite(covarianceOf(scatter)));
}

async function release(
  study: StudyFacts, design: UnboundedDesign, summaries: FinishedSummaries, mechanisms: Mechanisms, compute: Compute,
): Promise<Released<Outcome>> {
  const { mask, rows } = design;
  const { dimension } = study;
  const groups = summaries.get(groupsCohort);
  assert(groups !== undefined, 'a release gets the summaries of its plan');
  const measured = groups.map((finished: readonly Finished[]) => {
    assert(finished.length === mask.groups, 'a release gets every group');
    const matrices = gatherMatrices(finished, dimension);
    return { matrices, counts: matrixAgreement(matrices, mask.radius) };
  });
  const passed = mechanisms.threshold(mask.test.name, measured.map(({ counts }) => agreeingPairs(counts)));
  if (!passed.value) return passed.map(() => disagreement(study, design));
  const average: Sensitive<Float64Array> = measured.map(({ matrices, counts }) =>
    averageMatrix(matrices, counts, mask.thresholds));
  const masked = mechanisms.mask(mask.mask.name, average);
  if (rows === null) return masked.map((matrix) => maskAsAnswer(matrix, design));
  const start = mapOf(masked.value, dimension);
  if (start === null) return masked.map(() => singularMask());
  return releaseWithin(study, rows, pairsIn(summaries, rows), { mechanisms, compute, start });
}

/**
 * A map after which the mask is the unit matrix, and its inverse; null when rounding left the mask without one. Columns
 * are first brought to one scale, so that no units are too far apart for doubles.
 */
function mapOf(mask: Float64Array, dimension: number): Preconditioner | null {
  const scale = Float64Array.from({ length: dimension }, (_, j) => Math.sqrt(mask[j * (dimension + 1)]!));
  const scaled = mask.map((entry, at) => entry / scale[Math.floor(at / dimension)]! / scale[at % dimension]!);
  const { values } = ownKernels().eigenSymmetric(scaled, dimension);
  if (!(values[0]! > 0 && Number.isFinite(values.at(-1)!))) return null;
  const matrix = withEigenvalues(scaled, dimension, (value) => value ** -0.5);
  const inverse = withEigenvalues(scaled, dimension, Math.sqrt);
  return {
    matrix: matrix.map((entry, at) => entry / scale[at % dimension]!),
    inverse: inverse.map((entry, at) => entry * scale[Math.floor(at / dimension)]!),
  };
}

function maskAsAnswer(moments: Float64Array, { mask }: UnboundedDesign): Outcome {
  const { facts: { dimension, cohort, efficiency }, samples } = mask;
  const edge = Math.sqrt(dimension / samples);
  const inverse = Float64Array.from(moments, (_, at) => (at % (dimension + 1) === 0 ? 1 : 0));
  return covarianceOutcome({
    dimension, moments, inverse, noise: 0, relative: 2 * edge + edge * edge,
    pairs: 1 / (1 / samples + 1 / (cohort * efficiency)),
  });
}

function singularMask(): Outcome {
  return {
    kind: 'refused', reason: 'numerical-failure',
    text: 'the masked covariance is singular in doubles: columns are too close to mixtures of each other',
  };
}

function disagreement({ cohort }: StudyFacts, { mask }: UnboundedDesign): Outcome {
  return {
    kind: 'refused',
    reason: 'groups-disagree',
    text: `fewer of the ${mask.groups} groups agreed within a factor ${Math.exp(mask.radius).toPrecision(3)} in every direction `
      + `than the noisy test asks for. Planned for ${cohort} contributors, about Gaussian rows, and columns none of which is a `
      + 'mixture of the others: check each, then give bounds with preconditioner=bounded, use local=robust, or lower cohort.',
  };
}
