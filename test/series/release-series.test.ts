import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/base/outcome.js';
import { ReleaseSeries, smooth } from '../../src/series/index.js';
import type { ReleaseBody } from '../../src/wire/messages.js';
import { releaseOf } from '../support/wire-samples.js';

const refused: Outcome = { kind: 'refused', reason: 'interrupted', text: 'the server stopped' };

function answered(estimate: readonly number[], standardDeviation: readonly number[]): Outcome {
  return {
    kind: 'value', estimate, shape: [estimate.length],
    uncertainty: { kind: 'gaussian', standardDeviation },
  };
}

const release = (epoch: number, outcome: Outcome): ReleaseBody =>
  releaseOf(outcome, { epoch: BigInt(epoch) });

const log = (outcomes: readonly Outcome[]): readonly ReleaseBody[] =>
  outcomes.map((outcome, i) => release(i + 1, outcome));

describe('the series of a log', () => {
  it('adds up answers and the variances of their noise; refused epochs are gaps', () => {
    const [series] = smooth(log([
      refused, answered([10, 1], [3, 1]), refused, answered([20, 2], [4, 1]),
      answered([30, 3], [12, 1]),
    ]));
    expect(series).toMatchObject({ question: 'answer', fault: null });
    const [first, second] = series!.numbers;
    expect(first!.total).toEqual({ value: 60, deviation: 13, answered: 3, missing: 2 });
    expect(first!.window(2)).toEqual({
      value: 50, deviation: Math.hypot(4, 12), answered: 2, missing: 0,
    });
    expect(first!.window(3)).toMatchObject({ answered: 2, missing: 1 });
    expect(first!.window(99)).toEqual(first!.total);
    expect(second).toMatchObject({ place: 1, key: null, total: { value: 6 } });
    expect(first!.points.map(({ value }) => value)).toEqual([null, 10, null, 20, 30]);
    expect(first!.then.map((level) => level === null)).toEqual([true, false, false, false, false]);
    expect(first!.smoothed().at(-1)).toEqual(first!.then.at(-1));
  });

  it('leaves out answers without Gaussian noise, and says so where there are no others', () => {
    const exact: Outcome = {
      kind: 'value', estimate: [7], shape: [1], uncertainty: { kind: 'none' },
    };
    const [none] = smooth(log([refused, exact, exact]));
    expect(none).toMatchObject({ fault: 'noise-unknown', numbers: [] });
    expect(smooth(log([refused]))[0]).toMatchObject({ fault: null, numbers: [] });
    const [mixed] = smooth(log([exact, answered([5], [1]), exact, answered([6], [0])]));
    expect(mixed!.fault).toBeNull();
    expect(mixed!.numbers[0]!.total)
      .toEqual({ value: 5, deviation: 1, answered: 1, missing: 3 });
  });

  it('follows each key of a split answer, and not keys that change', () => {
    const split = (groups: readonly string[], there = groups.map(() => true)): Outcome => ({
      kind: 'value', estimate: groups.flatMap((_, i) => [i, 10 * i]), shape: [groups.length, 2],
      groups: groups.map((key) => [key]), answered: there,
      uncertainty: { kind: 'gaussian', standardDeviation: groups.flatMap(() => [1, 2]) },
    });
    const [series] = smooth(log([split(['a', 'b']), split(['a', 'b'], [true, false])]));
    expect(series!.numbers.map(({ key, place, total }) => [key, place, total.answered])).toEqual([
      [['a'], 0, 2], [['a'], 1, 2], [['b'], 2, 1], [['b'], 3, 1],
    ]);
    const [changed] = smooth(log([split(['a', 'b']), split(['a', 'c']), split(['a', 'b'])]));
    expect(changed).toMatchObject({ fault: 'keys-change', numbers: [] });
    const [grown] = smooth(log([answered([1], [1]), answered([1, 2], [1, 1])]));
    expect(grown).toMatchObject({ fault: 'shape-changes', numbers: [] });
  });

  it('keeps as many releases as it is told, and totals of all', () => {
    const series = new ReleaseSeries(4);
    const all = log(Array.from({ length: 25 }, (_, i) => answered([i], [1])));
    for (const each of all) series.take(each);
    const number = series.questions[0]!.numbers[0]!;
    expect(number.points.length).toBeLessThan(8);
    expect(number.then).toHaveLength(number.points.length);
    expect(number.smoothed()).toHaveLength(number.points.length);
    expect(number.total).toEqual({ value: 300, deviation: 5, answered: 25, missing: 0 });
    expect(number.window(4)).toEqual({ value: 90, deviation: 2, answered: 4, missing: 0 });
    // What it forgot changes nothing that was known then.
    const [whole] = smooth(all);
    expect(number.then.at(-1)).toEqual(whole!.numbers[0]!.then.at(-1));
  });
});
