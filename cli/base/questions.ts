import { WireError } from '../../src/base/errors.js';
import { findingText } from '../../src/base/findings.js';
import { leftOutText } from '../../src/answers/left-out.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { factsNow } from '../../src/log/earlier-facts.js';
import { answeredNumbers, partsByName } from '../../src/base/parts.js';
import { runningText } from '../../src/base/running-totals.js';
import { keyDoubts, quotedText } from '../../src/base/shown-text.js';
import type { Answer } from '../../src/wire/messages.js';
import { decodeStudyDocument } from '../../src/wire/study-codec.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import {
  answerHeads, honestHead, intervalText, printAnswer, printFindings, printNotes, shownIfFalse,
  type AnswerContext,
} from './answers.js';
import { wrap } from './help.js';
import { terminalColumns } from './io.js';
import { describedQuestion } from '../../src/answers/describe.js';
import { labelsOf } from './labels.js';
import { lineText, numberText, type Output } from './output.js';

/** How `watch` and `verify` show the answers of a study. */

/**
 * The questions of a study, in one line: the estimator where its question has no name, else the
 * questions, each with its estimator and what it is split by.
 */
export function askedText(document: StudyDocument): string {
  if (document.wireForm === 'short') return document.questions[0]!.estimator;
  return document.questions.map(({ name, estimator, by }) =>
    `${name} (${estimator}${by === undefined ? '' : ` by ${by.columns.map(lineText).join(', ')}`})`)
    .join(', ');
}

/** The questions of a study, from its facts; null for facts that this version cannot read. */
export function askedIn(
  facts: Uint8Array,
): { readonly text: string; readonly questions: readonly string[] } | null {
  try {
    const document = decodeStudyDocument(factsNow(facts).facts);
    return { text: askedText(document), questions: document.questions.map(({ name }) => name) };
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}

/** The answers in the form of --json, by the names of their questions. */
export function answersJson(
  answers: readonly Answer[], document: StudyDocument,
): Readonly<Record<string, unknown>> {
  const asked = document.questions;
  const json = answers.map((answer, i): readonly [string, unknown] => {
    const { question, outcome, rhoAmount, deltaAmount } = answer;
    const { columns } = asked[i]!;
    const charge = { rhoAmount: rhoAmount.toString(), deltaAmount: deltaAmount.toString() };
    if (outcome.kind === 'refused') {
      const { reason, text } = outcome;
      return [question, { outcome: 'refused', reason, text, ...charge }];
    }
    const { kind, findings, ...value } = outcome;
    const labels = labelsOf(describedQuestion(asked[i]!, document));
    return [question, {
      ...partsByName(outcome), outcome: kind, ...value, estimate: answeredNumbers(value),
      findings: findings?.map((each) =>
        ({ ...each, text: findingText(each, columns, outcome.groups) })),
      ...(outcome.groups === undefined && labels.length === outcome.estimate.length && { labels }),
      leftOut: leftOutText(asked[i]!, document), ...charge,
    }];
  });
  return Object.fromEntries(json);
}

/** The answers for people: each under the name of its question. */
export function printAnswers(
  answers: readonly Answer[], document: StudyDocument, output: Output,
): void {
  const asked = document.questions;
  answers.forEach(({ question, estimator, outcome }, i) => {
    const { columns, parameters, by } = asked[i]!;
    const labels = labelsOf(describedQuestion(asked[i]!, document));
    const over = columns.length === 0 ? '' : ` of ${columns.map(lineText).join(', ')}`;
    const split = by === undefined ? '' : ` by ${by.columns.map(lineText).join(', ')}`;
    output.text();
    output.text(`${question}: ${estimator}${over}${split}`);
    if (outcome.kind === 'value' && outcome.groups !== undefined && outcome.running !== undefined) {
      output.text(runningText(outcome.running));
    }
    if (outcome.kind === 'refused') {
      wrap(`no answer (${outcome.reason}): ${outcome.text}`, terminalColumns)
        .forEach((line) => output.text(line));
    } else if (outcome.groups !== undefined) {
      printKeys({ ...outcome, keys: outcome.groups }, { labels, columns, parameters }, output);
    } else {
      printAnswer(outcome, { labels, columns, parameters }, output);
    }
    if (outcome.kind === 'value') printNotes(leftOutText(asked[i]!, document), output);
  });
}

/** A split answer as people read it. */
export type SplitAnswer =
  Pick<ValueOutcome, 'estimate' | 'answered' | 'interval95' | 'intervalIfFalse95' | 'findings'>
  & { readonly keys: readonly (readonly string[])[] };

/**
 * A line for each number of each key, or for each key of an answer of keys alone, then the
 * release's remarks about the rows. Keys are quoted, and those that a reader may mistake for
 * another one are marked: contributors may have chosen them.
 */
export function printKeys(
  { estimate, keys, answered, interval95, intervalIfFalse95: ifFalse, findings }: SplitAnswer,
  { labels = [], columns, texts, parameters }: AnswerContext,
  output: Output,
): void {
  if (keys.length === 0) {
    output.text('no group was found that enough people have');
    return;
  }
  const stride = estimate.length / keys.length;
  const doubts = keyDoubts(keys);
  const keyText = (key: number, name: string): string => {
    const mark = doubts[key] === null ? '' : ` (${doubts[key]!})`;
    return `${keys[key]!.map(quotedText).join(', ')}${name}${mark}`;
  };
  const nameOf = (place: number): string => (stride === 1 ? ''
    : ` ${labels.length === stride ? lineText(labels[place]!) : `[${place}]`}`);
  if (stride === 0) keys.forEach((_, key) => output.text(keyText(key, '')));
  else output.table([...answerHeads, ...(ifFalse ? [honestHead] : [])], estimate.map((value, i) => {
    const key = Math.floor(i / stride);
    const name = keyText(key, nameOf(i % stride));
    const text = texts?.[i % stride];
    const shown = ifFalse ?? interval95;
    if (answered?.[key] === false) return [name, 'no answer', ''];
    return [
      name, numberText(value, shown, i, text), intervalText(shown, i, text),
      ...(ifFalse ? [intervalText(interval95, i, text)] : []),
    ];
  }));
  if (ifFalse && stride > 0) output.text(shownIfFalse(parameters));
  if (doubts.some((doubt) => doubt !== null)) {
    wrap('note: a look-alike differs from another group only in capitals or in the form of its '
      + 'letters. Mixed letters come from several writing systems, and may imitate another group.',
    terminalColumns).forEach((line) => output.text(line));
  }
  printFindings(findings, columns, output, keys);
}
