import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { questionInWords } from '../base/question-words.js';
import { studyAddress, view } from '../base/route.js';
import { historyOf, type Followed } from '../base/session.js';
import { newestLines } from '../base/summary.js';
import { queryOf } from '../base/view.js';

/**
 * The questions of a study in words, each with the first line of its newest answer, as links.
 * Nothing for a study of one question.
 * @param place the question that is shown; -1: none of them.
 */
export function Questions({ followed, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode | null {
  const { entry, questions } = followed;
  if (entry.document.questions.length === 1) return null;
  return html`<nav class="card questions" aria-label="Questions"><ul>${questions.map((asked, i) => {
    const history = historyOf(followed, i);
    const [newest] = newestLines(asked, history);
    return html`<li key=${asked.name}><a
      href=${`${studyAddress(entry.id, asked.name)}${queryOf(view.value)}`}
      aria-current=${i === place ? 'page' : undefined}><span>${
        questionInWords(entry.document, asked)} <bdi class="code small quiet">${asked.name}</bdi>
        </span>${history.lastRefusal !== null ? html`<span class="small warn-text">no answer</span>`
        : newest !== undefined && html`<span class="newest-line"><span class="quiet small"><bdi>${
          newest.name}</bdi></span> ${newest.cell}</span>`}</a></li>`;
  })}</ul></nav>`;
}
