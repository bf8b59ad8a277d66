import type { Sensitive } from '../../base/brands.js';
import { sharedBytes } from '../../numerics/kernels/shards.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { binOf, fitHistogram, histogramBins, type HistogramFit } from './projected-histogram.js';

/** Rows of which some are left. */
export interface LeftRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major. */
  readonly steps: Float64Array;
  /** 0 for rows that were removed, or were never there. Changed by `removeOutside`. */
  readonly alive: Uint8Array;
  /**
   * Where removed rows are marked, for moments that are kept: those removed since the last ones.
   */
  readonly known?: { gone: Uint8Array | null };
}

/** A number for the row that starts at `offset` of `steps`, from this row and released numbers. */
export type EntryOf = (steps: Float64Array, offset: number) => number;

/** Along an axis, in units of `1 / grid` steps. */
export function projectionsOn(axis: Float64Array, grid: number): EntryOf {
  return (steps, offset) => {
    let sum = 0;
    for (let j = 0; j < axis.length; j++) sum += axis[j]! * steps[offset + j]!;
    return sum * grid;
  };
}

/**
 * Releases the histogram of the rows that are left, and fits it; null when noise hides it.
 *
 * Claim. The cost of `event`, whose sensitivity is sqrt 2.
 * Neighbours. One row of those left replaced by any other, or by none.
 * Why. Every row is in one bin, by a function of itself and of released numbers.
 */
export function histogramAlong(
  mechanisms: Mechanisms, event: GaussianEvent, rows: Sensitive<LeftRows>, entryOf: EntryOf,
  leastThreshold: number,
): HistogramFit | null {
  const counts = mechanisms.gaussian(event.name, rows.map(({ count, dimension, steps, alive }) => {
    const bins = new Float64Array(histogramBins);
    for (let i = 0; i < count; i++) {
      if (alive[i] !== 0) bins[binOf(entryOf(steps, i * dimension))]! += 1;
    }
    return bins;
  }));
  return fitHistogram(counts.value, event.sigma, leastThreshold);
}

/** Removes rows whose entry is below `low` or at least `high`, both released. */
export function removeOutside(
  rows: Sensitive<LeftRows>, entryOf: EntryOf, low: number, high: number,
): void {
  if (low === -Infinity && high === Infinity) return;
  rows.map(({ count, dimension, steps, alive, known }) => {
    const gone = known === undefined ? null : known.gone ??= sharedBytes(count);
    for (let i = 0; i < count; i++) {
      if (alive[i] === 0) continue;
      const entry = entryOf(steps, i * dimension);
      if (!(entry < low || entry >= high)) continue;
      alive[i] = 0;
      if (gone !== null) gone[i] = 1;
    }
  });
}
