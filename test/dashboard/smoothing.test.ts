import { describe, expect, it } from 'vitest';
import { History } from '../../dashboard/base/model.js';
import { smoothedSeries } from '../../dashboard/base/smoothing.js';
import { smooth } from '../../client/index.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { ReleaseBody } from '../../src/wire/index.js';
import { releaseOf } from '../support/wire-samples.js';
import { refusal, valueOf } from './stage.js';

const log = (outcomes: readonly Outcome[]): readonly ReleaseBody[] =>
  outcomes.map((outcome, i) => releaseOf(outcome, { epoch: BigInt(i + 1) }));

function historyOf(releases: readonly ReleaseBody[], kept?: number): History {
  const history = new History(kept);
  releases.forEach((each) => history.take(each));
  return history;
}

describe('the smoothed line of a study page', () => {
  const releases = log([
    refusal, valueOf([10, 5], [2, 4]), refusal, valueOf([12, 5], [2, 4]), valueOf([11, 9], [2, 4]),
  ]);

  it('is that of the library, through epochs without an answer, with its 95 % band', () => {
    const history = historyOf(releases);
    for (const slot of [0, 1]) {
      const found = smoothedSeries(history, slot)!;
      const levels = smooth(releases)[0]!.numbers[slot]!.smoothed();
      expect(found.values).toEqual(levels.map((level) => level?.value ?? null));
      expect(found.highs[4]! - found.values[4]!).toBeCloseTo(1.96 * levels[4]!.deviation, 12);
      expect(found.values[4]! - found.lows[4]!).toBeCloseTo(1.96 * levels[4]!.deviation, 12);
      expect(found).toMatchObject({
        epochs: [1, 2, 3, 4, 5], refusals: history.series(slot).refusals,
      });
      expect(found.values[0]).toBeNull();
      expect(found.values[2]).not.toBeNull();
    }
  });

  it('is not there for few answers, or where they do not state their noise', () => {
    expect(smoothedSeries(historyOf(releases.slice(0, 4)), 0)).toBeNull();
    const value = valueOf([1], [0.5], { uncertainty: { kind: 'none' } });
    expect(smoothedSeries(historyOf(log([value, value, value, value])), 0)).toBeNull();
    expect(smoothedSeries(new History(), 0)).toBeNull();
  });

  it('has as many releases as the page keeps', () => {
    const many = log(Array.from({ length: 23 }, (_, i) => valueOf([i], [1])));
    const history = historyOf(many, 5);
    expect(history.measured(0).map(({ epoch }) => epoch)).toEqual([19, 20, 21, 22, 23]);
    expect(smoothedSeries(history, 0)!.values).toHaveLength(5);
  });
});
