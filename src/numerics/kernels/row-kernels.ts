import {
  countColumnBins, countColumnCells, countDistances, countPairBins, type CellPlaces,
  type DistancePlaces,
} from './column-counts.js';
import {
  createKernels, type Kernels, type PassOptions, type ScoreForm, type StepBall,
} from './index.js';
import { moveScored } from './score-bins.js';

/**
 * Rows in double precision. In shared memory, threads share them. Other rows are processed on the
 * calling thread.
 */
export interface RowSet {
  readonly values: Float64Array;
  readonly dimension: number;
  readonly count: number;
}

/** The sums of a pass. */
export interface RowMoments {
  /** Rows that were not masked. */
  readonly count: number;
  /** (Weighted) sum of each column. */
  readonly sums: Float64Array;
  /** (Weighted) sum of x x^T, d x d. */
  readonly products: Float64Array;
}

/** Rows per chunk: so many that the cost of a message does not matter. */
export const chunkRows = 32_768;

/** Rows from `first` up to but not including `last`. */
export interface Chunk {
  readonly rows: RowSet;
  readonly first: number;
  readonly last: number;
}

/** A pass whose work threads share. */
export interface Share {
  /** A name in `rowKernels`. */
  readonly kernel: string;
  /** A chunk without its first and last row. */
  readonly input: object;
  /** Number of rows, or of whatever the chunks divide. */
  readonly length: number;
  /** How many of them are in a chunk. */
  readonly size: number;
  /** One number in shared memory: the next free chunk. */
  readonly next: Uint32Array;
}
/** The work of one thread: results by the number of their chunk. */
export type Shared<Output> = readonly (readonly [chunk: number, output: Output])[];

interface MomentsInput extends Chunk {
  readonly options: PassOptions;
}
interface ScoresInput extends Chunk {
  readonly form: ScoreForm;
  readonly into: Float64Array;
}
interface ScoreBinsInput extends Chunk {
  readonly form: ScoreForm;
  readonly alive: Uint8Array;
  readonly edges: Float64Array;
  readonly bins: Uint8Array;
}
interface TakeInput extends Chunk {
  readonly alive: Uint8Array;
  readonly bins: Uint8Array;
  readonly least: number;
  readonly below: number;
}
interface MoveInput extends Chunk {
  readonly form: ScoreForm;
  readonly alive: Uint8Array;
  readonly gone: Uint8Array;
  readonly least: number;
  readonly below: number;
}
interface ClipInput extends Chunk {
  readonly ball: StepBall;
  readonly into: Float64Array;
  readonly present: Uint8Array;
}

interface BinsInput extends Chunk {
  /** Bin width of each column. */
  readonly places: Float64Array;
}
interface CellsInput extends Chunk {
  readonly places: CellPlaces;
}

interface DistancesInput extends Chunk {
  readonly places: DistancePlaces;
}
interface ClippedInput extends Chunk {
  readonly ball: StepBall;
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
  const count = options.mask === undefined
    ? size : options.mask.reduce((sum, kept) => sum + (kept === 0 ? 0 : 1), 0);
  return { count, sums, products };
}

function scores(input: ScoresInput): void {
  const { first, last, form, into } = input;
  scoreChunk(input, form, into.subarray(first, last));
}

function scoreChunk(chunk: Chunk, { centre, matrix }: ScoreForm, into: Float64Array): void {
  const { rows: { dimension }, first, last } = chunk;
  kernels().quadraticForms(valuesOf(chunk), dimension, last - first, centre, matrix, into);
}

/** Scores of one chunk. For passes that do not need the scores of all rows at once. */
let ownScores: Float64Array | null = null;

function chunkScores(chunk: Chunk, form: ScoreForm): Float64Array {
  ownScores ??= new Float64Array(chunkRows);
  scoreChunk(chunk, form, ownScores);
  return ownScores;
}

function scoreBins(input: ScoreBinsInput): Float64Array {
  const { rows: { dimension }, first, last, form, alive, edges, bins } = input;
  const [flags, found] = [alive.subarray(first, last), bins.subarray(first, last)];
  return kernels().scoreBins(valuesOf(input), dimension, last - first, form, flags, edges, found);
}

/** Most rows that are gathered before they are added. */
const fewRows = 512;

