import { describe, expect, it } from 'vitest';
import { answerLines } from '../../cli/demo/answers.js';
import { HonestAnswers } from '../../cli/demo/honest.js';
import { plannedErrors } from '../../cli/demo/questions.js';
import { demoStudies } from '../../cli/demo/studies.js';
import type { Answer } from '../../src/wire/messages.js';

const [, , ten] = demoStudies({
  contributors: 100_000, epochs: 1, epochMs: 4000, epsilon: 2, corruption: 0.1, keep: false,
});
const { document } = ten!;
const names = document.questions.map(({ name }) => name);

describe('the answers of honest people', () => {
  it('are those of each question, from their own rows', () => {
    const honest = new HonestAnswers(document);
    // Minutes, miles, part of the day, late.
    honest.add(1n, Float64Array.of(-10, 300, 0, 0, 30, 500, 2, 1));
    honest.add(1n, Float64Array.of(0, 900, 0, 0));
    honest.add(1n, Float64Array.of(20, 700, 1, 1, 40, 700, 1, 1));
    honest.add(2n, Float64Array.of(1, 1, 1, 0));
    expect(Object.fromEntries(honest.of(1n).map((numbers, i) => [names[i], numbers]))).toEqual({
      'late-people': [2], 'late-share': [0.5], 'mean-delay': [40 / 3], 'robust-delay': [40 / 3],
      'middle-delay': [10], 'total-miles': [3100],
      'people-by-part': [2, 1, 1], 'late-by-part': [0, 1, 1], 'delay-by-part': [-5, 30, 30],
      // Mean miles of 400, 900 and 700.
      distances: [0, 1, 1, 1],
    });
    expect(honest.of(2n)[0]).toEqual([0]);
  });

  it('fit a line of 80 columns beside the largest answers and the planned error', () => {
    const many = [99_999, 99_999, 99_999, 99_999];
    const value = (estimate: readonly number[]): Answer['outcome'] =>
      ({ kind: 'value', estimate }) as unknown as Answer['outcome'];
    const answers = document.questions.map(({ name, estimator }, i) => ({
      question: name, estimator,
      outcome: i === 0 ? { kind: 'refused', reason: 'too-few-contributors', text: '' } as const
        : value(estimator === 'sum' ? [9e8] : many),
    }));
    const lines = answerLines({
      answers, honest: answers.map(() => many), plannedErrors: plannedErrors(ten!, 0.1),
    } as unknown as Parameters<typeof answerLines>[0]);
    expect(lines).toHaveLength(2 + names.length);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    // A tenth of 100,000 people, a tenth of half of a range of one.
    expect(lines[1]).toMatch(/refused .*\+-10000$/);
    expect(lines[3]).toMatch(/\+-0\.10$/);
  });
});
