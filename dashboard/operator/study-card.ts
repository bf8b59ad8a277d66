import type { VNode } from 'preact';
import { duration, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { Badge } from '../base/shell.js';
import { useNow } from '../views/status.js';
import { Figure, Meter, Refusals, Track } from './figures.js';
import { Controls, Notes } from './controls.js';
import type { QuestionProgress, StudyOutcomes, StudyProgress } from './model.js';
import { Outcomes } from './outcomes.js';

const states = {
  open: ['good', 'Open'], exhausted: ['accent', 'Budget used up'], ended: ['quiet', 'Ended'],
} as const;

const paused = ['warn', 'Paused'] as const;

/** The state of a study, in a word or two. */
export function StateBadge({ study: { state, paused: isPaused } }: {
  readonly study: StudyProgress;
}): VNode {
  const [tone, text] = state === 'open' && isPaused === true ? paused : states[state];
  return html`<${Badge} tone=${tone}>${text}<//>`;
}

/** One study: its epoch, its contributors, its groups and its refusals. */
export function StudyCard(
  { study, skewMs, rate, outcomes }:
  {
    readonly study: StudyProgress; readonly rate: number | null;
    /** Add it to the server's times to get this page's. */
    readonly skewMs: number;
    readonly outcomes: StudyOutcomes | null;
  },
): VNode {
  const { progress, batches } = study;
  return html`<section class="card study" aria-label=${study.name}>
    <div class="card-head"><h2><a href=${`/#/study/${study.id}`}>${study.name}</a></h2>
    <${StateBadge} study=${study} /></div>
    <${Epoch} study=${study} skewMs=${skewMs} />
    ${progress !== null && html`<div class="meters">
      <${Meter} name="Contributors, of the planned cohort" value=${progress.contributors}
        of=${study.cohort} />
      ${progress.groups > 1 && html`<${Meter} name="Groups reached" value=${progress.groupsReached}
        of=${progress.groups} />`}
      <${Meter} name="Contributions complete" value=${progress.complete} of=${progress.contributors}
        tone="good" />
      ${progress.people !== undefined && html`<${Meter} name="People, of the most that an epoch takes"
        value=${progress.people.came} of=${progress.people.most} />`}</div>`}
    ${study.leftOut > 0
      && html`<p class="small warn-text">${whole(
        study.leftOut,
      )} contributors are left out of this epoch: their own
      budget does not pay for it.</p>`}
    <dl class="figures three">
      <${Figure} name="Accepted" value=${whole(batches.accepted)} note=${rate === null
        ? 'batches' : `batches, ${whole(rate)} a second`} />
      <${Figure} name="Sent twice" value=${whole(batches.duplicates)} note="counted once" />
      <${Figure} name="Releases" value=${whole(study.releases)} note="in the log" /></dl>
    ${study.questions.length > 1 && html`<${Questions} questions=${study.questions} />`}
    ${outcomes !== null && html`<${Outcomes} of=${outcomes} study=${study} />`}
    <div class="stack"><h3>Batches refused</h3><${Refusals} refused=${batches.refused} /></div>
    <${Notes} study=${study} /><${Controls} study=${study} /></section>`;
}

/** The questions of a study, each with its part of the cost and its last outcome. */
function Questions({ questions }: { readonly questions: readonly QuestionProgress[] }): VNode {
  return html`<div class="stack"><h3>Questions</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Questions"><table>
    <thead><tr><th>Question</th><th>Estimator</th><th>Part of the cost</th><th>Last release</th>
    </tr></thead><tbody>${questions.map(({ name, estimator, part, last }) => html`<tr key=${name}>
      <th scope="row">${name}</th><td>${estimator}</td><td class="count">${part} %</td>
      <td>${last === null ? 'none yet' : last === 'value' ? 'answered' : `refused: ${last}`}</td>
      </tr>`)}</tbody></table></div></div>`;
}

/** The open epoch, and the part of its time that has passed. */
function Epoch({ study: { state, paused: isPaused, epoch, closesAtMs, everyMs }, skewMs }: {
  readonly study: StudyProgress; readonly skewMs: number;
}): VNode {
  const leftMs = Math.max(0, closesAtMs + skewMs - useNow(250));
  if (state !== 'open') return html`<p class="quiet">No epoch is open, and none will be.</p>`;
  if (epoch === '0') {
    return html`<p class="quiet">${isPaused === true
      ? 'Paused: no epoch opens until you resume it.' : 'No epoch is open now.'}</p>`;
  }
  if (everyMs === null || closesAtMs === 0) {
    return html`<p class="epoch">Epoch ${whole(BigInt(epoch))} closes on a count.</p>`;
  }
  return html`<div class="meter"><span class="meter-name epoch">Epoch ${whole(BigInt(epoch))}</span>
    <span class="meter-value" aria-hidden="true">${leftMs > 0
      ? `closes in ${duration(Math.ceil(leftMs / 1000) * 1000)}` : 'closing'}</span>
    <${Track} share=${1 - leftMs / everyMs} tone="quiet" name="Time of the epoch passed" /></div>`;
}
