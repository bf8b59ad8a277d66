import { expect, it } from 'vitest';
import { History } from '../../dashboard/base/model.js';
import { plainWords } from '../../dashboard/base/number-words.js';
import { liarsWords, numberNow } from '../../dashboard/base/readout.js';
import { csvOf } from '../../dashboard/base/series-csv.js';
import { plotOf } from '../../dashboard/charts/picture.js';
import { plainView, within } from '../../dashboard/base/view.js';
import { honestIntervalOf, intervalOf } from '../../src/answers/intervals.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { releaseOf } from '../support/wire-samples.js';

const alone: ValueOutcome = {
  kind: 'value', estimate: [8], shape: [1],
  uncertainty: { kind: 'gaussian', standardDeviation: [0.5] },
  interval95: { low: [7], high: [9] },
};
const both: ValueOutcome = { ...alone, intervalIfFalse95: { low: [2], high: [15] } };
const words = plainWords('delay');

function historyOf(...outcomes: readonly ValueOutcome[]): History {
  const history = new History();
  outcomes.forEach((outcome, i) =>
    history.take(releaseOf(outcome, { epoch: BigInt(i), index: BigInt(i) })));
  return history;
}

it('is the one that liars cannot break, and the other one comes after it', () => {
  expect([intervalOf(both, 0), honestIntervalOf(both, 0)]).toEqual([[2, 15], [7, 9]]);
  expect([intervalOf(alone, 0), honestIntervalOf(alone, 0)]).toEqual([[7, 9], null]);
  const series = historyOf(both, both, both).series(0);
  expect(numberNow(series, words)).toEqual({ lead: '8.0', range: '95 % interval 2.0 to 15.0' });
  expect(liarsWords(both, 0, words, { corruption: 0.05 }))
    .toEqual({ also: ', also if up to 5 % lie', honest: 'if nobody lies: 7.0 to 9.0' });
  expect(liarsWords(alone, 0, words, {})).toBeNull();
});

it('is the band of a chart, and the other one is a second band inside of it', () => {
  const series = historyOf(both, both, both).series(0);
  const colours = { ink: '', quiet: '', line: '', accent: 'a', warn: '', card: '', minus: '' };
  const frame = { width: 400, height: 200, top: 10, right: 20, left: 50 };
  const bandsOf = (of: typeof series): readonly number[] =>
    plotOf({ series: of, smoothed: null }, 'epoch', words, frame, colours).marks
      .flatMap((mark) => (mark.kind === 'path' && mark.width === undefined
        ? [Math.max(...mark.points.map(([, y]) => y)) - Math.min(...mark.points.map(([, y]) => y))]
        : []));
  const bands = bandsOf(series);
  expect(bands).toHaveLength(2);
  expect(bands[0]! / bands[1]!).toBeCloseTo(13 / 2, 6);
  // A part of a series keeps both.
  expect(bandsOf(within(series, { ...plainView, chosen: [1, 2] }))).toHaveLength(2);
  expect(bandsOf(historyOf(alone, alone).series(0))).toHaveLength(1);
});

it('is low95 and high95 of a saved chart, with the other one in two more columns', () => {
  const [head, line] = csvOf(historyOf(both).series(0), 'a', 'delay').split('\r\n');
  expect(head).toMatch(/,low95,high95,refusal,low_if_honest95,high_if_honest95$/);
  expect(line).toMatch(/,8,2,15,,7,9$/);
});
