import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { coreOf, mayHideCore, type Core } from '../../pooled/core-fit.js';
import type { AxisHistogram } from '../../pooled/misses.js';
import { isSmooth } from '../../pooled/smooth-shape.js';
import { axisBins, sumOf } from '../../pooled/valleys.js';
import type { AnyRun } from './any-design.js';
import {
  clusterAbove, clusterBelow, clusterInColumn, limitsOf, type ClusterLimits,
} from './clusters.js';
import { timesTransposed } from './directions.js';
import { axisCounts, removeAlong, type Frame, type MappedRows } from './mapped.js';
import { combined } from './reallocation.js';
import type { Clusters, DiscreteColumns } from './removal.js';

/** Where rows are, and what is known of them. */
interface AlongAxes {
  readonly clusters: Clusters;
  readonly discrete: DiscreteColumns;
  readonly rows: Sensitive<MappedRows>;
  readonly frame: Frame;
  /** Unit axes of the mapped rows, those that show most first. */
  readonly axes: readonly Float64Array[];
  /** Released number of rows. */
  readonly present: number;
}

/** Along these axes discrete columns make more than this share: their gaps look like valleys. */
const discreteMax = 0.3;

/**
 * Draws a histogram along each axis, and removes the clusters that stand apart there, unless they
 * are too many. Where none does, it removes what the core of the rows does not explain
 * (pooled/core-fit), unless one smooth shape explains all rows. Where noise leaves that open, the
 * axis gets one more event, and its histograms are added up.
 * @returns the events that were not needed.
 *
 * Why it costs what was planned. Every event is drawn once at most, on a histogram of the rows left
 * along a released axis; which axis that is, is a function of released counts.
 */
export async function removeAlongAxes(
  { design, mechanisms }: AnyRun, along: AlongAxes,
): Promise<GaussianEvent[]> {
  const { corruption } = design;
  const { clusters, discrete, rows, frame, present } = along;
  const spare = [...design.axes];
  if (corruption === 0) return spare;
  const isAlong = (axis: Float64Array, columns: readonly boolean[]): boolean =>
    discreteShare(timesTransposed(frame.map, axis), columns) > discreteMax;
  for (const axis of along.axes) {
    if (isAlong(axis, discrete.known)) continue;
    const event = spare.shift();
    if (event === undefined) break;
    const draw = ({ name, sigma }: GaussianEvent): AxisHistogram => ({
      counts: mechanisms.gaussian(name, rows.map((left) => axisCounts(left, axis))).value,
      noise: sigma, corruption,
    });
    let histogram = draw(event);
    let bounds = clusterIn(histogram, axis, present);
    let core: Core | null = null;
    while (bounds === null) {
      core = coreOf(histogram);
      if (core !== null || !mayHideCore(histogram) || isSmooth(histogram)) break;
      const again = spare.shift();
      if (again === undefined) break;
      histogram = added(histogram, draw(again));
      bounds = clusterIn(histogram, axis, present);
    }
    clusters.look(histogram.counts, histogram.noise, axis);
    if (bounds === null && core !== null && !isSmooth(histogram)) {
      bounds = fitting(histogram.counts, core, clusters.roomIn(present));
    }
    if (bounds === null) continue;
    if (isAlong(axis, await discrete.drawn())) continue;
    const behind = core === null ? behindAll(histogram, bounds, present)
      : outside(histogram.counts, bounds);
    const gone = core === null ? null : { ...core, axis };
    if (!clusters.allows(behind, histogram.noise, present, gone)) break;
    const { low, high } = bounds;
    rows.map((left) => removeAlong(left, axis, low, high));
  }
  return spare;
}

/** Rows in bins below `low`, and from `high` on, are to be left out. */
type Bounds = Pick<Core, 'low' | 'high'>;

const outside = (counts: Float64Array, { low, high }: Bounds): Float64Array =>
  counts.filter((_, bin) => bin < low || bin >= high);

/** Two histograms of the same rows, weighed by their noise. */
function added(one: AxisHistogram, other: AxisHistogram): AxisHistogram {
  const { sums: counts, sigma: noise } = combined(
    [one, other].map((histogram) => ({ sums: histogram.counts, sigma: histogram.noise })),
  );
  return { ...one, counts, noise };
}

/** Where clusters stand apart, on either side; null: none does. */
function clusterIn(
  { counts, noise, corruption }: AxisHistogram, axis: Float64Array, present: number,
): Bounds | null {
  const limits = limitsOf(present, corruption, noise, axisBins / 4);
  const find = axis.length === 1 ? clusterInColumn : clusterAbove;
  const high = find(counts, limits) ?? axisBins;
  const low = clusterBelow(counts, limits, find) ?? 0;
  return low === 0 && high === axisBins ? null : { low, high };
}

/** The excess of a core, begun farther out until no more rows are in it than may go. */
function fitting(counts: Float64Array, { low, high }: Bounds, room: number): Bounds | null {
  let bounds: Bounds = { low, high };
  while (bounds.low > 0 || bounds.high < axisBins) {
    if (sumOf(outside(counts, bounds)) <= room) return bounds;
    bounds = {
      low: Math.max(0, bounds.low - 1), high: Math.min(axisBins, bounds.high + 1),
    };
  }
  return null;
}

/**
 * The counts of a cluster, with all rows behind an inner valley of the same side, if there is one.
 * A cluster of more rows than may be hostile is honest, and so may be the one that stands behind
 * it.
 */
function behindAll(
  { counts, noise, corruption }: AxisHistogram, { low, high }: Bounds, present: number,
): Float64Array {
  const any: ClusterLimits =
    { ...limitsOf(present, corruption, noise, axisBins / 4), most: present / 2 };
  const from = high === axisBins ? high : Math.min(high, clusterAbove(counts, any) ?? high);
  const below = low === 0 ? low : Math.max(low, clusterBelow(counts, any) ?? low);
  return outside(counts, { low: below, high: from });
}

function discreteShare(axis: Float64Array, discrete: readonly boolean[]): number {
  const square = (entry: number): number => entry * entry;
  const of = axis.reduce((sum, entry, j) => sum + (discrete[j] === true ? square(entry) : 0), 0);
  return of / axis.reduce((sum, entry) => sum + square(entry), 0);
}
