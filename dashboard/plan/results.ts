import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, counted, duration, exact, percent, sentence, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { Notice } from '../base/shell.js';
import { ErrorCurve, shades } from './chart.js';
import { asked, change, goal, points, rated, rating } from './session.js';
import { lengths, type Asked } from './state.js';
import { studyFileOf } from './study-file.js';
import type { Goal, Rated, Rating } from './what-if.js';
import { errorNumber, errorText, unitOf } from './words.js';

/** Everything that follows from the question. */
export function Results(): VNode {
  const [now, of] = [rating.value, rated.value];
  if (now === null || of === null) {
    return html`<div class="results"><p class="hidden" role="status">Planning.</p>
      <div class="ghost" aria-hidden="true"></div></div>`;
  }
  const best = now.estimators.find(({ isChosen }) => isChosen) ?? null;
  return html`<div class="results">
    ${now.problem !== null ? html`<${Problem} problem=${now.problem} />`
      : html`<${Best} best=${best!} now=${now} of=${of} />`}
    <${Compared} now=${now} />
    ${now.wantedUnit !== null && html`<${Wanted} unit=${now.wantedUnit} of=${of} />`}
    <${StudyFile} now=${now} of=${of} /></div>`;
}

function Problem({ problem: { reason, remedy, cohortNeeded } }: {
  readonly problem: NonNullable<Rating['problem']>;
}): VNode {
  return html`<${Notice} tone="warn" title="There is no plan for these numbers.">
    <p>${sentence(remedy)}</p><p class="quiet small">${sentence(reason)}</p>
    ${cohortNeeded !== undefined && cohortNeeded <= 1e7 && html`<p><button type="button"
      onClick=${() => change({ people: cohortNeeded })}>Plan for ${whole(cohortNeeded)}
      ${' people'}</button></p>`}<//>`;
}

/**
 * The chosen estimator: its error, the parts of the error, and the time for which the budget lasts.
 */
function Best({ best, now, of }: {
  readonly best: Rated; readonly now: Rating; readonly of: Asked;
}): VNode {
  const error = best.error!;
  const { budget } = now;
  return html`<section class="card best"><div class="card-head"><h2>Expected error, with
      <span class="code"> ${best.name}</span></h2></div>
    <p class="value" role="status">${errorNumber(error.total, best.unit)}
      <small>${unitOf(best.unit).short}</small></p>
    <p class="quiet small">${unitOf(best.unit).full}</p>
    <${Parts} error=${error} unit=${best.unit} />
    <dl class="figures"><div><dt>95 % interval of a number</dt>
        <dd>${best.half === null ? 'none' : `± ${errorText(best.half, best.unit)}`}</dd>
        <dd class="note">chance and noise, with nobody hostile</dd></div>
      <div><dt>Smallest cohort</dt><dd>${best.least === null ? 'none' : whole(best.least)}</dd>
        <dd class="note">people, for any answer at all</dd></div>
      <div><dt>The budget lasts</dt><dd>${budget === null ? 'not so long'
        : duration(budget.epochs * lengths[of.every])}</dd>
        <dd class="note">${budget === null ? `none up to epsilon 100 pays for ${
          counted(of.epochs, 'epoch')}` : `${counted(budget.epochs, 'epoch')} of epsilon ${
          exact(budget.epsilon)}, delta ${exact(budget.delta)}, in all`}</dd></div></dl>
    <details><summary>Why this estimator</summary>
      ${now.why.map((text) => html`<p key=${text} class="small">${text}</p>`)}
      <p class="small">It assumes: ${now.assumes}</p></details></section>`;
}

const partWords = [
  ['sampling', 'Chance in who takes part'], ['noise', 'Noise for privacy'],
  ['bias', 'Hostile people, and bias'],
] as const;

/** Errors add up as squares, so each part is shown by its share of the squared error. */
function Parts({ error, unit }: {
  readonly error: NonNullable<Rated['error']>; readonly unit: string;
}): VNode {
  const all = partWords.reduce((sum, [name]) => sum + error[name] ** 2, 0) || 1;
  return html`<ul class="parts">${partWords.map(([name, title], i) => {
    const share = error[name] ** 2 / all;
    return html`<li key=${name}><span>${title}</span>
      <span class="part-value">${errorNumber(error[name], unit)}</span>
      <span class="track" aria-hidden="true"><span class=${shades[i]}
        ref=${(bar: HTMLElement | null) => { if (bar) bar.style.width = `${100 * share}%`; }}>
      </span></span></li>`;
  })}</ul><p class="quiet small">The bars are shares of the squared error.</p>`;
}

