import { assert } from '../../base/assert.js';
import type { CellPlaces, DistancePlaces } from './column-counts.js';
import type { PassOptions, ScoreForm, StepBall } from './index.js';
import {
  chunkOf, chunkRows, rowKernels, type ClippedSums, type RowMoments, type RowSet, type Share,
  type Shared,
} from './row-kernels.js';
import { sharedIndexes } from './shared.js';

export { rowKernels, type ClippedSums, type RowMoments, type RowSet } from './row-kernels.js';
export { sharedBytes, sharedDoubles, sharedIndexes } from './shared.js';

/**
 * Passes over many rows, split into chunks for worker threads. The chunks depend on the count
 * alone, and their results are added in the order of the rows. So the bits are the same with any
 * number of threads, also without any.
 */

/** Runs a kernel of `rowKernels` by name. The estimators' `Compute` is one. */
export interface KernelRunner {
  /** Number of threads behind it; 0 if there are none. */
  readonly parallelism: number;
  /** @param thread - a number below `parallelism`. Default: the least busy thread. */
  run<Output>(kernel: string, input: unknown, thread?: number): Promise<Output>;
  /** Called before every pass, with the number of items in it. */
  onPass?(kernel: string, rows: number): void;
}

/**
 * Moments of all rows. Exact for rows of integers, see `Kernels`. Masks and weights should be
 * shared too.
 */
export async function momentsOfRows(
  runner: KernelRunner, rows: RowSet, options: PassOptions = {},
): Promise<RowMoments> {
  const parts = await overChunks<RowMoments>(
    runner, 'moments', rows, [options.mask, options.weights], { options },
  );
  return added(parts, rows.dimension);
}

function added(parts: readonly RowMoments[], dimension: number): RowMoments {
  const sums = new Float64Array(dimension);
  const products = new Float64Array(dimension ** 2);
  let count = 0;
  for (const part of parts) {
    count += part.count;
    for (let j = 0; j < sums.length; j++) sums[j]! += part.sums[j]!;
    for (let j = 0; j < products.length; j++) products[j]! += part.products[j]!;
  }
  return { count, sums, products };
}

/**
 * `clipAllRows` and the moments of the present rows, in one pass. Moments of integer steps are
 * exact.
 */
export async function clipAndAddRows(
  runner: KernelRunner, rows: RowSet, ball: StepBall, into: Float64Array, present: Uint8Array,
): Promise<RowMoments> {
  assert(into.length >= rows.count * rows.dimension, 'there is room for every clipped row');
  assert(present.length >= rows.count, 'every row may be said to be present');
  const parts = await overChunks<RowMoments>(
    runner, 'clipAndAdd', rows, [into, present], { ball, into, present },
  );
  return added(parts, rows.dimension);
}

/** See `Kernels.addClipped`. Sums of steps are exact, so they have the bits of a single pass. */
export async function clippedSumsOfRows(
  runner: KernelRunner, rows: RowSet, ball: StepBall,
): Promise<ClippedSums> {
  const parts = await overChunks<ClippedSums>(runner, 'clippedSums', rows, [], { ball });
  return {
    count: parts.reduce((all, part) => all + part.count, 0),
    sums: addedInto(new Float64Array(rows.dimension), parts.map(({ sums }) => sums)),
  };
}

/** See `countDistances`. */
export async function distancesOfRows(
  runner: KernelRunner, rows: RowSet, places: DistancePlaces,
): Promise<Float64Array> {
  return addedInto(
    new Float64Array(places.edges.length + 1),
    await overChunks<Float64Array>(runner, 'distances', rows, [], { places }),
  );
}

/** See `countColumnBins`. */
export async function columnBinsOfRows(
  runner: KernelRunner, rows: RowSet, widths: Float64Array,
): Promise<Map<number, number>[]> {
  const parts =
    await overChunks<Map<number, number>[]>(runner, 'bins', rows, [], { places: widths });
  return addedBins(parts, rows.dimension);
}

/** A pair is two rows. */
const chunkPairs = chunkRows / 2;

/** See `countPairBins`. Chunks divide the pairs. */
export async function pairBinsOfRows(
  runner: KernelRunner, rows: RowSet, pairs: Uint32Array,
): Promise<Map<number, number>[]> {
  const parts = await overChunks<Map<number, number>[]>(
    runner, 'pairBins', rows, [pairs], { pairs }, Math.floor(pairs.length / 2), chunkPairs,
  );
  return addedBins(parts, rows.dimension);
}

function addedBins(
  parts: readonly Map<number, number>[][], dimension: number,
): Map<number, number>[] {
  const all = Array.from({ length: dimension }, () => new Map<number, number>());
  for (const part of parts) {
    part.forEach((counts, j) =>
      counts.forEach((count, bin) => all[j]!.set(bin, (all[j]!.get(bin) ?? 0) + count)));
  }
  return all;
}

