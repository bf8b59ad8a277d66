import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { alongOf } from '../base/compare.js';
import { html } from '../base/html.js';
import { later } from '../base/later.js';
import type { Series } from '../base/model.js';
import { notePlaces, type StudyNote } from '../base/notes.js';
import type { NumberWords } from '../base/number-words.js';
import { numberNow, readoutOf, type LiarsWords } from '../base/readout.js';
import type { View } from '../base/view.js';
import type { ChartContent } from '../charts/line-chart.js';
import { Save } from './save.js';

/** Charts are half of the page's code, and the list of studies has none. */
export const chartPart =
  later(() => import('./chart.js').then(({ Chart }) => Chart), 'chart');

/** A number of the estimate over time. */
export interface ColumnFacts {
  readonly words: NumberWords;
  /** The published numbers of the releases that the page shows. */
  readonly series: Series;
  /** The same numbers as they are drawn: impossible parts are cut off. */
  readonly drawn: Series;
  /** The newest number and its interval, whatever part of the log is drawn. */
  readonly newest: Series;
  /** The smoothed lines of `series` and of `newest`; null where they are not shown. */
  readonly smoothed: { readonly series: Series; readonly newest: Series } | null;
  /** Words about the newest interval with and without liars; null where there is one interval. */
  readonly liars: LiarsWords | null;
  readonly view: View;
  /** Changes the view of all charts of the study. */
  readonly onView: (change: Partial<View>) => void;
  /** The operator's notes about the study. */
  readonly notes: readonly StudyNote[];
  /** The name of the study. */
  readonly study: string;
}

/** A number of the estimate: its value now, its intervals, and its course. */
export function Column(facts: ColumnFacts): VNode {
  const { words, series, drawn, newest, liars, view, onView, notes } = facts;
  const smoothed = facts.smoothed?.series ?? null;
  const [pointed, setPointed] = useState<number | null>(null);
  const { lead, range: interval } = numberNow(newest, words);
  const range = `${interval}${liars?.also ?? ''}`;
  const pinned = view.epoch === null ? -1 : drawn.epochs.indexOf(view.epoch);
  const content = useMemo(() => contentOf(facts, smoothed, pinned),
    [drawn, smoothed, view.axis, pinned, notes]);
  const onPick = (place: number): void => {
    const epoch = drawn.epochs[place]!;
    onView({ epoch: view.epoch === epoch ? null : epoch });
  };
  return html`<section class="card column"><div class="column-head"><h3><bdi>${words.name}</bdi></h3>
      <${Save} words=${words} series=${series} drawn=${drawn} smoothed=${smoothed}
        axis=${view.axis} study=${facts.study} /></div>
    <p class="value">${lead}</p><p class="range quiet">${range}</p>
    ${facts.smoothed !== null && html`<p class="range derived">${
      smoothedNow(facts.smoothed.newest, words)}</p>`}
    ${liars !== null && html`<p class="range quiet small">${liars.honest}</p>`}
    <${chartPart.View} content=${content} axis=${view.axis} words=${words}
      onPoint=${setPointed} onPick=${onPick}
      onBrush=${(from: number, to: number) =>
        onView({ chosen: [drawn.epochs[from]!, drawn.epochs[to]!] })}
      label=${`${words.name} over ${view.axis === 'time' ? 'time' : 'epochs'}, now ${lead}, ${range}; `
        + 'the table of releases has every number'} />
    <p class="readout quiet" aria-hidden="true">${
      readoutOf(drawn, smoothed, words, pointed ?? (pinned < 0 ? null : pinned))}</p></section>`;
}

function contentOf(
  { drawn, notes, view: { axis } }: ColumnFacts, smoothed: Series | null, pinned: number,
): ChartContent {
  const stops = alongOf(drawn, axis);
  return {
    stops, span: [stops[0] ?? 0, stops.at(-1) ?? 0], pin: stops[pinned] ?? null,
    notes: notePlaces(notes, drawn, axis),
    lines: [
      { series: drawn, colour: 'accent', look: smoothed === null ? 'answers' : 'behind' },
      ...(smoothed === null ? []
        : [{ series: smoothed, colour: 'minus', look: 'smoothed' } as const]),
    ],
  };
}

/** `smoothed 8.25 minutes, 95 % band 7.91 to 8.59 minutes`. */
function smoothedNow(newest: Series, words: NumberWords): string {
  const { lead, range } = numberNow(newest, words);
  return `smoothed ${lead}, ${range.replace('interval', 'band')}`;
}
