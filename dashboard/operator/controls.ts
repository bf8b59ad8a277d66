import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { clockTime } from '../base/format.js';
import { html } from '../base/html.js';
import type { StudyProgress } from './model.js';
import { act, type StudyAct } from './session.js';

interface Facts {
  readonly study: StudyProgress;
}

/** A request that runs, and the fault of the last one. */
function useAct(study: string) {
  const [state, setState] = useState({ asking: false, fault: '' });
  const run = async (name: StudyAct, more?: Readonly<Record<string, string>>): Promise<boolean> => {
    setState({ asking: true, fault: '' });
    const fault = await act(name, study, more);
    setState({ asking: false, fault });
    return fault === '';
  };
  return { ...state, run };
}

/** Pauses, resumes and ends a study. */
export function Controls({ study }: Facts): VNode | null {
  const { asking, fault, run } = useAct(study.id);
  const [isSure, setSure] = useState(false);
  if (study.state !== 'open') return null;
  const end = (): void => {
    setSure(false);
    void run('end-study');
  };
  return html`<div class="stack controls"><div class="buttons">
    ${study.paused === true
      ? html`<button type="button" disabled=${asking}
        onClick=${() => void run('resume-study')}>Resume</button>`
      : html`<button type="button" disabled=${asking}
        onClick=${() => void run('pause-study')}>Pause after this epoch</button>`}
    ${isSure
      ? html`<button type="button" class="final" disabled=${asking} onClick=${end}>End for good</button>
        <button type="button" onClick=${() => setSure(false)}>Keep it</button>`
      : html`<button type="button" disabled=${asking}
        onClick=${() => setSure(true)}>End the study…</button>`}</div>
    <div role="status">${isSure && html`<p class="small">The open epoch is released as planned, and
      none follows, ever. The log stays readable.</p>`}
    ${fault !== '' && html`<p class="fault small">Not done: ${fault}.</p>`}</div></div>`;
}

/** Notes about a study. Its page shows them to everybody. */
export function Notes({ study }: Facts): VNode {
  const { asking, fault, run } = useAct(study.id);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const field = form.elements.namedItem('note') as HTMLInputElement;
    if (await run('add-note', { text: field.value })) form.reset();
  };
  const notes = study.notes ?? [];
  return html`<details class="notes"><summary>Notes${notes.length > 0
      && ` (${notes.length})`}</summary>
    <div class="stack"><p class="quiet small">Everybody can read them at
      <code>/v1/studies/STUDY/notes</code>. Write nothing that exact counts told you.</p>
    ${notes.length > 0 && html`<ul role="list">${notes.map(({ id, atMs, text }) => html`<li key=${id}>
      <span><span class="quiet small">${clockTime(atMs)}</span> ${text}</span>
      <button type="button" disabled=${asking} aria-label=${`Remove the note: ${text}`}
        onClick=${() => void run('remove-note', { note: String(id) })}>Remove</button></li>`)}</ul>`}
    <form onSubmit=${send}><label class="field grow">New note, for now
      <input name="note" required maxlength="280" autocomplete="off" /></label>
      <button disabled=${asking}>Add</button></form>
    ${fault !== '' && html`<p class="fault small" role="alert">Not done: ${fault}.</p>`}</div></details>`;
}
