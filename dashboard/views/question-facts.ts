import type { VNode } from 'preact';
import { answerKeys, type StudyDocument } from '../../client/index.js';
import { listIn } from '../base/answer.js';
import { duration, exact, percent, spoken, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { keysInWords, testInWords } from '../base/question-words.js';
import type { Followed } from '../base/session.js';

const reduceWords = { mean: ' averaged', sum: ' added up', one: ' one counts' } as const;

/**
 * The question, and every public fact of its study.
 * @param place that of the question in the study.
 */
export function QuestionFacts({ followed: { entry, questions }, place }: {
  readonly followed: Followed; readonly place: number;
}): VNode {
  const { document, id } = entry;
  const asked = questions[place]!;
  const { estimator, parameters, columns, reduce, parameterWords, title } = asked;
  const isList = document.questions !== undefined;
  // Counts by name have edges between the places of the names: they say nothing to people.
  const names = answerKeys(asked);
  const hidden = names === null ? [] : ['edges', 'top'];
  const rows = Object.entries(parameters)
    .filter(([name, value]) => value !== undefined && !hidden.includes(name));
  return html`<section class="card question"><h2>The question${isList && `: ${asked.name}`}</h2>
    ${isList && html`<p class="quiet">${title}</p>`}<dl class="facts">
      <div><dt>Estimator</dt><dd class="code">${estimator}</dd></div>
      ${rows.map(([name, value]) => html`<div key=${name} title=${parameterWords[name]}>
        <dt>${spoken(name).replaceAll('-', ' ')}</dt>
        <dd>${name === 'column'
          && typeof value === 'number' ? spoken(columns[value] ?? exact(value))
          : parameterText(value)}</dd></div>`)}
      <div><dt>Columns</dt><dd>${columns.length === 0 ? 'none: it counts people'
        : columns.map(spoken).join(', ')}</dd></div>
      ${isList && html`<div><dt>Rows that count</dt><dd>${asked.where.length === 0 ? 'all'
        : asked.where.map(testInWords).join(', and ')}</dd></div>`}
      ${asked.by !== undefined && html`<div><dt>Split by</dt>
        <dd>${asked.by.columns.map(spoken).join(', ')}</dd></div>`}
      ${asked.by !== undefined && html`<div><dt>Keys</dt><dd>${keysInWords(asked.by)}</dd></div>`}
      ${isList && html`<div><dt>Its share of the privacy</dt><dd>${percent(asked.share / 100)}</dd>
        </div>`}
      <div><dt>Contributors</dt><dd>about ${whole(document.cohort)} an epoch</dd></div>
      <div><dt>Epoch</dt><dd>${'everyMs' in document.epoch
        ? `every ${duration(document.epoch.everyMs)}`
        : `every ${whole(document.epoch.contributors)} contributors`}</dd></div>
      <div><dt>Rows each</dt><dd>up to ${whole(document.contribution.rowsMax)},
        ${reduceWords[reduce]}</dd></div>
      <div><dt>Open to</dt><dd>${admissionText(document.admission)}</dd></div>
      <div><dt>Rows are kept</dt><dd>${document.retention.kind === 'release'
        ? 'until the release' : `${duration(document.retention.keepMs)} after it`}</dd></div>
      ${document.quarantine !== undefined && html`<div><dt>Left out later</dt>
        <dd>${document.quarantine.automatic === true
          ? 'contributors whose rows were'
          : 'if the operator decides so, contributors whose rows were'}
          ${` more than ${exact(document.quarantine.beyond)}`
            + `${parameters['scale'] === undefined ? '' : ' scales'}`}
          ${' from an answer'}</dd></div>`}
    </dl>
    ${rows.some(([name]) => parameterWords[name] !== undefined) && html`<details>
      <summary>What the parameters mean</summary>
      <dl class="words small">${rows.map(([name]) =>
        html`<div key=${name}><dt>${spoken(name).replaceAll('-', ' ')}</dt>
        <dd>${parameterWords[name] ?? 'no description'}</dd></div>`)}</dl></details>`}
    <p class="small quiet study-id">Study id <span class="code">${id
      .slice(0, 16)}…</span></p></section>`;
}

/** Who may contribute. A promise about a share of the contributors depends on it. */
function admissionText(admission: StudyDocument['admission']): string {
  switch (admission.kind) {
    case 'open': return 'anybody';
    case 'keys': return 'a list of keys';
    case 'enrolment': return `keys enrolled by ${admission.issuer.slice(0, 8)}\u2026`;
    case 'tokens':
      return `people, by one token of ${admission.issuer} in each ${duration(admission.perMs)}`;
    case 'rate':
      return `anybody, ${whole(admission.keys)} new keys in ${duration(admission.perMs)}`;
  }
}

function parameterText(value: unknown): string {
  if (typeof value === 'number') return exact(value);
  if (Array.isArray(value) && value.every((each) => typeof each === 'number')) {
    const first = value.slice(0, 8).map(exact).join(', ');
    return value.length > 8 ? `${first}, and ${value.length - 8} more` : first;
  }
  const list = listIn(value);
  if (list !== null) return `a list of ${list.length}`;
  return typeof value === 'string' || typeof value === 'boolean'
    ? String(value) : JSON.stringify(value);
}
