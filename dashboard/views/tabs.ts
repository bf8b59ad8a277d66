import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { studyAddress, view } from '../base/route.js';
import { historyOf, type Followed } from '../base/session.js';
import { queryOf } from '../base/view.js';

/**
 * Links to the questions of a study. Nothing for a study of one question.
 * @param place the question that is shown; -1: none of them.
 */
export function Tabs({ followed, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode | null {
  const { entry, questions } = followed;
  if (entry.document.questions.length === 1) return null;
  return html`<nav class="tabs" aria-label="Questions">${questions.map(({ name }, i) => html`
    <a key=${name} href=${`${studyAddress(entry.id, name)}${queryOf(view.value)}`}
      aria-current=${i === place ? 'page' : undefined}>${name}${
        historyOf(followed, i).lastRefusal !== null
        && html`<span class="small warn-text"> no answer</span>`}</a>`)}</nav>`;
}
