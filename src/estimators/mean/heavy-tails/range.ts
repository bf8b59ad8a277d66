import { ln } from '../../../base/elementary.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import {
  exponentialEvent, gaussianHistogramEvent,
} from '../../../privacy/accounting/calibration.js';
import type {
  ExponentialEvent, GaussianHistogramEvent,
} from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { countToBeSeen, fullestBinShare } from '../../pooled/fullest-bin.js';

/**
 * Where most rows are, per coordinate: the fullest of many bins.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added.
 * - `public`: bins over a public range. A bin's score is its number of rows, which one row changes
 *   by at most 1. So the exponential mechanism with sensitivity 1 costs its pure epsilon per
 *   coordinate, epsilon^2 / 8 in zCDP. Empty bins are candidates like all others.
 * - `open`: any number of bins, of which only those above a threshold are seen. This is
 *   mechanisms/histogram, claim (b), at (rho, delta) for all coordinates together.
 * An entry outside the public range, or too far to have a bin of its own, is in no bin.
 *
 * Accuracy, for rows of bounded second moment M around their mean: bins are 4 M wide, so by
 * Chebyshev three quarters of the rows are in at most two of them and the fullest holds three
 * eighths. A bin with a share p of the rows is at most M / sqrt(p) from the mean. The paper's bins
 * are as wide as the later clip radius. Narrow ones cost the same, and the radius can be chosen for
 * accuracy alone.
 * Source: Kamath, Singhal and Ullman (2020), Algorithm 1, pure, concentrated and approximate.
 */
export type Range =
  | {
    readonly kind: 'public'; readonly event: ExponentialEvent; readonly low: number;
    readonly width: number;
  }
  | { readonly kind: 'open'; readonly event: GaussianHistogramEvent; readonly width: number };

/** A chosen bin may hold this share of the rows of the fullest one and still be near the mean. */
const chosenBin = 0.5;
/** Planned probability that some coordinate's bin of a public range is not found. */
const failure = 0.01;
/** Choices are scored bin by bin. */
const binsMaximum = 1_000_000;
/** Bin numbers beyond this are no longer distinct doubles. */
const binMaximum = 2 ** 52;

/** Width of a bin, in units of M: by the argument of the accuracy above. */
const binWidth = 4;

interface Place {
  readonly name: string;
  readonly cohort: string;
  readonly dimension: number;
  /** M, in units of spread. */
  readonly bound: number;
}

/**
 * Root mean square distance of a bin's midpoint from a mean that may be anywhere in the bin, in
 * units of M: that of a uniform number.
 */
export const rangeOffset = binWidth / Math.sqrt(12);

/**
 * Bins over [-radius, radius], in units of spread, with a margin for rows of a mean at its end.
 * Null when there would be too many bins.
 */
export function publicRange(
  place: Place & { readonly radius: number; readonly epsilon: number },
): Range | null {
  const { name, cohort, dimension, bound, radius, epsilon } = place;
  const width = binWidth * bound;
  // One more bin at either end, for the rows of a mean that is there.
  const candidates = Math.ceil((2 * radius) / width) + 2;
  if (!(candidates <= binsMaximum)) return null;
  const event = exponentialEvent({
    name, cohort, candidates, sensitivity: 1, times: dimension, epsilon,
  });
  return { kind: 'public', event, low: -(candidates * width) / 2, width };
}

/** Bins everywhere. */
export function openRange(place: Place & { readonly rho: number; readonly delta: number }): Range {
  const { name, cohort, dimension, bound, rho, delta } = place;
  return {
    kind: 'open', width: binWidth * bound, event: gaussianHistogramEvent({
      name, cohort, coordinates: dimension, rho, delta,
    }),
  };
}

/** Rows with which the bins are found 99 times in 100 when a share `corruption` is hostile. */
export function rowsForRange({ event }: Range, dimension: number, corruption: number): number {
  const honest = fullestBinShare.boundedVariance * (1 - corruption);
  if (event.kind === 'gaussian-histogram') {
    return Math.ceil(countToBeSeen(event, dimension) / honest);
  }
  const lost = (2 / event.epsilon) * (ln(event.candidates) + ln(dimension / failure));
  return Math.ceil(lost / (chosenBin * honest));
}

/** Coordinates without a bin above the threshold are `failed`. */
export type FoundRange =
  | { readonly kind: 'found'; readonly centre: Float64Array }
  | { readonly kind: 'failed'; readonly coordinates: readonly number[] };

/** Draws the midpoint of each coordinate's bin. `rows` in units of spread. */
export function releaseRange(
  mechanisms: Mechanisms, range: Range, rows: Sensitive<RowBlock>, dimension: number,
): Released<FoundRange> {
  const coordinates = Array.from({ length: dimension }, (_, j) => j);
  if (range.kind === 'open') {
    const { event, width } = range;
    const counts = rows.map((block) => coordinates.map((j) => openCounts(block, j, width)));
    return mechanisms.histogram(event.name, counts).map((kept) => {
      const empty = kept.flatMap((bins, j) => (bins.length === 0 ? [j] : []));
      if (empty.length > 0) return { kind: 'failed', coordinates: empty };
      return { kind: 'found', centre: Float64Array.from(kept, (bins) =>
        (bins[0]!.bin + 0.5) * width) };
    });
  }
  const { event, low, width } = range;
  const chosen = coordinates.map((j) => mechanisms.exponential(event.name, rows.map((block) =>
    publicCounts(block, j, range))).map((bin) => low + (bin + 0.5) * width));
  return Released.all<readonly number[]>(chosen)
    .map((centre) => ({ kind: 'found', centre: Float64Array.from(centre) }));
}

function openCounts(
  { count, dimension, values }: RowBlock, coordinate: number, width: number,
): Map<number, number> {
  const bins = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const bin = Math.floor(values[row * dimension + coordinate]! / width) + 0;
    if (Math.abs(bin) <= binMaximum) bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  return bins;
}

function publicCounts(
  { count, dimension, values }: RowBlock, coordinate: number, { event, low, width }: Extract<Range,
  { kind: 'public' }>,
): Float64Array {
  const counts = new Float64Array(event.candidates);
  for (let row = 0; row < count; row++) {
    const bin = Math.floor((values[row * dimension + coordinate]! - low) / width);
    if (bin >= 0 && bin < counts.length) counts[bin]! += 1;
  }
  return counts;
}
