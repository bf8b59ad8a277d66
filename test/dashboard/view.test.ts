import { describe, expect, it } from 'vitest';
import { attentionOf, type StudyState } from '../../dashboard/base/attention.js';
import {
  axisKey, groupedBy, releaseAt, spanOf, stopsOf,
} from '../../dashboard/base/compare.js';
import { html } from '../../dashboard/base/html.js';
import { questionsAsked, type Series, type StudyEntry } from '../../dashboard/base/model.js';
import {
  cellTexts, peopleWords, plainWords, possible, shownNumber, wordsOfAll, type NumberWords,
} from '../../dashboard/base/number-words.js';
import { notePlaces } from '../../dashboard/base/notes.js';
import { csvOf } from '../../dashboard/base/series-csv.js';
import {
  closedWithin, comparedName, plainView, queryOf, viewOf, within, type View,
} from '../../dashboard/base/view.js';
import { timeTexts } from '../../dashboard/charts/time-axis.js';
import { ofShortFacts } from '../../src/wire/index.js';
import { shortFacts } from '../support/wire-samples.js';

const hour = 3_600_000;
const hourly = (count: number): Series => {
  const all = Array.from({ length: count }, (_, i) => i);
  return {
    epochs: all.map((i) => i + 7), times: all.map((i) => i * hour), values: all.map((i) => -i),
    lows: all.map((i) => -i - 2), highs: all.map((i) => 2 - i), refusals: all.map(() => null),
  };
};

it('makes elements without values anew, since one that is kept keeps whole trees', () => {
  const made = () => html`<div><p>the same</p></div>`.props.children;
  expect(made()).toMatchObject({ type: 'p' });
  expect(made()).not.toBe(made());
});

describe('the view of a study', () => {
  it('is in the address, and what is wrong there is left out', () => {
    const views: readonly View[] = [
      plainView, { ...plainView, range: '20' }, { ...plainView, chosen: [12, 40], axis: 'epoch' },
      { range: 'week', chosen: null, axis: 'time', isSmooth: true, epoch: 9,
        compared: [comparedName('0f'.repeat(32), 'delays', 11),
          comparedName('a'.repeat(64), 'answer', 0)] },
    ];
    for (const view of views) expect(viewOf(queryOf(view).slice(1))).toEqual(view);
    expect(queryOf(plainView)).toBe('');
    expect(viewOf('range=year&from=9&to=3&axis=x&smooth=2&epoch=-1&epoch=2')).toEqual(plainView);
    expect(viewOf('from=1e9&to=2')).toEqual(plainView);
  });

  it('shows the newest twenty, day or week, or the chosen epochs', () => {
    const series = hourly(400);
    const shown = (change: Partial<View>): readonly number[] =>
      within(series, { ...plainView, ...change }).epochs;
    expect(within(series, plainView)).toBe(series);
    expect(shown({ range: '20' })).toEqual(Array.from({ length: 20 }, (_, i) => 387 + i));
    expect([shown({ range: 'day' }).length, shown({ range: 'week' }).length]).toEqual([24, 168]);
    expect(shown({ chosen: [0, 9] })).toEqual([7, 8, 9]);
    expect(shown({ chosen: [900, 901] })).toEqual([]);
    expect(within(series, { ...plainView, chosen: [8, 9] })).toEqual({
      epochs: [8, 9], times: [hour, 2 * hour], values: [-1, -2], lows: [-3, -4], highs: [1, 0],
      refusals: [null, null],
    });
  });

  it('marks a time axis with the day once', () => {
    expect(timeTexts([0, 6 * hour, 24 * hour], 6 * hour).map((text) => text.includes('\n')))
      .toEqual([true, false, true]);
    expect(timeTexts([0], 48 * hour)[0]).not.toContain(':');
  });
});

describe('notes of the operator', () => {
  it('stand at their time, or at the first release after it, and nowhere outside', () => {
    const notes = [5, 10, 14, 20, 31].map((atMs, id) => ({ id, atMs, text: 'a note' }));
    const drawn = { ...hourly(3), epochs: [7, 8, 9], times: [10, 20, 30] };
    expect(notePlaces(notes, drawn, 'time')).toEqual(
      [{ label: '2', at: 10 }, { label: '3', at: 14 }, { label: '4', at: 20 }],
    );
    expect(notePlaces(notes, drawn, 'epoch')).toEqual(
      [{ label: '2', at: 7 }, { label: '3', at: 8 }, { label: '4', at: 8 }],
    );
    expect(notePlaces(notes, { ...drawn, epochs: [], times: [] }, 'epoch')).toEqual([]);
  });
});

