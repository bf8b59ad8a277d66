import { runningSums, standsAbove, stretchMax, valleys } from '../../pooled/valleys.js';

/** Where crowds begin (pooled/valleys), for both sides of an axis and for distances. */

/** What counts as a crowd. */
export interface CrowdLimits {
  /** Standard deviation of the noise of each count. */
  readonly noise: number;
  /** Rows behind a valley, at most and at least. */
  readonly most: number;
  readonly least: number;
  /** Bins that the open-ended last bin is compared with; 0: it counts as any other. */
  readonly openAfter: number;
}

/** What noise and chance may add, in standard deviations. */
const chance = 3.3;
/** A tail with a variance has at most a third of this share in the open bin. */
const openShare = 0.6;

/**
 * Where the crowd behind the innermost valley begins: a bin; null where there is none.
 * @param counts - released, one per bin.
 */
export function crowdAbove(counts: Float64Array, limits: CrowdLimits): number | null {
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

/** As `crowdAbove`, to the left: rows in bins below the answer are the crowd. */
export function crowdBelow(counts: Float64Array, limits: CrowdLimits): number | null {
  const found = crowdAbove(counts.slice().reverse(), limits);
  return found === null ? null : counts.length - found;
}

/** Bins from a valley to the fullest bin of the crowd behind it. */
interface Valley {
  readonly from: number;
  readonly end: number;
}

/**
 * Either end of the emptiest bin before the fullest one: the end towards the steeper side, since
 * the rows in this bin are mostly of the other one.
 */
function edgeIn(counts: Float64Array, { from, end }: Valley): number {
  let peak = from;
  for (let bin = from; bin < end; bin++) if (counts[bin]! >= counts[peak]!) peak = bin;
  let lowest = Math.min(from, peak - 1);
  for (let bin = lowest; bin < peak; bin++) if (counts[bin]! <= counts[lowest]!) lowest = bin;
  return counts[lowest + 1]! > (counts[lowest - 1] ?? Infinity) ? lowest + 1 : lowest;
}

/** A valley that ends at `start`; null when no stretch from there on rises above one. */
function valleyBefore(
  before: readonly number[], start: number, { noise, openAfter }: CrowdLimits,
): Valley | null {
  const bins = before.length - 1;
  const inside = (from: number, to: number): number => before[to]! - before[from]!;
  const open = inside(bins - 1, bins);
  const isOpenCounted = openAfter === 0
    || open > openShare * inside(bins - 1 - openAfter, bins - 1) + chance * noise;
  const endMax = Math.min(isOpenCounted ? bins : bins - 1, start + stretchMax);
  for (const valley of valleys) {
    if (valley > start) break;
    for (let end = start + 1; end <= endMax; end++) {
      if (standsAbove(before, { start, size: end - start, valley }, { noise, chance })) {
        return { from: start - valley, end };
      }
    }
  }
  return null;
}
