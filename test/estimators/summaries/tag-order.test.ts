import { describe, expect, it } from 'vitest';
import { sortedCopy, sortInPlace } from '../../../src/estimators/summaries/tag-order.js';
import { dataSource } from '../../support/data.js';

interface Tagged {
  readonly tags: BigUint64Array;
  readonly values: Float64Array;
  readonly dimension: number;
}

/** By the plainest sort there is. */
function sortedByHand({ tags, values, dimension }: Tagged): readonly (bigint | number)[] {
  const rowOf = (row: number): Float64Array =>
    values.subarray(row * dimension, (row + 1) * dimension);
  return Array.from(tags.keys()).sort((left, right) => {
    if (tags[left] !== tags[right]) return tags[left]! < tags[right]! ? -1 : 1;
    for (let j = 0; j < dimension; j++) {
      const [a, b] = [rowOf(left)[j]!, rowOf(right)[j]!];
      if (a !== b) return a - b;
      if (!Object.is(a, b)) return Object.is(a, -0) ? -1 : 1;
    }
    return 0;
  }).flatMap((row) => [tags[row]!, ...rowOf(row)]);
}

const flat = ({ tags, values, dimension }: Tagged): readonly (bigint | number)[] =>
  Array.from(tags).flatMap((tag, row) =>
    [tag, ...values.subarray(row * dimension, (row + 1) * dimension)]);

function orders({ tags, values, dimension }: Tagged): (readonly (bigint | number)[])[] {
  const copied = sortedCopy(
    { count: tags.length, values, tags }, dimension, (length) => new Float64Array(length),
  );
  const moved = { tags: tags.slice(), values: values.slice(), dimension };
  sortInPlace(moved.values, dimension, moved.tags);
  return [flat({ ...copied, dimension }), flat(moved)];
}

describe('rows in order of tags', () => {
  // On both sides of where there are buckets; tags that differ in low words alone, or not at all,
  // and rows that differ in their last column alone, or in the sign of a zero.
  it.each([0, 1, 2, 300, 4_095, 9_000, 40_000])(
    'are those of %i rows by all 64 bits, ties by their values', (count) => {
      const data = dataSource(`tags ${count}`);
      const tags = BigUint64Array.from({ length: count }, () => {
        const high = data.below(3) === 0 ? 0xffff_0000 + data.below(4) : data.below(2 ** 32);
        return (BigInt(high) << 32n) | BigInt(data.below(2) === 0
          ? data.below(3) : data.below(2 ** 32));
      });
      const values = Float64Array.from({ length: 3 * count }, (_, i) =>
        (i % 3 < 2 ? [-0, 0, 1][data.below(3)]! : data.below(50) - 25));
      const rows = { tags, values, dimension: 3 };
      const expected = sortedByHand(rows);
      for (const found of orders(rows)) {
        expect(found.length).toBe(expected.length);
        expect(found.every((entry, i) => Object.is(entry, expected[i]))).toBe(true);
      }
    },
  );

  it('are the same where all tags are of one bucket that is too large for keys', {
    tags: ['slow'],
  }, () => {
    const count = 2 ** 21 + 100;
    const tags = BigUint64Array.from({ length: count }, (_, i) => BigInt((i * 7919) % count));
    const values = Float64Array.from(tags, (tag) => Number(tag) / 2);
    const sorted = sortedCopy({ count, values, tags }, 1, (length) => new Float64Array(length));
    expect(sorted.tags.every((tag, i) => tag === BigInt(i))).toBe(true);
    expect(sorted.values.every((value, i) => value === i / 2)).toBe(true);
  });
});
