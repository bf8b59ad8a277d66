import type { VNode } from 'preact';
import { ifFalseText } from '../../client/words.js';
import { intervalOf, shownInterval } from '../../src/answers/intervals.js';
import { whole, zonedTime } from '../base/format.js';
import { html } from '../base/html.js';
import type { ValueOutcome } from '../base/model.js';
import { questionInWords } from '../base/question-words.js';
import { historyOf, type Followed } from '../base/session.js';
import { newestLines } from '../base/summary.js';

/** The question in words, its newest answer in a few lines, and what their intervals mean. */
export function Lead({ followed, place }: {
  readonly followed: Followed;
  /** The place of the question in the study. */
  readonly place: number;
}): VNode {
  const asked = followed.questions[place]!;
  const history = historyOf(followed, place);
  const { lastValue } = history;
  return html`<section class="card lead"><h2>${
    questionInWords(followed.entry.document, asked)}</h2>
    ${lastValue !== null && html`
      <p class="quiet as-of">Answer of epoch ${whole(lastValue.epoch)}, closed ${
        zonedTime(Number(lastValue.closedAtMs))}</p>
      <dl>${newestLines(asked, history).map(({ name, lead, range }) => html`<div key=${name}>
        <dt><bdi>${name}</bdi></dt>
        <dd>${lead} <span class="quiet">${range}</span></dd></div>`)}</dl>
      <${Meaning} outcome=${lastValue.outcome} parameters=${asked.parameters} />`}</section>`;
}

/** The meaning of an answer's intervals; nothing where it has none. */
function Meaning({ outcome, parameters }: {
  readonly outcome: ValueOutcome; readonly parameters: Readonly<Record<string, unknown>>;
}): VNode | null {
  if (outcome.estimate.every((_, place) => intervalOf(outcome, place) === null)) return null;
  const covers = shownInterval(outcome) === undefined
    ? 'It counts the noise that was added for privacy. It does not count chance in who took part.'
    : 'It counts the noise that was added for privacy. It also counts chance in who took part, as '
      + 'far as the estimator knows it.';
  const isFalse = outcome.intervalIfFalse95 !== undefined;
  return html`<p>In about 95 of 100 epochs such an interval holds the value that the question asks
    for${isFalse && `, ${ifFalseText(parameters)}`}.</p>
    <details><summary>What an interval says</summary><p class="small">${covers} ${isFalse
      ? 'The darker band in a chart is the interval that would do if nobody lied.'
      : 'It does not count what liars can shift: see what is promised about them.'} A triangle at
      the edge of a chart marks an interval that reaches further.</p></details>`;
}
