import { assert } from './assert.js';

/**
 * The source of a distribution: noisy numbers of contributors below public edges, in ascending
 * order of the edges, and behind them the noisy number of all. The estimator and the verifier of a
 * log compute the same quantiles from the same numbers, to the last bit: only sums, products,
 * quotients and comparisons are used.
 */

/** Public edges of cells, as parameters of a study give them. */
export interface EdgeParameters {
  readonly edges?: unknown;
  /** Low and high of each column. */
  readonly range?: unknown;
  /** The place of the column. Default: the first. */
  readonly column?: unknown;
  readonly cells?: unknown;
}

/**
 * The public edges of a `distribution`, ascending; null where the parameters do not say.
 * @param parameters - of the study.
 * @example
 * import { cellEdges } from 'keelson/client/words';
 * console.log(cellEdges({ range: [0, 240], cells: 24 }));
 */
export function cellEdges(
  { edges, range, column = 0, cells }: EdgeParameters,
): readonly number[] | null {
  if (Array.isArray(edges)) return edges as readonly number[];
  if (!Array.isArray(range) || typeof column !== 'number') return null;
  const [low, high] = range.slice(2 * column, 2 * column + 2) as readonly unknown[];
  if (typeof low !== 'number' || typeof high !== 'number' || typeof cells !== 'number') return null;
  return Array.from({ length: cells + 1 }, (_, i) =>
    (i === cells ? high : low + ((high - low) / cells) * i));
}

/**
 * The nearest list that never falls, in least squares (isotonic regression): neighbours that fall
 * are replaced by their mean, until none is left. O(length).
 */
export function neverFalling(values: readonly number[]): readonly number[] {
  const blocks: { sum: number; length: number }[] = [];
  for (const value of values) {
    let block = { sum: value, length: 1 };
    let before = blocks.at(-1);
    while (before !== undefined && before.sum * block.length > block.sum * before.length) {
      block = { sum: before.sum + block.sum, length: before.length + block.length };
      blocks.pop();
      before = blocks.at(-1);
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, length }) => new Array<number>(length).fill(sum / length));
}

/**
 * The quantiles at ascending probabilities. Between two edges the people are taken as evenly
 * spread. A quantile beyond the edges is at the nearest edge.
 * @param below - one number for each edge, then that of all; the last is above 0.
 */
export function quantilesOfRunning(
  below: readonly number[], edges: readonly number[], probabilities: readonly number[],
): readonly number[] {
  assert(below.length === edges.length + 1, 'there is one number for each edge, and that of all');
  const rising = neverFalling(below);
  const all = rising.at(-1)!;
  let at = 0;
  return probabilities.map((probability) => {
    const wanted = probability * all;
    while (at < edges.length && rising[at]! < wanted) at += 1;
    if (at === 0) return edges[0]!;
    if (at === edges.length) return edges.at(-1)!;
    const share = (wanted - rising[at - 1]!) / (rising[at]! - rising[at - 1]!);
    return edges[at - 1]! + share * (edges[at]! - edges[at - 1]!);
  });
}
