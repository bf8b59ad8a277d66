import { describeNumbers } from '../answers/describe.js';
import { canonicalJson } from '../base/canonical-json.js';
import { otherName, type ColumnType } from '../base/columns.js';
import { valueFault } from '../base/findings.js';
import type { ValueOutcome } from '../base/outcome.js';
import { publicKeys } from '../base/public-keys.js';
import { publicParts } from '../base/question-rules.js';
import type { GroupBy, Question } from '../base/questions.js';
import { textFault } from '../base/text-form.js';
import type { Answer, ReleaseBody } from '../wire/messages.js';
import type { StudyDocument } from '../wire/study-document.js';
import { LogError } from './faults.js';

/**
 * Checks that a release answers the questions of its study: names and order, estimators and
 * parameters, charges, and keys.
 * @throws LogError('answers-mismatch'), or LogError('keys-malformed') for the keys of an answer.
 */
export function checkAnswers(document: StudyDocument, release: ReleaseBody): void {
  const { questions } = document;
  const { answers, index, cost } = release;
  if (answers.length !== questions.length) {
    throw mismatch(index, `has ${answers.length} answers, and the study asks `
      + `${questions.length} questions`);
  }
  questions.forEach((question, i) => checkAnswer(document, question, answers[i]!, index));
  const sumOf = (amount: (answer: Answer) => bigint): bigint =>
    answers.reduce((sum, answer) => sum + amount(answer), 0n);
  if (sumOf(({ rhoAmount }) => rhoAmount) !== cost.rhoAmount
      || sumOf(({ deltaAmount }) => deltaAmount) !== cost.deltaAmount) {
    throw mismatch(index, 'has answers whose charges do not add up to its own');
  }
}

function checkAnswer(
  document: StudyDocument, question: Question, answer: Answer, index: bigint,
): void {
  const { name, estimator, parameters, by, columns } = question;
  if (answer.question !== name) {
    throw mismatch(index, `does not answer the question ${name} in its place`);
  }
  for (const [what, agrees] of [
    ['estimator', answer.estimator === estimator],
    ['parameters', answer.parameters === canonicalJson(parameters)],
  ] as const) {
    if (!agrees) throw mismatch(index, `states other ${what} of ${name} than the study`);
  }
  const { outcome } = answer;
  if (outcome.kind === 'refused') return;
  // An estimator that sees no column gets one number for each contributor.
  const fault = by === undefined ? valueFault(outcome, Math.max(1, columns.length)) : null;
  if (fault !== null) throw mismatch(index, `has an answer to ${name} that does not fit: ${fault}`);
  const keyFault = keysFault(document, question, outcome);
  if (keyFault !== null) {
    throw new LogError(
      'keys-malformed', `release ${index}, question ${name}: ${keyFault}`, { index, name },
    );
  }
}

function mismatch(index: bigint, what: string): LogError {
  return new LogError('answers-mismatch', `release ${index} ${what}`, { index });
}

/** Why the keys of an answer are not those that its question allows; null when they are. */
function keysFault(
  document: StudyDocument, question: Question, outcome: ValueOutcome,
): string | null {
  const { by } = question;
  const { groups } = outcome;
  if (by === undefined) return groups === undefined ? null : 'it has groups, and is not split';
  const [number] = describeNumbers(question);
  // How many keys there are, in one number: it shows none.
  if (number?.kind === 'groups') {
    return groups === undefined && outcome.estimate.length === 1
      ? null : 'it has groups, and counts them';
  }
  if (groups === undefined) return 'it has no groups, and is split';
  const isAlone = by.discover?.answer === 'groups';
  if (groups.length > 0 && isAlone !== (outcome.estimate.length === 0)) {
    return isAlone ? 'it has numbers, and shows groups alone' : 'it has groups without numbers';
  }
  if (by.discover !== undefined) return foundKeysFault(document, by, groups)
    ?? (number?.kind === 'count' && !isFalling(outcome.estimate)
      ? 'the groups are not in the order of their counts' : null);
  const listed = publicKeys(by, document);
  if (listed === null) return 'the groups are not those of the study';
  const inRange = listed.filter((key) => !isOther(document, by, key));
  return sameKeys(groups, listed) || sameKeys(groups, inRange)
    ? null : 'the groups are not those of the study';
}

/** Logs stay valid that were begun when an integer outside its range had no key. */
function isOther(
  { columns, types }: StudyDocument, by: GroupBy, key: readonly string[],
): boolean {
  return key.some((part, i) =>
    part === otherName && types?.[columns.indexOf(by.columns[i]!)]?.type === 'integer');
}

/** Nobody listed these keys: each is possible, they are different, and not too many. */
function foundKeysFault(
  { columns, types }: StudyDocument, by: GroupBy, keys: readonly (readonly string[])[],
): string | null {
  const { top } = by.discover!;
  if (keys.length > top) return `it has ${keys.length} groups, more than top: ${top}`;
  if (new Set(keys.map((key) => JSON.stringify(key))).size < keys.length) {
    return 'two groups are the same';
  }
  const tests = by.columns.map((name) => partTest(types?.[columns.indexOf(name)]));
  const isPossible = (key: readonly string[]): boolean =>
    key.length === by.columns.length && key.every((part, i) => tests[i]!(part));
  return keys.every(isPossible) ? null : 'a group has a part that its column cannot hold';
}

/** True if a text can be a part of a key that a column of this type gave. */
function partTest(type: ColumnType | undefined): (part: string) => boolean {
  if (type?.type === 'text') return (part) => textFault(part, type.bytes) === null;
  const parts = type === undefined ? null : publicParts(type);
  return (part) => parts?.includes(part) === true;
}

function isFalling(counts: readonly number[]): boolean {
  return counts.every((count, i) => i === 0 || count <= counts[i - 1]!);
}

function sameKeys(
  left: readonly (readonly string[])[], right: readonly (readonly string[])[],
): boolean {
  return left.length === right.length && left.every((key, i) =>
    key.length === right[i]!.length && key.every((part, k) => part === right[i]![k]));
}
