import { describe, expect, it } from 'vitest';
import { describeAnswer, describeNumbers } from '../../src/answers/describe.js';
import { areOfColumns, labelsOf } from '../../src/answers/words.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { descriptions } from '../../src/estimators/generated/descriptions.js';
import { estimators } from '../../src/estimators/registry.js';

function valueOf(
  estimate: readonly number[], more: Partial<ValueOutcome> = {},
): ValueOutcome {
  const uncertainty = { kind: 'none' } as const;
  return { kind: 'value', estimate, shape: [estimate.length], uncertainty, ...more };
}

const minutes = { columns: ['delay'], columnWords: [{ unit: 'minutes' }] } as const;

describe('the description of an answer', () => {
  it('exists for every estimator, and is the one that the estimator gives', () => {
    expect(Object.keys(descriptions)).toEqual(estimators.map(({ name }) => name));
    for (const { name, describe: own } of estimators) expect(descriptions[name]).toBe(own);
  });

  it('has the unit and the possible values of a quantile', () => {
    expect(describeAnswer({
      ...minutes, estimator: 'quantile', parameters: { range: [0, 60], probabilities: [0.5] },
    })).toEqual([
      { kind: 'quantile', column: 'delay', probability: 0.5, unit: 'minutes', least: 0, most: 60 },
    ]);
  });

  it('takes the groups of a split answer from the outcome', () => {
    const asked = { ...minutes, estimator: 'sum', parameters: { cap: [5] } };
    const groups = [['north'], ['south']];
    const split = describeAnswer(asked, valueOf([3, 4], { groups, shape: [2, 1] }));
    expect(split.map(({ group }) => group)).toEqual(groups);
    expect(describeAnswer(asked, valueOf([], { groups: [], shape: [0, 1] }))).toEqual([]);
    expect(describeAnswer(asked)).toMatchObject([{ kind: 'total', each: [0, 5], least: 0 }]);
    // Keys alone have no numbers.
    const alone = { estimator: 'count', columns: [], parameters: {} };
    expect(describeAnswer(alone, valueOf([], { groups, shape: [2, 0] }))).toEqual([]);
  });

  it('takes the bins that a release found from the outcome', () => {
    const asked = { ...minutes, estimator: 'histogram', parameters: { width: 10, top: 2 } };
    const outcome = valueOf([30, 812.5, 0, 0], { shape: [2, 2] });
    const first = { found: 1, from: 30, below: 40 };
    expect(describeAnswer(asked, outcome)).toEqual([
      { kind: 'bin-start', column: 'delay', unit: 'minutes', bin: first },
      { kind: 'bin', column: 'delay', bin: first, least: 0 },
      { kind: 'bin-start', column: 'delay', unit: 'minutes', bin: { found: 2 } },
      { kind: 'bin', column: 'delay', bin: { found: 2 }, least: 0 },
    ]);
    expect(labelsOf(describeAnswer(asked)).slice(0, 3))
      .toEqual(['delay, bin 1 from', 'delay, bin 1 count', 'delay, bin 2 from']);
  });

  it('names the bins of a category, and knows what a boolean can be', () => {
    const types = [{ type: 'category', of: ['north', 'south'], other: true }] as const;
    const regions = describeAnswer({
      estimator: 'histogram', columns: ['region'], types, parameters: { column: 0, edges: [1, 2] },
    });
    expect(labelsOf(regions)).toEqual(['north', 'south', 'other']);
    const yesOrNo = [{ type: 'boolean' }] as const;
    const damaged = { estimator: 'mean', columns: ['damaged'], types: yesOrNo };
    expect(describeAnswer({ ...damaged, parameters: {} })).toMatchObject([{ least: 0, most: 1 }]);
    expect(describeAnswer({ ...damaged, parameters: {}, reduce: 'sum' })[0]!.most).toBeUndefined();
    expect(describeAnswer({
      ...damaged, estimator: 'share', parameters: { threshold: 0.5, side: 'below' },
    })).toMatchObject([{ kind: 'share', side: { below: 0.5, is: false }, least: 0, most: 1 }]);
  });

  it('says no more than it knows of a newer estimator, and of facts that cannot be', () => {
    const columns = ['a', 'b'];
    const newer = { estimator: 'mode', columns, parameters: {} };
    expect(describeNumbers(newer, valueOf([1, 2]))).toMatchObject([
      { kind: 'other', column: 'a' }, { kind: 'other', column: 'b' },
    ]);
    const parts = [{ name: 'centre', shape: [2] }, { name: 'cells', shape: [3] }];
    expect(labelsOf(describeNumbers(newer, valueOf([1, 2, 3, 4, 5], { parts }))))
      .toEqual(['centre of a', 'centre of b', 'cells 1', 'cells 2', 'cells 3']);
    for (const [estimator, parameters] of [
      ['toString', {}], ['quantile', {}], ['sum', { cap: [1] }], ['select', { hypotheses: '[' }],
      ['mixture-1d', { components: 1e9 }], ['distribution', { edges: [] }],
      ['stable-moments', { order: 4, directions: '{}' }],
    ] as const) {
      const numbers = describeAnswer({ estimator, columns, parameters }, valueOf([1, 2, 3]));
      expect(numbers.map(({ kind }) => kind)).toEqual(['other', 'other', 'other']);
    }
    // The numbers of a distribution whose cells are others than the facts say are not counts.
    const cells = { range: [0, 1], cells: 200, probabilities: [0.5] };
    const many = describeAnswer(
      { estimator: 'distribution', columns: ['a'], parameters: cells },
      valueOf(Array.from({ length: 157 }, () => -3)),
    );
    expect(many).toHaveLength(157);
    expect(many[156]).toEqual({ kind: 'other', place: 157, of: 157 });
  });

  it('knows whether columns alone name the numbers', () => {
    const columns = ['a', 'b'];
    const ofColumns = estimators.filter(({ name }) =>
      areOfColumns(describeNumbers({ estimator: name, columns, parameters: {} }), columns))
      .map(({ name }) => name);
    expect(ofColumns).toContain('tukey-median');
    expect(ofColumns).not.toContain('covariance');
    expect(areOfColumns([{ kind: 'count' }], ['contributors'])).toBe(true);
  });
});
