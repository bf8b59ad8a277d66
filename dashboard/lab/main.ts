import { html as template } from 'htm/preact';
import { render, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Controls } from './controls.js';
import { createErrorChart } from './error-chart.js';
import { linesOf, percent, short, verdictOf, type Answer, type Line, type Round, type State } from './model.js';
import { begin, programme, rounds, state, trouble } from './session.js';

/** Every template here has one root. */
const html = template as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

const recentRounds = 12;

function Chart({ lines }: { readonly lines: readonly Line[] }): VNode {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ReturnType<typeof createErrorChart> | null>(null);
  const numbers = rounds.value.map(({ index }) => index + 1);
  const names = lines.map(({ name }) => name).join();
  // What is drawn again when the theme changes is what is shown by then.
  const latest = useRef({ lines, numbers });
  latest.current = { lines, numbers };
  useEffect(() => {
    const draw = (): void => {
      chart.current?.close();
      const colours = lines.map((_, i) => {
        const probe = document.createElement('i');
        probe.className = `s${i}`;
        host.current!.append(probe);
        const colour = getComputedStyle(probe).getPropertyValue('--series').trim();
        probe.remove();
        return colour;
      });
      chart.current = createErrorChart(host.current!, latest.current.lines, colours, latest.current.numbers);
    };
    draw();
    const theme = matchMedia('(prefers-color-scheme: dark)');
    theme.addEventListener('change', draw);
    return () => {
      theme.removeEventListener('change', draw);
      chart.current?.close();
      chart.current = null;
    };
  }, [names]);
  useEffect(() => chart.current?.update(lines, numbers), [lines]);
  return html`<section class="card"><h2>Errors over the rounds, in scales</h2>
    <div class="chart" role="img" ref=${host}
      aria-label="Errors of every answer over the rounds; the table below has the numbers"></div>
    <ul class="legend">${lines.map(({ name, title, isPrivate }, i) => html`<li class=${`s${i}`} key=${name}>
      <span class="swatch"></span>${title}${isPrivate ? '' : ' (not private)'}</li>`)}</ul></section>`;
}

function Answers({ round, lines }: { readonly round: Round; readonly lines: readonly Line[] }): VNode {
  const { setting, honest, hostile } = round;
  return html`<section class="card"><h2>Round ${round.index + 1}: ${hostile} of ${honest + hostile} people hostile
    ${' '}<span class="quiet">(${setting.attack}, ${percent(setting.hostileShare)} meant to be)</span></h2>
    <div class="answers"><article class="answer truth"><h3>the truth</h3>
      <${Values} of=${round.truth} /><p class="quiet">mean of the honest people</p></article>
    ${lines.map((line, i) => {
      const answer = round.answers.find(({ estimator }) => estimator === line.name);
      const values = answer?.estimate ?? round.baselineEstimates[line.name] ?? null;
      return html`<${Card} key=${line.name} line=${line} place=${i} answer=${answer} values=${values} />`;
    })}</div></section>`;
}

/** One number per column, each with its name for those who hover or listen. */
function Values({ of }: { readonly of: readonly number[] | null }): VNode | null {
  const columns = programme.value?.data.find(({ name }) => name === state.value?.scene.data)?.columns ?? [];
  if (of === null) return null;
  return html`<p class="values">${of.map((value, j) => html`<span key=${j} title=${columns[j]}>
    ${j > 0 ? ', ' : ''}${Number(value.toPrecision(4))}</span>`)}</p>`;
}

interface CardFacts {
  readonly line: Line;
  readonly place: number;
  readonly answer: Answer | undefined;
  readonly values: readonly number[] | null;
}

function Card({ line, place, answer, values }: CardFacts): VNode {
  const verdict = answer === undefined ? { text: 'sees every row: no privacy', tone: 'quiet' } : verdictOf(answer);
  return html`<article class=${`answer s${place}`}><h3>${line.title}</h3>
    <p class="error">${answer?.outcome === 'refused' ? 'refused' : short(line.errors.at(-1) ?? null)}</p>
    <${Values} of=${values} />
    <p class=${verdict.tone}>${verdict.text}</p>
    ${answer?.reason === undefined ? null : html`<p class="quiet">${answer.reason}</p>`}</article>`;
}

function Table({ lines }: { readonly lines: readonly Line[] }): VNode {
  const shown = rounds.value.slice(-recentRounds).reverse();
  const offset = rounds.value.length;
  return html`<section class="card"><h2>The last rounds</h2><div class="scroll" tabindex="0" role="region"
    aria-label="errors of the last rounds"><table>
    <thead><tr><th>round</th><th>attack</th><th>hostile</th>${lines.map(({ name, title }) =>
      html`<th key=${name}>${title}</th>`)}</tr></thead>
    <tbody>${shown.map((round, i) => html`<tr key=${round.index}><td>${round.index + 1}</td><td>${round.setting.attack}</td>
      <td>${percent(round.setting.hostileShare)}</td>${lines.map(({ name, errors }) =>
        html`<td key=${name}>${short(errors[offset - 1 - i] ?? null)}</td>`)}</tr>`)}</tbody></table></div></section>`;
}

function status({ phase, connected, sessions }: State): string {
  if (phase === 'stopped') return 'The laboratory has stopped.';
  if (phase === 'connecting') return `${connected} of ${sessions} sessions connected`;
  const played = rounds.value.length;
  return played === 0 ? 'everybody is connected; the first round is being played' : 'playing';
}

function Page(): VNode {
  const now = state.value;
  if (now === null) return html`<p class="quiet">${trouble.value || 'Asking the laboratory what is going on.'}</p>`;
  const lines = linesOf(rounds.value);
  const last = rounds.value.at(-1);
  return html`<main><header><h1>Keelson lab</h1>
    <span class="quiet" role="status">${status(now)}</span>
    ${now.address === null ? null : html`<a href=${now.address}>the server's own dashboard</a>`}</header>
    <p class="quiet">Simulated people, honest ones and liars, send to a real aggregator. What is private here is what that
      server released; everything else is worked out from the simulation's own rows.</p>
    ${trouble.value === '' ? null : html`<p class="bad" role="alert">${trouble.value}</p>`}
    <div class="bench"><${Controls} /><div class="results">
      ${now.phase === 'connecting' ? html`<section class="card"><h2>People connect</h2>
        <progress aria-label="sessions connected" max=${now.sessions} value=${now.connected}></progress></section>` : null}
      ${last === undefined
        ? html`<section class="card"><h2>No round yet</h2><p class="quiet">A round is one epoch in which everybody takes
            part. Choose what the liars do: it holds from the next round on.</p></section>`
        : html`<${Answers} round=${last} lines=${lines} />`}
      ${last === undefined ? null : html`<${Chart} lines=${lines} />`}
      ${last === undefined ? null : html`<${Table} lines=${lines} />`}
    </div></div></main>`;
}

const host = document.getElementById('page')!;
host.replaceChildren();
render(html`<${Page} />`, host);
begin().catch((error: unknown) => { trouble.value = `The laboratory does not answer: ${String(error)}`; });
