import { Released, type Sensitive } from '../../base/brands.js';
import { exponentialEvent, gaussianHistogramEvent } from '../accounting/calibration.js';
import {
  countColumnBins, countColumnCells, type CellPlaces,
} from '../../numerics/kernels/column-counts.js';
import {
  columnBinsOfRows, columnCellsOfRows, type KernelRunner,
} from '../../numerics/kernels/shards.js';
import { shareOf } from '../accounting/target.js';
import type { ExponentialEvent, GaussianHistogramEvent } from '../accounting/events.js';
import type { Mechanisms } from '../mechanisms/contract.js';
import type { RowBlock } from './rows.js';

/**
 * A private centre: per coordinate the fullest cell of a coarse stable histogram, then the private
 * median inside a window around it. Outliers move it little: an eta share moves a coordinate by
 * about 1.3 eta spreads.
 *
 * Claim: (rho, delta), delta-approximate zCDP, for one row replaced by anything, including nothing.
 * - The histogram has each row in at most one bin per coordinate: mechanisms/histogram, claim (b),
 *   with half of rho.
 * - The window is a function of the histogram's output. Cells are fixed by it. With L and R the
 *   rows strictly left and right of a cell and N = all rows, the score is -max(0, 2 L - N, 2 R - N)
 *   / 2: minus the number of rows to change before some point of the cell is a median. Replacing a
 *   row keeps N and changes L and R by at most 1, so the score by at most 1; a row more or less
 *   changes 2 L - N and 2 R - N by 1, so the score by 1/2. Hence sensitivity 1 and, by the
 *   exponential mechanism, one choice per coordinate with the other half of rho.
 * Which cell a row is in is one formula for all rows (countColumnCells), a function of the row and
 * of the window alone; rounding may put a row at an edge into the cell beside it, whoever else is
 * there.
 * A cell, not its midpoint, is scored, so that a column whose values all coincide has one best cell
 * rather than none.
 * Source: Karwa and Vadhan 2018 for the range by a stable histogram; McSherry and Talwar 2007 for
 * the median.
 */
const cells = 240;
/** Half the window, in spreads. */
const reach = 6;
/** Width of a histogram bin, in spreads. */
export const binSpreads = 4;

/** Where the noise of a centre is charged. */
export interface CentreOptions {
  readonly cohort: string;
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
  /** Prefix of the events' names; default "centre". */
  readonly name?: string;
}

/**
 * The two events of a centre: `<name>/bins` and `<name>/median`. Their cost is within (rho, delta).
 */
export function centreEvents(
  options: CentreOptions,
): readonly [GaussianHistogramEvent, ExponentialEvent] {
  const { cohort, dimension, delta, name = 'centre' } = options;
  const rho = shareOf(options.rho, 0.5);
  return [
    gaussianHistogramEvent({ name: `${name}/bins`, cohort, coordinates: dimension, rho, delta }),
    medianEvent({ cohort, dimension, rho, name }),
  ];
}

/** The event `<name>/median` of the medians in windows that are known, for rho. */
export function medianEvent(
  { cohort, dimension, rho, name = 'centre' }: Omit<CentreOptions, 'delta'>,
): ExponentialEvent {
  return exponentialEvent({
    name: `${name}/median`, cohort, candidates: cells, sensitivity: 1, times: dimension, rho,
  });
}

/** `failed`: some coordinate had no bin above the threshold; `coordinates` lists them. */
export type Centre =
  | { readonly kind: 'centre'; readonly centre: Float64Array }
  | { readonly kind: 'failed'; readonly coordinates: readonly number[] };

/**
 * Draws the centre with the events of `centreEvents`.
 * @param spread - positive, one number or one per coordinate: the unit that bins and windows are
 *   measured in.
 * Complexity: O(count * dimension), plus noise for every occupied bin.
 */
export function privateCentre(
  mechanisms: Mechanisms,
  rows: Sensitive<RowBlock>,
  dimension: number,
  spread: number | ArrayLike<number>,
  name = 'centre',
): Released<Centre> {
  const steps = new CentreSteps(mechanisms, dimension, spread, name);
  const counts =
    rows.map(({ values, count }) => countColumnBins(values, dimension, count, steps.widths));
  const edges = steps.windows(counts);
  if (edges instanceof Released) return edges;
  return steps.choose(edges, rows.map(({ values, count }) =>
    countColumnCells(values, dimension, count, steps.places(edges))));
}

