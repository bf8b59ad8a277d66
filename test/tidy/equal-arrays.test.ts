import { describe, expect, it } from 'vitest';

/** test/support/equal-arrays.ts teaches `expect` a short way for typed arrays. */
describe('typed arrays in tests', () => {
  it('are equal where their numbers are', () => {
    const numbers = Float64Array.of(1, NaN, -0);
    expect(Float64Array.of(7, 1, NaN, -0).subarray(1)).toEqual(numbers);
    expect({ rows: [Float64Array.of(1, NaN, -0)] }).toStrictEqual({ rows: [numbers] });
    expect(new Float64Array(0)).toEqual(new Float64Array(0));
  });

  it.each<[string, ArrayBufferView]>([
    ['another number', Float64Array.of(1, 3)],
    ['another length', Float64Array.of(1, 2, 0)],
    ['another sign of zero', Float64Array.of(1, -0)],
    ['another type with the same bytes', new BigUint64Array(Float64Array.of(1, 2).buffer)],
  ])('differ by %s', (name, other) => {
    const numbers = name.includes('zero') ? Float64Array.of(1, 0) : Float64Array.of(1, 2);
    expect(other).not.toEqual(numbers);
    expect({ rows: [other] }).not.toEqual({ rows: [numbers] });
  });
});