/** Every estimator of the question: a table of the present numbers, and lines for other cohorts. */
function Compared({ now }: { readonly now: Rating }): VNode {
  const units = new Set(now.estimators.filter(({ error }) => error !== null)
    .map(({ unit }) => unit));
  const drawn = now.estimators.filter(({ unit, name }) => unit === [...units][0]
    && points.value.some(({ errors }) => typeof errors[name] === 'number')).slice(0, shades.length);
  const names = drawn.map(({ name }) => name);
  const unit = drawn[0]?.unit ?? 'spreads';
  return html`<section class="card"><h2>Estimators, and other numbers of people</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Estimators"><table class="compared">
    <thead><tr><th scope="col">Estimator</th><th scope="col">Expected error</th>
      <th scope="col">Nobody hostile</th><th scope="col">95 % interval</th>
      <th scope="col">Smallest cohort</th></tr></thead>
    <tbody>${now.estimators.map((each) => html`<tr key=${each.name} class=${each.isChosen ? 'is-chosen' : ''}>
      <th scope="row"><span class=${`key ${shades[names.indexOf(each.name)] ?? 'none'}`}
        aria-hidden="true"></span><span class="code">${each.name}</span>${each.isChosen
        && html` <span class="quiet">chosen</span>`}${each.excluded !== null
        && html`<span class="reason">${sentence(each.excluded)}</span>`}</th>
      <td>${each.error === null ? 'none' : errorText(each.error.total, each.unit)}</td>
      <td>${each.cleanError === null || !Number.isFinite(each.cleanError) ? 'none'
        : errorText(each.cleanError, each.unit)}</td>
      <td>${each.half === null ? 'none' : `± ${errorNumber(each.half, each.unit)}`}</td>
      <td>${each.least === null ? 'none' : whole(each.least)}</td></tr>`)}</tbody></table></div>
    ${names.length > 0 && html`<${ErrorCurve} points=${points.value} names=${names} unit=${unit}
      people=${asked.value.people} goal=${asked.value.error} />
      <ul class="legend">${names.map((name, i) => html`<li key=${name}><span
        class=${`swatch ${shades[i]}`} aria-hidden="true"></span>${name}</li>`)}
        <li><span class="swatch upright" aria-hidden="true"></span>the number of people asked for</li>
      </ul>`}</section>`;
}

/** Ways to reach an error of at most the wanted one: each changes one of three numbers. */
function Wanted({ unit, of }: { readonly unit: string; readonly of: Asked }): VNode {
  const { factor, isPercent, short } = unitOf(unit);
  const { error } = of;
  return html`<section class="card wanted"><h2>I want an error of at most</h2>
    <div class="wish"><input type="number" min="0" step="any" aria-label="Wanted error"
      placeholder="as small as you need" value=${error === null ? ''
        : Number((error * factor).toPrecision(6))}
      onChange=${(event: Event) => {
        const { valueAsNumber: value } = event.currentTarget as HTMLInputElement;
        change({ error: value > 0 ? value / factor : null });
      }} /><span class="quiet">${isPercent ? '% ' : ''}${short}</span></div>
    ${error === null ? html`<p class="quiet">Say how small the error should be. The page then says
      how many people it takes, or how much epsilon, or how few liars.</p>`
      : goal.value === null ? html`<p class="quiet" role="status">Looking for it.</p>`
        : html`<${Ways} found=${goal.value} of=${of} />`}</section>`;
}

function Ways({ found, of }: { readonly found: Goal; readonly of: Asked }): VNode {
  const way = (
    title: string, name: 'people' | 'epsilon' | 'hostile', text: (value: number) => string,
    isMet: (value: number) => boolean,
  ): VNode => {
    const value = found[name];
    return html`<li key=${name}><span>${title}</span>
      <strong>${value === null ? 'not possible' : text(value)}</strong>
      ${value === null ? html`<span class="quiet small">the other two stand in the way</span>`
        : isMet(value) ? html`<span class="quiet small">you have that</span>`
          : html`<button type="button" onClick=${() => change({ [name]: value })}>Use
            it<span class="hidden">: ${text(value)}</span></button>`}</li>`;
  };
  return html`<p class="quiet small">Any one of these reaches it; the other numbers stay as they
      are.</p><ul class="ways">
    ${way('People in each epoch', 'people', (value) => `at least ${whole(value)}`,
      (value) => of.people >= value)}
    ${way('Epsilon of one release', 'epsilon', (value) => `at least ${amount(value)}`,
      (value) => of.epsilon >= value)}
    ${way('Share of liars', 'hostile', (value) => `at most ${percent(value)}`,
      (value) => of.hostile <= value)}</ul>`;
}

/** A file for `keelson serve`, and the address of this page as it is. */
function StudyFile({ now, of }: { readonly now: Rating; readonly of: Asked }): VNode {
  const text = studyFileOf(of, now);
  return html`<section class="card"><div class="card-head"><h2>Study file</h2>
    <span class="copies"><${Copy} what="Copy the link" text=${() => location.href} />
    ${text !== null && html`<${Copy} what="Copy the file" text=${() => text} />`}</span></div>
    ${text === null ? html`<p class="quiet">There is a file when there is a plan and a budget that
      pays for it.</p>` : html`<pre class="file" tabindex="0" aria-label="Study file"><code>${
        text}</code></pre>
      <p class="quiet small">Save it as <code>my-study.yaml</code>, name its columns, check it with
        ${' '}<code>keelson plan my-study.yaml</code> and start it with
        ${' '}<code>keelson serve my-study.yaml</code>.</p>`}</section>`;
}

function Copy({ what, text }: { readonly what: string; readonly text: () => string }): VNode {
  const [said, setSaid] = useState('');
  return html`<span><button type="button" onClick=${() => {
    // Browsers offer the clipboard to pages on https and localhost only.
    const copied = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error('none'));
    copied.then(() => setSaid('Copied'), () => setSaid('Select the text and copy it'));
  }}>${what}</button> <span class="quiet small" role="status">${said}</span></span>`;
}
