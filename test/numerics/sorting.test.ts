import { expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import { sortNumbers } from '../../src/numerics/sorting.js';
import { seededRandom } from '../../src/random/work.js';

it.each([0, 1, 1_000, 16_384, 50_001])('%i numbers are sorted as the platform does', (count) => {
  const random = seededRandom(utf8('sorting'));
  const odd = [0, -0, Infinity, -Infinity, 5e-324, -5e-324, Number.MAX_VALUE, -1, 1];
  const kinds: readonly ((i: number) => number)[] = [
    () => random.uniform() - 0.5, (i) => (i * 7919) % 97 - 40,
    (i) => odd[i % odd.length]! * (i % 11 === 0 ? 1 : -1),
    () => (random.uniform() - 0.5) * 2 ** Math.floor(2000 * random.uniform() - 1000),
  ];
  for (const kind of kinds) {
    const values = Float64Array.from({ length: count }, (_, i) => kind(i));
    // A view that does not begin where its memory does.
    const held = new Float64Array(count + 3);
    held.set(values, 2);
    sortNumbers(held.subarray(2, count + 2));
    const sorted = values.slice().sort();
    expect(held.subarray(2, count + 2)).toEqual(sorted);
    expect([held[0], held[1], held[count + 2]]).toEqual([0, 0, 0]);
  }
});
