import { describeNumbers } from '../../src/answers/describe.js';
import { intervalOf } from '../../src/answers/intervals.js';
import { isDistribution, pictureOf } from './answer.js';
import { binText } from './format.js';
import type { Asked, KeptAnswer, ValueOutcome } from './model.js';
import {
  numberText, peopleWords, shownNumber, wordsOfAll, type NumberWords,
} from './number-words.js';
import { plainView, within, type View } from './view.js';

/** One cell of a column: the share of the people with values in it. */
export interface HeatCell {
  /** Its ends on the axis: values, or places where the bins have names. */
  readonly from: number;
  readonly to: number;
  /** Share of all people, per unit of the axis where cells differ in height. At least 0. */
  readonly weight: number;
  /** The name of the cell, for people. */
  readonly name: string;
  /** Its number with the interval, for people. */
  readonly text: string;
}

/** One release as a column. */
export interface HeatColumn {
  readonly epoch: number;
  /** Unix milliseconds. */
  readonly time: number;
  /** The reason why it has no cells; null if it has. */
  readonly refusal: string | null;
  /** From the bottom up. */
  readonly cells: readonly HeatCell[];
}

/** More cells than this are thinner than a line of pixels. */
export const cellsMax = 160;

/**
 * The answer of one release as cells; null where a strip over time would not compare like with
 * like: the bins are found anew in each release, the answer is split by key, or there are too many.
 */
export function cellsOf(asked: Asked, outcome: ValueOutcome): readonly HeatCell[] | null {
  if (!isDistribution(asked)) return null;
  const { picture } = pictureOf(asked, outcome);
  if (picture?.kind === 'bins') return limited(ofBins(asked, outcome));
  if (picture?.kind === 'curve') return limited(ofCurve(asked, outcome));
  const probabilities = describeNumbers(asked, outcome).flatMap((number) =>
    (number.kind === 'quantile' ? [number.probability] : []));
  return probabilities.length === outcome.estimate.length
    ? limited(ofQuantiles(asked, outcome, probabilities)) : null;
}

/** Cells of answers that were drawn before: a page draws the same columns again and again. */
const known = new WeakMap<ValueOutcome, readonly HeatCell[] | null>();

/** The columns of a strip, oldest first; null where the answers are not drawn as one. */
export function columnsOf(
  asked: Asked, answers: readonly KeptAnswer[],
): readonly HeatColumn[] | null {
  const columns = answers.map(({ epoch, time, outcome }): HeatColumn | null => {
    if (outcome.kind !== 'value') return { epoch, time, refusal: outcome.reason, cells: [] };
    if (!known.has(outcome)) known.set(outcome, cellsOf(asked, outcome));
    const cells = known.get(outcome) ?? null;
    return cells && { epoch, time, refusal: null, cells };
  }).filter((column) => column !== null);
  // One answer is a picture of its own.
  return columns.filter(({ refusal }) => refusal === null).length < 2 ? null : columns;
}

const limited = (cells: readonly HeatCell[]): readonly HeatCell[] | null =>
  (cells.length < 2 || cells.length > cellsMax ? null : cells);

function people(count: number, interval: readonly [number, number] | null): string {
  const { lead, range } = shownNumber(count, interval, peopleWords);
  return `${lead} people, ${range}`;
}

function ofBins(asked: Asked, outcome: ValueOutcome): readonly HeatCell[] {
  const { picture } = pictureOf(asked, outcome);
  if (picture?.kind !== 'bins') return [];
  const { bins } = picture;
  const all = bins.reduce((sum, { count }) => sum + Math.max(0, count), 0) || 1;
  return bins.map(({ name, from, to, count }, i) => ({
    // Bins without an end, and names, have no height of their own: all are equally high.
    from: i, to: i + 1, weight: Math.max(0, count) / all, name: name ?? binText(from, to),
    text: people(count, intervalOf(outcome, i)),
  }));
}

/** The people between two edges: the difference of two counts, and of the ends of their band. */
function ofCurve(asked: Asked, outcome: ValueOutcome): readonly HeatCell[] {
  const { picture } = pictureOf(asked, outcome);
  if (picture?.kind !== 'curve') return [];
  const { edges, below, low, high, all } = picture;
  return edges.slice(1).map((to, i) => {
    const [from, count] = [edges[i]!, below[i + 1]! - below[i]!];
    // In 95 of 100 epochs the band holds the whole line, so these ends hold every difference.
    const interval = [low[i + 1]! - high[i]!, high[i + 1]! - low[i]!] as const;
    return {
      from, to, weight: Math.max(0, count) / all / (to - from), name: binText(from, to),
      text: people(count, interval),
    };
  });
}

/** Between two quantiles there is a known share of the people: closer ones make a darker cell. */
function ofQuantiles(
  asked: Asked, outcome: ValueOutcome, probabilities: readonly number[],
): readonly HeatCell[] {
  const [words] = wordsOfAll(asked, outcome) as [NumberWords];
  const order = probabilities.map((_, i) => i)
    .sort((one, two) => probabilities[one]! - probabilities[two]!);
  const text = (place: number): string => {
    const { lead, range } = shownNumber(outcome.estimate[place], intervalOf(outcome, place), words);
    return `${lead} (${range})`;
  };
  return order.slice(1).map((upper, i) => {
    const lower = order[i]!;
    const [one, two] = [outcome.estimate[lower]!, outcome.estimate[upper]!];
    // Noise may change the order of two quantiles.
    const [from, to] = [Math.min(one, two), Math.max(one, two)];
    const share = probabilities[upper]! - probabilities[lower]!;
    return {
      from, to, weight: to > from ? share / (to - from) : 0,
      name: `${numberText(probabilities[lower]! * 100, null, peopleWords)} to ${
        numberText(probabilities[upper]! * 100, null, peopleWords)} % of people`,
      text: `${text(lower)} to ${text(upper)}`,
    };
  });
}

/** The columns that a view shows. */
export function columnsWithin(
  columns: readonly HeatColumn[], view: Pick<View, 'range' | 'chosen'>,
): readonly HeatColumn[] {
  const list = <T>(of: (column: HeatColumn) => T): readonly T[] => columns.map(of);
  const nothing = list(() => null);
  const { epochs } = within({
    epochs: list(({ epoch }) => epoch), times: list(({ time }) => time), refusals: nothing,
    values: nothing, lows: nothing, highs: nothing,
  }, { ...plainView, range: view.range, chosen: view.chosen });
  const [first, last] = [epochs[0] ?? Infinity, epochs.at(-1) ?? -Infinity];
  return columns.filter(({ epoch }) => epoch >= first && epoch <= last);
}
