import { describe, expect, it } from 'vitest';
import { shownExtent } from '../../dashboard/charts/shown-extent.js';
import { marksOf } from '../../dashboard/charts/thin.js';
import type { Series } from '../../dashboard/base/model.js';

const seriesOf = (values: readonly (number | null)[], half = 1): Series => ({
  epochs: values.map((_, i) => i), times: values.map((_, i) => 1_000 * i), values,
  refusals: values.map((value) => (value === null ? 'interrupted' : null)),
  lows: values.map((value) => (value === null ? null : value - half)),
  highs: values.map((value) => (value === null ? null : value + half)),
});
const wave =
  Array.from({ length: 2000 }, (_, i) => (i % 397 === 5 ? null : 40 * Math.sin(i * 12.9898)));

describe('a chart of more releases than columns of pixels', () => {
  const xOf = (epoch: number): number => Math.round(epoch * 0.2);
  const series = seriesOf(wave);
  const runs = marksOf(series, xOf);

  it('has at most one mark in a column between two refusals, from left to right', () => {
    for (const run of runs) for (let i = 1;
        i < run.length; i++) expect(run[i]!.x).toBeGreaterThan(run[i - 1]!.x);
    expect(runs.flat().length).toBeLessThan(2000 * 0.2 + 12);
  });

  it('covers every release and its interval, and nothing that no release reaches', () => {
    let place = 0;
    for (const run of runs) {
      while (wave[place] === null) place += 1;
      for (const mark of run) {
        const there: number[] = [];
        while (wave[place] !== null && xOf(place) === mark.x && place < wave.length) {
          there.push(wave[place++]!);
        }
        const [least, greatest] = [Math.min(...there), Math.max(...there)];
        expect(mark).toEqual({
          x: mark.x, first: there[0], last: there.at(-1), least, greatest, low: least - 1,
          high: greatest + 1,
        });
      }
    }
    expect(place).toBe(wave.length);
  });

  it('is open where one release in it is, and has no interval where none has one', () => {
    const open = { ...seriesOf([1, 2, 3]), highs: [2, null, 4] };
    expect(marksOf(open, () => 0)[0]).toMatchObject([{ low: 0, high: Infinity }]);
    const below = { ...seriesOf([1, 2]), lows: [null, 1] };
    expect(marksOf(below, () => 0)[0]).toMatchObject([{ low: -Infinity, high: 3 }]);
    const none = { ...seriesOf([1, 2]), lows: [null, null], highs: [null, null] };
    expect(marksOf(none, () => 0)[0]).toMatchObject([{ low: null, high: null }]);
  });

  it('ends a run at each refusal, and keeps a release between two refusals', () => {
    const alone = marksOf(seriesOf([null, 1, 2, null, 3, null]), (epoch) => epoch);
    expect(alone.map((run) => run.map(({ x }) => x))).toEqual([[1, 2], [4]]);
    expect(marksOf(seriesOf([null, null]), (epoch) => epoch)).toEqual([]);
  });
});

describe('the part of a series that a chart shows', () => {
  it('is not made flat by a few wide intervals, and shows every answer', () => {
    expect(shownExtent(seriesOf([5], 100))).toEqual([-95, 105]);
    expect(shownExtent(seriesOf([null]))).toBeNull();
    expect(shownExtent({ ...seriesOf([1]), lows: [], highs: [] })).toEqual([1, 1]);
    expect(shownExtent(seriesOf([null, 3, -2], 0.5), seriesOf([7]))).toEqual([-2.5, 8]);
    const wide = seriesOf([8, 8.2, 8.1, 8, 8.4, 8.1]);
    const widened = (half: number, ...places: number[]): Series => ({
      ...wide, lows: wide.lows.map((low, i) => (places.includes(i) ? 8 - half : low)),
      highs: wide.highs.map((high, i) => (places.includes(i) ? 8 + half : high)),
    });
    expect(shownExtent(widened(1e6, 3))).toEqual([4, 12.4]);
    expect(shownExtent(widened(1e6, 0))).toEqual([4, 12.4]);
    // Nobody is wide where many are, and a little wider is no harm.
    expect(shownExtent(widened(1e6, 0, 1, 2, 3))).toEqual([8 - 1e6, 8 + 1e6]);
    expect(shownExtent(widened(3, 3))).toEqual([5, 11]);
    // Answers that are far apart are shown whole, and then wide intervals are no harm.
    const jump = { ...widened(900, 3), values: [8, 8.2, 8.1, 1008, 8.4, 8.1] };
    expect(shownExtent(jump)).toEqual([8 - 900, 1008]);
    const two = seriesOf([8, 8.1]);
    expect(shownExtent({ ...two, highs: [1e6, 9.1] })![1]).toBeLessThan(20);
  });
});