function takeBinned(input: TakeInput): RowMoments {
  const { rows: { values, dimension }, first, last, alive, bins, least, below } = input;
  const taken = kernels()
    .takeBinned(bins.subarray(first, last), alive.subarray(first, last), least, below);
  const [sums, products] = [new Float64Array(dimension), new Float64Array(dimension ** 2)];
  const few = new Float64Array(Math.min(fewRows, taken.length) * dimension);
  for (let from = 0; from < taken.length; from += fewRows) {
    const size = Math.min(fewRows, taken.length - from);
    for (let i = 0; i < size; i++) {
      const place = (first + taken[from + i]!) * dimension;
      for (let j = 0; j < dimension; j++) few[i * dimension + j] = values[place + j]!;
    }
    kernels().gram(few, dimension, size, {}, products, sums);
  }
  return { count: taken.length, sums, products };
}

function move(input: MoveInput): void {
  const { first, last, form, alive, gone, least, below } = input;
  moveScored(
    chunkScores(input, form), alive.subarray(first, last), gone.subarray(first, last), least, below,
  );
}

function clip(input: ClipInput): void {
  const { rows: { dimension }, first, last, ball, into, present } = input;
  const target = into.subarray(first * dimension, last * dimension);
  kernels().clipRows(
    valuesOf(input), dimension, last - first, ball, target, present.subarray(first, last),
  );
}

function clipAndAdd(input: ClipInput): RowMoments {
  const { rows: { dimension }, first, last, ball, into, present } = input;
  const target = into.subarray(first * dimension, last * dimension);
  const there = present.subarray(first, last);
  const [sums, products] = [new Float64Array(dimension), new Float64Array(dimension ** 2)];
  const count = kernels()
    .clipRows(valuesOf(input), dimension, last - first, ball, target, there, { sums, products });
  return { count, sums, products };
}

/** The sums of clipped rows, in steps, and how many rows are not null. */
export interface ClippedSums {
  readonly count: number;
  readonly sums: Float64Array;
}

function clippedSums(input: ClippedInput): ClippedSums {
  const { rows: { dimension }, first, last, ball } = input;
  const sums = new Float64Array(dimension);
  const count = kernels().addClipped(valuesOf(input), dimension, last - first, ball, sums);
  return { count, sums };
}

function distances(input: DistancesInput): Float64Array {
  return countDistances(
    valuesOf(input), input.rows.dimension, input.last - input.first, input.places,
  );
}

function bins(input: BinsInput): Map<number, number>[] {
  return countColumnBins(
    valuesOf(input), input.rows.dimension, input.last - input.first, input.places,
  );
}

function cells(input: CellsInput): Float64Array {
  return countColumnCells(
    valuesOf(input), input.rows.dimension, input.last - input.first, input.places,
  );
}

function pairBins({ rows, first, last, pairs }: PairsInput): Map<number, number>[] {
  return countPairBins(rows.values, rows.dimension, pairs.subarray(2 * first, 2 * last));
}

/** Chunk `index` of a pass over `length` items, `size` a chunk. */
export function chunkOf(input: object, index: number, length: number, size: number): object {
  return { ...input, first: index * size, last: Math.min(length, (index + 1) * size) };
}

/** Processes chunks until all are taken. */
function share({ kernel, input, length, size, next }: Share): Shared<unknown> {
  const done: [number, unknown][] = [];
  for (let chunk = Atomics.add(next, 0, 1);
      chunk * size < length; chunk = Atomics.add(next, 0, 1)) {
    done.push([chunk, rowKernels[kernel]!(chunkOf(input, chunk, length, size))]);
  }
  return done;
}

/**
 * The kernels that worker threads run, by name. The functions below make their inputs and outputs.
 */
export const rowKernels: Readonly<Record<string, (input: unknown) => unknown>> = {
  moments: (input) => moments(input as MomentsInput),
  scores: (input) => scores(input as ScoresInput),
  scoreBins: (input) => scoreBins(input as ScoreBinsInput),
  move: (input) => move(input as MoveInput),
  takeBinned: (input) => takeBinned(input as TakeInput),
  clip: (input) => clip(input as ClipInput),
  clipAndAdd: (input) => clipAndAdd(input as ClipInput),
  clippedSums: (input) => clippedSums(input as ClippedInput),
  distances: (input) => distances(input as DistancesInput),
  bins: (input) => bins(input as BinsInput),
  cells: (input) => cells(input as CellsInput),
  pairBins: (input) => pairBins(input as PairsInput),
  share: (input) => share(input as Share),
};
