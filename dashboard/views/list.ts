import type { VNode } from 'preact';
import { pictureOf } from '../base/answer.js';
import { summaryOf } from '../base/summary.js';
import { counted, shown, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { reasonInWords, type Series } from '../base/model.js';
import { numbersOf } from '../base/numbers.js';
import { studyAddress } from '../base/route.js';
import { historyOf, isUnread, type Followed } from '../base/session.js';
import { BudgetLine } from './budget.js';
import { halfOf } from './column.js';
import { EpochLine, LinkBadge } from './status.js';

/** Every study of this server, with its newest answer. */
export function ListPage({ list }: { readonly list: readonly Followed[] }): VNode {
  const open = list.filter(({ news }) => news.value.state === 'open').length;
  return html`<main class="page"><div class="title"><div><h1>Studies</h1>
    <p class="quiet subtitle">${whole(list.length)} studies, ${open === list.length
      ? 'all' : whole(open)} of them
      ${' open'}. Every answer is noised, and verified in this browser.</p></div></div>
    <ul class="studies">${list.map((each) =>
      html`<${StudyCard} key=${each.entry.id} followed=${each} />`)}</ul>
    </main>`;
}

function StudyCard({ followed }: { readonly followed: Followed }): VNode {
  const { entry, questions } = followed;
  const isList = entry.document.questions !== undefined;
  return html`<li class="card study"><div class="card-head"><h2>
    <a href=${studyAddress(entry.id)}>${entry.name}</a></h2>
      <${LinkBadge} followed=${followed} /></div>
    <p class="quiet small clamp">${entry.title}</p><div class="card-middle">
    ${isList && html`<h3><bdi>${questions[0]!.name}</bdi></h3>`}
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
  // The correlation of columns says more than the variance of each.
  const isPair = picture?.kind === 'matrix' && picture.centre === null;
  if (picture !== null && (charts === 0 || isPair)) return html`<dl class="newest">
    ${summaryOf(picture, asked.columns).map(([what, much]) =>
    html`<div class="plain" key=${what}><dt><bdi>${what}</bdi></dt><dd>${much}</dd></div>`)}</dl>`;
  const names = numbersOf(asked, lastValue.outcome).map(({ name }) => name);
  const series = names.slice(0, Math.min(numbersShown, charts))
    .map((_, place) => history.series(place));
  return html`<dl class="newest">${series.map((each, place) => {
    const at = each.values.findLastIndex((value) => value !== null);
    const isLine = each.values.filter((value) => value !== null).length > 1;
    return html`<div key=${place} class=${isLine ? '' : 'plain'}><dt><bdi>${names[place]!}</bdi></dt>
      <dd>${shown(each.values[at], halfOf(each, at))}</dd>
      ${isLine && html`<${Sparkline} series=${each} />`}</div>`;
  })}
    ${charts > series.length
      && html`<div class="more quiet small">and ${whole(charts - series.length)} more</div>`}</dl>`;
}

const sparkPoints = 60;

/** The course of the newest values, without a scale: it only shows changes. */
function Sparkline({ series }: { readonly series: Series }): VNode {
  const values = series.values.slice(-sparkPoints);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value: number): number => (high > low ? 22 - ((value - low) / (high - low)) * 20 : 12);
  const step = 100 / Math.max(1, values.length - 1);
  let isDrawing = false;
  const path = values.map((value, i) => {
    if (value === null) {
      isDrawing = false;
      return '';
    }
    const word = isDrawing ? 'L' : 'M';
    isDrawing = true;
    return `${word}${(i * step).toFixed(1)} ${y(value).toFixed(1)}`;
  }).join('');
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
    <path d=${path} /></svg>`;
}
