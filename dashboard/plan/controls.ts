import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { factsLimits, valueMaxText } from '../../src/base/facts-limits.js';
import { exact, percent, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { questionWords } from './words.js';
import { asked, change } from './session.js';
import {
  fixedColumns, isWithin, lengths, limits, takes, type Asked, type Every, type Slider,
} from './state.js';
import { placeOf, steps } from './steps.js';

const everyWords: Readonly<Record<Every, string>> = {
  '10s': 'every 10 seconds', '1m': 'every minute', '1h': 'every hour', '1d': 'every day',
  '7d': 'every week', '30d': 'every 30 days',
};

const valueOf = (event: Event): string => (event.currentTarget as HTMLInputElement).value;

/** Everything that a person can change. */
export function Controls(): VNode {
  const now = asked.value;
  const columns = fixedColumns(now.question);
  return html`<form class="card controls" aria-label="What is planned"
    onSubmit=${(event: Event) => event.preventDefault()}>
    <section><h2>The question</h2>
      <div class="field"><label for="question">What do you want to know?</label>
      <select id="question" value=${now.question} onChange=${(event: Event) => {
        const question = valueOf(event) as Asked['question'];
        change({ question, error: null, columns: fixedColumns(question)
          ?? (columns === null ? now.columns : 2) });
      }}>${Object.entries(questionWords).map(([name, { title }]) =>
        html`<option key=${name} value=${name}>${title}</option>`)}</select></div>
      <${Known} now=${now} /></section>
    <section><h2>The people</h2>
      <${Choice} name="people" label="People in each epoch" text=${whole(now.people)} />
      ${columns === null && html`<${Choice} name="columns" label="Columns, numbers of a row"
        text=${whole(now.columns)} />`}
      <${Choice} name="hostile" label="Share of liars" text=${percent(now.hostile)}
        note="So many may send whatever they like, together." /></section>
    <section><h2>The privacy</h2>
      <${Choice} name="epsilon" label="Epsilon of one release" text=${exact(now.epsilon)}
        note=${`One release changes anybody’s odds about a person by a factor of at most ${
          oddsText(now.epsilon)}.`} />
      <${Choice} name="delta" label="Delta of one release" text=${now.delta === 0 ? '0, pure'
        : exact(now.delta)} note=${now.delta === 0 ? 'There is no exception.'
        : `The exception has a probability of at most ${exact(now.delta)}.`} />
      <${Choice} name="epochs" label="Epochs that the budget pays for" text=${whole(now.epochs)} />
      <div class="field"><label for="every">An epoch closes</label>
      <select id="every" value=${now.every}
        onChange=${(event: Event) => change({ every: valueOf(event) as Every })}>
        ${(Object.keys(lengths) as Every[]).map((each) =>
          html`<option key=${each} value=${each}>${everyWords[each]}</option>`)}</select></div>
    </section></form>`;
}

function oddsText(epsilon: number): string {
  const odds = Math.exp(epsilon);
  return odds < 100 ? odds.toPrecision(3) : whole(Math.round(odds));
}

/** A slider through usual values, and a field for any other. */
function Choice({ name, label, text, note }: {
  readonly name: Slider; readonly label: string; readonly text: string; readonly note?: string;
}): VNode {
  const [isWrong, setWrong] = useState(false);
  const value = asked.value[name];
  const [least, most] = limits[name];
  const factor = name === 'hostile' ? 100 : 1;
  const typed = (event: Event): void => {
    const next = Number(valueOf(event)) / factor;
    const isFine = valueOf(event) !== '' && isWithin(name, next);
    setWrong(!isFine);
    if (isFine) change({ [name]: next });
  };
  return html`<div class="field"><div class="slider-head"><label for=${name}>${label}</label>
      <span class="exact"><input type="number" step="any" min=${least * factor} max=${most * factor}
        value=${Number((value * factor).toPrecision(12))} aria-label=${`${label}, as a number`}
        aria-invalid=${isWrong} aria-describedby=${isWrong ? `${name}-rule` : undefined}
        onChange=${typed} />${name === 'hostile' && html`<span class="quiet">%</span>`}</span></div>
    <input id=${name} type="range" min="0" max=${steps[name].length - 1} step="1"
      value=${placeOf(name, value)} aria-valuetext=${text}
      onInput=${(event: Event) => {
        setWrong(false);
        change({ [name]: steps[name][Number(valueOf(event))]! });
      }} />
    ${isWrong && html`<span id=${`${name}-rule`} class="fault" role="alert">From ${
      exact(least * factor)} to ${exact(most * factor)}${
      ['people', 'columns', 'epochs'].includes(name) && ', whole'}.</span>`}
    ${note !== undefined && html`<span class="quiet">${note}</span>`}</div>`;
}

/** The public facts about the values, known before anybody sends one. */
function Known({ now }: { readonly now: Asked }): VNode | null {
  const [wrong, setWrong] = useState('');
  const field = (label: string, name: 'low' | 'high', part: (value: number) => Partial<Asked>,
  ): VNode => html`<label class="field">${label}<input type="number" step="any" value=${now[name]}
    aria-invalid=${wrong === name}
    onChange=${(event: Event) => {
      const { valueAsNumber: value } = event.currentTarget as HTMLInputElement;
      const isFine = Math.abs(value) <= factsLimits.valueMax;
      setWrong(isFine ? '' : name);
      if (isFine) change(part(value));
    }} />${wrong === name && html`<span class="fault" role="alert">A number of at most
      ${valueMaxText} in size.</span>`}</label>`;
  const low = (label: string): VNode => field(label, 'low', (value) =>
    ({ low: value, high: value < now.high ? now.high : value + Math.max(1, Math.abs(value)) }));
  const high = (label: string): VNode => field(label, 'high', (value) =>
    ({ high: value, low: value > now.low ? now.low : value - Math.max(1, Math.abs(value)) }));
  switch (takes(now.question)) {
    case 'spread': return html`<div class="field"><label for="spread">Spread of the values</label>
      <input id="spread" type="number" step="any" min="0" placeholder="found privately"
        value=${now.spread ?? ''} onChange=${(event: Event) => {
          const { valueAsNumber: value } = event.currentTarget as HTMLInputElement;
          change({ spread: value > 0 && value <= factsLimits.valueMax ? value : null });
        }} /><span class="quiet">How far a value usually is from the middle. Nobody knows it: leave
          it empty.</span></div>`;
    case 'range': return html`<div class="pair">${low('Values from')}${high('to')}</div>`;
    case 'cap': return high('Largest value of either column');
    case 'threshold': return low('Counts from this value on');
    case 'nothing': return null;
  }
}
