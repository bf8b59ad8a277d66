import { pow } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';

/** Candidates per column, by the number of columns: odd, so that the middle is one of them. */
const perColumn = [2001, 81, 25] as const;

/** A cube of candidates around a point that was released, or that is public. In units of spread. */
export interface CandidateGrid {
  readonly dimension: number;
  readonly perColumn: number;
  /** Number of candidates in the whole cube. */
  readonly count: number;
  /** From the middle to the outermost candidate, in every column. */
  readonly reach: number;
  readonly spacing: number;
}

export function candidateGrid(dimension: number, reach: number): CandidateGrid {
  const side = perColumn[dimension - 1];
  assert(side !== undefined, 'there are grids for one to three columns');
  return {
    dimension, perColumn: side, count: pow(side, dimension), reach,
    spacing: (2 * reach) / (side - 1),
  };
}

/** The number of candidates for this many columns. */
export function candidateCount(dimension: number): number {
  return candidateGrid(dimension, 1).count;
}

/** Every candidate's offset from the middle, row-major. */
export function candidateOffsets(
  { dimension, perColumn: side, count, spacing }: CandidateGrid,
): Float64Array {
  const offsets = new Float64Array(count * dimension);
  for (let index = 0; index < count; index++) {
    let rest = index;
    for (let j = 0; j < dimension; j++) {
      offsets[index * dimension + j] = ((rest % side) - (side - 1) / 2) * spacing;
      rest = Math.floor(rest / side);
    }
  }
  return offsets;
}
