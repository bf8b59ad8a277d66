import type { RowBlock } from '../../../privacy/stages/rows.js';
import { placesAlong } from '../depth/directions.js';

/** Entries beyond this count as at it: sums over columns then stay within the doubles. */
const entryMaximum = 1e300;

/**
 * The Tukey depth of every candidate over a fixed set of directions: the fewest rows in a closed
 * half-space that the cube around the candidate reaches into, over the half-spaces along a
 * direction of the set or against it. Whole numbers. Cubes, as wide as candidates are apart, and
 * not points, because rows that all coincide, in one column or in all, lie on no candidate and in
 * some cube.
 *
 * Claim: no candidate's depth changes by more than 1 when one contributor is replaced by anything,
 * or goes, or comes.
 * Why: whether a row is in a half-space depends on the row, the candidate and the direction alone
 * (places are computed for each row by itself; rounding may put the edge a little elsewhere, the
 * same for every data set). So each of the counts changes by at most 1, up or down, and so does the
 * smallest of them. Rows with an entry that is not finite count nowhere.
 *
 * Over all directions, and for cubes of no size, this is Tukey's depth; so it is at least that.
 * O(directions * (n log n + candidates log n)).
 *
 * @param candidates - row-major.
 * @param width - of the cubes.
 * @param directions - unit vectors, row-major; their opposites are looked along too.
 */
export function depthScores(
  rows: RowBlock, candidates: Float64Array, directions: Float64Array, width: number,
): Float64Array {
  const { dimension } = rows;
  const values = finiteEntries(rows);
  const scores = new Float64Array(candidates.length / dimension).fill(values.length / dimension);
  for (let at = 0; at < directions.length; at += dimension) {
    const direction = directions.subarray(at, at + dimension);
    const sorted = placesAlong(values, dimension, direction).sort();
    const half = (width / 2) * direction.reduce((sum, entry) => sum + Math.abs(entry), 0);
    placesAlong(candidates, dimension, direction).forEach((place, index) => {
      const above = sorted.length - rowsBefore(sorted, place - half, false);
      const below = rowsBefore(sorted, place + half, true);
      scores[index] = Math.min(scores[index]!, above, below);
    });
  }
  return scores;
}

/** The values of rows all of whose entries are finite. */
function finiteEntries({ count, dimension, values }: RowBlock): Float64Array {
  const kept = new Float64Array(count * dimension);
  let length = 0;
  for (let i = 0; i < count; i++) {
    const row = values.subarray(i * dimension, (i + 1) * dimension);
    if (!row.every(Number.isFinite)) continue;
    for (const entry of row) {
      kept[length++] = Math.min(entryMaximum, Math.max(-entryMaximum, entry));
    }
  }
  return kept.subarray(0, length);
}

/** How many sorted places are below `place`, or, with `orAt`, at most there. */
function rowsBefore(sorted: Float64Array, place: number, orAt: boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const isBefore = orAt ? sorted[middle]! <= place : sorted[middle]! < place;
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}
