import { pow } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { covarianceOf } from '../../../numerics/scatter.js';
import { allFinite } from '../../../numerics/vector.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { renyiAllowance } from '../../../privacy/accounting/target.js';
import { robustScatter } from '../../../robust/robust-scatter.js';
import type {
  ArmPlan, Compute, FinishedSummaries, Infeasible, Plan, StudyFacts, Summary,
} from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import {
  errorUpTo, infeasible, makePlan, needsCohort, pooledArm,
} from '../../contract/planning.js';
import { agreeingPairs } from '../../mean/populous-mean/agreement.js';
import { groupRowsSummary, rowsSummary } from '../../summaries/rows.js';
import { scatterSummary } from '../../summaries/scatter.js';
import { averageMatrix, gatherMatrices, matrixAgreement } from './agreement.js';
import { pairsIn, releaseWithin } from '../covariance/bounded.js';
import { withEigenvalues } from '../moments/matrices.js';
import { covarianceOutcome, covarianceOutput, errorsOfCovariance } from '../moments/outcomes.js';
import type { Preconditioner } from '../moments/preconditioner.js';
import {
  groupsCohort, rowsCohort, maskedCohortNeeded, maskedDesign, type LocalCovariance,
  type MaskedDesign,
  type MaskedFacts,
} from './masked-design.js';

/** Relative Frobenius error of robust groups, per corruption. */
const biasPerCorruption = 10;

/**
 * The plan of a covariance about whose size and shape nothing is known beforehand. Contributors are
 * hashed into groups, and each group takes its own covariance. When enough groups agree in
 * Thompson's metric, the average of those that do is masked. The mask is the answer
 * (`local: robust`), or it becomes a map for the rows of a second, disjoint cohort. After the map
 * the variances have public bounds, so the rest is as in `planBounded`.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: a
 * Renyi divergence at one order, that of the masks, outside probability delta. There is no zCDP
 * bound: a budget of rule `renyi` at that order pays, or a statement (epsilon, delta) is made from
 * it.
 * Why:
 * - A contributor's cohort and group depend on a keyed hash of its identity alone. So a neighbour
 *   changes one group's matrix, or the rows of the second cohort: the larger of the two costs
 *   counts.
 * - One changed group changes the number of agreeing pairs by at most groups - 1. The test is a
 *   threshold with floor. Where a neighbour is below it, both refuse except with probability delta.
 *   Otherwise `averageLogDistance` bounds how far the average moves, and the mask costs what
 *   privacy/accounting/masking says. The two add up.
 * - A map is a function of the mask. The cost of the second cohort holds for every map
 *   (`planBounded`).
 *
 * Robust groups withstand a corruption in each group. Privacy does not depend on what a group
 * computes.
 *
 * Source: Ashtiani and Liaw (2022), Algorithms 1, 3 and 4, with explicit constants.
 */
export function planMasked(facts: StudyFacts, options: MaskedFacts): Plan | Infeasible {
  const { rho, delta, epsilon, isPure } = facts.target;
  if (!(rho > 0 && delta > 0) || isPure === true) {
    return infeasible(
      'without variance bounds the test on agreement needs a positive delta, and masks are not '
      + 'pure',
      'ask for (epsilon, delta) with delta > 0, or use covariance with bounds',
    );
  }
  if (!(renyiAllowance(facts.target).divergence > 0)) {
    return infeasible(
      `a release of epsilon ${epsilon} leaves nothing to spend at the budget's order`,
      'raise privacy.epsilon, lower budget.epsilon, or use covariance with bounds',
    );
  }
  const design = maskedDesign(options);
  return design === null ? tooFewFor(options) : planFor(facts, options, design);
}

function tooFewFor(options: MaskedFacts): Infeasible {
  const { dimension, cohort, target: { epsilon } } = options;
  const cohortNeeded = maskedCohortNeeded(options);
  const reason = `with ${cohort} contributors, ${dimension} columns and epsilon ${epsilon} no `
    + 'number of groups leaves a covariance that masking would not drown';
  const others =
    'covariance with public variance bounds, fewer columns or a larger epsilon';
  return needsCohort(reason, cohortNeeded, others);
}

function planFor(study: StudyFacts, options: MaskedFacts, design: MaskedDesign): Plan {
  const { dimension } = study;
  const { mask, rows } = design;
  const events = [mask.test, mask.mask, ...(rows?.events ?? [])];
  const rowsShare = rows === null ? 0 : rows.facts.cohort / study.cohort;
  const groups: ArmPlan = {
    name: groupsCohort, share: 1 - rowsShare, unit: 'row', mode: 'disjoint', groups: mask.groups,
  };
  return makePlan({
    arms: rows === null ? [groups] : [groups, pooledArm(rowsCohort, rowsShare)],
    events,
    guarantee: {
      theorem: 'Ashtiani and Liaw (2022), Algorithms 1, 3 and 4; '
        + 'proofs in src/estimators/covariance/subsample-covariance and '
        + 'src/privacy/accounting/masking',
      assumptions: [
        'for accuracy: rows are about Gaussian, and no column is a mixture of the others but for a '
        + 'thousandth',
        `for accuracy: groups of about ${Math.floor(mask.groupSize)} rows agree within a factor `
        + `${Math.exp(mask.radius).toPrecision(3)}`,
      ],
      corruptionMax: corruptionMax(options),
    },
    ...covarianceOutput(dimension),
    facts: factsOf(options, design),
    expectedError: errorOf(options, design),
    summary: (cohort) => (cohort === rowsCohort
      ? rowsSummary(dimension)
      : groupSummary(options.local, dimension)),
    release: (summaries, mechanisms, compute) =>
      release(study, design, summaries, mechanisms, compute),
  });
}

