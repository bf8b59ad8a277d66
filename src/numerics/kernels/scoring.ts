import { assert } from '../../base/assert.js';
import type { Arena } from './arena.js';
import type { Rows, ScoreForm } from './contract.js';
import { Blocks, blockRowsOf } from './passes.js';

/** Most bins that a byte can number. 0 means no bin. */
export const scoreBinsMax = 254;

/** See `Kernels.quadraticForms`. */
export function quadraticForms(
  arena: Arena, rows: Rows, dimension: number, count: number, form: ScoreForm, into: Float64Array,
): void {
  assert(into.length >= count, 'there is a result for every row');
  if (dimension === 0) return void into.fill(0, 0, count);
  scoreBlocks(arena, rows, dimension, count, form, [], (scores, first) => into.set(scores, first));
}

/** See `Kernels.scoreBins`. */
export function scoreBins(
  arena: Arena, rows: Rows, dimension: number, count: number, form: ScoreForm, alive: Uint8Array,
  edges: Float64Array, bins: Uint8Array,
): Float64Array {
  assert(edges.length > 0 && edges.length <= scoreBinsMax, 'a byte tells the bins apart');
  assert(alive.length >= count && bins.length >= count, 'there is a flag and a bin for every row');
  const counts = new Float64Array(edges.length);
  const words = Math.ceil(rowsOfBlock(dimension) / 8);
  let own: Float64Array | null = null;
  scoreBlocks(arena, rows, dimension, count, form, [
    words, words, edges.length, edges.length,
  ], (scores, first, parts) => {
    const [flags, found, places, counted] =
      parts as [Float64Array, Float64Array, Float64Array, Float64Array];
    if (own === null) {
      places.set(edges);
      own = counted.fill(0);
    }
    bytesOf(flags).set(alive.subarray(first, first + scores.length));
    arena.exports.countScores(
      scores.byteOffset, scores.length, flags.byteOffset, places.byteOffset, edges.length,
      counted.byteOffset, found.byteOffset,
    );
    bins.set(bytesOf(found).subarray(0, scores.length), first);
  });
  if (own !== null) counts.set(own);
  return counts;
}

const bytesOf = (part: Float64Array): Uint8Array =>
  new Uint8Array(part.buffer, part.byteOffset, part.byteLength);

/** Rows of a block that stays in the nearest caches while it is scored. */
const rowsOfBlock = (dimension: number): number =>
  Math.max(4, Math.floor(blockRowsOf(dimension) / 16) * 4);

/**
 * Scores block after block. `use` gets the scores of the rows from `first` on, and further parts
 * with the lengths in `more`.
 */
function scoreBlocks(
  arena: Arena, rows: Rows, dimension: number, count: number, { centre, matrix }: ScoreForm,
  more: readonly number[],
  use: (scores: Float64Array, first: number, more: readonly Float64Array[]) => void,
): void {
  assert(centre.length === dimension, 'a centre has the dimension of the rows');
  assert(matrix.length === dimension ** 2, 'the matrix has dimension squared entries');
  if (count === 0 || dimension === 0) return;
  const blocks = new Blocks(arena, rows, dimension, count, {}, rowsOfBlock(dimension));
  const places: readonly number[] = [
    blocks.size, dimension, dimension ** 2, 4 * dimension, ...more, ...blocks.lengths,
  ];
  const [out, middle, form, lanes, ...parts] = arena.layout(...places) as unknown as
    [Float64Array, Float64Array, Float64Array, Float64Array, ...Float64Array[]];
  middle.set(centre);
  // The upper triangle holds the sum of both triangles, the lower one zeros. This halves the
  // products.
  form.fill(0);
  for (let i = 0; i < dimension; i++) {
    form[i * dimension + i] = matrix[i * dimension + i]!;
    for (let j = i + 1; j < dimension; j++) {
      form[i * dimension + j] = matrix[i * dimension + j]! + matrix[j * dimension + i]!;
    }
  }
  const others = parts.slice(0, more.length);
  blocks.each(parts.slice(more.length), (block) => {
    arena.exports.scoreRows(
      block.rows, block.count, dimension, middle.byteOffset, form.byteOffset, lanes.byteOffset,
      out.byteOffset,
    );
    use(out.subarray(0, block.count), block.first, others);
  });
}

/** See `Kernels.squaredNorms`. */
export function squaredNorms(
  arena: Arena, rows: Rows, dimension: number, count: number, centre: Float64Array,
  into: Float64Array,
): void {
  assert(into.length >= count, 'there is a result for every row');
  if (count === 0 || dimension === 0) return void into.fill(0, 0, count);
  const blocks = new Blocks(arena, rows, dimension, count, { centre });
  const [out, ...parts] = arena.layout(blocks.size, ...blocks.lengths);
  blocks.each(parts, (block) => {
    arena.exports
      .rowProducts(block.rows, block.rows, block.count, dimension, dimension, out.byteOffset);
    into.set(out.subarray(0, block.count), block.first);
  });
}

/** See `Kernels.takeBinned`. */
export function takeBinned(
  arena: Arena, bins: Uint8Array, alive: Uint8Array, least: number, below: number,
): Uint32Array {
  assert(least >= 1 && bins.length === alive.length, 'bins are counted from 1, one for every row');
  const words = Math.ceil(bins.length / 8);
  const [found, flags, list] = arena.layout(words, words, Math.ceil(bins.length / 2));
  bytesOf(found).set(bins);
  bytesOf(flags).set(alive);
  const taken = arena.exports.takeBinned(
    found.byteOffset, flags.byteOffset, bins.length, least, below, list.byteOffset,
  );
  if (taken > 0) alive.set(bytesOf(flags).subarray(0, alive.length));
  return new Uint32Array(list.buffer, list.byteOffset, taken).slice();
}
