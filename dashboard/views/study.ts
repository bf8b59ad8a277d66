import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { pictureOf } from '../answer.js';
import { clockTime, sentence, whole } from '../format.js';
import { html } from '../html.js';
import { chartsMax, reasonInWords } from '../model.js';
import { numbersOf } from '../numbers.js';
import { historyOf, studies, type Followed } from '../session.js';
import { Notice } from '../shell.js';
import { Budget, Guarantee } from './budget.js';
import { Column } from './column.js';
import { Question, Verification } from './facts.js';
import { PictureView } from './pictures.js';
import { Releases } from './releases.js';
import { EpochLine, LinkBadge, LinkNotice } from './status.js';

/** Everything about one study. */
export function StudyPage({ followed }: { readonly followed: Followed }): VNode {
  const { entry } = followed;
  const others = (studies.value?.length ?? 0) > 1;
  return html`<main class="page">
    ${others && html`<nav aria-label="Breadcrumb"><a class="back" href="#/">← All studies</a></nav>`}
    <div class="title"><div><h1>${entry.name}</h1><p class="quiet subtitle">${entry.title}</p></div>
      <div class="title-state"><span role="status"><${LinkBadge} followed=${followed} /></span>
        <span class="quiet"><${EpochLine} followed=${followed} /></span></div></div>
    <${LinkNotice} followed=${followed} /><${RefusalNotice} followed=${followed} />
    <div class="split"><div class="answers"><${Answer} followed=${followed} /></div>
      <div class="side"><${Budget} followed=${followed} /><${Verification} followed=${followed} />
        <${Guarantee} followed=${followed} /></div>
      <div class="rest"><${Releases} followed=${followed} /><${Question} followed=${followed} /></div></div></main>`;
}

function RefusalNotice({ followed }: { readonly followed: Followed }): VNode | null {
  const { last, lastValue } = historyOf(followed);
  if (last?.outcome.kind !== 'refused') return null;
  const { reason, text } = last.outcome;
  return html`<${Notice} tone="warn" title=${`Epoch ${whole(last.epoch)} has no answer: ${reasonInWords(reason)}.`}>
    ${sentence(text)} Its privacy was spent all the same.
    ${lastValue !== null && ` The numbers below are from epoch ${whole(lastValue.epoch)}.`}<//>`;
}

/** The newest answer: as a picture where it is one, and over epochs. */
function Answer({ followed }: { readonly followed: Followed }): VNode {
  const { entry, link, news, version } = followed;
  const history = historyOf(followed);
  const found = history.lastValue === null ? null : pictureOf(entry, history.lastValue.outcome);
  const charts = Math.min(found?.charts ?? 0, chartsMax);
  const series = useMemo(
    () => Array.from({ length: charts }, (_, place) => history.series(place)), [version.value, charts],
  );
  if (history.lastValue === null || found === null) {
    const isOver = news.value.state !== 'open';
    return html`<${NoAnswer} isReading=${!['live', 'ended'].includes(link.value.kind)} isOver=${isOver} refused=${history.refused} />`;
  }
  const names = numbersOf(entry, history.lastValue.outcome).map(({ name }) => name);
  const { columns, parameters } = entry.document;
  const column = columns[typeof parameters['column'] === 'number' ? parameters['column'] : 0] ?? '';
  const { epoch, closedAtMs } = history.lastValue;
  return html`<div class="answer-parts">
    <p class="quiet as-of">Answer of epoch ${whole(epoch)}, closed ${clockTime(Number(closedAtMs))}</p>
    ${found.picture !== null && html`<${PictureView} picture=${found.picture} columns=${columns} column=${column} />`}
    <div class="columns">${series.map((each, place) => html`
      <${Column} key=${place} name=${names[place] ?? ''} series=${each} />`)}</div>
    ${found.charts > charts && html`<p class="quiet small">Charts of the first ${charts} of ${whole(found.charts)}
      ${' numbers'}; the downloaded log has all.</p>`}</div>`;
}

interface NoAnswerFacts {
  readonly isReading: boolean;
  readonly isOver: boolean;
  /** Epochs that ended without an answer. */
  readonly refused: number;
}

/** Not an error: the first epoch is not over yet, or the log is still on its way, or every epoch refused. */
function NoAnswer({ isReading, isOver, refused }: NoAnswerFacts): VNode {
  const [title, text] = isReading
    ? ['Reading the log', 'The server is asked for the releases so far.']
    : isOver
      ? ['No answer', 'This study ended before it had one.']
      : refused > 0
        ? ['No answer yet', `${refused === 1 ? 'The only epoch so far' : `All ${whole(refused)} epochs so far`} ended without one.`
          + ' The next may have one: it appears here by itself.']
        : ['No answer yet', 'The first one comes when the open epoch closes. It appears here by itself.'];
  return html`<section class="card empty">
    ${!isOver && html`<div class="pulse" aria-hidden="true"><span></span><span></span><span></span></div>`}
    <h2>${title}</h2><p class="quiet">${text}</p></section>`;
}
