import { assert } from '../../base/assert.js';
import type { Arena } from './arena.js';
import type { PassOptions, Rows } from './contract.js';
import { copyNumbers } from './shared.js';

/**
 * Numbers per block. With up to 100 columns, two panels and their products stay in the nearest
 * cache, and the whole block in the next.
 */
const blockNumbers = 24_576;

/**
 * A call with at most so many products costs less in a plain loop than on its way through the
 * arena, which takes a microsecond.
 */
export const fewProducts = 256;

/** The next multiple of 4. */
export const padded = (size: number): number => (size + 3) & ~3;

/** Rows of a block, 4 .. 4096 and a multiple of 4. */
export function blockRowsOf(dimension: number): number {
  return Math.max(4, Math.min(4096, Math.floor(blockNumbers / dimension) & ~3));
}

function checkRows(
  rows: Rows, dimension: number, count: number, { mask, weights, centre }: PassOptions,
): void {
  assert(rows.length >= count * dimension, 'rows hold count times dimension numbers');
  assert(mask === undefined || mask.length >= count, 'a mask has an entry for every row');
  assert(weights === undefined || weights.length >= count, 'every row has a weight');
  assert(
    centre === undefined || centre.length === dimension, 'a centre has the dimension of the rows',
  );
}

interface Block {
  readonly rows: number;
  readonly count: number;
  /** 0 if there are no weights. */
  readonly weights: number;
  /** Index of the block's first row. */
  readonly first: number;
}

/** Loads the rows without the masked ones, block by block, and calls `use` for each block. */
export class Blocks {
  readonly size: number;

  constructor(
    private readonly arena: Arena,
    private readonly rows: Rows,
    private readonly dimension: number,
    private readonly count: number,
    private readonly options: PassOptions,
    /** Rows of a block, a multiple of 4. */
    size = blockRowsOf(dimension),
  ) {
    checkRows(rows, dimension, count, options);
    this.size = Math.min(padded(count), size);
  }

  /** Numbers of doubles for the block, its mask (bytes), its weights and the centre. */
  get lengths(): [number, number, number, number] {
    const { mask, weights, centre } = this.options;
    return [
      this.size * this.dimension, mask ? Math.ceil(this.size / 8) : 0, weights ? this.size : 0,
      centre ? this.dimension : 0,
    ];
  }

  each([block, masks, held, middle]: readonly Float64Array[], use: (block: Block) => void): void {
    const { rows, dimension, count, options: { mask, weights, centre } } = this;
    const { gather } = this.arena.exports;
    const bytes = new Uint8Array(masks!.buffer, masks!.byteOffset, masks!.byteLength);
    const pointers = [mask ? masks!
      : null, centre ? middle! : null, weights ? held! : null].map((part) => part?.byteOffset ?? 0);
    if (centre) middle!.set(centre);
    for (let first = 0; first < count; first += this.size) {
      const size = Math.min(this.size, count - first);
      const few = mask === undefined || weights !== undefined ? null : this.#fewRows(first, size);
      if (few !== null && few.length === 0) continue;
      if (few === null) {
        const length = size * dimension;
        copyNumbers(
          rows.subarray(first * dimension, first * dimension + length), block!.subarray(0, length),
        );
      }
      few?.forEach((row, i) =>
        block!.set(rows.subarray(row * dimension, (row + 1) * dimension), i * dimension));
      if (few !== null) bytes.fill(1, 0, few.length);
      else if (mask) bytes.set(mask.subarray(first, first + size));
      if (weights) held!.set(weights.subarray(first, first + size));
      const plain = !mask && !centre;
      const kept = plain ? size : gather(
        block!.byteOffset, few?.length ?? size, dimension, pointers[0]!, pointers[1]!, pointers[2]!,
      );
      use({ rows: block!.byteOffset, count: kept, weights: pointers[2]!, first });
    }
  }

  /** The unmasked rows of a block, if there are so few that loading the others would be a waste. */
  #fewRows(first: number, size: number): number[] | null {
    const mask = this.options.mask!;
    const most = size >>> 3;
    const found: number[] = [];
    for (let row = first; row < first + size; row++) {
      if (mask[row] === 0) continue;
      if (found.length === most) return null;
      found.push(row);
    }
    return found;
  }
}