function corruptionMax({ local, corruption }: MaskedFacts): number {
  return local === 'robust' ? corruption : 0;
}

function factsOf({ local }: MaskedFacts, { mask, rows }: MaskedDesign): Plan['facts'] {
  return {
    errorsAreIn: errorsOfCovariance,
    local,
    groups: mask.groups,
    groupSize: mask.groupSize,
    agreementRadius: mask.radius,
    agreementThreshold: mask.thresholds.agreement,
    movedByOneContributor: Math.expm1(mask.logDistance),
    drawsOfTheMask: Math.floor(mask.samples),
    order: mask.facts.order,
    ...(rows !== null && {
      rounds: rows.preconditioner.rounds, pairsPlanned: Math.floor(rows.pairs),
      pairsNeeded: rows.preconditioner.pairsNeeded,
    }),
  };
}

function errorOf(
  options: MaskedFacts, { mask, rows }: MaskedDesign,
): Plan['expectedError'] {
  const freedom = options.dimension * (options.dimension + 1);
  const effectiveRows = mask.facts.cohort * mask.facts.efficiency;
  const sampling = rows?.sampling ?? Math.sqrt(freedom / effectiveRows);
  const noise = rows?.noise ?? Math.sqrt(freedom / mask.samples);
  return errorUpTo(corruptionMax(options), { sampling, noise }, (share) =>
    biasPerCorruption * share);
}

/** A group's covariance, a function of its rows alone: zeros when there is none. */
export function groupSummary(local: LocalCovariance, dimension: number): Summary {
  const finite = (matrix: Float64Array): Float64Array =>
    (allFinite(matrix) ? matrix : new Float64Array(dimension ** 2));
  if (local === 'robust') return groupRowsSummary(dimension, (rows) => finite(robustScatter(rows)));
  return scatterSummary(dimension, (scatter) => finite(covarianceOf(scatter)));
}

async function release(
  study: StudyFacts, design: MaskedDesign, summaries: FinishedSummaries, mechanisms: Mechanisms,
  compute: Compute,
): Promise<Released<Outcome>> {
  const { mask, rows } = design;
  const { dimension } = study;
  const groups = finishedOf(summaries, groupsCohort, mask.groups);
  const measured = groups.map((finished) => {
    const matrices = gatherMatrices(finished, dimension);
    return { matrices, counts: matrixAgreement(matrices, mask.radius) };
  });
  const passed = mechanisms.threshold(mask.test.name, measured.map(({ counts }) =>
    agreeingPairs(counts)));
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
 * A map after which the mask is the unit matrix, and its inverse; null when rounding made the mask
 * singular. Columns are first brought to one scale, so that units do not exhaust the range of
 * doubles.
 */
function mapOf(mask: Float64Array, dimension: number): Preconditioner | null {
  const scale = Float64Array.from({ length: dimension }, (_, j) =>
    Math.sqrt(mask[j * (dimension + 1)]!));
  const scaled = mask.map((entry, at) =>
    entry / scale[Math.floor(at / dimension)]! / scale[at % dimension]!);
  const { values } = ownKernels().eigenSymmetric(scaled, dimension);
  if (!(values[0]! > 0 && Number.isFinite(values.at(-1)!))) return null;
  const matrix = withEigenvalues(scaled, dimension, (value) => pow(value, -0.5));
  const inverse = withEigenvalues(scaled, dimension, Math.sqrt);
  return {
    matrix: matrix.map((entry, at) => entry / scale[at % dimension]!),
    inverse: inverse.map((entry, at) => entry * scale[Math.floor(at / dimension)]!),
  };
}

function maskAsAnswer(moments: Float64Array, { mask }: MaskedDesign): Outcome {
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
    text: 'the masked covariance is singular in doubles: columns are too close to mixtures of '
      + 'each other',
  };
}

function disagreement({ cohort }: StudyFacts, { mask }: MaskedDesign): Outcome {
  return {
    kind: 'refused',
    reason: 'subsamples-disagree',
    text: `fewer of the ${mask.groups} groups agreed within a factor `
      + `${Math.exp(mask.radius).toPrecision(3)} in every direction `
      + `than the noisy test asks for. Planned for ${cohort} contributors, about Gaussian rows, `
      + 'and columns none of which is a '
      + 'mixture of the others: check each, then use covariance with bounds, use '
      + 'local=robust, or lower cohort.',
  };
}
