import { Component, type VNode } from 'preact';
import { intervalOf } from '../../src/answers/intervals.js';
import { clockTime, counted, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { chartsMax, reasonInWords, type History, type Row } from '../base/model.js';
import { numbersOf, type NamedNumber } from '../base/numbers.js';
import { historyOf, isUnread, type Followed } from '../base/session.js';
import { NumberCell } from './number-cell.js';

const rowsShown = 50;
/** Most columns on the page. The log has all of them. */
const columnsShown = 6;
const lettersShown = 56;
/** A longer name takes several lines. */
const lettersInLine = 18;
/** A number with its interval needs as much. */
const lettersLeast = 10;

interface LineFacts {
  readonly history: History;
  readonly row: Row;
  /** Index of its row in the history at the time when it was made. */
  readonly place: number;
  readonly columns: readonly NamedNumber[];
}

/** A release never changes, so its row of the table is drawn once. */
class Line extends Component<LineFacts> {
  override shouldComponentUpdate({ row, columns }: LineFacts): boolean {
    return row !== this.props.row || columns.length !== this.props.columns.length;
  }

  override render({ history, row, place, columns }: LineFacts): VNode {
    return lineFor(history, row, place, columns);
  }
}

/**
 * A table of everything in the charts, with the refusals, newest first; and the log as a download.
 */
export function Releases({ followed, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode {
  const { entry, questions } = followed;
  const history = historyOf(followed, place);
  const outcome = history.lastValue?.outcome;
  const numbers = outcome === undefined ? [] : numbersOf(questions[place]!, outcome);
  const listed = thatFit(numbers.slice(0, Math.min(columnsShown, chartsMax)));
  const names = listed.map(({ name }) => name);
  const { rows } = history;
  const hasHalf = outcome !== undefined
    && numbers.slice(0, names.length).some(({ place }) => intervalOf(outcome, place) !== null);
  const first = Math.max(0, rows.length - rowsShown);
  const newest = rows.slice(first)
    .map((row, i) => html`<${Line} key=${String(row.epoch)} history=${history} row=${row}
    place=${first + i} columns=${listed} />`).reverse();
  return html`<section class="card releases"><div class="card-head"><h2>Releases</h2>
      <a class="button" href=${`/v1/releases?study=${entry.id}`} download=${`${entry.name}.jsonl`}>
        Download the log</a></div>
    ${rows.length === 0
      ? html`<p class="quiet">${isUnread(followed)
        ? `${counted(entry.releases, 'release')}, which this page is about to read.`
        : 'The log is empty. The first epoch ends in the first release.'}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Table of releases">
        <table class=${names.length > 2 ? 'wide' : ''}>
        <thead><tr><th scope="col">Epoch</th>
          ${names.length === 0 ? html`<th scope="col" class="refusal">Outcome</th>`
            : names.map((name) =>
              html`<th scope="col" key=${name}><bdi>${name}</bdi></th>`)}
          <th scope="col" class="when">Closed</th></tr></thead>
        <tbody>${newest}</tbody></table></div>
        <p class="quiet small">${footnote(
          history.count, newest.length, hasHalf,
          numbers.length === 0 ? 0 : outcome!.estimate.length - names.length,
        )}</p>`}</section>`;
}

/** The number of names that fit into a wide page, but at least one. */
function thatFit(numbers: readonly NamedNumber[]): readonly NamedNumber[] {
  let letters = 0;
  return numbers.filter(({ name }, i) =>
    (letters += Math.min(Math.max(name.length, lettersLeast), lettersInLine)) <= lettersShown
      || i === 0);
}

function lineFor(
  history: History, { epoch, closedAtMs, refusal, keys }: Row, place: number,
  columns: readonly NamedNumber[],
): VNode {
  return html`<tr><th scope="row">${whole(epoch)}</th>
    ${refusal === null
      ? keys !== null && columns.length === 0
        ? html`<td class="found">${counted(keys, 'group')}</td>`
        : columns.map((words, column) => html`<td key=${column}>
          <${NumberCell} words=${words} ...${history.at(column, place)} /></td>`)
      : html`<td class="refusal" colspan=${Math
        .max(1, columns.length)}>Refused: ${reasonInWords(refusal.reason)}</td>`}
    <td class="when">${clockTime(Number(closedAtMs))}</td></tr>`;
}

function footnote(count: number, listed: number, hasHalf: boolean, hidden: number): string {
  const rows = count > listed ? `The newest ${whole(listed)} of ${whole(count)} releases. ` : '';
  const more = hidden > 0 ? `The log has ${counted(hidden, 'more number')} of each release. ` : '';
  const half = !hasHalf ? '' : '± is half of the 95 % interval. ';
  return `${rows}${half}${more}`
    + 'The downloaded log can be checked offline: keelson verify FILE.';
}
