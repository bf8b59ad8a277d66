import { factsLimits } from '../../src/base/facts-limits.js';
import type { QuestionName } from '../../src/question-names.js';

const { valueMax } = factsLimits;

/** A person's question to the planner. All of it is public, and the address holds it. */
export interface Asked {
  readonly question: QuestionName;
  /** Contributors in each epoch. */
  readonly people: number;
  /** Numbers of a row. Questions about one column, or two, have as many. */
  readonly columns: number;
  /** The epsilon of one release. */
  readonly epsilon: number;
  /** The delta of one release; 0 asks for pure privacy. */
  readonly delta: number;
  /** Share of the contributors that may send anything, 0 to 0.45. */
  readonly hostile: number;
  /** Releases that the budget should pay for. */
  readonly epochs: number;
  readonly every: Every;
  /** The usual distance of values from the middle; null: it is found privately. */
  readonly spread: number | null;
  /** Nearly all values lie between these two. */
  readonly low: number;
  readonly high: number;
  /** The largest error that would do, in the estimator's unit; null: not asked. */
  readonly error: number | null;
}

/** Lengths of an epoch, as study files write them. */
export const lengths = { '10s': 10_000, '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000,
  '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const;
/** One of them. */
export type Every = keyof typeof lengths;

/** The defaults. */
export const usual: Asked = {
  question: 'mean', people: 20_000, columns: 2, epsilon: 1, delta: 1e-6, hostile: 0.05, epochs: 30,
  every: '1d', spread: null, low: 0, high: 100, error: null,
};

/** The range of each number. */
export const limits = {
  people: [10, 1e7], columns: [1, 200], epsilon: [0.01, 20], delta: [0, 1e-3], hostile: [0, 0.45],
  epochs: [1, 10_000],
} as const;
/** The name of a slider. */
export type Slider = keyof typeof limits;

const wholeOnes: readonly string[] = ['people', 'columns', 'epochs'];
const names = ['mean', 'count', 'total', 'share', 'ratio', 'median', 'percentile', 'histogram',
  'distribution', 'covariance'] as const satisfies readonly QuestionName[];

/** True if a slider may have this value. */
export function isWithin(name: Slider, value: number): boolean {
  const [least, most] = limits[name];
  return value >= least && value <= most && (!wholeOnes.includes(name) || Number.isInteger(value));
}

/** The number of columns in every row of the question; null where any number is possible. */
export function fixedColumns(question: QuestionName): number | null {
  if (question === 'ratio') return 2;
  return ['count', 'share', 'percentile', 'histogram', 'distribution'].includes(question)
    ? 1 : null;
}

/** The facts about the values that a question needs. */
export function takes(
  question: QuestionName,
): 'spread' | 'range' | 'cap' | 'threshold' | 'nothing' {
  switch (question) {
    case 'mean': case 'covariance': return 'spread';
    case 'ratio': return 'cap';
    case 'share': return 'threshold';
    case 'count': return 'nothing';
    case 'total': case 'median': case 'percentile': case 'histogram': case 'distribution':
      return 'range';
  }
}

/** Reads the part of an address after the `#`. Unknown and wrong parts get their defaults. */
export function askedOf(hash: string): Asked {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const number = (name: string): number | null => {
    const text = given.get(name);
    return text === null || !/^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(text) ? null : Number(text);
  };
  const slider = (name: Slider): number => {
    const value = number(name);
    return value !== null && isWithin(name, value) ? value : usual[name];
  };
  const positive = (name: string): number | null => {
    const value = number(name);
    return value !== null && value > 0 && value <= valueMax ? value : null;
  };
  const question = names.find((each) => each === given.get('question')) ?? usual.question;
  const [low, high] = [number('low') ?? usual.low, number('high') ?? usual.high];
  const every = given.get('every') ?? '';
  const isRange = low < high && Math.abs(low) <= valueMax && Math.abs(high) <= valueMax;
  return {
    question, people: slider('people'), columns: fixedColumns(question) ?? slider('columns'),
    epsilon: slider('epsilon'), delta: slider('delta'), hostile: slider('hostile'),
    epochs: slider('epochs'), every: every in lengths ? every as Every : usual.every,
    spread: positive('spread'), low: isRange ? low : usual.low, high: isRange ? high : usual.high,
    error: positive('error'),
  };
}

/** The same for an address; empty where all is as usual. */
export function hashOf(asked: Asked): string {
  const entries = Object.entries(asked).filter(([name, value]) =>
    value !== null && value !== usual[name as keyof Asked]
    && !(name === 'columns' && fixedColumns(asked.question) !== null));
  const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]));
  return entries.length === 0 ? '' : `#${query.toString()}`;
}
