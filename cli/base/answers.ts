import { shownInterval } from '../../src/answers/intervals.js';
import { findingText, ifFalseText, isUnbounded } from '../../src/base/findings.js';
import type {
  Finding, Interval95, RunningRelease, ValueOutcome,
} from '../../src/base/outcome.js';
import { runningText } from '../../src/base/running-totals.js';
import type { NamedPart } from '../../src/base/parts.js';
import { wrap } from './help.js';
import { terminalColumns } from './io.js';
import { tablesOf } from './matrices.js';
import { formatNumber, lineText, numberText, type NumberText, type Output } from './output.js';

/** An answer in the form that `estimate`, `verify` and `watch` show. */

/** One interval as text, with `or more` where an end is open; empty where the answer has none. */
export function intervalText(
  interval: Interval95 | undefined, index: number, text: NumberText = formatNumber,
): string {
  if (interval === undefined) return '';
  const [low, high] = [interval.low[index]!, interval.high[index]!];
  if (isUnbounded(low, high)) return 'no interval';
  if (low === -Infinity) return `${text(high, null)} or less`;
  if (high === Infinity) return `${text(low, null)} or more`;
  const half = (high - low) / 2;
  return `${text(low, half)} to ${text(high, half)}`;
}

/** An answer that begins with quantiles, and the name of each of its numbers. */
interface Distribution {
  readonly estimate: readonly number[];
  readonly parts?: readonly NamedPart[];
  readonly interval95?: Interval95;
}

/**
 * The lines for people of a distribution: each quantile with its interval, and how many people
 * there are. The counts below each edge are left to --json. Null for any other answer.
 */
export function distributionRows(
  { estimate, parts = [], interval95 }: Distribution, labels: readonly string[] | undefined,
): readonly (readonly string[])[] | null {
  const [quantiles, below] = parts;
  const count = quantiles?.shape[0];
  const isOne = quantiles?.name === 'quantiles' && below?.name === 'below';
  if (!isOne || count === undefined) return null;
  const places = [...Array.from({ length: count }, (_, i) => i), estimate.length - 1];
  return places.map((i) =>
    [lineText(labels?.[i] ?? `[${i}]`), numberText(estimate[i]!, interval95, i),
      intervalText(interval95, i)]);
}

/** One "note:" for each finding, in lines that fit the terminal. */
export function printFindings(
  findings: readonly Finding[] | undefined, columns: readonly string[], output: Output,
  keys?: ValueOutcome['groups'],
): void {
  const named = columns.map(lineText);
  printNotes((findings ?? []).map((finding) => findingText(finding, named, keys)), output);
}

/** One "note:" for each sentence. */
export function printNotes(notes: readonly string[], output: Output): void {
  for (const note of notes) {
    wrap(`note: ${note}`, terminalColumns).forEach((line) => output.text(line));
  }
}

/** An answer with its intervals and findings. */
export interface ShownAnswer extends Distribution {
  readonly shape: readonly number[];
  readonly intervalIfFalse95?: Interval95;
  readonly findings?: readonly Finding[];
  readonly running?: RunningRelease;
}

/** The heads of a table of numbers with their intervals. */
export const answerHeads: readonly string[] = ['', 'estimate', '95 % interval'];
/** Heads the interval beside the one that also holds if some people lie. */
export const honestHead = 'if nobody lies';

/** A line below a table whose 95 % intervals also hold if some people lie. */
export function shownIfFalse(parameters: Readonly<Record<string, unknown>>): string {
  return `the 95 % interval holds ${ifFalseText(parameters)}`;
}

/** The question behind an answer, as far as printing needs it. */
export interface AnswerContext {
  /** Names of the numbers, one for each; others are not used. */
  readonly labels?: readonly string[] | undefined;
  readonly columns: readonly string[];
  /** How each number is written; undefined: as a number. */
  readonly texts?: readonly (NumberText | undefined)[] | undefined;
  /** The estimator's parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The numbers of an answer with both intervals, in tables, then a note for each finding. */
export function printAnswer(
  answer: ShownAnswer, { labels: given, columns, parameters, texts }: AnswerContext, output: Output,
): void {
  const { estimate, parts, interval95, intervalIfFalse95: ifFalse } = answer;
  // The columns do not name the numbers of a matrix.
  const labels = given?.length === estimate.length ? given : undefined;
  const distribution = distributionRows(answer, labels);
  if (distribution !== null) {
    output.table(answerHeads, distribution);
    output.text('the number of people below every edge: --json');
  } else if (parts !== undefined) {
    tablesOf(answer, columns).forEach(({ heads, rows }) => output.table(heads, rows));
    if (interval95 !== undefined) output.text('95 % intervals of every number: --json');
  } else {
    const shown = shownInterval(answer);
    const names = numberNames(answer, labels, columns);
    output.table(
      ifFalse === undefined ? answerHeads : [...answerHeads, honestHead],
      estimate.map((value, i) => [
        lineText(names[i]!),
        numberText(value, shown, i, texts?.[i]), intervalText(shown, i, texts?.[i]),
        ...(ifFalse === undefined ? [] : [intervalText(interval95, i, texts?.[i])]),
      ]),
    );
    if (ifFalse !== undefined) output.text(shownIfFalse(parameters));
  }
  if (answer.running !== undefined) output.text(runningText(answer.running));
  printFindings(answer.findings, columns, output);
}

/** The name of each number: its label, its column, or its place in a matrix or larger array. */
export function numberNames(
  { estimate, shape }: Pick<ShownAnswer, 'estimate' | 'shape'>,
  labels: readonly string[] | undefined, columns: readonly string[],
): readonly string[] {
  return labels?.length === estimate.length ? labels
    : estimate.map((_, i) => labelOf(shape, columns, i));
}

/** The column of a vector's entry, or the indexes in a matrix or larger array. */
function labelOf(shape: readonly number[], columns: readonly string[], index: number): string {
  if (shape.length === 1 && shape[0] === columns.length) return columns[index]!;
  let rest = index;
  const place = [...shape].reverse().map((size) => {
    const position = rest % size;
    rest = Math.floor(rest / size);
    return position;
  });
  return `[${place.reverse().join(', ')}]`;
}