/** Like `privateCentre`, with the passes over the rows shared among threads; the same centre. */
export async function privateCentreOn(
  runner: KernelRunner,
  mechanisms: Mechanisms,
  rows: Sensitive<RowBlock>,
  dimension: number,
  spread: number | ArrayLike<number>,
  name = 'centre',
): Promise<Released<Centre>> {
  const steps = new CentreSteps(mechanisms, dimension, spread, name);
  const edges =
    steps.windows(await rows.mapAsync((block) => columnBinsOfRows(runner, block, steps.widths)));
  if (edges instanceof Released) return edges;
  return steps.choose(
    edges, await rows.mapAsync((block) => columnCellsOfRows(runner, block, steps.places(edges))),
  );
}

/**
 * Draws the medians in windows about `middles` with the event of `medianEvent`. The second half of
 * the claim above: the windows are public or released.
 * @param middles - one per coordinate, public or released.
 */
export async function privateMediansOn(
  runner: KernelRunner, mechanisms: Mechanisms, rows: Sensitive<RowBlock>, spread: Float64Array,
  middles: Float64Array, name = 'centre',
): Promise<Released<Centre>> {
  const steps = new CentreSteps(mechanisms, spread.length, spread, name);
  const edges = steps.edgesAbout(middles);
  return steps.choose(
    edges, await rows.mapAsync((block) => columnCellsOfRows(runner, block, steps.places(edges))),
  );
}

/** The draws of a centre, apart from the passes over the rows. */
class CentreSteps {
  /** Width of a bin of the histogram, per coordinate. */
  readonly widths: Float64Array;
  readonly #spreads: Float64Array;

  constructor(
    private readonly mechanisms: Mechanisms,
    dimension: number,
    spread: number | ArrayLike<number>,
    private readonly name: string,
  ) {
    this.#spreads = Float64Array.from({ length: dimension }, (_, j) =>
      (typeof spread === 'number' ? spread : spread[j]!));
    this.widths = this.#spreads.map((unit) => binSpreads * unit);
  }

  /**
   * The edges of every coordinate's window, cells + 1 each; a failed centre where some coordinate
   * has no bin.
   */
  windows(counts: Sensitive<readonly Map<number, number>[]>): Float64Array | Released<Centre> {
    const histogram = this.mechanisms.histogram(`${this.name}/bins`, counts);
    const empty = histogram.value.flatMap((bins, j) => (bins.length === 0 ? [j] : []));
    if (empty.length > 0) {
      return histogram.map((): Centre => ({ kind: 'failed', coordinates: empty }));
    }
    return this.edgesAbout(Float64Array.from(histogram.value, (bins, j) =>
      (bins[0]!.bin + 0.5) * this.widths[j]!));
  }

  /** The edges of windows about these numbers. */
  edgesAbout(middles: Float64Array): Float64Array {
    const edges = new Float64Array(middles.length * (cells + 1));
    middles.forEach((middle, j) => {
      edges.set(cellEdges(middle, this.#spreads[j]!), j * (cells + 1));
    });
    return edges;
  }

  /** The cells of windows with these edges. */
  places(edges: Float64Array): CellPlaces {
    return {
      cells,
      lows: this.widths.map((_, j) => edges[j * (cells + 1)]!),
      rates: this.#spreads.map((spread) => cells / (2 * reach * spread)),
    };
  }

  /** @param counts - as `countColumnCells` makes them for the cells of these edges. */
  choose(edges: Float64Array, counts: Sensitive<Float64Array>): Released<Centre> {
    const chosen = Array.from(this.widths, (_, j) => {
      const own = edges.subarray(j * (cells + 1), (j + 1) * (cells + 1));
      const scores =
        counts.map((all) => cellScores(all.subarray(j * (cells + 2), (j + 1) * (cells + 2))));
      return this.mechanisms.exponential(`${this.name}/median`, scores)
        .map((index) => (own[index]! + own[index + 1]!) / 2);
    });
    return Released.all<readonly number[]>(chosen)
      .map((centre) => ({ kind: 'centre', centre: Float64Array.from(centre) }));
  }
}

/**
 * The cells + 1 edges of the window around `middle`; never decreasing, also where doubles are
 * coarser than cells.
 */
function cellEdges(middle: number, spread: number): Float64Array {
  const low = middle - reach * spread;
  const step = (2 * reach * spread) / cells;
  return Float64Array.from({ length: cells + 1 }, (_, k) => low + k * step);
}

/**
 * The score of every cell [edge k, edge k+1): minus the distance, in rows, from holding a median.
 * @param first - rows below all cells, in each of them, and above all.
 */
function cellScores(first: Float64Array): Float64Array {
  const present = first.reduce((sum, rows) => sum + rows, 0);
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
