import { pow } from '../../../base/elementary.js';
import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Draws } from '../../pooled/centre.js';
import { product, withEigenvalues } from '../moments/matrices.js';
import type { Preconditioner } from '../moments/preconditioner.js';
import { imagesOf, type StandardisedRows } from '../moments/standardised.js';
import { middleWidth } from './clusters.js';
import { histogramsAlong } from './histograms.js';

/** Variances in the map's units that a width may stand for. */
const [varianceLeast, varianceMost] = [0.09, 2];

/**
 * The map after which the middle of the rows is equally wide along the columns and along the sums
 * and differences of two. Widths of normal rows of covariance S are v^T S v, which gives S.
 */
export function evenWidths(
  draws: Draws, event: GaussianEvent, rows: Sensitive<StandardisedRows>,
  { matrix, inverse }: Preconditioner, dimension: number,
): Preconditioner {
  const pairs = Array.from({ length: dimension ** 2 }, (_, at) =>
    [Math.floor(at / dimension), at % dimension] as const);
  const axes = pairs.map(([i, j]) => Float64Array.from({ length: dimension }, (_, at) => {
    if (i === j) return at === i ? 1 : 0;
    // Sums above the diagonal, differences below it.
    if (at === Math.min(i, j)) return Math.SQRT1_2;
    return at === Math.max(i, j) ? Math.sign(j - i) * Math.SQRT1_2 : 0;
  }));
  const images = rows.map((all) => imagesOf(all, matrix));
  const counts = histogramsAlong(draws, event, images, axes).map((histogram) => histogram.counts);
  const squares = counts.map((all) =>
    Math.min(varianceMost, Math.max(varianceLeast, middleWidth(all) ** 2)));
  const variance = Float64Array.from(pairs, ([i, j], at) => {
    if (i === j) return squares[at]!;
    const [low, high] = [Math.min(i, j), Math.max(i, j)];
    return (squares[low * dimension + high]! - squares[high * dimension + low]!) / 2;
  });
  const power = (exponent: number): Float64Array =>
    withEigenvalues(variance, dimension, (value) =>
      pow(Math.min(varianceMost, Math.max(varianceLeast, value)), exponent));
  return {
    matrix: product(power(-0.5), matrix, dimension),
    inverse: product(inverse, power(0.5), dimension),
  };
}
