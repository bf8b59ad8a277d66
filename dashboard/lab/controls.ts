import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { percent, type Programme, type State } from './model.js';
import { programme, sendConfig, sendPace, sendSetting, state } from './session.js';

/** The value of the slider while a person holds it; null: the setting that the lab plays. */
const held = signal<number | null>(null);
/** Estimators that are ticked but not started; null: those that play. */
const ticked = signal<readonly string[] | null>(null);
const estimatorsMax = 8;
/** Numbers that are typed but not started. */
const typed = signal<{ readonly contributors?: number; readonly epsilon?: number }>({});
const headings = [
  ['recommended', 'Recommended estimators, one study each'],
  ['research', 'Research estimators, one study each'],
] as const;

const valueOf = (event: Event): string => (event.currentTarget as HTMLInputElement).value;

/** The controls of a run: some changes hold from the next round on, the others start a new run. */
export function Controls(): VNode | null {
  const [now, all] = [state.value, programme.value];
  if (now === null || all === null) return null;
  return html`<form class="card controls" onSubmit=${(event: Event) => event.preventDefault()}>
    <${Pace} now=${now} />
    <${Attack} now=${now} all=${all} />
    <${Restart} now=${now} all=${all} />
  </form>`;
}

/** Stops between two rounds, and plays them one by one. */
function Pace({ now: { isPaused, phase } }: { readonly now: State }): VNode {
  const isOff = phase !== 'playing';
  return html`<section class="pace" aria-label="the rounds">
    <button type="button" disabled=${isOff}
      onClick=${() => void sendPace(isPaused ? 'go-on' : 'pause')}>${
      isPaused ? 'Go on' : 'Pause'}</button>
    <button type="button" disabled=${isOff}
      onClick=${() => void sendPace('step')}>One round</button></section>`;
}

function Attack({ now, all }: { readonly now: State; readonly all: Programme }): VNode {
  const { setting } = now;
  const attack = all.attacks.find(({ name }) => name === setting.attack);
  const share = held.value ?? setting.corruption;
  return html`<section aria-label="from the next round on">
    <h2>The liars</h2>
    <div class="field"><div class="slider-head"><label for="share">Share of liars</label>
      <output for="share">${percent(share)}</output></div>
      <input id="share" type="range" min="0" max="0.45" step="0.01" value=${share}
        onInput=${(event: Event) => { held.value = Number(valueOf(event)); }}
        onChange=${(event: Event) => {
          void sendSetting({ ...setting, corruption: Number(valueOf(event)) })
            .finally(() => { held.value = null; });
        }} /></div>
    <div class="field"><label for="attack">What they do</label>
      <select id="attack" value=${setting.attack}
        onChange=${(event: Event) =>
          void sendSetting({ attack: valueOf(event), corruption: setting.corruption })}>
        ${all.attacks.map(({ name }) => html`<option value=${name}>${name}</option>`)}
      </select>
      <span class="quiet">${attack?.title}</span></div>
    ${typeof attack?.defaultStrength !== 'number' ? null : html`<div class="field">
      <label for="strength">How far, in spreads</label>
      <input id="strength" type="number" min="0" max="1000000000" step="any"
        value=${setting.strength ?? ''}
        placeholder=${String(attack.defaultStrength)}
        onChange=${(event: Event) => {
          const { attack: name, corruption } = setting;
          const typed = valueOf(event);
          void sendSetting({
            attack: name, corruption, ...(typed !== '' && { strength: Number(typed) }),
          });
        }} /></div>`}
  </section>`;
}

/** `heavy-tailed` as `Heavy-tailed`. */
function spokenName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function Restart({ now, all }: { readonly now: State; readonly all: Programme }): VNode {
  const chosen = ticked.value ?? now.scene.estimators;
  const toggle = (name: string): void => {
    ticked.value = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
  };
  const start = (data: string): void => {
    void sendConfig({ ...now.scene, data, estimators: chosen, ...typed.value }).then(() => {
      ticked.value = null;
      typed.value = {};
    });
  };
  const isFine = chosen.length > 0 && chosen.length <= estimatorsMax;
  return html`<section aria-label="with a new start">
    <h2>The people and the estimators</h2>
    <div class="field"><label for="data">What honest people hold</label>
      <select id="data" value=${now.scene.data} onChange=${(event: Event) => start(valueOf(event))}>
        ${all.data.map(({ name }) => html`<option value=${name}>${spokenName(name)}</option>`)}
      </select>
      <span class="quiet">${all.data.find(({ name }) =>
        name === now.scene.data)?.title}</span></div>
    ${headings.map(([maturity, legend]) => html`<fieldset><legend>${legend}</legend><div class="ticks">
      ${all.estimators.filter((estimator) =>
        estimator.maturity === maturity).map(({ name, title, assumption }) =>
        html`<label title=${`${title}. It assumes: ${assumption}`}>
          <input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} />
          <span>${name}</span></label>`)}
    </div></fieldset>`)}
    <div class="field-pair"><${NumberField} name="contributors" label="People" step="1"
        min="100" max="100000" now=${now} />
      <${NumberField} name="epsilon" label="Epsilon" step="any" min="0.01" max="20"
        now=${now} /></div>
    <button type="button" class="primary" disabled=${!isFine} onClick=${() =>
      start(now.scene.data)}>Start again</button>
    <details><summary>The same elsewhere</summary>
      <p class="command"><code>${now.command}</code></p></details>
  </section>`;
}

/** A number of the scene, which counts from the next start on. */
function NumberField({ name, label, now, ...limits }: {
  readonly name: 'contributors' | 'epsilon'; readonly label: string; readonly now: State;
  readonly step: string; readonly min: string; readonly max: string;
}): VNode {
  return html`<div class="field"><label for=${name}>${label}</label>
    <input id=${name} type="number" ...${limits} value=${typed.value[name] ?? now.scene[name]}
      onChange=${(event: Event) => {
        const number = Number(valueOf(event));
        typed.value = { ...typed.value, [name]: number > 0 ? number : now.scene[name] };
      }} /></div>`;
}
