import { describe, expect, it } from 'vitest';
import { orderByTag } from '../../../src/estimators/summaries/tag-order.js';
import { dataSource } from '../../support/data.js';

/** By the plainest sort there is. */
function orderByHand(
  tags: BigUint64Array, among: (left: number, right: number) => number,
): number[] {
  return Array.from(tags.keys()).sort((left, right) => {
    if (tags[left] !== tags[right]) return tags[left]! < tags[right]! ? -1 : 1;
    return among(left, right);
  });
}

describe('the order by tags', () => {
  // On both sides of where sorting gives way to counting; tags that differ in low words alone, and
  // not at all.
  it.each([0, 1, 2, 300, 16_384, 16_385, 40_000])(
    'is that of %i numbers of 64 bits, ties by the rest', (count) => {
      const data = dataSource(`tags ${count}`);
      const tags = BigUint64Array.from({ length: count }, () => {
        const high = data.below(3) === 0 ? 0xffff_0000 + data.below(4) : data.below(2 ** 32);
        return (BigInt(high) << 32n) | BigInt(data.below(2) === 0
          ? data.below(3) : data.below(2 ** 32));
      });
      const among = (left: number, right: number): number => right - left;
      expect([...orderByTag(tags, count, among)]).toEqual(orderByHand(tags, among));
    },
  );
});
