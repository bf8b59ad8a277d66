import type { ReleaseBody } from '../wire/messages.js';
import { ReleaseSeries, type QuestionSeries } from './release-series.js';

/** Totals and smoothed lines of a log of releases. All of it is derived from published numbers. */
export { smoothedLevels, type Level, type Measured } from './local-level.js';
export {
  ReleaseSeries, type NumberSeries, type QuestionSeries, type SeriesFault, type Total,
} from './release-series.js';
export { RunningTotals, type RunningTotal } from '../base/running-totals.js';

/** Why a question has no smoothed line, as a sentence. */
export const seriesFaultText = {
  'noise-unknown': 'its answers do not state Gaussian noise of known size, so nothing says how far '
    + 'to smooth them',
  'keys-change': 'its groups differ between releases: a group that is not shown had a small count, '
    + 'so the shown counts are no fair sample',
  'running-total': 'its answers are totals already, and their noise is shared: sums and smoothed '
    + 'lines of them would count it wrongly',
  'shape-changes': 'its answers changed their shape between releases',
} as const;

/**
 * Smooths the answers of a study's releases over epochs, and adds them up. It costs no privacy,
 * since it reads published numbers only.
 *
 * The model: the exact number moves from epoch to epoch by independent normal steps. Their size is
 * learned from the releases, and the deviations count that it is not known. Where the number jumps
 * rarely and far, the line lags behind a jump and its deviation is too small there.
 * @param releases of one study, in the order of its log.
 * @returns one series for each question, in the study's order. `numbers` has the smoothed lines;
 *   `fault` says why there are none.
 */
export function smooth(releases: Iterable<ReleaseBody>): readonly QuestionSeries[] {
  const series = new ReleaseSeries();
  for (const release of releases) series.take(release);
  return series.questions;
}
