import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type {
  Compute, FinishedSummaries, Infeasible, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { errorUpTo, makePlan, needsCohort, pooledArm } from '../../contract/planning.js';
import { rowsSummary } from '../../summaries/rows.js';
import {
  boundedCohortNeeded, boundedDesign, relativeNoise, type BoundedDesign, type BoundedFacts,
} from './bounded-design.js';
import {
  covarianceOutcome, covarianceOutput, errorsOfCovariance, relativeBound, tooFewPairs,
} from '../moments/outcomes.js';
import { leadingBlock, padded } from '../moments/matrices.js';
import { pairsOf } from '../moments/pairs.js';
import {
  flooredAt, noiseNorm, privatePreconditioner, type BoundedMoments, type Preconditioner,
} from '../moments/preconditioner.js';
import { privateSecondMoments } from '../moments/second-moments.js';
import type { VarianceBounds } from './variance-bounds.js';

const cohortName = 'rows';
/** Variance after the map below which noise hides everything. Lower values are raised to it. */
const leastMoment = 2 ** -10;

/**
 * The plan of a covariance of rows whose variance in every direction is between public bounds.
 * Pairs of rows are taken, so that the mean cancels. A private map makes all directions vary alike
 * (preconditioner). Noisy second moments are taken after the map, and the map is undone.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added.
 * Cost: rho zCDP, no delta.
 * Why:
 * - A neighbour's pairs differ in one (pairs): one replaced, gone or added. So the number of pairs
 *   changes by at most 1, and the sums of second moments by what `secondMomentsEvent` says, for
 *   every map, hence for released ones.
 * - Number, rounds and last moments compose. All else is computed from what they released: the
 *   refusal when too few pairs came, the floor under eigenvalues of the last moments, the
 *   covariance and its intervals.
 *
 * The answer is positive definite. The noisy moments need not be, so their eigenvalues after the
 * map are raised to 2^-10 where they are below. That happens in directions whose variance is far
 * below `varianceLow`, for example constant columns. There the answer is an upper bound, about
 * `varianceLow`, and the published relative uncertainty is large.
 *
 * Source: Kamath, Li, Singhal and Ullman (2019), section 3, for the preconditioner.
 */
export function planBounded(facts: StudyFacts, bounds: VarianceBounds): Plan | Infeasible {
  const { dimension, cohort, target: { rho } } = facts;
  const options: BoundedFacts = { name: cohortName, dimension, cohort, rho, ...bounds };
  const design = boundedDesign(options);
  return design === null ? tooFewFor(options) : planFor(facts, design);
}

function tooFewFor(facts: BoundedFacts): Infeasible {
  const { dimension, cohort, rho, varianceLow, varianceHigh } = facts;
  const reason = `with ${cohort} contributors, ${dimension} columns and rho ${rho.toPrecision(3)} `
    + `the noise hides directions of variance between ${varianceLow} and ${varianceHigh} from each `
    + 'other';
  const cohortNeeded = boundedCohortNeeded(facts);
  const others = 'closer bounds variance-low and variance-high, fewer columns or a larger epsilon';
  return needsCohort(reason, cohortNeeded, others);
}

function planFor(study: StudyFacts, design: BoundedDesign): Plan {
  const {
    facts: { dimension, varianceLow, varianceHigh }, sampling, noise, preconditioner, events,
  } = design;
  return makePlan({
    arms: [pooledArm(cohortName)],
    events,
    guarantee: {
      theorem: 'noisy second moments of pairs after a private map; '
        + 'proofs in src/estimators/covariance/covariance and src/estimators/covariance/moments',
      assumptions: [
        `for accuracy: rows vary in every direction with variance between ${varianceLow} and `
        + `${varianceHigh}`,
        'for accuracy: rows are about Gaussian or lighter in the tails, in every direction',
      ],
      corruptionMax: 0,
    },
    ...covarianceOutput(dimension),
    facts: {
      errorsAreIn: errorsOfCovariance,
      madeFrom: 'pairs of rows',
      rounds: preconditioner.rounds,
      pairsPlanned: Math.floor(design.pairs),
      pairsNeeded: preconditioner.pairsNeeded,
      noiseInAnyDirection: relativeNoise(design, design.pairs) * (1 + preconditioner.shift),
      clipRadiusAfterTheMap: design.ball.radius,
    },
    expectedError: errorUpTo(0, { sampling, noise }),
    summary: () => rowsSummary(dimension),
    release: (summaries, mechanisms, compute) =>
      releaseWithin(study, design, pairsIn(summaries, design), { mechanisms, compute }),
  });
}

/** The pairs of a pooled cohort. */
export function pairsIn(
  summaries: FinishedSummaries, { slots, facts: { name } }: BoundedDesign,
): Sensitive<RowBlock> {
  return poolOf(summaries, name).map((rows) => pairsOf(rows, slots));
}

/** The tools with which a release draws. */
interface Tools {
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
  /** A map that was released before, after which the design's bounds hold; default: none. */
  readonly start?: Preconditioner;
}

/** Number of pairs, rounds, last moments: draws all events of the design. */
export async function releaseWithin(
  { cohort }: StudyFacts, design: BoundedDesign, rows: Sensitive<RowBlock>,
  { mechanisms, compute, start }: Tools,
): Promise<Released<Outcome>> {
  const { facts: { dimension }, preconditioner, final } = design;
  const found = await privateBoundedMoments(
    mechanisms, compute, rows, design, start === undefined ? {} : { start },
  );
  return found.map((answer) => {
    if (answer.kind === 'too-few-pairs') return tooFewPairs(cohort, preconditioner.pairsNeeded);
    const { moments, inverse, pairs } = answer;
    const noise = final.sigma / pairs;
    const relative = relativeBound(moments, dimension, noiseNorm(dimension) * noise);
    return covarianceOutcome({ dimension, moments, inverse, noise, relative, pairs });
  });
}

/**
 * Draws every event of a design. The covariance is inverse moments inverse^T.
 * @param rows - pairs.
 * @param rank - public or released: rows are zero past this many columns, and the answer is about
 *   those columns.
 * @param start - a map that was released before, after which the design's bounds hold.
 */
export async function privateBoundedMoments(
  mechanisms: Mechanisms, compute: Compute, rows: Sensitive<RowBlock>, design: BoundedDesign,
  { rank = design.facts.dimension, start }: {
    readonly rank?: number; readonly start?: Preconditioner;
  } = {},
): Promise<Released<BoundedMoments>> {
  const { facts: { dimension, varianceHigh }, preconditioner, final, ball } = design;
  const counted = mechanisms.gaussian(design.count.name, rows.map(({ count }) =>
    Float64Array.of(count)));
  const pairs = counted.value[0]!;
  if (pairs < preconditioner.pairsNeeded) return counted.map(() => ({ kind: 'too-few-pairs' }));
  const map = await privatePreconditioner(
    mechanisms, compute, rows, preconditioner,
    { varianceHigh, pairs, rank, ...(start !== undefined && { start }) },
  );
  const matrix = padded(map.matrix, rank, dimension);
  const sums = await privateSecondMoments(mechanisms, compute, rows, matrix, ball, final.name);
  return sums.map((total) => {
    const mean = leadingBlock(total, dimension, rank).map((entry) => entry / pairs);
    return { kind: 'moments', ...map, moments: flooredAt(mean, rank, leastMoment).floored, pairs };
  });
}