/** See `Kernels.gram`. With `sums`, also `Kernels.columnSums`, at almost no extra cost. */
export function gram(
  arena: Arena, rows: Rows, dimension: number, count: number, options: PassOptions,
  into: Float64Array, sums?: Float64Array,
): void {
  assert(sums === undefined || sums.length === dimension, 'there is one sum per column');
  assert(into.length === dimension ** 2, 'the sum of products has dimension squared entries');
  if (isSmall(dimension * dimension * count, options)) {
    return smallGram(rows, dimension, count, options, into, sums);
  }
  const blocks = new Blocks(arena, rows, dimension, count, options);
  const width = padded(dimension);
  const packed = blocks.size * width;
  const weighted = options.weights ? packed : 0;
  const [sum, columns, left, right, ...parts] =
    arena.layout(width * width, width, packed, weighted, ...blocks.lengths);
  for (const part of [sum, columns]) part.fill(0);
  const { packWide, addGram } = arena.exports;
  const added = sums ? columns.byteOffset : 0;
  blocks.each(parts, (block) => {
    const { rows: from, count: held, weights } = block;
    packWide(from, held, dimension, 0, left.byteOffset, 0, held, weights ? 0 : added);
    if (weights) packWide(from, held, dimension, weights, right.byteOffset, 0, held, added);
    addGram(
      weights ? right.byteOffset : left.byteOffset, left.byteOffset, held, width, sum.byteOffset,
    );
  });
  addSymmetric(sum, dimension, into);
  sums?.forEach((_, i) => (sums[i]! += columns[i]!));
}

const isSmall = (products: number, { mask, centre }: PassOptions): boolean =>
  products === 0 || (products <= fewProducts && mask === undefined && centre === undefined);

/** The pass without the arena. It adds in the same order, so the bits are the same. */
function smallGram(
  rows: Rows, dimension: number, count: number, options: PassOptions,
  into: Float64Array, sums?: Float64Array,
): void {
  checkRows(rows, dimension, count, options);
  const { weights } = options;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      let sum = 0;
      for (let row = 0; row < count; row++) {
        const entry = (weights?.[row] ?? 1) * rows[row * dimension + i]!;
        sum += entry * rows[row * dimension + j]!;
      }
      into[i * dimension + j]! += sum;
      if (j > i) into[j * dimension + i]! += sum;
    }
  }
  if (sums !== undefined) smallSums(rows, dimension, count, options, sums);
}

function smallSums(
  rows: Rows, dimension: number, count: number, options: PassOptions,
  into: Float64Array,
): void {
  checkRows(rows, dimension, count, options);
  const { weights } = options;
  for (let j = 0; j < dimension; j++) {
    let sum = 0;
    for (let row = 0; row < count; row++) sum += (weights?.[row] ?? 1) * rows[row * dimension + j]!;
    into[j]! += sum;
  }
}

/** Adds the output of `addGram` to a d x d matrix. Only its upper triangle counts. */
export function addSymmetric(sum: Float64Array, dimension: number, into: Float64Array): void {
  const width = padded(dimension);
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j < dimension; j++) {
      into[i * dimension + j]! += sum[Math.min(i, j) * width + Math.max(i, j)]!;
    }
  }
}

/** See `Kernels.columnSums`. */
export function columnSums(
  arena: Arena, rows: Rows, dimension: number, count: number, options: PassOptions,
  into: Float64Array,
): void {
  assert(into.length === dimension, 'there is one sum per column');
  if (isSmall(dimension * count, options)) {
    return smallSums(rows, dimension, count, options, into);
  }
  const blocks = new Blocks(arena, rows, dimension, count, options);
  const [sum, ...parts] = arena.layout(dimension, ...blocks.lengths);
  sum.fill(0);
  blocks.each(parts, (block) => {
    arena.exports.addColumnSums(block.rows, block.count, dimension, block.weights, sum.byteOffset);
  });
  for (let j = 0; j < dimension; j++) into[j]! += sum[j]!;
}