describe('a comparison', () => {
  it('has one axis for each unit, and none for numbers that nothing says to be alike', () => {
    const minutes = { ...plainWords('delay'), unit: 'minutes' };
    const all = [minutes, plainWords('a'), { ...minutes, name: 'taxi' }, peopleWords,
      plainWords('b'), plainWords('a')];
    expect(groupedBy(all, axisKey).map((group) => group.map(({ name }) => name)))
      .toEqual([['delay', 'taxi'], ['a', 'a'], ['people'], ['b']]);
  });

  it('reads out the release before a time, whatever the clocks of the studies are', () => {
    const [one, two] = [[10, 20, 30], [5, 20, 41]];
    expect(stopsOf([one, two])).toEqual([5, 10, 20, 30, 41]);
    expect(stopsOf([one, one])).toBe(one);
    expect(spanOf([one, [], two])).toEqual([5, 41]);
    expect(spanOf([[]])).toBeNull();
    expect([9, 10, 29, 99].map((at) => releaseAt(one, at))).toEqual([-1, 0, 1, 2]);
    expect(closedWithin(hourly(10), [2 * hour, 4 * hour]).epochs).toEqual([9, 10, 11]);
  });

  it('takes four numbers from an address, each once, and no other text', () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((each) => comparedName(each.repeat(64), 'x', 3));
    expect(viewOf(`with=${[names[0], ...names].join('_')}`).compared).toEqual(names.slice(0, 4));
    expect(viewOf('with=abc.x.1_<b>_aaaaaaaaaaaa.x.100').compared).toEqual([]);
  });
});

describe('words for a number', () => {
  const entry = (change: object): StudyEntry => ({
    id: '', name: 'a', state: 'open', epoch: '7', closesAtMs: 0, releases: 0, title: '',
    questions: [], document: ofShortFacts({ ...shortFacts, ...change }),
  });
  const delays = {
    version: 2, columns: ['delay_minutes', 'late'],
    types: [{ type: 'number' }, { type: 'boolean' }],
    columnWords: [{ label: 'delay', unit: 'minutes' }, {}],
  } as const;
  const wordsFor = (change: object): readonly NumberWords[] =>
    wordsOfAll(questionsAsked(entry({ ...delays, ...change }))[0]!);

  it('are those of the study, of what is asked, and of what is possible', () => {
    expect(wordsFor({ estimator: 'mean' })).toEqual([
      { name: 'delay', unit: 'minutes', format: 'plain', least: -Infinity, greatest: Infinity },
      { name: 'late', unit: '', format: 'percent', least: 0, greatest: 1 },
    ]);
    const quantiles = {
      estimator: 'quantile', parameters: { range: [0, 240], probabilities: [0.5, 0.95] },
    };
    expect(wordsFor(quantiles)).toMatchObject([
      { name: 'median delay', unit: 'minutes', least: 0, greatest: 240 },
      { name: 'delay that 95\u00a0% of people are below' },
    ]);
    const late = { estimator: 'count', parameters: { threshold: 60, side: 'at-least' } };
    expect(wordsFor(late)).toMatchObject([
      { name: 'people with delay of at least 60 minutes', format: 'people', least: 0 },
    ]);
    const share = { column: 1, threshold: 0.5, side: 'at-least' };
    expect(wordsFor({ estimator: 'share', parameters: share }))
      .toMatchObject([{ name: 'share of people with late: yes', format: 'percent', greatest: 1 }]);
  });

  it('never give a number without its interval, nor what cannot be', () => {
    const minutes = { ...plainWords('delay'), unit: 'minutes' };
    expect(shownNumber(8.26, [7.26, 9.26], minutes)).toEqual(
      { lead: '8.3 minutes', range: '95 % interval 7.3 to 9.3 minutes' });
    expect(shownNumber(-12, [-43, 19], peopleWords).lead).toBe('0 to 19');
    expect(shownNumber(-50, [-81, -19], peopleWords)).toEqual(
      { lead: '−50', range: '95 % interval −81 to −19, beyond what is possible' });
    expect(shownNumber(-50, null, peopleWords).lead).toBe('−50');
    expect(shownNumber(-2, [-4, 0], peopleWords).lead).toBe('about 0');
    expect(shownNumber(402, [376, 428], peopleWords))
      .toEqual({ lead: '402', range: '95 % interval 376 to 428' });
    expect(shownNumber(5, null, minutes)).toEqual(
      { lead: '5 minutes', range: 'without an interval' });
    expect(shownNumber(null, null, minutes).range).toBe('no answer');
    expect(shownNumber(0.256, [0.246, 0.266], { ...plainWords(''), format: 'percent' }))
      .toEqual({ lead: '25.6\u00a0%', range: '95 % interval 24.6\u00a0% to 26.6\u00a0%' });
    expect(shownNumber(1_254_000, [1_200_000, 1_308_000], { ...plainWords(''), format: 'compact' })
      .lead).toBe('1.25M');
    expect(cellTexts(-12, [-43, 19], peopleWords)).toEqual(['0 to 19', '']);
    expect(cellTexts(402, [376, 428], peopleWords)).toEqual(['402', ' ± 26']);
    expect(cellTexts(3, [2, 9], plainWords(''))).toEqual(['3.0', ' (2.0 to 9.0)']);
    expect(shownNumber(8.26, [7.26, Infinity], minutes)).toEqual(
      { lead: '8.3 minutes', range: '95 % interval 7.3 or more minutes' });
    expect(cellTexts(3, [2, Infinity], plainWords(''))).toEqual(['3.0', ' (2.0 or more)']);
    expect(cellTexts(3, [-Infinity, 9], plainWords(''))).toEqual(['3.0', ' (9.0 or less)']);
    // What is possible ends an open interval.
    expect(cellTexts(3, [-Infinity, 9], peopleWords)).toEqual(['3', ' (0 to 9)']);
  });

  it('cut a series at what is possible, and leave the published one as it is', () => {
    const series = hourly(3);
    expect(possible(series, plainWords(''))).toBe(series);
    expect(possible(series, peopleWords)).toMatchObject({ lows: [0, 0, 0], highs: [2, 1, 0] });
    expect(possible(series, peopleWords).values.map((value) => Math.abs(value!)))
      .toEqual([0, 0, 0]);
    expect(series.values.slice(1)).toEqual([-1, -2]);
    // An open end is at the limit of what is possible, and where there is none stays open.
    const open = { ...series, values: [3, 4, 5], lows: [null, 3, null], highs: [5, null, null] };
    expect(possible(open, peopleWords))
      .toMatchObject({ lows: [0, 3, null], highs: [5, null, null] });
  });
});

