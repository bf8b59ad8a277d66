import { describe, expect, it } from 'vitest';
import { placingOf } from '../../dashboard/lab/rows.js';
import { limitsInSpreads, verdictOf, type Answer } from '../../dashboard/lab/model.js';

const answer = (error: number | null, promised: number | null = 0.3): Answer => ({
  estimator: 'mean', outcome: error === null ? 'refused' : 'value', estimate: null, error, promised,
});

it('rates an answer by its error, also where a promise is kept', () => {
  const errors = [0.1, 0.4, 2, null];
  const of = (error: number, promised?: number | null) =>
    verdictOf(answer(error, promised), errors, limitsInSpreads);
  expect(of(0.1)).toEqual({
    text: 'close, best of 4', tone: 'good',
    promise: 'Its plan expects 0.300 and promises twice that: kept.',
  });
  expect(of(0.4)).toMatchObject({ text: 'off, 2nd of 4', tone: 'warn' });
  expect(of(2, 1)).toMatchObject({
    text: 'far off, 3rd of 4', tone: 'bad',
    promise: 'Its plan expects 1.00 and promises twice that: kept.',
  });
  expect(of(2).promise).toContain('broken');
  expect(of(2, null).promise).toBe('Its plan promises nothing with this share of liars.');
  expect(verdictOf(answer(null), errors, limitsInSpreads).text).toBe('refused to answer');
  expect(verdictOf(answer(50), [], null)).toMatchObject({ text: 'not rated', tone: 'quiet' });
});

describe('the picture of rows', () => {
  const row = (values: readonly number[]) => ({ values, isHostile: false, isKept: true });
  const near = Array.from({ length: 200 }, (_, i) => row([100 + (i % 21) - 10, 5, 0]));
  const picture = {
    rows: [...near, row([1e9, 5, 0])], leftOut: { honest: 0, hostile: 0 }, centre: [100, 5, 0],
    reach: 2,
  };

  it('has the centre in the middle, the ball inside, and far rows at the edge', () => {
    const { at, isBeyond, ring, ends } = placingOf(picture, [10, 1, 1], [0, 1]);
    expect(at([100, 5, 9])).toEqual({ x: 190, y: 190 });
    expect(ends[0][1] - ends[0][0]).toBeCloseTo(10 * (ends[1][1] - ends[1][0]), 9);
    // A row at the ball's edge is on the circle, in either column.
    expect(at([120, 5, 0]).x - 190).toBeCloseTo(ring!, 9);
    expect(190 - at([100, 7, 0]).y).toBeCloseTo(ring!, 9);
    expect(isBeyond([120, 5, 0])).toBe(false);
    expect(isBeyond([1e9, 5, 0])).toBe(true);
    expect(at([1e9, 5, 0])).toEqual({ x: 372, y: 190 });
  });

  it('shows rows near the ball, whatever is beyond, and rows without a ball', () => {
    const liars = (x: number) => ({
      ...picture, rows: [...near, ...Array.from({ length: 50 }, () => row([x, 5, 0]))],
    });
    const ends = (x: number) => placingOf(liars(x), [10, 1, 1], [0, 1]).ends[0];
    expect(ends(150)).toEqual([100 - 55, 100 + 55]);
    expect(ends(1e9)).toEqual([77, 123]);
    expect(placingOf({ ...picture, reach: Infinity }, [10, 1, 1], [0, 1])).toMatchObject({
      ring: null, ends: [[89, 111], [3.9, 6.1]],
    });
  });
});
