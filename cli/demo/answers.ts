import type { StudyDefinition } from '../../server/studies/definition.js';
import { answeredNumbers } from '../../src/base/parts.js';
import type { Answer } from '../../src/wire/messages.js';
import { aboutQuestions } from './questions.js';
import type { Answers, AnswersSummary } from './scoreboard.js';

/** How the demonstration shows a study with several questions. */

const nameWidth = 14;
const cellWidth = 27;
const errorWidth = 7;
/** Estimators whose answers are numbers of people. */
const counting: ReadonlySet<string> = new Set(['count', 'histogram']);

/**
 * The first lines about the study: its questions, and the address of its page. The address has a
 * line of its own, which may be longer than 80 columns.
 */
export function questionsLines(
  { document: { study, privacy, questions = [] } }: StudyDefinition, page: string,
): readonly string[] {
  return [
    `  ${study.padEnd(nameWidth)} epsilon ${privacy.epsilon} per release; one contribution answers `
      + `${questions.length} questions:`,
    ...questions.map(({ name }) =>
      `    ${name.padEnd(nameWidth)} ${aboutQuestions[name] ?? ''}`.trimEnd()),
    '  beside each answer: that of the honest people without noise, and the planned',
    '  error of a number of it if the hostile ones do their worst',
    `    ${page}`,
  ];
}

/** The answers of a release, one to a line, beside the answers from the honest people alone. */
export function answerLines({ answers, honest, plannedErrors }: Answers): readonly string[] {
  const lines = answers.flatMap(({ question, outcome, estimator }, i) => {
    const texts = [answerText(outcome, estimator), numbersText(honest[i]!, estimator)] as const;
    return [
      answerLine(question, ...texts, `+-${shortNumber(plannedErrors[i]!, estimator)}`),
      ...(outcome.kind === 'refused' ? [`  (refused: ${outcome.reason})`] : []),
    ];
  });
  return [answerLine('', 'release', 'honest people', 'planned'), ...lines];
}

function answerLine(name: string, released: string, honest: string, planned: string): string {
  return `  ${name.padEnd(nameWidth)} ${released.padEnd(cellWidth)} ${honest.padEnd(cellWidth)} `
    + planned.padStart(errorWidth);
}

function answerText(outcome: Answer['outcome'], estimator: string): string {
  return outcome.kind === 'refused'
    ? 'refused' : numbersText(answeredNumbers(outcome), estimator);
}

function numbersText(values: readonly (number | null)[], estimator: string): string {
  return values.map((value) => (value === null ? '-' : shortNumber(value, estimator))).join(', ');
}

/** Few digits, because an answer has noise. `M` is a million. */
function shortNumber(value: number, estimator: string): string {
  const size = Math.abs(value);
  if (size >= 1e5) return `${(value / 1e6).toFixed(size < 1e8 ? 2 : 0)}M`;
  if (counting.has(estimator)) return value.toFixed(0);
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
