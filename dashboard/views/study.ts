import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { findingText, questionsOf } from '../../client/index.js';
import { pictureOf } from '../base/answer.js';
import { clockTime, counted, sentence, shown, spoken, whole } from '../base/format.js';
import { html } from '../base/html.js';
import {
  chartsMax, hostileRangeText, intervalOf, reasonInWords, type ValueOutcome,
} from '../base/model.js';
import { numbersOf } from '../base/numbers.js';
import { historyOf, studies, type Followed } from '../base/session.js';
import { canSmooth, isSmooth, smoothedSeries } from '../base/smoothing.js';
import { Notice } from '../base/shell.js';
import { Budget, Guarantee } from './budget.js';
import { Column } from './column.js';
import { Question, Verification } from './facts.js';
import { PictureView } from './pictures.js';
import { Releases } from './releases.js';
import { SmoothSwitch } from './smoothing.js';
import { EpochLine, LinkBadge, LinkNotice } from './status.js';

/** Most numbers that are listed without a chart. The log has all of them. */
const unchartedMax = 60;

/** Everything about one study. */
export function StudyPage({ followed }: { readonly followed: Followed }): VNode {
  const { entry } = followed;
  const others = (studies.value?.length ?? 0) > 1;
  return html`<main class="page">
    ${others
      && html`<nav aria-label="Breadcrumb"><a class="back" href="#/">← All studies</a></nav>`}
    <div class="title"><div><h1>${entry.name}</h1><p class="quiet subtitle">${entry.title}</p></div>
      <div class="title-state"><span role="status"><${LinkBadge} followed=${followed} /></span>
        <span class="quiet"><${EpochLine} followed=${followed} /></span></div></div>
    <${Notices} followed=${followed} />
    <div class="split"><div class="answers"><${Answer} followed=${followed} /></div>
      <div class="side"><${Budget} followed=${followed} /><${Verification} followed=${followed} />
        <${Guarantee} followed=${followed} /></div>
      <div class="rest"><${Releases} followed=${followed} />
      <${Question} followed=${followed} /></div></div></main>`;
}

/**
 * Text for screen readers. It leaves out the progress of reading a long log, and everything that is
 * an alert already.
 */
function Notices({ followed }: { readonly followed: Followed }): VNode {
  const { kind } = followed.link.value;
  const ofLink = html`<${LinkNotice} followed=${followed} />`;
  const isStatus = !['catching-up', 'failed', 'error'].includes(kind);
  return html`${!isStatus && ofLink}<div class="notices" role="status">${isStatus && ofLink}
    <${RefusalNotice} followed=${followed} /></div>`;
}

function RefusalNotice({ followed }: { readonly followed: Followed }): VNode | null {
  const { last, lastRefusal, lastValue } = historyOf(followed);
  if (last === null || lastRefusal === null) return null;
  const { reason, text } = lastRefusal;
  return html`<${Notice} tone="warn" title=${`Epoch ${whole(last.epoch)} has no answer: `
    + `${reasonInWords(reason)}.`}>
    ${sentence(text)} Its privacy was spent all the same.
    ${lastValue !== null && ` The numbers below are from epoch ${whole(lastValue.epoch)}.`}<//>`;
}

/** The newest answer: as a picture if it has one, and over epochs. */
function Answer({ followed }: { readonly followed: Followed }): VNode {
  const { entry, link, news, version } = followed;
  const history = historyOf(followed);
  const found = history.lastValue === null ? null : pictureOf(entry, history.lastValue.outcome);
  const charts = Math.min(found?.charts ?? 0, chartsMax);
  const series = useMemo(
    () => Array.from({ length: charts }, (_, place) => history.series(place)),
    [version.value, charts],
  );
  const smoothed = useMemo(
    () => series.map((_, place) => (isSmooth.value ? smoothedSeries(history, place) : null)),
    [series, isSmooth.value],
  );
  if (history.lastValue === null || found === null) {
    const isOver = news.value.state !== 'open';
    return html`<${NoAnswer} isReading=${!['live', 'ended']
      .includes(link.value.kind)} isOver=${isOver} refused=${history.refused} />`;
  }
  const { outcome } = history.lastValue;
  const numbers = numbersOf(entry, outcome);
  const names = numbers.map(({ name }) => name);
  const { columns } = entry.document;
  const { parameters } = questionsOf(entry.document)[0]!;
  const column = columns[typeof parameters['column'] === 'number' ? parameters['column'] : 0] ?? '';
  const { epoch, closedAtMs } = history.lastValue;
  return html`<div class="answer-parts">
    <p class="quiet as-of">Answer of epoch ${whole(
      epoch,
    )}, closed ${clockTime(Number(closedAtMs))}</p>
    <${Findings} outcome=${outcome} columns=${columns} />
    ${found.picture !== null
      && html`<${PictureView} picture=${found.picture} columns=${columns} column=${column} />`}
    ${series.some((_, place) => canSmooth(history, place)) && html`<${SmoothSwitch} />`}
    <div class=${charts > 4 ? 'columns many' : 'columns'}>${series.map((each, place) => html`
      <${Column} key=${place} name=${names[place] ?? ''} series=${smoothed[place] ?? each}
        ifHostile=${(smoothed[place] ?? null) !== null ? null
          : hostileRangeText(outcome, numbers[place]?.place ?? place, parameters)} />`)}</div>
    ${found.charts > charts && found.picture === null
      && html`<${Uncharted} outcome=${outcome} names=${names}
      charts=${charts} />`}
    <${IntervalInWords} outcome=${outcome} /></div>`;
}