describe('the numbers of a chart as CSV', () => {
  it('have their sign, and no text that a spreadsheet would compute', () => {
    const series = { ...hourly(2), refusals: [null, 'interrupted'], values: [-3.5, null] };
    const lines = csvOf(series, '＝cmd', 'a, "b"').split('\r\n');
    const text = `"'＝cmd","a, ""b"""`;
    expect(lines).toEqual([
      'study,name,epoch,closed_at,estimate,low95,high95,refusal',
      `${text},7,1970-01-01T00:00:00.000Z,-3.5,-2,2,`,
      `${text},8,1970-01-01T01:00:00.000Z,,-3,1,"interrupted"`, '',
    ]);
  });
});

describe('what needs a look', () => {
  const well: StudyState =
    { link: 'live', state: 'open', isRefused: false, spentShare: 0.1, overdueMs: -5_000 };

  it('comes in the order of its urgency', () => {
    const cases: readonly (readonly [Partial<StudyState>, string])[] = [
      [{ link: 'failed', isRefused: true }, 'Does not verify'], [{ link: 'error' }, 'Stopped'],
      [{ isRefused: true, spentShare: 0.9 }, 'No answer'], [{ overdueMs: 61_000 }, 'Late'],
      [{ spentShare: 0.8 }, 'Budget nearly spent'],
      [{ state: 'exhausted', isRefused: true, spentShare: 1 }, 'Budget used up'], [{}, 'Live'],
    ];
    const found = cases.map(([change]) => attentionOf({ ...well, ...change }));
    expect(found.map(({ text }) => text)).toEqual(cases.map(([, text]) => text));
    const levels = found.map(({ level }) => level);
    expect([...levels].sort((one, two) => two - one)).toEqual(levels);
    expect(attentionOf({ ...well, state: 'ended', spentShare: 0.9 }).level).toBe(0);
    expect(attentionOf({ ...well, spentShare: 0.79, overdueMs: 60_000 }).level).toBe(0);
  });
});
