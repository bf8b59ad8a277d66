import { describe, expect, it } from 'vitest';
import { isDistribution, pictureOf } from '../../dashboard/base/answer.js';
import { cellsOf } from '../../dashboard/base/heat.js';
import {
  askedIn, History, type Asked, type ValueOutcome,
} from '../../dashboard/base/model.js';
import { intervalOf, numberAt } from '../../src/answers/intervals.js';
import {
  cellTexts, unitText, wordsOfAll, type NumberWords,
} from '../../dashboard/base/number-words.js';
import { numbersOf } from '../../dashboard/base/numbers.js';
import { numberNow, readoutOf, valueText } from '../../dashboard/base/readout.js';
import { csvOf } from '../../dashboard/base/series-csv.js';
import { summaryOf } from '../../dashboard/base/summary.js';
import { answersTo, chartsOf } from '../../dashboard/element/charts.js';
import type { ReleaseBody } from '../../client/index.js';
import { describedQuestions, numbersByFacts } from '../../src/answers/describe.js';
import { decodeReleaseBody, encodeReleaseBody } from '../../src/wire/index.js';
import { saidBody } from '../support/described.js';
import { without } from '../support/without.js';
import { answerTo, shippedStudies } from '../support/shipped-answers.js';
import { releaseBody } from '../support/wire-samples.js';

/** A question of a shipped study with an answer, as pages hold them. */
interface Answered {
  readonly name: string;
  readonly asked: Asked;
  readonly outcome: ValueOutcome;
  readonly release: ReleaseBody;
  readonly place: number;
  readonly document: (typeof shippedStudies)[number]['document'];
}

/** What every release states, of any form. */
const listed = without(releaseBody, 'wireForm');

const all: readonly Answered[] = shippedStudies.flatMap(({ document, questions }) => {
  const outcomes = questions.map(answerTo);
  const { wireForm } = document;
  const described = saidBody({
    ...listed, ...(wireForm !== undefined && { wireForm }),
    answers: questions.map(({ question }, i) => ({
      question: question.name, estimator: question.estimator, parameters: '{}',
      outcome: outcomes[i]!, rhoAmount: 0n, deltaAmount: 0n,
    })),
  }, document);
  // What pages get: the signed bytes, read.
  const release = decodeReleaseBody(
    encodeReleaseBody({ ...described, columns: document.columns }));
  return askedIn(document).map((asked, place) => ({
    name: `${document.study}.${asked.name}`, asked, release, place, document,
    outcome: release.answers[place]!.outcome as ValueOutcome,
  }));
});

/** The number that a text shows: `4,000.12`, `−0.3`, `12 %`. */
function read(text: string): number {
  const digits = text.replaceAll(',', '').replace('−', '-').replace('e−', 'e-');
  return parseFloat(digits) / (text.includes('%') ? 100 : 1);
}

/** Fails unless a text shows a released number to the digits that its interval supports. */
function expectShown(text: string, outcome: ValueOutcome, place: number, words: NumberWords): void {
  const [low, high] = intervalOf(outcome, place)!;
  const digit = words.format === 'people' ? 0.5 : (high - low) / 20;
  expect(Math.abs(read(text) - outcome.estimate[place]!), `${text} for ${outcome.estimate[place]!}`)
    .toBeLessThanOrEqual(digit);
}

function historyOf({ asked, release, place }: Answered): History {
  const history = new History(
    undefined, (outcome) => numbersOf(asked, outcome).map((each) => each.place), place,
  );
  history.take(release);
  return history;
}

