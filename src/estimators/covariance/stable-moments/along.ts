import { pow } from '../../../base/elementary.js';
import type { RefusedOutcome } from '../../../base/outcome.js';
import { mappedTensor } from './tensors.js';

/**
 * Skewness and excess kurtosis along a direction, from released moments, or why noise leaves no
 * answer. All of it is post-processing.
 *
 * For all rows whatever the kurtosis is at least 1 plus the square of the skewness. An answer below
 * that is impossible. Where noise explains it, the nearest possible one is given; where noise does
 * not, the moments are not those of any rows.
 */
export interface AlongDirection {
  readonly skewness: number;
  /** Null without fourth moments. */
  readonly excess: number | null;
}

/** Released central moments of rows after the map, and the noise of raw ones along any axis. */
export interface ReleasedMoments {
  readonly dimension: number;
  readonly second: Float64Array;
  readonly third: Float64Array;
  readonly fourth: Float64Array | null;
  /** Standard deviations along a unit vector, of orders 1, 2, ...: tensors' noise is isotropic. */
  readonly noises: readonly number[];
}

/** Variance after the map, below which a direction has no shape. */
const leastVariance = 2 ** -10;
/** A variance must be above so many deviations of its noise. */
const standsOut = 4;
/** Largest standard deviations of noise on a skewness and on an excess kurtosis. */
const noiseMost = { skewness: 1, excess: 2 };

/** @param axis - a unit vector. Null: noise hides the shape of the rows along it. */
export function shapeAlong(
  { dimension, second, third, fourth, noises }: ReleasedMoments, axis: Float64Array,
): AlongDirection | null {
  const moment = (tensor: Float64Array, order: number): number =>
    mappedTensor(tensor, order, axis, 1, dimension)[0]!;
  const [, ofSecond, ofThird, ofFourth] = noises as readonly [number, number, number, number];
  const variance = moment(second, 2);
  if (!(variance > Math.max(leastVariance, standsOut * ofSecond))) return null;
  const skewness = moment(third, 3) / pow(variance, 1.5);
  const relative = ofSecond / variance;
  const noise = Math.hypot(ofThird / pow(variance, 1.5), 1.5 * skewness * relative);
  if (!(noise <= noiseMost.skewness)) return null;
  if (fourth === null) return { skewness, excess: null };
  const kurtosis = moment(fourth, 4) / variance ** 2;
  const ofKurtosis = Math.hypot(ofFourth / variance ** 2, 2 * kurtosis * relative);
  const least = 1 + skewness ** 2;
  const missing = least - kurtosis;
  const explained = standsOut * Math.hypot(ofKurtosis, 2 * skewness * noise);
  if (!(ofKurtosis <= noiseMost.excess && missing <= explained)) return null;
  return { skewness, excess: Math.max(kurtosis, least) - 3 };
}

/** The refusal where noise hides the shape along a direction. */
export function shapeHidden(place: number): RefusedOutcome {
  return {
    kind: 'refused',
    reason: 'noise-too-large',
    text: `noise hides how the rows vary along direction ${place + 1}, so that skewness and kurtosis `
      + 'along it would be noise: leave out columns that follow from others, ask for other '
      + 'directions, or wait for more contributors',
  };
}
