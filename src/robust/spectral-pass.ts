import { InvalidParameterError } from '../base/errors.js';
import { checkOptions } from '../base/given.js';
import { chiSquareAt, normalMedianDeviation } from '../numerics/chi-square.js';
import { finiteRows, meanAround, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { placesAlong, topDirection } from './top-direction.js';

/** Thresholds of the pass. */
export interface SpectralPassOptions {
  /**
   * Rows farther than this many robust standard deviations along the worst direction are removed.
   * Default 3.
   */
  readonly cut?: number;
  /**
   * Most of the rows that may be removed, as a share in [0, 1/2). The farthest are removed first.
   * Default .45.
   */
  readonly removedShareMax?: number;
  /**
   * A public guess of the standard deviation of a clean row in every direction. It keeps the
   * measured spread within [.7, 1.3] times the guess. In a group of a dozen rows the measured
   * spread is too inexact alone, and hostile rows inflate it.
   */
  readonly spread?: number;
}

/** The mean after the pass. */
export interface SpectralPass {
  /** Mean of the kept rows; the centre if there are none. */
  readonly mean: Float64Array;
  readonly removed: number;
  /** 1 for each finite row that is kept, in the order of the rows; else 0. */
  readonly kept: Uint8Array;
  /** The distance from the centre beyond which rows are removed at once; Infinity below 3 rows. */
  readonly reach: number;
}

const spreadRange = { low: 0.7, high: 1.3 } as const;

/**
 * One hard pass of the spectral filter around a robust centre.
 *
 * 1. Remove rows whose distance from the centre exceeds sqrt(d) plus `cut` robust standard
 *   deviations by far. So no number of far rows, in any directions, reaches step 3.
 * 2. The top eigenvector of the scatter of the rest around the centre is the direction along which
 *   a coordinated share can have moved the mean most. Remove rows whose squared projection exceeds
 *   (cut * spread)^2. spread is the median absolute projection of all rows that remain.
 * 3. Return the mean of the rest.
 *
 * The remaining hostile rows move the mean by at most (their share) * spread * (sqrt(d) + cut), and
 * along the top direction by (their share) * cut * spread. Deterministic. Ties are removed
 * together, or not at all at the removal limit, so the order of the rows does not matter. O(n d^2 +
 * min(n, d)^3).
 * @throws InvalidParameterError when an option is out of its range.
 */
export function hardSpectralPass(
  given: PointSet,
  centre: Float64Array,
  options: SpectralPassOptions = {},
): SpectralPass {
  checkRanges(options);
  const points = finiteRows(given);
  const { count, dimension } = points;
  const cut = options.cut ?? 3;
  const budget = Math.floor((options.removedShareMax ?? 0.45) * count);
  const kept = new Uint8Array(count).fill(1);
  if (count < 3) return { mean: meanAround(points, centre), removed: 0, kept, reach: Infinity };
  const relative = points.values.map((entry, i) => entry - centre[i % dimension]!);

  const radii = new Float64Array(count);
  for (let i = 0; i < count; i++) radii[i] = Math.sqrt(squaredLength(relative, i, dimension));
  // The median length of a standard Gaussian vector is close to sqrt(d - 2/3 + ...), to 1 % for
  // every d >= 1.
  const typical = dimension === 1 ? normalMedianDeviation : Math.sqrt(chiSquareAt(0, dimension));
  const radialSpread = trustedSpread(median(radii) / typical, options.spread);
  const reach = radialSpread * (Math.sqrt(dimension) + cut);
  let left = budget - removeBeyond(radii, reach, kept, budget);

  const direction = topDirection(relative, kept, dimension);
  const projections = placesAlong(relative, direction).map(Math.abs);
  const measured = median(projections.filter((_, i) => kept[i] === 1)) / normalMedianDeviation;
  left -= removeBeyond(projections, cut * trustedSpread(measured, options.spread), kept, left);
  return { mean: meanAround(points, centre, kept), removed: budget - left, kept, reach };
}

function squaredLength(values: Float64Array, row: number, dimension: number): number {
  let sum = 0;
  for (let j = 0; j < dimension; j++) sum += values[row * dimension + j]! ** 2;
  return sum;
}

function trustedSpread(measured: number, guess: number | undefined): number {
  if (guess === undefined) return measured;
  return Math.min(Math.max(measured, spreadRange.low * guess), spreadRange.high * guess);
}

/** Removes the rows whose size is above the limit, largest first. Returns how many. */
function removeBeyond(
  sizes: Float64Array, limit: number, keep: Uint8Array, budget: number,
): number {
  const beyond: number[] = [];
  for (let i = 0;
      i < sizes.length; i++) if (keep[i] === 1 && sizes[i]! > limit) beyond.push(sizes[i]!);
  if (beyond.length === 0 || budget <= 0) return 0;
  beyond.sort((a, b) => b - a);
  // At the removal limit, every row as large as the first one that must stay also stays.
  const bar = beyond.length > budget ? beyond[budget]! : limit;
  let removed = 0;
  for (let i = 0; i < sizes.length; i++) {
    if (keep[i] === 1 && sizes[i]! > bar) {
      keep[i] = 0;
      removed += 1;
    }
  }
  return removed;
}

function checkRanges(options: SpectralPassOptions): void {
  checkOptions(options, ['cut', 'removedShareMax', 'spread'], 'the robust mean');
  const { cut, removedShareMax, spread } = options;
  for (const [name, value] of Object.entries({ cut, spread })) {
    if (value === undefined || (value > 0 && Number.isFinite(value))) continue;
    throw new InvalidParameterError(
      `${name} of a spectral pass is a positive number`, { [name]: value },
    );
  }
  if (removedShareMax === undefined || (removedShareMax >= 0 && removedShareMax < 0.5)) return;
  throw new InvalidParameterError(
    'the share that a spectral pass may remove is at least 0 and below 0.5', { removedShareMax },
  );
}
