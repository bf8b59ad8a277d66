import {
  seriesFaultText, type NumberSeries, type QuestionSeries, type ReleaseSeries, type Total,
} from '../../client/index.js';
import type { RunningSeries, RunningSums } from '../../src/series/running-sums.js';
import { onlyQuestion } from '../../src/base/questions.js';
import { quotedText } from '../../src/base/shown-text.js';
import { deviations95 } from '../../src/numerics/normal.js';
import { formatNumber, lineText, type Output } from './output.js';

/** How `watch` and `verify` show totals and smoothed numbers. */

/** More numbers than this are left to --json. */
const shownMax = 16;

/** The names of the numbers of a question's answer, or of each key of a split one. */
export type LabelsOfEach = (question: string) => readonly string[];

/**
 * The name of each number: its key, and its label where a key has several; without keys its label.
 * Its place where labels do not fit; with its question if the study lists questions.
 * @param keys those of the numbers, null for an answer that is not split.
 */
function namesOf(
  question: string, keys: readonly (readonly string[] | null)[], labelsOf: LabelsOfEach,
): readonly string[] {
  const texts = keys.map((key) => key?.map(quotedText).join(', '));
  const stride = keys.length / new Set(texts).size;
  const labels = labelsOf(question);
  const lead = question === onlyQuestion ? '' : `${question}: `;
  return texts.map((key, place) => {
    const label = labels.length === stride
      ? lineText(labels[place % stride]!) : `[${place % stride}]`;
    return `${lead}${key === undefined ? label : stride === 1 ? key : `${key} ${label}`}`;
  });
}

const keysOf = ({ numbers }: QuestionSeries): readonly (readonly string[] | null)[] =>
  numbers.map(({ key }) => key);

/** A value and the standard deviation of its noise. */
function measuredTexts(value: number, deviation: number): readonly [string, string] {
  const half = deviations95 * deviation;
  return [formatNumber(value, half), formatNumber(deviation, half)];
}

/** A number in the form of --json, with the evidence of all releases so far. */
function smoothedOf(series: NumberSeries): Readonly<Record<string, unknown>> {
  const level = series.then.at(-1) ?? null;
  const half = deviations95 * (level?.deviation ?? 0);
  return {
    place: series.place, ...(series.key !== null && { key: series.key }),
    smoothed: level?.value ?? null, deviation: level?.deviation ?? null,
    interval95: level === null ? null : { low: level.value - half, high: level.value + half },
    stepDeviation: series.stepDeviation,
  };
}

const faultOf = ({ question, fault }: QuestionSeries): Readonly<Record<string, unknown>> =>
  ({ question, ...(fault !== null && { fault, text: seriesFaultText[fault] }) });

/** The part that `watch --smooth --json` adds to a release. */
export function smoothedJson(series: ReleaseSeries): readonly unknown[] {
  return series.questions.map((each) =>
    ({ ...faultOf(each), numbers: each.numbers.map(smoothedOf) }));
}

/** The newest smoothed numbers: name, value and standard deviation. */
export function smoothedRows(
  series: ReleaseSeries, labelsOf: LabelsOfEach,
): readonly (readonly [name: string, value: string, deviation: string])[] {
  return series.questions.flatMap((each) => {
    const names = namesOf(each.question, keysOf(each), labelsOf);
    return each.numbers.slice(0, shownMax).flatMap((number, i) => {
      const level = number.then.at(-1) ?? null;
      return level === null ? []
        : [[names[i]!, ...measuredTexts(level.value, level.deviation)] as const];
    });
  });
}

/**
 * Why questions have no totals and no smoothed numbers, one sentence for each.
 * @param besides - questions that are answered in another way.
 */
export function seriesFaults(
  series: ReleaseSeries, besides: ReadonlySet<string> = new Set(),
): readonly string[] {
  return series.questions.flatMap(({ question, fault }) => (fault === null || besides.has(question)
    ? []
    : [`${question === onlyQuestion ? '' : `${question}: `}not smoothed or added up: `
      + seriesFaultText[fault]]));
}

