import { assert } from '../../base/assert.js';
import type { Released, Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import { privateCentre } from '../../privacy/centre.js';
import { privateClippedMean } from '../../privacy/clipped-mean.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../privacy/rows.js';
import { participationBelowPlan } from '../centred-mean.js';
import type { Compute, FinishedSummaries, PooledRows, StudyFacts } from '../contract.js';
import { privateBoundedMoments } from '../covariance/bounded.js';
import { kernels, product, transposed, withEigenvalues } from '../covariance/matrices.js';
import { tooFewPairs } from '../covariance/outcomes.js';
import { pairsOf } from '../covariance/pairs.js';
import { whitenedScale, type GaussianDesign, type StageShare } from './design.js';
import { gaussianOutcome, meanNotFound, type Shape } from './outcome.js';

/** Draws a release: first the covariance, then the mean in the coordinates that it gives. */
export async function releaseGaussian(
  study: StudyFacts, design: GaussianDesign, summaries: FinishedSummaries, mechanisms: Mechanisms, compute: Compute,
): Promise<Released<Outcome>> {
  const { covariance, covarianceFrom, mean } = design;
  const { dimension } = study;
  const pairs = poolOf(summaries, covarianceFrom).map((rows): RowBlock => pairsOf(rows, covariance.slots));
  const moments = await privateBoundedMoments(mechanisms, compute, pairs, covariance);
  const found = moments.value;
  if (found.kind === 'too-few-pairs') {
    return moments.map(() => tooFewPairs(covarianceFrom.size, covariance.preconditioner.pairsNeeded));
  }
  const shape: Shape = {
    dimension, ...whitening(found.moments, found.matrix, found.inverse, dimension),
    pairs: found.pairs, noise: covariance.final.sigma / found.pairs, unmap: found.inverse,
  };
  return releaseMean({ study, design, shape }, poolOf(summaries, mean.from), mechanisms);
}

/** A map after which the answered covariance is the unit matrix, and its inverse: post-processing. */
function whitening(
  moments: Float64Array, matrix: Float64Array, inverse: Float64Array, dimension: number,
): { readonly map: Float64Array; readonly inverse: Float64Array } {
  const power = (exponent: number): Float64Array => withEigenvalues(moments, dimension, (value) => value ** exponent);
  return { map: product(power(-0.5), matrix, dimension), inverse: product(inverse, power(0.5), dimension) };
}

interface MeanAsked {
  readonly study: StudyFacts;
  readonly design: GaussianDesign;
  readonly shape: Shape;
}

function releaseMean(
  { study, design: { mean }, shape }: MeanAsked, pool: Sensitive<PooledRows>, mechanisms: Mechanisms,
): Released<Outcome> {
  const { dimension } = study;
  const rows = pool.map((whole) => mapped(whole, shape.map));
  const centred = privateCentre(mechanisms, rows, dimension, whitenedScale);
  const centre = centred.value;
  if (centre.kind === 'failed') return centred.map(() => meanNotFound(study));
  const options = { centre: centre.centre, ball: mean.clipped.ball, cohort: mean.from.size };
  return privateClippedMean(mechanisms, rows, options).map((answer) => {
    if (answer.kind === 'participation-below-plan') return participationBelowPlan(study);
    const moved = answer.mean.map((entry, j) => entry - centre.centre[j]!);
    const noise = moved.map((entry) =>
      Math.hypot(mean.clipped.sum.sigma, entry * mean.clipped.count.sigma) / answer.present);
    return gaussianOutcome(shape, { mean: answer.mean, noise, rows: answer.present });
  });
}

/** Every row times a released map: a function of the row alone. A row that leaves the doubles becomes the null row. */
function mapped({ count, dimension, values }: PooledRows, map: Float64Array): RowBlock {
  return { count, dimension, values: kernels().product(values, transposed(map, dimension), count, dimension, dimension) };
}

function poolOf(summaries: FinishedSummaries, { cohort }: StageShare): Sensitive<PooledRows> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map((groups) => {
    const [only] = groups;
    assert(only?.kind === 'pooled' && groups.length === 1, 'the rows come in one pool');
    return only.rows;
  });
}
