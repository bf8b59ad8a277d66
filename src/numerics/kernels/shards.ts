import { assert } from '../../base/assert.js';
import { countColumnBins, countColumnCells, countPairBins } from './column-counts.js';
import { createKernels, type Kernels, type PassOptions, type StepBall } from './index.js';

/**
 * Passes over many rows, cut into chunks that worker threads can take. The chunks depend on nothing but the count, and
 * their results are added in the order of the rows: with any number of threads, none included, the bits are the same.
 */

/** Runs a kernel of `rowKernels` by name; `Compute` of the estimators is one. */
export interface KernelRunner {
  /** Threads behind it; 0 when there are none. */
  readonly parallelism: number;
  run<Output>(kernel: string, input: unknown): Promise<Output>;
}

/** Rows in double precision. Threads share them when they are in shared memory; other rows are worked on in place. */
export interface RowSet {
  readonly values: Float64Array;
  readonly dimension: number;
  readonly count: number;
}

export interface RowMoments {
  /** Rows that were not masked. */
  readonly count: number;
  /** (Weighted) sum of each column. */
  readonly sums: Float64Array;
  /** (Weighted) sum of x x^T, d x d. */
  readonly products: Float64Array;
}

/** Rows of a chunk: enough that a message costs nothing beside it. */
const chunkRows = 32_768;

interface Chunk {
  readonly rows: RowSet;
  readonly first: number;
  readonly last: number;
}
interface MomentsInput extends Chunk {
  readonly options: PassOptions;
}
interface ScoresInput extends Chunk {
  readonly centre: Float64Array;
  readonly matrix: Float64Array;
  readonly into: Float64Array;
}
interface ClipInput extends Chunk {
  readonly ball: StepBall;
  readonly into: Float64Array;
  readonly present: Uint8Array;
}

interface CountInput extends Chunk {
  /** Widths of the columns' bins, or their edges. */
  readonly places: Float64Array;
}

interface PairsInput extends Chunk {
  readonly pairs: Uint32Array;
}

let ownKernels: Kernels | null = null;
const kernels = (): Kernels => (ownKernels ??= createKernels());
const valuesOf = ({ rows, first, last }: Chunk): Float64Array =>
  rows.values.subarray(first * rows.dimension, last * rows.dimension);

function moments(input: MomentsInput): RowMoments {
  const { rows: { dimension }, first, last, options: { mask, weights, centre } } = input;
  const size = last - first;
  const options: PassOptions = {
    ...(mask === undefined ? {} : { mask: mask.subarray(first, last) }),
    ...(weights === undefined ? {} : { weights: weights.subarray(first, last) }),
    ...(centre === undefined ? {} : { centre }),
  };
  const sums = new Float64Array(dimension);
  const products = new Float64Array(dimension ** 2);
  kernels().gram(valuesOf(input), dimension, size, options, products, sums);
  const count = options.mask === undefined ? size : options.mask.reduce((sum, kept) => sum + (kept === 0 ? 0 : 1), 0);
  return { count, sums, products };
}

function scores(input: ScoresInput): void {
  const { rows: { dimension }, first, last, centre, matrix, into } = input;
  kernels().quadraticForms(valuesOf(input), dimension, last - first, centre, matrix, into.subarray(first, last));
}

function clip(input: ClipInput): void {
  const { rows: { dimension }, first, last, ball, into, present } = input;
  const target = into.subarray(first * dimension, last * dimension);
  kernels().clipRows(valuesOf(input), dimension, last - first, ball, target, present.subarray(first, last));
}

/** Rows of a part that is clipped and then added up before it leaves the cache. */
const fusedNumbers = 32_768;

function clipAndAdd(input: ClipInput): RowMoments {
  const { rows, first, last, into, present } = input;
  const { dimension } = rows;
  const size = Math.max(4, Math.floor(fusedNumbers / dimension) & ~3);
  const sums = new Float64Array(dimension);
  const products = new Float64Array(dimension ** 2);
  let count = 0;
  for (let from = first; from < last; from += size) {
    const to = Math.min(last, from + size);
    clip({ ...input, first: from, last: to });
    const mask = present.subarray(from, to);
    kernels().gram(into.subarray(from * dimension, to * dimension), dimension, to - from, { mask }, products, sums);
    for (const there of mask) count += there;
  }
  return { count, sums, products };
}

function bins(input: CountInput): Map<number, number>[] {
  return countColumnBins(valuesOf(input), input.rows.dimension, input.last - input.first, input.places);
}

function cells(input: CountInput): Float64Array {
  return countColumnCells(valuesOf(input), input.rows.dimension, input.last - input.first, input.places);
}

function pairBins({ rows, first, last, pairs }: PairsInput): Map<number, number>[] {
  return countPairBins(rows.values, rows.dimension, pairs.subarray(2 * first, 2 * last));
}

/** What worker threads can be asked for, by name. Inputs and outputs are as the functions below make them. */
export const rowKernels: Readonly<Record<string, (input: unknown) => unknown>> = {
  moments: (input) => moments(input as MomentsInput),
  scores: (input) => scores(input as ScoresInput),
  clip: (input) => clip(input as ClipInput),
  clipAndAdd: (input) => clipAndAdd(input as ClipInput),
  bins: (input) => bins(input as CountInput),
  cells: (input) => cells(input as CountInput),
  pairBins: (input) => pairBins(input as PairsInput),
};

