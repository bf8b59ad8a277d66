import type { VNode } from 'preact';
import { clockTime, shown, spoken, whole } from '../format.js';
import { html } from '../html.js';
import { chartsMax, labelsOf, reasonInWords, type Series } from '../model.js';
import { historyOf, type Followed } from '../session.js';
import { halfOf } from './column.js';

const rowsShown = 50;
/** More columns than this are in the log, not on the page. */
const columnsShown = 6;

/** Everything that the charts show, and the refusals, as a table, the newest first; and the log to take away. */
export function Releases({ followed }: { readonly followed: Followed }): VNode {
  const { entry } = followed;
  const history = historyOf(followed);
  const size = history.lastValue?.outcome.estimate.length ?? 0;
  const names = labelsOf(entry, size).slice(0, Math.min(columnsShown, chartsMax));
  const series = names.map((_, place) => history.series(place));
  const { rows } = history;
  const first = Math.max(0, rows.length - rowsShown);
  const newest = rows.slice(first).map((row, i) => ({ row, place: first + i })).reverse();
  const offset = rows.length - (series[0]?.epochs.length ?? 0);
  return html`<section class="card releases"><div class="card-head"><h2>Releases</h2>
      <a class="button" href=${`/v1/releases?study=${entry.id}`} download=${`${entry.name}.jsonl`}>
        Download the log</a></div>
    ${rows.length === 0
      ? html`<p class="quiet">The log is empty. The first epoch ends in the first release.</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Table of releases"><table>
        <thead><tr><th scope="col">Epoch</th>
          ${names.map((name) => html`<th scope="col" key=${name}>${spoken(name)}</th>`)}
          <th scope="col">Closed</th></tr></thead>
        <tbody>${newest.map(({ row, place }) => html`<tr key=${String(row.epoch)}>
          <th scope="row">${whole(row.epoch)}</th>
          ${row.refusal === null
            ? series.map((each, i) => html`<td key=${i}>${cell(each, place - offset)}</td>`)
            : html`<td class="refusal" colspan=${Math.max(1, names.length)}>
              Refused: ${reasonInWords(row.refusal.reason)}</td>`}
          <td class="when">${clockTime(Number(row.closedAtMs))}</td>
        </tr>`)}</tbody></table></div>
        <p class="quiet small">${footnote(history.count, newest.length, size - names.length)}</p>`}</section>`;
}

function cell(series: Series, place: number): VNode {
  const half = halfOf(series, place);
  return html`<span>${shown(series.values[place], half)}${half !== null && half > 0
    && html`<span class="quiet"> ± ${shown(half, half)}</span>`}</span>`;
}

function footnote(count: number, listed: number, hidden: number): string {
  const rows = count > listed ? `The newest ${whole(listed)} of ${whole(count)} releases. ` : '';
  const more = hidden > 0 ? `The log has ${whole(hidden)} more of each release. ` : '';
  return `${rows}± is half of the 95 % interval. ${more}`
    + 'The downloaded log can be checked offline: keelson verify FILE.';
}
