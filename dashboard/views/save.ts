import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '../base/html.js';
import { savedForms, type SavedChart, type SavedForm } from '../base/saved.js';

const formWords: Readonly<Record<SavedForm, string>> = {
  CSV: 'numbers', SVG: 'picture of lines', PNG: 'picture of pixels',
};

/** Saves the numbers or the picture of a chart, as far as it is shown. */
export function Save(chart: SavedChart): VNode {
  const [fault, setFault] = useState('');
  const save = (form: SavedForm): void => {
    // Few people save, so that code comes when it is needed.
    import('./save-files.js').then(({ saveChart }) => saveChart(chart, form)).then(
      () => setFault(''), () => setFault('It could not be saved: the server does not answer.'),
    );
  };
  return html`<span class="save" role="group" aria-label=${`Save ${chart.words.name}`}>
    ${savedForms.map((form) => html`<button key=${form} type="button" class="plain"
      aria-label=${`Save ${form}, ${formWords[form]} of ${chart.words.name}`}
      onClick=${() => save(form)}>${form}</button>`)}
    ${fault !== '' && html`<span class="warn-text small" role="alert">${fault}</span>`}</span>`;
}
