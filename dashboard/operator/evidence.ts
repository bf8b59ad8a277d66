import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, whole } from '../base/format.js';
import { html } from '../base/html.js';
import type { Evidence, StudyProgress } from './model.js';
import { Quarantine, Quarantined } from './quarantine.js';
import { askEvidence, Refused } from './session.js';

type Answer =
  | { readonly kind: 'none' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'fault'; readonly text: string }
  | { readonly kind: 'found'; readonly evidence: Evidence; readonly study: string };

/** On request, shows how far one contributor's own rows are from the published answers. */
export function EvidenceCard({ studies }: { readonly studies: readonly StudyProgress[] }): VNode {
  const [answer, setAnswer] = useState<Answer>({ kind: 'none' });
  const ask = (event: Event): void => {
    event.preventDefault();
    const { elements } = event.currentTarget as HTMLFormElement;
    const valueOf = (name: string): string => (elements.namedItem(name) as HTMLInputElement).value;
    setAnswer({ kind: 'asking' });
    const study = valueOf('study');
    askEvidence(study, valueOf('contributor')).then(
      (evidence) => setAnswer({ kind: 'found', evidence, study }),
      (error: unknown) => setAnswer({
        kind: 'fault',
        text: error instanceof Refused ? error.message : 'the server does not answer',
      }),
    );
  };
  return html`<section class="card evidence" aria-labelledby="evidence-title">
    <div><h2 id="evidence-title">One contributor</h2>
    <p class="quiet small">One number says how far a contributor's own rows are from the
      newest published answer. It is computed when you ask, and not stored.
      Rows that are far away may be lies. They may also be those of an
      unusual person.</p></div>
    <form onSubmit=${ask}>
      <label class="field">Study<select name="study">${studies.map(({ id, name }) =>
        html`<option key=${id} value=${id}>${name}</option>`)}</select></label>
      <label class="field grow">Public key<input name="contributor" class="code" required
        pattern="\\s*[0-9a-fA-F]{64}\\s*" spellcheck="false"
        autocomplete="off" title="64 hexadecimal digits"
        placeholder="64 hexadecimal digits" /></label>
      <button disabled=${answer.kind === 'asking'}>Measure</button></form>
    <div role="status" class="stack"><${Found} answer=${answer} studies=${studies} /></div>
    <${Quarantined} studies=${studies} /></section>`;
}

function Found({ answer, studies }: {
  readonly answer: Answer; readonly studies: readonly StudyProgress[];
}): VNode | null {
  if (answer.kind === 'none') return null;
  if (answer.kind === 'asking') {
    return html`<p class="quiet small">Looking through the journal.</p>`;
  }
  if (answer.kind === 'fault') {
    return html`<p class="fault small">Nothing was measured: ${answer.text}.</p>`;
  }
  const { evidence } = answer;
  if (evidence.epochs.length === 0) {
    return html`<p class="quiet small">The server has no rows of this key${evidence.truncated
      ? ' in the part that was looked through' : ''}:
      it sent none since the last release, or they are deleted by the study's rule.</p>`;
  }
  const unit = evidence.unit === 'spread' ? 'spreads' : 'in the columns\' units';
  return html`<div class="stack">
    <div class="scroll" tabindex="0" role="region" aria-label="Distances"><table>
    <thead><tr><th>Epoch</th><th>Rows</th><th>Distance, ${unit}</th>
    <th>Farthest row</th></tr></thead>
    <tbody>${evidence.epochs.map(
      ({ epoch, released, rows, distance, farthest }) => html`<tr key=${epoch}>
      <th scope="row">${whole(BigInt(epoch))}${released ? '' : ', open'}</th><td>${whole(rows)}</td>
      <td>${distance === null ? 'no answer yet' : amount(distance)}</td>
      <td>${farthest === null ? 'no answer yet' : amount(farthest)}</td></tr>`,
    )}</tbody></table></div>
    <p class="quiet small">${evidence.answer === null
      ? 'This study has published no answer that rows could be compared with.'
      : `From the answer of epoch ${evidence.answer.epoch}.`}</p>
    <${Quarantine} key=${evidence.contributor} evidence=${evidence} study=${studies.find(({ id }) =>
      id === answer.study)} /></div>`;
}
