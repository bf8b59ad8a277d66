import { smoothedLevels, type Measured } from '../../client/index.js';
import { within95 } from '../../src/answers/intervals.js';
import type { History, Series } from './model.js';

/** With fewer answers than this, smoothing adds nothing to the published numbers. */
const answersMin = 3;

const isKnown = ({ value }: Measured): boolean => value !== null;

/** True if a number has enough answers that state the noise in them. */
export function canSmooth(history: History, slot: number): boolean {
  // Totals share their noise, so one adds nothing to the evidence about the one before.
  return history.lastValue?.outcome.running === undefined
    && history.measured(slot).filter(isKnown).length >= answersMin;
}

/**
 * The smoothed line of one number of a study, with its 95 % band; null where too few answers state
 * the noise in them. It is computed from published numbers. Cost: O(releases).
 */
export function smoothedSeries(history: History, slot: number): Series | null {
  if (!canSmooth(history, slot)) return null;
  const { epochs, times, refusals } = history.series(slot);
  const levels = smoothedLevels(history.measured(slot));
  const bands = levels.map((level) =>
    (level === null ? null : within95(level.value, level.deviation)));
  return {
    epochs, times, refusals, values: levels.map((level) => level?.value ?? null),
    lows: bands.map((band) => band?.[0] ?? null), highs: bands.map((band) => band?.[1] ?? null),
  };
}
