import { render, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shown, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { reasonInWords } from '../base/model.js';
import { Badge, Header, Notice } from '../base/shell.js';
import { paint, startTheme } from '../base/theme.js';
import { Controls } from './controls.js';
import { createErrorChart } from './error-chart.js';
import {
  limitsInSpreads, linesOf, percent, short, verdictOf, type Answer, type Line, type Programme,
  type Round, type State, type Verdict,
} from './model.js';
import { Rows } from './rows.js';
import { begin, programme, rounds, state, trouble } from './session.js';

const recentRounds = 12;

function Chart({ lines }: { readonly lines: readonly Line[] }): VNode {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ReturnType<typeof createErrorChart> | null>(null);
  const numbers = rounds.value.map(({ index }) => index + 1);
  const names = lines.map(({ name }) => name).join();
  // When the theme changes, the newest values are drawn again.
  const latest = useRef({ lines, numbers });
  latest.current = { lines, numbers };
  const painted = paint.value;
  useEffect(() => {
    const colours = lines.map((_, i) => colourOf(host.current!, i));
    chart.current =
      createErrorChart(host.current!, latest.current.lines, colours, latest.current.numbers);
    return () => chart.current?.close();
  }, [names, painted]);
  useEffect(() => chart.current?.update(lines, numbers), [lines]);
  return html`<section class="card"><div class="card-head"><h2>Errors over the rounds</h2>
    <span class="quiet small">in ${new Set(lines.map(({ name }) => unitOf(name))).size > 1
      ? 'the unit of each card' : unitOf(lines[0]!.name)}, each step tenfold</span></div>
    <div class="chart" role="img" ref=${host}
      aria-label="Errors of every answer over the rounds; the table below has the numbers"></div>
    <ul class="legend">${lines.map(({ name, title, isPrivate }, i) =>
      html`<li class=${`s${i}`} key=${name}>
      <span class=${isPrivate ? 'swatch' : 'swatch dashed'}></span>${title}${isPrivate
        ? '' : ' (not private)'}</li>`)}</ul></section>`;
}

/** The colour of a line in the current theme, in a form for canvases. */
function colourOf(host: HTMLElement, place: number): string {
  const probe = document.createElement('i');
  probe.className = `s${place}`;
  probe.style.color = 'var(--series)';
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * Number of honest people whose rows came too late, if it is so large that it affects the answers;
 * else 0.
 */
function lateOf({ honest, setting }: Round): number {
  const now = state.value;
  const people = now === null || now.studies.length === 0 ? 0 : now.sessions / now.studies.length;
  const late = Math.round(people * (1 - setting.corruption)) - honest;
  return late > 0.2 * people ? late : 0;
}

function Answers({ round, lines }: {
  readonly round: Round; readonly lines: readonly Line[];
}): VNode {
  const { setting, honest, hostile } = round;
  const late = lateOf(round);
  const cards = lines.map((line, place) => {
    const answer = round.answers.find(({ estimator }) => estimator === line.name);
    const values = answer?.estimate ?? round.baselineEstimates[line.name] ?? null;
    const verdict = answer === undefined ? null : verdictIn(round, answer);
    return { line, card: html`<${Card} key=${line.name} line=${line} place=${place} answer=${answer}
      values=${values} verdict=${verdict} />` };
  });
  const of = (isPrivate: boolean) =>
    cards.filter(({ line }) => line.isPrivate === isPrivate).map(({ card }) => card);
  return html`<section class="card" aria-label="The newest round"><div class="card-head">
    <h2>Round ${round.index + 1}</h2>
      <span class="quiet small">${whole(hostile)} of ${whole(honest
        + hostile)} people lied (${setting.attack})</span></div>
    ${late > 0
      && html`<p class="warn-text small">${whole(
        late,
      )} honest people came too late for it, because this machine is busy.
      Use fewer people (--contributors) or longer epochs (--every).</p>`}
    <div class="group"><h3>Computed from every row, without privacy</h3><div class="answers">
      ${round.truth.length > 0 && html`<article class="answer truth"><h4>The truth</h4>
        <${Values} of=${round.truth} /><p class="reason">mean of the honest people</p></article>`}
      ${of(false)}</div></div>
    <div class="group"><h3>Released by the server, private</h3>
    <div class="answers">${of(true)}</div></div></section>`;
}

/** An answer by key is rated by the plain answer of its kind, where there is one. */
function verdictIn({ answers, baselines }: Round, answer: Answer): Verdict {
  const plain = baselines[`plain ${answer.estimator}`];
  return unitOf(answer.estimator) === 'spreads'
    ? verdictOf(answer, answers.map(({ error }) => error), limitsInSpreads)
    : verdictOf(answer, [], plain === undefined ? null : [plain / 3, plain]);
}

/** The data of the scene; undefined until the laboratory has answered. */
function dataOf(now: State | null): Programme['data'][number] | undefined {
  return programme.value?.data.find(({ name }) => name === now?.scene.data);
}

/** One number per column. Each has its name as a tooltip and for screen readers. */
function Values({ of, keys }: {
  readonly of: readonly number[] | null; readonly keys?: readonly string[] | undefined;
}): VNode | null {
  const columns = keys ?? dataOf(state.value)?.columns ?? [];
  if (of === null) return null;
  return html`<p class="values">${of.map((value, j) => html`<span key=${j} title=${columns[j]}>
    ${j > 0 ? ', ' : ''}${shown(value)}</span>`)}</p>`;
}

interface CardFacts {
  readonly line: Line;
  readonly place: number;
  readonly answer: Answer | undefined;
  readonly values: readonly number[] | null;
  /** Null for answers without privacy. */
  readonly verdict: Verdict | null;
}

/** The unit of an error. A plain answer has the unit of the private one of its kind. */
function unitOf(name: string): string {
  const studies = state.value?.studies ?? [];
  const own = studies.find(({ estimator }) => estimator === name.replace(/^plain /, ''));
  return own?.unit ?? 'spreads';
}

function Card({ line, place, answer, values, verdict }: CardFacts): VNode {
  const isRefused = answer?.outcome === 'refused';
  const unit = unitOf(line.name);
  return html`<article class=${`answer s${place}`}><h4><span class="key"></span>${line.title}</h4>
    <p class="error"><span>${isRefused ? 'refused' : short(line.errors.at(-1) ?? null)}</span>
      ${!isRefused && html`<small>${unit} off</small>`}</p>
    <${Values} of=${values} keys=${answer?.keys} />
    ${verdict !== null && html`<${Badge} tone=${verdict.tone}>${verdict.text}<//>
      ${verdict.promise !== '' && html`<p class="reason">${verdict.promise}</p>`}`}
    ${answer?.reason !== undefined && html`<p class="reason">${
      reasonInWords(answer.reason)}</p>`}</article>`;
}

function Table({ lines: all }: { readonly lines: readonly Line[] }): VNode {
  // A narrow window shows the first columns only: the private answers.
  const lines = [...all].sort((one, two) => Number(two.isPrivate) - Number(one.isPrivate));
  const shown = rounds.value.slice(-recentRounds).reverse();
  const offset = rounds.value.length;
  return html`<section class="card"><h2>The last rounds</h2>
    <div class="scroll" tabindex="0" role="region"
    aria-label="errors of the last rounds"><table class="rounds">
    <thead><tr><th>Round</th><th>Attack</th><th>Hostile</th>${lines.map(({ name, title }) =>
      html`<th key=${name}>${title}</th>`)}</tr></thead>
    <tbody>${shown.map((round, i) => html`<tr key=${round.index}><td>${round.index + 1}</td>
    <td>${round.setting.attack}</td>
      <td>${percent(round.setting.corruption)}</td>${lines.map(({ name, errors }) =>
        html`<td key=${name}>${short(errors[offset - 1 - i]
          ?? null)}</td>`)}</tr>`)}</tbody></table></div></section>`;
}

const phases = {
  connecting: ['quiet', 'Connecting'], playing: ['good', 'Playing'], stopped: ['quiet', 'Stopped'],
} as const;

function PhaseBadge({ now: { phase, isPaused } }: { readonly now: State }): VNode {
  const [tone, text] = trouble.value !== '' ? ['warn', 'No answer']
    : isPaused ? ['quiet', 'Paused'] : phases[phase];
  const dot = phase === 'playing' && !isPaused && trouble.value === ''
    ? 'live' : phase === 'connecting' ? 'connecting' : '';
  return html`<${Badge} tone=${tone}><span class=${`dot ${dot}`}></span>${text}<//>`;
}

/** For screen readers. Also shown on the page as long as there is nothing else. */
function status({ phase, connected, sessions }: State): string {
  if (phase === 'stopped') return 'The laboratory has stopped. Start "keelson lab" again.';
  if (phase === 'connecting') return `${connected} of ${sessions} sessions connected`;
  return rounds.value.length === 0
    ? 'Everybody is connected. The first round is running.' : '';
}

function Page(): VNode {
  const now = state.value;
  return html`<div><${Header} title="Lab">${typeof now?.address === 'string'
    && html`<a class="small" href=${now.address}>Dashboard</a>`}<//>
    <main class="page"><div class="title"><div><h1>Attack real studies</h1>
      <p
        class="quiet">Simulated people send rows to a real aggregator. Some are honest, some lie.
        Only what that server released is private. All other numbers are computed from the
        simulation's own rows.</p></div>
      ${now !== null && html`<${PhaseBadge} now=${now} />`}</div>
    ${trouble.value !== ''
      && html`<${Notice} tone="warn" title="Something is wrong." alert>${trouble.value}<//>`}
    ${now === null
      ? html`<p class="quiet" role="status">Waiting for the laboratory's answer.</p>`
      : html`<${Bench} now=${now} />`}
    </main></div>`;
}

function Bench({ now }: { readonly now: State }): VNode {
  const lines = linesOf(rounds.value);
  const last = rounds.value.at(-1);
  const data = dataOf(now);
  return html`<div class="bench"><${Controls} /><div class="results">
    ${now.phase === 'connecting' && html`<section class="card"><h2>People connect</h2>
      <progress aria-label="sessions connected" max=${now.sessions}
        value=${now.connected}></progress>
      <p class="quiet small">${status(now)}</p></section>`}
    ${last === undefined
      ? html`<section class="card empty"><h2>No round yet</h2>
        <p class="quiet">A round is one epoch in which everybody takes part.
          Choose what the liars do. A choice counts from the next round on.</p></section>`
      : html`<div class="results"><${Answers} round=${last} lines=${lines} />
        ${last.picture !== null && data !== undefined && html`<${Rows} round=${last}
          picture=${last.picture} lines=${lines} columns=${data.columns} spread=${data.spread} />`}
        <${Chart} lines=${lines} /><${Table} lines=${lines} /></div>`}
    <p class="hidden" role="status">${now.phase === 'connecting'
      ? '' : status(now)}</p></div></div>`;
}

startTheme();
const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
begin().catch(
  (error: unknown) => { trouble.value = `The laboratory does not answer: ${String(error)}`; },
);
