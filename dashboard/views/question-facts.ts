import type { VNode } from 'preact';
import { factsOf } from '../base/facts.js';
import { html } from '../base/html.js';
import type { Followed } from '../base/session.js';

/**
 * The question, and every public fact of its study.
 * @param place that of the question in the study.
 */
export function QuestionFacts({ followed: { entry, questions }, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode {
  const { document, id } = entry;
  const asked = questions[place]!;
  const { parameterWords, title } = asked;
  const isList = document.questions.length > 1;
  const facts = factsOf(document, asked);
  const explained = facts.filter(({ parameter }) => parameter !== undefined);
  return html`<section class="card question"><h2>The question${isList && `: ${asked.name}`}</h2>
    ${isList && html`<p class="quiet">${title}</p>`}<dl class="facts">
      ${facts.map(({ name, text, parameter }) => html`<div key=${name}
        title=${parameter && parameterWords[parameter]}><dt>${name}</dt>
        <dd class=${name === 'Estimator' ? 'code' : undefined}>${text}</dd></div>`)}
    </dl>
    ${explained.some(({ parameter }) => parameterWords[parameter!] !== undefined) && html`<details>
      <summary>What the parameters mean</summary>
      <dl class="words small">${explained.map(({ name, parameter }) =>
        html`<div key=${name}><dt>${name}</dt>
        <dd>${parameterWords[parameter!] ?? 'no description'}</dd></div>`)}</dl></details>`}
    <p class="small quiet study-id">Study id <span class="code">${id
      .slice(0, 16)}…</span></p></section>`;
}
