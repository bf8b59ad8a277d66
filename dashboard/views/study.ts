import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { findingText, leftOutText, runningText } from '../../client/words.js';
import { intervalOf, numberAt } from '../../src/answers/intervals.js';
import { isDistribution, pictureOf, type Picture } from '../base/answer.js';
import { clockTime, counted, sentence, spoken, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { later } from '../base/later.js';
import { keyName } from '../base/keys.js';
import { chartsMax, reasonInWords, type ValueOutcome } from '../base/model.js';
import { useNotes, type StudyNote } from '../base/notes.js';
import { possible } from '../base/number-words.js';
import { numbersOf, type NamedNumber } from '../base/numbers.js';
import { changeView, view } from '../base/route.js';
import { liarsWords } from '../base/readout.js';
import { historyOf, studies, type Followed } from '../base/session.js';
import { canSmooth, smoothedSeries } from '../base/smoothing.js';
import { Badge, Notice } from '../base/shell.js';
import { comparedName, within, type View } from '../base/view.js';
import { Budget, Guarantee } from './budget.js';
import { chartPart, Column, type ColumnFacts } from './column.js';
import { NumberCell } from './number-cell.js';
import { Lead } from './lead.js';
import { Ranges } from './ranges.js';
import { SmoothNote } from './smoothing.js';
import { EpochLine, LinkBadge, LinkNotice } from './status.js';
import { Questions } from './questions.js';
import { Verification } from './verification.js';

/** Most numbers that are listed without a chart. The log has all of them. */
const unchartedMax = 60;
/** Most findings of a split answer on the page. The log has all of them. */
const findingsShown = 8;

/** Pictures of answers. Most studies have one kind or none. */
export const picturePart =
  later(() => import('./pictures.js').then(({ PictureView }) => PictureView), 'ghost');

/** The whole distribution over time. */
export const heatPart =
  later(() => import('./heat-strip.js').then(({ HeatOverTime }) => HeatOverTime), 'ghost');

/** The part of the page below the charts. It loads after them. */
export const restPart = later(async () => {
  await chartPart.load().catch(() => undefined);
  return (await import('./rest.js')).Rest;
}, 'ghost rest');

/** The chart of several numbers, for people who compare. */
export const comparePart =
  later(() => import('./compare.js').then(({ Compare }) => Compare), 'ghost');

/** A study, and which of its questions. */
interface Shown {
  readonly followed: Followed;
  /** The place of the question in the study. */
  readonly place: number;
}

/**
 * Everything about one study, and the answer to one of its questions.
 * @param question the question's name; absent: the first one.
 */
export function StudyPage({ followed, question }: {
  readonly followed: Followed; readonly question?: string;
}): VNode {
  const { entry, questions } = followed;
  const others = (studies.value?.length ?? 0) > 1;
  const place = question === undefined ? 0 : questions.findIndex(({ name }) => name === question);
  return html`<main class="page">
    ${others
      && html`<nav aria-label="Breadcrumb"><a class="back" href="#/">← All studies</a></nav>`}
    <div class="title"><div><h1>${entry.document.title ?? entry.name}</h1>
      ${entry.document.description !== undefined
        && html`<p class="subtitle">${entry.document.description}</p>`}
      ${entry.document.title !== undefined
        && html`<p class="quiet subtitle code">${entry.name}</p>`}</div>
      <div class="title-state"><span role="status"><${LinkBadge} followed=${followed} /></span>
        ${entry.document.sealed && html`<${Badge} tone="quiet">Sealed against reading<//>`}
        <span class="quiet"><${EpochLine} followed=${followed} /></span></div></div>
    <${Questions} followed=${followed} place=${place} />
    ${place < 0 ? html`<${NoQuestion} asked=${question} />`
      : html`<${QuestionPage} key=${place} followed=${followed} place=${place} />`}</main>`;
}

function QuestionPage({ followed, place }: Shown): VNode {
  return html`<div class="page-part"><${Notices} followed=${followed} place=${place} />
    <div class="split"><div class="answers"><${Lead} followed=${followed} place=${place} /><${Answer}
      followed=${followed} place=${place} /></div>
      <div class="side"><${Budget} followed=${followed} /><${Verification} followed=${followed} />
        <${Guarantee} followed=${followed} place=${place} /></div>
      <${restPart.View} followed=${followed} place=${place} /></div></div>`;
}

/** The address names a question that this study does not have. */
function NoQuestion({ asked }: { readonly asked: string }): VNode {
  return html`<section class="card empty"><h2>There is no such question in this study</h2>
    <p>The address asks for <code class="asked">${asked}</code></p></section>`;
}

/**
 * Text for screen readers. It leaves out the progress of reading a long log, and everything that is
 * an alert already.
 */
function Notices({ followed, place }: Shown): VNode {
  const { kind } = followed.link.value;
  const ofLink = html`<${LinkNotice} followed=${followed} />`;
  const isStatus = !['catching-up', 'failed', 'error'].includes(kind);
  return html`${!isStatus && ofLink}<div class="notices" role="status">${isStatus && ofLink}
    <${RefusalNotice} followed=${followed} place=${place} /></div>`;
}

function RefusalNotice({ followed, place }: Shown): VNode | null {
  const { last, lastRefusal, lastValue } = historyOf(followed, place);
  if (last === null || lastRefusal === null) return null;
  const { reason, text } = lastRefusal;
  return html`<${Notice} tone="warn" title=${`Epoch ${whole(last.epoch)} has no answer: `
    + `${reasonInWords(reason)}.`}>
    ${sentence(text)} Its privacy was spent all the same.
    ${lastValue !== null && ` The numbers below are from epoch ${whole(lastValue.epoch)}.`}<//>`;
}

/** The newest answer: as a picture if it has one, and over epochs. */
function Answer({ followed, place: question }: Shown): VNode {
  const { questions, link, news, version } = followed;
  const asked = questions[question]!;
  const history = historyOf(followed, question);
  const outcome = history.lastValue?.outcome ?? null;
  const found = useMemo(() => outcome && pictureOf(asked, outcome), [outcome]);
  const charts = Math.min(found?.charts ?? 0, chartsMax);
  const notes = useNotes(followed.entry.id);
  const series = useMemo(
    () => Array.from({ length: charts }, (_, place) => history.series(place)),
    [version.value, charts],
  );
  const { value: now } = view;
  const smoothed = useMemo(
    () => series.map((_, place) => (now.isSmooth ? smoothedSeries(history, place) : null)),
    [series, now.isSmooth],
  );
  const part = [now.range, now.chosen?.[0], now.chosen?.[1]];
  const shownNow =
    useMemo(() => series.map((each) => within(each, now)), [series, ...part]);
  const smoothNow = useMemo(() => smoothed.map((each) =>
    (each === null ? null : { series: within(each, now), newest: each })), [smoothed, ...part]);
  if (history.lastValue === null || outcome === null || found === null) {
    const isOver = news.value.state !== 'open';
    return html`<${NoAnswer} isReading=${!['live', 'ended']
      .includes(link.value.kind)} isOver=${isOver} refused=${history.refused} />`;
  }
  const numbers = numbersOf(asked, outcome);
  const { columns, parameters } = asked;
  // One answer is a picture of its own.
  const hasStrip = isDistribution(asked) && history.count - history.refused > 1;
  const onView = (change: Partial<View>): void => changeView(followed.entry.id, change);
  return html`<div class="answer-parts">
    ${outcome.running !== undefined
      && html`<p>${runningText(outcome.running)} Its interval counts the noise of all of them.</p>`}
    <${Findings} outcome=${outcome} columns=${columns} picture=${found.picture} />
    ${leftOutText(asked, followed.entry.document).map((text) =>
      html`<p key=${text} class="small quiet">${text}</p>`)}
    ${found.picture !== null
      && html`<${picturePart.View} picture=${found.picture} asked=${asked} />`}
    ${(charts > 0 || hasStrip) && html`<${Ranges} view=${now} onView=${onView}
      epochs=${history.epochs} canCompare=${charts > 0}
      first=${comparedName(followed.entry.id, asked.name, 0)} canSmooth=${series.some((_, place) => canSmooth(history, place))} />`}
    ${hasStrip && html`<${heatPart.View} asked=${asked} history=${history}
      version=${version.value} view=${now} onView=${onView} />`}
    ${charts > 0 && now.isSmooth && html`<${SmoothNote} />`}
    ${charts > 0 && now.compared.length > 0 && html`<${comparePart.View} followed=${followed}
      own=${series[0]!} view=${now} onView=${onView} />`}
    <div class=${charts > 4 ? 'columns many' : 'columns'}>${shownNow.map((each, place) => html`
      <${ChartedNumber} key=${place} words=${numbers[place]!} series=${each}
        smoothed=${smoothNow[place] ?? null} newest=${series[place]!} view=${now} onView=${onView}
        study=${followed.entry.name} notes=${notes}
        liars=${liarsWords(outcome, numbers[place]!.place, numbers[place]!, parameters)}
        />`)}</div>
    ${found.charts > charts && found.picture === null
      && html`<${Uncharted} outcome=${outcome} numbers=${numbers}
      charts=${charts} />`}
    ${charts > 0 && notes.length > 0 && html`<${Notes} notes=${notes} />`}</div>`;
}

/** A number and its chart, in which impossible parts are cut off. */
function ChartedNumber(facts: Omit<ColumnFacts, 'drawn'>): VNode {
  const { series, words, smoothed } = facts;
  const limits = [words.least, words.greatest];
  const drawn = useMemo(() => possible(series, words), [series, ...limits]);
  const line = useMemo(() => smoothed && {
    series: possible(smoothed.series, words), newest: smoothed.newest,
  }, [smoothed, ...limits]);
  return html`<${Column} ...${facts} drawn=${drawn} smoothed=${line} />`;
}

/** Findings that people should know about the rows before they rely on the answer. */
function Findings({ outcome, columns, picture }: {
  readonly outcome: ValueOutcome; readonly columns: readonly string[];
  readonly picture: Picture | null;
}): VNode | null {
  const keyed = picture?.kind === 'keyed' ? picture : null;
  const { findings = [] } = outcome;
  if (findings.length === 0) return null;
  const names = columns.map(spoken);
  const keys = keyed?.rows ?? [];
  const left = findings.length - findingsShown;
  return html`<${Notice} tone="accent" title="Before you rely on this answer">
    ${findings.slice(0, findingsShown).map((finding, i) => html`<p key=${i}>${
      finding.group !== undefined && keys[finding.group] !== undefined
      && html`<span><bdi>${keyName(keys[finding.group]!)}</bdi>: </span>`}${
      findingText(finding, names)}</p>`)}
    ${left > 0 && html`<p>The log says ${whole(left)} more of this kind.</p>`}<//>`;
}

/** The notes that charts mark by their number. */
function Notes({ notes }: { readonly notes: readonly StudyNote[] }): VNode {
  return html`<section class="card notes"><h2>Notes of the operator</h2>
    <ol>${notes.map(({ id, atMs, text }) => html`<li key=${id}>
      <span class="quiet">${clockTime(atMs)}</span> <bdi>${text}</bdi></li>`)}</ol>
    <p class="quiet small">A dashed line in the charts marks each.</p></section>`;
}

/** The present values of the numbers that have no chart. */
function Uncharted({ outcome, numbers, charts }: {
  readonly outcome: ValueOutcome; readonly numbers: readonly NamedNumber[];
  readonly charts: number;
}): VNode {
  const listed = numbers.slice(charts, charts + unchartedMax);
  const left = numbers.length - charts - listed.length;
  return html`<section class="card"><h2>The other ${counted(numbers.length - charts, 'number')}</h2>
    <dl class="facts rest-of-numbers">${listed.map((words) => html`<div key=${words.place}>
      <dt>${words.name}</dt><dd><${NumberCell} words=${words}
        value=${numberAt(outcome, words.place)} interval=${intervalOf(outcome, words.place)} /></dd>
      </div>`)}</dl>
    ${left > 0
      && html`<p
        class="quiet small">${whole(left)} more are in the downloaded log.</p>`}</section>`;
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
