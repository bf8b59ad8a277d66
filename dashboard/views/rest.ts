import type { VNode } from 'preact';
import { html } from '../base/html.js';
import type { Followed } from '../base/session.js';
import { QuestionFacts } from './question-facts.js';
import { Releases } from './releases.js';
import { Versions } from './versions.js';

/** The part of a study's page below its charts: the releases, the question, and its versions. */
export function Rest({ followed, place }: {
  readonly followed: Followed;
  /** The place of the question in the study. */
  readonly place: number;
}): VNode {
  return html`<div class="rest"><${Releases} followed=${followed} place=${place} />
    <${QuestionFacts} followed=${followed} place=${place} />
    <${Versions} followed=${followed} place=${place} /></div>`;
}
