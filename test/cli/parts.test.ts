import { describe, expect, it } from 'vitest';
import { tablesOf } from '../../cli/base/matrices.js';
import { partsByName, partsFault, sameParts } from '../../src/base/parts.js';

const mean = { name: 'mean', shape: [2] };
const covariance = { name: 'covariance', shape: [2, 2] };
const whole = { estimate: [1, 2, 3, 4, 4, 5], parts: [mean, covariance] };

describe('parts of an estimate', () => {
  it('make it up, in order', () => {
    expect(partsFault([mean, covariance], [6])).toBeNull();
    expect(partsFault([covariance], [2, 2])).toBeNull();
    expect(partsFault([covariance], [4])).toMatch(/make up 2 x 2, not 4/);
    expect(partsFault([mean, covariance], [2, 3])).toMatch(/make up 6/);
    expect(partsFault([mean, mean], [4])).toMatch(/two parts/);
    expect(partsFault([], [1])).toMatch(/0 parts/);
    expect(partsFault([{ name: 'a-b', shape: [1] }], [1])).toMatch(/short word/);
    expect(partsFault([{ name: 'a', shape: [1.5] }], [1.5])).toMatch(/empty/);
    expect(sameParts([mean], [{ name: 'mean', shape: [2] }])).toBe(true);
    expect(sameParts([mean, covariance], [covariance, mean])).toBe(false);
    expect(sameParts(undefined, [mean])).toBe(false);
    expect(sameParts(undefined, undefined)).toBe(true);
  });

  it('are found by name, nested in their shapes', () => {
    expect(partsByName(whole)).toEqual({ mean: [1, 2], covariance: [[3, 4], [4, 5]] });
    expect(partsByName({ estimate: [1] })).toEqual({});
    const cube = {
      estimate: [1, 2, 3, 4, 5], parts: [{ name: 'a', shape: [] }, { name: 'b', shape: [2, 1, 2] }],
    };
    expect(partsByName(cube)).toEqual({ a: 1, b: [[[2, 3]], [[4, 5]]] });
  });

  it('are shown as tables under the names of the columns', () => {
    expect(tablesOf(whole, ['x', 'y'])).toEqual([
      { heads: ['mean', 'x', 'y'], rows: [['', '1', '2']] },
      { heads: ['covariance', 'x', 'y'], rows: [['x', '3', '4'], ['y', '4', '5']] },
    ]);
    const two = { estimate: [1, 2, 3, 4], parts: [{ name: 'spreads', shape: [2, 1, 2] }] };
    expect(tablesOf(two, ['x']).map(({ heads }) => heads))
      .toEqual([['spreads 1', '1', '2'], ['spreads 2', '1', '2']]);
    const wide = {
      estimate: new Array<number>(81).fill(0), parts: [{ name: 'wide', shape: [1, 81] }],
    };
    expect(tablesOf(wide, ['x'])[0]!.heads).toHaveLength(10);
  });
});
