import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Draws } from '../../pooled/centre.js';
import { projectionsOn, type EntryOf, type LeftRows } from '../../pooled/thresholds.js';
import { axisBins, binAlongAxis } from '../../pooled/valleys.js';
import { binOfDistance, distanceBins } from './clusters.js';

/** A number for each row, and its released histogram. */
export interface Histogram {
  readonly entryOf: EntryOf;
  /** Set to 0 where rows are removed. */
  readonly counts: Float64Array;
  /** Standard deviation of a bin. */
  readonly noise: number;
}

/**
 * Releases the histograms along all axes together. At most as many axes as the event is for.
 * Claim and proof: guard-design.
 */
export function histogramsAlong(
  { mechanisms }: Draws, event: GaussianEvent, images: Sensitive<LeftRows>,
  axes: readonly Float64Array[],
): readonly Histogram[] {
  const counted = mechanisms.gaussian(
    event.name, images.map(({ count, dimension, steps, alive }) => {
      const counts = new Float64Array(event.dimension);
      const flat = Float64Array.from(axes.flatMap((axis) => [...axis]));
      for (let i = 0; i < count; i++) {
        if (alive[i] === 0) continue;
        for (let k = 0; k < axes.length; k++) {
          let entry = 0;
          for (let j = 0; j < dimension; j++) {
            entry += flat[k * dimension + j]! * steps[i * dimension + j]!;
          }
          counts[k * axisBins + binAlongAxis(entry)]! += 1;
        }
      }
      return counts;
    }),
  ).value;
  return axes.map((axis, k) => ({
    entryOf: projectionsOn(axis, 1),
    counts: counted.slice(k * axisBins, (k + 1) * axisBins),
    noise: event.sigma,
  }));
}

/** Releases the histogram of the distance. */
export function histogramOfDistance(
  { mechanisms }: Draws, event: GaussianEvent, images: Sensitive<LeftRows>, dimension: number,
): Histogram {
  const entryOf: EntryOf = (steps, offset) => {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += steps[offset + j]! ** 2;
    return Math.sqrt(square);
  };
  const counts = mechanisms.gaussian(event.name, images.map(({ count, steps, alive }) => {
    const counted = new Float64Array(distanceBins);
    for (let i = 0; i < count; i++) {
      if (alive[i] !== 0) counted[binOfDistance(entryOf(steps, i * dimension))]! += 1;
    }
    return counted;
  })).value.slice();
  return { entryOf, counts, noise: event.sigma };
}