/** See `countColumnCells`. */
export async function columnCellsOfRows(
  runner: KernelRunner, rows: RowSet, places: CellPlaces,
): Promise<Float64Array> {
  const all = new Float64Array((places.cells + 2) * rows.dimension);
  return addedInto(all, await overChunks<Float64Array>(runner, 'cells', rows, [], { places }));
}

function addedInto(all: Float64Array, parts: readonly Float64Array[]): Float64Array {
  for (const part of parts) for (let i = 0; i < all.length; i++) all[i]! += part[i]!;
  return all;
}

/** Writes the score of each row to shared memory. */
export async function scoresOfRows(
  runner: KernelRunner, rows: RowSet, centre: Float64Array, matrix: Float64Array,
  into: Float64Array,
): Promise<void> {
  assert(into.length >= rows.count, 'there is room for every score');
  await overChunks(runner, 'scores', rows, [into], { form: { centre, matrix }, into });
}

/** See `Kernels.scoreBins`. `bins` is in shared memory. */
export async function scoreBinsOfRows(
  runner: KernelRunner, rows: RowSet, form: ScoreForm, alive: Uint8Array, edges: Float64Array,
  bins: Uint8Array,
): Promise<Float64Array> {
  assert(alive.length >= rows.count
    && bins.length >= rows.count, 'there is a flag and a bin for every row');
  const input = { form, alive, edges, bins };
  return addedInto(new Float64Array(edges.length), await overChunks(
    runner, 'scoreBins', rows, [alive, bins], input,
  ));
}

/**
 * See `Kernels.takeBinned`, for bins from `scoreBinsOfRows`. Returns the moments of the removed
 * rows, exact for rows of integers.
 */
export async function takeBinnedRows(
  runner: KernelRunner, rows: RowSet, alive: Uint8Array, bins: Uint8Array, least: number,
  below: number,
): Promise<RowMoments> {
  assert(alive.length >= rows.count
    && bins.length >= rows.count, 'there is a flag and a bin for every row');
  const input = { alive, bins, least, below };
  return added(
    await overChunks<RowMoments>(runner, 'takeBinned', rows, [alive, bins], input), rows.dimension,
  );
}

/** See `moveScored`. Scores are not kept. */
export async function moveScoredRows(
  runner: KernelRunner, rows: RowSet, form: ScoreForm, alive: Uint8Array, gone: Uint8Array,
  { least, below = Infinity }: { readonly least: number; readonly below?: number },
): Promise<void> {
  assert(
    alive.length >= rows.count && gone.length >= rows.count, 'a mask has an entry for every row',
  );
  await overChunks(runner, 'move', rows, [alive, gone], { form, alive, gone, least, below });
}

/**
 * Clips rows to integer steps in shared memory, which may be that of the rows themselves; see
 * `Kernels.clipRows`.
 */
export async function clipAllRows(
  runner: KernelRunner, rows: RowSet, ball: StepBall, into: Float64Array, present: Uint8Array,
): Promise<void> {
  assert(into.length >= rows.count * rows.dimension, 'there is room for every clipped row');
  assert(present.length >= rows.count, 'every row may be said to be present');
  await overChunks(runner, 'clip', rows, [into, present], { ball, into, present });
}

/**
 * Runs a kernel on every chunk of `length` items, by default the rows, `size` a chunk. Results are
 * in the order of the chunks. A message would copy an array that is not shared, and a thread's
 * writes to it would be lost. With such an array, everything runs on this thread, with the same
 * results.
 */
async function overChunks<Output>(
  runner: KernelRunner, kernel: string, rows: RowSet,
  others: readonly (ArrayBufferView | undefined)[], input: object, length = rows.count,
  size = chunkRows,
): Promise<Output[]> {
  const { values, dimension, count } = rows;
  assert(values.length >= count * dimension, 'rows hold count times dimension numbers');
  runner.onPass?.(kernel, length);
  const isShared = [values, ...others].every((part) =>
    part === undefined || !(part.buffer instanceof ArrayBuffer));
  const chunks = Math.ceil(length / size);
  const all = { ...input, rows: { values, dimension, count } };
  if (runner.parallelism === 0 || !isShared || chunks < 2) {
    return Array.from({ length: chunks }, (_, i) =>
      rowKernels[kernel]!(chunkOf(all, i, length, size)) as Output);
  }
  return shared(runner, { kernel, input: all, length, size, next: sharedIndexes(1) }, chunks);
}

/**
 * Every thread takes the next chunk as soon as it is ready, so that no thread waits for a slower
 * one. A thread that starts after the last chunk was taken has nothing to return, so the pass does
 * not wait for it.
 */
function shared<Output>(runner: KernelRunner, share: Share, chunks: number): Promise<Output[]> {
  const results = new Array<Output>(chunks);
  return new Promise((resolve, reject) => {
    let left = chunks;
    for (let thread = 0; thread < runner.parallelism; thread++) {
      runner.run<Shared<Output>>('share', share, thread).then((found) => {
        for (const [chunk, output] of found) results[chunk] = output;
        left -= found.length;
        if (left === 0) resolve(results);
      }, reject);
    }
  });
}
