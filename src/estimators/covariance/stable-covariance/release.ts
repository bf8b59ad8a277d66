import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { clipAllRows, momentsOfRows, sharedBytes, sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { participationBelowPlan } from '../../pooled/centred-mean.js';
import type { CentredPool } from '../../pooled/centred-release.js';
import type { Compute } from '../../contract/estimator.js';
import { covarianceOutcome, relativeBound } from '../moments/outcomes.js';
import { flooredAt, noiseNorm, privatePreconditioner } from '../moments/preconditioner.js';
import { histogramAlong, projectionsOn, removeOutside, type LeftRows } from '../../pooled/thresholds.js';
import { leastThresholdAlongAxes } from '../../pooled/projected-histogram.js';
import { reach, type CovarianceDesign } from './design.js';
import { featureCount, fourthFeatures } from './features.js';
import { quarticAxes } from './quartic.js';
import { imagesOf, standardisedRows } from '../moments/standardised.js';

/** Variance after the map, below which nothing was resolved: what is lower is answered as this much. */
const leastMoment = 2 ** -10;

/** What a release draws with. */
export interface CovarianceRun {
  readonly design: CovarianceDesign;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** Along which axis rows were cut, and what that left of the variance of normal ones. All released. */
interface Cut {
  readonly axis: Float64Array;
  readonly kept: number;
}

/** Draws every event after the scale and the centre. Claim and proof: covariance-design. */
export async function releaseCovariance(
  run: CovarianceRun, { pool, centre, scale }: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, preconditioner, varianceHigh, rowsMax } = design;
  const { dimension, cohort } = facts;
  const rows = pool.map((whole) => standardisedRows(whole, centre, scale, rowsMax, reach));
  const counted = mechanisms.gaussian(design.present.name, rows.map(({ present }) =>
    Float64Array.of(present.reduce((sum, one) => sum + one, 0))));
  const present = counted.value[0]!;
  if (present < Math.max(preconditioner.pairsNeeded, cohort / 4)) {
    return counted.map(() => participationBelowPlan(facts));
  }
  const { matrix, inverse } = await privatePreconditioner(
    mechanisms, compute, rows, preconditioner, { varianceHigh, pairs: present },
  );
  const images = rows.map((all) => imagesOf(all, matrix));
  const cuts = await cutAlongAxes(run, images, present);
  const { sums, products, count } = await answerSums(run, images);
  return Released.all<readonly [Float64Array, Float64Array, Float64Array]>([sums, products, count])
    .map(([sum, square, [left = 0]]): Outcome => {
      if (left < cohort / 4) return participationBelowPlan(facts);
      const moments = withoutCuts(centred(square, sum, left), cuts, dimension);
      const { floored } = flooredAt(moments, dimension, leastMoment);
      const noise = design.square.sigma / left;
      const relative = relativeBound(floored, dimension, noiseNorm(dimension) * noise);
      const units = inverse.map((entry, at) => entry * scale[Math.floor(at / dimension)]!);
      return covarianceOutcome({ dimension, moments: floored, inverse: units, noise, relative, pairs: left });
    });
}

/** Finds axes by the fourth moments of the rows' images, and removes what no normal shape explains along them. */
async function cutAlongAxes(
  { design, mechanisms, compute }: CovarianceRun, images: Sensitive<LeftRows>, present: number,
): Promise<readonly Cut[]> {
  const { facts: { dimension }, featureRows, featureBall, featureSum, featureSquare, profiles } = design;
  const size = featureCount(dimension);
  const moments = await images.mapAsync(async (rows) => {
    const features = fourthFeatures(rows, featureRows);
    return stepMoments(compute, { values: features, dimension: size, count: rows.count }, featureBall, rows.alive);
  });
  const { grid } = featureBall;
  const mean = mechanisms.gaussian(featureSum.name, moments.map(({ sums }) => sums.map((entry) => entry * grid))).value
    .map((entry) => entry / present);
  const fourth = mechanisms.symmetricGaussian(featureSquare.name, moments.map(({ products }) =>
    products.map((entry) => entry * grid ** 2))).value
    .map((entry, at) => entry / present - mean[Math.floor(at / size)]! * mean[at % size]!);
  const cuts: Cut[] = [];
  for (const [k, axis] of quarticAxes(fourth, dimension, profiles.length).entries()) {
    const entries = projectionsOn(axis, 1);
    const profile = histogramAlong(mechanisms, profiles[k]!, images, entries, leastThresholdAlongAxes);
    if (profile === null || (profile.low === -Infinity && profile.high === Infinity)) continue;
    removeOutside(images, entries, profile.low, profile.high);
    cuts.push({ axis, kept: profile.kept });
  }
  return cuts;
}

/** Count, sums and sums of products of the images left, inside the last ball. */
async function answerSums({ design, mechanisms, compute }: CovarianceRun, images: Sensitive<LeftRows>): Promise<{
  readonly sums: Released<Float64Array>; readonly products: Released<Float64Array>; readonly count: Released<Float64Array>;
}> {
  const { ball, sum, square, count } = design;
  const moments = await images.mapAsync(({ steps, dimension, count: rows, alive }) =>
    stepMoments(compute, { values: steps, dimension, count: rows }, ball, alive));
  return {
    sums: mechanisms.gaussian(sum.name, moments.map((all) => all.sums.map((entry) => entry * ball.grid))),
    products: mechanisms.symmetricGaussian(square.name, moments.map((all) =>
      all.products.map((entry) => entry * ball.grid ** 2))),
    count: mechanisms.gaussian(count.name, moments.map((all) => Float64Array.of(all.count))),
  };
}

/** Exact moments, in steps, of the rows left inside a ball about 0. */
async function stepMoments(
  compute: Compute, rows: { readonly values: Float64Array; readonly dimension: number; readonly count: number },
  { grid, steps }: ClipBall, alive: Uint8Array,
): ReturnType<typeof momentsOfRows> {
  const inside = sharedDoubles(rows.count * rows.dimension);
  const clip = { grid, steps, centre: new Float64Array(rows.dimension) };
  await clipAllRows(compute, rows, clip, inside, sharedBytes(rows.count));
  const mask = sharedBytes(rows.count);
  mask.set(alive);
  return momentsOfRows(compute, { ...rows, values: inside }, { mask });
}

function centred(square: Float64Array, sum: Float64Array, count: number): Float64Array {
  const dimension = sum.length;
  return square.map((entry, at) =>
    entry / count - (sum[Math.floor(at / dimension)]! / count) * (sum[at % dimension]! / count));
}

/**
 * Gives normal rows back what the cuts took of their covariance C: a cut that leaves a share k of the variance along v
 * takes (1 - k) C v v^T C / v^T C v. The last cut first.
 */
function withoutCuts(moments: Float64Array, cuts: readonly Cut[], dimension: number): Float64Array {
  const result = moments.slice();
  for (const { axis, kept } of cuts.toReversed()) {
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
