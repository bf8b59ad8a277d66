import { describe, expect, it } from 'vitest';
import { copyNumbers, sharedDoubles } from '../../src/numerics/kernels/shared.js';

const numbers = [1.5, -0, NaN, Infinity, 2 ** -1074, -7];

describe('copying numbers', () => {
  it.each([
    ['out of shared memory', sharedDoubles(9), new Float64Array(9)],
    ['into shared memory', new Float64Array(9), sharedDoubles(9)],
    ['between shared memories', sharedDoubles(9), sharedDoubles(9)],
    ['in memory of one thread', new Float64Array(9), new Float64Array(9)],
  ])('%s is bit for bit, and touches nothing beside them', (_name, from, to) => {
    from.set(numbers, 1);
    to.fill(3);
    copyNumbers(from.subarray(1, 7), to.subarray(2, 8));
    expect([...to]).toEqual([3, 3, ...numbers, 3]);
    copyNumbers(from.subarray(1, 1), to.subarray(2, 2));
    expect([...to]).toEqual([3, 3, ...numbers, 3]);
  });

  it('widens single precision, and narrows to it', () => {
    const wide = sharedDoubles(2);
    copyNumbers(Float32Array.of(0.1, 2), wide);
    expect([...wide]).toEqual([Math.fround(0.1), 2]);
    const narrow = new Float32Array(new SharedArrayBuffer(8));
    copyNumbers(Float64Array.of(0.1, 2), narrow);
    expect([...narrow]).toEqual([Math.fround(0.1), 2]);
  });
});
