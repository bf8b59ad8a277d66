import { intervalOf, numberAt } from '../../src/answers/intervals.js';
import { pictureOf, type CurvePicture, type MatrixPicture, type Picture } from './answer.js';
import { amount, binText, middleText, percent, shown } from './format.js';
import { arranged, keyName, type KeyRow } from './keys.js';
import type { Asked, History } from './model.js';
import {
  cellTexts, columnName, peopleWords, unitText, type NumberWords,
} from './number-words.js';
import { numbersOf } from './numbers.js';
import { liarsWords, numberNow } from './readout.js';

type Line = readonly [what: string, much: string];

/** One line of an answer. */
export interface NewestLine {
  readonly name: string;
  readonly lead: string;
  /** The interval in words; empty where `lead` has it. */
  readonly range: string;
  /** The number with its interval in a few signs, such as `8.3 ± 1.2 minutes`. */
  readonly cell: string;
}

/** Most numbers in the summary of an answer. */
const numbersShown = 3;

/** The newest answer to a question in at most three lines; none without an answer. */
export function newestLines(asked: Asked, history: History): readonly NewestLine[] {
  if (history.lastValue === null) return [];
  const { outcome } = history.lastValue;
  const { picture, charts } = pictureOf(asked, outcome);
  if (isSummarised(picture, charts)) {
    return summaryOf(picture, asked).map(([name, lead]) => ({ name, lead, range: '', cell: lead }));
  }
  return numbersOf(asked, outcome).slice(0, Math.min(numbersShown, charts)).map((words, i) => {
    const also = liarsWords(outcome, words.place, words, asked.parameters)?.also ?? '';
    const { lead, range } = numberNow(history.series(i), words);
    const cell = cellTexts(
      numberAt(outcome, words.place), intervalOf(outcome, words.place), words).join('');
    return {
      name: words.name, lead, range: `${range}${also}`, cell: `${cell}${unitText(words)}`,
    };
  });
}

/**
 * True if an answer is summed up from its picture, and not by its first numbers. The correlation of
 * columns is more informative than the variance of each.
 */
export function isSummarised(picture: Picture | null, charts: number): picture is Picture {
  return picture !== null
    && (charts === 0 || (picture.kind === 'matrix' && picture.centre === null));
}

/** A picture in at most three short lines, each with a name and a value. */
export function summaryOf(picture: Picture, asked: Asked): readonly Line[] {
  switch (picture.kind) {
    case 'mixture':
      return [...picture.components].sort((one, two) => two.weight - one.weight).slice(0, 3)
        .map(({ weight, mean, deviation }) =>
          [`around ${middleText(mean, deviation)} ± ${amount(deviation)}`, percent(weight)]);
    case 'clouds':
      return [...picture.clouds].sort((one, two) => two.weight - one.weight).slice(0, 3)
        .map(({ weight, mean, covariance }) => [
          `around ${mean.slice(0, 2).map((entry, j) =>
            middleText(entry, Math.sqrt(covariance[j]![j]!))).join(', ')}`,
          percent(weight),
        ]);
    case 'keyed':
      if (picture.words.length === 0) {
        return picture.rows.slice(0, 3).map((row) => [keyName(row), '']);
      }
      return arranged(picture.rows, 'size', '', 0).slice(0, 3).map((row) =>
        [keyName(row), row.values[0] === null ? 'no answer' : amountOf(row, picture.words[0]!)]);
    case 'bins':
      return [...picture.bins].sort((one, two) => two.count - one.count).slice(0, 3)
        .map(({ name, from, to, count, low, high }) => [
          name ?? binText(from, to),
          cellTexts(count, low === null || high === null ? null : [low, high], peopleWords)
            .join(''),
        ]);
    case 'curve':
      return [['a quarter below', 0.25], ['half below', 0.5], ['three quarters below', 0.75]]
        .map(([what, share]) => [String(what), quantileText(picture, Number(share))]);
    case 'choice':
      return [['best fit', (picture.names[picture.chosen] ?? 'none').split(',')[0]!]];
    case 'matrix':
      return !picture.isCovariance
        ? [['directions of', `${asked.columns.length} columns`]] : strongest(picture, asked);
  }
}

function amountOf(
  { values: [value], intervals: [interval] }: KeyRow, words: NumberWords,
): string {
  return `${cellTexts(value ?? null, interval ?? null, words).join('')}${unitText(words)}`;
}

/** The first edge below which this share of the people are; the last if there is none. */
export function edgeAt({ edges, below, all }: CurvePicture, share: number): number {
  return edges.find((_, i) => below[i]! >= share * all) ?? edges.at(-1)!;
}

/**
 * The values at which a share of the people is reached, with the ends that the band of the counts
 * allows.
 */
function quantileText(picture: CurvePicture, share: number): string {
  const at = (below: readonly number[]): string => shown(edgeAt({ ...picture, below }, share));
  const [value, from, to] = [picture.below, picture.high, picture.low].map(at);
  return from === to ? `about ${value!}` : `${value!} (${from!} to ${to!})`;
}

/** The three pairs of columns with the strongest correlation of either sign. */
function strongest(picture: MatrixPicture, asked: Asked): readonly Line[] {
  return pairsOf(picture).slice(0, 3).map(({ across, up, correlation }) => [
    `${columnName(asked, across)} and ${columnName(asked, up)}`,
    correlation.toFixed(2).replace(/^-/, '−'),
  ]);
}

/** Two columns of a matrix of covariances. */
export interface Pair {
  readonly across: number;
  readonly up: number;
  /** From -1 to 1. */
  readonly correlation: number;
  readonly covariance: number;
  /** Half of the 95 % interval of the covariance; null if the release states none. */
  readonly half: number | null;
  /** Zero is outside the interval. True if there is no interval. */
  readonly isSure: boolean;
}

/** All pairs of columns, the strongest correlation of either sign first. */
export function pairsOf({ size, entries, halves }: MatrixPicture): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let up = 0; up < size; up++) {
    for (let across = 0; across < up; across++) {
      const covariance = entries[across * size + up]!;
      const both =
        Math.sqrt(Math.max(0, entries[up * size + up]! * entries[across * size + across]!));
      const correlation = both > 0 ? Math.max(-1, Math.min(1, covariance / both)) : 0;
      const half = halves[across * size + up] ?? null;
      pairs.push({
        across, up, correlation, covariance, half,
        isSure: half === null || Math.abs(covariance) > half,
      });
    }
  }
  return pairs.sort((one, two) => Math.abs(two.correlation) - Math.abs(one.correlation));
}
