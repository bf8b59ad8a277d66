import { sharedIndexes } from '../../numerics/kernels/shards.js';
import { nobody, smallestOfSlots } from '../../numerics/kernels/slot-pairs.js';
import type { RowBlock } from './rows.js';

export { slotOf } from '../../numerics/kernels/slot-pairs.js';

/**
 * Rows, in any order, and the tags by which they are put in slots and paired: drawn already, or
 * still to draw.
 */
export interface RowsToPair extends RowBlock {
  readonly tags: BigUint64Array;
  /**
   * Where there are no tags yet: fills in those of the next rows, until all rows have had theirs.
   */
  readonly drawTags?: (into: BigUint64Array) => void;
}

/**
 * The pairs of all slots, two rows of the block side by side: of every slot the row with the
 * smallest tag, and the next one; of equal tags, which keyed hashes do not have, the smaller values
 * come first. A function of the set of rows but for their order. O(count + slots), 24 bytes for
 * each slot; tags that are drawn are not kept.
 */
export function pairsOf(block: RowsToPair, slots: number): Uint32Array {
  const { count, dimension, values, tags, drawTags } = block;
  const isBefore = (row: number, other: number): boolean => {
    for (let j = 0; j < dimension; j++) {
      const gap = values[row * dimension + j]! - values[other * dimension + j]!;
      if (gap !== 0) return gap < 0;
    }
    return false;
  };
  let given = 0;
  const fillTags = drawTags ?? ((into: BigUint64Array): void => {
    into.set(tags.subarray(given, given += into.length));
  });
  const rows = smallestOfSlots({ count, fillTags, isBefore }, slots);
  return fullSlots(rows);
}

/** The rows of full slots, side by side. */
function fullSlots(rows: Uint32Array): Uint32Array {
  let found = 0;
  for (let next = 1; next < rows.length; next += 2) found += Number(rows[next] !== nobody);
  const pairs = sharedIndexes(2 * found);
  for (let place = 0, at = 0; place < rows.length; place += 2) {
    if (rows[place + 1] === nobody) continue;
    pairs[at++] = rows[place]!;
    pairs[at++] = rows[place + 1]!;
  }
  return pairs;
}
