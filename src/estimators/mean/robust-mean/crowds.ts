/**
 * Crowds that stand apart from the other rows, in released histograms. A function of released
 * counts, so post-processing.
 *
 * A crowd is behind a valley: a stretch of bins that holds more rows than the bins before it. No
 * tail that falls outwards has a valley, however heavy it is.
 */

/** Bins along an axis, from -8 to 8. The outermost bins are open-ended. */
export const axisBins = 64;
const axisReach = 8;
const axisWidth = (2 * axisReach) / axisBins;
/** The bin of an entry along an axis; every number has one. */
export function axisBinOf(entry: number): number {
  return Math.min(axisBins - 1, Math.max(0, Math.floor((entry + axisReach) / axisWidth)));
}

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

/** Bins of a crowd's stretch, at most. */
const stretchMax = 12;
const valleys = [1, 2, 4] as const;
/** A stretch holds so many times what the valley would hold by its density. */
const rise = 1.25;
/** And so many standard deviations of the noise and of chance more. */
const chance = 3.3;
/** A tail with a variance has at most a third of this share in the open bin. */
const openShare = 0.6;

/**
 * Where the crowd behind the innermost valley begins: a bin; null where there is none.
 * @param counts - released, one per bin.
 */
export function crowdAbove(counts: Float64Array, limits: CrowdLimits): number | null {
  const bins = counts.length;
  const before = [0];
  for (let bin = 0; bin < bins; bin++) before.push(before[bin]! + counts[bin]!);
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
    const low = Math.max(0, inside(start - valley, start));
    for (let end = start + 1; end <= endMax; end++) {
      const factor = (rise * (end - start)) / valley;
      const held = Math.max(0, inside(start, end));
      const doubt = Math.sqrt(
        noise ** 2 * (end - start + factor ** 2 * valley) + held + factor ** 2 * low,
      );
      if (inside(start, end) > factor * low + chance * doubt) {
        return { from: start - valley, end };
      }
    }
  }
  return null;
}
