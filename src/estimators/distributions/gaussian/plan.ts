import type { Infeasible, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { checkColumnsMax } from '../../contract/given.js';
import {
  betterPlan, makePlan, nearSmallestCohort, needsCohort, withoutDelta,
} from '../../contract/planning.js';
import { rowsSummary } from '../../summaries/rows.js';
import { distanceOf, type StageError } from './distance.js';
import { stepsMax } from '../../covariance/subspace/summary.js';
import { groupBias } from '../../covariance/moments/group-moments.js';
import { planAllRows } from './all-rows.js';
import { gaussianDesign, type GaussianDesign } from './design.js';
import { partsOf } from './outcome.js';
import { choiceFrom, columnsMax, type GaussianChoice } from './parameters.js';
import { releaseGaussian } from './release.js';

/**
 * @throws InvalidParameterError past 100 columns, or when the variance bounds are the wrong way
 * round.
 */
export function planGaussian(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  checkColumnsMax('gaussian', facts.dimension, columnsMax);
  const refusal = withoutDelta(facts.target, 'finding where the mean is');
  if (refusal !== null) return refusal;
  const choice = choiceFrom(values, facts.dimension);
  const staged = planStages(facts, choice);
  if (choice.corruption !== null || choice.unit !== null || !choice.isShared) return staged;
  return betterPlan(planAllRows(values, facts, choice), staged);
}

/** A covariance from pairs of rows or from groups, then a mean where rows vary alike. */
function planStages(facts: StudyFacts, choice: GaussianChoice): Plan | Infeasible {
  const design = gaussianDesign(facts, choice);
  if (design === null || design.distance.total > choice.accuracy) {
    return tooInaccurate(facts, choice, design);
  }
  return planFor(facts, design);
}

function tooInaccurate(
  facts: StudyFacts, choice: GaussianChoice, design: GaussianDesign | null,
): Infeasible {
  const { dimension, cohort, target: { rho } } = facts;
  const { accuracy, bounds } = choice;
  const setting = `with ${cohort} contributors, ${dimension} columns and rho ${rho.toPrecision(3)}`;
  const reason = design === null
    ? `${setting} the noise hides ` + (bounds === null ? 'how wide the rows are in some direction'
      : `directions of variance between ${bounds.varianceLow} and ${bounds.varianceHigh} from each `
        + 'other')
      + (choice.unit === null ? '' : ', or the subspace')
    : `${setting} the expected total variation distance is `
      + `${design.distance.total.toPrecision(3)}, not ${accuracy}`;
  const others = `${bounds === null ? '' : 'closer '}bounds variance-low and variance-high, fewer columns, a larger accuracy `
    + 'or a larger epsilon'
    + (choice.corruption === null ? '' : ', or a lower corruption');
  const cohortNeeded = cohortFor(facts, choice);
  return needsCohort(reason, cohortNeeded, others);
}

/** The smallest cohort that keeps the promise, to 0.01; Infinity when 10^9 are too few. */
function cohortFor(facts: StudyFacts, choice: GaussianChoice): number {
  const fits = (cohort: number): boolean => {
    const design = gaussianDesign({ ...facts, cohort }, choice);
    return design !== null && design.distance.total <= choice.accuracy;
  };
  return nearSmallestCohort(fits);
}

function planFor(study: StudyFacts, design: GaussianDesign): Plan {
  const { dimension } = study;
  const { choice, distance, events, arms } = design;
  const corruptionMax = choice.corruption ?? 0;
  return makePlan({
    arms,
    events,
    guarantee: {
      theorem: 'a private covariance, then a private mean where rows vary alike; '
        + 'proofs in src/estimators/distributions/gaussian, src/estimators/covariance/covariance, '
        + 'src/privacy/stages/centre and src/privacy/stages/clipped-mean',
      assumptions: assumptionsOf(dimension, design),
      corruptionMax,
    },
    outputShape: [dimension + dimension ** 2],
    parts: partsOf(dimension),
    facts: factsOf(design),
    expectedError: (corruption) => {
      if (!(corruption >= 0 && corruption <= corruptionMax)) {
        return { ...distance, total: Infinity, bias: Infinity };
      }
      const { rowsPerGroup, mean, covariance } = design;
      if (rowsPerGroup === null) return distance;
      const bias = groupBias(corruption, dimension);
      return distanceOf(
        { ...mean.error, bias: bias.mean }, { ...covariance.error, bias: bias.covariance },
      );
    },
    summary: () => rowsSummary(dimension),
    release: (summaries, mechanisms, compute) =>
      releaseGaussian(study, design, summaries, mechanisms, compute),
  });
}

function assumptionsOf(
  dimension: number, { choice: { unit }, units }: GaussianDesign,
): readonly string[] {
  const place = unit === null ? '' : ' of the subspace';
  const { varianceLow, varianceHigh } = units.bounds;
  return [
    `for accuracy: rows are Gaussian, of variance between ${varianceLow} and ${varianceHigh} in `
    + `every direction${place}${units.kind === 'bounds' ? '' : ', in squared spreads'}`,
    ...(unit === null ? [] : [
      `for accuracy: once rounded to multiples of ${unit}, honest rows lie in one affine subspace, `
      + 'exactly, and any '
        + `${dimension + 1} of them span it`,
    ]),
  ];
}

function factsOf({ choice, covariance, mean, frame, rowsPerGroup }: GaussianDesign): Plan['facts'] {
  const design: Record<string, number | string> = covariance.kind === 'pairs' ? {
    madeFrom: 'pairs of rows',
    rounds: covariance.bounded.preconditioner.rounds,
    pairsPlanned: Math.floor(covariance.bounded.pairs),
    pairsNeeded: covariance.bounded.preconditioner.pairsNeeded,
  } : {
    madeFrom: 'groups of rows',
    rounds: covariance.rounds.length,
    groups: covariance.groups,
    groupsNeeded: covariance.groupsNeeded,
    rowsPerGroup: rowsPerGroup ?? 0,
  };
  return {
    errorsAreIn: 'total variation distance between the normal distribution answered and the true '
      + 'one, at most',
    local: rowsPerGroup === null ? 'empirical' : 'robust',
    arms: choice.isShared ? 'one' : 'split',
    ...design,
    ...(frame === null ? {} : {
      subspaceGroups: frame.groups, unit: frame.unit, entriesUpTo: frame.unit * stepsMax,
    }),
    covarianceErrorExpected: wholeOf(covariance.error),
    meanErrorExpectedInDeviations: wholeOf(mean.error),
    clipRadiusAfterTheMap: mean.clipped.ball.radius,
  };
}

function wholeOf({ sampling, noise, bias }: StageError): number {
  return Math.hypot(sampling, noise, bias);
}
