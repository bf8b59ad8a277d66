import { describe, expect, it } from 'vitest';
import { compareGroups, type GroupDifference } from '../../src/answers/intervals.js';
import type { Uncertainty, ValueOutcome } from '../../src/base/outcome.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { Sensitive } from '../../src/base/wrappers.js';
import { seededNoise } from '../../src/random/insecure.js';

const asked = { estimator: 'count', columns: ['minutes'], parameters: {} };
const answer = (outcome: Partial<ValueOutcome>): ValueOutcome => ({
  kind: 'value', estimate: [520, 410, 7], shape: [3],
  groups: [['north'], ['south'], ['east']],
  uncertainty: { kind: 'gaussian', standardDeviation: [3, 4, 5] }, ...outcome,
});
const compare = (outcome: ValueOutcome, one = 'north', other = 'south'): GroupDifference =>
  compareGroups(asked, outcome, [one], [other])[0]!;

describe('the difference of two groups', () => {
  it('adds the squares of noise that is drawn for each', () => {
    expect(compare(answer({}))).toMatchObject({
      number: { kind: 'count' }, difference: 110,
      low: expect.closeTo(110 - 1.96 * 5, 9) as number,
      high: expect.closeTo(110 + 1.96 * 5, 9) as number, coverage: 0.95,
    });
    expect(compare(answer({}), 'south', 'north').difference).toBe(-110);
  });

  it('adds the squares of the half-widths that counts state, and no others', () => {
    // Laplace noise of scale 1 on whole counts, as keelson releases it.
    const interval95 = { low: [517, 407, 3], high: [523, 413, 12] };
    const uncertainty: Uncertainty = { kind: 'laplace', scale: [1, 1, 1] };
    expect(compare(answer({ interval95, uncertainty }))).toMatchObject({
      low: expect.closeTo(110 - 3 * Math.SQRT2, 9) as number,
      high: expect.closeTo(110 + 3 * Math.SQRT2, 9) as number, coverage: 0.95,
    });
    // People who lose groups are in the third interval, on one side.
    expect(compare(answer({ interval95, uncertainty }), 'north', 'east'))
      .toMatchObject({ low: 505, high: 520, coverage: 0.9 });
    const mean = { estimator: 'mean', columns: ['minutes'], parameters: {} };
    expect(compareGroups(mean, answer({ interval95, uncertainty }), ['north'], ['south'])[0])
      .toMatchObject({ low: 104, high: 116, coverage: 0.9 });
  });

  it('takes the ends farthest apart where an answer has intervals of its own', () => {
    const interval95 = { low: [500, 400, -Infinity], high: [530, Infinity, Infinity] };
    expect(compare(answer({ interval95 })))
      .toMatchObject({ low: -Infinity, high: 130, coverage: 0.9 });
    expect(compare(answer({ interval95 }), 'south', 'north'))
      .toMatchObject({ low: -130, high: Infinity });
    expect(compare(answer({ interval95 }), 'north', 'east'))
      .toMatchObject({ difference: 513, low: -Infinity, high: Infinity });
  });

  it('says nothing where a group has no answer, or the law of its noise is not known', () => {
    expect(compare(answer({ answered: [true, false, true] })))
      .toEqual(expect.objectContaining({ difference: null, low: -Infinity, high: Infinity }));
    expect(compare(answer({ uncertainty: { kind: 'grid', spacing: 1 } })))
      .toMatchObject({ difference: 110, low: -Infinity, high: Infinity });
  });

  it('is refused without groups, and for a group that the answer does not have', () => {
    const { kind, estimate, shape, uncertainty } = answer({});
    expect(() => compare({ kind, estimate, shape, uncertainty })).toThrow(/not split by groups.*"by"/);
    expect(() => compare(answer({}), 'nort')).toThrow(/has no group nort: did you mean "north"/);
    expect(() => compareGroups(asked, answer({}), 'north' as never, ['south']))
      .toThrow('a group is a list');
  });

  // 2,000 runs: the share that holds is at least .95 but for 4.9 deviations, one run in 1e6.
  it.each(['gaussian', 'laplace'] as const)('holds the true one under %s noise', (kind) => {
    const place = { name: 'x', cohort: 'all', dimension: 2, sensitivity: 1, grid: 1 / 64 } as const;
    const event = kind === 'gaussian'
      ? { ...place, kind, sigma: 3 } as const : { ...place, kind, scale: 3 } as const;
    const uncertainty: Uncertainty = kind === 'gaussian'
      ? { kind, standardDeviation: [3, 3] } : { kind, scale: [3, 3] };
    let held = 0;
    for (let run = 0; run < 2_000; run++) {
      const mechanisms = createMechanisms([event], seededNoise(`${kind} ${run}`));
      const estimate = mechanisms[kind]('x', Sensitive.of(Float64Array.of(100, 80))).value;
      const half = kind === 'gaussian' ? 1.96 * 3 : Math.log(20) * 3;
      const { low, high, coverage } = compare(answer({
        estimate: [...estimate], shape: [2], groups: [['north'], ['south']], uncertainty,
        interval95: {
          low: [...estimate].map((value) => value - half),
          high: [...estimate].map((value) => value + half),
        },
      }));
      expect(coverage).toBe(0.95);
      if (low <= 20 && high >= 20) held += 1;
    }
    expect(held / 2_000).toBeGreaterThan(0.95 - 4.9 * Math.sqrt(0.95 * 0.05 / 2_000));
    expect(held / 2_000).toBeLessThan(0.98);
  });
});