describe.each(all.map((each) => [each.name, each] as const))('%s', (_, answered) => {
  const { asked, outcome } = answered;
  const { picture, charts } = pictureOf(asked, outcome);
  const numbers = numbersOf(asked, outcome);
  const history = historyOf(answered);

  it('shows each number over time, in tables and in files with its own value', () => {
    numbers.slice(0, Math.min(charts, 12)).forEach((words, slot) => {
      const series = history.series(slot);
      const { lead, range } = numberNow(series, words);
      expectShown(lead, outcome, words.place, words);
      expect(lead.endsWith(unitText(words))).toBe(true);
      expect(range).toContain('95 % interval');
      expectShown(valueText(series, 0, words), outcome, words.place, words);
      expect(readoutOf(series, null, words, 0)).toContain(lead);
      const line = csvOf(series, 'study', words.name).split('\r\n')[1]!;
      expect(line).toContain(`Z,${outcome.estimate[words.place]!},`);
    });
    for (const words of numbers) {
      const value = numberAt(outcome, words.place);
      const [text] = cellTexts(value, intervalOf(outcome, words.place), words);
      if (words.texts === undefined) expectShown(text, outcome, words.place, words);
    }
  });

  it('has the same numbers in an element that knows the signed facts alone', () => {
    const answers = answersTo(answered.document);
    for (const each of answers) each.history.take(answered.release);
    const own = chartsOf(answers).filter((chart) => chart.answers.asked.name === asked.name);
    expect(own.map(({ words }) => words)).toEqual(numbers.slice(0, own.length));
    own.forEach(({ words, answers: { history: drawn }, slot }) => {
      expect(drawn.series(slot).values).toEqual([outcome.estimate[words.place]]);
    });
    expect(own.length).toBeGreaterThanOrEqual(Math.min(charts, 12));
  });

  it('shows each part of a picture with its own value', () => {
    if (picture?.kind === 'keyed') {
      picture.rows.forEach(({ values, intervals }, key) => picture.words.forEach((words, i) => {
        const [text] = cellTexts(values[i]!, intervals[i]!, words);
        expectShown(text, outcome, key * picture.words.length + i, words);
      }));
    }
    if (picture?.kind === 'bins') {
      expect(picture.bins.map(({ count }) => outcome.estimate.indexOf(count)))
        .not.toContain(-1);
    }
    if (picture !== null) expect(summaryOf(picture, asked).length).toBeGreaterThan(0);
    const cells = isDistribution(asked) ? cellsOf(asked, outcome) : null;
    if (cells !== null) expect(new Set(cells.map(({ name }) => name)).size).toBe(cells.length);
  });

  it('takes unit, what is possible and name of each number from the release', () => {
    const { numbers: stated = [] } = outcome;
    const computed = describedQuestions(answered.document)[answered.place]!;
    expect(stated).toEqual(numbersByFacts(computed, { ...outcome, numbers: [] }));
    const words = wordsOfAll(asked, outcome);
    expect(words.map(({ unit, least, greatest }) => ({ unit, least, greatest }))).toEqual(
      stated.map(({ unit = '', least = -Infinity, most: greatest = Infinity }) =>
        ({ unit, least, greatest })));
    // Another description in the signed bytes is another one on the page.
    const changed = stated.map((number) => ({ ...number, unit: 'parsecs', least: -1, most: 1 }));
    for (const { unit, least, greatest } of wordsOfAll(asked, { ...outcome, numbers: changed })) {
      expect([unit, least, greatest]).toEqual(['parsecs', -1, 1]);
    }
    const others = stated.map((_, i) =>
      ({ kind: 'other', part: 'swapped', place: i + 1, of: stated.length }) as const);
    for (const { name } of wordsOfAll(asked, { ...outcome, numbers: others })) {
      expect(name).toMatch(/^swapped/);
    }
  });

  it('has a name and unit for each number', () => {
    const ofKey = outcome.groups === undefined ? numbers : wordsOfAll(asked, outcome);
    const names = ofKey.map(({ name, unit, format }) =>
      [name, unit, format].filter((part) => part !== '').join(' | '));
    const shown = names.length <= 16 ? names : [...names.slice(0, 12), '...', names.at(-1)!];
    expect(shown.join('\n')).toMatchSnapshot();
    expect(shown.join()).not.toMatch(/number \d+ of \d+/);
  });
});

it('covers every shipped question', () => {
  expect(all.length).toBeGreaterThan(50);
});
