import type { StudyDefinition } from '../../server/studies/definition.js';
import type { Answer } from '../../src/wire/messages.js';
import { aboutQuestions } from './questions.js';
import type { Answers, AnswersSummary } from './scoreboard.js';

/** How the demonstration shows a study with several questions. */

const indent = '      ';
const nameWidth = 14;
const cellWidth = 36;
/** Estimators whose answers are numbers of people. */
const counting: ReadonlySet<string> = new Set(['count', 'histogram']);

/**
 * The first lines about the study: what it asks, and where its page is. The address has a line of
 * its own, which may be longer than 80 columns.
 */
export function questionsLines(
  { document: { study, privacy, questions = [] } }: StudyDefinition, page: string,
): readonly string[] {
  return [
    `  ${study.padEnd(nameWidth)} epsilon ${privacy.epsilon} per release; one contribution answers `
      + `${questions.length} questions:`,
    ...questions.map(({ name }) =>
      `    ${name.padEnd(nameWidth)} ${aboutQuestions[name] ?? ''}`.trimEnd()),
    `    ${page}`,
  ];
}

/** The answers of a release, two to a line where they fit. */
export function answerLines({ answers }: Answers): readonly string[] {
  const cells = answers.map((answer) =>
    `${answer.question.padEnd(nameWidth)} ${answerText(answer)}`);
  const lines: string[] = [];
  for (let i = 0; i < cells.length; i++) {
    const [cell, next] = [cells[i]!, cells[i + 1]];
    const fits = next !== undefined && cell.length < cellWidth && next.length <= cellWidth;
    lines.push(indent + (fits ? cell.padEnd(cellWidth + 1) + next : cell));
    if (fits) i += 1;
  }
  return lines;
}

function answerText({ outcome, estimator }: Answer): string {
  if (outcome.kind === 'refused') return `refused: ${outcome.reason}`;
  const { estimate, keys, answered } = outcome;
  // A split answer has the same number of values for each key.
  const perKey = keys === undefined ? estimate.length : estimate.length / keys.length;
  return estimate.map((value, i) =>
    (answered?.[Math.floor(i / perKey)] === false ? '-'
      : counting.has(estimator) ? value.toFixed(0) : shortNumber(value))).join(', ');
}

/** Few digits, because an answer has noise. */
function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${(value / 1e6).toFixed(2)} million`;
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

/** One line about all releases. */
export function answersSummaryLine(
  { study, releases, questions, refused }: AnswersSummary,
): string {
  const name = study.padEnd(nameWidth);
  if (releases === 0) return `${name} nothing to show yet`;
  const times = releases === 1 ? '1 epoch' : `${releases} epochs`;
  return `${name} ${questions} questions in ${times}: `
    + `${questions * releases - refused} answers, `
    + (refused === 0 ? 'none refused' : `${refused} refused`);
}
