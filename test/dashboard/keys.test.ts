import { describe, expect, it } from 'vitest';
import { pictureOf } from '../../dashboard/base/answer.js';
import { arranged, keyedOf, keyName, type KeyedPicture } from '../../dashboard/base/keys.js';
import { History, newestIn, type Asked } from '../../dashboard/base/model.js';
import { numbersOf } from '../../dashboard/base/numbers.js';
import { groupsInWords, testInWords } from '../../dashboard/base/question-words.js';
import { summaryOf } from '../../dashboard/base/summary.js';
import type { Outcome, ValueOutcome } from '../../src/base/outcome.js';
import { releaseBody, releaseOf } from '../support/wire-samples.js';
import { refusal, valueOf } from './stage.js';

const asked: Asked = {
  name: 'regions', estimator: 'count', parameters: {}, columns: [], where: [], reduce: 'one',
  part: 100, by: { columns: ['region'], groupsMax: 1 }, title: '', parameterWords: {},
};
const split = (keys: readonly string[], change: object = {}, value = [3, 20, -4]): ValueOutcome =>
  valueOf(
    value, value.map(() => 2), { groups: keys.map((key) => [key]), ...change },
  ) as ValueOutcome;
const pictureFor = (outcome: ValueOutcome): KeyedPicture => keyedOf(asked, outcome)!;

describe('a split answer', () => {
  it('has a row for each key, without a number or interval for a key without an answer', () => {
    const outcome = split(['b', 'a10', 'a9'], { answered: [true, false, true] });
    const { rows } = pictureFor(outcome);
    expect(rows.map(({ values, intervals }) => [values[0], intervals[0]]))
      .toEqual([[3, [1, 5]], [null, null], [-4, [-6, -2]]]);
    const history = new History();
    history.take(releaseOf(outcome));
    expect(history.at(1, 0)).toEqual({ value: null, interval: null });
    history.take(releaseOf(split(['b', 'a10', 'a9'])));
    for (const next of [outcome, refusal]) history.take(releaseOf(next));
    expect(newestIn(history.series(1))).toBe(2);
    expect(history.series(1).values).toEqual([null, 20, null, null]);
    expect(history.measured(1).slice(0, 1)).toMatchObject([{ epoch: 7, value: null }]);
  });

  it('is ordered as listed, by size with missing answers last, or by name; and filtered', () => {
    const { rows } = pictureFor(split(['b', 'a10', 'a9'], { answered: [true, false, true] }));
    const names = (...how: [Parameters<typeof arranged>[1], string]): readonly string[] =>
      arranged(rows, ...how, 0).map(keyName);
    expect(names('listed', '')).toEqual(['b', 'a10', 'a9']);
    expect(names('size', '')).toEqual(['b', 'a9', 'a10']);
    expect(names('name', '')).toEqual(['a9', 'a10', 'b']);
    expect(names('listed', ' A1')).toEqual(['a10']);
  });

  it('keeps several numbers of each key apart', () => {
    const columns = ['x', 'y'];
    const outcome = split(['b', 'a'], { shape: [2, 2] }, [1, 2, 3, 4]);
    expect(keyedOf({ ...asked, estimator: 'mean', columns }, outcome)).toMatchObject({
      words: columns.map((name) => ({ name, format: 'plain' })),
      rows: [{ values: [1, 2] }, { values: [3, 4] }],
    });
    expect(numbersOf({ ...asked, estimator: 'mean', columns }, outcome).map(({ name }) => name))
      .toEqual(['b: x', 'b: y', 'a: x', 'a: y']);
  });

  it('calls the half quantile the median', () => {
    const outcome = split(['a'], { shape: [1, 2] }, [1, 2]);
    const { words } = keyedOf({
      ...asked, estimator: 'quantile', columns: ['minutes'],
      parameters: { range: [0, 60], probabilities: [0.5, 0.9] },
    }, outcome)!;
    expect(words.map(({ name }) => name))
      .toEqual(['median minutes', 'minutes that 90\u00a0% of people are below']);
  });

  it('is drawn over epochs where its keys are public and few, and never otherwise', () => {
    const outcome = split(['b', 'a10', 'a9']);
    expect(pictureOf(asked, outcome).charts).toBe(3);
    const found = {
      ...asked, by: { columns: ['app'], groupsMax: 1, discover: { top: 9, prefilter: 1 } },
    };
    expect([pictureOf(found, outcome).charts, numbersOf(found, outcome)]).toEqual([0, []]);
    const many = Array.from({ length: 13 }, (_, i) => i);
    expect(pictureOf(asked, split(many.map(String), {}, many)).charts).toBe(0);
  });

  it('is summed up by its largest keys', () => {
    const { picture } = pictureOf(asked, split(['b', 'a10', 'a9']));
    expect(summaryOf(picture!, asked))
      .toEqual([['a10', '20 ± 2'], ['b', '3 ± 2'], ['a9', '−4 ± 2']]);
    expect(pictureFor(split([], {}, [])).rows).toEqual([]);
  });

  it('may be its keys alone, which have no numbers', () => {
    const outcome = { ...split(['b', 'a'], {}, [1, 2]), estimate: [], shape: [2, 0] };
    const alone = {
      ...asked, by: {
        columns: ['app'], groupsMax: 1,
          discover: { top: 9, prefilter: 1, answer: 'groups' as const },
      },
    };
    const { picture, charts } = pictureOf(alone, outcome);
    expect(picture).toMatchObject({ words: [], rows: [{ parts: ['b'] }, { parts: ['a'] }] });
    expect(charts).toBe(0);
    expect(summaryOf(picture!, asked)).toEqual([['b', ''], ['a', '']]);
  });
});