/** The answers of a log, to add up: those with noise of their own, and running totals. */
export interface LogSeries {
  readonly separate: ReleaseSeries;
  readonly running: RunningSeries;
}

const placesOf = ({ entries }: RunningSums): readonly number[] =>
  Array.from({ length: entries }, (_, place) => place);

function keyAt({ keys, entries }: RunningSums, place: number): readonly string[] | null {
  return keys?.[Math.floor(place * keys.length / entries)] ?? null;
}

/** The part that `verify --totals --json` adds. */
export function totalsJson(
  { separate, running }: LogSeries, window: number | undefined,
): readonly unknown[] {
  const runs = new Map(running.questions.map((sums) => [sums.question, sums]));
  return separate.questions.map((each) => {
    const sums = runs.get(each.question);
    if (sums !== undefined) {
      return { question: each.question, running: true, numbers: placesOf(sums).map((place) => {
        const key = keyAt(sums, place);
        return {
          place, ...(key !== null && { key }), total: sums.total(place),
          ...(window !== undefined && { window: sums.total(place, window) }),
        };
      }) };
    }
    return {
      ...faultOf(each),
      numbers: each.numbers.map((number) => ({
        ...smoothedOf(number), total: number.total,
        ...(window !== undefined && { window: number.window(window) }),
      })),
    };
  });
}

/** Prints a table for each question with running totals: averages and totals over epochs. */
function printRunning(
  running: RunningSeries, window: number | undefined, labelsOf: LabelsOfEach, output: Output,
): void {
  for (const sums of running.questions) {
    const places = placesOf(sums);
    const names = namesOf(sums.question, places.map((place) => keyAt(sums, place)), labelsOf);
    const most = Math.max(0, ...places.map((place) => sums.total(place, window).answered));
    if (most === 0) continue;
    output.text(`over epochs  derived from ${most} published answers, at no privacy cost`);
    output.table(
      ['', 'average', 'noise sd', 'total', 'noise sd'],
      places.slice(0, shownMax).map((place) => {
        const { value, deviation, answered } = sums.total(place, window);
        return [
          names[place]!, ...measuredTexts(value / answered, deviation / answered),
          ...measuredTexts(value, deviation),
        ];
      }),
    );
    if (places.length > shownMax) {
      output.text(`${places.length - shownMax} more numbers: --json`);
    }
  }
}

/** Prints a table for each question: averages and totals over epochs, and smoothed numbers. */
export function printTotals(
  { separate: series, running }: LogSeries, window: number | undefined, labelsOf: LabelsOfEach,
  output: Output,
): void {
  const totalOf = (number: NumberSeries): Total =>
    (window === undefined ? number.total : number.window(window));
  for (const question of series.questions) {
    const { numbers } = question;
    const names = namesOf(question.question, keysOf(question), labelsOf);
    const most = Math.max(0, ...numbers.map((number) => totalOf(number).answered));
    if (most === 0) continue;
    output.text(`over epochs  derived from ${most} published answers, at no privacy cost`);
    output.table(
      ['', 'average', 'noise sd', 'total', 'noise sd', 'smoothed', 'noise sd'],
      numbers.slice(0, shownMax).map((number, i) => {
        const { value, deviation, answered } = totalOf(number);
        const level = number.then.at(-1);
        const total = answered === 0 ? ['', '', '', '']
          : [...measuredTexts(value / answered, deviation / answered),
            ...measuredTexts(value, deviation)];
        return [names[i]!, ...total,
          ...(level ? measuredTexts(level.value, level.deviation) : ['', ''])];
      }),
    );
    if (numbers.length > shownMax) {
      output.text(`${numbers.length - shownMax} more numbers: --json`);
    }
  }
  printRunning(running, window, labelsOf, output);
  const added = new Set(running.questions.map(({ question }) => question));
  seriesFaults(series, added).forEach((text) => output.text(text));
}