/** Zeros in shared memory where the platform has it. */
export function sharedDoubles(length: number): Float64Array {
  return typeof SharedArrayBuffer === 'function'
    ? new Float64Array(new SharedArrayBuffer(8 * length))
    : new Float64Array(length);
}

/** As `sharedDoubles`, for masks. */
export function sharedBytes(length: number): Uint8Array {
  return typeof SharedArrayBuffer === 'function' ? new Uint8Array(new SharedArrayBuffer(length)) : new Uint8Array(length);
}

/** As `sharedDoubles`, for indexes. */
export function sharedIndexes(length: number): Uint32Array {
  return typeof SharedArrayBuffer === 'function'
    ? new Uint32Array(new SharedArrayBuffer(4 * length))
    : new Uint32Array(length);
}

/** Moments of all rows. Exact for rows of whole steps, see `Kernels`. Masks and weights should be shared too. */
export async function momentsOfRows(runner: KernelRunner, rows: RowSet, options: PassOptions = {}): Promise<RowMoments> {
  const parts = await overChunks<RowMoments>(runner, 'moments', rows, [options.mask, options.weights], { options });
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

/** `clipAllRows`, and the moments of the rows that are there, in one pass. Moments of whole steps are exact. */
export async function clipAndAddRows(
  runner: KernelRunner, rows: RowSet, ball: StepBall, into: Float64Array, present: Uint8Array,
): Promise<RowMoments> {
  assert(into.length >= rows.count * rows.dimension, 'there is room for every clipped row');
  assert(present.length >= rows.count, 'every row may be said to be present');
  const parts = await overChunks<RowMoments>(runner, 'clipAndAdd', rows, [into, present], { ball, into, present });
  return added(parts, rows.dimension);
}

/** See `countColumnBins`. */
export async function columnBinsOfRows(
  runner: KernelRunner, rows: RowSet, widths: Float64Array,
): Promise<Map<number, number>[]> {
  const parts = await overChunks<Map<number, number>[]>(runner, 'bins', rows, [], { places: widths });
  return addedBins(parts, rows.dimension);
}

/** See `countPairBins`. Chunks are of pairs. */
export async function pairBinsOfRows(
  runner: KernelRunner, rows: RowSet, pairs: Uint32Array,
): Promise<Map<number, number>[]> {
  const parts = await overChunks<Map<number, number>[]>(
    runner, 'pairBins', rows, [pairs], { pairs }, Math.floor(pairs.length / 2),
  );
  return addedBins(parts, rows.dimension);
}

function addedBins(parts: readonly Map<number, number>[][], dimension: number): Map<number, number>[] {
  const all = Array.from({ length: dimension }, () => new Map<number, number>());
  for (const part of parts) {
    part.forEach((counts, j) => counts.forEach((count, bin) => all[j]!.set(bin, (all[j]!.get(bin) ?? 0) + count)));
  }
  return all;
}

/** See `countColumnCells`. */
export async function columnCellsOfRows(runner: KernelRunner, rows: RowSet, edges: Float64Array): Promise<Float64Array> {
  const all = new Float64Array(edges.length + rows.dimension);
  for (const part of await overChunks<Float64Array>(runner, 'cells', rows, [], { places: edges })) {
    for (let i = 0; i < all.length; i++) all[i]! += part[i]!;
  }
  return all;
}

/** (x - centre)^T matrix (x - centre) of each row, into shared memory. */
export async function scoresOfRows(
  runner: KernelRunner, rows: RowSet, centre: Float64Array, matrix: Float64Array, into: Float64Array,
): Promise<void> {
  assert(into.length >= rows.count, 'there is room for every score');
  await overChunks(runner, 'scores', rows, [into], { centre, matrix, into });
}

/** Clips rows to whole steps, into shared memory, which may be the rows themselves; see `Kernels.clipRows`. */
export async function clipAllRows(
  runner: KernelRunner, rows: RowSet, ball: StepBall, into: Float64Array, present: Uint8Array,
): Promise<void> {
  assert(into.length >= rows.count * rows.dimension, 'there is room for every clipped row');
  assert(present.length >= rows.count, 'every row may be said to be present');
  await overChunks(runner, 'clip', rows, [into, present], { ball, into, present });
}

/**
 * Runs a kernel on every chunk of `length` things, of the rows unless said; results in the order of the chunks. Where some array is not shared, a message would copy
 * it, and what a thread writes would be lost: all is done here then, with the same results.
 */
async function overChunks<Output>(
  runner: KernelRunner, kernel: string, rows: RowSet, others: readonly (ArrayBufferView | undefined)[], input: object,
  length = rows.count,
): Promise<Output[]> {
  const { values, dimension, count } = rows;
  assert(values.length >= count * dimension, 'rows hold count times dimension numbers');
  const isShared = [values, ...others].every((part) => part === undefined || !(part.buffer instanceof ArrayBuffer));
  const chunks: (Chunk & object)[] = [];
  for (let first = 0; first < length; first += chunkRows) {
    chunks.push({ ...input, rows: { values, dimension, count }, first, last: Math.min(length, first + chunkRows) });
  }
  if (runner.parallelism === 0 || !isShared || chunks.length < 2) {
    return chunks.map((chunk) => rowKernels[kernel]!(chunk) as Output);
  }
  return Promise.all(chunks.map((chunk) => runner.run<Output>(kernel, chunk)));
}
