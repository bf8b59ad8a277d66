import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { pictureOf } from '../base/answer.js';
import {
  alongOf, axisKey, groupedBy, releaseAt, spanOf, stopsOf,
} from '../base/compare.js';
import { clockTime, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { chartsMax, newestIn, reasonInWords, type Series } from '../base/model.js';
import { possible, unitText, type NumberWords } from '../base/number-words.js';
import { numbersOf } from '../base/numbers.js';
import { studyAddress } from '../base/route.js';
import { follow, historyOf, studies, type Followed } from '../base/session.js';
import { smoothedSeries } from '../base/smoothing.js';
import { versionName, versionPlaces, versionsOf } from '../base/versions.js';
import { closedWithin, comparedMax, comparedName, within, type View } from '../base/view.js';
import type { ChartContent, ChartLine, LineColour } from '../charts/line-chart.js';
import { valueText } from '../base/readout.js';
import { chartPart } from './column.js';

const colours: readonly LineColour[] = ['accent', 'minus', 'good', 'violet'];
const letters = 'ABCD';
/** Room for the numbers beside an axis, so that panels are in line. */
const gutter = 72;

/** The state of the page that a comparison needs. */
export interface CompareFacts {
  /** The study whose page it is. */
  readonly followed: Followed;
  /** One number of the page, for the part of the log that it shows. */
  readonly own: Series;
  readonly view: View;
  readonly onView: (change: Partial<View>) => void;
}

/** One number of the comparison, as far as this page knows it. */
interface Compared {
  readonly name: string;
  readonly letter: string;
  readonly colour: LineColour;
  /** Null where this server has no such study, or its log is not read yet. */
  readonly found: {
    readonly followed: Followed; readonly question: string; readonly words: NumberWords;
    readonly drawn: Series; readonly smoothed: Series | null;
  } | null;
}

/** Several numbers over time. Those that measure the same quantity share one axis. */
export function Compare({ followed, own, view, onView }: CompareFacts): VNode {
  const list = studies.value ?? [];
  const [pointed, setPointed] = useState<number | null>(null);
  const versions = list.map(({ version }) => version.value);
  useFollowed(view.compared, list);
  const ownNow = within(own, view);
  const compared = useMemo(
    () => view.compared.map((name, i) => comparedOf(name, i, list, ownNow, view)),
    [view.compared.join(), view.isSmooth, view.range, view.chosen?.join(), versions.join()],
  );
  const found = compared.flatMap((each) => (each.found === null ? [] : [each.found]));
  const isOneStudy = found.every((each) => each.followed === followed);
  const axis = isOneStudy ? view.axis : 'time';
  const stops = useMemo(() =>
    stopsOf(found.map(({ drawn }) => alongOf(drawn, axis))), [compared, axis]);
  const pinned = view.epoch === null ? -1 : own.epochs.indexOf(view.epoch);
  const pin = alongOf(own, axis)[pinned] ?? null;
  const at = stops[pointed ?? -1] ?? pin;
  const choose = (from: number, to: number): void => {
    const along = alongOf(own, axis);
    const [first, last] = [releaseAt(along, stops[from]! - 1) + 1, releaseAt(along, stops[to]!)];
    if (first <= last) onView({ chosen: [own.epochs[first]!, own.epochs[last]!] });
  };
  const pick = (place: number): void => {
    const epoch = own.epochs[releaseAt(alongOf(own, axis), stops[place]!)];
    if (epoch !== undefined) onView({ epoch: view.epoch === epoch ? null : epoch });
  };
  return html`<section class="card compare" aria-label="Comparison"><div class="card-head">
      <h2>Comparison</h2><p class="quiet small" aria-hidden="true">${at === null ? 'Newest answers'
        : axis === 'time' ? clockTime(at) : `Epoch ${whole(at)}`}</p></div>
    ${groupedBy(compared.filter((each) => each.found !== null), ({ found: each }) =>
      axisKey(each!.words)).map((panel, i, all) => html`<${Panel} key=${all.length === 1 ? 'only'
      : axisKey(panel[0]!.found!.words)} panel=${panel} axis=${axis} stops=${stops}
      pin=${pin} isLast=${i === all.length - 1} list=${list} onPoint=${setPointed} onPick=${pick}
      onBrush=${choose} />`)}
    ${found.length > 0 && stops.length === 0
      && html`<p class="quiet small">None has a release in this part of the log.</p>`}
    <ul class="legend">${compared.map((each) => html`<${LegendLine} key=${each.name} line=${each}
      axis=${axis} at=${at} isOneStudy=${isOneStudy} onRemove=${() =>
        onView({ compared: view.compared.filter((name) => name !== each.name) })} />`)}</ul>
    ${compared.length < comparedMax ? html`<${Adder} list=${list} own=${followed}
      taken=${view.compared} onAdd=${(name: string) =>
        onView({ compared: [...view.compared, name] })} />`
      : html`<p class="quiet small">${whole(comparedMax)} numbers are the most. Remove one to add
        another.</p>`}
    ${view.axis === 'epoch' && !isOneStudy && html`<p class="quiet small">Studies have epochs of their
      own, so they are compared over time.</p>`}</section>`;
}

/** Studies that the page does not follow by itself are followed when they are compared. */
function useFollowed(names: readonly string[], list: readonly Followed[]): void {
  useEffect(() => {
    for (const each of list) {
      if (names.some((name) => each.entry.id.startsWith(name.split('.')[0]!))) follow(each);
    }
  }, [names.join(), list]);
}

function comparedOf(
  name: string, place: number, list: readonly Followed[], own: Series, view: View,
): Compared {
  const [id = '', question = '', slotText] = name.split('.');
  const slot = Number(slotText);
  const mark = { name, letter: letters[place]!, colour: colours[place]! };
  const followed = list.find(({ entry }) => entry.id.startsWith(id));
  const at = followed?.questions.findIndex((each) => each.name === question) ?? -1;
  const words = followed === undefined ? undefined : numbersIn(followed, at)[slot];
  if (followed === undefined || words === undefined) return { ...mark, found: null };
  const history = historyOf(followed, at);
  const isWhole = view.range === 'all' && view.chosen === null;
  const cut = (series: Series): Series => possible(isWhole ? series
    : closedWithin(series, [own.times[0] ?? Infinity, own.times.at(-1) ?? -Infinity]), words);
  const smoothed = view.isSmooth ? smoothedSeries(history, slot) : null;
  return { ...mark, found: {
    followed, question, words, drawn: cut(history.series(slot)),
    smoothed: smoothed && cut(smoothed),
  } };
}

/** The numbers of a question that have a course over time; none before its first answer. */
function numbersIn(followed: Followed, question: number): readonly NumberWords[] {
  const asked = followed.questions[question];
  if (asked === undefined) return [];
  const { lastValue } = historyOf(followed, question);
  if (lastValue === null) return [];
  const { charts } = pictureOf(asked, lastValue.outcome);
  return numbersOf(asked, lastValue.outcome).slice(0, Math.min(charts, chartsMax));
}

/** Numbers on one axis. */
function Panel({ panel, axis, stops, pin, isLast, list, ...pointer }: {
  readonly panel: readonly Compared[]; readonly axis: View['axis'];
  readonly list: readonly Followed[];
  readonly stops: readonly number[]; readonly pin: number | null; readonly isLast: boolean;
  readonly onPoint: (place: number | null) => void; readonly onPick: (place: number) => void;
  readonly onBrush: (from: number, to: number) => void;
}): VNode | null {
  const lines = panel.flatMap(({ found, colour, letter }): ChartLine[] => [
    { series: found!.drawn, colour, look: found!.smoothed === null ? 'answers' : 'behind',
      ...(found!.smoothed === null && { letter }) },
    ...(found!.smoothed === null ? []
      : [{ series: found!.smoothed, colour, look: 'smoothed', letter } as const]),
  ]);
  const notes = axis !== 'time' ? [] : versionPlaces(panel.map(({ found }) => ({
    name: found!.followed.entry.name, times: found!.drawn.times,
    version: versionsOf(found!.followed, list).indexOf(found!.followed),
  })));
  const content = useMemo((): ChartContent =>
    ({ lines, stops, span: spanOf([stops]) ?? [0, 0], pin, notes }), [
    stops, pin, panel.length,
    ...Array.from({ length: comparedMax }, (_, i) => panel[i]?.found),
  ]);
  if (stops.length === 0) return null;
  const [{ found }] = panel as [Compared];
  const { words } = found!;
  // The axis has every value that is possible for one of them.
  const shared = { ...words, least: Math.min(...panel.map((each) => each.found!.words.least)),
    greatest: Math.max(...panel.map((each) => each.found!.words.greatest)) };
  const names = panel.map((each) => `${each.letter}: ${each.found!.words.name}`).join('; ');
  return html`<div class=${`panel${isLast ? ' last' : ''}`}>
    <h3>${words.unit === '' && words.format !== 'people' && words.format !== 'percent' ? words.name
      : words.format === 'percent' ? 'per cent' : words.format === 'people' ? 'people' : words.unit}</h3>
    <${chartPart.View} content=${content} axis=${axis} words=${shared} gutter=${gutter}
      together="compare" ...${pointer} label=${`${names}; over ${axis === 'time' ? 'time' : 'epochs'}; `
        + 'the list below has the numbers'} /></div>`;
}

function LegendLine({ line, axis, at, isOneStudy, onRemove }: {
  readonly line: Compared; readonly axis: View['axis']; readonly at: number | null;
  readonly isOneStudy: boolean; readonly onRemove: () => void;
}): VNode {
  const { found, letter, colour, name } = line;
  const remove = html`<button type="button" class="plain remove" onClick=${onRemove}
    aria-label=${`Remove ${letter}: ${found?.words.name ?? name}`}>×</button>`;
  const key = html`<span class=${`letter line-${colour}`} aria-hidden="true">${letter}</span>`;
  if (found === null) return html`<li>${key}<span class="legend-name quiet">Not here yet: its study
    has no answer, or is not on this server</span>${remove}</li>`;
  const { followed: { entry }, question, words, drawn, smoothed } = found;
  const isList = entry.document.questions.length > 1;
  const version = versionName(found.followed, studies.value ?? []);
  const of = [...(isOneStudy ? [] : [entry.document.title ?? entry.name]),
    ...(isList ? [question] : []), ...(version === null ? [] : [version])].join(', ');
  return html`<li>${key}<span class="legend-name"><a href=${studyAddress(entry.id,
    isList ? question : undefined)}><bdi>${words.name}</bdi></a>${
      of !== '' && html`<span class="quiet small"><bdi>${of}</bdi></span>`}</span>
    <span class="legend-value">${legendText(drawn, smoothed, words, axis, at)}</span>${remove}</li>`;
}

/** The numbers at a place on the axis; the newest ones if nothing is pointed at. */
function legendText(
  drawn: Series, smoothed: Series | null, words: NumberWords, axis: View['axis'], at: number | null,
): string {
  const place = at === null ? newestIn(drawn) : releaseAt(alongOf(drawn, axis), at);
  if (place < 0) return 'no release';
  const refusal = drawn.refusals[place] ?? null;
  if (refusal !== null) return `refused: ${reasonInWords(refusal)}`;
  const more = smoothed === null ? '' : `; smoothed ${valueText(smoothed, place, words)}`;
  return `${valueText(drawn, place, words)}${unitText(words)}${more}`;
}

/** A list of the numbers of all studies, of this one first. */
function Adder({ list, own, taken, onAdd }: {
  readonly list: readonly Followed[]; readonly own: Followed; readonly taken: readonly string[];
  readonly onAdd: (name: string) => void;
}): VNode {
  const ordered = [own, ...list.filter((each) => each !== own)];
  const groups = ordered.map((followed) => {
    const { entry, questions } = followed;
    return { title: entry.document.title ?? entry.name, options: questions.flatMap((asked, i) =>
      numbersIn(followed, i).map(({ name }, slot) => ({
        value: comparedName(entry.id, asked.name, slot),
        text: questions.length > 1 ? `${asked.name}: ${name}` : name,
      }))).filter(({ value }) => !taken.includes(value)) };
  }).filter(({ options }) => options.length > 0);
  if (groups.length === 0) {
    return html`<p class="quiet small">No other number of this server can be added yet.</p>`;
  }
  return html`<label class="field adder"><span class="hidden">Add a number</span><select value=""
    onChange=${(event: Event) => {
      const box = event.currentTarget as HTMLSelectElement;
      if (box.value !== '') onAdd(box.value);
      box.value = '';
    }}><option value="">Add a number…</option>${groups.map(({ title, options }) => html`
      <optgroup key=${title} label=${title}>${options.map(({ value, text }) => html`
        <option key=${value} value=${value}>${text}</option>`)}</optgroup>`)}</select></label>`;
}
