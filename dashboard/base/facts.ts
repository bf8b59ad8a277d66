import type { StudyDocument } from '../../client/index.js';
import { answerKeys } from '../../client/words.js';
import { duration, exact, percent, spoken, whole } from './format.js';
import type { Asked } from './model.js';
import { columnText } from './number-words.js';
import { groupsInWords, testInWords } from './question-words.js';

/** One public fact of a question or its study, in words. */
export interface Fact {
  readonly name: string;
  readonly text: string;
  /** The name of a parameter, as the study file has it. */
  readonly parameter?: string;
}

const reduceWords = { mean: 'averaged', sum: 'added up', one: 'one counts' } as const;

/** A question, and the facts of its study about contributors, epochs and rows. */
export function factsOf(document: StudyDocument, asked: Asked): readonly Fact[] {
  const { estimator, columns, where, by, part } = asked;
  const { retention, contribution } = document;
  return [
    { name: 'Estimator', text: estimator },
    ...parametersOf(asked),
    { name: 'Columns', text: columns.length === 0 ? 'none: it counts people'
      : columns.map((name) => columnText(document, name)).join(', ') },
    ...(where.length === 0 ? []
      : [{ name: 'Rows that count',
        text: where.map((test) => testInWords(document, test)).join(', and ') }]),
    ...(by === undefined ? [] : [
      { name: 'Split by',
        text: by.columns.map((name) => columnText(document, name)).join(', ') },
      { name: 'Groups', text: groupsInWords(by) },
    ]),
    ...(part === 100 ? []
      : [{ name: 'Its part of the privacy', text: percent(part / 100) }]),
    { name: 'Contributors', text: `about ${whole(document.cohort)} an epoch` },
    { name: 'Epoch', text: 'everyMs' in document.epoch ? `every ${duration(document.epoch.everyMs)}`
      : `every ${whole(document.epoch.contributors)} contributors` },
    { name: 'Rows each',
      text: `up to ${whole(contribution.rowsMax)}, ${reduceWords[asked.reduce]}` },
    { name: 'Open to', text: admissionText(document.admission) },
    { name: 'Rows are kept', text: retention.kind === 'release' ? 'until the release'
      : `${duration(retention.keepMs)} after it` },
    ...quarantineOf(document, asked),
  ];
}

function parametersOf(asked: Asked): readonly Fact[] {
  // Counts by name have edges between the places of the names, which mean nothing to people.
  const hidden = answerKeys(asked) === null ? [] : ['edges', 'top'];
  return Object.entries(asked.parameters)
    .filter(([name, value]) => value !== undefined && !hidden.includes(name))
    .map(([name, value]) => ({
      name: spoken(name).replaceAll('-', ' '), parameter: name,
      text: name === 'column' && typeof value === 'number'
        ? spoken(asked.columns[value] ?? exact(value)) : parameterText(value),
    }));
}

function quarantineOf({ quarantine }: StudyDocument, { parameters }: Asked): readonly Fact[] {
  if (quarantine === undefined) return [];
  const who = quarantine.automatic === true ? 'contributors whose rows were'
    : 'if the operator decides so, contributors whose rows were';
  const unit = parameters['spread'] === undefined ? '' : ' spreads';
  return [{ name: 'Left out later',
    text: `${who} more than ${exact(quarantine.beyond)}${unit} from an answer` }];
}

/** The people who may contribute. A promise about a share of the contributors depends on it. */
function admissionText(admission: StudyDocument['admission']): string {
  switch (admission.kind) {
    case 'open': return 'anybody';
    case 'contributorKeys': return 'a list of keys';
    case 'enrolment': return `keys enrolled by ${admission.issuer.slice(0, 8)}\u2026`;
    case 'tokens':
      return `people, by one token of ${admission.issuer} in each ${duration(admission.perMs)}`;
    case 'rate':
      return `anybody, ${whole(admission.contributorKeys)} new keys in ${duration(admission.perMs)}`;
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

/** A list parameter is sent as JSON; null for anything else. */
function listIn(parameter: unknown): readonly unknown[] | null {
  if (typeof parameter !== 'string' || !parameter.startsWith('[')) return null;
  try {
    const list: unknown = JSON.parse(parameter);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
