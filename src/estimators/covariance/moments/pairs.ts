import { sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { slotOf, slotsFor } from '../../../privacy/stages/spread.js';
import type { PooledRows } from '../../contract/estimator.js';

/**
 * Share of the slots that hold a pair when everybody comes: with half as many slots as
 * contributors, a slot has two or more members with probability 1 - 3 e^-2.
 */
const pairedShare = 1 - 3 * Math.exp(-2);

/** Pairs that a public number of contributors leads to. */
export function pairsExpected(cohort: number): number {
  return pairedShare * slotsFor(cohort);
}

/**
 * Pairs of rows, (x - y) / sqrt 2: the mean cancels and the covariance stays.
 *
 * Claim: one contributor's row replaced, gone or added changes at most one pair: replaces it,
 * removes it or adds one.
 * Why: a row's slot is a function of its tag, and a slot's pair is its two members with the
 * smallest tags. There are at most `slots` pairs. A pair with an entry that is not finite, by
 * overflow, is left out: it is no pair.
 * @param slots - from the public cohort, never from the rows present.
 */
export function pairsOf({ count, dimension, values, tags }: PooledRows, slots: number): RowBlock {
  const found = sharedDoubles(Math.min(slots, Math.floor(count / 2)) * dimension);
  let pairs = 0;
  let slot = -1;
  let members = 0;
  for (let row = 0; row < count; row++) {
    const own = slotOf(tags[row]!, slots);
    members = own === slot ? members + 1 : 1;
    slot = own;
    if (members !== 2) continue;
    let isFinite = true;
    for (let j = 0; j < dimension; j++) {
      const entry =
        (values[(row - 1) * dimension + j]! - values[row * dimension + j]!) / Math.SQRT2;
      found[pairs * dimension + j] = entry;
      isFinite &&= Number.isFinite(entry);
    }
    if (isFinite) pairs += 1;
  }
  return { count: pairs, dimension, values: found };
}