/** What people should know of the rows before they rely on the answer. */
function Findings({ outcome, columns }: {
  readonly outcome: ValueOutcome; readonly columns: readonly string[];
}): VNode | null {
  const { findings = [] } = outcome;
  if (findings.length === 0) return null;
  const names = columns.map(spoken);
  return html`<${Notice} tone="accent" title="Before you rely on this answer">
    ${findings.map((finding) => html`<p key=${finding.reason}>${
      findingText(finding, names)}</p>`)}<//>`;
}

/** The present values of the numbers that have no chart. */
function Uncharted({ outcome, names, charts }: {
  readonly outcome: ValueOutcome; readonly names: readonly string[]; readonly charts: number;
}): VNode {
  const { estimate } = outcome;
  const line = (name: string, place: number): VNode => {
    const interval = intervalOf(outcome, place);
    const half = interval === null ? null : (interval[1] - interval[0]) / 2;
    return html`<div key=${place}><dt>${spoken(name)}</dt>
      <dd>${shown(estimate[place], half)}${half !== null && half > 0
      && html`<span class="quiet"> ± ${shown(half, half)}</span>`}</dd></div>`;
  };
  const listed = names.slice(charts, charts + unchartedMax);
  const left = names.length - charts - listed.length;
  return html`<section class="card"><h2>The other ${counted(names.length - charts, 'number')}</h2>
    <dl class="facts rest-of-numbers">${listed.map((name, i) => line(name, charts + i))}</dl>
    ${left > 0
      && html`<p
        class="quiet small">${whole(left)} more are in the downloaded log.</p>`}</section>`;
}

/** What an interval covers, in words. */
function IntervalInWords({ outcome }: { readonly outcome: ValueOutcome }): VNode | null {
  if (intervalOf(outcome, 0) === null) return null;
  const covers = outcome.interval95 === undefined
    ? 'It counts the noise that was added for privacy. It does not count chance in who took part.'
    : 'It counts the noise that was added for privacy. It also counts chance in who took part, as '
      + 'far as the estimator knows it.';
  return html`<details><summary>What an interval says</summary>
    <p class="small">In about 95 of 100 epochs the interval holds the
    value that the study asks for. ${covers} It does not count what liars can shift: ${
      outcome.intervalIfHostile95 === undefined
        ? 'see what is promised about them'
        : 'the second interval of each number counts that, too'}.</p></details>`;
}

interface NoAnswerFacts {
  readonly isReading: boolean;
  readonly isOver: boolean;
  /** Number of epochs that ended without an answer. */
  readonly refused: number;
}

/**
 * Not an error: the first epoch is not over, or the log is still being read, or every epoch
 * refused.
 */
function NoAnswer({ isReading, isOver, refused }: NoAnswerFacts): VNode {
  const [title, text] = isReading
    ? ['Reading the log', 'The server is asked for the releases so far.']
    : isOver
      ? ['No answer', 'This study ended before it had an answer.']
      : refused > 0
        ? ['No answer yet', `${counted(refused, 'epoch')} so far, and none had an answer.`
          + ' A later answer appears here by itself.']
        : [
          'No answer yet',
          'The first answer comes when the open epoch closes. It appears here by itself.',
        ];
  return html`<section class="card empty">
    ${!isOver
      && html`<div class="pulse" aria-hidden="true"><span></span><span></span><span></span></div>`}
    <h2>${title}</h2><p class="quiet">${text}</p></section>`;
}
