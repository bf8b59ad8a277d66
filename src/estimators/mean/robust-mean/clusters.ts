import {
  clusterShares, runningSums, standsAbove, stretchMax, valleys,
} from '../../pooled/valleys.js';

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
  /** How far a cluster rises above its valley. Default: `certain`. */
  readonly rise?: Rise;
}

/** The limits for a cluster of about the stated share of so many rows. */
export function limitsOf(
  rows: number, corruption: number, noise: number, openAfter: number,
): ClusterLimits {
  const hostile = corruption * rows;
  const { most, least } = clusterShares;
  return { noise, openAfter, most: most * hostile, least: least * hostile };
}

interface Rise {
  /** By more than so many standard deviations of noise and chance. */
  readonly chance: number;
  /** To so many times the valley's density, as counted. */
  readonly times: number;
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
    if (beyond > limits.most || beyond < limits.least) continue;
    const found = valleyBefore(before, start, limits);
    if (found !== null) return edgeIn(counts, found);
  }
  return null;
}

/** Blurs counts over four bins: what repeats every two or three bins vanishes. */
const blur = [1, 2, 2, 1].map((weight) => weight / 6);
const blurredNoise = Math.hypot(...blur);
/** Its valley is shallow in blurred counts, and without one there is none at all. */
const risesBlurred: Rise = { chance: 2, times: 1.15 };

/**
 * Like `clusterAbove`, along one column: a cluster that shows in blurred counts as well. Values on
 * a lattice fill some bins more than others, and what looks like valleys goes once it is blurred.
 */
export function clusterInColumn(counts: Float64Array, limits: ClusterLimits): number | null {
  const last = counts.length - 1;
  const blurred = counts.map((_, bin) => blur.reduce((sum, weight, k) =>
    sum + weight * counts[Math.min(last, Math.max(0, bin + k - 2))]!, 0));
  const seen = { ...limits, noise: blurredNoise * limits.noise, rise: risesBlurred };
  return clusterAbove(blurred, seen) === null ? null : clusterAbove(counts, limits);
}

/** Like `find`, but to the left: rows in bins below the answer are the cluster. */
export function clusterBelow(
  counts: Float64Array, limits: ClusterLimits, find = clusterAbove,
): number | null {
  const found = find(counts.slice().reverse(), limits);
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

/** A cluster that rises so far may be there: a second look tells. */
const possible: Rise = { chance: 2.5, times: 1.5 };

/** True if a cluster may be on the high side, though noise leaves it open. */
export function mayHideAbove(counts: Float64Array, limits: ClusterLimits): boolean {
  return clusterAbove(counts, limits) === null
    && clusterAbove(counts, { ...limits, rise: possible }) !== null;
}

/** Allowance for noise and chance in the open last bin, in standard deviations. */
const openChance = 3.3;

/**
 * A stretch of a cluster is denser than the valley by more than this many standard deviations of
 * noise and chance, and by this factor as counted. Honest shapes have weak shoulders, and to ask
 * that the factor itself be certain would overlook clusters that the noise nearly covers.
 */
const certain: Rise = { chance: 4.5, times: 1.5 };

/** A tail with a variance has at most a third of this share in the open bin. */
const openShare = 0.6;

/**
 * A valley that ends at `start`, and has half of the rows before it: else it is a flank of theirs.
 * Null when no stretch from `start` on rises above one.
 */
function valleyBefore(
  before: readonly number[], start: number, { noise, openAfter, rise = certain }: ClusterLimits,
): Valley | null {
  const bins = before.length - 1;
  const inside = (from: number, to: number): number => before[to]! - before[from]!;
  const open = inside(bins - 1, bins);
  const isOpenCounted = openAfter === 0
    || open > openShare * inside(bins - 1 - openAfter, bins - 1) + openChance * noise;
  const endMax = Math.min(isOpenCounted ? bins : bins - 1, start + stretchMax);
  for (const valley of valleys) {
    if (valley > start || before[start - valley]! < before[bins]! / 2) break;
    for (let end = start + 1; end <= endMax; end++) {
      const stretch = { start, size: end - start, valley };
      if (standsAbove(before, stretch, { noise, chance: rise.chance, times: 1 })
        && standsAbove(before, stretch, { noise, chance: 0, times: rise.times })) {
        return { from: start - valley, end };
      }
    }
  }
  return null;
}
