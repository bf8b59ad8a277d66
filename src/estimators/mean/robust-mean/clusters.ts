import { runningSums, standsAbove, stretchMax, valleys } from '../../pooled/valleys.js';

/** Where clusters begin (pooled/valleys), for both sides of an axis and for distances. */

/** The limits by which rows count as a cluster. */
export interface ClusterLimits {
  /** Standard deviation of the noise of each count. */
  readonly noise: number;
  /** Rows behind a valley, at most and at least. */
  readonly most: number;
  readonly least: number;
  /** Bins that the open-ended last bin is compared with; 0: it counts as any other. */
  readonly openAfter: number;
  /** Standard deviations of noise and chance that the cluster rises by. Default: `certain`. */
  readonly chance?: number;
}

/**
 * Where the cluster behind the innermost valley begins: a bin; null where there is none.
 * @param counts - released, one per bin.
 */
export function clusterAbove(counts: Float64Array, limits: ClusterLimits): number | null {
  const bins = counts.length;
  const before = runningSums(counts);
  const total = before[bins]!;
  for (let start = 1; start < bins; start++) {
    const beyond = total - before[start]!;
    if (before[start]! < total / 2 || beyond > limits.most || beyond < limits.least) continue;
    const found = valleyBefore(before, start, limits);
    if (found !== null) return edgeIn(counts, found);
  }
  return null;
}

/** Like `clusterAbove`, but to the left: rows in bins below the answer are the cluster. */
export function clusterBelow(counts: Float64Array, limits: ClusterLimits): number | null {
  const found = clusterAbove(counts.slice().reverse(), limits);
  return found === null ? null : counts.length - found;
}

/** Bins from a valley to the fullest bin of the cluster behind it. */
interface Valley {
  readonly from: number;
  readonly end: number;
}

/** A cluster is steep if its first bin holds so many times what the valley's last one does. */
const steep = 2;

/**
 * Either end of the emptiest bin before the fullest one. Rows in this bin are mostly honest when
 * the cluster is steep; else they are mostly of the side that falls less steeply over two bins.
 */
function edgeIn(counts: Float64Array, { from, end }: Valley): number {
  let peak = from;
  for (let bin = from; bin < end; bin++) if (counts[bin]! >= counts[peak]!) peak = bin;
  let lowest = Math.min(from, peak - 1);
  for (let bin = lowest; bin < peak; bin++) if (counts[bin]! <= counts[lowest]!) lowest = bin;
  if (counts[lowest + 1]! > steep * Math.max(0, counts[lowest]!)) return lowest + 1;
  const outside = counts[lowest + 1]! + (counts[lowest + 2] ?? 0);
  const inside = (counts[lowest - 1] ?? Infinity) + (counts[lowest - 2] ?? Infinity);
  return outside > inside ? lowest + 1 : lowest;
}

/** A cluster may be there from this many standard deviations on: a second look tells. */
const possible = 2.5;

/** Whether a cluster may be on the high side, though noise leaves it open. */
export function mayHideAbove(counts: Float64Array, limits: ClusterLimits): boolean {
  return clusterAbove(counts, limits) === null
    && clusterAbove(counts, { ...limits, chance: possible }) !== null;
}

/** Allowance for noise and chance in the open last bin, in standard deviations. */
const openChance = 3.3;

/**
 * A stretch of a cluster is denser than the valley by more than this many standard deviations of
 * noise and chance, and by this factor as counted. Honest shapes have weak shoulders, and to ask
 * that the factor itself be certain would overlook clusters that the noise nearly covers.
 */
const certain = 4.5;
const denserAsCounted = 1.5;

/** A tail with a variance has at most a third of this share in the open bin. */
const openShare = 0.6;

/** A valley that ends at `start`; null when no stretch from there on rises above one. */
function valleyBefore(
  before: readonly number[], start: number, { noise, openAfter, chance = certain }: ClusterLimits,
): Valley | null {
  const bins = before.length - 1;
  const inside = (from: number, to: number): number => before[to]! - before[from]!;
  const open = inside(bins - 1, bins);
  const isOpenCounted = openAfter === 0
    || open > openShare * inside(bins - 1 - openAfter, bins - 1) + openChance * noise;
  const endMax = Math.min(isOpenCounted ? bins : bins - 1, start + stretchMax);
  for (const valley of valleys) {
    if (valley > start) break;
    for (let end = start + 1; end <= endMax; end++) {
      const stretch = { start, size: end - start, valley };
      if (standsAbove(before, stretch, { noise, chance, times: 1 })
        && standsAbove(before, stretch, { noise, chance: 0, times: denserAsCounted })) {
        return { from: start - valley, end };
      }
    }
  }
  return null;
}
