import type { Released, Sensitive } from '../../../base/brands.js';
import type { GaussianHistogramEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import {
  pairingFor, pairsInFullestBin, privateSpreadOn, spreadEvent, type Pairing, type RowsToPair,
} from '../../../privacy/stages/spread.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { diagonal } from '../../../numerics/vector.js';
import type { Compute } from '../../contract/estimator.js';
import type { VarianceBounds } from '../../covariance/covariance/variance-bounds.js';
import { spreadSlack } from '../../covariance/moments/mapped-rows.js';
import type { Preconditioner } from '../../covariance/moments/preconditioner.js';
import { countToBeSeen } from '../../pooled/fullest-bin.js';
import { usualCorruption } from '../../pooled/spread-choice.js';
import type { StageShare } from './mean-design.js';
import type { GaussianChoice } from './parameters.js';

/**
 * The units in which the rounds of a map begin.
 *
 * - `bounds`: the user gave public bounds on the variance, in data units.
 * - `given`: the user gave spreads, and columns are divided by them.
 * - `found`: spreads are found from pairs of rows (privacy/stages/spread, which has claim and
 *   proof), for a part of rho and delta. Columns are divided by released numbers, which costs
 *   nothing more.
 */
export type UnitsDesign =
  | { readonly kind: 'bounds'; readonly bounds: VarianceBounds }
  | { readonly kind: 'given'; readonly bounds: VarianceBounds; readonly spread: Float64Array }
  | {
    readonly kind: 'found'; readonly bounds: VarianceBounds;
    readonly event: GaussianHistogramEvent; readonly pairing: Pairing;
  };

/** Parts of rho and delta that finding spreads takes. */
export const unitsShare = 0.1;
/** Least variance, in squared spreads, in a direction that is a mixture of columns. */
const varianceLeast = 1e-12;

/**
 * Null where noise would hide the spreads. @param from - rows of the covariance's stage.
 * @param delta - that finding them may spend.
 */
export function unitsDesign(
  { bounds: given, spread, corruption, unit }: GaussianChoice, from: StageShare, dimension: number,
  delta: number,
): UnitsDesign | null {
  if (given !== null) return { kind: 'bounds', bounds: given };
  // The spreads after all columns are divided by them: none is larger than all together.
  const bounds = { varianceLow: varianceLeast, varianceHigh: spreadSlack * dimension };
  // In a subspace the coordinates are others than the columns.
  if (spread !== 'auto' && unit === null) return { kind: 'given', bounds, spread };
  const event = spreadEvent({
    cohort: from.cohort, dimension, rho: shareOf(from.rho, unitsShare), delta, name: 'units',
  });
  if (from.size * pairsInFullestBin < countToBeSeen(event, dimension)) return null;
  return {
    kind: 'found', bounds, event,
    pairing: pairingFor(from.size, event, corruption ?? usualCorruption),
  };
}

/**
 * The map that divides by the spreads, from public or released numbers; null where a coordinate has
 * none. @param rank - coordinates past these are zeros.
 */
export async function privateUnits(
  mechanisms: Mechanisms, compute: Compute, rows: Sensitive<RowsToPair>, rank: number,
  units: Extract<UnitsDesign, { kind: 'found' }>,
): Promise<Released<Preconditioner | null>> {
  const found = await privateSpreadOn(compute, mechanisms, rows, units.pairing, units.event.name);
  return found.map(({ columns }) => {
    const spread = columns.slice(0, rank).map((column) => column?.spread ?? 0);
    return spread.every((entry) => entry > 0) ? dividing(Float64Array.from(spread)) : null;
  });
}

/** Divides by spreads, and its inverse. */
export function dividing(spread: Float64Array): Preconditioner {
  return { matrix: diagonal(spread.map((entry) => 1 / entry)), inverse: diagonal(spread) };
}
