import type { VNode } from 'preact';
import { html } from '../base/html.js';
import { studyAddress } from '../base/route.js';
import { studies, type Followed } from '../base/session.js';
import { changesOf, versionName, versionsOf } from '../base/versions.js';
import { comparedName } from '../base/view.js';

const stateWords = { open: 'open', exhausted: 'its budget is used up', ended: 'ended' } as const;

/** The versions of a study and the changes of each, if there are several. */
export function Versions({ followed, place }: {
  readonly followed: Followed;
  /** The place of the question in the study. */
  readonly place: number;
}): VNode | null {
  const versions = versionsOf(followed, studies.value ?? []);
  if (versions.length < 2) return null;
  const other = versions[versions.indexOf(followed) + 1] ?? versions[versions.length - 2]!;
  const { name } = followed.questions[place]!;
  const both = [followed, other].map(({ entry }) => comparedName(entry.id, name, 0)).join('_');
  const canCompare = other.questions.some((each) => each.name === name);
  return html`<section class="card versions"><div class="card-head"><h2>Versions of this study</h2>
      ${canCompare && html`<a class="button" href=${`${studyAddress(followed.entry.id,
        followed.questions.length > 1 ? name : undefined)}?with=${both}`}>Compare two</a>`}</div>
    <ol>${versions.map((each, i) => html`<li key=${each.entry.id}>
      <${Version} version=${each} older=${versions[i + 1]} isShown=${each === followed} /></li>`)}
    </ol><p class="quiet small">A changed study file is a new version. It has a log of its own, and
      the versions share their privacy budget.</p></section>`;
}

function Version({ version, older, isShown }: {
  readonly version: Followed; readonly older: Followed | undefined; readonly isShown: boolean;
}): VNode {
  const { entry, news } = version;
  const state = stateWords[news.value.state];
  const changes = older === undefined ? [] : changesOf(version, older);
  return html`<p>${isShown ? html`<strong>this version</strong>`
      : html`<a href=${studyAddress(entry.id)}>${versionName(version, studies.value ?? [])}</a>`}
      ${' '}<span class="quiet">${state}</span></p>
    ${changes.length > 0 && html`<ul class="small">${changes.map((change) =>
      html`<li key=${change.name}>${change.name}: <bdi>${change.now ?? 'none'}</bdi>
        ${' '}<span class="quiet">before: <bdi>${change.before ?? 'none'}</bdi></span></li>`)}
    </ul>`}`;
}
