import { csvText } from '../../client/base/csv.js';
import type { Series } from './model.js';

/**
 * The numbers of a chart as CSV (RFC 4180), one line for each epoch. They have all digits and their
 * sign, as the log has them, and empty fields where there is none.
 * `low95` and `high95` also hold if the stated share of people lies, where a release says how far;
 * two more columns then have the interval for the case that nobody does.
 * @param name of the number.
 * @param smoothed the smoothed line of the same releases, in three more columns; null for none.
 */
export function csvOf(
  { epochs, times, values, lows, highs, honest, refusals }: Series, study: string, name: string,
  smoothed: Series | null = null,
): string {
  const number = (value: number | null | undefined): string =>
    (value === null || value === undefined ? '' : String(value));
  const refusal = (code: string | null | undefined): string =>
    (code === null || code === undefined ? '' : csvText(code));
  const lines = epochs.map((epoch, i) => [
    csvText(study), csvText(name), String(epoch), new Date(times[i]!).toISOString(),
    number(values[i]), number(lows[i]), number(highs[i]), refusal(refusals[i]),
    ...(honest ? [number(honest.lows[i]), number(honest.highs[i])] : []),
    ...(smoothed === null ? []
      : [smoothed.values, smoothed.lows, smoothed.highs].map((list) => number(list[i]))),
  ]);
  const head = ['study', 'name', 'epoch', 'closed_at', 'estimate', 'low95', 'high95', 'refusal',
    ...(honest ? ['low_if_honest95', 'high_if_honest95'] : []),
    ...(smoothed === null ? [] : ['smoothed', 'smoothed_low95', 'smoothed_high95'])];
  return `${[head, ...lines].map((line) => line.join(',')).join('\r\n')}\r\n`;
}
