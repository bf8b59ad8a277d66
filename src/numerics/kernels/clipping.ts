import { log2 } from '../../base/elementary.js';
import { assert } from '../../base/assert.js';
import type { Arena } from './arena.js';
import type { AddedMoments, Rows, StepBall } from './contract.js';
import { addSymmetric, Blocks, padded } from './passes.js';
import { copyNumbers } from './shared.js';

/**
 * Numbers per block. With its steps and their packed copy, a block stays in a core's second-level
 * cache.
 */
const blockNumbers = 16_384;

/** With fewer rows, starting and ending the passes of tiles costs more than the passes. */
const rowsLeast = 128;

/** See `Kernels.clipRows`. With `added`, also the moments of the present rows. */
export function clipRows(
  arena: Arena, rows: Rows, dimension: number, count: number, ball: StepBall, into: Rows,
  present?: Uint8Array, added?: AddedMoments,
): number {
  check(dimension, count, ball, into, present);
  if (count === 0) return 0;
  const blocks = new Blocks(arena, rows, dimension, count, {}, rowsOfBlock(dimension));
  const width = padded(dimension);
  const [isAdded, size] = [added === undefined ? 0 : 1, blocks.size];
  const [centre, unit, there, steps, packed, sum, columns, ...parts] = arena.layout(
    dimension, dimension, Math.ceil(size / 8), size * dimension, isAdded * size * width,
    isAdded * width * width, isAdded * width, ...blocks.lengths,
  );
  for (const part of [sum, columns]) part.fill(0);
  setBall(ball, centre, unit);
  const flags = new Uint8Array(there.buffer, there.byteOffset, there.byteLength);
  const { clipRows: clip, packWide, addGram } = arena.exports;
  const perGrid = inverseOf(ball.grid);
  let kept = 0;
  blocks.each(parts, ({ rows: from, count: held, first }) => {
    kept += clip(
      from, held, dimension, centre.byteOffset, unit.byteOffset, ball.grid, perGrid, ball.steps,
      there.byteOffset, steps.byteOffset,
    );
    copyNumbers(steps.subarray(0, held * dimension), into.subarray(
      first * dimension, (first + held) * dimension,
    ));
    present?.set(flags.subarray(0, held), first);
    if (added === undefined) return;
    // Absent rows are zeros, which add nothing.
    packWide(steps.byteOffset, held, dimension, 0, packed.byteOffset, 0, held, columns.byteOffset);
    addGram(packed.byteOffset, packed.byteOffset, held, width, sum.byteOffset);
  });
  if (added === undefined) return kept;
  addSymmetric(sum, dimension, added.products);
  for (let j = 0; j < dimension; j++) added.sums[j]! += columns[j]!;
  return kept;
}

/** See `Kernels.addClipped`. */
export function addClipped(
  arena: Arena, rows: Rows, dimension: number, count: number, ball: StepBall, into: Float64Array,
): number {
  checkBall(dimension, ball);
  assert(into.length === dimension, 'there is one sum per column');
  if (count === 0) return 0;
  const blocks = new Blocks(arena, rows, dimension, count, {}, rowsOfBlock(dimension));
  const [centre, unit, there, steps, sum, ...parts] = arena.layout(
    dimension, dimension, Math.ceil(blocks.size / 8), blocks.size * dimension, dimension,
    ...blocks.lengths,
  );
  setBall(ball, centre, unit);
  sum.fill(0);
  const perGrid = inverseOf(ball.grid);
  let kept = 0;
  blocks.each(parts, ({ rows: from, count: held }) => {
    kept += arena.exports.clipRows(
      from, held, dimension, centre.byteOffset, unit.byteOffset, ball.grid, perGrid, ball.steps,
      there.byteOffset, steps.byteOffset,
    );
    // Absent rows are zeros, which add nothing.
    arena.exports.addColumnSums(steps.byteOffset, held, dimension, 0, sum.byteOffset);
  });
  for (let j = 0; j < dimension; j++) into[j]! += sum[j]!;
  return kept;
}

const rowsOfBlock = (dimension: number): number =>
  Math.max(rowsLeast, Math.floor(blockNumbers / Math.max(1, dimension)) & ~3);

function setBall(ball: StepBall, centre: Float64Array, unit: Float64Array): void {
  centre.set(ball.centre);
  if (ball.unit === undefined) unit.fill(1);
  else unit.set(ball.unit);
}

function check(
  dimension: number, count: number, ball: StepBall, into: Rows, present: Uint8Array | undefined,
): void {
  assert(into.length >= count * dimension, 'there is room for every clipped row');
  checkBall(dimension, ball);
  assert(into instanceof Float64Array
    || ball.steps <= 2 ** 24, 'single precision holds whole steps up to 2^24');
  assert(present === undefined || present.length >= count, 'every row may be said to be present');
}

function checkBall(dimension: number, ball: StepBall): void {
  assert(ball.centre.length === dimension, 'a centre has the dimension of the rows');
  assert(
    ball.unit === undefined || ball.unit.length === dimension, 'there is a unit for every column',
  );
}

/**
 * 1 / grid for a power of two: multiplying by it gives the same bits as dividing by the grid. Else
 * NaN.
 */
function inverseOf(grid: number): number {
  const exponent = Math.round(log2(grid));
  return Math.abs(exponent) <= 1_000 && 2 ** exponent === grid ? 2 ** -exponent : Number.NaN;
}