describe('a history', () => {
  it('takes the answer to its own question', () => {
    const answer = (question: string, outcome: Outcome) => ({
      question, estimator: 'mean', parameters: '{}', outcome, rhoAmount: 0n, deltaAmount: 0n,
    });
    const answers = [answer('a', refusal), answer('b', valueOf([5], [1]))];
    const release = { ...releaseBody, answers };
    const histories = [0, 1].map((place) => new History(undefined, undefined, place));
    for (const history of histories) history.take(release);
    expect(histories.map(({ lastValue }) => lastValue?.outcome.estimate)).toEqual([undefined, [5]]);
    expect(histories.map(({ count, refused }) => [count, refused])).toEqual([[1, 1], [1, 0]]);
  });
});

it('says every test of rows in words', () => {
  const column = 'is_late';
  expect([
    { column, is: true }, { column, not: 'north' }, { column, in: [1, 2] }, { column, atLeast: -5 },
    { column, below: 60 }, { column, present: false }, { column, present: true },
  ].map((test) => testInWords({ columns: [column] }, test))).toEqual([
    'is late is yes', 'is late is not north', 'is late is 1 or 2', 'is late is at least −5',
    'is late is below 60', 'is late is not given', 'is late is given',
  ]);
});

it('says in words where groups come from, and which are shown again', () => {
  const by = { columns: ['app'], groupsMax: 2 };
  const discover = { top: 100, prefilter: 2 };
  expect([
    by, { ...by, groups: [['maps'], ['chess']] }, { ...by, discover },
    { ...by, discover: { ...discover, remember: 80 } },
    { ...by, discover: { ...discover, answer: 'groups' as const } },
  ].map(groupsInWords)).toEqual([
    'all public values; a person counts for 2 groups at most',
    'a list of 2; a person counts for 2 groups at most',
    'those that most people sent, at most 100; a person counts for 2 groups at most',
    'those that most people sent, at most 100, and 80 of them are shown again; a person counts '
      + 'for 2 groups at most',
    'those that most people sent, at most 100, without counts; a person counts for 2 groups at '
      + 'most',
  ]);
});
