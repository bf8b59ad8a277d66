import { describe, expect, it } from 'vitest';
import type { Finding } from '../../client/index.js';
import { findingText as ofClient } from '../../client/words.js';
import { findingReasons } from '../../src/base/outcome.js';
import { findingText } from '../../src/index.js';

const names = ['delay', 'distance', 'flag'];
const finding = (
  reason: string, columns: readonly number[] = [], amounts: readonly number[] = [],
): Finding => ({ reason, columns, amounts });

describe('a finding in words', () => {
  it('names the columns and the amounts', () => {
    expect(ofClient).toBe(findingText);
    expect(findingText(finding('skewed', [0]), names))
      .toMatch(/^Column delay reaches farther to one side/);
    expect(findingText(finding('skewed', [0, 1]), names))
      .toMatch(/^Columns delay and distance reach farther/);
    expect(findingText(finding('wider-than-spread'), names))
      .toMatch(/wider than the spread, .* in all columns together\. .* If you gave the spread, it/);
    expect(findingText(finding('cluster-apart', [], [0.031, 8.1, 506.8, 0]), names)).toBe(
      'About 3.1 % of the rows stand apart from the others and were left out. If they are honest, '
      + 'use the mean of all rows: delay 8.1, distance 506.8 and flag 0.');
    expect(findingText(finding('mostly-one-value', [2], [0, 369.2]), names)).toBe(
      'Column flag is 0 in nearly all rows; fewer than about 370 rows differ by a similar '
      + 'distance. The answer is this value, without an interval. Give the smallest and the '
      + 'largest possible value as range for a mean with an interval.');
    expect(findingText(finding('values-clipped', [1], [119.6]), names))
      .toMatch(/^About 120 people have a value beyond the bounds in column distance, and count/);
    expect(findingText(finding('values-clipped', [1]), names))
      .toMatch(/^The answer is at an end of the bounds in column distance\. .* farther out/);
    expect(findingText(finding('end-unseen', [2]), names)).toBe(
      'Column flag has no interval: noise hides how far out the farthest people are. Give the '
      + 'smallest and the largest possible value as range for an answer with an interval.');
    expect(findingText(finding('end-unseen', [0], [52, 0]), names)).toMatch(
      /^Column delay has no interval: too few people came, and noise hides up to 52 people far out/);
    expect(findingText(finding('end-unseen', [0], [52, -1, -9.5]), names)).toMatch(
      /^Column delay has an interval that is open on one side: people are below -9\.5, and nobody kn/);
    expect(findingText(finding('interval-assumes', [0], [52, 0, -9.5, 70]), names)).toBe(
      'The interval in column delay assumes that no group of fewer than 52 people is so far below '
      + '-9.5 or above 70 that it decides the answer. Noise hides such a group.');
    expect(findingText(finding('interval-assumes', [1], [64, 1, 5_200]), names))
      .toMatch(/^The interval in column distance .* fewer than 64 people is so far above 5200 that/);
    expect(findingText(finding('interval-assumes', [1], [64, -1, -3]), names))
      .toMatch(/ so far below -3 that it decides/);
    expect(findingText(finding('interval-assumes', [1]), names))
      .toMatch(/^The interval in column distance assumes that no group that noise hides decides/);
    expect(findingText(finding('interval-assumes', [], [264, 3.927]), names)).toBe(
      'The intervals assume that no group of fewer than 264 people is so far out, beyond 3.927 '
      + 'spreads from the middle, that it decides the answer. Noise hides such a group.');
    expect(findingText(finding('interval-assumes', []), names)).toBe(
      'The intervals assume that no group that noise hides is so far out that it decides the '
      + 'answer. Noise hides such a group.');
    expect(findingText(finding('cluster-far', [1], [119.6, 5e8, 1e9, 1]), names)).toBe(
      'About 120 people are from 500000000 to 1000000000 in column distance, apart from the '
      + 'others. They are in the answer, and make its interval wider.');
    expect(findingText(finding('cluster-far', [1], [70, 5, 9, 0]), names)).toBe(
      'Noise, or up to 70 people, from 5 to 9 in column distance, apart from the others. The '
      + 'interval allows for them; the answer leaves them out.');
    expect(findingText(finding('cluster-far', [1]), names)).toMatch(/^Some people are far out/);
    expect(findingText(finding('direction-unseen'), names))
      .toMatch(/^In some direction .* noise hides how much\. .* variance-low and variance-high/);
    expect(findingText(finding('rows-trimmed'), names))
      .toMatch(/left out\. .* it has no interval\. If they are honest, .* spread: auto\.$/);
    expect(findingText(finding('groups-cut', [], [912.4, 31.2, 2]), names))
      .toMatch(/^Between 881 and 944 people have more groups than the 2 that count for one per/);
    expect(findingText(finding('groups-cut', [], [-40, 31.2, 2]), names))
      .toMatch(/^Hardly anybody has more groups than the 2 /);
    expect(findingText(finding('discrete', [0, 7]), names))
      .toBe('Many rows have exactly the same value in columns delay and column 8.');
  });

  it('counts what it does not name', () => {
    const many = Array.from({ length: 12 }, (_, j) => j);
    expect(findingText(finding('discrete', many), names))
      .toMatch(/column 7, column 8 and 4 more\.$/);
  });

  it('has its own sentence for every reason, also without amounts', () => {
    const texts = findingReasons.map((reason) => findingText(finding(reason, [0]), names));
    expect(new Set(texts).size).toBe(findingReasons.length);
    for (const text of texts) expect(text).toMatch(/^[A-Z].*\.$/);
    expect(texts.join()).not.toMatch(/undefined|NaN|does not know/);
  });

  it('says that a reason of a newer server is unknown', () => {
    expect(findingText(finding('split-in-two', [0], [1]), names))
      .toMatch(/"split-in-two".*does not know/);
  });

  it('takes a finding only', () => {
    expect(() => findingText(finding('skewed'), null as never)).toThrow(/names of the columns/);
    for (const wrong of [null, 3, {}, { reason: 'skewed' }]) {
      expect(() => findingText(wrong as never, names)).toThrow(/finding/);
    }
  });
});
