import { Released, type Sensitive } from '../base/brands.js';
import { exponentialEvent, gaussianHistogramEvent } from './calibration.js';
import { shareOf } from './target.js';
import type { ExponentialEvent, GaussianHistogramEvent } from './events.js';
import type { Mechanisms } from './mechanisms/contract.js';
import type { RowBlock } from './rows.js';

/**
 * P10, a private centre: per coordinate the fullest cell of a coarse stable histogram, then the private median inside
 * a window around it. Outliers move it little: an eta share moves a coordinate by about 1.3 eta scales.
 *
 * Claim: (rho, delta), delta-approximate zCDP, for one row replaced by anything, including nothing.
 * - The histogram has each row in at most one bin per coordinate: mechanisms/histogram, claim (b), with half of rho.
 * - The window is a function of the histogram's output. Cells are fixed by it. With L and R the rows strictly left and
 *   right of a cell and N = all rows, the score is -max(0, 2 L - N, 2 R - N) / 2: minus the number of rows to change
 *   before some point of the cell is a median. Replacing a row keeps N and changes L and R by at most 1, so the score
 *   by at most 1; a row more or less changes 2 L - N and 2 R - N by 1, so the score by 1/2. Hence sensitivity 1 and, by
 *   the exponential mechanism, one choice per coordinate with the other half of rho.
 * A cell, not its midpoint, is scored, so that a column whose values all coincide has one best cell rather than none.
 */
const cells = 240;
/** Half the window, in scales. */
const reach = 6;
/** Width of a histogram bin, in scales. */
const binScales = 4;
/** Bin numbers beyond this are no longer distinct doubles; such an entry is in no bin. */
const binMaximum = 2 ** 52;

/** Where the noise of a centre is charged. */
export interface CentreAsked {
  readonly cohort: string;
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
  /** Prefix of the events' names; default "centre". */
  readonly name?: string;
}

/** The two events of a centre: `<name>/bins` and `<name>/median`. Their cost is within (rho, delta). */
export function centreEvents(asked: CentreAsked): readonly [GaussianHistogramEvent, ExponentialEvent] {
  const { cohort, dimension, delta, name = 'centre' } = asked;
  const rho = shareOf(asked.rho, 0.5);
  return [
    gaussianHistogramEvent({ name: `${name}/bins`, cohort, coordinates: dimension, rho, delta }),
    exponentialEvent({ name: `${name}/median`, cohort, candidates: cells, sensitivity: 1, times: dimension, rho }),
  ];
}

/** `failed`: some coordinate had no bin above the threshold; `coordinates` lists them. */
export type Centre =
  | { readonly kind: 'centre'; readonly centre: Float64Array }
  | { readonly kind: 'failed'; readonly coordinates: readonly number[] };

/**
 * Draws the centre with the events of `centreEvents`.
 * @param scale - positive, one number or one per coordinate: the spread that bins and windows are measured in.
 * Complexity: O(count * dimension), plus noise for every occupied bin.
 */
export function privateCentre(
  mechanisms: Mechanisms,
  rows: Sensitive<RowBlock>,
  dimension: number,
  scale: number | ArrayLike<number>,
  name = 'centre',
): Released<Centre> {
  const scaleOf = (j: number): number => (typeof scale === 'number' ? scale : scale[j]!);
  const histogram = mechanisms.histogram(`${name}/bins`, rows.map((block) =>
    Array.from({ length: dimension }, (_, j) => countBins(block, j, binScales * scaleOf(j)))));
  const empty = histogram.value.flatMap((bins, j) => (bins.length === 0 ? [j] : []));
  if (empty.length > 0) return histogram.map(() => ({ kind: 'failed', coordinates: empty }));
  const chosen = Array.from({ length: dimension }, (_, j) => {
    const width = binScales * scaleOf(j);
    const edges = cellEdges((histogram.value[j]![0]!.bin + 0.5) * width, scaleOf(j));
    const cell = mechanisms.exponential(`${name}/median`, rows.map((block) => cellScores(block, j, edges)));
    return cell.map((index) => (edges[index]! + edges[index + 1]!) / 2);
  });
  return Released.all<readonly number[]>(chosen)
    .map((centre) => ({ kind: 'centre', centre: Float64Array.from(centre) }));
}

/** Rows per bin of one coordinate. Entries that are not finite, or too far to have a bin of their own, are in none. */
function countBins({ count, dimension, values }: RowBlock, coordinate: number, width: number): Map<number, number> {
  const bins = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    const bin = Math.floor(values[row * dimension + coordinate]! / width) + 0;
    if (!(Math.abs(bin) <= binMaximum)) continue;
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  return bins;
}

/** The cells + 1 edges of the window around `middle`; never decreasing, also where doubles are coarser than cells. */
function cellEdges(middle: number, scale: number): Float64Array {
  const low = middle - reach * scale;
  const step = (2 * reach * scale) / cells;
  return Float64Array.from({ length: cells + 1 }, (_, k) => low + k * step);
}

/** The score of every cell [edge k, edge k+1): minus the distance, in rows, from holding a median. */
function cellScores({ count, dimension, values }: RowBlock, coordinate: number, edges: Float64Array): Float64Array {
  // first[k]: rows whose first edge above them is edge k; so rows below edge k are first[0] + ... + first[k].
  const first = new Float64Array(cells + 2);
  const low = edges[0]!;
  const rate = cells / (edges[cells]! - low);
  let present = 0;
  for (let row = 0; row < count; row++) {
    const entry = values[row * dimension + coordinate]!;
    if (!Number.isFinite(entry)) continue;
    present += 1;
    let k = Math.min(cells + 1, Math.max(0, Math.floor((entry - low) * rate) + 1)) || 0;
    // The guess may be off by rounding; the comparisons decide.
    while (k > 0 && edges[k - 1]! > entry) k -= 1;
    while (k <= cells && edges[k]! <= entry) k += 1;
    first[k]! += 1;
  }
  const scores = new Float64Array(cells);
  let below = first[0]!;
  for (let k = 0; k < cells; k++) {
    const left = below;
    below += first[k + 1]!;
    const right = present - below;
    scores[k] = -Math.max(0, 2 * left - present, 2 * right - present) / 2;
  }
  return scores;
}
