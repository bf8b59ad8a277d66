import type { StudyDocument } from '../../client/index.js';
import { pictureOf } from '../base/answer.js';
import { askedIn, chartsMax, History, type Asked, type ValueOutcome } from '../base/model.js';
import { numbersOf, type NamedNumber } from '../base/numbers.js';

/** A question of a study, and the answers to it so far. */
export interface Answers {
  readonly asked: Asked;
  readonly history: History;
}

/** One number that can be drawn over time. */
export interface ChartedNumber {
  /** `QUESTION.PLACE`, as the attribute `chart` has it. */
  readonly name: string;
  readonly answers: Answers;
  /** The number's place in the history. */
  readonly slot: number;
  readonly words: NamedNumber;
}

/** The questions of a study, in its order, out of its signed facts. */
export function answersTo(document: StudyDocument): readonly Answers[] {
  return askedIn(document).map((asked, i): Answers => {
    const places = (outcome: ValueOutcome): readonly number[] =>
      numbersOf(asked, outcome).map(({ place }) => place);
    return { asked, history: new History(undefined, places, i) };
  });
}

/** All numbers of a study that can be drawn, as far as there are answers. */
export function chartsOf(all: readonly Answers[]): readonly ChartedNumber[] {
  return all.flatMap((answers) => {
    const { asked, history: { lastValue } } = answers;
    if (lastValue === null) return [];
    const { outcome } = lastValue;
    return numbersOf(asked, outcome).slice(0, countOf(asked, outcome)).map((words, slot) =>
      ({ name: `${asked.name}.${slot}`, answers, slot, words }));
  });
}

/** The count of numbers that have the same meaning in each release. */
function countOf(asked: Asked, outcome: ValueOutcome): number {
  const { picture, charts } = pictureOf(asked, outcome);
  const size = outcome.estimate.length;
  // Bins with fixed edges stay the same. Found bins are others in each release.
  const isFixed = picture?.kind === 'bins' && asked.parameters['edges'] !== undefined;
  return Math.min(chartsMax, isFixed ? size : charts);
}

/**
 * The number that the attribute asks for: `QUESTION.PLACE`, `QUESTION` or `PLACE`; empty for the
 * first one. Undefined if there is no such number.
 */
export function chartNamed(
  charts: readonly ChartedNumber[], wanted: string,
): ChartedNumber | undefined {
  const [, question, place] = /^([a-z][a-z0-9-]*)?\.?(\d+)?$/.exec(wanted) ?? [];
  if (question === undefined && place === undefined && wanted !== '') return undefined;
  return charts.find(({ answers: { asked }, slot }) =>
    (question === undefined || asked.name === question) && slot === Number(place ?? 0));
}
