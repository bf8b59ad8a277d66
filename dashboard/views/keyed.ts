import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { spoken, whole } from '../base/format.js';
import { html } from '../base/html.js';
import {
  arranged, keyOrders, type KeyedPicture, type KeyOrder, type KeyRow,
} from '../base/keys.js';
import { plainWords, type NumberWords } from '../base/number-words.js';
import { finite } from '../base/model.js';
import { Badge } from '../base/shell.js';
import { shownExtent, within } from '../charts/shown-extent.js';
import { BarTrack } from './bar-track.js';
import { NumberCell } from './number-cell.js';

/** With more keys than this there is a box that filters them. */
const filterFrom = 12;
/** Keys with more letters than this get more room. */
const lettersShort = 14;
/** A page draws no more keys until it is asked to. */
const rowsFirst = 100;

const orderWords: Readonly<Record<KeyOrder, string>> = {
  listed: 'as in the answer', size: 'largest first', name: 'by name',
};

/** The answer of each key as a bar with its interval. */
export function Keyed({ picture }: { readonly picture: KeyedPicture }): VNode {
  const { rows, words: numbers, by } = picture;
  const [order, setOrder] = useState<KeyOrder>('listed');
  const [filter, setFilter] = useState('');
  const [wanted, setWanted] = useState(0);
  const [isWhole, setIsWhole] = useState(false);
  const number = Math.min(wanted, numbers.length - 1);
  const found = useMemo(
    () => arranged(rows, order, filter, number), [rows, order, filter, number],
  );
  const drawn = isWhole ? found : found.slice(0, rowsFirst);
  const words = numbers[number] ?? plainWords('groups');
  const axis = axisOf(rows, number, words);
  const isAlone = numbers.length === 0;
  const isLong = !isAlone && drawn.some(({ parts }) => parts.join(' ').length > lettersShort);
  const what = words.format !== 'people' ? `${words.name}${unitOf(words)}`
    : numbers.length > 1 ? `contributors, ${words.name},`
      : words.name.replace(/^people/, 'contributors');
  return html`<section class="card keyed"><h2>${sentenceStart(what)} by
      ${` ${by.map(spoken).join(', ')}`}</h2>
    ${isAlone && html`<p class="quiet">The groups that many people are in, without counts. People with
      several groups give each of them less weight.</p>`}
    <div class="key-controls">
      ${numbers.length > 1 && html`<${Choice} label="Number" value=${String(number)}
        onChoose=${(value: string) => setWanted(Number(value))}
        options=${numbers.map(({ name }, i) => [String(i), name])} />`}
      ${rows.length > 1 && html`<${Choice} label="Order" value=${order}
        onChoose=${(value: string) => setOrder(value as KeyOrder)}
        options=${keyOrders.filter((each) => !isAlone || each !== 'size')
          .map((each) => [each, orderWords[each]])} />`}
      ${rows.length > filterFrom && html`<label class="field"><span>Filter</span>
        <input type="search" value=${filter} onInput=${(event: Event) =>
          setFilter((event.currentTarget as HTMLInputElement).value)} /></label>`}</div>
    ${found.length === 0 && html`<p class="quiet">${rows.length === 0
      ? 'No group was found that enough people have.' : 'No group holds this text.'}</p>`}
    <table class=${`bins${isAlone ? ' alone' : ''}${isLong ? ' long' : ''}`}><thead class="hidden"><tr><th scope="col">Group</th>${!isAlone
      && html`<th scope="col">Bar</th><th scope="col">${what}</th>`}</tr></thead>
    <tbody>${drawn.map((row) => html`<${KeyLine} key=${JSON.stringify(row.parts)} row=${row}
      number=${number} axis=${axis} words=${words} />`)}</tbody></table>
    ${found.length > drawn.length && html`<div><button type="button"
      onClick=${() => setIsWhole(true)}>Show all ${whole(found.length)} groups</button></div>`}
    ${rows.some(({ doubt }) => doubt !== null) && html`<p class="quiet small">People sent these
      groups as texts. A look-alike differs from another group only in capitals or in the form of
      its letters. Mixed letters come from several writing systems, and may imitate another group.</p>`}
    </section>`;
}

const unitOf = ({ unit }: NumberWords): string => (unit === '' ? '' : `, in ${unit},`);

function KeyLine({ row, number, axis, words }: {
  readonly row: KeyRow; readonly number: number; readonly axis: readonly [number, number];
  readonly words: NumberWords;
}): VNode {
  const [value, interval] = [row.values[number] ?? null, row.intervals[number] ?? null];
  const { least, greatest } = words;
  const drawn = interval === null ? null
    : [within(interval[0], [least, greatest]), within(interval[1], [least, greatest])];
  return html`<tr><th scope="row"><span class=${row.parts.length > 1 ? 'key-parts' : 'key-part'}>
      ${row.parts.map((part, i) => html`<bdi key=${i}>${part}</bdi>`)}</span>
      ${row.doubt !== null && html`<${Badge} tone="warn">${row.doubt}<//>`}</th>
    ${row.values.length > 0 && html`<td class="bin-bar">${value !== null
      && html`<${BarTrack} axis=${axis} value=${value} interval=${drawn} />`}</td>
    <td class="bin-count">${value === null ? html`<span class="quiet">no answer</span>`
      : html`<${NumberCell} value=${value} interval=${interval}
        words=${words} />`}</td>`}</tr>`;
}

/**
 * From zero, or below it where numbers below zero mean something, to the farthest end that is
 * shown: one wide interval does not make all other bars short.
 */
function axisOf(
  rows: readonly KeyRow[], number: number, { format, least }: NumberWords,
): [number, number] {
  const most = format === 'people' ? 1 : 0;
  // An open end of an interval is infinite, and its whisker goes to the end of the axis.
  const ends = (side: 0 | 1): readonly (number | null)[] =>
    rows.map(({ intervals }) => finite(intervals[number]?.[side]));
  const [low, high] = shownExtent({
    values: rows.map(({ values }) => values[number] ?? null), lows: ends(0), highs: ends(1),
  }) ?? [0, most];
  return [least === 0 ? 0 : Math.min(0, low), Math.max(most, high)];
}

function Choice({ label, value, options, onChoose }: {
  readonly label: string; readonly value: string; readonly onChoose: (value: string) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
}): VNode {
  return html`<label class="field"><span>${label}</span>
    <select value=${value} onChange=${(event: Event) =>
      onChoose((event.currentTarget as HTMLSelectElement).value)}>${options.map(([each, text]) =>
      html`<option key=${each} value=${each} selected=${each === value}>${text}</option>`)}
    </select></label>`;
}

function sentenceStart(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
