import { expect, it } from 'vitest';
import { limitsInScales, verdictOf, type Answer } from '../../dashboard/lab/model.js';

const answer = (error: number | null, promised: number | null = 0.3): Answer => ({
  estimator: 'mean', outcome: error === null ? 'refused' : 'value', estimate: null, error, promised,
});

it('rates an answer by its error, also where a promise is kept', () => {
  const errors = [0.1, 0.4, 2, null];
  const of = (error: number, promised?: number | null) =>
    verdictOf(answer(error, promised), errors, limitsInScales);
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
  expect(of(2, null).promise).toBe('Its plan promises nothing at this hostile share.');
  expect(verdictOf(answer(null), errors, limitsInScales).text).toBe('refused to answer');
  expect(verdictOf(answer(50), [], null)).toMatchObject({ text: 'not rated', tone: 'quiet' });
});
