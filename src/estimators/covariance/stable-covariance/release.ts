import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import {
  clipAllRows, momentsOfRows, sharedBytes, sharedDoubles,
} from '../../../numerics/kernels/shards.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { Compute } from '../../contract/estimator.js';
import type { Draws } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { leastThresholdAlongAxes, type HistogramFit } from '../../pooled/projected-histogram.js';
import {
  histogramAlong, projectionsOn, removeOutside, type LeftRows,
} from '../../pooled/thresholds.js';
import { releaseMapped } from '../moments/mapped-rows.js';
import { covarianceOutcome, relativeBound } from '../moments/outcomes.js';
import { flooredAt, noiseNorm } from '../moments/preconditioner.js';
import { imagesOf } from '../moments/standardised.js';
import { reach, type CovarianceDesign } from './design.js';
import { featureCount, fourthFeatures } from '../moments/features.js';
import { quarticAxes } from '../moments/quartic.js';
import { removalOf, tooFewLeft } from './removal.js';

/**
 * Variance after the map, below which nothing was resolved: what is lower is answered as this much.
 */
const leastMoment = 2 ** -10;

/** The design of a release, and the tools with which it draws. */
export interface CovarianceRun extends Draws {
  readonly design: CovarianceDesign;
}

/**
 * The axis of a histogram whose tails were removed, what that left of the variance of normal rows,
 * and the share of them that it took.
 */
interface Trimmed extends Pick<HistogramFit, 'kept' | 'lost'> {
  readonly axis: Float64Array;
}

/**
 * Draws every event after the spread and the centre. Claim and proof: stable-covariance,
 * design.
 */
export function releaseCovariance(
  run: CovarianceRun, centred: CentredPool,
): Promise<Released<Outcome>> {
  const { design } = run;
  const { facts } = design;
  const { dimension, cohort } = facts;
  return releaseMapped(design, reach, run, centred, async (mapped) => {
    const { rows, present, all, matrix, inverse } = mapped;
    const images = rows.map((each) => imagesOf(each, matrix));
    const trimmed = await trimAlongAxes(run, images, present);
    const { sums, products, count } = await answerSums(run, images);
    return Released.all<readonly Float64Array[]>([sums, products, count])
      .map(([sum, square, counts]): Outcome => {
        const left = counts![0]!;
        if (left < cohort / 4) return participationBelowPlan(facts);
        const removal = removalOf(design, trimmed, { left, all });
        if (removal.isTooMuch) return tooFewLeft(design, left, all);
        const moments = restored(aboutMean(square!, sum!, left), trimmed, dimension);
        const { floored } = flooredAt(moments, dimension, leastMoment);
        const noise = design.square.sigma / left;
        const relative = relativeBound(floored, dimension, noiseNorm(dimension) * noise);
        const units = inverse.map((entry, at) =>
          entry * centred.spread[Math.floor(at / dimension)]!);
        const outcome = covarianceOutcome({
          dimension, moments: floored, inverse: units, noise, relative, pairs: left,
          ...(removal.isTrimmed && { tails: { lost: Infinity, fourth: 0 } }),
        });
        return outcome.kind === 'refused' ? outcome : { ...outcome, ...removal.findings };
      });
  });
}

/** Finds axes by the images' fourth moments; removes what no normal shape explains along them. */
async function trimAlongAxes(
  { design, mechanisms, compute }: CovarianceRun, images: Sensitive<LeftRows>, present: number,
): Promise<readonly Trimmed[]> {
  const { featureRows, featureBall, featureSum, featureSquare, histograms } = design;
  const { dimension } = design.facts;
  const size = featureCount(dimension);
  const moments = await images.mapAsync(async (rows) => {
    const features = fourthFeatures(rows, featureRows);
    const set = { values: features, dimension: size, count: rows.count };
    return stepMoments(compute, set, featureBall, rows.alive);
  });
  const { grid } = featureBall;
  const mean = mechanisms.gaussian(featureSum.name, moments.map(({ sums }) =>
    sums.map((entry) => entry * grid))).value.map((entry) => entry / present);
  const fourth = mechanisms.symmetricGaussian(featureSquare.name, moments.map(({ products }) =>
    products.map((entry) => entry * grid ** 2))).value
    .map((entry, at) => entry / present - mean[Math.floor(at / size)]! * mean[at % size]!);
  const trimmed: Trimmed[] = [];
  for (const [k, axis] of quarticAxes(fourth, dimension, histograms.length).entries()) {
    const entries = projectionsOn(axis, 1);
    const fit = histogramAlong(
      mechanisms, histograms[k]!, images, entries, leastThresholdAlongAxes,
    );
    if (fit === null || (fit.low === -Infinity && fit.high === Infinity)) continue;
    removeOutside(images, entries, fit.low, fit.high);
    trimmed.push({ axis, kept: fit.kept, lost: fit.lost });
  }
  return trimmed;
}

/** Count, sums and sums of products of the images left, inside the last ball. */
async function answerSums(
  { design, mechanisms, compute }: CovarianceRun, images: Sensitive<LeftRows>,
): Promise<Readonly<Record<'sums' | 'products' | 'count', Released<Float64Array>>>> {
  const { ball, sum, square, count } = design;
  const moments = await images.mapAsync(({ steps, dimension, count: rows, alive }) =>
    stepMoments(compute, { values: steps, dimension, count: rows }, ball, alive));
  return {
    sums: mechanisms.gaussian(
      sum.name, moments.map((all) => all.sums.map((entry) => entry * ball.grid)),
    ),
    products: mechanisms.symmetricGaussian(square.name, moments.map((all) =>
      all.products.map((entry) => entry * ball.grid ** 2))),
    count: mechanisms.gaussian(count.name, moments.map((all) => Float64Array.of(all.count))),
  };
}

/** Exact moments, in steps, of the rows left inside a ball about 0. */
async function stepMoments(
  compute: Compute, rows: RowBlock, { grid, steps }: ClipBall, alive: Uint8Array,
): ReturnType<typeof momentsOfRows> {
  const inside = sharedDoubles(rows.count * rows.dimension);
  const clip = { grid, steps, centre: new Float64Array(rows.dimension) };
  await clipAllRows(compute, rows, clip, inside, sharedBytes(rows.count));
  const mask = sharedBytes(rows.count);
  mask.set(alive);
  return momentsOfRows(compute, { ...rows, values: inside }, { mask });
}

function aboutMean(square: Float64Array, sum: Float64Array, count: number): Float64Array {
  const dimension = sum.length;
  return square.map((entry, at) =>
    entry / count - (sum[Math.floor(at / dimension)]! / count) * (sum[at % dimension]! / count));
}

/**
 * Gives back what normal rows of covariance C have lost: thresholds that leave a share k of the
 * variance along v take (1 - k) C v v^T C / v^T C v. The last ones first.
 */
function restored(
  moments: Float64Array, trimmed: readonly Trimmed[], dimension: number,
): Float64Array {
  const result = moments.slice();
  for (const { axis, kept } of trimmed.toReversed()) {
    const image = new Float64Array(dimension);
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) image[i]! += result[i * dimension + j]! * axis[j]!;
    }
    const along = image.reduce((sum, entry, i) => sum + entry * axis[i]!, 0);
    // Noise may leave next to nothing along an axis; then there is nothing to give back.
    if (!(along > leastMoment && kept > 0.1)) continue;
    const factor = (1 / kept - 1) / along;
    for (let at = 0; at < result.length; at++) {
      result[at]! += factor * image[Math.floor(at / dimension)]! * image[at % dimension]!;
    }
  }
  return result;
}
