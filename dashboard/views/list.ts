import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { pictureOf } from '../base/answer.js';
import { attentionOf, type Attention } from '../base/attention.js';
import { budgetOf } from '../base/budget.js';
import { counted, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { reasonInWords, type Series } from '../base/model.js';
import { possible, type NumberWords } from '../base/number-words.js';
import { numbersOf } from '../base/numbers.js';
import { questionInWords } from '../base/question-words.js';
import { studyAddress } from '../base/route.js';
import { historyOf, isUnread, type Followed } from '../base/session.js';
import { Badge } from '../base/shell.js';
import { isSummarised, summaryOf } from '../base/summary.js';
import { endsAt, shownExtent, within } from '../charts/shown-extent.js';
import { BudgetLine } from './budget.js';
import { numberNow } from '../base/readout.js';
import { EpochLine, useNow } from './status.js';

/** With more studies than this there are a search, a choice of states and an order. */
const controlsFrom = 4;

/** The interval at which the list checks whether an epoch is late. */
const stepMs = 10_000;

/** States by which the list can be narrowed. */
const groups = ['all', 'attention', 'open', 'over'] as const;
type Group = (typeof groups)[number];
const groupWords: Readonly<Record<Group, string>> = {
  all: 'All', attention: 'Needs a look', open: 'Open', over: 'Over',
};

interface Listed {
  readonly followed: Followed;
  readonly attention: Attention;
}

/** Every study of this server, with its newest answer, the most urgent one first. */
export function ListPage({ list }: { readonly list: readonly Followed[] }): VNode {
  const [search, setSearch] = useState('');
  const [group, setGroup] = useState<Group>('all');
  const nowMs = useNow(stepMs);
  const all = list.map((followed): Listed => ({ followed, attention: stateOf(followed, nowMs) }))
    .sort((one, two) => two.attention.level - one.attention.level);
  const counts = Object.fromEntries(groups.map((each) =>
    [each, all.filter((listed) => isIn(listed, each)).length])) as Record<Group, number>;
  const found = all.filter((listed) => isIn(listed, group) && holds(listed.followed, search));
  return html`<main class="page"><div class="title"><div><h1>Studies</h1>
    <p class="quiet subtitle">${whole(list.length)} studies, ${counts.open === list.length
      ? 'all' : whole(counts.open)} of them
      ${' open'}. Every answer is noised, and verified in this browser.</p></div></div>
    ${list.length > controlsFrom && html`<div class="list-controls">
      <label class="list-search"><span class="hidden">Search</span><input type="search"
        placeholder="Search by name, title or column" value=${search}
        onInput=${(event: Event) => setSearch((event.currentTarget as HTMLInputElement).value)} />
      </label>
      <div class="segments" role="group" aria-label="State">${groups.map((each) => html`
        <button key=${each} type="button" aria-pressed=${group === each}
          onClick=${() => setGroup(each)}>${groupWords[each]}
          <span class="count-of">${whole(counts[each])}</span></button>`)}</div></div>`}
    <p class="hidden" role="status">${search === '' ? '' : counted(found.length, 'study')
      .replace('studys', 'studies')}</p>
    ${found.length === 0 && html`<section class="card empty"><h2>No study is like that</h2>
      <button type="button" onClick=${() => { setSearch(''); setGroup('all'); }}>Show all</button>
      </section>`}
    <ul class="studies">${found.map(({ followed, attention }) => html`
      <${StudyCard} key=${followed.entry.id} followed=${followed} attention=${attention} />`)}</ul>
    </main>`;
}

function stateOf(followed: Followed, nowMs: number): Attention {
  const { link, news, histories } = followed;
  const { state, epoch, closesAtMs } = news.value;
  const { last } = historyOf(followed);
  return attentionOf({
    link: link.value.kind, state,
    isRefused: histories.some(({ lastRefusal }) => lastRefusal !== null),
    spentShare: last === null ? null : budgetOf(last, state === 'open' && epoch > 0n).spentShare,
    overdueMs: closesAtMs === null || closesAtMs === 0 ? 0 : nowMs - closesAtMs,
  });
}

function isIn({ followed, attention }: Listed, group: Group): boolean {
  if (group === 'all') return true;
  if (group === 'attention') return attention.level >= 2;
  return (followed.news.value.state === 'open') === (group === 'open');
}

const searched = (text: string): string => text.normalize('NFKC').toLowerCase();

function holds({ entry: { name, document }, questions }: Followed, search: string): boolean {
  const { title = '', description = '', columns, columnWords = [] } = document;
  const text = searched([name, title, description, ...columns,
    ...columnWords.map(({ label = '' }) => label),
    ...questions.map((each) => each.name)].join(' '));
  return searched(search).split(/\s+/).every((word) => text.includes(word));
}

function StudyCard({ followed, attention }: Listed): VNode {
  const { entry, questions } = followed;
  const isList = entry.document.questions.length > 1;
  const { title } = entry.document;
  return html`<li class="card study"><div class="card-head"><h2>
    <a href=${studyAddress(entry.id)}>${title ?? entry.name}</a></h2>
      <${Badge} tone=${attention.tone}><span class=${`dot ${followed.link.value.kind}`}></span>${
        attention.text}<//></div>
    ${entry.document.sealed && html`<${Badge} tone="quiet">Sealed against reading<//>`}
    <p class="quiet small clamp">${isList ? entry.title
      : questionInWords(entry.document, questions[0]!)}</p>
    <div class="card-middle">
    ${isList && html`<h3>${questionInWords(entry.document, questions[0]!)}</h3>`}
    <${Newest} followed=${followed} />
    ${questions.map(({ name }, i) => {
      const { last, lastRefusal } = historyOf(followed, i);
      return lastRefusal !== null && html`<p key=${name} class="warn-text small">Epoch
        ${` ${whole(last!.epoch)}`} has no answer${isList && ` to ${name}`}:
        ${` ${reasonInWords(lastRefusal.reason)}`}.</p>`;
    })}</div>
    <div class="card-foot"><${BudgetLine} followed=${followed} />
      <p class="quiet small"><${EpochLine} followed=${followed} /></p></div></li>`;
}

const numbersShown = 3;

function Newest({ followed }: { readonly followed: Followed }): VNode {
  const { entry, questions } = followed;
  const asked = questions[0]!;
  const history = historyOf(followed);
  const { lastValue } = history;
  if (lastValue === null) {
    const isIdle = followed.link.value.kind === 'idle';
    return html`<p class="quiet waiting">${isUnread(followed)
      && !isIdle ? 'Reading the log' : isUnread(followed)
      ? `${counted(entry.releases, 'release')}, not read yet: open the study to follow it`
      : 'No answer yet'}</p>`;
  }
  const { picture, charts } = pictureOf(asked, lastValue.outcome);
  if (isSummarised(picture, charts)) return html`<dl class="newest">
    ${summaryOf(picture, asked).map(([what, much]) =>
    html`<div class="plain" key=${what}><dt><bdi>${what}</bdi></dt><dd>${much}</dd></div>`)}</dl>`;
  const numbers = numbersOf(asked, lastValue.outcome);
  const listed = numbers.slice(0, Math.min(numbersShown, charts));
  return html`<dl class="newest">${listed.map((words, place) =>
    html`<${NewestNumber} key=${place} words=${words}
      series=${history.series(place)} />`)}
    ${charts > listed.length
      && html`<div class="more quiet small">and ${whole(charts - listed.length)} more</div>`}</dl>`;
}

/** A number with its interval, and its course if there is one. */
function NewestNumber({ words, series }: {
  readonly words: NumberWords; readonly series: Series;
}): VNode {
  const { lead, range } = numberNow(series, words);
  const isLine = series.values.filter((value) => value !== null).length > 1;
  return html`<div class=${isLine ? '' : 'plain'}><dt><bdi>${words.name}</bdi></dt>
    <dd>${lead}<span class="quiet interval">${range.replace('95 % interval ', '')}</span></dd>
    ${isLine && html`<${Sparkline} series=${possible(series, words)} />`}</div>`;
}

const sparkPoints = 60;

/** The course of the newest values inside their band, without a scale: it only shows changes. */
function Sparkline({ series }: { readonly series: Series }): VNode {
  const newest = (list: readonly (number | null)[]): readonly (number | null)[] =>
    list.slice(-sparkPoints);
  const values = newest(series.values);
  const [lows, highs] = [newest(series.lows), newest(series.highs)];
  const shown = shownExtent({ values, lows, highs }) ?? [0, 0];
  const [low, high] = shown;
  // An interval that is cut off, or open, ends at the edge.
  const y = (value: number): string => (high > low
    ? 23 - ((within(value, shown) - low) / (high - low)) * 22 : 12).toFixed(1);
  const step = 100 / Math.max(1, values.length - 1);
  const runs: number[][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    if (runs.at(-1)?.at(-1) === i - 1) runs.at(-1)!.push(i);
    else runs.push([i]);
  });
  const path = (run: readonly number[], heightOf: (i: number) => number | null): string =>
    run.map((i) => `${(i * step).toFixed(1)} ${y(heightOf(i) ?? values[i]!)}`).join('L');
  const end = (side: 0 | 1) => (i: number): number | null => endsAt({ lows, highs }, i)[side];
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
    <path class="spark-band" d=${runs.map((run) =>
      `M${path(run, end(1))}L${path([...run].reverse(), end(0))}Z`).join('')} />
    <path d=${runs.map((run) => `M${path(run, (i) => values[i]!)}`).join('')} /></svg>`;
}
