/**
 * Which bins of a noisy histogram hold rows. A function of released counts, so post-processing.
 */

/** How far counts must stand out, in standard deviations of their noise. */
export interface StandOut {
  /** Bins together, far from all others that stand out. */
  readonly apart: number;
  /** One bin next to some that stand out. Tails thin out, so neighbours need less. */
  readonly beside: number;
  /** Numbers of bins that are looked at together, ascending from 1. */
  readonly widths: readonly number[];
}

/**
 * Several bins together, next to some that stand out. They need more than one bin does, since a
 * stretch of noise would add all of its bins.
 */
const besideTogether = 3.3;

/**
 * Which bins hold more than noise makes likely, alone or some together. The rows of a long tail are
 * few in every single bin. Takes O(bins * widths) for widths up to a constant.
 * @param sigma - standard deviation of the noise of each count.
 */
export function binsThatStandOut(
  counts: Float64Array, sigma: number, { apart, beside, widths }: StandOut,
): readonly boolean[] {
  const seen = Array.from(counts, () => false);
  const mark = (from: number, width: number, least: number): void => {
    let [sum, bins] = [0, 0];
    for (let bin = from; bin < from + width; bin++) {
      if (seen[bin]!) continue;
      sum += counts[bin]!;
      bins += 1;
    }
    if (bins > 0 && sum > least * sigma * Math.sqrt(bins)) seen.fill(true, from, from + width);
  };
  const markBeside = (from: number, width: number): void => {
    if (seen[from - 1] !== true && seen[from + width] !== true) return;
    mark(from, width, width === 1 ? beside : besideTogether);
  };
  for (const width of widths) {
    const last = counts.length - width;
    for (let from = 0; from <= last; from++) mark(from, width, apart);
    for (let from = 0; from <= last; from++) markBeside(from, width);
    for (let from = last; from >= 0; from--) markBeside(from, width);
  }
  return seen;
}
