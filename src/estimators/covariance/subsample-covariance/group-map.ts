import { ln } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import { gaussianHistogramEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianHistogramEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { KeptBin, Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { GroupFactor } from '../moments/group-moments.js';
import type { Preconditioner } from '../moments/preconditioner.js';

/**
 * A private map after which rows vary about alike in every direction, from the covariances of
 * groups. Nothing need be known of the variances.
 *
 * How. Column i is taken apart into what the columns before it explain and a remainder. The
 * variance of the remainder is the square of the pivot of the group's Cholesky factor. One
 * histogram shows where the logarithms of all pivots are. Then, column by column, the column is
 * regressed on the columns before it, after the map so far. A histogram shows where the
 * coefficients are, in units of the pivot. Row i of the map takes the explained part off and
 * divides by the pivot. Groups agree on all of these numbers to about 1 / sqrt(rows of a group),
 * whatever the variances are, so wide bins hold most groups.
 *
 * Claim. Neighbours: the factor of one group replaced by any other, or gone, or new. Cost: that of
 * the events, at most (rho, delta), delta-approximate zCDP.
 * Why:
 * - Each event is a stable histogram (mechanisms/histogram), with a group in place of a
 *   contributor. In each coordinate a group is in at most one bin: the one that its number falls
 *   in, or none if that is no finite number. The number is a function of this group's factor and
 *   of what the events before released.
 * - So each event costs what mechanisms/histogram says, for every outcome of the events before. The
 *   costs add up, and so do the deltas.
 * - The map is made from kept bins and public widths, so it is post-processing. So is the refusal
 *   where a coordinate keeps no bin.
 *
 * Source: the histograms of Karwa and Vadhan (2018) for one variance, here for each pivot and
 * coefficient. Keelson's own.
 */
export interface GroupMapDesign {
  readonly pivots: GaussianHistogramEvent;
  /** For the second column, the third and so on. */
  readonly coefficients: readonly GaussianHistogramEvent[];
  /** The width of a bin for the logarithm of a squared pivot. */
  readonly pivotWidth: number;
  /** In pivots of the column. */
  readonly coefficientWidth: number;
}

interface MapEventsOptions {
  readonly cohort: string;
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
}

/** The events of a map. Every coordinate has the same noise and the same share of delta. */
export function groupMapEvents(
  { cohort, dimension, rho, delta }: MapEventsOptions,
): Pick<GroupMapDesign, 'pivots' | 'coefficients'> {
  const all = (dimension * (dimension + 1)) / 2;
  const event = (name: string, coordinates: number): GaussianHistogramEvent =>
    gaussianHistogramEvent({
      name, cohort, coordinates,
      rho: shareOf(rho, coordinates / all), delta: shareOf(delta, coordinates / all),
    });
  return {
    pivots: event('pivots', dimension),
    coefficients: Array.from({ length: dimension - 1 }, (_, i) =>
      event(`coefficients/${i + 2}`, i + 1)),
  };
}

/** The map and its inverse, or null where groups do not agree. O(groups d^4). */
export function privateGroupMap(
  mechanisms: Mechanisms, groups: Sensitive<readonly GroupFactor[]>, design: GroupMapDesign,
): Released<Preconditioner | null> {
  const { pivots, coefficients, pivotWidth, coefficientWidth } = design;
  const dimension = pivots.coordinates;
  let drawn = mechanisms.histogram(pivots.name, groups.map((list) =>
    countsOf(list, dimension, pivotWidth, ({ factor }) =>
      Float64Array.from({ length: dimension }, (_, i) =>
        2 * ln(factor[i * (dimension + 1)]!)))));
  const logs = placesOf(drawn.value, pivotWidth);
  if (logs === null) return drawn.map(() => null);
  const units = logs.map((log) => Math.exp(log / 2));
  const matrix = new Float64Array(dimension ** 2);
  matrix[0] = 1 / units[0]!;
  for (const { name, coordinates: row } of coefficients) {
    drawn = mechanisms.histogram(name, groups.map((list) =>
      countsOf(list, row, coefficientWidth, (group) =>
        coefficientsOf(group, matrix, row, dimension, units[row]!))));
    const places = placesOf(drawn.value, coefficientWidth);
    if (places === null) return drawn.map(() => null);
    matrix[row * (dimension + 1)] = 1 / units[row]!;
    places.forEach((place, j) => {
      for (let at = 0; at <= j; at++) {
        matrix[row * dimension + at]! -= place * matrix[j * dimension + at]!;
      }
    });
  }
  return drawn.map(() => ({ matrix, inverse: inverseOf(matrix, dimension) }));
}

/** For each coordinate the number of groups in each bin. */
function countsOf(
  list: readonly GroupFactor[], coordinates: number, width: number,
  numbersOf: (group: GroupFactor) => Float64Array,
): readonly ReadonlyMap<number, number>[] {
  const counts = Array.from({ length: coordinates }, () => new Map<number, number>());
  for (const group of list) {
    numbersOf(group).forEach((number, at) => {
      const bin = Math.floor(number / width);
      if (Number.isFinite(bin)) counts[at]!.set(bin, (counts[at]!.get(bin) ?? 0) + 1);
    });
  }
  return counts;
}

/**
 * Where the numbers of each coordinate are: between the fullest bin and one beside it if that was
 * kept too, by their counts. Null if a coordinate kept no bin.
 */
function placesOf(
  kept: readonly (readonly KeptBin[])[], width: number,
): readonly number[] | null {
  const places: number[] = [];
  for (const bins of kept) {
    const [fullest] = bins;
    if (fullest === undefined) return null;
    const beside = bins.find(({ bin }) => Math.abs(bin - fullest.bin) === 1);
    const share = beside === undefined
      ? 0 : beside.noisyCount / (fullest.noisyCount + beside.noisyCount);
    const moved = beside === undefined ? 0 : (beside.bin - fullest.bin) * share;
    places.push(width * (fullest.bin + 0.5 + moved));
  }
  return places;
}

/**
 * How column `row` follows from the columns before it after the map, in a group whose covariance is
 * L L^T. These columns have the root T = map L, so the coefficients c solve T^T c = (row of L).
 */
function coefficientsOf(
  { factor }: GroupFactor, map: Float64Array, row: number, dimension: number, unit: number,
): Float64Array {
  const root = new Float64Array(row ** 2);
  for (let i = 0; i < row; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = j; k <= i; k++) sum += map[i * dimension + k]! * factor[k * dimension + j]!;
      root[i * row + j] = sum;
    }
  }
  const found = factor.slice(row * dimension, row * dimension + row);
  for (let i = row - 1; i >= 0; i--) {
    for (let k = i + 1; k < row; k++) found[i]! -= root[k * row + i]! * found[k]!;
    found[i]! /= root[i * row + i]!;
  }
  return found.map((entry) => entry / unit);
}

/** The inverse of a lower triangular matrix. */
function inverseOf(matrix: Float64Array, dimension: number): Float64Array {
  const inverse = new Float64Array(dimension ** 2);
  for (let j = 0; j < dimension; j++) {
    for (let i = j; i < dimension; i++) {
      let sum = i === j ? 1 : 0;
      for (let k = j; k < i; k++) sum -= matrix[i * dimension + k]! * inverse[k * dimension + j]!;
      inverse[i * dimension + j] = sum / matrix[i * (dimension + 1)]!;
    }
  }
  return inverse;
}
