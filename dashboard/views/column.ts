import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { shown, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { later } from '../base/later.js';
import { newestIn, reasonInWords, type Series } from '../base/model.js';

/** Charts are half of the page's code, and the list of studies has none. */
export const chartPart =
  later(() => import('./chart.js').then(({ Chart }) => Chart), 'chart');

/**
 * A number of the estimate: its value now, its intervals, and its course over epochs.
 * `ifHostile`: the newest interval that also holds if contributors lie, in words.
 */
export function Column({ name, series, ifHostile }: {
  readonly name: string; readonly series: Series; readonly ifHostile: string | null;
}): VNode {
  const [pointed, setPointed] = useState<number | null>(null);
  const newest = newestIn(series);
  const now = shown(series.values[newest], halfOf(series, newest));
  return html`<section class="card column"><h3><bdi>${name}</bdi></h3>
    <p class="value">${now}</p>
    <p class="range quiet">${rangeText(series, newest)}</p>
    ${ifHostile !== null && html`<p class="range quiet">${ifHostile}</p>`}
    <${chartPart.View} series=${series} onPoint=${setPointed}
      label=${`${name} over epochs, now ${now}; the table of releases has every number`} />
    <p class="readout quiet" aria-hidden="true">${readoutOf(series, pointed)}</p></section>`;
}

/** Half of the 95 % interval; null if there is none. */
export function halfOf({ lows, highs }: Series, place: number): number | null {
  const [low, high] = [lows[place], highs[place]];
  return typeof low === 'number' && typeof high === 'number' ? (high - low) / 2 : null;
}

function rangeText(series: Series, place: number): string {
  if (place < 0) return 'no answer yet';
  if (series.values[place] === null) return 'no answer';
  const half = halfOf(series, place);
  if (half === null) return 'without an interval';
  if (half === 0) return 'exact';
  return `95 % interval ${shown(series.lows[place], half)} to ${shown(series.highs[place], half)}`;
}

function readoutOf(series: Series, place: number | null): string {
  const refused = series.refusals.filter((reason) => reason !== null).length;
  if (place === null) return refused === 0
    ? ' ' : `× marks ${refused === 1 ? 'an epoch' : 'epochs'} without an answer`;
  const epoch = series.epochs[place];
  if (epoch === undefined) return ' ';
  const reason = series.refusals[place];
  if (reason !== null && reason !== undefined) {
    return `Epoch ${whole(epoch)}: refused, ${reasonInWords(reason)}`;
  }
  const half = halfOf(series, place);
  const plus = half === null || half === 0 ? '' : ` ± ${shown(half, half)}`;
  return `Epoch ${whole(epoch)}: ${shown(series.values[place], half)}${plus}`;
}
