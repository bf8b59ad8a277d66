import type { VNode } from 'preact';
import { clockTime, counted, duration, sentence, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { reasonInWords } from '../base/model.js';
import { Figure } from './figures.js';
import type { EpochOutcome, StudyOutcomes, StudyProgress } from './model.js';

/** The outcomes of the newest epochs, advice on what to change, and how long the budget lasts. */
export function Outcomes({ of, study }: {
  readonly of: StudyOutcomes; readonly study: StudyProgress;
}): VNode {
  const { outcomes, reasons } = of;
  const good = outcomes.filter(({ refused }) => refused.length === 0).length;
  return html`<div class="stack"><h3>Outcomes</h3>
    <dl class="figures two">
      <${Figure} name="Answered in full" value=${outcomes.length === 0 ? 'none yet'
        : `${whole(good)} of ${whole(outcomes.length)}`} note="newest epochs" />
      <${BudgetLeft} of=${of} study=${study} /></dl>
    ${outcomes.length > 0 && html`<ol class="strip" role="list" aria-label="Outcomes of epochs">${
      outcomes.map((each) => html`<${Cell} key=${each.epoch} of=${each} />`)}</ol>`}
    ${reasons.length > 0 && html`<ul class="reasons" role="list">${reasons.map((each) =>
      html`<li key=${each.reason}><p><strong>${sentence(reasonInWords(each.reason))}</strong>
        <span class="quiet"> ${counted(each.count, 'answer')}, newest in epoch ${each.epoch}${
          study.questions.length > 0 ? ` (${each.question})` : ''}</span></p>
        <p class="small quiet">${sentence(each.text)}</p>
        <p class="small"><strong>What to change: </strong>${each.remedy}</p></li>`)}</ul>`}
    </div>`;
}

function Cell({ of: { epoch, closedAtMs, answered, refused } }: {
  readonly of: EpochOutcome;
}): VNode {
  const what = refused.length === 0 ? 'answered'
    : `${answered > 0 ? `${whole(refused.length)} of ${whole(refused.length + answered)} refused`
      : 'refused'}: ${refused.map(({ reason }) => reasonInWords(reason)).join(', ')}`;
  const text = `Epoch ${epoch}, ${clockTime(closedAtMs)}: ${what}`;
  const look = refused.length === 0 ? 'good' : answered > 0 ? 'warn part' : 'warn';
  return html`<li class=${look} title=${text}><span class="hidden">${text}</span></li>`;
}

function BudgetLeft({ of: { epochsLeft, leftMs, renewsMs }, study }: {
  readonly of: StudyOutcomes; readonly study: StudyProgress;
}): VNode {
  const name = 'Budget left';
  if (study.state !== 'open') return html`<${Figure} name=${name} value="none needed" note="over" />`;
  if (epochsLeft === null) {
    return html`<${Figure} name=${name} value="per person" note=${renewsMs === null
      ? 'each contributor has a budget' : `renews every ${duration(renewsMs)}`} />`;
  }
  const note = renewsMs !== null ? `then it waits: charges lapse after ${duration(renewsMs)}`
    : leftMs === null ? 'after the open one' : `about ${duration(leftMs)} after the open one`;
  return html`<${Figure} name=${name} value=${counted(epochsLeft, 'epoch')} note=${note} />`;
}
